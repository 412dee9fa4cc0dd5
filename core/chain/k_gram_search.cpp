#include "chain/k_gram_search.hpp"

#include <algorithm>
#include <limits>

#include "parallel.hpp"
#include "simd/buffer.hpp"

namespace margent {

namespace {

// How many candidates the inputs of a context have: the oldest, all between the oldest and the last, and the last.
struct Shape {
  std::int64_t oldest = 1, middle = 1, last = 1;
  std::int64_t edges() const { return oldest * middle * last; }
  std::int64_t nodes() const { return middle * last; }
};

class Search {
 public:
  Search(const KGramLayout& layout, const std::vector<GramScores>& tables, int threads) : layout_(layout) {
    const std::size_t n_contexts = layout.contexts.size() / static_cast<std::size_t>(layout.order);
    shapes_.resize(n_contexts);
    starts_.resize(n_contexts + 1);
    for (std::size_t c = 0; c < n_contexts; ++c) {
      shapes_[c] = shape(inputs(c));
      starts_[c + 1] = starts_[c] + shapes_[c].edges();
    }
    blocks_.need(static_cast<std::size_t>(starts_.back()));
    const std::int64_t n_tasks = static_cast<std::int64_t>(n_contexts);
    std::vector<std::vector<std::int64_t>> grams(workers(n_tasks, threads));
    parallel(n_tasks, threads,
             [&](std::size_t q, std::int64_t c) { fill(static_cast<std::size_t>(c), tables, grams[q]); });
  }

  // The score of tokens begin to end, and their symbols; `values` is memory.
  double best(std::int64_t begin, std::int64_t end, const std::int32_t* gold, std::vector<double>& values,
              std::int32_t* symbols) const {
    std::size_t room = 1;
    for (std::int64_t t = begin; t < end; ++t) room += static_cast<std::size_t>(shape_of(t).nodes());
    if (values.size() < room) values.resize(room);
    double* before = values.data();
    *before = 0;
    std::int64_t n_before = 1;
    for (std::int64_t t = begin; t < end; ++t) {
      double* now = before + n_before;
      step(t, before, now);
      if (gold) add_costs(t, gold[t], now);
      before = now;
      n_before = shape_of(t).nodes();
    }
    const double* top = std::max_element(before, before + n_before);
    std::int64_t node = top - before;
    for (std::int64_t t = end; t-- > begin;) {
      const Shape& s = shape_of(t);
      symbols[t] = candidates(last_input(t))[static_cast<std::size_t>(node % s.last)];
      before -= s.oldest * s.middle;
      node = origin(t, before, node);
    }
    return *top;
  }

 private:
  std::span<const std::int32_t> inputs(std::size_t context) const {
    const std::size_t k = static_cast<std::size_t>(layout_.order);
    return layout_.contexts.subspan(context * k, k);
  }
  std::span<const std::int32_t> candidates(std::int32_t input) const {
    const std::int64_t* p = layout_.candidate_ptr.data() + input;
    return layout_.candidates.subspan(static_cast<std::size_t>(p[0]), static_cast<std::size_t>(p[1] - p[0]));
  }
  std::size_t context(std::int64_t t) const {
    return static_cast<std::size_t>(layout_.tokens[static_cast<std::size_t>(t)]);
  }
  const Shape& shape_of(std::int64_t t) const { return shapes_[context(t)]; }
  const double* block(std::int64_t t) const { return blocks_.data() + starts_[context(t)]; }
  std::int32_t last_input(std::int64_t t) const { return inputs(context(t)).back(); }

  Shape shape(std::span<const std::int32_t> inputs) const {
    Shape s;
    for (std::int32_t input : inputs) s.middle *= static_cast<std::int64_t>(candidates(input).size());
    s.oldest = static_cast<std::int64_t>(candidates(inputs.front()).size());
    s.last = static_cast<std::int64_t>(candidates(inputs.back()).size());
    s.middle /= s.oldest * s.last;
    return s;
  }

  // The sum of the scores of all lengths, for each choice of candidates, the last input varying fastest. `grams` is
  // memory: the numbers of the l-grams of the last l inputs.
  void fill(std::size_t context, const std::vector<GramScores>& tables, std::vector<std::int64_t>& grams) {
    double* block = blocks_.data() + starts_[context];
    const std::size_t n = static_cast<std::size_t>(shapes_[context].edges());
    std::fill_n(block, n, 0.0);
    for (const GramScores& table : tables) {
      number(inputs(context).last(static_cast<std::size_t>(table.length)), grams);
      for (std::size_t start = 0; start < n; start += grams.size())
        for (std::size_t i = 0; i < grams.size(); ++i)
          if (grams[i] >= 0) block[start + i] += table.scores[grams[i]];
    }
  }

  void number(std::span<const std::int32_t> inputs, std::vector<std::int64_t>& grams) const {
    grams.assign(1, 0);
    for (std::int32_t input : inputs) {
      const std::span<const std::int32_t> own = candidates(input);
      grams.resize(grams.size() * own.size());
      for (std::size_t i = grams.size(); i-- > 0;) {  // from the end, where nothing is needed any more
        const std::int64_t before = grams[i / own.size()], symbol = own[i % own.size()];
        grams[i] = before < 0 || symbol < 0 ? -1 : before * layout_.n_symbols + symbol;
      }
    }
  }

  void step(std::int64_t t, const double* before, double* now) const {
    const Shape s = shape_of(t);
    check_interruption(s.edges());
    const double* score = block(t);
    std::fill_n(now, s.nodes(), -std::numeric_limits<double>::infinity());
    for (std::int64_t a = 0; a < s.oldest; ++a)
      for (std::int64_t b = 0; b < s.middle; ++b, score += s.last) {
        const double value = *before++;
        double* own = now + b * s.last;
        for (std::int64_t c = 0; c < s.last; ++c) own[c] = std::max(own[c], value + score[c]);
      }
  }

  void add_costs(std::int64_t t, std::int32_t gold, double* now) const {
    const std::span<const std::int32_t> own = candidates(last_input(t));
    for (std::int64_t b = 0; b < shape_of(t).middle; ++b)
      for (std::int32_t symbol : own) *now++ += symbol != gold;
  }

  // The node before, from which a node got its value.
  std::int64_t origin(std::int64_t t, const double* before, std::int64_t node) const {
    const Shape s = shape_of(t);
    const double* score = block(t) + node;
    std::int64_t best = node / s.last;
    for (std::int64_t a = 1, from = best; a < s.oldest; ++a) {
      from += s.middle;
      if (before[from] + score[a * s.nodes()] > before[best] + score[best / s.middle * s.nodes()]) best = from;
    }
    return best;
  }

  const KGramLayout& layout_;
  std::vector<Shape> shapes_;
  std::vector<std::int64_t> starts_;
  Buffer<double> blocks_;
};

}  // namespace

void k_gram_search(const KGramLayout& layout, const std::vector<GramScores>& tables, std::span<const std::int32_t> gold,
                   int threads, double* scores, std::int32_t* symbols) {
  const Search search(layout, tables, threads);
  const std::int32_t* right = gold.empty() ? nullptr : gold.data();
  const std::int64_t* ptr = layout.sequence_ptr.data();
  const std::int64_t n_sequences = static_cast<std::int64_t>(layout.sequence_ptr.size()) - 1;
  std::vector<std::vector<double>> values(workers(n_sequences, threads));
  parallel(n_sequences, threads, [&](std::size_t q, std::int64_t s) {
    scores[s] = search.best(ptr[s], ptr[s + 1], right, values[q], symbols);
  });
}

}  // namespace margent
