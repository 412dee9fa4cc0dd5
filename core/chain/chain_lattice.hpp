// What search and sums over a chain share: its states, where they come from, and how their values are kept small.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "chain/chain.hpp"

namespace margent::lattice {

template <class Real>
inline constexpr Real zero = -std::numeric_limits<Real>::infinity();

// The predecessors of all states (context, y) of one context, numbered by f = y_{t-k}: state `state + f * state_stride`
// at t - 1, reached over transitions[row + f * row_stride + y].
struct Predecessors {
  int count;
  std::ptrdiff_t state, state_stride, row, row_stride;
};

inline Predecessors predecessors(const ChainShape& s, std::int64_t context) {
  if (s.order == 1) return {s.n_labels, 0, 1, 0, s.width};
  const std::int64_t high = s.contexts / s.base;  // B^(k-2)
  return {static_cast<int>(s.base), (context / s.base) * s.width + s.last_label(context), high * s.width,
          context * s.width, s.contexts * s.width};
}

// A context whose most recent label is the start symbol has no tokens before it: no state of it after position 0.
inline bool only_at_start(const ChainShape& s, std::int64_t context) {
  return s.order > 1 && s.last_label(context) == s.n_labels;
}

// The index-th state in the order in which ties are decided: by the last label, then by the ones before it, backwards.
inline std::int64_t state_in_tie_order(const ChainShape& s, std::int64_t index) {
  if (s.order == 1) return index;
  std::int64_t context = 0, rest = index % s.contexts;
  for (std::int64_t place = s.contexts; place > 1; place /= s.base, rest /= s.base)
    context = context * s.base + rest % s.base;
  // The digits of `rest` came out backwards: its leading one is the most recent label of the context.
  return context * s.width + index / s.contexts;
}

// Operations of a step on the way back.
inline std::int64_t way_back(const ChainShape& s) { return 4 * s.base; }

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

// Whether the search keeps `reached`, the best scores over all ways into each state, and can find its way back by it.
template <class Real>
bool has_reached(const ChainScores<Real>& scores) {
  return scores.transposed && !scores.edges;
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

}  // namespace margent::lattice
