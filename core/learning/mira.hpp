// k-best MIRA: the whole problem of the k best answers at once (Crammer 2004; paper 004, section 4.1).
#pragma once
#include <algorithm>
#include <vector>

#include "learning/oracle.hpp"
#include "learning/smo.hpp"

namespace margent {

// min 1/2 |w - w_n|^2 + C xi  s.t.  w . delta >= loss - xi for each of the k best, xi >= 0 (13, 14).
class MiraRule final : public Rule {
 public:
  MiraRule(double C, int k, double tol) : C_(C), question_{k, 1, true}, limits_{tol} {}

  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    oracle.ask(example, question_, answer_);
    note(answer_, hinge_loss(answer_), outcome);
    // Variable 0 is that of gold, whose delta, loss and hinge are zero. All of C is with it at first.
    wrong_.assign(1, 0);
    hinge_.assign(1, 0);
    for (std::size_t j = 0; j < answer_.rivals.size(); ++j) {
      const Rival& rival = answer_.rivals[j];
      if (rival.errors == 0) continue;
      wrong_.push_back(j);
      hinge_.push_back(rival.loss - (answer_.gold_score - rival.score));
    }
    if (*std::max_element(hinge_.begin(), hinge_.end()) <= 0) return;
    const std::size_t m = wrong_.size();
    values_.assign(m, 0);
    values_[0] = C_ * answer_.weight;
    gram_.assign(m * m, 0);
    for (std::size_t i = 1; i < m; ++i)
      for (std::size_t j = 1; j <= i; ++j) gram_[i * m + j] = gram_[j * m + i] = oracle.dot(wrong_[j], wrong_[i]);
    outcome.updates += smo(gram_, hinge_, values_, limits_) > 0;
    for (std::size_t i = 1; i < m; ++i)
      if (values_[i] != 0) oracle.move(wrong_[i], values_[i]);
  }

 private:
  double C_;
  Question question_;
  SmoLimits limits_;
  Reply answer_;
  std::vector<std::size_t> wrong_;  // the rivals that have a variable
  std::vector<double> gram_, hinge_, values_;
};

}  // namespace margent
