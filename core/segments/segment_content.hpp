// What segments score by what is in them: linear in weights, computed from the data of a sequence when asked for.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "learning/part_features.hpp"
#include "segments/segments.hpp"

namespace margent {

// The largest |x| of some numbers; infinite where one is not a number.
inline double largest_magnitude(const double* numbers, std::size_t n) {
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (!(std::abs(numbers[i]) <= largest)) {
      largest = std::abs(numbers[i]);
      if (std::isnan(largest)) return std::numeric_limits<double>::infinity();
    }
  return largest;
}

// The features of parts (learning/part_features.hpp) that are segments; those of one stretch with all labels are scored
// (`at`) and collected (`collect_row`) together. One for each thread.
class SegmentContent : public SegmentSource {
 public:
  using Part = Segment;

  virtual std::int64_t n_sequences() const = 0;
  virtual int length(std::int64_t sequence) const = 0;
  // In a vector of their own: the first ones of the model.
  virtual std::int64_t n_weights() const = 0;
  // Another one of the same data, for another thread.
  virtual std::unique_ptr<SegmentContent> copy() const = 0;
  // Whether this is a weight of some label: rows are padded.
  virtual bool has_weight(std::int64_t index) const = 0;
  // Whether every weight may matter, so that it is of no use to ask which were seen.
  virtual bool dense() const = 0;
  // Scores are scale * (weights . features).
  virtual void turn_to(std::int64_t sequence, const float* weights, double scale) = 0;
  // The largest of the numbers that scores are sums and differences of; infinite where one is not a number.
  virtual double magnitude() = 0;
  // Parts that depend on where a segment begins or ends alone, [length + 1][width], or null.
  virtual const double* begins() const { return nullptr; }
  virtual const double* ends() const { return nullptr; }
  // Whether there are others: whether `at` is of use.
  virtual bool has_rows() const { return true; }
  virtual void collect(const Segment& segment, double amount) = 0;
  // A segment with each label, times amounts [width].
  virtual void collect_row(int begin, int end, const double* amounts) = 0;
  virtual void hand_over(SparseVector& out) = 0;
};

static_assert(PartFeatures<SegmentContent, const float*, double>);

}  // namespace margent
