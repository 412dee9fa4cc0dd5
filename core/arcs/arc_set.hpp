// Which arcs the dependency trees of a sentence may have, and the numbers of their parts.
//
// Words are numbered from 1, and 0 is the root, which is no word's modifier. Arcs h -> m are numbered by head; those of
// a head first to the right, then to the left, each side by distance. So the modifiers of a head on one side are a
// range of arcs, outward, and an arc's possible inner siblings are the arcs before it in that range. Two words may have
// several arcs, which follow each other: where arcs with different labels are different parts.
//
// Parts of second order belong to an arc a = h -> m:
//   siblings       (none, m) and (s, m) for each arc b = h -> s on its side, s nearer than m: the next modifier inward
//   grandparents   (g, h, m) for each arc g -> h
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace margent {

class ArcSet {
 public:
  struct Range {
    std::int32_t begin, end;
  };

  ArcSet() = default;
  // allowed [n_words + 1][n_words + 1], row the head: how many arcs; column 0 and the diagonal are not read.
  ArcSet(int n_words, const std::uint8_t* allowed) { assign(n_words, allowed); }
  void assign(int n_words, const std::uint8_t* allowed);

  int n_words() const { return n_words_; }
  int n_nodes() const { return n_words_ + 1; }
  std::int32_t size() const { return static_cast<std::int32_t>(head_.size()); }
  std::int32_t head(std::int32_t arc) const { return head_[arc]; }
  std::int32_t modifier(std::int32_t arc) const { return modifier_[arc]; }

  // The arcs of a head to one side, by distance.
  Range outward(int head, bool right) const {
    const std::size_t at = 2 * static_cast<std::size_t>(head) + (right ? 0 : 1);
    return {outward_[at], outward_[at + 1]};
  }
  // The arcs of its side to nearer modifiers.
  Range inner(std::int32_t arc) const { return {outward(head_[arc], head_[arc] < modifier_[arc]).begin, first_[arc]}; }
  // The first arc between the same words.
  std::int32_t first(std::int32_t arc) const { return first_[arc]; }
  // The arcs into a word, by head.
  std::span<const std::int32_t> inward(int modifier) const {
    return {inward_.data() + inward_ptr_[modifier],
            static_cast<std::size_t>(inward_ptr_[modifier + 1] - inward_ptr_[modifier])};
  }
  std::int32_t n_inward(int modifier) const { return inward_ptr_[modifier + 1] - inward_ptr_[modifier]; }
  // The place of an arc among those into its modifier.
  std::int32_t rank(std::int32_t arc) const { return rank_[arc]; }
  // All arcs, short ones first; those of one length by number.
  std::span<const std::int32_t> by_length() const { return by_length_; }
  // The number of the arc, the first of several; -1: not allowed. O(arcs into m).
  std::int32_t find(int head, int modifier) const;

  // Where the parts of an arc begin: (none, m) is at sibling(a), (s, m) of arc b at sibling(a, b).
  std::int64_t sibling(std::int32_t arc) const { return sibling_[arc]; }
  std::int64_t sibling(std::int32_t arc, std::int32_t inner_arc) const {
    return sibling_[arc] + 1 + inner_arc - inner(arc).begin;
  }
  std::int64_t n_siblings() const { return sibling_.back(); }
  // (g, h, m) for the arc g -> h; arcs of the root have no grandparent.
  std::int64_t grandparent(std::int32_t arc) const { return grandparent_[arc]; }
  std::int64_t grandparent(std::int32_t arc, std::int32_t arc_above) const {
    return grandparent_[arc] + rank_[arc_above];
  }
  std::int64_t n_grandparents() const { return grandparent_.back(); }

 private:
  int n_words_ = 0;
  std::vector<std::int32_t> head_, modifier_, first_, outward_, inward_, inward_ptr_, rank_, by_length_;
  std::vector<std::int64_t> sibling_{0}, grandparent_{0};
};

}  // namespace margent
