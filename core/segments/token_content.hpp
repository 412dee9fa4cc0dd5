// The content of segments of tokens: sparse features of what is in a segment, of its two ends, and of it as a whole.
//
// Each feature has a weight with each label. Those of the tokens inside are running sums, those of where a segment
// begins (its first token, the one before) or ends (its last, the one after) are looked up by position; only those of
// whole segments (its string, its place in a dictionary, functions of the user) cost something for each segment.
#pragma once
#include <vector>

#include "chain/rows.hpp"
#include "segments/segment_content.hpp"
#include "simd/buffer.hpp"

namespace margent {

// Views over arrays that somebody else owns. A `ptr` that is null: there are none of these.
struct Tokens {
  std::int64_t n_sequences = 0;
  const std::int64_t* sequence_ptr = nullptr;  // [n_sequences + 1]
  Features inside, first, last;                // rows are tokens
  Features whole;                              // rows are (token, duration - 1), `longest` for each token
  int longest = 1;
};

class TokenContent final : public SegmentContent {
 public:
  TokenContent(int n_labels, std::int64_t n_features, const Tokens& tokens);
  std::int64_t n_sequences() const override { return tokens_.n_sequences; }
  int length(std::int64_t s) const override {
    return static_cast<int>(tokens_.sequence_ptr[s + 1] - tokens_.sequence_ptr[s]);
  }
  std::int64_t n_weights() const override { return n_features_ * width_; }
  bool has_weight(std::int64_t index) const override { return index % width_ < n_labels_; }
  bool dense() const override { return false; }
  std::unique_ptr<SegmentContent> copy() const override {
    return std::make_unique<TokenContent>(n_labels_, n_features_, tokens_);
  }
  void turn_to(std::int64_t sequence, const float* weights, double scale) override;
  const double* begins() const override { return begins_.data(); }
  const double* ends() const override { return ends_.data(); }
  bool has_rows() const override { return tokens_.whole.ptr != nullptr; }
  double magnitude() override;
  SegmentRows at(int end, int count) override;
  void collect(const Segment& segment, double amount) override;
  void collect_row(int begin, int end, const double* amounts) override;
  void hand_over(SparseVector& out) override;

 private:
  std::int64_t row_of(int begin, int duration) const { return (begin_ + begin) * tokens_.longest + duration - 1; }
  void start_collecting();
  void emit(const Features& features, std::int64_t row, const double* amounts, SparseVector& out) const;

  int n_labels_, width_;
  std::int64_t n_features_;
  Tokens tokens_;
  const float* weights_ = nullptr;
  double scale_ = 1;
  std::int64_t begin_ = 0;
  int length_ = 0;
  bool collecting_ = false;
  Buffer<float> gathered_;
  Buffer<double> begins_, ends_, rows_;
  Buffer<double> inside_, first_, last_, one_;  // amounts collected, [length + 1][width]
  SparseVector whole_;
};

}  // namespace margent
