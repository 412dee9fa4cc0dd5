// What the searches and the sums over segmentations have in common: the pass forward, and the choices on the way back.
#pragma once
#include <algorithm>
#include <limits>

#include "interruption.hpp"
#include "segments/segments.hpp"
#include "simd/kernels.hpp"

namespace margent::segment_lattice {

inline constexpr double zero = -std::numeric_limits<double>::infinity();

// An entry of a table [length + 1][width]; 0 where there is no table.
inline double at(const double* table, const SegmentScores& s, int position, int label) {
  return table ? table[static_cast<std::size_t>(position) * s.width + label] : 0.0;
}

inline void add_row(const double* table, const SegmentScores& s, int position, double* row) {
  if (!table) return;
  const double* from = table + static_cast<std::size_t>(position) * s.width;
  for (int l = 0; l < s.width; ++l) row[l] += from[l];
}

inline int longest_of(const SegmentScores& s, int label) { return s.longest_of[label / lane_count]; }

// alpha and reached of segments.hpp, into `work`, in the order of positions. finish(count, rows, reached, alpha) takes
// what segments of d = 1 .. count positions score together, with reached - d * width as the row of their begins;
// continue_from(alpha, reached) what the labels before a segment do.
template <class Finish, class ContinueFrom>
void forward(const SegmentScores& s, SegmentWorkspace& work, Finish finish, ContinueFrom continue_from) {
  const std::size_t size = static_cast<std::size_t>(s.length + 1) * s.width;
  double* alpha = work.alpha.need(size);
  double* reached = work.reached.need(size);
  for (int e = 0; e <= s.length; ++e, alpha += s.width, reached += s.width) {
    if (e == 0) {
      std::fill(alpha, alpha + s.width, zero);
      std::copy(s.start, s.start + s.width, reached);
    } else {
      const int count = std::min(e, s.longest);
      check_interruption(std::int64_t{2} * (count + s.n_labels) * s.width);
      const SegmentRows rows = s.rows ? s.rows->at(e, count) : SegmentRows{nullptr, 0};
      finish(count, rows, reached, alpha);
      add_row(s.ends, s, e, alpha);
      if (e == s.length) break;
      continue_from(alpha, reached);
    }
    add_row(s.begins, s, e, reached);
  }
}

struct Choice {
  int which;
  double score;
};

// Of the labels at the end of the sequence.
inline Choice best_last(const SegmentScores& s, const SegmentWorkspace& work) {
  Choice best{0, zero};
  for (int l = 0; l < s.n_labels; ++l) {
    const double x = at(work.alpha.data(), s, s.length, l) + s.end[l];
    if (x > best.score) best = {l, x};
  }
  return best;
}

// What a segment with this label and end scores with all before it, if it lasts d = 1 .. longest, into work.row[d].
inline int duration_scores(const SegmentScores& s, SegmentWorkspace& work, int end, int label) {
  const int count = std::min(end, longest_of(s, label));
  check_interruption(s.rows ? std::int64_t{count} * s.width : count);
  const SegmentRows rows = s.rows ? s.rows->at(end, count) : SegmentRows{nullptr, 0};
  for (int d = 1; d <= count; ++d) {
    double x = at(work.reached.data(), s, end - d, label) + s.durations[d * s.width + label];
    if (rows.first) x += rows.first[(d - 1) * rows.stride + label];
    work.row[d] = x;
  }
  return count;
}

inline Choice best_duration(const SegmentScores& s, SegmentWorkspace& work, int end, int label) {
  const int count = duration_scores(s, work, end, label);
  Choice best{1, work.row[1]};
  for (int d = 2; d <= count; ++d)
    if (work.row[d] > best.score) best = {d, work.row[d]};
  return best;
}

// What it scores to have each label before a segment with this label and begin, into work.row[label before].
inline void before_scores(const SegmentScores& s, SegmentWorkspace& work, int begin, int label) {
  for (int l = 0; l < s.n_labels; ++l)
    work.row[l] = at(work.alpha.data(), s, begin, l) + s.transitions[l * s.width + label];
}

inline Choice best_before(const SegmentScores& s, SegmentWorkspace& work, int begin, int label) {
  before_scores(s, work, begin, label);
  Choice best{0, work.row[0]};
  for (int l = 1; l < s.n_labels; ++l)
    if (work.row[l] > best.score) best = {l, work.row[l]};
  return best;
}

}  // namespace margent::segment_lattice
