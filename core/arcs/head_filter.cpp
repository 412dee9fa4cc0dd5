#include "arcs/head_filter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "forest/semiring.hpp"

namespace margent {

template <class Real>
void score_heads(const PartKeys& keys, WeightSums<Real>& sums, int bits, std::vector<double>& out) {
  const int n = keys.n_words() + 1;
  out.assign(static_cast<std::size_t>(n) * n, log_zero);
  for (int m = 1; m < n; ++m)
    for (int h = 0; h < n; ++h) {
      if (h == m) continue;
      keys.arc(h, m, [&](std::uint64_t key, std::int32_t, std::int32_t) { sums.add(weight_number(key, bits)); });
      sums.end(&out[static_cast<std::size_t>(m) * n + h]);
    }
  sums.flush();
}

template void score_heads(const PartKeys&, WeightSums<float>&, int, std::vector<double>&);
template void score_heads(const PartKeys&, WeightSums<double>&, int, std::vector<double>&);

void HeadFilter::keep(const std::int32_t* atoms, int n_words, Workspace& work,
                      std::vector<std::uint8_t>& allowed) const {
  const int n = n_words + 1;
  work.keys.turn_to(atoms, n_words);
  work.sums.start(weights_, 1);
  score_heads(work.keys, work.sums, bits_, work.scores);
  allowed.assign(static_cast<std::size_t>(n) * n, 0);
  int root = 1;
  double best_gain = log_zero;
  const double margin = std::log(options_.threshold);
  for (int m = 1; m < n; ++m) {
    const double* scores = work.scores.data() + static_cast<std::size_t>(m) * n;
    work.order.resize(static_cast<std::size_t>(n));
    std::iota(work.order.begin(), work.order.end(), 0);
    const auto kept = std::min<std::ptrdiff_t>(options_.most_heads, n - 1);
    std::partial_sort(
        work.order.begin(), work.order.begin() + kept, work.order.end(),
        [&](std::int32_t a, std::int32_t b) { return scores[a] > scores[b] || (scores[a] == scores[b] && a < b); });
    const double top = scores[work.order[0]];
    for (std::ptrdiff_t i = 0; i < kept; ++i)
      if (scores[work.order[i]] >= top + margin) allowed[static_cast<std::size_t>(work.order[i]) * n + m] = 1;
    if (scores[0] - top > best_gain) {
      best_gain = scores[0] - top;
      root = m;
    }
  }
  for (int m = 1; m < n; ++m) {
    const int head = m == root ? 0 : m < root ? m + 1 : m - 1;
    allowed[static_cast<std::size_t>(head) * n + m] = 1;
  }
}

namespace {

// Minus the sum of log p(h | m) over the words whose head is known.
class HeadLikelihood final : public FlatLikelihood {
 public:
  HeadLikelihood(HeadOracle& oracle, int threads) : FlatLikelihood(oracle, threads), oracle_(oracle) {
    for (int q = 0; q < workers(oracle.size(), threads); ++q) workers_.emplace_back(oracle.templates());
  }

 protected:
  double example(std::size_t thread, std::int64_t i, SparseVector* gradient) override {
    const TreeExamples& all = oracle_.examples();
    const double weight = all.weight(i);
    if (weight == 0) return 0;
    Worker& work = workers_[thread];
    const int n = all.n_words(i) + 1;
    work.keys.turn_to(all.atoms_of(i), n - 1);
    work.sums.start(oracle_.weights_kept(), oracle_.weights_scale());
    score_heads(work.keys, work.sums, oracle_.bits(), work.scores);
    double loss = 0;
    for (int m = 1; m < n; ++m) {
      const int right = all.heads_of(i)[m - 1];
      if (right < 0) continue;
      const double* scores = work.scores.data() + static_cast<std::size_t>(m) * n;
      const double top = *std::max_element(scores, scores + n);
      double sum = 0;
      for (int h = 0; h < n; ++h) sum += std::exp(scores[h] - top);
      loss += top + std::log(sum) - scores[right];
      if (!gradient) continue;
      for (int h = 0; h < n; ++h) {
        if (h == m) continue;
        const double share = std::exp(scores[h] - top) / sum - (h == right);
        if (std::abs(share) < negligible_) continue;
        work.keys.arc(h, m, [&](std::uint64_t key, std::int32_t, std::int32_t) {
          gradient->push_back({weight_number(key, oracle_.bits()), weight * share});
        });
      }
    }
    return weight * loss;
  }

 private:
  // Most heads are next to impossible, and would cost as much as the others.
  static constexpr double negligible_ = 1e-7;
  struct Worker {
    explicit Worker(const PartTemplates& templates) : keys(templates) {}
    PartKeys keys;
    WeightSums<double> sums;
    std::vector<double> scores;
  };
  HeadOracle& oracle_;
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<Likelihood> HeadOracle::likelihood(const LikelihoodOptions&, int threads) {
  return std::make_unique<HeadLikelihood>(*this, threads);
}

}  // namespace margent
