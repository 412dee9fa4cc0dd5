// The features of the edges of forests: what is seen of them is one of several kinds, stored or worked out.
#pragma once
#include <cstdint>
#include <vector>

#include "forest/forest_batch.hpp"
#include "learning/part_features.hpp"

namespace margent {

// One for each thread. Edges are scored all at once: many share what is seen of them.
class EdgeFeatures {
 public:
  using Part = std::int32_t;  // the number of an edge within the forest

  virtual ~EdgeFeatures() = default;
  virtual void turn_to(std::int64_t forest, const double* weights, double scale) = 0;
  // scale * (w . f(e)) of each edge of the forest, -inf for one that is not allowed.
  virtual void score(std::vector<double>& scores) const = 0;
  virtual void collect(Part edge, double amount) = 0;
  virtual void hand_over(SparseVector& out) = 0;
};

static_assert(PartFeatures<EdgeFeatures, const double*, double>);

// Stored with the forests, in compressed rows.
class StoredEdgeFeatures final : public EdgeFeatures {
 public:
  explicit StoredEdgeFeatures(const ForestBatch& batch) : batch_(&batch) {}

  void turn_to(std::int64_t forest, const double* weights, double scale) override {
    forest_ = forest;
    first_ = batch_->first_edge(forest);
    weights_ = weights;
    scale_ = scale;
  }

  void score(std::vector<double>& scores) const override {
    scores.resize(batch_->n_edges(forest_));
    for (std::size_t e = 0; e < scores.size(); ++e) scores[e] = score(static_cast<Part>(e));
  }
  double score(Part edge) const {
    if (!batch_->allowed(first_ + edge)) return log_zero;
    double sum = 0;
    each(edge, [&](std::int32_t id, double value) { sum += weights_[id] * value; });
    return scale_ * sum;
  }

  void collect(Part edge, double amount) override {
    each(edge, [&](std::int32_t id, double value) { collected_.push_back({id, amount * value}); });
  }

  void hand_over(SparseVector& out) override {
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
  std::int64_t forest_ = 0, first_ = 0;
  SparseVector collected_;
};

static_assert(ScoredParts<StoredEdgeFeatures, const double*, double>);

}  // namespace margent
