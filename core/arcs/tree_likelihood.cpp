#include "arcs/tree_likelihood.hpp"

#include "forest/semiring.hpp"

namespace margent {

double TreeLikelihood::example(std::size_t thread, std::int64_t i, SparseVector* gradient) {
  const TreeProblem& problem = oracle_.problem();
  const double weight = problem.examples().weight(i);
  if (weight == 0 || problem.examples().n_words(i) == 0 || problem.is_out_of_reach(i)) return 0;
  TreeExample& example = examples_[thread];
  TreeWorkspace& work = work_[thread];
  oracle_.turn(example, i);
  double right = 0;
  if (best_completion_ || problem.is_complete(i)) {
    const ScoredTree gold = example.gold(work);
    if (gold.arcs.empty()) return 0;  // no tree has all that is known
    right = gold.score;
    if (gradient) example.collect(gold, -weight);
  } else if (gradient) {
    const LabelledMarginals gold = example.right().marginals(work);
    right = gold.parts.log_partition;
    if (right == log_zero) return 0;
    example.collect_expected(gold, -weight);
  } else {
    right = example.right().log_partition(work);
    if (right == log_zero) return 0;
  }
  if (!gradient) return weight * (example.all().log_partition(work) - right);
  const LabelledMarginals all = example.all().marginals(work);
  example.collect_expected(all, weight);
  example.hand_over(*gradient);
  return weight * (all.parts.log_partition - right);
}

}  // namespace margent
