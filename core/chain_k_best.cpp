// The k best labellings of a chain.
#include <algorithm>
#include <iterator>
#include <set>

#include "chain_lattice.hpp"

namespace margent {

using namespace lattice;

template <class Real>
int chain_k_best(const ChainScores<Real>& scores, int k, ChainWorkspace<Real>& work, std::int32_t* labels,
                 double* values) {
  const ChainShape& s = scores.shape;
  const int n = scores.length;
  if (n == 0) {
    values[0] = 0;
    return 1;
  }
  const double shift = chain_forward_max(scores, work);
  const Real* alpha = work.alpha.data();
  Real* options = work.row.need(s.base);
  const Real* last = alpha + (n - 1) * s.states();
  Real top = zero<Real>;
  for (std::int64_t i = 0; i < s.contexts * s.n_labels; ++i) {
    const std::int64_t state = state_in_tie_order(s, i);
    top = std::max(top, last[state] + scores.end[state]);
  }

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

#define MARGENT_INSTANTIATE(Real)                                                                                    \
  template int chain_k_best(const ChainScores<Real>&, int, ChainWorkspace<Real>&, std::int32_t*, double*);
MARGENT_INSTANTIATE(float)
MARGENT_INSTANTIATE(double)

}  // namespace margent
