// Prediction with a semi-Markov model of frozen weights, for many sequences and from as many threads as wanted. The
// answers do not depend on their number.
#pragma once
#include <cstdint>
#include <vector>

#include "segments/segment_model.hpp"

namespace margent {

// Scores are scale * (weights . features).
struct FrozenSegmentModel {
  const SegmentShape& shape;
  const SegmentContent& content;
  const float* weights;
  double scale = 1;
};

// Label sequences that segmentations must have: labels[ptr[s]], .., labels[ptr[s + 1] - 1] in sequence s.
struct ForcedLabels {
  const std::int64_t* ptr = nullptr;  // null: any label
  const std::int32_t* labels = nullptr;
};

// The best segmentation of each sequence; -inf, and no segments, where there is none.
std::vector<ScoredSegments> predict_best(const FrozenSegmentModel& model, const ForcedLabels& forced, int threads);

// The k best of each, in order of score.
std::vector<std::vector<ScoredSegments>> predict_k_best(const FrozenSegmentModel& model, int k, int threads);

// Whether the scores of each sequence are made of numbers beyond this. Of scores s times 2^-52 is lost in rounding, and
// probabilities are off by that factor.
std::vector<std::uint8_t> predict_beyond(const FrozenSegmentModel& model, double limit, int threads);

// Segments whose probabilities are asked for: segments[ptr[s]], .., segments[ptr[s + 1] - 1] in sequence s.
struct SegmentQueries {
  const std::int64_t* ptr;
  const std::int32_t* segments;  // rows of begin, end, label
};

struct SegmentMarginals {
  std::vector<double> labels;      // [positions][L]
  std::vector<double> boundaries;  // [positions + sequences]: a boundary before each position and at the end
  std::vector<double> segments;    // of the queries
  std::vector<double> log_partitions;
};

// Probabilities under exp(score) / Z, by one pass forward and one backward: segments_marginals.
SegmentMarginals predict_marginals(const FrozenSegmentModel& model, const SegmentQueries& queries, int threads);

// The scores of one sequence as plain arrays without padding.
struct PlainSegmentScores {
  std::size_t length, longest;
  std::vector<double> transitions, start, end;  // [L][L], [L], [L]
  std::vector<double> durations;                // [longest][L]
  std::vector<double> begins, ends;             // [length + 1][L], or empty
  std::vector<double> segments;                 // [length][longest][L] by begin and duration
  bool has_segments;
};
PlainSegmentScores plain_scores(const FrozenSegmentModel& model, std::int64_t sequence);

}  // namespace margent
