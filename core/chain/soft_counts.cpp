#include "chain/soft_counts.hpp"

#include <algorithm>
#include <memory>

#include "chain/chain_expectations.hpp"
#include "parallel.hpp"

namespace margent {

namespace {
constexpr std::int64_t tokens_at_once = 1 << 16;
constexpr std::int64_t sequences_of_a_chunk = 64;
constexpr double least = 1e-12;  // an expected count below is none
}  // namespace

SoftCounts soft_counts(ChainOracle& oracle, std::int64_t n_unigrams, int threads) {
  const Examples& examples = oracle.examples();
  const Features& f = examples.unigrams;
  const ChainShape& s = oracle.shape();
  const int n_labels = s.n_labels;
  SoftCounts out;
  std::vector<std::unique_ptr<ChainExpectations>> own;
  for (int i = 0; i < std::clamp(threads, 1, 1024); ++i) {
    own.push_back(std::make_unique<ChainExpectations>(oracle.model(), oracle.label_costs()));
    own.back()->refresh(1);
  }
  std::vector<double> table((s.histories + s.contexts) * s.width, 0.0);
  std::vector<double> of_features(static_cast<std::size_t>(n_unigrams) * n_labels, 0.0);
  std::vector<float> nodes;
  for (std::int64_t first = 0, last; first < examples.n_sequences; first = last) {
    const std::int64_t begin = examples.begin(first);
    for (last = first + 1; last < examples.n_sequences; ++last)
      if (examples.begin(last + 1) - begin > tokens_at_once) break;
    nodes.assign(static_cast<std::size_t>(examples.begin(last) - begin) * s.width, 0.0f);
    const std::int64_t n_chunks = (last - first + sequences_of_a_chunk - 1) / sequences_of_a_chunk;
    std::vector<double> values(n_chunks, 0.0);
    std::vector<std::vector<double>> tables(n_chunks);
    parallel(n_chunks, threads, [&](std::size_t thread, std::int64_t c) {
      ChainExpectations& worker = *own[thread];
      worker.clear();
      const std::int64_t from = first + c * sequences_of_a_chunk;
      for (std::int64_t q = from; q < std::min(from + sequences_of_a_chunk, last); ++q)
        values[c] += worker.add_right(examples, q, examples.weights ? examples.weights[q] : 1.0,
                                      nodes.data() + (examples.begin(q) - begin) * s.width);
      worker.flush();
      tables[c] = worker.table();
    });
    for (std::int64_t c = 0; c < n_chunks; ++c) {
      out.log_likelihood += values[c];
      for (std::size_t i = 0; i < table.size(); ++i) table[i] += tables[c][i];
    }
    for (std::int64_t t = begin; t < examples.begin(last); ++t) {
      check_interruption((f.ptr[t + 1] - f.ptr[t]) * n_labels);
      const float* p = nodes.data() + (t - begin) * s.width;
      for (std::int64_t k = f.ptr[t]; k < f.ptr[t + 1]; ++k) {
        double* row = of_features.data() + static_cast<std::int64_t>(f.ids[k]) * n_labels;
        const float value = f.value(k);
        out.counts.negative |= value < 0;
        for (int y = 0; y < n_labels; ++y) row[y] += static_cast<double>(p[y]) * value;
      }
    }
  }
  for (std::int64_t r = 0; r < n_unigrams; ++r) {
    const double* row = of_features.data() + r * n_labels;
    for (std::int32_t y = 0; y < n_labels; ++y) {
      if (!(row[y] > least)) continue;
      out.counts.columns.push_back(y);
      out.counts.counts.push_back(row[y]);
    }
    out.counts.ptr.push_back(static_cast<std::int64_t>(out.counts.columns.size()));
  }
  // A table of histories and ends is that of the highest level; the last labels of a history are its lower digits.
  std::int64_t contexts = 1;
  for (int level = 0; level < s.order; ++level, contexts *= s.base) {
    out.counts.ends.emplace_back(contexts * s.width, 0.0);
    out.counts.transitions.emplace_back(contexts * s.base * s.width, 0.0);
    std::vector<double>&into = out.counts.transitions.back(), &end = out.counts.ends.back();
    for (std::int64_t i = 0; i < s.histories * s.width; ++i) into[i % into.size()] += table[i];
    for (std::int64_t i = 0; i < s.contexts * s.width; ++i) end[i % end.size()] += table[s.histories * s.width + i];
  }
  return out;
}

}  // namespace margent
