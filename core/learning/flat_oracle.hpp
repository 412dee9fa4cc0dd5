// An oracle whose weights are one flat vector, with their averages; what it answers is left to those that derive from
// it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "learning/clock.hpp"
#include "learning/parameter_oracle.hpp"

namespace margent {

// The weights are scale times kept[0], ..., kept[size - 1]; others are 0.
template <class Real>
struct FlatWeights {
  const Real* kept = nullptr;
  std::int64_t size = 0;
  double scale = 1;
};

class FlatOracle : public ParameterOracle {
 public:
  explicit FlatOracle(std::int64_t n_features) : weights_(n_features, 0.0), sums_(n_features, 0.0) {}

  std::int64_t n_features() const override { return static_cast<std::int64_t>(weights_.size()); }

  double score(const SparseVector& vector) const override {
    double sum = 0;
    for (const auto& [index, value] : vector) sum += weights_[index] * value;
    return clock_.scale * sum;
  }

  void add(const SparseVector& vector, double step) override {
    for (const auto& [index, value] : vector) {
      if (index < 0 || index >= n_features()) throw std::out_of_range("there is no such weight");
      const double change = step / clock_.scale * value;
      weights_[index] += change;
      sums_[index] += clock_.now * change;
    }
  }

  void scale(double factor) override {
    clock_.scale *= factor;
    if (clock_.scale > 1e-2 && clock_.scale < 1e2) return;
    for (std::size_t i = 0; i < weights_.size(); ++i) clock_.absorb_scale(weights_[i], sums_[i]);
    clock_.absorb_scale();
  }

  double squared_norm() const override {
    double sum = 0;
    for (const double weight : weights_) sum += weight * weight;
    return clock_.scale * clock_.scale * sum;
  }

  void tick(double weight = 1) override { clock_.tick(weight); }

  void start_from(const double* weights) override {
    std::copy(weights, weights + weights_.size(), weights_.begin());
    std::fill(sums_.begin(), sums_.end(), 0.0);
    clock_ = {};
  }

  std::vector<double> weights(bool average) const override {
    std::vector<double> out(weights_.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = clock_.weight(weights_[i], sums_[i], average);
    return out;
  }

  FlatWeights<double> search_weights() const { return {kept(), n_features(), scale()}; }
  void drop_unknown(SparseVector& vector) override {
    while (!vector.empty() && vector.back().first >= n_features()) vector.pop_back();
  }
  void grow_to_met() override {}

 protected:
  // The weights are scale() times these.
  const double* kept() const { return weights_.data(); }
  double scale() const { return clock_.scale; }
  // Features that have never been seen have had weight 0 so far, also on average.
  void grow(std::int64_t n_features) {
    if (n_features <= this->n_features()) return;
    weights_.resize(n_features);
    sums_.resize(n_features);
  }

 private:
  std::vector<double> weights_, sums_;
  Clock clock_;
};

}  // namespace margent
