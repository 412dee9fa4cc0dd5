// A kernel model in training: the weight of each observation for each label, and what all of them score together.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "chain/rows.hpp"
#include "learning/oracle.hpp"

namespace margent {

// A kernel matrix over n observations, of which rows are computed when they are needed.
class KernelSource {
 public:
  virtual ~KernelSource() = default;
  // out [ids][n] = K(id, each observation).
  virtual void rows(std::span<const std::int32_t> ids, float* out) = 0;
};

// The rows that were used last, as many as fit into a limit of bytes.
class KernelCache {
 public:
  KernelCache(KernelSource& source, std::int64_t n, std::int64_t bytes)
      : source_(source), n_(n), slot_of_(static_cast<std::size_t>(n), absent) {
    const std::int64_t row = std::max<std::int64_t>(1, n) * static_cast<std::int64_t>(sizeof(float));
    limit_ = static_cast<std::size_t>(std::clamp<std::int64_t>(bytes / row, 1, std::max<std::int64_t>(1, n)));
  }

  // Says that a row will probably be asked for soon: those that are missing are computed together.
  void prefetch(std::int32_t id) { expected_.push_back(id); }
  void expect_nothing() { expected_.clear(); }

  // Stays where it is until the next call.
  const float* row(std::int32_t id) {
    if (slot_of_[id] == absent) fetch(id);
    Slot& slot = slots_[slot_of_[id]];
    slot.used = ++time_;
    return slot.row.data();
  }

 private:
  static constexpr std::int32_t absent = -1, wanted = -2;
  struct Slot {
    Buffer<float> row;
    std::int32_t id = absent;
    std::uint64_t used = 0;
  };

  void fetch(std::int32_t id) {
    fetched_.clear();
    const auto want = [&](std::int32_t other) {
      if (slot_of_[other] != absent || fetched_.size() == limit_) return;
      slot_of_[other] = wanted;
      fetched_.push_back(other);
    };
    want(id);
    for (const std::int32_t other : expected_) want(other);
    expected_.clear();
    for (const std::int32_t other : fetched_) slot_of_[other] = absent;
    source_.rows(fetched_, block_.need(fetched_.size() * static_cast<std::size_t>(n_)));
    // The one that is needed now comes last, so that no other takes its place.
    for (std::size_t i = fetched_.size(); i-- > 0;) {
      const std::size_t place = free_slot();
      Slot& slot = slots_[place];
      const float* from = block_.data() + i * static_cast<std::size_t>(n_);
      slot.row.grow(static_cast<std::size_t>(n_));  // exactly so much: the limit is the user's
      std::copy(from, from + n_, slot.row.data());
      slot.id = fetched_[i];
      slot.used = ++time_;
      slot_of_[slot.id] = static_cast<std::int32_t>(place);
    }
  }

  // A new place, or that of a row that was not used for long: the oldest of a few, which is nearly as good as the
  // oldest of all, and found at once.
  std::size_t free_slot() {
    if (slots_.size() < limit_) {
      slots_.emplace_back();
      return slots_.size() - 1;
    }
    constexpr std::size_t looked_at = 16;
    std::size_t oldest = hand_ % slots_.size();
    for (std::size_t i = 1; i < std::min(looked_at, slots_.size()); ++i) {
      const std::size_t place = (hand_ + i) % slots_.size();
      if (slots_[place].used < slots_[oldest].used) oldest = place;
    }
    hand_ = (hand_ + looked_at) % slots_.size();
    slot_of_[slots_[oldest].id] = absent;
    return oldest;
  }

  KernelSource& source_;
  std::int64_t n_;
  std::size_t limit_ = 1, hand_ = 0;
  std::uint64_t time_ = 0;
  std::vector<std::int32_t> slot_of_, expected_, fetched_;
  std::vector<Slot> slots_;
  Buffer<float> block_;
};

// The score of a label at observation u is the sum over v of K(u, v) beta[v][label] (paper 001, equations 10 and 11).
// Both beta and the scores of all observations are kept: a change at one observation adds its kernel row to the scores
// of a label, and a search reads them as they are. So an epoch costs a row for each token that was wrong, whatever the
// number of support tokens. Changes wait until somebody looks, so that those of one example are made together: the rows
// they need are computed in one block, and what goes to the same place is added once.
//
// A token has one feature, its observation, of value 1.
class KernelRows final : public GrowingRows {
 public:
  KernelRows(KernelSource& source, std::int64_t n, std::int64_t width, std::int64_t cache_bytes)
      : GrowingRows(width), n_(n), cache_(source, n, cache_bytes) {
    beta_.grow(n * width);
    sums_.grow(n * width);
    scores_.grow(n * width);
  }

  void gather(const Features& f, std::int64_t begin, std::int64_t end, float* out) const override {
    normalize();
    for (std::int64_t t = begin; t < end; ++t, out += width_) {
      const float* score = scores_.data() + f.ids[f.ptr[t]];
      for (std::int64_t y = 0; y < width_; ++y) out[y] = score[y * n_];
    }
  }
  void add(const Features& f, std::int64_t token, std::int32_t column, float step, float clock) override {
    const std::int64_t i = f.ids[f.ptr[token]] * width_ + column;
    beta_[i] += step;
    sums_[i] += clock * step;
    changes_.push_back({i, step});
  }
  // What the observation scores with a label.
  float weight(std::int32_t row, std::int32_t column) const override {
    normalize();
    return scores_[static_cast<std::size_t>(column) * n_ + row];
  }
  void absorb_scale(const Clock& clock) override {
    normalize();
    for (std::size_t i = 0; i < beta_.size(); ++i) {
      clock.absorb_scale(beta_[i], sums_[i]);
      scores_[i] = static_cast<float>(clock.scale * scores_[i]);
    }
  }
  double squared_norm() const override {
    normalize();
    double sum = 0;
    for (std::int64_t u = 0; u < n_; ++u)
      for (std::int64_t y = 0; y < width_; ++y)
        sum += static_cast<double>(beta_[u * width_ + y]) * scores_[static_cast<std::size_t>(y) * n_ + u];
    return sum;
  }

  // The inner product of two vectors with entries (observation * width + label): the sum of a b K over equal labels.
  double inner(std::span<const SparseVector::value_type> a, std::span<const SparseVector::value_type> b) const {
    // By labels, so that each entry meets only those that it has something in common with.
    std::vector<std::vector<std::pair<std::int64_t, double>>> of_label(static_cast<std::size_t>(width_));
    for (const auto& [index, value] : b) of_label[index % width_].push_back({index / width_, value});
    double sum = 0;
    with_rows(a, [&](std::size_t i, const float* row) {
      const auto& [index, value] = a[i];
      double own = 0;
      for (const auto& [observation, factor] : of_label[index % width_]) own += factor * row[observation];
      sum += value * own;
    });
    return sum;
  }

  // Starts from the beta [n][width] of the first observations; averages start anew.
  void start_from(const float* beta, std::int64_t n) {
    std::copy(beta, beta + n * width_, beta_.data());
    std::fill(scores_.data(), scores_.data() + scores_.size(), 0.0f);
    changes_.clear();
    for (std::int64_t i = 0; i < n * width_; ++i)
      if (beta[i] != 0) changes_.push_back({i, beta[i]});
  }

  std::int64_t n_rows() const { return n_; }
  const float* beta() const { return beta_.data(); }
  const float* sums() const { return sums_.data(); }

 private:
  // Calls visit(i, kernel row) for the observation of each entry of a vector. Rows that are missing are computed some
  // at a time: one by one is slow, and more would need memory beyond the limit, or be gone before they are used.
  template <class Visit>
  void with_rows(std::span<const SparseVector::value_type> vector, Visit visit) const {
    constexpr std::size_t block = 64;
    const auto id = [&](std::size_t i) { return static_cast<std::int32_t>(vector[i].first / width_); };
    std::size_t ahead = 0;
    for (std::size_t i = 0; i < vector.size(); ++i) {
      for (; ahead < std::min(i + block, vector.size()); ++ahead) cache_.prefetch(id(ahead));
      visit(i, cache_.row(id(i)));
    }
    cache_.expect_nothing();
  }

  // Makes the changes that wait. A kernel that throws leaves those that are not made.
  void normalize() const {
    if (changes_.empty()) return;
    margent::normalize(changes_);
    with_rows(changes_, [&](std::size_t i, const float* row) {
      float* scores = scores_.data() + static_cast<std::size_t>(changes_[i].first % width_) * n_;
      const float change = static_cast<float>(std::exchange(changes_[i].second, 0.0));
      for (std::int64_t v = 0; v < n_; ++v) scores[v] += change * row[v];
    });
    changes_.clear();
  }

  std::int64_t n_;
  mutable KernelCache cache_;
  Buffer<float> beta_, sums_;     // [n][width]
  mutable Buffer<float> scores_;  // [width][n]
  mutable SparseVector changes_;  // of beta, that are not in the scores yet
};

}  // namespace margent
