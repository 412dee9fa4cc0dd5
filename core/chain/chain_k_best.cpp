// The k best labellings of a chain, by deviations from better ones, going backwards over Viterbi's alpha.
#include <algorithm>
#include <cmath>

#include "chain/chain_lattice.hpp"
#include "interruption.hpp"

namespace margent {

using namespace lattice;

namespace {

// The predecessors of a state that are worth a look: which[q] is the number f of the q-th, values[q] what it scores.
template <class Real>
struct Choices {
  int count, best;
  Real top;  // the score of `best`
  Predecessors from;
};

// All predecessors f that score more than the best one less `slack`, give or take rounding, and the best one.
template <class Real>
Choices<Real> choices(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, int position, std::int64_t state,
                      double slack, std::int32_t* which, Real* values) {
  const ChainShape& s = scores.shape;
  const auto least = [=](Real top) {
    const double bound = top - slack, rounding = 2 * std::numeric_limits<Real>::epsilon() * (std::abs(bound) + slack);
    return static_cast<Real>(std::max<double>(std::numeric_limits<Real>::lowest(), bound - rounding));
  };
  Choices<Real> found{0, 0, zero<Real>, {}};
  if (has_reached(scores)) {
    const Real* alpha = work.alpha.data() + (position - 1) * s.states();
    const Real* row = scores.transposed + state * s.width;
    found.from = predecessors(s, 0);
    found.top = work.reached[position * s.states() + state];
    found.count = kernels<Real>().at_least(s.n_labels, alpha, row, s.width, least(found.top), which);
    for (int q = 0; q < found.count; ++q) values[q] = alpha[which[q]] + row[which[q]];
    const auto best = std::find(values, values + found.count, found.top);
    if (best != values + found.count) found.best = which[best - values];
    return found;
  }
  found.from = predecessor_scores(scores, work.alpha.data(), position, state, values);
  const Real* best = std::max_element(values, values + found.from.count);
  found.best = static_cast<int>(best - values);
  found.top = *best;
  const Real bound = least(found.top);
  for (int f = 0; f < found.from.count; ++f) {
    if (!(values[f] >= bound)) continue;
    values[found.count] = values[f];
    which[found.count++] = f;
  }
  return found;
}

}  // namespace

template <class Real>
int chain_k_best(const ChainScores<Real>& scores, int k, ChainWorkspace<Real>& work, std::int32_t* labels,
                 double* values) {
  if (scores.length == 0) {
    values[0] = 0;
    return 1;
  }
  const double shift = chain_forward_max(scores, work);
  const int found = chain_k_best_back(scores, k, work, labels, values);
  for (int j = 0; j < found; ++j) values[j] += shift;
  return found;
}

template <class Real>
int chain_k_best_back(const ChainScores<Real>& scores, int k, ChainWorkspace<Real>& work, std::int32_t* labels,
                      double* values) {
  const ChainShape& s = scores.shape;
  const int n = scores.length;
  Deviations queue(static_cast<std::size_t>(k), work.deviations);
  const Real* last = work.alpha.data() + (n - 1) * s.states();
  Real top = zero<Real>;
  for (std::int64_t c = 0; c < s.contexts; ++c)
    for (int y = 0; y < s.n_labels; ++y) top = std::max(top, last[c * s.width + y] + scores.end[c * s.width + y]);
  for (std::int64_t i = 0; i < s.contexts * s.n_labels; ++i) {
    const std::int64_t state = state_in_tie_order(s, i);
    const Real x = last[state] + scores.end[state];
    if (x > zero<Real>) queue.offer(static_cast<double>(top) - x, -1, n - 1, static_cast<std::int32_t>(state));
  }

  // A state of an order-1 chain is a label.
  if (s.order > 1) work.states.resize(static_cast<std::size_t>(k) * n);
  std::int32_t* all = s.order > 1 ? work.states.data() : labels;
  Real* options = work.row.need(s.base);
  work.live.resize(s.base);
  std::int32_t* which = work.live.data();
  int done = 0;
  while (!queue.empty() && done < k) {
    const Deviation d = queue.take();
    const int me = done++;
    std::int32_t* states = all + static_cast<std::size_t>(me) * n;
    if (d.parent >= 0) {
      const std::int32_t* parent = all + static_cast<std::size_t>(d.parent) * n;
      std::copy(parent + d.position + 1, parent + n, states + d.position + 1);
    }
    values[me] = top - d.loss;
    states[d.position] = d.state;
    if (done == k && has_reached(scores)) {
      kernels<Real>().viterbi_backward(d.position + 1, s.n_labels, scores.transposed, s.width, work.alpha.data(),
                                       work.reached.data(), states);
      break;
    }
    check_interruption(way_back(s) * d.position);
    for (int t = d.position; t > 0; --t) {
      const double slack = done < k ? queue.limit() - d.loss : 0;
      const Choices<Real> c = choices(scores, work, t, states[t], slack, which, options);
      for (int q = 0; q < c.count && done < k; ++q)
        if (which[q] != c.best)
          queue.offer(d.loss + (static_cast<double>(c.top) - options[q]), me, t - 1,
                      static_cast<std::int32_t>(c.from.state + which[q] * c.from.state_stride));
      states[t - 1] = static_cast<std::int32_t>(c.from.state + c.best * c.from.state_stride);
    }
  }
  if (s.order > 1)
    for (std::size_t i = 0; i < static_cast<std::size_t>(done) * n; ++i) labels[i] = all[i] % s.width;
  return done;
}

#define MARGENT_INSTANTIATE(Real)                                                                          \
  template int chain_k_best(const ChainScores<Real>&, int, ChainWorkspace<Real>&, std::int32_t*, double*); \
  template int chain_k_best_back(const ChainScores<Real>&, int, ChainWorkspace<Real>&, std::int32_t*, double*);
MARGENT_INSTANTIATE(float)
MARGENT_INSTANTIATE(double)

}  // namespace margent
