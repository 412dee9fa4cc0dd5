// Block-coordinate Frank-Wolfe for the structural SVM (Lacoste-Julien, Jaggi, Schmidt and Pletscher 2013, algorithm 4).
#pragma once
#include <vector>

#include "learning/mira.hpp"

namespace margent {

// Solves min 1/2 |w|^2 + C sum xi_n by its dual, as DualRule does, but keeps no single rivals: only w_n, the part of
// the weights that is due to example n, and l_n, the loss in it. The search finds the corner of the example's simplex
// with the best slope, (w_s, l_s) = C (delta, loss) of the worst violator, or (0, 0) if that is gold; the step towards
// it is the best one, in closed form. With lambda = 1 / (C n), w_n is that of the paper and l_n its l_n / lambda.
//
// Memory: an entry of 16 bytes for each weight that a rival of the example has ever touched: at most features x labels
// of the example and its transitions.
class FrankWolfeRule final : public Rule {
 public:
  explicit FrankWolfeRule(double C) : C_(C) {}

  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    if (parts_.empty()) parts_.resize(static_cast<std::size_t>(oracle.size()));
    steps_ += 1;
    oracle.ask(example, {1, 1}, answer_);
    note(answer_, hinge_loss(answer_), outcome);
    outcome.objective = objective_;
    if (answer_.rivals.empty()) return;
    const Rival& best = answer_.rivals.front();
    Part& part = parts_[example];
    const double total = best.errors ? C_ * answer_.weight : 0;  // gold is the corner at zero
    delta_.clear();
    if (best.errors) oracle.delta(0, delta_);
    // The way to the corner, and the slope of the dual along it.
    combine(total, delta_, -1, part.weights, change_);
    const double norm = oracle.inner(change_, change_);
    const double slope = total * best.loss - part.loss - oracle.score(change_);
    if (slope <= 0) return;
    const double step = norm > 0 ? std::min(1.0, slope / norm) : 1;
    combine(1 - step, part.weights, step * total, delta_, next_);
    part.weights.assign(next_.begin(), next_.end());
    part.loss += step * (total * best.loss - part.loss);
    oracle.add(change_, step);
    objective_ += step * (slope - step * norm / 2);
    outcome.objective = objective_;
    outcome.updates += 1;
  }

  // Later weights are better: those after step t count t times.
  double weight() const override { return static_cast<double>(steps_); }

  std::optional<double> penalty(const Oracle& oracle) const override {
    SparseSum sum;
    for (const Part& part : parts_) sum.add(part.weights, 1);
    return oracle.inner(sum.vector(), sum.vector()) / 2;
  }

  std::size_t bytes() const {
    std::size_t sum = parts_.capacity() * sizeof(Part);
    for (const Part& part : parts_) sum += part.weights.capacity() * sizeof(SparseVector::value_type);
    return sum;
  }

 private:
  struct Part {
    SparseVector weights;
    double loss = 0;
  };
  double C_;
  std::vector<Part> parts_;
  std::int64_t steps_ = 0;
  double objective_ = 0;
  Reply answer_;
  SparseVector delta_, change_, next_;
};

}  // namespace margent
