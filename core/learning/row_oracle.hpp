// An oracle whose weights are rows of features, found by keys; what it answers is left to those that derive from it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "learning/clock.hpp"
#include "learning/hashed_rows.hpp"
#include "learning/parameter_oracle.hpp"

namespace margent {

// Weight `row * n_columns + column` of a sparse vector is that of a feature with an action. It exists once it was added
// to; all others are 0. Parameters are the weights that exist, row by row.
class RowOracle : public ParameterOracle {
 public:
  explicit RowOracle(std::int32_t n_columns) : rows_(n_columns) {}

  TableWeights<HashedRows> search_weights() { return {&rows_, clock_.scale}; }
  const HashedRows& rows() const { return rows_; }
  const Clock& clock() const { return clock_; }

  double score(const SparseVector& vector) const override {
    double sum = 0;
    for (const auto& [index, value] : vector)
      sum += value * rows_.rows().weight(static_cast<std::int32_t>(row(index)), column(index));
    return clock_.scale * sum;
  }
  void add(const SparseVector& vector, double step) override {
    for (const auto& [index, value] : vector) {
      SparseRows::Entry& entry = rows_.rows().entry(static_cast<std::int32_t>(row(index)), column(index));
      const double change = step / clock_.scale * value;
      entry.weight += static_cast<float>(change);
      entry.sum += static_cast<float>(clock_.now * change);
    }
  }
  void scale(double factor) override {
    clock_.scale *= factor;
    if (clock_.scale > 1e-2 && clock_.scale < 1e2) return;
    rows_.rows().absorb_scale(clock_);
    clock_.absorb_scale();
  }
  double squared_norm() const override { return clock_.scale * clock_.scale * rows_.rows().squared_norm(); }
  void tick(double weight = 1) override { clock_.tick(weight); }

  std::int64_t n_features() const override {
    std::int64_t n = 0;
    for (std::int64_t row = 0; row < rows_.size(); ++row) n += rows_.rows().size(row);
    return n;
  }
  std::vector<double> weights(bool average) const override {
    std::vector<double> out;
    for (std::int64_t row = 0; row < rows_.size(); ++row)
      for (std::uint32_t i = 0; i < rows_.rows().size(row); ++i) {
        const SparseRows::Entry& entry = rows_.rows().entries(row)[i];
        out.push_back(clock_.weight(entry.weight, entry.sum, average));
      }
    return out;
  }
  void start_from(const double* weights) override {
    for (std::int64_t row = 0; row < rows_.size(); ++row)
      for (std::uint32_t i = 0; i < rows_.rows().size(row); ++i) {
        SparseRows::Entry& entry = rows_.rows().entries(row)[i];
        entry.weight = static_cast<float>(*weights++);
        entry.sum = 0;
      }
    clock_ = {};
  }
  // A weight that training starts with.
  void set(std::uint64_t key, std::int32_t column, float weight) {
    rows_.rows().entry(rows_.row(key), column).weight = weight;
  }

  void drop_unknown(SparseVector& vector) override {
    std::erase_if(vector, [&](const auto& part) {
      const bool known = rows_.rows().find(static_cast<std::int32_t>(row(part.first)), column(part.first)) >= 0;
      if (!known) met_.push_back(part.first);
      return !known;
    });
  }
  void grow_to_met() override {
    for (const std::int64_t index : met_) rows_.rows().entry(static_cast<std::int32_t>(row(index)), column(index));
    met_.clear();
    first_.assign(1, 0);
    for (std::int64_t row = 0; row < rows_.size(); ++row) first_.push_back(first_.back() + rows_.rows().size(row));
  }
  void to_parameters(SparseVector& vector) const override {
    for (auto& [index, value] : vector)
      index = first_[row(index)] + rows_.rows().find(static_cast<std::int32_t>(row(index)), column(index));
  }

 protected:
  // The row of a feature, made where there is none.
  std::int64_t row_of(std::uint64_t key) { return rows_.row(key); }

 private:
  std::int64_t row(std::int64_t index) const { return index / rows_.n_columns(); }
  std::int32_t column(std::int64_t index) const { return static_cast<std::int32_t>(index % rows_.n_columns()); }

  HashedRows rows_;
  Clock clock_;
  std::vector<std::int64_t> met_;    // without a weight so far
  std::vector<std::int64_t> first_;  // the parameter that each row begins with
};

}  // namespace margent
