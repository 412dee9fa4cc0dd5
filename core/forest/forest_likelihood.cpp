#include "forest/forest_likelihood.hpp"

namespace margent {

double ForestLikelihood::example(std::size_t thread, std::int64_t i, SparseVector* gradient) {
  const double weight = oracle_.problem().weight(i);
  if (weight == 0) return 0;
  ForestExample& example = examples_[thread];
  oracle_.turn(example, i);
  double right = 0;
  if (best_completion_) {
    const Derivations gold = best(example.right());
    if (gold.size() == 0) return 0;  // there is no right derivation
    right = gold.scores[0];
    if (gradient) example.collect_right(gold[0], -weight);
  } else if (gradient) {
    const Marginals gold = marginals(example.right());
    right = gold.log_partition;
    if (right == log_zero) return 0;
    example.collect_right_expected(gold.edges, -weight);
  } else {
    right = inside(example.right(), Log{}).back();
    if (right == log_zero) return 0;
  }
  if (!gradient) return weight * (inside(example.answers(), Log{}).back() - right);
  const Marginals all = marginals(example.answers());
  example.collect_expected(all.edges, weight);
  example.hand_over(*gradient);
  return weight * (all.log_partition - right);
}

std::unique_ptr<Likelihood> ForestOracle::likelihood(const LikelihoodOptions& options, int threads) {
  if (options.beam) return nullptr;
  return std::make_unique<ForestLikelihood>(*this, options.best_completion, threads);
}

}  // namespace margent
