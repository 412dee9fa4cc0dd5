// A grammar of binarised trees of phrases: what may stand above what, with a score each.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "forest/semiring.hpp"

namespace margent {

struct BinaryRule {
  std::int32_t parent, left, right;
};

// A chain of phrases over the same words, from its topmost symbol to the one below it; parent == child: none.
struct UnaryRule {
  std::int32_t parent, child;
};

// Symbols are numbers from 0. A span of words is made by a binary rule (or is a word with its tag), and then goes
// through exactly one unary rule: each tree has one derivation.
class PhraseGrammar {
 public:
  // pieces[s] != 0: where no tree has a root, a phrase of s may be one of the pieces side by side.
  PhraseGrammar(std::vector<BinaryRule> binary, std::vector<double> binary_scores, std::vector<UnaryRule> unary,
                std::vector<double> unary_scores, std::vector<double> root_scores, std::vector<std::uint8_t> pieces)
      : n_symbols_(static_cast<std::int32_t>(root_scores.size())), binary_(std::move(binary)),
        binary_scores_(std::move(binary_scores)), unary_(std::move(unary)), unary_scores_(std::move(unary_scores)),
        root_scores_(std::move(root_scores)), pieces_(std::move(pieces)) {
    index([](const BinaryRule& rule) { return rule.left; }, left_ptr_, by_left_);
    index([](const BinaryRule& rule) { return rule.parent; }, parent_ptr_, by_parent_);
  }

  std::int32_t n_symbols() const { return n_symbols_; }
  std::int32_t n_binary() const { return static_cast<std::int32_t>(binary_.size()); }
  std::int32_t n_unary() const { return static_cast<std::int32_t>(unary_.size()); }
  const BinaryRule& binary(std::int32_t rule) const { return binary_[static_cast<std::size_t>(rule)]; }
  const UnaryRule& unary(std::int32_t rule) const { return unary_[static_cast<std::size_t>(rule)]; }
  double binary_score(std::int32_t rule) const { return binary_scores_[static_cast<std::size_t>(rule)]; }
  double unary_score(std::int32_t rule) const { return unary_scores_[static_cast<std::size_t>(rule)]; }
  // Of a symbol above the whole sentence; -inf: it cannot be there.
  double root_score(std::int32_t symbol) const { return root_scores_[static_cast<std::size_t>(symbol)]; }
  bool is_piece(std::int32_t symbol) const { return pieces_[static_cast<std::size_t>(symbol)] != 0; }

  // A rule with what the inner loop reads of it, side by side.
  struct Entry {
    std::int32_t parent, left, right, rule;
    double score;
  };
  std::span<const Entry> with_left(std::int32_t symbol) const { return slice(by_left_, left_ptr_, symbol); }
  std::span<const Entry> with_parent(std::int32_t symbol) const { return slice(by_parent_, parent_ptr_, symbol); }

 private:
  template <class Key>
  void index(Key key, std::vector<std::size_t>& ptr, std::vector<Entry>& entries) const {
    std::vector<std::int32_t> order(binary_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int32_t rule) { return key(binary(rule)); });
    ptr.assign(static_cast<std::size_t>(n_symbols_) + 1, 0);
    for (const BinaryRule& rule : binary_) ++ptr[static_cast<std::size_t>(key(rule)) + 1];
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    for (const std::int32_t rule : order)
      entries.push_back({binary(rule).parent, binary(rule).left, binary(rule).right, rule, binary_score(rule)});
  }
  static std::span<const Entry> slice(const std::vector<Entry>& entries, const std::vector<std::size_t>& ptr,
                                      std::int32_t symbol) {
    const auto s = static_cast<std::size_t>(symbol);
    return {entries.data() + ptr[s], ptr[s + 1] - ptr[s]};
  }

  std::int32_t n_symbols_;
  std::vector<BinaryRule> binary_;
  std::vector<double> binary_scores_;
  std::vector<UnaryRule> unary_;
  std::vector<double> unary_scores_, root_scores_;
  std::vector<std::uint8_t> pieces_;
  std::vector<std::size_t> left_ptr_, parent_ptr_;
  std::vector<Entry> by_left_, by_parent_;
};

}  // namespace margent
