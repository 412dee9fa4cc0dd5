// Stochastic subgradient steps for the structural SVM (Shalev-Shwartz, Singer, Srebro and Cotter 2011: Pegasos).
#pragma once
#include <cmath>

#include "learning/mira.hpp"

namespace margent {

// min 1/2 |w|^2 + C sum xi_n, divided by C n: lambda/2 |w|^2 + the mean of the hinge losses, lambda = 1 / (C n). Step t
// at example n is w <- (1 - 1/t) w + 1 / (lambda t) delta of the worst violator. Shrinking is a change of scale, so a
// step costs what the example touches.
//
// Projection: at the optimum |w|^2 = sum of the losses of the dual minus C sum xi_n, so it lies in the ball |w|^2 <= C
// sum of the largest loss of each example, and weights outside are brought to its edge. The largest losses are sought
// before the first step, so that no weights outside the ball count in the average.
//
// Weights that are there before the first step are taken for those of `warm_start` epochs, and shrink with the others:
// the more epochs, the shorter the first steps and the slower the weights are forgotten.
class SubgradientRule final : public Rule {
 public:
  SubgradientRule(double C, bool project, double warm_start = 1) : C_(C), project_(project), warm_start_(warm_start) {}

  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    const std::int64_t n = oracle.size();
    if (steps_ == 0) {
      norm_ = oracle.squared_norm();
      before_ = norm_ > 0 ? warm_start_ * static_cast<double>(n) : 0;
      for (std::int64_t i = 0; project_ && i < n; ++i) widen_ball(oracle, i);
    }
    steps_ += 1;
    oracle.ask(example, {1, 1}, answer_);
    note(answer_, hinge_loss(answer_), outcome);
    outcome.updates += 1;
    const double t = before_ + static_cast<double>(steps_);
    if (t > 1) {
      oracle.scale(1 - 1 / t);
      norm_ *= (1 - 1 / t) * (1 - 1 / t);
    }
    if (!answer_.rivals.empty() && answer_.rivals.front().errors) {
      const double step = C_ * static_cast<double>(n) * answer_.weight / t;
      if (project_) {
        oracle.delta(0, delta_);
        norm_ += step * (2 * oracle.score(delta_) + step * oracle.inner(delta_, delta_));
      }
      oracle.move(0, step);
    }
    if (project_ && norm_ > ball_ && ball_ > 0) {
      oracle.scale(std::sqrt(ball_ / norm_));
      norm_ = ball_;
    }
  }

  // Early steps are long and far off: the weights after step t count t times.
  double weight() const override { return static_cast<double>(steps_); }

  std::optional<double> penalty(const Oracle& oracle) const override { return oracle.squared_norm() / 2; }

 private:
  void widen_ball(Oracle& oracle, std::int64_t example) {
    constexpr double far = 1e6;  // at this cost the weights hardly matter
    oracle.ask(example, {1, far}, answer_);
    if (!answer_.rivals.empty()) ball_ += C_ * answer_.weight * answer_.rivals.front().loss;
  }

  double C_;
  bool project_;
  double warm_start_;
  std::int64_t steps_ = 0;
  double before_ = 0;           // steps that stand for the weights at the start
  double norm_ = 0, ball_ = 0;  // |w|^2, and how large it may be
  Reply answer_;
  SparseVector delta_;
};

}  // namespace margent
