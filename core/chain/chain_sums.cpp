// Sums over all labellings of a chain: log Z, probabilities of labels, pairs and spans, samples.
//
// alpha is that of chain_search.cpp with log-sum-exp instead of max. beta sums over what may follow a state: the state
// after (c, y) with the next label z is (c', z), c' being the last k - 1 labels of c y.
//
//   alpha[t][c, y] = emissions[t][y] + edges[t][last label of c][y]
//                    + log sum over f of exp(alpha[t - 1][f c] + transitions[f c][y])
//   beta[n - 1][c, y] = end[c][y]
//   beta[t][c, y] = log sum over z of exp(transitions[c y][z] + edges[t + 1][y][z] + emissions[t + 1][z]
//                                         + beta[t + 1][c', z])
//   log Z = log sum over (c, y) of exp(alpha[n - 1][c, y] + end[c][y])
//
//   p(y at t) = sum over c of exp(alpha[t][c, y] + beta[t][c, y] - log Z)
//   p(y at t - 1, z at t) = sum over c of exp(alpha[t - 1][c, y] + transitions[c y][z] + edges[t][y][z]
//                                             + emissions[t][z] + beta[t][c', z] - log Z)
//
// Each row is kept with its largest value at 0, and what was subtracted in alpha_shift and beta_shift. With
// exp_transitions (order 1) the sum over f is a vector of exponentials times a matrix that is made once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "chain/chain_lattice.hpp"
#include "interruption.hpp"
#include "random.hpp"

namespace margent {

using namespace lattice;

template <class Real>
ExpTransitions<Real>::ExpTransitions(const ChainShape& shape, const Real* transitions) {
  const int n = shape.n_labels, width = shape.width;
  scale = -std::numeric_limits<Real>::infinity();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) scale = std::max(scale, transitions[i * width + j]);
  if (scale == -std::numeric_limits<Real>::infinity()) scale = 0;
  forward.grow(n * width);
  backward.grow(n * width);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      forward[i * width + j] = backward[j * width + i] = std::exp(transitions[i * width + j] - scale);
}

namespace {

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == zero<double> ? a : a + std::log1p(std::exp(b - a));
}

// log of the sum over i of exp(values[i]); -inf for none.
template <class Real>
double log_sum(const Real* values, std::int64_t n) {
  Real top = zero<Real>;
  for (std::int64_t i = 0; i < n; ++i) top = std::max(top, values[i]);
  if (top == zero<Real>) return top;
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(values[i] - top));
  return top + std::log(sum);
}

// sums[j] = sum over i < n of weights[i] * rows[i * width + j].
template <class Real>
void weighted_sum(int n, const Real* weights, const Real* rows, int width, Real* sums) {
  std::fill(sums, sums + width, Real(0));
  for (int i = 0; i < n; ++i) {
    if (weights[i] == 0) continue;
    const Real a = weights[i];
    const Real* row = rows + static_cast<std::ptrdiff_t>(i) * width;
    for (int j = 0; j < width; ++j) sums[j] += a * row[j];
  }
}

// Below this, what underflow has cut off may matter: then the sum is made again in log space.
template <class Real>
constexpr Real trusted_sum = std::numeric_limits<Real>::min() / std::numeric_limits<Real>::epsilon() * 1000;

// The forward step of an order-1 chain through exp_transitions. `before` has its largest value at 0.
//   out[j] = log sum over i of exp(before[i]) * exp(transitions[i][j] - scale)  + scale + emissions[j]
template <class Real>
void forward_step_exp(const ChainScores<Real>& scores, const Real* before, const Real* emissions, Buffer<Real>& memory,
                      Real* out) {
  const ChainShape& s = scores.shape;
  Real* weights = memory.need(2 * s.width);
  Real* sums = weights + s.width;
  for (int i = 0; i < s.n_labels; ++i) weights[i] = std::exp(before[i]);
  weighted_sum(s.n_labels, weights, scores.exp_transitions->forward.data(), s.width, sums);
  for (int j = 0; j < s.n_labels; ++j) {
    if (sums[j] > trusted_sum<Real>) {
      out[j] = std::log(sums[j]) + scores.exp_transitions->scale + emissions[j];
      continue;
    }
    for (int i = 0; i < s.n_labels; ++i) weights[i] = before[i] + scores.transitions[i * s.width + j];
    out[j] = static_cast<Real>(log_sum(weights, s.n_labels)) + emissions[j];
  }
}

//   out[y] = log sum over j of exp(transitions[y][j] - scale) * exp(emissions[j] + after[j] - top)  + scale + top
template <class Real>
void backward_step_exp(const ChainScores<Real>& scores, const Real* after, const Real* emissions, Buffer<Real>& memory,
                       Real* out) {
  const ChainShape& s = scores.shape;
  Real* values = memory.need(3 * s.width);
  Real *weights = values + s.width, *sums = weights + s.width;
  Real top = zero<Real>;
  for (int j = 0; j < s.n_labels; ++j) {
    values[j] = emissions[j] + after[j];
    top = std::max(top, values[j]);
  }
  for (int j = 0; j < s.n_labels; ++j) weights[j] = top == zero<Real> ? Real(0) : std::exp(values[j] - top);
  weighted_sum(s.n_labels, weights, scores.exp_transitions->backward.data(), s.width, sums);
  for (int y = 0; y < s.n_labels; ++y) {
    if (sums[y] > trusted_sum<Real>) {
      out[y] = std::log(sums[y]) + scores.exp_transitions->scale + top;
      continue;
    }
    for (int j = 0; j < s.n_labels; ++j) weights[j] = values[j] + scores.transitions[y * s.width + j];
    out[y] = static_cast<Real>(log_sum(weights, s.n_labels));
  }
}

// The labels that are not forbidden at a position, ascending.
template <class Real>
void find_live(const ChainScores<Real>& scores, int position, std::vector<std::int32_t>& live) {
  const Real* emissions = scores.emissions + static_cast<std::ptrdiff_t>(position) * scores.shape.width;
  live.clear();
  for (int y = 0; y < scores.shape.n_labels; ++y)
    if (emissions[y] > zero<Real>) live.push_back(y);
}

// Whether a context can stand before a position: its most recent label is not forbidden at the position before.
template <class Real>
bool can_precede(const ChainScores<Real>& scores, std::int64_t context, int position) {
  const ChainShape& s = scores.shape;
  if (s.order == 1) return true;
  const int label = s.last_label(context);
  if (label == s.n_labels) return position == 0;
  return position > 0 && scores.emissions[static_cast<std::ptrdiff_t>(position - 1) * s.width + label] > zero<Real>;
}

template <class Real>
void forward_log(const ChainScores<Real>& scores, ChainWorkspace<Real>& work) {
  const ChainShape& s = scores.shape;
  const Kernels<Real>& kernel = kernels<Real>();
  Real* alpha = work.alpha.need(scores.length * s.states());
  Real* top = work.sums.need(2 * s.width);
  Real* sum = top + s.width;
  work.alpha_shift.resize(scores.length);
  first_position(scores, alpha);
  work.alpha_shift[0] = shift_to_zero(s, alpha);
  for (int t = 1; t < scores.length; ++t) {
    check_interruption(s.histories * s.width);
    const Real* before = alpha + (t - 1) * s.states();
    Real* out = alpha + t * s.states();
    const Real* emissions = scores.emissions + static_cast<std::ptrdiff_t>(t) * s.width;
    const Real* edges = edges_at(scores, t);
    if (scores.exp_transitions && !edges) {
      forward_step_exp(scores, before, emissions, work.row, out);
      work.alpha_shift[t] = work.alpha_shift[t - 1] + shift_to_zero(s, out);
      continue;
    }
    const Real* transitions = transitions_at(scores, edges, work.matrix);
    find_live(scores, t, work.live);
    for (std::int64_t c = 0; c < s.contexts; ++c, out += s.width) {
      std::fill(out, out + s.width, zero<Real>);
      if (!can_precede(scores, c, t)) continue;
      const Predecessors p = predecessors(s, c);
      kernel.max_plus(p.count, before + p.state, p.state_stride, transitions + p.row, p.row_stride, s.width, top);
      std::fill(sum, sum + s.width, Real(0));
      for (int f = 0; f < p.count; ++f) {
        const Real a = before[p.state + f * p.state_stride];
        if (a == zero<Real>) continue;
        const Real* row = transitions + p.row + f * p.row_stride;
        for (const std::int32_t j : work.live)
          if (top[j] > zero<Real>) sum[j] += std::exp(a + row[j] - top[j]);
      }
      const Real* edge_row = edges && s.order > 1 ? edges + s.last_label(c) * s.width : nullptr;
      for (const std::int32_t j : work.live) {
        if (top[j] == zero<Real>) continue;
        out[j] = top[j] + std::log(sum[j]) + emissions[j] + (edge_row ? edge_row[j] : Real(0));
      }
    }
    work.alpha_shift[t] = work.alpha_shift[t - 1] + shift_to_zero(s, alpha + t * s.states());
  }
}

template <class Real>
void backward_log(const ChainScores<Real>& scores, ChainWorkspace<Real>& work) {
  const ChainShape& s = scores.shape;
  Real* beta = work.beta.need(scores.length * s.states());
  Real* values = work.sums.need(s.width);
  Real* last = beta + (scores.length - 1) * s.states();
  std::copy(scores.end, scores.end + s.states(), last);
  work.beta_shift.resize(scores.length);
  work.beta_shift[scores.length - 1] = shift_to_zero(s, last);
  for (int t = scores.length - 2; t >= 0; --t) {
    check_interruption(s.histories * s.width);
    const Real* after = beta + (t + 1) * s.states();
    Real* out = beta + t * s.states();
    const Real* emissions = scores.emissions + static_cast<std::ptrdiff_t>(t + 1) * s.width;
    const Real* edges = edges_at(scores, t + 1);
    if (scores.exp_transitions && !edges) {
      backward_step_exp(scores, after, emissions, work.row, out);
      work.beta_shift[t] = work.beta_shift[t + 1] + shift_to_zero(s, out);
      continue;
    }
    std::fill(out, out + s.states(), zero<Real>);
    find_live(scores, t, work.live);
    find_live(scores, t + 1, work.states);
    for (std::int64_t c = 0; c < s.contexts; ++c) {
      if (!can_precede(scores, c, t)) continue;
      for (const std::int32_t y : work.live) {
        const Real* row = scores.transitions + (c * s.base + y) * s.width;
        const Real* next = after + s.next_context(c, y) * s.width;
        Real* value = values;
        for (const std::int32_t j : work.states)
          *value++ = row[j] + emissions[j] + next[j] + (edges ? edges[y * s.width + j] : Real(0));
        out[c * s.width + y] = static_cast<Real>(log_sum(values, value - values));
      }
    }
    work.beta_shift[t] = work.beta_shift[t + 1] + shift_to_zero(s, out);
  }
}

template <class Real>
double total_of_last(const ChainScores<Real>& scores, const ChainWorkspace<Real>& work) {
  const ChainShape& s = scores.shape;
  const Real* last = work.alpha.data() + (scores.length - 1) * s.states();
  double total = zero<double>;
  for (std::int64_t c = 0; c < s.contexts; ++c)
    for (int y = 0; y < s.n_labels; ++y)
      total = log_add(total, static_cast<double>(last[c * s.width + y]) + scores.end[c * s.width + y]);
  return total + work.alpha_shift[scores.length - 1];
}

// out[i] += exp(x) for all (i, x) that `each` visits, then divided by the sum; out is zero before.
template <class Each>
void exp_normalized(const Each& each, double* out, std::int64_t size) {
  double top = zero<double>, sum = 0;
  each([&](std::int64_t, double x) { top = std::max(top, x); });
  each([&](std::int64_t i, double x) {
    if (x == zero<double>) return;
    const double e = std::exp(x - top);
    out[i] += e;
    sum += e;
  });
  for (std::int64_t i = 0; i < size; ++i) out[i] /= sum;
}

}  // namespace

template <class Real>
double chain_log_partition(const ChainScores<Real>& scores, ChainWorkspace<Real>& work) {
  if (scores.length == 0) return 0;
  forward_log(scores, work);
  return total_of_last(scores, work);
}

template <class Real>
double chain_marginals(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, double* nodes, double* pairs) {
  const ChainShape& s = scores.shape;
  if (scores.length == 0) return 0;
  const double log_z = chain_log_partition(scores, work);
  if (log_z == zero<double>) return log_z;
  backward_log(scores, work);
  const Real* alpha = work.alpha.data();
  const Real* beta = work.beta.data();
  const std::int64_t pair_size = s.base * s.n_labels;
  std::fill(nodes, nodes + static_cast<std::int64_t>(scores.length) * s.n_labels, 0.0);
  if (pairs) std::fill(pairs, pairs + scores.length * pair_size, 0.0);
  // Each position is normalised by its own sum, which is Z in exact arithmetic: rounding cannot make it more than 1.
  for (int t = 0; t < scores.length; ++t) {
    check_interruption(pairs ? 8 * s.histories * s.width : 8 * s.states());
    const auto each_state = [&](auto visit) {
      for (std::int64_t c = 0; c < s.contexts; ++c) {
        const std::int64_t row = t * s.states() + c * s.width;
        for (int y = 0; y < s.n_labels; ++y) visit(y, static_cast<double>(alpha[row + y]) + beta[row + y]);
      }
    };
    exp_normalized(each_state, nodes + static_cast<std::int64_t>(t) * s.n_labels, s.n_labels);
    if (!pairs) continue;
    double* out = pairs + t * pair_size;
    if (t == 0) {
      std::copy(nodes, nodes + s.n_labels, out + s.n_labels * s.n_labels);
      continue;
    }
    const Real* edges = edges_at(scores, t);
    const Real* emissions = scores.emissions + static_cast<std::ptrdiff_t>(t) * s.width;
    const auto each_pair = [&](auto visit) {
      for (std::int64_t c = 0; c < s.contexts; ++c)
        for (int p = 0; p < s.n_labels; ++p) {
          const double a = alpha[(t - 1) * s.states() + c * s.width + p];
          if (a == zero<double>) continue;
          const Real* row = scores.transitions + (c * s.base + p) * s.width;
          const Real* b = beta + t * s.states() + s.next_context(c, p) * s.width;
          for (int y = 0; y < s.n_labels; ++y)
            visit(p * s.n_labels + y, a + row[y] + emissions[y] + b[y] + (edges ? edges[p * s.width + y] : Real(0)));
        }
    };
    exp_normalized(each_pair, out, pair_size);
  }
  return log_z;
}

template <class Real>
double chain_span_log_probability(const ChainScores<Real>& scores, const ChainWorkspace<Real>& work,
                                  double log_partition, const SpanQuery& query) {
  const ChainShape& s = scores.shape;
  if (log_partition == zero<double>) return zero<double>;   // no labelling, and no beta
  std::vector<std::pair<std::int64_t, double>> live, next;  // states with the log weight of what leads to them
  const auto merge = [](std::vector<std::pair<std::int64_t, double>>& list) {
    std::sort(list.begin(), list.end());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (kept && list[kept - 1].first == list[i].first)
        list[kept - 1].second = log_add(list[kept - 1].second, list[i].second);
      else
        list[kept++] = list[i];
    }
    list.resize(kept);
  };
  const auto step = [&](std::int64_t state, int position, int y) {
    const std::int64_t c = state / s.width;
    const int p = static_cast<int>(state % s.width);
    double x = static_cast<double>(scores.transitions[(c * s.base + p) * s.width + y]) +
               scores.emissions[static_cast<std::ptrdiff_t>(position) * s.width + y];
    if (const Real* edges = edges_at(scores, position)) x += edges[p * s.width + y];
    return std::pair<std::int64_t, double>(s.next_context(c, p) * s.width + y, x);
  };

  const Real* alpha = work.alpha.data();
  if (query.begin == 0) {
    if (!query.before[s.n_labels]) return zero<double>;
    const std::int64_t first = s.start_context() * s.width + query.labels[0];
    for (std::int64_t state = first; state < first + query.n_sublabels(query.labels[0]); ++state)
      live.push_back({state, alpha[state] + work.alpha_shift[0]});
  } else {
    const Real* before = alpha + (query.begin - 1) * s.states();
    for (std::int64_t c = 0; c < s.contexts; ++c)
      for (int p = 0; p < s.n_labels; ++p) {
        const std::int64_t state = c * s.width + p;
        if (!query.before[p] || before[state] == zero<Real>) continue;
        for (int y = query.labels[0]; y < query.labels[0] + query.n_sublabels(query.labels[0]); ++y) {
          const auto [to, x] = step(state, query.begin, y);
          live.push_back({to, before[state] + work.alpha_shift[query.begin - 1] + x});
        }
      }
    merge(live);
  }
  for (int t = query.begin + 1; t < query.end; ++t) {
    check_interruption(static_cast<std::int64_t>(16 * live.size()));
    next.clear();
    const int label = query.labels[t - query.begin];
    for (const auto& [state, weight] : live)
      for (int y = label; y < label + query.n_sublabels(label); ++y) {
        const auto [to, x] = step(state, t, y);
        next.push_back({to, weight + x});
      }
    merge(next);
    live.swap(next);
  }
  double total = zero<double>;
  for (const auto& [state, weight] : live) {
    if (query.end == scores.length) {
      if (query.after[s.n_labels]) total = log_add(total, weight + scores.end[state]);
      continue;
    }
    const Real* beta = work.beta.data() + query.end * s.states();
    for (int y = 0; y < s.n_labels; ++y) {
      if (!query.after[y]) continue;
      const auto [to, x] = step(state, query.end, y);
      total = log_add(total, weight + x + beta[to] + work.beta_shift[query.end]);
    }
  }
  return std::min(0.0, total - log_partition);
}

template <class Real>
void chain_sample(const ChainScores<Real>& scores, const ChainWorkspace<Real>& work, std::uint64_t seed, int count,
                  std::int32_t* labels) {
  const ChainShape& s = scores.shape;
  const int n = scores.length;
  if (n == 0) return;
  Random random(seed);
  const Real* alpha = work.alpha.data();
  std::vector<Real> finals(s.states(), zero<Real>), values(s.base);
  for (std::int64_t c = 0; c < s.contexts; ++c)
    for (int y = 0; y < s.n_labels && !(n > 1 && only_at_start(s, c)); ++y)
      finals[c * s.width + y] = alpha[(n - 1) * s.states() + c * s.width + y] + scores.end[c * s.width + y];
  const auto draw = [&](const Real* logs, std::int64_t size) {
    const double total = log_sum(logs, size);
    double rest = random.uniform();
    std::int64_t last = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      if (!(logs[i] > zero<Real>)) continue;  // forbidden, or no number
      last = i;
      rest -= std::exp(static_cast<double>(logs[i]) - total);
      if (rest < 0) break;
    }
    return last;
  };
  for (int q = 0; q < count; ++q) {
    std::int32_t* out = labels + static_cast<std::size_t>(q) * n;
    std::int64_t state = draw(finals.data(), s.states());
    out[n - 1] = static_cast<std::int32_t>(state % s.width);
    for (int t = n - 1; t > 0; --t) {
      check_interruption(way_back(s));
      const Predecessors p = predecessor_scores(scores, alpha, t, state, values.data());
      state = p.state + draw(values.data(), p.count) * p.state_stride;
      out[t - 1] = static_cast<std::int32_t>(state % s.width);
    }
  }
}

#define MARGENT_INSTANTIATE(Real)                                                                           \
  template struct ExpTransitions<Real>;                                                                     \
  template double chain_log_partition(const ChainScores<Real>&, ChainWorkspace<Real>&);                     \
  template double chain_marginals(const ChainScores<Real>&, ChainWorkspace<Real>&, double*, double*);       \
  template double chain_span_log_probability(const ChainScores<Real>&, const ChainWorkspace<Real>&, double, \
                                             const SpanQuery&);                                             \
  template void chain_sample(const ChainScores<Real>&, const ChainWorkspace<Real>&, std::uint64_t, int, std::int32_t*);
MARGENT_INSTANTIATE(float)
MARGENT_INSTANTIATE(double)

}  // namespace margent
