#include "chain/tagging.hpp"

#include <algorithm>

#include "chain/chain_expectations.hpp"
#include "chain/hidden_k_best.hpp"
#include "text/strings.hpp"

namespace margent {

namespace {

template <class Real>
struct Tagging {
  explicit Tagging(const LinearChain& model, double scale = 1, ChainUse use = ChainUse::search)
      : scorer(model, scale, use) {}
  ChainScorer<Real> scorer;
  ChainWorkspace<Real> work;
};

template <class Real>
auto maker(const LinearChain& model, double scale = 1, ChainUse use = ChainUse::search) {
  return [&model, scale, use] { return std::make_unique<Tagging<Real>>(model, scale, use); };
}

// Sequences are scored in order, so the rows of the next one can be fetched while this one ends.
Examples in_order(Examples examples) {
  examples.unigrams.last = examples.sequence_ptr[examples.n_sequences];
  return examples;
}

}  // namespace

void tag_best(const LinearChain& model, const Examples& given, int threads, std::int32_t* labels, double* scores) {
  const Examples examples = in_order(given);
  for_each_sequence(examples.n_sequences, threads, maker<float>(model), [&](Tagging<float>& state, std::int64_t s) {
    ChainScores<float> scored{model.shape, 0, nullptr, nullptr, nullptr};
    scores[s] = state.scorer.best(examples, s, state.work, labels + examples.begin(s), scored);
  });
}

void tag_k_best(const LinearChain& model, const Examples& examples, int k, int threads, std::int32_t* labels,
                double* values, std::int32_t* counts) {
  for_each_sequence(examples.n_sequences, threads, maker<double>(model), [&](Tagging<double>& state, std::int64_t s) {
    counts[s] =
        chain_k_best(state.scorer.score(examples, s), k, state.work, labels + k * examples.begin(s), values + s * k);
  });
}

void tag_hidden_k_best(const LinearChain& model, const Examples& examples, double scale, const std::int32_t* hidden,
                       int k, int threads, std::int32_t* labels, double* values, double* sums, std::int32_t* counts) {
  struct State : Tagging<double> {
    State(const LinearChain& model, double scale, const std::int32_t* hidden)
        : Tagging<double>(model, scale), search(model.shape, hidden) {}
    HiddenKBest search;
  };
  const auto make = [&] { return std::make_unique<State>(model, scale, hidden); };
  for_each_sequence(examples.n_sequences, threads, make, [&](State& state, std::int64_t s) {
    counts[s] = state.search.find(state.scorer.score(examples, s), k, state.work, labels + k * examples.begin(s),
                                  values + s * k, sums + s * k);
  });
}

void tag_marginals(const LinearChain& model, const Examples& given, double scale, int threads, double* nodes,
                   double* pairs, double* log_partitions) {
  const std::int64_t n_labels = model.shape.n_labels;
  const Examples examples = in_order(given);
  // Single precision where it will do; each made only where it is used.
  struct State {
    std::unique_ptr<ChainExpectations> fast;
    std::unique_ptr<Tagging<double>> exact;
  };
  const auto make = [&] {
    auto state = std::make_unique<State>();
    if (pairs || model.shape.order > 1) return state;
    state->fast = std::make_unique<ChainExpectations>(model, std::vector<float>{});
    state->fast->refresh(scale);
    return state;
  };
  const auto run = [&](State& state, std::int64_t s) {
    const std::int64_t begin = examples.begin(s);
    if (state.fast && state.fast->marginals(examples, s, nodes + begin * n_labels, &log_partitions[s])) return;
    if (!state.exact) state.exact = std::make_unique<Tagging<double>>(model, scale, ChainUse::sums);
    log_partitions[s] =
        chain_marginals(state.exact->scorer.score(examples, s), state.exact->work, nodes + begin * n_labels,
                        pairs ? pairs + begin * (n_labels + 1) * n_labels : nullptr);
  };
  for_each_sequence(examples.n_sequences, threads, make, run);
}

void tag_spans(const LinearChain& model, const Examples& examples, double scale, int threads, std::int64_t n_spans,
               const std::int64_t* sequences, const std::int32_t* begins, const std::int32_t* ends,
               const std::int64_t* span_ptr, const std::int32_t* labels, const std::uint8_t* before,
               const std::uint8_t* after, const std::int32_t* hidden, double* log_probabilities) {
  const std::int64_t stride = model.shape.base;
  const auto run = [&](Tagging<double>& state, std::int64_t s) {
    const auto [from, to] = std::equal_range(sequences, sequences + n_spans, s);
    if (from == to) return;
    const ChainScores<double> scores = state.scorer.score(examples, s);
    std::vector<double> nodes(static_cast<std::size_t>(scores.length) * model.shape.n_labels);
    const double log_z = chain_marginals(scores, state.work, nodes.data(), static_cast<double*>(nullptr));
    for (std::int64_t r = from - sequences; r < to - sequences; ++r)
      log_probabilities[r] = chain_span_log_probability(
          scores, state.work, log_z,
          {begins[r], ends[r], labels + span_ptr[r], before + r * stride, after + r * stride, hidden});
  };
  for_each_sequence(examples.n_sequences, threads, maker<double>(model, scale, ChainUse::sums), run);
}

void tag_beyond(const LinearChain& model, const Examples& examples, double limit, int threads, std::uint8_t* beyond) {
  std::fill_n(beyond, examples.n_sequences, 0);
  if (!examples.unigrams.values) return;
  for_each_sequence(examples.n_sequences, threads, maker<float>(model), [&](Tagging<float>& state, std::int64_t s) {
    beyond[s] = !(state.scorer.magnitude(examples, s) <= limit);
  });
}

double tag_gather_only(const LinearChain& model, const Examples& given) {
  const Examples examples = in_order(given);
  double sum = 0;
  for_each_sequence(examples.n_sequences, 1, maker<float>(model), [&](Tagging<float>& state, std::int64_t s) {
    const ChainScores<float> scores = state.scorer.score(examples, s);
    if (scores.length) sum += scores.emissions[0];
  });
  return sum;
}

void tag_scores(const LinearChain& model, const Examples& examples, int threads, const std::int32_t* labels,
                double* scores) {
  const auto run = [&](Tagging<double>& state, std::int64_t s) {
    scores[s] = chain_score(state.scorer.score_all(examples, s), labels + examples.begin(s));
  };
  for_each_sequence(examples.n_sequences, threads, maker<double>(model, 1, ChainUse::score), run);
}

void tag_samples(const LinearChain& model, const Examples& examples, double scale, std::uint64_t seed, int count,
                 int threads, std::int32_t* labels, double* log_partitions) {
  const auto run = [&](Tagging<double>& state, std::int64_t s) {
    const ChainScores<double> scores = state.scorer.score(examples, s);
    log_partitions[s] = chain_log_partition(scores, state.work);
    if (log_partitions[s] > -std::numeric_limits<double>::infinity())
      chain_sample(scores, state.work, mix(seed + 1) ^ static_cast<std::uint64_t>(s), count,
                   labels + count * examples.begin(s));
  };
  for_each_sequence(examples.n_sequences, threads, maker<double>(model, scale, ChainUse::sums), run);
}

}  // namespace margent
