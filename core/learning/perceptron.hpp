// The structured perceptron (Collins 2002; paper 003, section 3.1) and its k-best form (paper 004, equation 36).
#pragma once
#include <vector>

#include "learning/oracle.hpp"

namespace margent {

// For each of the k best answers in turn: w += weight * (mean cost of its mistakes) * (F(gold) - F(rival)), if it is
// wrong and does not yet lose to gold. With a margin the answers are sought with margin * loss added to their score,
// and gold must win by as much.
class PerceptronRule final : public Rule {
 public:
  PerceptronRule(double margin, int k) : question_{k, margin} {}

  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    oracle.ask(example, question_, answer_);
    note(answer_, answer_.rivals.empty() ? 0 : answer_.weight * answer_.rivals.front().loss, outcome);
    const std::size_t n = answer_.rivals.size();
    steps_.assign(n, 0);
    bool moved = false;
    for (std::size_t j = 0; j < n; ++j) {
      const Rival& rival = answer_.rivals[j];
      if (rival.errors == 0) continue;
      // The best answer needs no test: gold, which it beats or equals, was among the answers sought.
      if (j > 0) {
        double margin = answer_.gold_score - rival.score;
        for (std::size_t i = 0; i < j; ++i)
          if (steps_[i] != 0) margin += steps_[i] * oracle.dot(i, j);
        if (margin > question_.cost * rival.loss) continue;
      }
      steps_[j] = answer_.weight * rival.loss / static_cast<double>(rival.errors);
      if (steps_[j] == 0) continue;
      oracle.move(j, steps_[j]);
      moved = true;
    }
    outcome.updates += moved;
  }

 private:
  Question question_;
  Reply answer_;
  std::vector<double> steps_;
};

}  // namespace margent
