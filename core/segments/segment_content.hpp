// What segments score by what is in them: linear in weights, computed from the data of a sequence when asked for.
#pragma once
#include <cstdint>
#include <memory>

#include "learning/oracle.hpp"
#include "segments/segments.hpp"

namespace margent {

// One for each thread. Scores are taken after `prepare`; the features of segments can be collected then as well, each
// times an amount, which is how a learner moves (amounts 1 and -1) and how a gradient is made (probabilities).
class SegmentContent : public SegmentSource {
 public:
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
  // Turns to a sequence: scores are scale * (weights . features).
  virtual void prepare(std::int64_t sequence, const float* weights, double scale) = 0;
  // Parts that depend on where a segment begins or ends alone, [length + 1][width], or null.
  virtual const double* begins() const { return nullptr; }
  virtual const double* ends() const { return nullptr; }
  // Whether there are others: whether `at` is of use.
  virtual bool has_rows() const { return true; }
  // Adds the features of a segment with each label, times amounts [width].
  virtual void collect(int begin, int end, const double* amounts) = 0;
  // With one label.
  virtual void collect(int begin, int end, int label, double amount) = 0;
  // Appends what was collected, in any order, and forgets it.
  virtual void flush(SparseVector& out) = 0;
};

}  // namespace margent
