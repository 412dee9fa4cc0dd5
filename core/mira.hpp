// k-best MIRA: the whole problem of the k best answers at once (Crammer 2004; paper 004, section 4.1).
#pragma once
#include "working_set.hpp"

namespace margent {

// What all learners that solve a dual report of the answer to their question.
inline void note(const Answer& answer, Outcome& outcome) {
  outcome.places += answer.places;
  if (answer.rivals.empty()) return;
  const Rival& best = answer.rivals.front();
  outcome.errors += best.errors;
  outcome.wrong_examples += best.errors > 0;
  outcome.loss += hinge_loss(answer);
}

// min 1/2 |w - w_n|^2 + C xi  s.t.  w . delta >= loss - xi for each of the k best, xi >= 0 (13, 14).
class MiraRule final : public Rule {
 public:
  MiraRule(double C, int k, double tol) : C_(C), question_{k, 1}, limits_{tol} {}

  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    oracle.ask(example, question_, answer_);
    note(answer_, outcome);
    WorkingSet set(C_ * answer_.weight);
    set.extend(oracle, answer_);
    outcome.updates += set.optimize(oracle, limits_) > 0;
  }

 private:
  double C_;
  Question question_;
  SmoLimits limits_;
  Answer answer_;
};

}  // namespace margent
