// A semi-Markov model that is linear in weights: from data and weights to the scores of one sequence.
#pragma once
#include <memory>
#include <vector>

#include "segments/segment_content.hpp"
#include "simd/kernels.hpp"

namespace margent {

// What a model consists of besides the content of segments. Its weights are one vector: those of the content, of the
// durations [features][width], of the transitions [L][width], and of the first and the last label [width] each.
struct SegmentShape {
  int n_labels;
  std::vector<std::int32_t> shortest, longest;  // how long segments of each label last
  int n_durations;                              // features of durations
  std::vector<double> durations;                // [most + 1][n_durations]; row 0 is not used
  std::vector<std::uint8_t> follows;            // [L][L]: which label may follow which; empty: any
  bool learn_transitions = true;

  int width() const { return padded_width(n_labels); }
  int most() const;  // the longest duration of any label
};

struct SegmentLayout {
  SegmentLayout(const SegmentShape& shape, std::int64_t n_content);
  std::int64_t durations, transitions, start, end, size;
};

// The features of whole segmentations, and scores of one sequence after the other in its own memory. One for each
// thread.
class SegmentScorer {
 public:
  using Part = std::vector<Segment>;

  SegmentScorer(const SegmentShape& shape, std::unique_ptr<SegmentContent> content);
  // The scores of a sequence, scale * (weights . features): valid until the next call.
  SegmentScores turn_to(std::int64_t sequence, const float* weights, double scale);
  // All segments of a segmentation, and its transitions.
  void collect(const std::vector<Segment>& segments, double amount) { collect(segments, {}, amount); }
  // Those of the one minus those of the other.
  void collect_difference(const std::vector<Segment>& plus, const std::vector<Segment>& minus) {
    collect(plus, minus, 1);
    collect(minus, plus, -1);
  }
  // Expectations of segments_expectations, times an amount: as collect.
  void collect_row(int begin, int end, const double* probabilities, double amount);
  void collect_pairs(const double* pairs, const double* first, const double* last, double amount);
  void hand_over(SparseVector& out);

  const SegmentShape& shape() const { return shape_; }
  const SegmentLayout& layout() const { return layout_; }
  const SegmentContent& content() const { return *content_; }

 private:
  // But for the content of segments that the other has as well.
  void collect(const std::vector<Segment>& segments, const std::vector<Segment>& other, double amount);
  void collect_duration(int duration, int label, double amount);

  SegmentShape shape_;
  std::unique_ptr<SegmentContent> content_;
  SegmentLayout layout_;
  std::vector<double> transitions_, start_, end_, durations_, amounts_;
  std::vector<std::int32_t> longest_of_;
  std::vector<double> collected_;  // from layout_.durations on
};

static_assert(PartFeatures<SegmentScorer, const float*, double>);

// The same scores for the positions in a label sequence instead of for labels: segmentations whose labels are these.
class ForcedScores final : public SegmentSource {
 public:
  ForcedScores(const SegmentScores& scores, const std::int32_t* labels, int n);
  const SegmentScores& scores() const { return forced_; }
  SegmentRows at(int end, int count) override;
  // Positions become labels.
  void name(std::vector<Segment>& segments) const {
    for (Segment& segment : segments) segment.label = labels_[segment.label];
  }
  const std::vector<std::int32_t>& labels() const { return labels_; }

 private:
  SegmentScores from_, forced_;
  std::vector<std::int32_t> labels_;
  std::vector<double> transitions_, start_, end_, durations_, begins_, ends_, rows_;
  std::vector<std::int32_t> longest_of_;
};

}  // namespace margent
