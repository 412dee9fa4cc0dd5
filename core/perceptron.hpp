// The structured perceptron (Collins 2002; paper 003, section 3.1).
#pragma once
#include "oracle.hpp"

namespace margent {

// w += weight * (mean cost of the mistakes) * (F(gold) - F(best)), when the best answer is wrong. With a margin the
// best answer is sought with margin * loss added to its score.
class PerceptronRule final : public Rule {
 public:
  explicit PerceptronRule(double margin) : question_{1, margin} {}

  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    oracle.ask(example, question_, answer_);
    outcome.places += answer_.places;
    if (answer_.rivals.empty()) return;
    const Rival& rival = answer_.rivals.front();
    outcome.loss += answer_.weight * rival.loss;
    outcome.errors += rival.errors;
    if (rival.errors == 0) return;
    outcome.wrong_examples += 1;
    const double step = answer_.weight * rival.loss / static_cast<double>(rival.errors);
    if (step == 0) return;
    oracle.move(0, step);
    outcome.updates += 1;
  }

 private:
  Question question_;
  Answer answer_;
};

}  // namespace margent
