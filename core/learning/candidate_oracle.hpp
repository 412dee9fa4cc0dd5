// The oracle of listed answers: each example has candidates with sparse features, some of which are right.
//
// Several candidates may be right (a word may have several pronunciations, each listed with one alignment), so the gold
// side depends on the weights: it is the best of the right candidates, as in the latent perceptron (paper 003,
// equation 4.3).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "forest/semiring.hpp"
#include "learning/flat_oracle.hpp"
#include "parallel.hpp"

namespace margent {

// Candidates [example_ptr[i], example_ptr[i + 1]) are those of example i; entries [feature_ptr[c], feature_ptr[c + 1])
// the features of candidate c, each once. losses[c] == 0: it is right.
struct Candidates {
  std::int64_t n_examples = 0;
  const std::int64_t *example_ptr = nullptr, *feature_ptr = nullptr;
  const std::int32_t* features = nullptr;
  const float *values = nullptr, *losses = nullptr;
  const std::int32_t* n_positions = nullptr;
};

class CandidateOracle final : public FlatOracle {
 public:
  using FlatOracle::score;

  CandidateOracle(const Candidates& candidates, std::int64_t n_features)
      : FlatOracle(n_features), candidates_(candidates) {}

  std::int64_t size() const override { return candidates_.n_examples; }

  void ask(std::int64_t example, const Question& question, Reply& answer) override {
    const std::int64_t begin = candidates_.example_ptr[example], end = candidates_.example_ptr[example + 1];
    answer.rivals.clear();
    answer.weight = 1;
    answer.n_positions = candidates_.n_positions[example];
    scores_.resize(end - begin);
    gold_ = -1;
    for (std::int64_t c = begin; c < end; ++c) {
      scores_[c - begin] = scale() * score(kept(), c);
      if (candidates_.losses[c] == 0 && (gold_ < 0 || scores_[c - begin] > scores_[gold_ - begin])) gold_ = c;
    }
    rivals_.clear();
    if (gold_ < 0) return;  // nothing to learn: the right answer is not in the list
    answer.gold_score = scores_[gold_ - begin];
    rivals_.resize(end - begin);
    std::iota(rivals_.begin(), rivals_.end(), begin);
    const auto value = [&](std::int64_t c) { return scores_[c - begin] + question.cost * candidates_.losses[c]; };
    const auto n = std::min<std::int64_t>(question.k, end - begin);
    std::partial_sort(rivals_.begin(), rivals_.begin() + n, rivals_.end(), [&](std::int64_t a, std::int64_t b) {
      return value(a) > value(b) || (value(a) == value(b) && a < b);
    });
    rivals_.resize(n);
    for (const std::int64_t c : rivals_)
      answer.rivals.push_back(
          {scores_[c - begin], candidates_.losses[c], static_cast<std::int64_t>(std::ceil(candidates_.losses[c]))});
  }

  void delta(std::size_t rival, SparseVector& out) const override {
    out.clear();
    collect(gold_, 1, out);
    collect(rivals_.at(rival), -1, out);
    normalize(out);
  }

  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int threads) override;

  const Candidates& candidates() const { return candidates_; }
  // weights . F(candidate c)
  double score(const double* weights, std::int64_t c) const {
    double sum = 0;
    for (std::int64_t e = candidates_.feature_ptr[c]; e < candidates_.feature_ptr[c + 1]; ++e)
      sum += weights[candidates_.features[e]] * candidates_.values[e];
    return sum;
  }

 private:
  void collect(std::int64_t c, double sign, SparseVector& out) const {
    for (std::int64_t e = candidates_.feature_ptr[c]; e < candidates_.feature_ptr[c + 1]; ++e)
      out.push_back({candidates_.features[e], sign * candidates_.values[e]});
  }

  Candidates candidates_;
  std::vector<double> scores_;
  std::int64_t gold_ = -1;
  std::vector<std::int64_t> rivals_;
};

// Minus the log-probability of the right candidates together (the latent CRF, paper 003, equation 4.9), or of the best
// of them (4.8), summed over all examples that have some.
class CandidateLikelihood final : public Likelihood {
 public:
  CandidateLikelihood(CandidateOracle& oracle, bool best_completion, int threads)
      : oracle_(oracle), best_completion_(best_completion), threads_(std::max(threads, 1)) {}

  std::int64_t size() const override { return oracle_.size(); }
  std::int64_t n_parameters() const override { return oracle_.n_features(); }
  int threads() const override { return threads_; }
  void get(double* parameters) const override { std::ranges::copy(oracle_.weights(false), parameters); }
  void set(const double* parameters) override { oracle_.start_from(parameters); }

  double evaluate(double* gradient) override {
    constexpr std::int64_t chunk = 4096;
    const Candidates& all = oracle_.candidates();
    const std::vector<double> weights = oracle_.weights(false);
    const std::int64_t n_chunks = (size() + chunk - 1) / chunk;
    std::vector<double> parts(n_chunks, 0.0), shares(all.example_ptr[size()]);
    parallel(n_chunks, threads_, [&](std::size_t, std::int64_t part) {
      for (std::int64_t i = part * chunk; i < std::min(size(), (part + 1) * chunk); ++i)
        parts[part] += example(weights.data(), all.example_ptr[i], all.example_ptr[i + 1], shares.data());
    });
    if (gradient) std::fill(gradient, gradient + n_parameters(), 0.0);
    for (std::size_t c = 0; gradient && c < shares.size(); ++c)
      for (std::int64_t e = all.feature_ptr[c]; shares[c] != 0 && e < all.feature_ptr[c + 1]; ++e)
        gradient[all.features[e]] += shares[c] * all.values[e];
    return std::accumulate(parts.begin(), parts.end(), 0.0);
  }
  double value(const std::int64_t*, std::int64_t) override { throw std::logic_error(no_single_examples); }
  double descend(const std::int64_t*, std::int64_t, double, double, double) override {
    throw std::logic_error(no_single_examples);
  }

 private:
  static constexpr const char* no_single_examples = "listed answers have no likelihood of single examples";

  // The value of the example with candidates [begin, end), and what each of them has in the gradient.
  double example(const double* weights, std::int64_t begin, std::int64_t end, double* shares) const {
    const float* losses = oracle_.candidates().losses;
    double all = log_zero, right = log_zero;
    std::int64_t best = begin;
    for (std::int64_t c = begin; c < end; ++c) {
      shares[c] = oracle_.score(weights, c);
      all = log_plus(all, shares[c]);
      if (losses[c] != 0) continue;
      if (right == log_zero || shares[c] > shares[best]) best = c;
      right = best_completion_ ? shares[best] : log_plus(right, shares[c]);
    }
    for (std::int64_t c = begin; c < end; ++c) {
      const double here = shares[c];
      const bool counts = best_completion_ ? c == best : losses[c] == 0;
      shares[c] = right == log_zero ? 0 : std::exp(here - all) - (counts ? std::exp(here - right) : 0);
    }
    return right > log_zero ? all - right : 0;
  }

  CandidateOracle& oracle_;
  bool best_completion_;
  int threads_;
};

inline std::unique_ptr<Likelihood> CandidateOracle::likelihood(const LikelihoodOptions& options, int threads) {
  if (options.beam) return nullptr;
  return std::make_unique<CandidateLikelihood>(*this, options.best_completion, threads);
}

}  // namespace margent
