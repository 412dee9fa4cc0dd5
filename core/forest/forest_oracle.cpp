#include "forest/forest_oracle.hpp"

#include <algorithm>
#include <stdexcept>

namespace margent {

void ForestOracle::ask(std::int64_t example, const Question& question, Reply& answer) {
  answer.weight = problem_.weight(example);
  answer.n_positions = 0;
  answer.rivals.clear();
  rivals_ = {};
  turn(example_, example);
  gold_ = is_fixed_ ? fixed_[static_cast<std::size_t>(example)] : best(example_.right()).edges;
  if (gold_.empty()) return;  // there is no right derivation to move towards
  answer.gold_score = example_.right_score(gold_);
  const Forest searched = example_.with_costs(question.cost);
  const auto wrong = [&](std::int32_t edge) { return example_.cost(edge) > 0; };
  if (question.k <= 1 || question.stop_if_right) rivals_ = best(searched);
  // Costs may leave out something that is wrong: what scores above gold is not right, whatever it costs.
  const auto is_right = [&] {
    return rivals_.size() > 0 && std::ranges::none_of(rivals_[0], wrong) &&
           example_.score(rivals_[0]) <= answer.gold_score;
  };
  if (question.k > 1 && !(question.stop_if_right && is_right())) rivals_ = k_best(searched, question.k);
  if (rivals_.size() == 0) return;  // scores beyond what a number can hold
  for (std::size_t j = 0; j < rivals_.size(); ++j) {
    Rival rival;
    rival.score = example_.score(rivals_[j]);
    for (const std::int32_t edge : rivals_[j]) rival.loss += example_.cost(edge);
    rival.errors = std::ranges::count_if(rivals_[j], wrong);
    // Where gold is fixed, another right derivation costs nothing, but is in the way if it scores higher.
    if (is_fixed_ && rival.score > answer.gold_score) rival.errors = std::max<std::int64_t>(rival.errors, 1);
    answer.rivals.push_back(rival);
  }
  answer.n_positions = static_cast<std::int64_t>(std::max(gold_.size(), rivals_[0].size()));
}

void ForestOracle::delta(std::size_t rival, SparseVector& out) const {
  const std::span<const std::int32_t> edges = labels(rival);
  out.clear();
  example_.collect_right(gold_, 1);
  example_.collect(edges, -1);
  example_.hand_over(out);
  normalize(out);
}

std::span<const std::int32_t> ForestOracle::labels(std::size_t rival) const {
  if (rival >= rivals_.size()) throw std::out_of_range("the last answer has no such rival");
  return rivals_[rival];
}

std::int64_t ForestOracle::fix_gold() {
  std::vector<std::vector<std::int32_t>> fixed(static_cast<std::size_t>(size()));
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    turn(example_, static_cast<std::int64_t>(i));
    fixed[i] = best(example_.right()).edges;
    changed += fixed_.empty() || fixed[i] != fixed_[i];
  }
  fixed_ = std::move(fixed);
  is_fixed_ = true;
  rivals_ = {};
  return changed;
}

}  // namespace margent
