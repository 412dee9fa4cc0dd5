#include "chain.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "random.hpp"

namespace margent {

ChainShape::ChainShape(int n_labels, int order)
    : n_labels(n_labels), order(order), base(std::int64_t{n_labels} + 1), contexts(1) {
  if (n_labels < 1 || order < 1) throw std::invalid_argument("a chain needs at least one label and order 1");
  const auto too_many = [=] {
    return std::length_error("a chain of order " + std::to_string(order) + " where the number of labels is " +
                             std::to_string(n_labels) + " has too many transitions: expected at most 2^31");
  };
  if (base > 1 << 16) throw too_many();
  width = padded_width(n_labels);
  for (int level = 1;; ++level) {
    histories = contexts * base;
    // Indices into a position's transitions are 32 bits wide in places.
    if (histories > std::numeric_limits<std::int32_t>::max() / width) throw too_many();
    if (level == order) return;
    contexts = histories;
  }
}

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

template <class Real>
constexpr Real zero = -std::numeric_limits<Real>::infinity();

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == zero<double> ? a : a + std::log1p(std::exp(b - a));
}

// The predecessors of all states (context, y) of one context, numbered by f = y_{t-k}: state `state + f * state_stride`
// at t - 1, reached over transitions[row + f * row_stride + y].
struct Predecessors {
  int count;
  std::ptrdiff_t state, state_stride, row, row_stride;
};

Predecessors predecessors(const ChainShape& s, std::int64_t context) {
  if (s.order == 1) return {s.n_labels, 0, 1, 0, s.width};
  const std::int64_t high = s.contexts / s.base;  // B^(k-2)
  return {static_cast<int>(s.base), (context / s.base) * s.width + s.last_label(context), high * s.width,
          context * s.width, s.contexts * s.width};
}

// A context whose most recent label is the start symbol has no tokens before it: no state of it after position 0.
bool only_at_start(const ChainShape& s, std::int64_t context) {
  return s.order > 1 && s.last_label(context) == s.n_labels;
}

// The index-th state in the order in which ties are decided: by the last label, then by the ones before it, backwards.
std::int64_t state_in_tie_order(const ChainShape& s, std::int64_t index) {
  if (s.order == 1) return index;
  std::int64_t context = 0, rest = index % s.contexts;
  for (std::int64_t place = s.contexts; place > 1; place /= s.base, rest /= s.base)
    context = context * s.base + rest % s.base;
  // The digits of `rest` came out backwards: its leading one is the most recent label of the context.
  return context * s.width + index / s.contexts;
}

// Subtracts the largest alpha or beta of a position from all of them and returns it, so that numbers stay small however
// long the sequence: a float has seven digits, and what is compared are differences. Nothing happens if all are -inf
// (or one is +inf, by overflow: a difference to it would not be a number).
template <class Real>
double shift_to_zero(const ChainShape& s, Real* states) {
  Real top = zero<Real>;
  for (std::int64_t c = 0; c < s.contexts; ++c)
    for (int y = 0; y < s.n_labels; ++y) top = std::max(top, states[c * s.width + y]);
  if (std::isinf(top)) return 0;
  for (std::int64_t i = 0; i < s.states(); ++i) states[i] -= top;
  return top;
}

template <class Real>
const Real* edges_at(const ChainScores<Real>& scores, int position) {
  return scores.edges ? scores.edges->at(position) : nullptr;
}

// For order 1 the edge scores of a position are added to the transitions; for higher orders they are constant over the
// predecessors of a context and are added after the maximum or sum.
template <class Real>
const Real* transitions_at(const ChainScores<Real>& scores, const Real* edges, Buffer<Real>& matrix) {
  const ChainShape& s = scores.shape;
  if (!edges || s.order > 1) return scores.transitions;
  Real* sum = matrix.need(s.histories * s.width);
  for (std::int64_t i = 0; i < s.histories * s.width; ++i) sum[i] = scores.transitions[i] + edges[i];
  return sum;
}

// alpha[0]: only the context of start symbols is alive.
template <class Real>
void first_position(const ChainScores<Real>& scores, Real* alpha) {
  const ChainShape& s = scores.shape;
  std::fill(alpha, alpha + s.states(), zero<Real>);
  const Real* row = scores.transitions + s.start_history() * s.width;
  const Real* edges = edges_at(scores, 0);
  Real* out = alpha + s.start_context() * s.width;
  for (int y = 0; y < s.n_labels; ++y) {
    out[y] = row[y] + scores.emissions[y];
    if (edges) out[y] += edges[s.n_labels * s.width + y];
  }
}

// One forward step of an order-1 chain that leaves out what cannot matter, exactly. Labels that are forbidden at the
// position before are passed over. With a bound on the transitions, predecessors are taken in descending order of alpha
// until the next one, even over the best transition into each label, cannot beat any maximum found so far; after two
// tries the rest are taken as they come, so that a hopeless case costs little more than the complete step.
template <class Real>
void pruned_step(const ChainScores<Real>& scores, const Real* before, const Real* emissions,
                 std::vector<std::int32_t>& live, Real* out) {
  const ChainShape& s = scores.shape;
  live.clear();
  for (int i = 0; i < s.n_labels; ++i)
    if (before[i] > zero<Real>) live.push_back(i);
  const auto higher = [before](std::int32_t a, std::int32_t b) {
    return before[a] != before[b] ? before[a] > before[b] : a < b;
  };
  std::fill(out, out + s.width, zero<Real>);
  const int n = static_cast<int>(live.size());
  int done = 0;
  for (int batch : {16, 64}) {
    if (!scores.transition_bound || n - done <= 2 * batch) break;
    std::nth_element(live.begin() + done, live.begin() + done + batch, live.end(), higher);
    kernels<Real>().max_plus_chosen(batch, live.data() + done, before, scores.transitions, s.width, s.width, out);
    done += batch;
    const Real next = before[live[done]];  // the highest of the rest: nth_element put it in its place
    bool finished = true;
    for (int j = 0; j < s.n_labels; ++j) finished &= next + scores.transition_bound[j] <= out[j];
    if (finished) {
      done = n;
      break;
    }
  }
  kernels<Real>().max_plus_chosen(n - done, live.data() + done, before, scores.transitions, s.width, s.width, out);
  for (int j = 0; j < s.n_labels; ++j) out[j] += emissions[j];
}

// alpha of the max-plus semiring at one position after the first.
template <class Real>
void max_step(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, int t) {
  const ChainShape& s = scores.shape;
  const Real* before = work.alpha.data() + (t - 1) * s.states();
  Real* out = work.alpha.data() + t * s.states();
  const Real* emissions = scores.emissions + static_cast<std::ptrdiff_t>(t) * s.width;
  const Real* edges = edges_at(scores, t);
  if (s.order == 1 && !edges && (scores.transition_bound || scores.few_labels))
    return pruned_step(scores, before, emissions, work.live, out);
  const Real* transitions = transitions_at(scores, edges, work.matrix);
  for (std::int64_t c = 0; c < s.contexts; ++c, out += s.width) {
    if (only_at_start(s, c)) {
      std::fill(out, out + s.width, zero<Real>);
      continue;
    }
    const Predecessors p = predecessors(s, c);
    kernels<Real>().max_plus(p.count, before + p.state, p.state_stride, transitions + p.row, p.row_stride, s.width,
                             out);
    for (int j = 0; j < s.n_labels; ++j) out[j] += emissions[j];
    if (edges && s.order > 1) {
      const Real* row = edges + s.last_label(c) * s.width;
      for (int j = 0; j < s.n_labels; ++j) out[j] += row[j];
    }
  }
}

// alpha of the max-plus semiring for all positions, shifted to zero once in a while: differences within a position are
// what the search needs. Returns what has to be added to alpha at the last position.
template <class Real>
double forward_max(const ChainScores<Real>& scores, ChainWorkspace<Real>& work) {
  const ChainShape& s = scores.shape;
  Real* alpha = work.alpha.need(scores.length * s.states());
  first_position(scores, alpha);
  Real* reached = work.reached.need(scores.length * s.states());
  double shift = 0;
  for (int begin = 0; begin + 1 < scores.length; begin += unshifted_length) {
    Real* first = alpha + begin * s.states();
    if (begin > 0) shift += shift_to_zero(s, first);
    const int end = std::min(scores.length, begin + unshifted_length + 1);
    if (s.order == 1 && !scores.edges && !scores.transition_bound && !scores.few_labels)
      kernels<Real>().viterbi_forward(end - begin, s.n_labels, scores.transitions,
                                      scores.emissions + static_cast<std::ptrdiff_t>(begin) * s.width, s.width, first,
                                      reached + begin * s.states());
    else
      for (int t = begin + 1; t < end; ++t) max_step(scores, work, t);
  }
  return shift;
}

// The scores of the predecessors of `state` at `position`, up to what is the same for all of them: values[f].
template <class Real>
Predecessors predecessor_scores(const ChainScores<Real>& scores, const Real* alpha, int position, std::int64_t state,
                                Real* values) {
  const ChainShape& s = scores.shape;
  const std::int64_t context = state / s.width;
  const int y = static_cast<int>(state % s.width);
  const Predecessors p = predecessors(s, context);
  const Real* before = alpha + (position - 1) * s.states() + p.state;
  const Real* edges = s.order == 1 ? edges_at(scores, position) : nullptr;
  const Real* row = scores.transitions + p.row + y;
  if (edges)
    for (int f = 0; f < p.count; ++f) values[f] = before[f] + (row[f * p.row_stride] + edges[f * s.width + y]);
  else
    for (int f = 0; f < p.count; ++f) values[f] = before[f * p.state_stride] + row[f * p.row_stride];
  return p;
}

template <class Real>
std::int64_t best_final_state(const ChainScores<Real>& scores, const Real* alpha, Real* value) {
  const ChainShape& s = scores.shape;
  const Real* last = alpha + (scores.length - 1) * s.states();
  std::int64_t best = 0;
  *value = zero<Real>;
  for (std::int64_t i = 0; i < s.contexts * s.n_labels; ++i) {
    const std::int64_t state = state_in_tie_order(s, i);
    const Real x = last[state] + scores.end[state];
    if (x > *value) *value = x, best = state;
  }
  return best;
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
    for (std::int64_t c = 0; c < s.contexts; ++c, out += s.width) {
      std::fill(out, out + s.width, zero<Real>);
      if (only_at_start(s, c)) continue;
      const Predecessors p = predecessors(s, c);
      kernel.max_plus(p.count, before + p.state, p.state_stride, transitions + p.row, p.row_stride, s.width, top);
      std::fill(sum, sum + s.width, Real(0));
      for (int f = 0; f < p.count; ++f) {
        const Real a = before[p.state + f * p.state_stride];
        if (a == zero<Real>) continue;
        const Real* row = transitions + p.row + f * p.row_stride;
        for (int j = 0; j < s.n_labels; ++j)
          if (top[j] > zero<Real>) sum[j] += std::exp(a + row[j] - top[j]);
      }
      const Real* edge_row = edges && s.order > 1 ? edges + s.last_label(c) * s.width : nullptr;
      for (int j = 0; j < s.n_labels; ++j) {
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
    const Real* after = beta + (t + 1) * s.states();
    Real* out = beta + t * s.states();
    const Real* emissions = scores.emissions + static_cast<std::ptrdiff_t>(t + 1) * s.width;
    const Real* edges = edges_at(scores, t + 1);
    if (scores.exp_transitions && !edges) {
      backward_step_exp(scores, after, emissions, work.row, out);
      work.beta_shift[t] = work.beta_shift[t + 1] + shift_to_zero(s, out);
      continue;
    }
    for (std::int64_t c = 0; c < s.contexts; ++c)
      for (int y = 0; y < s.n_labels; ++y) {
        const Real* row = scores.transitions + (c * s.base + y) * s.width;
        const Real* next = after + s.next_context(c, y) * s.width;
        for (int j = 0; j < s.n_labels; ++j) {
          values[j] = row[j] + emissions[j] + next[j];
          if (edges) values[j] += edges[y * s.width + j];
        }
        out[c * s.width + y] = static_cast<Real>(log_sum(values, s.n_labels));
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
double chain_score(const ChainScores<Real>& scores, const std::int32_t* labels) {
  const ChainShape& s = scores.shape;
  if (scores.length == 0) return 0;
  double total = 0;
  std::int64_t history = s.start_history();
  for (int t = 0; t < scores.length; ++t) {
    const int y = labels[t];
    total += scores.emissions[static_cast<std::ptrdiff_t>(t) * s.width + y];
    total += scores.transitions[history * s.width + y];
    if (const Real* edges = edges_at(scores, t)) total += edges[(t ? labels[t - 1] : s.n_labels) * s.width + y];
    history = (history * s.base + y) % s.histories;
  }
  // The history now ends in the last label; the end score wants the context before it.
  return total + scores.end[(history / s.base) * s.width + labels[scores.length - 1]];
}

template <class Real>
double chain_best(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, std::int32_t* labels) {
  if (scores.length == 0) return 0;
  return forward_max(scores, work) + chain_trace_back(scores, work, labels);
}

template <class Real>
double chain_trace_back(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, std::int32_t* labels) {
  const ChainShape& s = scores.shape;
  const Real* alpha = work.alpha.data();
  Real value;
  std::int64_t state = best_final_state(scores, alpha, &value);
  if (value == zero<Real>) return value;
  labels[scores.length - 1] = static_cast<std::int32_t>(state % s.width);
  if (scores.transposed && !scores.edges && !scores.transition_bound && !scores.few_labels) {
    kernels<Real>().viterbi_backward(scores.length, s.n_labels, scores.transposed, s.width, alpha,
                                     work.reached.data(), labels);
    return value;
  }
  Real* values = work.row.need(s.base);
  for (int t = scores.length - 1; t > 0; --t) {
    const Predecessors p = predecessor_scores(scores, alpha, t, state, values);
    state = p.state + (std::max_element(values, values + p.count) - values) * p.state_stride;
    labels[t - 1] = static_cast<std::int32_t>(state % s.width);
  }
  return value;
}

template <class Real>
int chain_k_best(const ChainScores<Real>& scores, int k, ChainWorkspace<Real>& work, std::int32_t* labels,
                 double* values) {
  const ChainShape& s = scores.shape;
  const int n = scores.length;
  if (n == 0) {
    values[0] = 0;
    return 1;
  }
  const double shift = forward_max(scores, work);
  const Real* alpha = work.alpha.data();
  Real* options = work.row.need(s.base);
  Real top;
  best_final_state(scores, alpha, &top);

  // A labelling not yet built: it agrees with labelling `parent` after `position`, is in `state` there and goes the
  // best way before. `loss` is what it scores less than the best labelling: a sum of differences that are never
  // negative, so no labelling can come out better than the one it was split off.
  struct Candidate {
    double loss;
    std::int32_t parent, position;
    std::int64_t state, arrival;
    bool operator<(const Candidate& other) const {
      return loss != other.loss ? loss < other.loss : arrival < other.arrival;
    }
  };
  std::set<Candidate> open;  // never more than can still be used
  std::int64_t arrivals = 0;
  int done = 0;
  const auto offer = [&](double loss, std::int32_t parent, int position, std::int64_t state) {
    const bool full = open.size() >= static_cast<std::size_t>(k - done);
    if (full && (open.empty() || loss >= open.rbegin()->loss)) return;
    if (full) open.erase(std::prev(open.end()));
    open.insert({loss, parent, position, state, arrivals++});
  };

  const Real* last = alpha + (n - 1) * s.states();
  for (std::int64_t i = 0; i < s.contexts * s.n_labels; ++i) {
    const std::int64_t state = state_in_tie_order(s, i);
    const Real x = last[state] + scores.end[state];
    if (x > zero<Real>) offer(static_cast<double>(top) - x, -1, n - 1, state);
  }

  work.states.resize(static_cast<std::size_t>(k) * n);
  while (!open.empty() && done < k) {
    const Candidate c = *open.begin();
    open.erase(open.begin());
    std::int32_t* states = work.states.data() + static_cast<std::size_t>(done) * n;
    if (c.parent >= 0) {
      const std::int32_t* parent = work.states.data() + static_cast<std::size_t>(c.parent) * n;
      std::copy(parent + c.position + 1, parent + n, states + c.position + 1);
    }
    const int me = done;
    values[done++] = shift + top - c.loss;
    states[c.position] = static_cast<std::int32_t>(c.state);
    for (int t = c.position; t > 0; --t) {
      const Predecessors p = predecessor_scores(scores, alpha, t, states[t], options);
      const int best = static_cast<int>(std::max_element(options, options + p.count) - options);
      for (int f = 0; f < p.count && done < k; ++f)
        if (f != best && options[f] > zero<Real>)
          offer(c.loss + (static_cast<double>(options[best]) - options[f]), me, t - 1, p.state + f * p.state_stride);
      states[t - 1] = static_cast<std::int32_t>(p.state + best * p.state_stride);
    }
    std::int32_t* out = labels + static_cast<std::size_t>(me) * n;
    for (int t = 0; t < n; ++t) out[t] = states[t] % s.width;
  }
  return done;
}

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
double chain_run_log_probability(const ChainScores<Real>& scores, const ChainWorkspace<Real>& work,
                                 double log_partition, const RunQuery& query) {
  const ChainShape& s = scores.shape;
  if (log_partition == zero<double>) return zero<double>;  // no labelling, and no beta
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
    const std::int64_t state = s.start_context() * s.width + query.labels[0];
    live.push_back({state, alpha[state] + work.alpha_shift[0]});
  } else {
    const Real* before = alpha + (query.begin - 1) * s.states();
    for (std::int64_t c = 0; c < s.contexts; ++c)
      for (int p = 0; p < s.n_labels; ++p) {
        const std::int64_t state = c * s.width + p;
        if (!query.before[p] || before[state] == zero<Real>) continue;
        const auto [to, x] = step(state, query.begin, query.labels[0]);
        live.push_back({to, before[state] + work.alpha_shift[query.begin - 1] + x});
      }
    merge(live);
  }
  for (int t = query.begin + 1; t < query.end; ++t) {
    next.clear();
    for (const auto& [state, weight] : live) {
      const auto [to, x] = step(state, t, query.labels[t - query.begin]);
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
      const Predecessors p = predecessor_scores(scores, alpha, t, state, values.data());
      state = p.state + draw(values.data(), p.count) * p.state_stride;
      out[t - 1] = static_cast<std::int32_t>(state % s.width);
    }
  }
}

#define MARGENT_INSTANTIATE(Real)                                                                                    \
  template struct ExpTransitions<Real>;                                                                              \
  template double chain_score(const ChainScores<Real>&, const std::int32_t*);                                        \
  template double chain_best(const ChainScores<Real>&, ChainWorkspace<Real>&, std::int32_t*);                        \
  template double chain_trace_back(const ChainScores<Real>&, ChainWorkspace<Real>&, std::int32_t*);                  \
  template int chain_k_best(const ChainScores<Real>&, int, ChainWorkspace<Real>&, std::int32_t*, double*);           \
  template double chain_log_partition(const ChainScores<Real>&, ChainWorkspace<Real>&);                              \
  template double chain_marginals(const ChainScores<Real>&, ChainWorkspace<Real>&, double*, double*);                \
  template double chain_run_log_probability(const ChainScores<Real>&, const ChainWorkspace<Real>&, double,           \
                                            const RunQuery&);                                                        \
  template void chain_sample(const ChainScores<Real>&, const ChainWorkspace<Real>&, std::uint64_t, int, std::int32_t*);
MARGENT_INSTANTIATE(float)
MARGENT_INSTANTIATE(double)

}  // namespace margent
