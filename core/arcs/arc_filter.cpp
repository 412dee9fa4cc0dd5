#include "arcs/arc_filter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "forest/semiring.hpp"
#include "interruption.hpp"

namespace margent {

namespace {

constexpr std::int64_t of_an_arc = 512;  // operations, for it has some features

// From scores to log-probabilities; scores of -inf stay.
void subtract_log_sum(double* scores, int n) {
  const double top = *std::max_element(scores, scores + n);
  if (top == log_zero) return;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::exp(scores[i] - top);
  const double total = top + std::log(sum);
  for (int i = 0; i < n; ++i) scores[i] -= total;
}

// The numbers of the `most` largest, in order; of equal ones that which comes first.
void choose_largest(const double* values, int n, int most, std::vector<std::int32_t>& out) {
  out.resize(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  const auto kept = std::min(most, n);
  std::partial_sort(out.begin(), out.begin() + kept, out.end(), [&](std::int32_t a, std::int32_t b) {
    return values[a] > values[b] || (values[a] == values[b] && a < b);
  });
  out.resize(static_cast<std::size_t>(kept));
}

}  // namespace

template <class Real>
const std::vector<double>& ArcFilterScorer<Real>::heads() {
  const int n = n_words() + 1;
  heads_.assign(static_cast<std::size_t>(n) * n, log_zero);
  for (int m = 1; m < n; ++m) {
    check_interruption(of_an_arc * n);
    for (int h = 0; h < n; ++h) {
      if (h == m) continue;
      each_head_feature(h, m, [&](std::uint32_t weight) { sums_.add(weight); });
      sums_.end(&heads_[static_cast<std::size_t>(m) * n + h]);
    }
  }
  sums_.flush();
  for (int m = 1; m < n; ++m) subtract_log_sum(heads_.data() + static_cast<std::size_t>(m) * n, n);
  return heads_;
}

template <class Real>
const std::vector<double>& ArcFilterScorer<Real>::labels(int h, int m) {
  labels_.resize(static_cast<std::size_t>(n_labels_));
  each_label_feature(h, m, [&](std::uint32_t row) { row_.add(row); });
  row_.take(labels_);
  subtract_log_sum(labels_.data(), n_labels_);
  return labels_;
}

template class ArcFilterScorer<float>;
template class ArcFilterScorer<double>;

void ArcFilter::keep(const std::int32_t* atoms, int n_words, Workspace& work, std::vector<TypedArc>& out) const {
  const int n = n_words + 1;
  out.clear();
  work.scorer.turn_to(atoms, n_words, weights_, 1);
  const std::vector<double>& all = work.scorer.heads();
  const auto log_p = [&](int h, int m) { return all[static_cast<std::size_t>(m) * n + h]; };
  int root = 1;
  for (int m = 2; m < n; ++m)
    if (log_p(0, m) > log_p(0, root)) root = m;
  const double margin = std::log(options_.threshold);
  for (int m = 1; m < n; ++m) {
    choose_largest(all.data() + static_cast<std::size_t>(m) * n, n, std::min(options_.most_heads, n - 1), work.heads);
    const double best = log_p(work.heads[0], m);
    std::erase_if(work.heads, [&](std::int32_t h) { return log_p(h, m) < best + margin; });
    const std::int32_t next = m == root ? 0 : m < root ? m + 1 : m - 1;
    if (std::find(work.heads.begin(), work.heads.end(), next) == work.heads.end()) work.heads.push_back(next);
    double best_label = 0;
    check_interruption(of_an_arc * n_labels_);
    for (const std::int32_t h : work.heads) {
      const std::vector<double>& labels = work.scorer.labels(h, m);
      choose_largest(labels.data(), n_labels_, options_.most_labels, work.labels);
      if (h == work.heads[0]) best_label = labels[work.labels[0]];
      for (const std::int32_t l : work.labels)
        if (l == work.labels[0] || log_p(h, m) + labels[l] >= best + best_label + margin) out.push_back({h, m, l});
    }
  }
}

void all_arcs(int n_words, int n_labels, std::vector<TypedArc>& out) {
  out.clear();
  for (int h = 0; h <= n_words; ++h)
    for (int m = 1; m <= n_words; ++m)
      for (int l = 0; h != m && l < n_labels; ++l) out.push_back({h, m, l});
}

namespace {

// Minus the sum of log p(h | m) + log p(l | h, m) over the words whose head, and whose label, is known.
class ArcFilterLikelihood final : public FlatLikelihood {
 public:
  ArcFilterLikelihood(ArcFilterOracle& oracle, int threads)
      : FlatLikelihood(oracle, threads), oracle_(oracle),
        scorers_(static_cast<std::size_t>(workers(oracle.size(), threads)), oracle.scorer()) {}

 protected:
  double example(std::size_t thread, std::int64_t i, SparseVector* gradient) override {
    const TreeExamples& all = oracle_.examples();
    const double weight = all.weight(i);
    if (weight == 0) return 0;
    ArcFilterScorer<double>& scorer = scorers_[thread];
    oracle_.turn(scorer, i);
    const std::vector<double>& heads = scorer.heads();
    const int n = all.n_words(i) + 1;
    double loss = 0;
    const auto add = [&](std::uint32_t index, double share) { gradient->push_back({index, weight * share}); };
    for (int m = 1; m < n; ++m) {
      const int right = all.heads_of(i)[m - 1], label = all.labels_of(i)[m - 1];
      if (right < 0) continue;
      check_interruption(of_an_arc * n);
      const double* row = heads.data() + static_cast<std::size_t>(m) * n;
      loss -= row[right];
      for (int h = 0; h < n && gradient; ++h) {
        const double share = std::exp(row[h]) - (h == right);
        if (h == m || std::abs(share) < negligible_) continue;
        scorer.each_head_feature(h, m, [&](std::uint32_t index) { add(index, share); });
      }
      if (label < 0) continue;
      const std::vector<double>& labels = scorer.labels(right, m);
      loss -= labels[static_cast<std::size_t>(label)];
      for (int l = 0; l < oracle_.n_labels() && gradient; ++l) {
        const double share = std::exp(labels[static_cast<std::size_t>(l)]) - (l == label);
        if (std::abs(share) < negligible_) continue;
        scorer.each_label_feature(right, m,
                                  [&](std::uint32_t row_of) { add(row_of + static_cast<unsigned>(l), share); });
      }
    }
    return weight * loss;
  }

 private:
  // Most heads and labels are next to impossible, and would cost as much as the others.
  static constexpr double negligible_ = 1e-7;
  ArcFilterOracle& oracle_;
  std::vector<ArcFilterScorer<double>> scorers_;
};

}  // namespace

std::unique_ptr<Likelihood> ArcFilterOracle::likelihood(const LikelihoodOptions&, int threads) {
  return std::make_unique<ArcFilterLikelihood>(*this, threads);
}

}  // namespace margent
