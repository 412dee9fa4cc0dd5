// Segmentations: what labelled segments of a sequence score together, and the searches and sums over all of them.
//
// A segmentation of T positions is a row of segments (begin, end, label) that follow each other without a gap from 0 to
// T. It scores
//
//   start[first label] + sum over segments of  begins[begin][label] + durations[end - begin][label] + ends[end][label]
//                                              + rows(begin, end)[label]
//   + sum over neighbours of transitions[label][next label]  + end[last label].
//
// The parts that depend on begin or end alone cost nothing; rows are for what depends on both. -inf is the zero of both
// semirings: a label that may not last so long has it in durations, one that may not follow another in transitions.
//
// The search keeps, for each position s and label, the best way to begin a segment there, `reached`, and the best way
// to end one, `alpha` (paper 002, equation 10, with the maximum over the previous label taken once for all durations):
//
//   alpha[e][l] = ends[e][l] + max over d of  reached[e - d][l] + durations[d][l] + rows(e - d, e)[l]
//   reached[s][l] = begins[s][l] + max over k of  alpha[s][k] + transitions[k][l]
//
// O(T L (L + R)) for L labels and durations up to R. All numbers are doubles: a sequence may be long, and sums that
// stand for means of some frames are differences of sums over all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "chain/deviations.hpp"
#include "simd/buffer.hpp"

namespace margent {

struct Segment {
  std::int32_t begin, end, label;
  bool operator==(const Segment&) const = default;
};

// Scores of the segments that end at a position: those of d positions at first + (d - 1) * stride, a row of labels.
struct SegmentRows {
  const double* first;  // null: all are zero
  std::ptrdiff_t stride;
};

class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  // Of d = 1 .. count, and of each label those that may last so long; valid until the next call.
  virtual SegmentRows at(int end, int count) = 0;
};

struct SegmentScores {
  int n_labels, width, length;
  int longest;                     // no segment lasts longer
  const std::int32_t* longest_of;  // [width / 8]: none with one of these eight labels does; at least 1
  const double* transitions;       // [L][width], row the label before
  const double *start, *end;       // [width]
  const double* durations;         // [longest + 1][width]; row 0 is not used
  const double* begins = nullptr;  // [length + 1][width], or null
  const double* ends = nullptr;    // [length + 1][width], or null
  SegmentSource* rows = nullptr;
};

// SegmentScores::longest_of for durations [longest + 1][width].
std::vector<std::int32_t> longest_durations(const double* durations, int longest, int width);

// Memory that calls share.
struct SegmentWorkspace {
  Buffer<double> alpha, reached, beta, tops, sums, row, exp_transitions;
  DeviationQueue deviations;
};

// The score of one segmentation.
double segments_score(const SegmentScores& scores, const std::vector<Segment>& segments);

// The best segmentation and its score; -inf, and no segments, where there is none. Ties go to the smaller label and the
// shorter segment, decided from the end backwards.
double segments_best(const SegmentScores& scores, SegmentWorkspace& work, std::vector<Segment>& segments);

// The k best in order of score, exactly, each with its score. After the forward pass a further one costs
// O(J (L + R)) for J segments: see chain_k_best, whose way this is.
struct ScoredSegments {
  double score;
  std::vector<Segment> segments;
};
std::vector<ScoredSegments> segments_k_best(const SegmentScores& scores, int k, SegmentWorkspace& work);

// log Z, the log of the sum of exp(score) over all segmentations. Leaves alpha and reached in `work`.
double segments_log_partition(const SegmentScores& scores, SegmentWorkspace& work);

// Expectations under exp(score) / Z. `visit(begin, end, probabilities)` is called for every segment that may be there,
// probabilities [width] by label, where those below 4e-18 are 0 and rows of nothing else are left out; `pairs`
// [L][width], unless null, gets the expected number of each pair of neighbours added, `first` and `last` [width] the
// probability of each label at the start and at the end. Returns log Z; visits nothing where that is -inf.
using SegmentVisit = std::function<void(int begin, int end, const double* probabilities)>;
double segments_expectations(const SegmentScores& scores, SegmentWorkspace& work, const SegmentVisit& visit,
                             double* pairs, double* first, double* last);

// The probability of each label at each position, labels [T][L], and of a boundary before each and at the end,
// boundaries [T + 1], both to be zero before; and as segments_expectations. With p(b, e, l) the probability of segment
// (b, e, l): boundaries[e] = sum over b, l of p(b, e, l); labels[t][l] = sum over b <= t < e of p(b, e, l), which is a
// running sum over t of what begins at t minus what ends there.
double segments_marginals(const SegmentScores& scores, SegmentWorkspace& work, const SegmentVisit& visit,
                          double* labels, double* boundaries);

// Draws segmentations with probability exp(score) / Z, after segments_log_partition.
std::vector<std::vector<Segment>> segments_sample(const SegmentScores& scores, SegmentWorkspace& work,
                                                  std::uint64_t seed, int count);

// The segments of another source with a condition on each: those that end at e with label l may last at most
// limits[e][l] positions.
class LimitedSource final : public SegmentSource {
 public:
  LimitedSource(SegmentSource* source, const std::int32_t* limits, int n_labels, int width)
      : source_(source), limits_(limits), n_labels_(n_labels), width_(width) {}
  SegmentRows at(int end, int count) override;

 private:
  SegmentSource* source_;       // may be null
  const std::int32_t* limits_;  // [length + 1][n_labels]
  int n_labels_, width_;
  Buffer<double> rows_;
};

}  // namespace margent
