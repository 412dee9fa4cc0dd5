#include "chain/gold_counts.hpp"

namespace margent {

namespace {

double weight_of(const Examples& examples, std::int64_t sequence) {
  return examples.weights ? examples.weights[sequence] : 1.0;
}

// Occurrences are sorted by feature first, so that each row is summed in a table of labels.
void count_features(const Examples& examples, const ChainShape& shape, std::int64_t n_unigrams, GoldCounts& out) {
  struct Occurrence {
    std::int32_t label;
    double count;
  };
  const Features& f = examples.unigrams;
  const std::int64_t n_tokens = examples.sequence_ptr[examples.n_sequences];
  std::vector<std::int64_t> ends(n_unigrams + 1, 0);
  for (std::int64_t t = 0; t < n_tokens; ++t)
    for (std::int64_t k = f.ptr[t]; examples.labels[t] != unlabelled && k < f.ptr[t + 1]; ++k) ends[f.ids[k] + 1] += 1;
  for (std::int64_t r = 0; r < n_unigrams; ++r) ends[r + 1] += ends[r];
  std::vector<Occurrence> seen(ends[n_unigrams]);
  for (std::int64_t q = 0; q < examples.n_sequences; ++q)
    for (std::int64_t t = examples.begin(q); t < examples.begin(q + 1); ++t)
      for (std::int64_t k = f.ptr[t]; examples.labels[t] != unlabelled && k < f.ptr[t + 1]; ++k) {
        seen[ends[f.ids[k]]++] = {examples.labels[t], weight_of(examples, q) * f.value(k)};
        out.negative |= f.value(k) < 0;
      }
  // ends[r] is now where row r ends.
  std::vector<double> row(shape.n_labels, 0);
  for (std::int64_t r = 0, k = 0; r < n_unigrams; ++r) {
    for (; k < ends[r]; ++k) row[seen[k].label] += seen[k].count;
    for (std::int32_t y = 0; y < shape.n_labels; ++y) {
      if (row[y] == 0) continue;
      out.columns.push_back(y);
      out.counts.push_back(row[y]);
      row[y] = 0;
    }
    out.ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
  }
}

// Into labels[position], or at `length` the end, after the labels before, as far back as they are known.
void count_transition(const ChainShape& shape, const std::int32_t* labels, int length, int position, double weight,
                      GoldCounts& out) {
  const bool end = position == length;
  const std::int32_t label = labels[end ? length - 1 : position];
  if (label == unlabelled) return;
  std::vector<std::vector<double>>& levels = end ? out.ends : out.transitions;
  std::int64_t history = 0, size = 1;
  for (int level = 0, t = position - (end ? 2 : 1); level < shape.order; ++level) {
    if (!end || level > 0) {
      const std::int32_t before = t < 0 ? shape.n_labels : labels[t];
      if (before == unlabelled) return;
      history += before * size;
      size *= shape.base;
      --t;
    }
    levels[level][history * shape.width + label] += weight;
  }
}

}  // namespace

GoldCounts count_gold(const Examples& examples, const ChainShape& shape, std::int64_t n_unigrams) {
  GoldCounts out;
  count_features(examples, shape, n_unigrams, out);
  std::int64_t contexts = 1;
  for (int level = 0; level < shape.order; ++level, contexts *= shape.base) {
    out.ends.emplace_back(contexts * shape.width, 0.0);
    out.transitions.emplace_back(contexts * shape.base * shape.width, 0.0);
  }
  for (std::int64_t q = 0; q < examples.n_sequences; ++q) {
    const int n = examples.length(q);
    const std::int32_t* labels = examples.labels + examples.begin(q);
    for (int t = 0; n > 0 && t <= n; ++t) count_transition(shape, labels, n, t, weight_of(examples, q), out);
  }
  return out;
}

}  // namespace margent
