#include "segments/segments.hpp"

#include <algorithm>
#include <limits>

#include "segments/segment_lattice.hpp"
#include "simd/kernels.hpp"
#include "simd/segment_kernels.hpp"

namespace margent {

using namespace segment_lattice;

double segments_score(const SegmentScores& s, const std::vector<Segment>& segments) {
  double sum = 0;
  const Segment* before = nullptr;
  for (const Segment& segment : segments) {
    const int l = segment.label, d = segment.end - segment.begin;
    if (d > longest_of(s, l)) return zero;
    sum += before ? s.transitions[before->label * s.width + l] : s.start[l];
    sum += s.durations[d * s.width + l] + at(s.begins, s, segment.begin, l) + at(s.ends, s, segment.end, l);
    if (s.rows) {
      const SegmentRows rows = s.rows->at(segment.end, d);
      if (rows.first) sum += rows.first[(d - 1) * rows.stride + l];
    }
    before = &segment;
  }
  return before ? sum + s.end[before->label] : sum;
}

// Semi-Markov Viterbi, e from 0 to T (segments.hpp):
//
//   reached[0][l] = start[l] + begins[0][l]
//   alpha[e][l] = ends[e][l] + max over d <= longest of  reached[e - d][l] + durations[d][l] + rows(e - d, e)[l]
//   reached[e][l] = begins[e][l] + max over k of  alpha[e][k] + transitions[k][l]
//
// The best score is the maximum over l of alpha[T][l] + end[l].
static void forward_max(const SegmentScores& s, SegmentWorkspace& work) {
  const SegmentKernels& kernel = segment_kernels();
  forward(
      s, work,
      [&](int count, const SegmentRows& rows, const double* r, double* a) {
        kernel.best(count, s.longest_of, r, s.durations, rows.first, rows.stride, s.width, a);
      },
      [&](const double* a, double* r) {
        kernels<double>().max_plus(s.n_labels, a, 1, s.transitions, s.width, s.width, r);
      });
}

double segments_best(const SegmentScores& s, SegmentWorkspace& work, std::vector<Segment>& segments) {
  segments.clear();
  if (s.length == 0) return 0;
  forward_max(s, work);
  const Choice last = best_last(s, work);
  if (!(last.score > zero)) return last.score;
  work.row.need(std::max(s.longest, s.n_labels) + 1);
  int end = s.length, label = last.which;
  for (;;) {
    const int d = best_duration(s, work, end, label).which;
    segments.push_back({end - d, end, label});
    end -= d;
    if (end == 0) break;
    label = best_before(s, work, end, label).which;
  }
  std::reverse(segments.begin(), segments.end());
  return last.score;
}

// An answer is kept as the choices that lead to it from the end backwards: the last label, then in turn how long the
// segment lasts and which label is before it.
std::vector<ScoredSegments> segments_k_best(const SegmentScores& s, int k, SegmentWorkspace& work) {
  if (s.length == 0) return {{0, {}}};
  forward_max(s, work);
  work.row.need(std::max(s.longest, s.n_labels) + 1);
  Deviations queue(static_cast<std::size_t>(k), work.deviations);
  const double top = best_last(s, work).score;
  const double* options = work.row.data();
  for (int l = 0; l < s.n_labels; ++l) {
    const double x = at(work.alpha.data(), s, s.length, l) + s.end[l];
    if (x > zero) queue.offer(top - x, -1, 0, l);
  }
  std::vector<ScoredSegments> found;
  std::vector<std::vector<std::int32_t>> choices;
  while (!queue.empty() && static_cast<int>(found.size()) < k) {
    const Deviation deviation = queue.take();
    const std::int32_t me = static_cast<std::int32_t>(found.size());
    std::vector<std::int32_t> made;
    if (deviation.parent >= 0) {
      const auto& parent = choices[deviation.parent];
      made.assign(parent.begin(), parent.begin() + deviation.position);
    }
    made.push_back(deviation.state);
    ScoredSegments answer{top - deviation.loss, {}};
    int end = s.length, label = made[0];
    for (std::size_t i = 1;; i += 2) {
      // Choices that the parent made are its own to leave; those after the deviation are ours.
      const auto choose = [&](Choice best, int first, int last) {
        for (int c = first; c <= last; ++c)
          if (c != best.which && options[c] > zero)
            queue.offer(deviation.loss + (best.score - options[c]), me, static_cast<std::int32_t>(made.size()), c);
        made.push_back(best.which);
      };
      if (i == made.size()) choose(best_duration(s, work, end, label), 1, std::min(end, longest_of(s, label)));
      const int d = made[i];
      answer.segments.push_back({end - d, end, label});
      end -= d;
      if (end == 0) break;
      if (i + 1 == made.size()) choose(best_before(s, work, end, label), 0, s.n_labels - 1);
      label = made[i + 1];
    }
    std::reverse(answer.segments.begin(), answer.segments.end());
    found.push_back(std::move(answer));
    choices.push_back(std::move(made));
  }
  return found;
}

std::vector<std::int32_t> longest_durations(const double* durations, int longest, int width) {
  std::vector<std::int32_t> found(width / lane_count, 1);
  for (int d = 2; d <= longest; ++d)
    for (int l = 0; l < width; ++l)
      if (durations[static_cast<std::size_t>(d) * width + l] > zero) found[l / lane_count] = d;
  return found;
}

SegmentRows LimitedSource::at(int end, int count) {
  const SegmentRows from = source_ ? source_->at(end, count) : SegmentRows{nullptr, 0};
  double* out = rows_.need(static_cast<std::size_t>(count) * width_);
  const std::int32_t* limits = limits_ + static_cast<std::size_t>(end) * n_labels_;
  for (int d = 1; d <= count; ++d, out += width_) {
    std::fill(out, out + width_, 0.0);
    for (int l = 0; l < n_labels_; ++l)  // what may not last so long is not read
      out[l] = d > limits[l] ? zero : from.first ? from.first[(d - 1) * from.stride + l] : 0.0;
  }
  return {rows_.data(), width_};
}

}  // namespace margent
