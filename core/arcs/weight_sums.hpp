// Sums of weights that lie far apart in memory: what will be needed is fetched while other sums are made.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace margent {

// The number of the weight of a key: its highest bits.
inline std::uint32_t weight_number(std::uint64_t key, int bits) {
  return static_cast<std::uint32_t>(key >> (64 - bits));
}

// add(number) for each term and end(out) after the last of a sum, which is written there at the latest by flush().
template <class Real>
class WeightSums {
 public:
  void start(const Real* weights, double scale) {
    weights_ = weights;
    scale_ = scale;
  }
  void add(std::uint32_t number) {
    __builtin_prefetch(weights_ + number);
    numbers_.push_back(number);
  }
  void end(double* out) {
    ends_.push_back({numbers_.size(), out});
    if (numbers_.size() >= most_) flush();
  }
  void flush() {
    std::size_t at = 0;
    for (const End& each : ends_) {
      double sum = 0;
      for (; at < each.end; ++at) sum += static_cast<double>(weights_[numbers_[at]]);
      *each.out = scale_ * sum;
    }
    numbers_.clear();
    ends_.clear();
  }

 private:
  static constexpr std::size_t most_ = 768;
  struct End {
    std::size_t end;
    double* out;
  };
  const Real* weights_ = nullptr;
  double scale_ = 1;
  std::vector<std::uint32_t> numbers_;
  std::vector<End> ends_;
};

// A sum of rows of weights, which may overlap: row r is weights[r], .., weights[r + width - 1].
template <class Real>
class RowSum {
 public:
  void start(const Real* weights, double scale, int width) {
    weights_ = weights;
    scale_ = scale;
    sum_.resize(static_cast<std::size_t>(width));
  }
  void add(std::uint32_t row) {
    constexpr std::size_t line = 64 / sizeof(Real);
    for (std::size_t l = 0; l < sum_.size(); l += line) __builtin_prefetch(weights_ + row + l);
    rows_.push_back(row);
  }
  // The first numbers of the sum of the rows that were added, which are forgotten.
  void take(std::vector<double>& out) {
    std::fill(sum_.begin(), sum_.end(), Real{0});
    for (const std::uint32_t row : rows_)
      for (std::size_t l = 0; l < sum_.size(); ++l) sum_[l] += weights_[row + l];
    rows_.clear();
    for (std::size_t l = 0; l < out.size(); ++l) out[l] = scale_ * static_cast<double>(sum_[l]);
  }

 private:
  const Real* weights_ = nullptr;
  double scale_ = 1;
  std::vector<Real> sum_;
  std::vector<std::uint32_t> rows_;
};

}  // namespace margent
