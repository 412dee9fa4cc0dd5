// The features of the edges of pruned charts: those of their spans and splits, of their rules, and of the grammar.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "forest/edge_features.hpp"
#include "phrases/phrase_places.hpp"

namespace margent {

// One for each thread. The score that the grammar gives to an edge is a feature, too, in units that suit the others.
class PhraseFeatures final : public EdgeFeatures {
 public:
  explicit PhraseFeatures(const PhrasePlaces& places) : places_(&places) {}

  void turn_to(std::int64_t sentence, const double* weights, double scale) override {
    number_ = sentence;
    sentence_ = &places_->sentence(sentence);
    weights_ = weights;
    scale_ = scale;
  }

  // O(cells x features of a place + edges).
  void score(std::vector<double>& scores) const override {
    const PhraseLayout& layout = places_->layout();
    std::vector<double> cells(sentence_->cells.size());
    for (std::size_t c = 0; c < cells.size(); ++c) {
      double sum = 0;
      each_weight(sentence_->cells[c], [&](std::int64_t weight) { sum += weights_[weight]; });
      cells[c] = sum;
    }
    scores.resize(sentence_->edges.size());
    for (std::size_t e = 0; e < scores.size(); ++e) {
      const PhrasePlaces::EdgeCells& edge = sentence_->edges[e];
      double sum = weights_[layout.grammar()] * grammar_score(e);
      if (edge.span >= 0) sum += cells[static_cast<std::size_t>(edge.span)];
      if (edge.split >= 0) sum += cells[static_cast<std::size_t>(edge.split)];
      if (edge.rule >= 0) sum += weights_[layout.binary() + edge.rule];
      scores[e] = scale_ * sum;
    }
  }

  void collect(Part part, double amount) override {
    const auto e = static_cast<std::size_t>(part);
    const PhrasePlaces::EdgeCells& edge = sentence_->edges[e];
    amounts_.resize(sentence_->cells.size(), 0.0);
    if (edge.span >= 0) amounts_[static_cast<std::size_t>(edge.span)] += amount;
    if (edge.split >= 0) amounts_[static_cast<std::size_t>(edge.split)] += amount;
    if (edge.rule >= 0) collected_.push_back({places_->layout().binary() + edge.rule, amount});
    if (const double score = grammar_score(e); score != 0)
      collected_.push_back({places_->layout().grammar(), amount * score});
  }

  void hand_over(SparseVector& out) override {
    for (std::size_t c = 0; c < amounts_.size(); ++c)
      if (amounts_[c] != 0)
        each_weight(sentence_->cells[c], [&](std::int64_t weight) { collected_.push_back({weight, amounts_[c]}); });
    amounts_.clear();
    out.insert(out.end(), collected_.begin(), collected_.end());
    collected_.clear();
  }

 private:
  static constexpr double grammar_unit = 0.1;

  double grammar_score(std::size_t e) const {
    const PhraseForests& forests = places_->forests();
    const PhraseEdge& edge = forests.edges()[static_cast<std::size_t>(forests.batch().first_edge(number_)) + e];
    return edge.score > log_zero ? grammar_unit * edge.score : 0.0;
  }

  template <class Visit>
  void each_weight(const PhrasePlaces::Cell& cell, Visit visit) const {
    const auto place = static_cast<std::size_t>(cell.place);
    const std::int64_t width = places_->layout().width;
    for (std::int32_t k = sentence_->ptr[place]; k < sentence_->ptr[place + 1]; ++k)
      visit(sentence_->features[static_cast<std::size_t>(k)] * width + cell.column);
  }

  const PhrasePlaces* places_;
  std::int64_t number_ = 0;
  const PhrasePlaces::Sentence* sentence_ = nullptr;
  const double* weights_ = nullptr;
  double scale_ = 1;
  std::vector<double> amounts_;
  SparseVector collected_;
};

// Scores of the edges of all forests under weights.
inline std::vector<double> edge_scores(const PhrasePlaces& places, const double* weights, int threads) {
  const ForestBatch& batch = places.forests().batch();
  std::vector<double> out(static_cast<std::size_t>(batch.n_edges()));
  parallel(batch.size(), threads, [&](std::size_t, std::int64_t s) {
    PhraseFeatures features(places);
    std::vector<double> scores;
    features.turn_to(s, weights, 1);
    features.score(scores);
    std::ranges::copy(scores, out.begin() + batch.first_edge(s));
  });
  return out;
}

}  // namespace margent
