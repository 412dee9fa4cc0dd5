// The features of the edges of forests, stored with them in compressed rows.
#pragma once
#include <cstdint>

#include "forest/forest_batch.hpp"
#include "learning/part_features.hpp"

namespace margent {

// One for each thread.
class EdgeFeatures {
 public:
  using Part = std::int32_t;  // the number of an edge within the forest

  explicit EdgeFeatures(const ForestBatch& batch) : batch_(&batch) {}

  void turn_to(std::int64_t forest, const double* weights, double scale) {
    first_ = batch_->first_edge(forest);
    weights_ = weights;
    scale_ = scale;
  }

  // scale * (w . f(e)), or -inf for an edge that is not allowed.
  double score(Part edge) const {
    if (!batch_->allowed(first_ + edge)) return log_zero;
    double sum = 0;
    each(edge, [&](std::int32_t id, double value) { sum += weights_[id] * value; });
    return scale_ * sum;
  }

  void collect(Part edge, double amount) {
    each(edge, [&](std::int32_t id, double value) { collected_.push_back({id, amount * value}); });
  }

  void hand_over(SparseVector& out) {
    out.insert(out.end(), collected_.begin(), collected_.end());
    collected_.clear();
  }

 private:
  template <class Visit>
  void each(Part edge, Visit visit) const {
    const Features& f = batch_->features();
    for (std::int64_t k = f.ptr[first_ + edge]; k < f.ptr[first_ + edge + 1]; ++k)
      visit(f.ids[k], static_cast<double>(f.value(k)));
  }

  const ForestBatch* batch_;
  const double* weights_ = nullptr;
  double scale_ = 1;
  std::int64_t first_ = 0;
  SparseVector collected_;
};

static_assert(ScoredParts<EdgeFeatures, const double*, double>);

}  // namespace margent
