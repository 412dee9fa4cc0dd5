// The k-best sequential dual method and k-best LaRank (paper 004, sections 4.2 and 4.3, algorithms 2 and 3).
#pragma once
#include <vector>

#include "learning/mira.hpp"
#include "learning/working_set.hpp"
#include "random.hpp"

namespace margent {

struct DualSettings {
  double C = 1;
  int k = 1;
  std::size_t working_set = 50;  // rivals kept for an example
  SmoLimits limits;
};

// The structural SVM, min 1/2 |w|^2 + C sum xi_n, by its dual, one example at a time: the variables of all examples are
// kept. After each example, `n_reprocess` times: one example seen before is looked at again, then ten are optimised
// over the rivals that they have, without a search. Without reprocessing this is the sequential dual method.
//
// Differs: examples to go back to are picked among all that were seen; Bordes et al. pick among those that have a rival
// with a variable above zero. The others cost a search, which may find them a rival again.
class DualRule final : public Rule {
 public:
  DualRule(const DualSettings& settings, int n_reprocess, std::uint64_t seed)
      : settings_(settings), question_{settings.k, 1}, n_reprocess_(n_reprocess), random_(seed) {}

  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    bool moved = search(oracle, example);
    note(answer_, hinge_loss(answer_), outcome);
    outcome.objective = objective_;
    if (answer_.rivals.empty()) return;
    for (int i = 0; i < n_reprocess_; ++i) {
      moved |= search(oracle, sets_.example(pick()));
      for (int j = 0; j < optimize_per_search; ++j) moved |= optimize(oracle, sets_[pick()]);
    }
    outcome.updates += moved;
    outcome.objective = objective_;
  }

  std::optional<double> penalty(const Oracle& oracle) const override { return sets_.penalty(oracle); }

 private:
  static constexpr int optimize_per_search = 10;

  std::size_t pick() { return static_cast<std::size_t>(random_.uniform(sets_.size())); }

  bool search(Oracle& oracle, std::int64_t example) {
    oracle.ask(example, question_, answer_);
    if (answer_.rivals.empty()) return false;
    WorkingSet& set = sets_.of(example, settings_.C * answer_.weight);
    set.extend(oracle, answer_);
    return optimize(oracle, set);
  }

  bool optimize(Oracle& oracle, WorkingSet& set) {
    const double gained = set.optimize(oracle, settings_.limits);
    set.shrink(settings_.working_set);
    objective_ += gained;
    return gained > 0;
  }

  DualSettings settings_;
  Question question_;
  int n_reprocess_;
  Random random_;
  Reply answer_;
  WorkingSets sets_;
  double objective_ = 0;
};

}  // namespace margent
