#include "arcs/tree_oracle.hpp"

#include <algorithm>
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
  gold_ = gold_of(example);
  if (gold_.arcs.empty()) return;
  answer.gold_score = gold_.score;
  answer.n_positions = static_cast<std::int64_t>(gold_.arcs.size());
  const LabelledScores& searched = example_.with_costs(question.cost);
  if (question.k <= 1 || question.stop_if_right) rivals_.push_back(searched.best(work_));
  if (question.k > 1 && !(question.stop_if_right && example_.errors(rivals_[0]) == 0))
    rivals_ = searched.k_best(question.k, work_);
  for (ScoredTree& rival : rivals_) {
    rival.score = example_.score(rival);
    std::int64_t errors = example_.errors(rival);
    // Where gold is fixed, another right tree costs nothing, but is in the way if it scores higher.
    if (is_fixed_ && rival.score > answer.gold_score) errors = std::max<std::int64_t>(errors, 1);
    answer.rivals.push_back({rival.score, example_.loss(rival), errors});
  }
}

ScoredTree TreeOracle::gold_of(std::int64_t example) {
  if (!is_fixed_ || problem_.is_complete(example)) return example_.gold(work_);
  ScoredTree fixed = fixed_[static_cast<std::size_t>(example)];
  if (!fixed.arcs.empty()) fixed.score = example_.score(fixed);
  return fixed;
}

std::int64_t TreeOracle::fix_gold() {
  is_fixed_ = false;
  std::vector<ScoredTree> fixed(static_cast<std::size_t>(size()));
  std::int64_t changed = 0;
  for (std::int64_t i = 0; i < size(); ++i) {
    ScoredTree& tree = fixed[static_cast<std::size_t>(i)];
    if (problem_.is_complete(i) || problem_.examples().n_words(i) == 0) {
      changed += fixed_.empty();
      continue;
    }
    turn(example_, i);
    tree = example_.gold(work_);
    const ScoredTree* before = fixed_.empty() ? nullptr : &fixed_[static_cast<std::size_t>(i)];
    changed += !before || before->arcs != tree.arcs;
  }
  fixed_ = std::move(fixed);
  is_fixed_ = true;
  rivals_.clear();
  return changed;
}

std::span<const std::int32_t> TreeOracle::labels(std::size_t rival) const {
  if (rival >= rivals_.size()) throw std::out_of_range("the last answer has no such rival");
  const ScoredTree& tree = rivals_[rival];
  name_.clear();
  for (const std::int32_t arc : tree.arcs)
    name_.push_back(example_.head(arc) * problem_.n_labels() + example_.label(arc));
  return name_;
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
