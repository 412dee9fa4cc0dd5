// Adaptive regularisation of weight vectors (Crammer, Kulesza and Dredze 2009), for structures as Mejer and Crammer
// (2010) have it: each weight has a variance, and those that were seen often move little.
#pragma once
#include <algorithm>
#include <vector>

#include "learning/oracle.hpp"
#include "text/strings.hpp"

namespace margent {

// A step on the best wrong answer, with the diagonal matrix S of the variances:
//
//   min  1/2 (w - w_before)' S^-1 (w - w_before) + 1/(2 r) max(0, loss - w . delta)^2
//
// which is  w += a S delta,  a = max(0, loss - w_before . delta) / (delta' S delta + r),  and afterwards
// 1/S_i += delta_i^2 / r.  An example of weight c has r / c in the place of r.
class ArowRule final : public Rule {
 public:
  // Variances begin with 1; r: how little one example is trusted.
  explicit ArowRule(double r) : r_(r) {}

  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    oracle.ask(example, {1, 1.0}, answer_);
    note(answer_, hinge_loss(answer_), outcome);
    if (answer_.rivals.empty() || answer_.rivals.front().errors == 0 || answer_.weight <= 0) return;
    const Rival& rival = answer_.rivals.front();
    const double hinge = rival.loss - (answer_.gold_score - rival.score);
    if (hinge <= 0) return;
    oracle.delta(0, step_);
    const double r = r_ / answer_.weight;
    double spread = 0;  // delta' S delta
    for (auto& [index, value] : step_) {
      float& precision = precision_of(index);  // 1/S_i
      spread += value * value / precision;
      const double before = precision;
      precision = static_cast<float>(before + value * value / r);
      value /= before;
    }
    if (spread == 0) return;
    oracle.add(step_, hinge / (spread + r));
    outcome.updates += 1;
  }

 private:
  float& precision_of(std::int64_t index) {
    const std::int32_t id = indices_.add(mix(static_cast<std::uint64_t>(index) + 1) | 1);
    if (static_cast<std::size_t>(id) == precisions_.size()) precisions_.push_back(1.0f);
    return precisions_[static_cast<std::size_t>(id)];
  }

  double r_;
  Reply answer_;
  SparseVector step_;
  KeyTable indices_;  // of weights that were moved, by hashes of 63 bits
  std::vector<float> precisions_;
};

}  // namespace margent
