// The features of the parts of a sentence's trees as keys: 64-bit numbers, of which the highest bits number a weight.
//
// What a template sees of one word is a number k(template, word), well mixed. The key of a template's feature is their
// sum over the words of the part,
//
//   key_t(h, m) = k_t(h as head) + k_t(m as modifier) + k_t(direction, distance) + k(label),
//
// so that after O(words x templates) of mixing a feature costs a few additions (Zobrist 1970). Features with equal
// numbers share a weight (the hash kernel of Bohnet 2010), and no feature needs to be known beforehand: those that are
// seen in wrong trees alone count, too.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "arcs/part_templates.hpp"

namespace margent {

// A part of a tree. `third`: the sibling (0: none) or the grandparent; labels: of h -> m, and of h -> s or g -> h
// (-1: there is no such arc).
struct TreePart {
  PartKind kind;
  std::int32_t head, modifier, third = 0, label = 0, other_label = -1;
};

class PartKeys {
 public:
  // The templates must outlive the keys.
  explicit PartKeys(const PartTemplates& templates);

  // Words 1 to n_words; atoms [n_words][n_atoms].
  void turn_to(const std::int32_t* atoms, int n_words);
  int n_words() const { return n_words_; }

  // Calls visit(key, number of the template, value between or 0) for the features of a part that do not look at labels,
  // or for those that do.
  template <class Visit>
  void each(const TreePart& part, bool labelled, Visit visit) const {
    const Group& group = groups_[static_cast<std::size_t>(part.kind)][labelled];
    const std::size_t n = group.size();
    if (!n) return;
    const int h = part.head, m = part.modifier, third = part.third;
    int directions = h < m, from = h;
    int place = third;
    PartNode node = PartNode::grandparent;
    if (part.kind == PartKind::grandparent) {
      directions += 2 * (third < h);
    } else if (part.kind == PartKind::sibling) {
      node = PartNode::sibling;
      from = third ? third : h;
      place = third ? third : n_words_ + 1;
    }
    const std::uint64_t* bare = group.bare.data() + static_cast<std::size_t>(directions * n_bins + bin(from, m)) * n;
    const std::uint64_t* head = group.row(PartNode::head, h);
    const std::uint64_t* modifier = group.row(PartNode::modifier, m);
    const std::uint64_t* other = part.kind == PartKind::arc ? nullptr : group.row(node, place);
    const std::uint64_t labels[4] = {0, label_key(part.label), label_key(~part.other_label),
                                     label_key(part.label) + label_key(~part.other_label)};
    const auto key = [&](std::size_t t) {
      return bare[t] + head[t] + modifier[t] + (other ? other[t] : 0) + labels[group.seen_labels[t]];
    };
    for (std::size_t t = 0; t < group.n_plain; ++t) visit(key(t), group.numbers[t], 0);
    std::int32_t column = -1;
    for (std::size_t t = group.n_plain; t < n; ++t) {
      const std::int32_t wanted = templates_.all()[static_cast<std::size_t>(group.numbers[t])].between;
      if (wanted != column) find_between(column = wanted, h, m);
      for (const std::int32_t value : between_) visit(key(t) + value_key(value), group.numbers[t], value);
    }
  }
  // The same for arcs whose label is added by a row of weights: without the label.
  template <class Visit>
  void each_label_row(int h, int m, Visit visit) const {
    const Group& group = groups_[static_cast<std::size_t>(PartKind::arc)][1];
    const std::size_t n = group.size();
    if (!n) return;
    const std::uint64_t* bare = group.bare.data() + static_cast<std::size_t>((h < m) * n_bins + bin(h, m)) * n;
    const std::uint64_t* head = group.row(PartNode::head, h);
    const std::uint64_t* modifier = group.row(PartNode::modifier, m);
    for (std::size_t t = 0; t < group.n_plain; ++t) visit(bare[t] + head[t] + modifier[t]);
  }

  // Classes of distance: 1, 2, 3, 4, 5, 6 to 7, 8 to 10, 11 to 15, 16 to 30, more.
  static constexpr int n_bins = 10;
  static int bin(int i, int j) {
    const int d = i < j ? j - i : i - j;
    return d <= 5 ? d - 1 : d <= 7 ? 5 : d <= 10 ? 6 : d <= 15 ? 7 : d <= 30 ? 8 : 9;
  }

 private:
  // The templates of one kind of part, with labels or without; those with words between last.
  struct Group {
    std::vector<std::int32_t> numbers;      // of the templates
    std::vector<std::uint8_t> seen_labels;  // 1: that of h -> m, 2: the other, 3: both
    std::size_t n_plain = 0;
    std::vector<std::uint64_t> bare;                                // [direction and distance][template]
    std::array<std::vector<std::uint64_t>, n_part_nodes> of_nodes;  // [place][template]
    std::size_t size() const { return numbers.size(); }
    const std::uint64_t* row(PartNode node, int place) const {
      return of_nodes[static_cast<std::size_t>(node)].data() + static_cast<std::size_t>(place) * size();
    }
  };

  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }
  static std::uint64_t value_key(std::int32_t value) {
    return mix(static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15ull + 0xD1B54A32D192ED03ull);
  }
  static std::uint64_t label_key(std::int32_t label) {
    return mix(static_cast<std::uint64_t>(label) * 0xD6E8FEB86659FD93ull + 0xA0761D6478BD642Full);
  }
  // What stands at a place: beyond the sentence and the root are values of their own.
  std::uint64_t value_at(int place, std::int32_t atom) const {
    if (place <= 0) return place == 0 ? 1 : 2;
    if (place > n_words_) return 3;
    return 4 + static_cast<std::uint64_t>(static_cast<std::uint32_t>(
                   atoms_[static_cast<std::size_t>(place - 1) * templates_.n_atoms() + atom]));
  }
  void finish(Group& group) const;
  // Works out what a node sees at all places.
  void look(Group& group, int node) const;
  // The different values of an atom among the words between, in order.
  void find_between(std::int32_t atom, int h, int m) const;

  const PartTemplates& templates_;
  std::array<std::array<Group, 2>, n_part_kinds> groups_;  // [kind][labelled]
  const std::int32_t* atoms_ = nullptr;
  int n_words_ = 0;
  mutable std::vector<std::int32_t> between_;
};

}  // namespace margent
