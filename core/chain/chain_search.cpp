// Viterbi: the best labelling of a chain. For states (c, y), c a context of k - 1 labels, and f the label before those,
// so that f c is a history of k labels: a state at t - 1, and a row of transitions:
//
//   alpha[0][c, y] = transitions[start][y] + emissions[0][y] + edges[0][start][y]   where c is all start symbols
//   alpha[t][c, y] = emissions[t][y] + edges[t][last label of c][y]
//                    + max over f of  alpha[t - 1][f c] + transitions[f c][y]
//   best score = max over (c, y) of  alpha[n - 1][c, y] + end[c][y]
//
// For k = 1 c is empty, and edges[t][f][y] is within the maximum. `reached[t][y]` is that maximum alone. The way back
// takes the f that gave each maximum.
#include <algorithm>
#include <vector>

#include "chain/chain_lattice.hpp"
#include "interruption.hpp"

namespace margent {

using namespace lattice;

namespace {

// One forward step of an order-1 chain that leaves out what cannot matter, exactly. Labels that are forbidden at the
// position before are passed over. With a bound on the transitions, predecessors are taken in descending order of alpha
// until the next one, even over the best transition into each label, cannot beat any maximum found so far; after two
// tries the rest are taken as they come, so that a hopeless case costs little more than the complete step.
template <class Real>
void pruned_step(const ChainScores<Real>& scores, const Real* before, const Real* emissions,
                 std::vector<std::int32_t>& live, Real* reached, Real* out) {
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
  std::copy(out, out + s.width, reached);
  for (int j = 0; j < s.n_labels; ++j) out[j] += emissions[j];
}

// alpha[t] from alpha[t - 1].
template <class Real>
void max_step(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, int t) {
  const ChainShape& s = scores.shape;
  const Real* before = work.alpha.data() + (t - 1) * s.states();
  Real* out = work.alpha.data() + t * s.states();
  const Real* emissions = scores.emissions + static_cast<std::ptrdiff_t>(t) * s.width;
  const Real* edges = edges_at(scores, t);
  if (s.order == 1 && !edges && (scores.transition_bound || scores.few_labels))
    return pruned_step(scores, before, emissions, work.live, work.reached.data() + t * s.states(), out);
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

}  // namespace

template <class Real>
double chain_forward_max(const ChainScores<Real>& scores, ChainWorkspace<Real>& work) {
  const ChainShape& s = scores.shape;
  Real* alpha = work.alpha.need(scores.length * s.states());
  first_position(scores, alpha);
  Real* reached = work.reached.need(scores.length * s.states());
  double shift = 0;
  for (int begin = 0; begin + 1 < scores.length; begin += unshifted_length) {
    Real* first = alpha + begin * s.states();
    if (begin > 0) shift += shift_to_zero(s, first);
    const int end = std::min(scores.length, begin + unshifted_length + 1);
    check_interruption((end - begin) * s.states());
    if (s.order == 1 && !scores.edges && !scores.transition_bound && !scores.few_labels)
      kernels<Real>().viterbi_forward(end - begin, s.n_labels, scores.transitions,
                                      scores.emissions + static_cast<std::ptrdiff_t>(begin) * s.width, s.width, first,
                                      reached + begin * s.states());
    else
      for (int t = begin + 1; t < end; ++t) {
        check_interruption(s.histories * s.width / lane_count);
        max_step(scores, work, t);
      }
  }
  return shift;
}

template <class Real>
double chain_best(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, std::int32_t* labels) {
  if (scores.length == 0) return 0;
  return chain_forward_max(scores, work) + chain_trace_back(scores, work, labels);
}

template <class Real>
double chain_trace_back(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, std::int32_t* labels) {
  const ChainShape& s = scores.shape;
  const Real* alpha = work.alpha.data();
  Real value;
  std::int64_t state = best_final_state(scores, alpha, &value);
  if (value == zero<Real>) return value;
  labels[scores.length - 1] = static_cast<std::int32_t>(state % s.width);
  if (has_reached(scores)) {
    kernels<Real>().viterbi_backward(scores.length, s.n_labels, scores.transposed, s.width, alpha, work.reached.data(),
                                     labels);
    return value;
  }
  Real* values = work.row.need(s.base);
  for (int t = scores.length - 1; t > 0; --t) {
    check_interruption(way_back(s));
    const Predecessors p = predecessor_scores(scores, alpha, t, state, values);
    state = p.state + (std::max_element(values, values + p.count) - values) * p.state_stride;
    labels[t - 1] = static_cast<std::int32_t>(state % s.width);
  }
  return value;
}

#define MARGENT_INSTANTIATE(Real)                                                             \
  template double chain_forward_max(const ChainScores<Real>&, ChainWorkspace<Real>&);         \
  template double chain_best(const ChainScores<Real>&, ChainWorkspace<Real>&, std::int32_t*); \
  template double chain_trace_back(const ChainScores<Real>&, ChainWorkspace<Real>&, std::int32_t*);
MARGENT_INSTANTIATE(float)
MARGENT_INSTANTIATE(double)

}  // namespace margent
