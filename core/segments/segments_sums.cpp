// Sums over all segmentations, in log space: partition, expectations, samples.
#include <algorithm>
#include <cmath>

#include "forest/semiring.hpp"
#include "random.hpp"
#include "segments/segment_lattice.hpp"

namespace margent {

using namespace segment_lattice;

namespace {

// exp(transitions - scale): with them a step over labels costs an exponential per label instead of one per pair.
struct ExpTable {
  ExpTable(const SegmentScores& s, Buffer<double>& memory) : scale(zero), values(memory.need(s.n_labels * s.width)) {
    for (int i = 0; i < s.n_labels; ++i)
      for (int j = 0; j < s.n_labels; ++j) scale = std::max(scale, s.transitions[i * s.width + j]);
    if (!(scale > zero)) scale = 0;
    for (int i = 0; i < s.n_labels; ++i)
      for (int j = 0; j < s.width; ++j)
        values[i * s.width + j] = j < s.n_labels ? std::exp(s.transitions[i * s.width + j] - scale) : 0.0;
  }
  double scale;
  double* values;
};

// Products below this may have lost a part to underflow, and are made anew in log space.
constexpr double tiny = 1e-250;

// Terms of a sum that are smaller than its largest by more than this factor in log space, 4e-18, are lost in rounding:
// no exponential is spent on them. Frames make such differences soon, so that of most segments nothing is left to do.
constexpr double negligible = -40;

double largest(const double* row, int n) { return *std::max_element(row, row + n); }

// out[j] = log sum over i of exp(in[i] + transitions[i][j]), or, if `backwards`, of exp(in[i] + transitions[j][i]).
void log_step(const SegmentScores& s, const ExpTable& table, bool backwards, const double* in, double* scratch,
              double* out) {
  const int n = s.n_labels;
  const double top = largest(in, n);
  std::fill(out, out + s.width, zero);
  if (!(top > zero)) return;
  for (int i = 0; i < n; ++i) scratch[i] = std::exp(in[i] - top);
  double* sums = scratch + s.width;
  std::fill(sums, sums + n, 0.0);
  for (int i = 0; i < n; ++i) {
    const double* row = table.values + static_cast<std::size_t>(i) * s.width;
    if (backwards) {
      // Four sums side by side: one alone would wait for itself.
      double parts[4] = {0, 0, 0, 0};
      int j = 0;
      for (; j + 4 <= n; j += 4)
        for (int k = 0; k < 4; ++k) parts[k] += scratch[j + k] * row[j + k];
      for (; j < n; ++j) parts[0] += scratch[j] * row[j];
      sums[i] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    } else if (scratch[i] > 0) {
      const double x = scratch[i];
      for (int j = 0; j < n; ++j) sums[j] += x * row[j];
    }
  }
  for (int j = 0; j < n; ++j) {
    if (sums[j] > tiny) {
      out[j] = top + table.scale + std::log(sums[j]);
      continue;
    }
    for (int i = 0; i < n; ++i)
      out[j] = log_plus(out[j], log_times(in[i], s.transitions[(backwards ? j : i) * s.width + (backwards ? i : j)]));
  }
}

// Sums of exponentials that come one by one: exp(top) * sum, label by label.
void log_add(double x, double& top, double& sum) {
  if (!(x > zero)) return;
  if (x <= top) {
    if (x - top > negligible) sum += std::exp(x - top);
  } else {
    sum = (top - x > negligible ? sum * std::exp(top - x) : 0) + 1;
    top = x;
  }
}

double log_of(double top, double sum) { return sum > 0 ? top + std::log(sum) : zero; }

// One of n with probability proportional to exp(scores[i]).
int draw(const double* scores, int n, Random& random) {
  const double top = largest(scores, n);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::exp(scores[i] - top);
  double left = random.uniform() * sum;
  int chosen = 0;
  for (int i = 0; i < n; ++i) {
    const double p = std::exp(scores[i] - top);
    if (p > 0) chosen = i;
    left -= p;
    if (left < 0) break;
  }
  return chosen;
}

}  // namespace

// The forward recursion, as forward_max of segments.cpp with log-sum-exp instead of max:
//
//   alpha[e][l] = ends[e][l] + log sum over d of exp(reached[e - d][l] + durations[d][l] + rows(e - d, e)[l])
//   reached[e][l] = begins[e][l] + log sum over k of exp(alpha[e][k] + transitions[k][l])
//   log Z = log sum over l of exp(alpha[T][l] + end[l])
double segments_log_partition(const SegmentScores& s, SegmentWorkspace& work) {
  if (s.length == 0) return 0;
  double* scratch = work.sums.need(2 * static_cast<std::size_t>(s.width));
  double* x = work.tops.need(static_cast<std::size_t>(s.longest) * s.width);
  const ExpTable table(s, work.exp_transitions);
  const auto finish = [&](int count, const SegmentRows& rows, const double* r, double* a) {
    std::fill(a, a + s.width, zero);
    for (int d = 1; d <= count; ++d) {
      const double *before = r - static_cast<std::ptrdiff_t>(d) * s.width, *duration = s.durations + d * s.width;
      const double* row = rows.first ? rows.first + (d - 1) * rows.stride : nullptr;
      double* out = x + static_cast<std::size_t>(d - 1) * s.width;
      for (int from = 0; from < s.n_labels; from += lane_count) {
        if (d > longest_of(s, from)) continue;  // none of these eight labels lasts so long
        const int to = std::min(from + lane_count, s.n_labels);
        for (int l = from; l < to; ++l) {
          out[l] = before[l] + duration[l] + (row ? row[l] : 0.0);
          a[l] = std::max(a[l], out[l]);
        }
      }
    }
    for (int l = 0; l < s.n_labels; ++l) {
      if (!(a[l] > zero)) continue;
      double sum = 0;
      const int lasting = std::min(count, longest_of(s, l));
      for (int d = 0; d < lasting; ++d) {
        const double below = x[static_cast<std::size_t>(d) * s.width + l] - a[l];
        if (below > negligible) sum += std::exp(below);
      }
      a[l] += std::log(sum);
    }
  };
  forward(s, work, finish, [&](const double* a, double* r) { log_step(s, table, false, a, scratch, r); });
  double total = zero;
  for (int l = 0; l < s.n_labels; ++l)
    total = log_plus(total, log_times(at(work.alpha.data(), s, s.length, l), s.end[l]));
  return total;
}

// The backward recursion: beta[e][l] sums over what may follow a segment that ends at e, follows[b][l] over a segment
// that begins at b and all after it.
//
//   beta[T][l] = ends[T][l] + end[l]
//   beta[e][k] = ends[e][k] + log sum over l of exp(transitions[k][l] + follows[e][l])
//   follows[b][l] = begins[b][l] + log sum over d of exp(durations[d][l] + rows(b, b + d)[l] + beta[b + d][l])
//
//   p(segment (b, e, l)) = exp(reached[b][l] + durations[e - b][l] + rows(b, e)[l] + beta[e][l] - log Z)
//   expected pairs (k, l) = sum over e of exp(alpha[e][k] + transitions[k][l] + follows[e][l] - log Z)
double segments_expectations(const SegmentScores& s, SegmentWorkspace& work, const SegmentVisit& visit, double* pairs,
                             double* first, double* last) {
  const double total = segments_log_partition(s, work);
  if (s.length == 0 || !(total > zero)) return total;
  const std::size_t width = s.width, size = static_cast<std::size_t>(s.length + 1) * width;
  const double *alpha = work.alpha.data(), *reached = work.reached.data();
  const ExpTable table(s, work.exp_transitions);
  // follows[b][l] - begins[b][l] = tops[b][l] + log(sums[b][l]), collected while e goes down.
  double* tops = work.tops.need(size);
  double* sums = work.sums.need(size + 2 * width);
  double* beta = work.beta.need(2 * width);
  double *follows = beta + width, *scratch = sums + size;
  double* probabilities = work.row.need(width);
  std::fill(tops, tops + size, zero);
  std::fill(sums, sums + size, 0.0);
  for (int e = s.length; e >= 0; --e) {
    check_interruption(std::int64_t{4} * (std::min(e, s.longest) + s.n_labels) * s.width);
    for (int l = 0; l < s.n_labels; ++l) {
      const std::size_t i = e * width + l;
      follows[l] = log_of(tops[i], sums[i]) + at(s.begins, s, e, l);
    }
    if (e == 0) {
      if (first)
        for (int l = 0; l < s.n_labels; ++l) first[l] += std::exp(log_times(s.start[l], follows[l]) - total);
      break;
    }
    const double* a = alpha + e * width;
    if (e == s.length) {
      std::copy(s.end, s.end + width, beta);
      if (last)
        for (int l = 0; l < s.n_labels; ++l) last[l] += std::exp(log_times(a[l], s.end[l]) - total);
    } else {
      log_step(s, table, true, follows, scratch, beta);
      if (pairs) {
        const double top_a = largest(a, s.n_labels), top_f = largest(follows, s.n_labels);
        const double log_factor = top_a + top_f + table.scale - total;
        if (top_a > zero && top_f > zero && log_factor < 200) {
          const double factor = std::exp(log_factor);
          for (int l = 0; l < s.n_labels; ++l) scratch[l] = std::exp(follows[l] - top_f);
          for (int k = 0; k < s.n_labels; ++k) {
            const double f = factor * std::exp(a[k] - top_a);
            if (f == 0) continue;
            for (int l = 0; l < s.n_labels; ++l) pairs[k * width + l] += f * scratch[l] * table.values[k * width + l];
          }
        } else if (top_a > zero && top_f > zero) {
          for (int k = 0; k < s.n_labels; ++k)
            for (int l = 0; l < s.n_labels; ++l)
              pairs[k * width + l] +=
                  std::exp(log_times(log_times(a[k], s.transitions[k * width + l]), follows[l]) - total);
        }
      }
    }
    const int count = std::min(e, s.longest);
    const SegmentRows rows = s.rows ? s.rows->at(e, count) : SegmentRows{nullptr, 0};
    add_row(s.ends, s, e, beta);
    for (int d = 1; d <= count; ++d) {
      const std::size_t begin = static_cast<std::size_t>(e - d) * width;
      const double* row = rows.first ? rows.first + (d - 1) * rows.stride : nullptr;
      bool any = false;
      std::fill(probabilities, probabilities + width, 0.0);
      for (int from = 0; from < s.n_labels; from += lane_count) {
        if (d > longest_of(s, from)) continue;
        const int to = std::min(from + lane_count, s.n_labels);
        for (int l = from; l < to; ++l) {
          const double x = beta[l] + s.durations[d * width + l] + (row ? row[l] : 0.0);
          log_add(x, tops[begin + l], sums[begin + l]);
          const double log_p = x + reached[begin + l] - total;
          if (!(log_p > negligible)) continue;
          probabilities[l] = std::exp(std::min(log_p, 0.0));
          any = true;
        }
      }
      if (any) visit(e - d, e, probabilities);
    }
  }
  return total;
}

double segments_marginals(const SegmentScores& s, SegmentWorkspace& work, const SegmentVisit& visit, double* labels,
                          double* boundaries) {
  const std::size_t n = s.n_labels, size = s.length * n;
  const auto add = [&](int begin, int end, const double* p) {
    for (std::size_t l = 0; l < n; ++l) {
      boundaries[end] += p[l];
      labels[begin * n + l] += p[l];
      if (end < s.length) labels[end * n + l] -= p[l];
    }
    visit(begin, end, p);
  };
  const double log_z = segments_expectations(s, work, add, nullptr, nullptr, nullptr);
  boundaries[0] = 1;
  for (std::size_t i = n; i < size; ++i) labels[i] += labels[i - n];
  // Each position is normalised by its own sum, which is 1 in exact arithmetic: where scores are so large that little
  // is left of what follows the point, rounding cannot make anything a probability that is none.
  for (std::size_t t = 0; t < size; t += n) {
    double sum = 0;
    for (std::size_t l = t; l < t + n; ++l) sum += labels[l] = std::max(labels[l], 0.0);
    for (std::size_t l = t; l < t + n && sum > 0; ++l) labels[l] /= sum;
  }
  for (int t = 1; t <= s.length; ++t) boundaries[t] = std::min(boundaries[t], 1.0);
  return log_z;
}

std::vector<std::vector<Segment>> segments_sample(const SegmentScores& s, SegmentWorkspace& work, std::uint64_t seed,
                                                  int count) {
  Random random(seed);
  std::vector<std::vector<Segment>> samples(count);
  if (s.length == 0) return samples;
  work.row.need(std::max(s.longest, s.n_labels) + 1);
  for (std::vector<Segment>& segments : samples) {
    int end = s.length;
    for (int l = 0; l < s.n_labels; ++l) work.row[l] = log_times(at(work.alpha.data(), s, end, l), s.end[l]);
    int label = draw(work.row.data(), s.n_labels, random);
    for (;;) {
      const int d = 1 + draw(work.row.data() + 1, duration_scores(s, work, end, label), random);
      segments.push_back({end - d, end, label});
      end -= d;
      if (end == 0) break;
      before_scores(s, work, end, label);
      label = draw(work.row.data(), s.n_labels, random);
    }
    std::reverse(segments.begin(), segments.end());
  }
  return samples;
}

}  // namespace margent
