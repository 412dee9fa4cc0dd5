// Weights as rows: one row per feature, one column per label (or per pair of labels).
//
// Two layouts. Dense: rows padded to whole vectors, so that scoring a token is a sum of contiguous rows; best where
// features x labels fits in memory. Sparse: only the weights an update has touched, as short lists of (column, weight);
// for very many features or labels, and for label pairs. Each comes as a frozen view over arrays that somebody else
// owns (a model in memory or a memory-mapped file) and as a growing store with the sums that averaging needs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "learning/clock.hpp"
#include "simd/buffer.hpp"
#include "simd/kernels.hpp"
#include "simd/simd.hpp"

namespace margent {

// The features of tokens in compressed rows: token t has ids[ptr[t]] to ids[ptr[t + 1] - 1]. `values` may be null: 1.
struct Features {
  const std::int32_t* ids = nullptr;
  const float* values = nullptr;
  const std::int64_t* ptr = nullptr;
  // Tokens from which rows may be fetched ahead of need: all, where sequences are scored one after the other.
  std::int64_t last = 0;

  float value(std::int64_t k) const { return values ? values[k] : 1.0f; }
};

class Rows {
 public:
  explicit Rows(std::int64_t width) : width_(width) {}
  virtual ~Rows() = default;
  std::int64_t width() const { return width_; }
  // out[t - begin] = the sum of value * row over the features of tokens begin <= t < end.
  virtual void gather(const Features& features, std::int64_t begin, std::int64_t end, float* out) const = 0;
  // The rows [n_rows][width], where they lie so; otherwise null.
  virtual const float* dense() const { return nullptr; }

 protected:
  std::int64_t width_;
};

class DenseView final : public Rows {
 public:
  DenseView(const float* rows, std::int64_t width) : Rows(width), rows_(rows) {}
  void gather(const Features& f, std::int64_t begin, std::int64_t end, float* out) const override {
    kernels<float>().gather(rows_, static_cast<int>(width_), f.ids, f.values, f.ptr, begin, end,
                            f.last > end ? f.last : end, out);
  }

  const float* dense() const override { return rows_; }

 private:
  const float* rows_;
};

class SparseView final : public Rows {
 public:
  SparseView(const std::int64_t* ptr, const std::int32_t* columns, const float* weights, std::int64_t width)
      : Rows(width), ptr_(ptr), columns_(columns), weights_(weights) {}
  void gather(const Features& f, std::int64_t begin, std::int64_t end, float* out) const override {
    for (std::int64_t t = begin; t < end; ++t, out += width_) {
      std::fill(out, out + width_, 0.0f);
      for (std::int64_t k = f.ptr[t]; k < f.ptr[t + 1]; ++k) {
        const float x = f.value(k);
        for (std::int64_t e = ptr_[f.ids[k]]; e < ptr_[f.ids[k] + 1]; ++e) out[columns_[e]] += x * weights_[e];
      }
    }
  }

 private:
  const std::int64_t* ptr_;
  const std::int32_t* columns_;
  const float* weights_;
};

// Rows in training. The average of a weight over all steps is w - sum / steps, where `sum` collects step * change: the
// usual way to average without touching every weight at every step.
class GrowingRows : public Rows {
 public:
  using Rows::Rows;
  // weight[ids[k]][column] += step * value for the features of one token; `clock` counts the steps so far.
  virtual void add(const Features& features, std::int64_t token, std::int32_t column, float step, float clock) = 0;
  // The same for two columns: weights of `up` rise, weights of `down` fall.
  virtual void move(const Features& features, std::int64_t token, std::int32_t up, std::int32_t down, float step,
                    float clock) {
    add(features, token, up, step, clock);
    add(features, token, down, -step, clock);
  }
  // Says that such a move will probably follow: time to fetch what gathering has not.
  virtual void expect_move(const Features&, std::int64_t, std::int32_t, std::int32_t) const {}
  virtual float weight(std::int32_t row, std::int32_t column) const = 0;
  // Brings all weights to the scale of a folded clock.
  virtual void absorb_scale(const Clock& clock) = 0;
  virtual double squared_norm() const = 0;
};

class DenseRows final : public GrowingRows {
 public:
  DenseRows(std::int64_t n_rows, std::int64_t width) : GrowingRows(width), n_rows_(n_rows) {
    weights_.grow(n_rows * width);
    sums_.grow(n_rows * width);
  }
  void gather(const Features& f, std::int64_t begin, std::int64_t end, float* out) const override {
    kernels<float>().gather(weights_.data(), static_cast<int>(width_), f.ids, f.values, f.ptr, begin, end,
                            f.last > end ? f.last : end, out);
  }
  const float* dense() const override { return weights_.data(); }
  void add(const Features& f, std::int64_t token, std::int32_t column, float step, float clock) override {
    for (std::int64_t k = f.ptr[token]; k < f.ptr[token + 1]; ++k) {
      const std::size_t i = static_cast<std::size_t>(f.ids[k]) * width_ + column;
      const float change = step * f.value(k);
      weights_[i] += change;
      sums_[i] += clock * change;
    }
  }
  void move(const Features& f, std::int64_t token, std::int32_t up, std::int32_t down, float step,
            float clock) override {
    for (std::int64_t k = f.ptr[token]; k < f.ptr[token + 1]; ++k) {
      const std::size_t row = static_cast<std::size_t>(f.ids[k]) * width_;
      const float change = step * f.value(k), sum = clock * change;
      weights_[row + up] += change;
      weights_[row + down] -= change;
      sums_[row + up] += sum;
      sums_[row + down] -= sum;
    }
  }
  void expect_move(const Features& f, std::int64_t token, std::int32_t up, std::int32_t down) const override {
    for (std::int64_t k = f.ptr[token]; k < f.ptr[token + 1]; ++k) {
      const float* row = sums_.data() + static_cast<std::size_t>(f.ids[k]) * width_;
      MARGENT_PREFETCH(row + up);
      MARGENT_PREFETCH(row + down);
    }
  }
  float weight(std::int32_t row, std::int32_t column) const override {
    return weights_[static_cast<std::size_t>(row) * width_ + column];
  }
  void absorb_scale(const Clock& clock) override {
    for (std::size_t i = 0; i < weights_.size(); ++i) clock.absorb_scale(weights_[i], sums_[i]);
  }
  double squared_norm() const override {
    double sum = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) sum += static_cast<double>(weights_[i]) * weights_[i];
    return sum;
  }
  std::int64_t n_rows() const { return n_rows_; }
  float* weights() { return weights_.data(); }
  float* sums() { return sums_.data(); }

 private:
  std::int64_t n_rows_;
  Buffer<float> weights_, sums_;
};

class SparseRows final : public GrowingRows {
 public:
  struct Entry {
    std::int32_t column;
    float weight, sum;
  };
  SparseRows(std::int64_t n_rows, std::int64_t width) : GrowingRows(width), rows_(n_rows) {}

  void gather(const Features& f, std::int64_t begin, std::int64_t end, float* out) const override {
    for (std::int64_t t = begin; t < end; ++t, out += width_) {
      std::fill(out, out + width_, 0.0f);
      for (std::int64_t k = f.ptr[t]; k < f.ptr[t + 1]; ++k) {
        const float x = f.value(k);
        const Row& row = rows_[f.ids[k]];
        const Entry* e = pool_.data() + row.begin;
        for (std::uint32_t i = 0; i < row.size; ++i) out[e[i].column] += x * e[i].weight;
      }
    }
  }
  void add(const Features& f, std::int64_t token, std::int32_t column, float step, float clock) override {
    for (std::int64_t k = f.ptr[token]; k < f.ptr[token + 1]; ++k) {
      Entry& e = entry(f.ids[k], column);
      const float change = step * f.value(k);
      e.weight += change;
      e.sum += clock * change;
    }
  }
  float weight(std::int32_t row, std::int32_t column) const override {
    const std::int32_t at = find(row, column);
    return at < 0 ? 0.0f : entries(row)[at].weight;
  }
  // Which entry of a row is that of a column; -1: none.
  std::int32_t find(std::int32_t row, std::int32_t column) const {
    const Entry* e = entries(row);
    for (std::uint32_t i = 0; i < rows_[row].size; ++i)
      if (e[i].column == column) return static_cast<std::int32_t>(i);
    return -1;
  }
  void add_row() { rows_.emplace_back(); }
  void prefetch(std::int64_t row) const { MARGENT_PREFETCH(&rows_[row]); }
  void absorb_scale(const Clock& clock) override {
    for (Entry& e : pool_) clock.absorb_scale(e.weight, e.sum);
  }
  // Entries of places that were left behind are not of a row any more.
  double squared_norm() const override {
    double sum = 0;
    for (const Row& row : rows_)
      for (std::uint32_t i = 0; i < row.size; ++i)
        sum += static_cast<double>(pool_[row.begin + i].weight) * pool_[row.begin + i].weight;
    return sum;
  }
  // The entry of (row, column), made zero if there was none.
  Entry& entry(std::int32_t row_id, std::int32_t column) {
    Row& row = rows_[row_id];
    for (std::uint32_t i = 0; i < row.size; ++i)
      if (pool_[row.begin + i].column == column) return pool_[row.begin + i];
    if (row.size == capacity(row)) enlarge(row);
    pool_[row.begin + row.size] = {column, 0.0f, 0.0f};
    return pool_[row.begin + row.size++];
  }
  std::int64_t n_rows() const { return static_cast<std::int64_t>(rows_.size()); }
  std::uint32_t size(std::int64_t row) const { return rows_[row].size; }
  const Entry* entries(std::int64_t row) const { return pool_.data() + rows_[row].begin; }
  Entry* entries(std::int64_t row) { return pool_.data() + rows_[row].begin; }

 private:
  struct Row {
    std::uint64_t begin = 0;
    std::uint32_t size = 0;
    std::uint32_t log_capacity = 0;  // capacity is 2^log_capacity, or nothing at 0
  };
  static std::uint32_t capacity(const Row& row) { return row.log_capacity ? 1u << row.log_capacity : 0; }
  // A full row moves to a place twice as large; places left behind are used again by rows of that size.
  void enlarge(Row& row) {
    const std::uint32_t log = row.log_capacity + 1;
    if (log >= free_.size()) free_.resize(log + 1);
    std::uint64_t to;
    if (!free_[log].empty()) {
      to = free_[log].back();
      free_[log].pop_back();
    } else {
      to = pool_.size();
      pool_.resize(pool_.size() + (std::size_t(1) << log));
    }
    for (std::uint32_t i = 0; i < row.size; ++i) pool_[to + i] = pool_[row.begin + i];
    if (row.log_capacity) free_[row.log_capacity].push_back(row.begin);
    row.begin = to;
    row.log_capacity = log;
  }
  std::vector<Row> rows_;
  std::vector<Entry> pool_;
  std::vector<std::vector<std::uint64_t>> free_;
};

}  // namespace margent
