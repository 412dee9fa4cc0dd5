#include "segments/segment_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "parallel.hpp"

namespace margent {

namespace {

// Calls work(scores, workspace, sequence) for every sequence.
template <class Work>
void each_sequence(const FrozenSegmentModel& model, int threads, Work work) {
  struct State {
    SegmentScorer scorer;
    SegmentWorkspace workspace;
  };
  const std::int64_t n = model.content.n_sequences();
  std::vector<std::unique_ptr<State>> states(workers(n, threads));
  parallel(n, threads, [&](std::size_t thread, std::int64_t s) {
    if (!states[thread]) states[thread].reset(new State{{model.shape, model.content.copy()}, {}});
    State& state = *states[thread];
    work(state.scorer.turn_to(s, model.weights, model.scale), state.workspace, s);
  });
}

// [count][width] without its padding.
std::vector<double> unpadded(const double* rows, std::size_t count, const SegmentScores& scores) {
  const std::size_t n = scores.n_labels, width = scores.width;
  std::vector<double> out;
  out.reserve(count * n);
  for (std::size_t r = 0; r < count; ++r) out.insert(out.end(), rows + r * width, rows + r * width + n);
  return out;
}

}  // namespace

std::vector<ScoredSegments> predict_best(const FrozenSegmentModel& model, const ForcedLabels& forced, int threads) {
  std::vector<ScoredSegments> found(model.content.n_sequences());
  each_sequence(model, threads, [&](const SegmentScores& scores, SegmentWorkspace& work, std::int64_t s) {
    auto& [value, segments] = found[s];
    const std::int64_t first = forced.ptr ? forced.ptr[s] : 0, count = forced.ptr ? forced.ptr[s + 1] - first : 0;
    if (!forced.ptr || (count == 0 && scores.length == 0)) {
      value = segments_best(scores, work, segments);
      return;
    }
    value = -std::numeric_limits<double>::infinity();
    if (count == 0 || scores.length == 0) return;
    ForcedScores given(scores, forced.labels + first, static_cast<int>(count));
    value = segments_best(given.scores(), work, segments);
    given.name(segments);
  });
  return found;
}

std::vector<std::vector<ScoredSegments>> predict_k_best(const FrozenSegmentModel& model, int k, int threads) {
  std::vector<std::vector<ScoredSegments>> found(model.content.n_sequences());
  each_sequence(model, threads, [&](const SegmentScores& scores, SegmentWorkspace& work, std::int64_t s) {
    found[s] = segments_k_best(scores, k, work);
  });
  return found;
}

std::vector<std::uint8_t> predict_beyond(const FrozenSegmentModel& model, double limit, int threads) {
  const std::int64_t n = model.content.n_sequences();
  std::vector<std::unique_ptr<SegmentContent>> contents(workers(n, threads));
  std::vector<std::uint8_t> beyond(n, 0);
  parallel(n, threads, [&](std::size_t thread, std::int64_t s) {
    if (!contents[thread]) contents[thread] = model.content.copy();
    contents[thread]->turn_to(s, model.weights, model.scale);
    beyond[s] = !(contents[thread]->magnitude() <= limit);
  });
  return beyond;
}

SegmentMarginals predict_marginals(const FrozenSegmentModel& model, const SegmentQueries& queries, int threads) {
  const std::int64_t n = model.content.n_sequences();
  const std::size_t labels = model.shape.n_labels;
  std::vector<std::int64_t> begin(n + 1, 0);
  for (std::int64_t s = 0; s < n; ++s) begin[s + 1] = begin[s] + model.content.length(s);
  SegmentMarginals out{std::vector<double>(begin[n] * labels), std::vector<double>(begin[n] + n),
                       std::vector<double>(queries.ptr[n]), std::vector<double>(n)};
  each_sequence(model, threads, [&](const SegmentScores& scores, SegmentWorkspace& work, std::int64_t s) {
    const auto visit = [&](int from, int to, const double* p) {
      for (std::int64_t i = queries.ptr[s]; i < queries.ptr[s + 1]; ++i) {
        const std::int32_t* row = queries.segments + 3 * i;
        if (row[0] == from && row[1] == to) out.segments[i] = p[row[2]];
      }
    };
    out.log_partitions[s] = segments_marginals(scores, work, visit, out.labels.data() + begin[s] * labels,
                                               out.boundaries.data() + begin[s] + s);
  });
  return out;
}

PlainSegmentScores plain_scores(const FrozenSegmentModel& model, std::int64_t sequence) {
  SegmentScorer scorer(model.shape, model.content.copy());
  const SegmentScores scores = scorer.turn_to(sequence, model.weights, model.scale);
  const std::size_t n = scores.n_labels, length = scores.length,
                    most = std::min<std::size_t>(scores.longest, std::max<std::size_t>(length, 1));
  PlainSegmentScores out{length,
                         most,
                         unpadded(scores.transitions, n, scores),
                         unpadded(scores.start, 1, scores),
                         unpadded(scores.end, 1, scores),
                         unpadded(scores.durations + scores.width, most, scores),
                         {},
                         {},
                         {},
                         scores.rows != nullptr};
  if (scores.begins) {
    out.begins = unpadded(scores.begins, length + 1, scores);
    std::fill(out.begins.end() - n, out.begins.end(), 0.0);
  }
  if (scores.ends) {
    out.ends = unpadded(scores.ends, length + 1, scores);
    std::fill(out.ends.begin(), out.ends.begin() + n, 0.0);
  }
  if (!scores.rows) return out;
  out.segments.assign(length * most * n, 0.0);
  for (std::size_t e = 1; e <= length; ++e) {
    const std::size_t count = std::min(e, most);
    const SegmentRows found = scores.rows->at(static_cast<int>(e), static_cast<int>(count));
    for (std::size_t d = 1; found.first && d <= count; ++d)
      for (std::size_t l = 0; l < n; ++l)
        if (std::isfinite(out.durations[(d - 1) * n + l]))  // of others nothing was worked out
          out.segments[((e - d) * most + d - 1) * n + l] =
              found.first[static_cast<std::ptrdiff_t>(d - 1) * found.stride + static_cast<std::ptrdiff_t>(l)];
  }
  return out;
}

}  // namespace margent
