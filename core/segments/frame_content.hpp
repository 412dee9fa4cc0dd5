// The content of segments of frames: binned means of Gaussian sufficient statistics (paper 002, equations 7 and 8).
//
// A segment of d frames is cut into B bins of d / B frames each. With the statistics z(x) = upper triangle of
// [x x', x; x', 1] (or, diagonal, the squares of x, then x and 1), it scores
//
//   sum over bins k of  w[label][k] . B / d * sum over frames t in bin k of z(x_t).
//
// Differs: where B does not divide d, a bin ends inside of a frame, which then counts in both bins by its shares. So
// the mean of every bin exists, also where d < B. Sums instead of means (no factor B / d) can be had as well.
//
// With several components per bin a frame scores the best of them: max over m of w[label][k][m] . z(x_t), and the
// features of a segment are those of the components that were best under the weights (the dominant Gaussian of footnote
// 3). Chosen per frame, and not per bin of a segment, sums over frames are still differences of running sums.
//
// Scores of all frames for all columns (label, bin, component) are one product of matrices per sequence; running sums
// over frames then make the score of any segment O(B), whatever its length. With v_k the score of frames in bin k, the
// running sums kept are of v_1, of v_k - v_{k+1} for the inner boundaries, and of v_B: a boundary between two bins is
// then looked up once.
#pragma once
#include <vector>

#include "segments/segment_content.hpp"
#include "simd/buffer.hpp"

namespace margent {

struct FrameShape {
  int n_labels, dimensions;
  bool full;  // all products of two values of a frame, or only squares
  int components;
  bool mean;                          // or sums
  std::vector<std::int32_t> bins;     // of each label
  std::vector<std::int32_t> longest;  // durations of each label, at most
};

// Frames of all sequences, [n][dimensions], one after the other. Somebody else's.
struct Frames {
  std::int64_t n_sequences = 0;
  const std::int64_t* sequence_ptr = nullptr;  // [n_sequences + 1]
  const float* values = nullptr;
};

// Where the weights of (label, bin, component) are: in a column of the matrix of weights [statistics][columns].
struct FrameColumns {
  explicit FrameColumns(const FrameShape& shape);

  // Labels with the same number of bins: their sums lie side by side.
  struct Group {
    int bins, width;
    std::vector<std::int32_t> labels;
    int first;                          // column; then [component][bin][width]
    std::vector<std::int32_t> longest;  // [width / 8]
    std::vector<double> factors;        // [longest duration + 1]
  };
  int column(int label, int bin, int component) const {
    const Group& g = groups[group_of[label]];
    return g.first + (component * g.bins + bin) * g.width + place_of[label];
  }
  std::vector<Group> groups;
  std::vector<std::int32_t> group_of, place_of;  // of each label
  std::vector<char> used;                        // [columns]: those of a label
  int statistics, columns;
};

class FrameContent final : public SegmentContent {
 public:
  FrameContent(const FrameShape& shape, const Frames& frames)
      : shape_(shape), frames_(frames), columns_(shape), sums_(columns_.groups.size()),
        changes_(columns_.groups.size()) {}
  std::int64_t n_sequences() const override { return frames_.n_sequences; }
  int length(std::int64_t s) const override {
    return static_cast<int>(frames_.sequence_ptr[s + 1] - frames_.sequence_ptr[s]);
  }
  std::int64_t n_weights() const override { return std::int64_t{columns_.statistics} * columns_.columns; }
  bool has_weight(std::int64_t index) const override { return columns_.used[index % columns_.columns]; }
  bool dense() const override { return true; }
  std::unique_ptr<SegmentContent> copy() const override { return std::make_unique<FrameContent>(shape_, frames_); }
  void turn_to(std::int64_t sequence, const float* weights, double scale) override;
  double magnitude() override;
  SegmentRows at(int end, int count) override;
  void collect(const Segment& segment, double amount) override;
  void collect_row(int begin, int end, const double* amounts) override;
  void hand_over(SparseVector& out) override;
  const FrameColumns& columns() const { return columns_; }

  // z of one frame, [statistics].
  static void statistics(const float* frame, int dimensions, bool full, float* out);

 private:
  void make_sums(const FrameColumns::Group& group, const float* scores, std::uint8_t* chosen, double scale,
                 double* sums);
  // Adds to the changes of running sums what a segment adds to the places that its score was looked up at.
  template <class Add>
  void boundaries(const FrameColumns::Group& group, int begin, int end, Add add) const;
  void start_collecting();

  FrameShape shape_;
  Frames frames_;
  FrameColumns columns_;
  const float* sequence_ = nullptr;
  int length_ = 0;
  bool collecting_ = false;
  Buffer<float> statistics_, scores_;
  std::vector<Buffer<double>> sums_, changes_;  // of each group: [length + 1][bins + 1][width]
  Buffer<std::uint8_t> chosen_;                 // components, [length][columns / components] by group
  Buffer<double> rows_, group_rows_;
};

}  // namespace margent
