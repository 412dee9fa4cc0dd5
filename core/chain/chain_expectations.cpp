#include "chain/chain_expectations.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "interruption.hpp"

namespace margent {

namespace {
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
// Scaled sums are trusted while what underflow may cut off (see SumKernels::backward) has a probability below 1e-10.
constexpr float trusted_ratio = 1e28f;
// After so many sequences the single-precision counts of pairs go into the table.
constexpr int flush_after = 32;
}  // namespace

ChainExpectations::ChainExpectations(const LinearChain& model, const std::vector<float>& label_costs,
                                     bool best_completion)
    : model_(model), best_completion_(best_completion), narrow_(model) {
  if (std::any_of(label_costs.begin(), label_costs.end(), [](float cost) { return cost != 1; }))
    for (const float cost : label_costs) log_costs_.push_back(std::log(cost));
}

template <class Real>
void ChainExpectations::take_costs(int n, Real* emissions, double times) const {
  for (int t = 0; t < n && !log_costs_.empty(); ++t, emissions += model_.shape.width)
    for (int y = 0; y < model_.shape.n_labels; ++y) emissions[y] -= static_cast<Real>(times * log_costs_[y]);
}

void ChainExpectations::refresh(double scale) {
  const ChainShape& s = model_.shape;
  scale_ = scale;
  wide_.reset();
  if (s.order > 1) return;
  const int n = s.n_labels, width = s.width;
  // exp(scale * scores - largest) of a row or of all rows.
  const auto exponentials = [&](const float* scores, int rows, float* out) {
    double top = minus_infinity;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < n; ++j) top = std::max(top, scale * scores[i * width + j]);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < width; ++j)
        out[i * width + j] = j < n ? static_cast<float>(std::exp(scale * scores[i * width + j] - top)) : 0.0f;
    return top;
  };
  transition_top_ = exponentials(model_.transitions, n, forward_.need(n * width));
  start_top_ = exponentials(model_.transitions + n * width, 1, start_.need(width));
  end_top_ = exponentials(model_.end, 1, end_.need(width));
  float* backward = backward_.need(n * width);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < width; ++i) backward[j * width + i] = i < n ? forward_[i * width + j] : 0.0f;
}

void ChainExpectations::clear() {
  const ChainShape& s = model_.shape;
  table_.assign((s.histories + s.contexts) * s.width, 0.0);
  if (s.order == 1) std::memset(pairs_.need(s.n_labels * s.width), 0, s.n_labels * s.width * sizeof(float));
  in_pairs_ = 0;
}

void ChainExpectations::flush() {
  if (!in_pairs_) return;
  const int size = model_.shape.n_labels * model_.shape.width;
  for (int i = 0; i < size; ++i) {
    table_[i] += static_cast<double>(pairs_[i]) * forward_[i];
    pairs_[i] = 0;
  }
  in_pairs_ = 0;
}

double ChainExpectations::add(const Examples& examples, std::int64_t sequence, double weight, float* nodes,
                              float* edges) {
  if (examples.length(sequence) == 0 || weight == 0) return 0;
  if (best_completion_ && !examples.complete(sequence)) {
    if (!complete(examples, sequence)) return 0;
    Examples completed = examples;
    completed.hidden = nullptr;
    completed.labels = completion_.data() - examples.begin(sequence);
    return add(completed, sequence, weight, nodes, edges);
  }
  double loss;
  if (model_.shape.order == 1 && !(model_.edges && examples.edges.ids) &&
      add_scaled(examples, sequence, weight, nodes, &loss))
    return loss;
  return add_in_logs(examples, sequence, weight, nodes, edges);
}

bool ChainExpectations::complete(const Examples& examples, std::int64_t sequence) {
  const ChainScores<float> scores = narrow_.score(examples, sequence);
  take_costs(scores.length, narrow_.emissions(), 1 / scale_);  // scores are not scaled here
  examples.keep_right(sequence, model_.shape.n_labels, model_.shape.width, narrow_.emissions());
  completion_.resize(scores.length);
  return chain_best(scores, completing_, completion_.data()) > minus_infinity;
}

float* ChainExpectations::scaled_emissions(const Examples& examples, std::int64_t sequence) {
  narrow_.score(examples, sequence);
  float* emissions = narrow_.emissions();
  const std::size_t size = static_cast<std::size_t>(examples.length(sequence)) * model_.shape.width;
  if (scale_ != 1)
    for (std::size_t i = 0; i < size; ++i) emissions[i] *= static_cast<float>(scale_);
  return emissions;
}

void ChainExpectations::exponentials(int n, const float* emissions) {
  const ChainShape& s = model_.shape;
  const std::size_t size = static_cast<std::size_t>(n) * s.width;
  std::memcpy(sums_.exp_emissions.need(size), emissions, size * sizeof(float));
  sum_kernels().exp_rows(n, s.n_labels, s.width, sums_.exp_emissions.data(), tops_.need(n));
}

bool ChainExpectations::marginals(const Examples& examples, std::int64_t sequence, double* nodes, double* log_z) {
  const ChainShape& s = model_.shape;
  const int n = examples.length(sequence);
  if (s.order > 1 || (model_.edges && examples.edges.ids) || n == 0) return false;
  const std::int64_t begin = examples.begin(sequence);
  if (!has_ordinary_values(examples.unigrams, begin, begin + n)) return false;
  exponentials(n, scaled_emissions(examples, sequence));
  if (!sums_scaled(n, log_z)) return false;
  const float *alpha = sums_.alpha.data(), *beta = sums_.beta.data();
  for (int t = 0; t < n; ++t, alpha += s.width, beta += s.width, nodes += s.n_labels) {
    double sum = 0;
    for (int y = 0; y < s.n_labels; ++y) sum += nodes[y] = static_cast<double>(alpha[y]) * beta[y];
    for (int y = 0; y < s.n_labels; ++y) nodes[y] /= sum;
  }
  return true;
}

// Forward and backward sums of exponentials with scaling (Rabiner 1989, section V.A), e_t being row t of exp_emissions
// and A = exp(transitions - transition_top_); false where they cannot be trusted:
//
//   alpha_0(j) = start(j) e_0(j) / norms[0]
//   alpha_t(j) = e_t(j) / norms[t] * sum over i of alpha_{t-1}(i) A(i, j)       norms[t] makes the sum over j 1
//   beta_{n-1}(i) = end(i) / total,   total = sum over j of alpha_{n-1}(j) end(j)
//   beta_t(i) = sum over j of A(i, j) e_{t+1}(j) beta_{t+1}(j) / norms[t + 1]
//
//   p(j at t) = alpha_t(j) beta_t(j),   log Z = log total + sum over t of (log norms[t] + tops_[t])
//                                               + (n - 1) transition_top_ + start_top_ + end_top_
bool ChainExpectations::sums_scaled(int n, double* log_z) {
  const ChainShape& s = model_.shape;
  const SumKernels& kernel = sum_kernels();
  const ExpChain chain{forward_.data(), backward_.data(), start_.data(), end_.data()};
  const std::size_t size = static_cast<std::size_t>(n) * s.width;
  float* alpha = sums_.alpha.need(size);
  float* norms = sums_.norms.need(n);
  kernel.forward(n, s.n_labels, s.width, chain, sums_.exp_emissions.data(), alpha, norms);
  float total = 0;
  for (int j = 0; j < s.n_labels; ++j) total += alpha[size - s.width + j] * end_[j];
  if (!(total * trusted_ratio > 1)) return false;
  const float ratio = kernel.backward(n, s.n_labels, s.width, chain, sums_.exp_emissions.data(), norms, total,
                                      sums_.beta.need(size + s.width));
  if (!(ratio < trusted_ratio)) return false;
  double sum = (n - 1) * transition_top_ + start_top_ + end_top_ + std::log(static_cast<double>(total));
  for (int t = 0; t < n; ++t) {
    if (!(norms[t] * trusted_ratio > 1)) return false;
    sum += std::log(static_cast<double>(norms[t])) + tops_[t];
  }
  *log_z = sum;
  return true;
}

void ChainExpectations::expect_scaled(int n, double weight, float* nodes) {
  const ChainShape& s = model_.shape;
  const float factor = static_cast<float>(weight);
  double* table = table_.data();
  sum_kernels().expectations(n, s.n_labels, s.width, sums_.exp_emissions.data(), sums_.norms.data(), sums_.alpha.data(),
                             sums_.beta.data(), factor, nodes, pairs_.data());
  const std::size_t last = static_cast<std::size_t>(n - 1) * s.width;
  for (int j = 0; j < s.n_labels; ++j) {
    table[s.start_history() * s.width + j] += weight * (sums_.alpha[j] * sums_.beta[j]);
    table[s.histories * s.width + j] += weight * (sums_.alpha[last + j] * sums_.beta[last + j]);
  }
}

bool ChainExpectations::add_scaled(const Examples& examples, std::int64_t sequence, double weight, float* nodes,
                                   double* loss) {
  const ChainShape& s = model_.shape;
  const int n = examples.length(sequence);
  const std::int32_t* labels = examples.labels + examples.begin(sequence);
  const bool complete = examples.complete(sequence);
  float* emissions = scaled_emissions(examples, sequence);
  take_costs(n, emissions);

  double known = 0;
  if (complete) {
    double path = model_.transitions[s.n_labels * s.width + labels[0]] + static_cast<double>(model_.end[labels[n - 1]]);
    for (int t = 0; t < n; ++t) {
      known += emissions[static_cast<std::size_t>(t) * s.width + labels[t]];
      if (t > 0) path += model_.transitions[labels[t - 1] * s.width + labels[t]];
    }
    known += scale_ * path;
    if (known == minus_infinity) {
      *loss = 0;
      return true;
    }
  }
  exponentials(n, emissions);
  double log_z;
  if (!sums_scaled(n, &log_z)) return false;
  if (!complete) {
    // First the known labels: both sums must be trusted before anything is added.
    examples.keep_right(sequence, s.n_labels, s.width, emissions);
    for (int t = 0; t < n; ++t) {
      const float* row = emissions + static_cast<std::size_t>(t) * s.width;
      if (*std::max_element(row, row + s.n_labels) > static_cast<float>(minus_infinity)) continue;
      *loss = 0;
      return true;
    }
    std::swap(sums_, other_);
    exponentials(n, emissions);
    const bool trusted = sums_scaled(n, &known);
    if (trusted && nodes) expect_scaled(n, -weight, nodes);
    std::swap(sums_, other_);
    if (!trusted) return false;
  }
  *loss = weight * std::max(log_z - known, 0.0);  // below zero is rounding
  if (!nodes) return true;
  expect_scaled(n, weight, nodes);
  if (complete) count_known(labels, n, weight, nodes, nullptr);
  if (++in_pairs_ >= flush_after) flush();
  return true;
}

// Takes away the counts of a complete labelling.
void ChainExpectations::count_known(const std::int32_t* labels, int n, double weight, float* nodes, float* edges) {
  const ChainShape& s = model_.shape;
  std::int64_t history = s.start_history();
  for (int t = 0; t < n; ++t) {
    const int y = labels[t];
    nodes[static_cast<std::size_t>(t) * s.width + y] -= static_cast<float>(weight);
    table_[history * s.width + y] -= weight;
    if (edges) edges[(t * s.base + (t ? labels[t - 1] : s.n_labels)) * s.width + y] -= static_cast<float>(weight);
    history = (history * s.base + y) % s.histories;
  }
  table_[(s.histories + history / s.base) * s.width + labels[n - 1]] -= weight;
}

double ChainExpectations::add_in_logs(const Examples& examples, std::int64_t sequence, double weight, float* nodes,
                                      float* edges) {
  const ChainShape& s = model_.shape;
  const int n = examples.length(sequence);
  const std::int32_t* labels = examples.labels + examples.begin(sequence);
  const bool complete = examples.complete(sequence);
  if (!wide_) wide_ = std::make_unique<ChainScorer<double>>(model_, scale_, ChainUse::sums);
  const ChainScores<double> scores = wide_->score(examples, sequence);
  take_costs(n, wide_->emissions());
  double known;
  if (complete) {
    known = chain_score(scores, labels);
    if (known == minus_infinity) return 0;
  } else {
    double* emissions = wide_->emissions();
    const std::vector<double> kept(emissions, emissions + static_cast<std::size_t>(n) * s.width);
    examples.keep_right(sequence, s.n_labels, s.width, emissions);
    marginals_.resize(static_cast<std::size_t>(n) * s.n_labels);
    known = nodes ? chain_marginals(scores, work_, marginals_.data(), nullptr) : chain_log_partition(scores, work_);
    if (known == minus_infinity) return 0;
    if (nodes) expect_in_logs(scores, known, -weight, nodes, edges);
    std::copy(kept.begin(), kept.end(), emissions);
  }
  if (!nodes) return weight * (chain_log_partition(scores, work_) - known);
  marginals_.resize(static_cast<std::size_t>(n) * s.n_labels);
  const double log_z = chain_marginals(scores, work_, marginals_.data(), nullptr);
  expect_in_logs(scores, log_z, weight, nodes, edges);
  if (complete) count_known(labels, n, weight, nodes, edges);
  return weight * (log_z - known);
}

double ChainExpectations::add_right(const Examples& examples, std::int64_t sequence, double weight, float* nodes) {
  const ChainShape& s = model_.shape;
  const int n = examples.length(sequence);
  if (n == 0 || weight == 0) return 0;
  double known;
  if (s.order == 1 && !(model_.edges && examples.edges.ids)) {
    float* emissions = scaled_emissions(examples, sequence);
    take_costs(n, emissions);
    examples.keep_right(sequence, s.n_labels, s.width, emissions);
    bool possible = true;
    for (int t = 0; t < n; ++t) {
      const float* row = emissions + static_cast<std::size_t>(t) * s.width;
      possible &= *std::max_element(row, row + s.n_labels) > static_cast<float>(minus_infinity);
    }
    if (!possible) return 0;
    exponentials(n, emissions);
    if (sums_scaled(n, &known)) {
      expect_scaled(n, weight, nodes);
      if (++in_pairs_ >= flush_after) flush();
      return weight * known;
    }
  }
  if (!wide_) wide_ = std::make_unique<ChainScorer<double>>(model_, scale_, ChainUse::sums);
  const ChainScores<double> scores = wide_->score(examples, sequence);
  take_costs(n, wide_->emissions());
  examples.keep_right(sequence, s.n_labels, s.width, wide_->emissions());
  marginals_.resize(static_cast<std::size_t>(n) * s.n_labels);
  known = chain_marginals(scores, work_, marginals_.data(), nullptr);
  if (known == minus_infinity) return 0;
  expect_in_logs(scores, known, weight, nodes, nullptr);
  return weight * known;
}

// The expected counts after chain_marginals: exp(alpha + beta - log_z) of each state, exp(alpha + score + beta - log_z)
// of each step, times `factor`.
void ChainExpectations::expect_in_logs(const ChainScores<double>& scores, double log_z, double factor, float* nodes,
                                       float* edges) {
  const ChainShape& s = scores.shape;
  const int n = scores.length;
  const double *alpha = work_.alpha.data(), *beta = work_.beta.data();
  for (int t = 0; t < n; ++t)
    for (int y = 0; y < s.n_labels; ++y) {
      const double p = factor * marginals_[static_cast<std::size_t>(t) * s.n_labels + y];
      nodes[static_cast<std::size_t>(t) * s.width + y] += static_cast<float>(p);
      if (t > 0) continue;
      table_[s.start_history() * s.width + y] += p;
      if (edges) edges[s.n_labels * s.width + y] += static_cast<float>(p);
    }
  for (int t = 1; t < n; ++t) {
    check_interruption(8 * s.histories * s.width);
    const double* edge_scores = scores.edges ? scores.edges->at(t) : nullptr;
    const double* emissions = scores.emissions + static_cast<std::ptrdiff_t>(t) * s.width;
    const double shift = work_.alpha_shift[t - 1] + work_.beta_shift[t] - log_z;
    for (std::int64_t c = 0; c < s.contexts; ++c)
      for (int p = 0; p < s.n_labels; ++p) {
        const double a = alpha[(t - 1) * s.states() + c * s.width + p] + shift;
        if (a == minus_infinity) continue;
        const std::int64_t history = c * s.base + p;
        const double* row = scores.transitions + history * s.width;
        const double* b = beta + t * s.states() + s.next_context(c, p) * s.width;
        const double* edge_row = edge_scores ? edge_scores + p * s.width : nullptr;
        float* edge_out = edges ? edges + (t * s.base + p) * s.width : nullptr;
        for (int y = 0; y < s.n_labels; ++y) {
          const double x = a + row[y] + emissions[y] + b[y] + (edge_row ? edge_row[y] : 0.0);
          if (!(x > -700)) continue;
          const double count = factor * std::exp(x);
          table_[history * s.width + y] += count;
          if (edge_out) edge_out[y] += static_cast<float>(count);
        }
      }
  }
  const double shift = work_.alpha_shift[n - 1] - log_z;
  for (std::int64_t c = 0; c < s.contexts; ++c)
    for (int y = 0; y < s.n_labels; ++y) {
      const double x = alpha[(n - 1) * s.states() + c * s.width + y] + scores.end[c * s.width + y] + shift;
      if (x > -700) table_[s.histories * s.width + c * s.width + y] += factor * std::exp(x);
    }
}

}  // namespace margent
