// Passive-aggressive updates on the k best answers (Crammer et al. 2006; paper 004, section 4.4).
#pragma once
#include <algorithm>
#include <vector>

#include "learning/oracle.hpp"

namespace margent {

// One rival after the other, in the order of their loss-augmented scores: the smallest step along delta after which
// gold wins by the rival's loss, but no longer than C * weight (equations 24 and 25). What earlier steps did to the
// margin of later rivals is known from the inner products of the deltas.
//
// Restricted: only rivals that violate their margin at least as much as the answer the weights would give, for which
// a new search is made after each step (equations 26 to 28, algorithm 4).
class PassiveAggressiveRule final : public Rule {
 public:
  PassiveAggressiveRule(double C, int k, bool restricted) : C_(C), question_{k, 1, true}, restricted_(restricted) {}

  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    oracle.ask(example, question_, answer_);
    note(answer_, hinge_loss(answer_), outcome);
    const std::size_t n = answer_.rivals.size();
    steps_.assign(n, 0);
    kept_ = false;
    bool moved = false, known = false;  // known: prediction_ is that of the weights as they are
    for (std::size_t j = 0; j < n; ++j) {
      const Rival& rival = answer_.rivals[j];
      if (rival.errors == 0) continue;
      double hinge = rival.loss - (answer_.gold_score - rival.score);
      for (std::size_t i = 0; i < j; ++i)
        if (steps_[i] != 0) hinge -= steps_[i] * inner(oracle, i, j);
      if (hinge <= 0) continue;
      // A new search leaves nothing of the answer to move along: what of it is still needed is kept.
      if (restricted_ && n > 1 && !kept_) keep(oracle);
      const double norm = inner(oracle, j, j);
      if (norm == 0) continue;
      // No answer violates its margin more than the first: the restriction can only bind after it.
      if (restricted_ && j > 0) {
        if (!known) predict(oracle, example);
        known = true;
        if (hinge < prediction_hinge_ && deltas_[j] != prediction_delta_) continue;
      }
      steps_[j] = std::min(hinge / norm, C_ * answer_.weight);
      if (steps_[j] == 0) continue;
      if (kept_)
        oracle.add(deltas_[j], steps_[j]);
      else
        oracle.move(j, steps_[j]);
      moved = true;
      known = false;
    }
    outcome.updates += moved;
  }

 private:
  double inner(const Oracle& oracle, std::size_t i, std::size_t j) const {
    return kept_ ? oracle.inner(deltas_[i], deltas_[j]) : oracle.dot(i, j);
  }

  void keep(const Oracle& oracle) {
    deltas_.resize(std::max(deltas_.size(), answer_.rivals.size()));
    for (std::size_t j = 0; j < answer_.rivals.size(); ++j)
      if (answer_.rivals[j].errors) oracle.delta(j, deltas_[j]);
    kept_ = true;
  }

  // The answer of the weights as they are (26): its hinge loss and, as rounding may hide that it is a rival, its delta.
  void predict(Oracle& oracle, std::int64_t example) {
    oracle.ask(example, {1, 0}, prediction_);
    prediction_hinge_ = 0;
    prediction_delta_.clear();
    if (prediction_.rivals.empty()) return;
    const Rival& best = prediction_.rivals.front();
    prediction_hinge_ = best.loss - (prediction_.gold_score - best.score);
    oracle.delta(0, prediction_delta_);
  }

  double C_;
  Question question_;
  bool restricted_;
  Reply answer_, prediction_;
  std::vector<SparseVector> deltas_;  // where kept_
  bool kept_ = false;
  std::vector<double> steps_;
  double prediction_hinge_ = 0;
  SparseVector prediction_delta_;
};

}  // namespace margent
