#include "phrases/phrase_chart.hpp"

#include <cmath>
#include <stdexcept>
#include <unordered_map>

#include "interruption.hpp"

namespace margent {

namespace {

// Of a sentence; a thousand are usual, and these take a gigabyte.
constexpr std::size_t most_edges = std::size_t{1} << 24;

}  // namespace

void PhraseChart::fill(const TagScores& tags, std::int64_t first, std::int32_t n) {
  n_ = n;
  const auto width = static_cast<std::size_t>(grammar_->n_symbols());
  const std::size_t n_cells = static_cast<std::size_t>(n) * static_cast<std::size_t>(n + 1) / 2;
  bottom_.assign(n_cells * width, log_zero);
  top_.assign(n_cells * width, log_zero);
  possible_.resize(std::max(possible_.size(), n_cells));
  for (std::int32_t length = 1; length <= n; ++length)
    for (std::int32_t i = 0, j = length; j <= n; ++i, ++j) {
      check_interruption(static_cast<std::int64_t>(length) * grammar_->n_binary() + grammar_->n_unary());
      double* bottom = row(bottom_, i, j);
      if (length == 1)
        for (std::int64_t e = tags.ptr[first + i]; e < tags.ptr[first + i + 1]; ++e)
          bottom[tags.symbols[e]] = tags.scores[e];
      for (std::int32_t k = i + 1; k < j; ++k) {
        const double *left = row(top_, i, k), *right = row(top_, k, j);
        for (const std::int32_t symbol : possible_[cell(i, k)])
          for (const PhraseGrammar::Entry& rule : grammar_->with_left(symbol)) {
            const double value = left[symbol] + right[rule.right] + rule.score;
            if (value > bottom[rule.parent]) bottom[rule.parent] = value;
          }
      }
      double* top = row(top_, i, j);
      for (std::int32_t u = 0; u < grammar_->n_unary(); ++u) {
        const double value = bottom[grammar_->unary(u).child] + grammar_->unary_score(u);
        if (value > top[grammar_->unary(u).parent]) top[grammar_->unary(u).parent] = value;
      }
      std::vector<std::int32_t>& possible = possible_[cell(i, j)];
      possible.clear();
      for (std::int32_t s = 0; s < grammar_->n_symbols(); ++s)
        if (top[s] > log_zero) possible.push_back(s);
    }
  best_ = log_zero;
  for (std::int32_t s = 0; s < grammar_->n_symbols(); ++s)
    best_ = std::max(best_, log_times(grammar_->root_score(s), row(top_, 0, n)[s]));
  has_root_ = best_ > log_zero;
  if (!has_root_) fill_pieces();
}

void PhraseChart::fill_pieces() {
  pieces_.assign(static_cast<std::size_t>(n_) + 1, log_zero);
  pieces_[0] = 0;
  for (std::int32_t j = 1; j <= n_; ++j)
    for (std::int32_t k = 0; k < j; ++k) {
      check_interruption(8 * static_cast<std::int64_t>(possible_[cell(k, j)].size()));
      for (const std::int32_t s : possible_[cell(k, j)])
        if (grammar_->is_piece(s)) pieces_[j] = std::max(pieces_[j], pieces_[k] + row(top_, k, j)[s] - piece_cost);
    }
  best_ = pieces_.back();
}

std::vector<PhraseEdge> PhraseChart::edges(double margin, std::span<const RightSpan> right) {
  std::vector<PhraseEdge> found;
  // Scores are added up in another order here than in `fill`.
  const double least = best_ - margin - 1e-9 * (1 + std::abs(best_));
  outside_bottom_.assign(bottom_.size(), log_zero);
  outside_top_.assign(top_.size(), log_zero);
  std::unordered_map<std::size_t, const RightSpan*> right_at;
  for (const RightSpan& span : right) right_at[cell(span.begin, span.end)] = &span;
  if (has_root_ || !right.empty())
    add_roots(least, right, found);
  else if (best_ > log_zero)
    add_pieces(least, found);
  for (std::int32_t length = n_; length >= 1; --length)
    for (std::int32_t i = 0, j = length; j <= n_; ++i, ++j) {
      check_interruption(static_cast<std::int64_t>(length) * grammar_->n_symbols() + grammar_->n_unary());
      const auto there = right_at.find(cell(i, j));
      add_span(i, j, least, there == right_at.end() ? nullptr : there->second, found);
    }
  std::ranges::reverse(found);
  return found;
}

void PhraseChart::add_roots(double least, std::span<const RightSpan> right, std::vector<PhraseEdge>& found) {
  std::int32_t right_root = -1;
  for (const RightSpan& span : right)
    if (span.begin == 0 && span.end == n_) right_root = grammar_->unary(span.unary).parent;
  for (std::int32_t s = 0; s < grammar_->n_symbols(); ++s) {
    const double score = grammar_->root_score(s);
    const bool kept = has_root_ && log_times(score, row(top_, 0, n_)[s]) >= least;
    if (!kept && s != right_root) continue;
    found.push_back({PhraseEdgeKind::root, s == right_root, 0, n_, -1, s, score});
    if (kept) row(outside_top_, 0, n_)[s] = score;
  }
}

void PhraseChart::add_pieces(double least, std::vector<PhraseEdge>& found) {
  outside_pieces_.assign(pieces_.size(), log_zero);
  outside_pieces_.back() = 0;
  for (std::int32_t j = n_; j >= 1; --j)
    for (std::int32_t k = 0; k < j; ++k) {
      check_interruption(8 * static_cast<std::int64_t>(possible_[cell(k, j)].size()));
      for (const std::int32_t s : possible_[cell(k, j)]) {
        const double inside = row(top_, k, j)[s];
        const double around = outside_pieces_[j] + pieces_[k] - piece_cost;
        if (!grammar_->is_piece(s) || !(around + inside >= least)) continue;
        found.push_back({PhraseEdgeKind::piece, false, 0, j, k, s, -piece_cost});
        double& outside = row(outside_top_, k, j)[s];
        outside = std::max(outside, around);
        outside_pieces_[k] = std::max(outside_pieces_[k], outside_pieces_[j] + inside - piece_cost);
      }
    }
}

void PhraseChart::add_span(std::int32_t i, std::int32_t j, double least, const RightSpan* right,
                           std::vector<PhraseEdge>& found) {
  const double *bottom = row(bottom_, i, j), *outside_top = row(outside_top_, i, j);
  double* outside = row(outside_bottom_, i, j);
  for (std::int32_t u = 0; u < grammar_->n_unary(); ++u) {
    const auto [parent, child] = grammar_->unary(u);
    const double around = outside_top[parent] + grammar_->unary_score(u);
    const bool is_right = right && right->unary == u, kept = log_times(around, bottom[child]) >= least;
    if (!kept && !is_right) continue;
    found.push_back({PhraseEdgeKind::unary, is_right, i, j, -1, u, grammar_->unary_score(u)});
    if (kept) outside[child] = std::max(outside[child], around);
  }
  const std::int32_t right_symbol =
      !right ? -1 : (right->split < 0 ? right->rule : grammar_->binary(right->rule).parent);
  for (std::int32_t s = 0; s < grammar_->n_symbols(); ++s) {
    const bool live = outside[s] > log_zero;
    if (!live && s != right_symbol) continue;
    if (j - i == 1) {
      found.push_back({PhraseEdgeKind::word, s == right_symbol, i, j, -1, s, bottom[s]});
      continue;
    }
    if (found.size() > most_edges) throw std::length_error("a sentence has too many trees: lower the pruning");
    check_interruption(2 * static_cast<std::int64_t>(j - i) *
                       static_cast<std::int64_t>(grammar_->with_parent(s).size()));
    for (std::int32_t k = i + 1; k < j; ++k) {
      const double *left = row(top_, i, k), *after = row(top_, k, j);
      for (const PhraseGrammar::Entry& rule : grammar_->with_parent(s)) {
        const bool is_right = right && right->split == k && right->rule == rule.rule;
        const double around = outside[s] + rule.score;
        const bool kept = live && log_times(around + left[rule.left], after[rule.right]) >= least;
        if (!kept && !is_right) continue;
        found.push_back({PhraseEdgeKind::binary, is_right, i, j, k, rule.rule, rule.score});
        if (!kept) continue;
        double& outside_left = row(outside_top_, i, k)[rule.left];
        double& outside_right = row(outside_top_, k, j)[rule.right];
        outside_left = std::max(outside_left, around + after[rule.right]);
        outside_right = std::max(outside_right, around + left[rule.left]);
      }
    }
  }
}

}  // namespace margent
