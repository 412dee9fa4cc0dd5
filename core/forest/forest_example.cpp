#include "forest/forest_example.hpp"

namespace margent {

void ForestExample::turn_to(std::int64_t example, const double* weights, double scale) {
  example_ = example;
  const ForestBatch& answers = *problem_->answers;
  features_->turn_to(example, weights, scale);
  right_features_->turn_to(example, weights, scale);
  features_->score(scores_);
  if (problem_->right) {
    right_features_->score(right_scores_);
    return;
  }
  right_scores_ = scores_;
  const auto first = static_cast<std::size_t>(answers.first_edge(example));
  for (std::size_t e = 0; e < scores_.size(); ++e)
    if (!problem_->mask[first + e]) right_scores_[e] = log_zero;
}

Forest ForestExample::with_costs(double cost) {
  if (cost == 0) return answers();
  augmented_ = scores_;
  for (std::size_t e = 0; e < scores_.size(); ++e) augmented_[e] += cost * this->cost(static_cast<std::int32_t>(e));
  return problem_->answers->forest(example_, augmented_);
}

}  // namespace margent
