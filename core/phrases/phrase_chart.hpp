// The dense chart of a grammar over a sentence (the CKY algorithm), and what of it is worth a second look.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "phrases/phrase_grammar.hpp"

namespace margent {

enum class PhraseEdgeKind : std::uint8_t { word, binary, unary, root, piece };

// One step of a derivation over words begin to end - 1.
//   word    `rule` is the symbol of its tag
//   binary  `rule` is a binary rule; its parts meet at `split`
//   unary   `rule` is a unary rule
//   root    `rule` is the symbol above the whole sentence
//   piece   `rule` is the symbol of the piece from `split` to end, beside all pieces before it (begin is 0)
struct PhraseEdge {
  PhraseEdgeKind kind;
  bool right;  // of the right tree, where there is one
  std::int32_t begin, end, split, rule;
  double score;  // under the grammar
};

// Tags that a word may have, with their scores: symbols[ptr[t]] to symbols[ptr[t + 1] - 1] for word t.
struct TagScores {
  std::span<const std::int64_t> ptr;
  std::span<const std::int32_t> symbols;
  std::span<const double> scores;
};

// A span of the right tree: words begin to end - 1, made by a binary rule at `split` (or of the tag `rule`, where
// split is -1), and then going through a unary rule.
struct RightSpan {
  std::int32_t begin, end, split, rule, unary;
};

class PhraseChart {
 public:
  explicit PhraseChart(const PhraseGrammar& grammar) : grammar_(&grammar) {}

  // The scores of the best phrases of a sentence of n >= 1 words, for words first to first + n - 1 of `tags`.
  //   bottom(i, i + 1, A) = score of tag A of word i
  //   bottom(i, j, A)     = max over splits k and rules A -> B C of  score(rule) + top(i, k, B) + top(k, j, C)
  //   top(i, j, A)        = max over unary rules A -> B of           score(rule) + bottom(i, j, B)
  // O(n^3 rules) time, O(n^2 symbols) memory.
  void fill(const TagScores& tags, std::int64_t first, std::int32_t n);

  // The score of the best tree. Where no symbol can be the root, that of the best pieces side by side:
  //   pieces(j) = max over k < j and symbols A of  pieces(k) + top(k, j, A) - piece_cost,   pieces(0) = 0
  double best() const { return best_; }

  // All edges of derivations that score at least best() - margin, no more and no less up to rounding: every such
  // derivation is a derivation of these edges. Those of the right tree are added. An edge is one of them if
  //   outside(head) + score(edge) + the inside scores of its tails >= best() - margin,
  // where outside(v) is the best that a derivation scores around v (max-marginals; Eisner and Smith 2005 prune so).
  // Heads come after tails, the root last.
  std::vector<PhraseEdge> edges(double margin, std::span<const RightSpan> right);

  static constexpr double piece_cost = 100;

 private:
  std::size_t cell(std::int32_t i, std::int32_t j) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(j - 1) / 2 + static_cast<std::size_t>(i);
  }
  double* row(std::vector<double>& table, std::int32_t i, std::int32_t j) {
    return table.data() + cell(i, j) * static_cast<std::size_t>(grammar_->n_symbols());
  }
  void fill_pieces();
  void add_roots(double least, std::span<const RightSpan> right, std::vector<PhraseEdge>& found);
  void add_pieces(double least, std::vector<PhraseEdge>& found);
  void add_span(std::int32_t i, std::int32_t j, double least, const RightSpan* right, std::vector<PhraseEdge>& found);

  const PhraseGrammar* grammar_;
  std::int32_t n_ = 0;
  double best_ = log_zero;
  bool has_root_ = false;
  std::vector<double> bottom_, top_, outside_bottom_, outside_top_;  // [cells][symbols]
  std::vector<std::vector<std::int32_t>> possible_;                  // [cells]: symbols with a finite top score
  std::vector<double> pieces_, outside_pieces_;                      // [n + 1]
};

}  // namespace margent
