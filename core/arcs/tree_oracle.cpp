#include "arcs/tree_oracle.hpp"

#include <stdexcept>

#include "arcs/tree_likelihood.hpp"

namespace margent {

void TreeOracle::ask(std::int64_t example, const Question& question, Reply& answer) {
  answer.weight = problem_.examples().weight(example);
  answer.n_positions = 0;
  answer.rivals.clear();
  rivals_.clear();
  if (problem_.examples().n_words(example) == 0) return;
  turn(example_, example);
  gold_ = example_.gold(work_);
  if (gold_.arcs.empty()) return;
  answer.gold_score = gold_.score;
  answer.n_positions = static_cast<std::int64_t>(gold_.arcs.size());
  const LabelledScores& searched = example_.with_costs(question.cost);
  if (question.k <= 1 || question.stop_if_right) rivals_.push_back(searched.best(work_));
  if (question.k > 1 && !(question.stop_if_right && example_.errors(rivals_[0]) == 0))
    rivals_ = searched.k_best(question.k, work_);
  for (ScoredTree& rival : rivals_) {
    rival.score = example_.score(rival);
    answer.rivals.push_back({rival.score, example_.loss(rival), example_.errors(rival)});
  }
}

void TreeOracle::delta(std::size_t rival, SparseVector& out) const {
  if (rival >= rivals_.size()) throw std::out_of_range("the last answer has no such rival");
  out.clear();
  example_.collect_difference(gold_, rivals_[rival]);
  example_.hand_over(out);
  normalize(out);
}

std::unique_ptr<Likelihood> TreeOracle::likelihood(const LikelihoodOptions& options, int threads) {
  if (options.beam) return nullptr;
  return std::make_unique<TreeLikelihood>(*this, options.best_completion, threads);
}

}  // namespace margent
