// How weights are kept in training, so that neither scaling nor averaging touches all of them.
#pragma once

namespace margent {

// Of each weight two numbers are kept. w = scale * kept; its average over all steps, each with its weight, is
// (now * kept - sum) / total, where `sum` collects now * change at each change of what is kept.
struct Clock {
  double scale = 1, now = 1, total = 1;

  void tick(double weight) {
    now += weight * scale;
    total += weight;
  }

  double weight(double kept, double sum, bool average) const {
    return average ? now / total * kept - sum / total : scale * kept;
  }

  // What is kept of a weight by the clock after `absorb_scale()`: the weight and its average stay.
  template <class Real>
  void absorb_scale(Real& kept, Real& sum) const {
    const double weight = scale * kept;
    sum = static_cast<Real>(sum + total * weight - now * kept);
    kept = static_cast<Real>(weight);
  }
  void absorb_scale() {
    scale = 1;
    now = total;
  }
};

}  // namespace margent
