// An example to learn from: a forest of answers, and those of its derivations, or of another forest, that are right.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "forest/edge_features.hpp"

namespace margent {

// All examples. The loss of a derivation is the sum of the costs of its edges.
struct ForestProblem {
  const ForestBatch* answers = nullptr;
  // Forests of right derivations with features of their own, as many; or null: the derivations of `answers` that only
  // use edges with mask[e] != 0 are right.
  const ForestBatch* right = nullptr;
  std::vector<std::uint8_t> mask;  // [E], or empty
  std::vector<double> costs;       // [E], of edges of `answers`; 0 or more
  std::vector<double> weights;     // [n], of examples; empty: 1 each
  // What is seen of the edges of `answers`, made for each thread; empty: what is stored with them.
  std::function<std::unique_ptr<EdgeFeatures>()> features;

  const ForestBatch& right_batch() const { return right ? *right : *answers; }
  std::unique_ptr<EdgeFeatures> edge_features() const {
    return features ? features() : std::make_unique<StoredEdgeFeatures>(*answers);
  }
  std::unique_ptr<EdgeFeatures> right_edge_features() const {
    return right ? std::make_unique<StoredEdgeFeatures>(*right) : edge_features();
  }
  double weight(std::int64_t i) const { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; }
};

// One example at a time under given weights: the scores of its edges and of those on the right side. One for each
// thread.
class ForestExample {
 public:
  explicit ForestExample(const ForestProblem& problem)
      : problem_(&problem), features_(problem.edge_features()), right_features_(problem.right_edge_features()) {}

  // Scores are scale * (weights . features). O(features of the forest).
  void turn_to(std::int64_t example, const double* weights, double scale);
  std::int64_t number() const { return example_; }

  Forest answers() const { return problem_->answers->forest(example_, scores_); }
  Forest right() const { return problem_->right_batch().forest(example_, right_scores_); }
  // score + cost * loss: valid until the next call.
  Forest with_costs(double cost);
  double cost(std::int32_t edge) const {
    return problem_->costs[static_cast<std::size_t>(problem_->answers->first_edge(example_) + edge)];
  }
  double score(std::span<const std::int32_t> edges) const { return sum(scores_, edges); }
  double right_score(std::span<const std::int32_t> edges) const { return sum(right_scores_, edges); }

  // Amounts of the features of the edges of a derivation, or of each edge of the forest.
  void collect(std::span<const std::int32_t> edges, double amount) { each(*features_, edges, amount); }
  void collect_right(std::span<const std::int32_t> edges, double amount) { each(*right_features_, edges, amount); }
  void collect_expected(const std::vector<double>& uses, double amount) { expected(*features_, uses, amount); }
  void collect_right_expected(const std::vector<double>& uses, double amount) {
    expected(*right_features_, uses, amount);
  }
  void hand_over(SparseVector& out) {
    features_->hand_over(out);
    right_features_->hand_over(out);
  }

 private:
  static double sum(const std::vector<double>& scores, std::span<const std::int32_t> edges) {
    double total = 0;
    for (const std::int32_t edge : edges) total += scores[static_cast<std::size_t>(edge)];
    return total;
  }
  static void each(EdgeFeatures& features, std::span<const std::int32_t> edges, double amount) {
    for (const std::int32_t edge : edges) features.collect(edge, amount);
  }
  static void expected(EdgeFeatures& features, const std::vector<double>& uses, double amount) {
    for (std::size_t e = 0; e < uses.size(); ++e)
      if (uses[e] != 0) features.collect(static_cast<std::int32_t>(e), amount * uses[e]);
  }

  const ForestProblem* problem_;
  std::unique_ptr<EdgeFeatures> features_, right_features_;
  std::int64_t example_ = 0;
  std::vector<double> scores_, right_scores_, augmented_;
};

}  // namespace margent
