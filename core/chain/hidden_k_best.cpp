#include "chain/hidden_k_best.hpp"

#include <cmath>

#include "chain/chain_lattice.hpp"
#include "chain/deviations.hpp"
#include "interruption.hpp"

namespace margent {

using namespace lattice;

HiddenKBest::HiddenKBest(const ChainShape& shape, const std::int32_t* hidden) : shape_(shape), hidden_(hidden) {
  for (int y = 0; y < shape.n_labels; y += hidden[y]) groups_.push_back({y, y + hidden[y]});
  tops_.resize(groups_.size());
  rest_.resize(shape.states());
  next_.resize(shape.states());
}

void HiddenKBest::begin(const ChainScores<double>& scores) {
  std::copy(scores.end, scores.end + shape_.states(), rest_.begin());
}

template <bool sum>
void HiddenKBest::step(const ChainScores<double>& scores, const double* alpha, int t, Group here, Group before) {
  const ChainShape& s = shape_;
  check_interruption(s.contexts * (before.end - before.begin) * (here.end - here.begin) * (sum ? 8 : 1));
  const double* emissions = scores.emissions + static_cast<std::ptrdiff_t>(t) * s.width;
  const double* edges = edges_at(scores, t);
  alpha += (t - 1) * s.states();
  for (std::int64_t c = 0; c < s.contexts; ++c)
    for (int p = before.begin; p < before.end; ++p) {
      const std::int64_t state = c * s.width + p;
      next_[state] = zero<double>;
      if (alpha[state] == zero<double>) continue;
      const double* row = scores.transitions + (c * s.base + p) * s.width;
      const double* rest = rest_.data() + s.next_context(c, p) * s.width;
      const auto value = [&](int y) { return row[y] + emissions[y] + rest[y] + (edges ? edges[p * s.width + y] : 0); };
      double top = zero<double>;
      for (int y = here.begin; y < here.end; ++y) top = std::max(top, value(y));
      next_[state] = top;
      if constexpr (sum) {
        if (top == zero<double>) continue;
        double total = 0;
        for (int y = here.begin; y < here.end; ++y) total += std::exp(value(y) - top);
        next_[state] += std::log(total);
      }
    }
  rest_.swap(next_);
}

double HiddenKBest::log_sum(const ChainScores<double>& scores, const double* alpha, const std::int32_t* labels) {
  begin(scores);
  for (int t = scores.length - 1; t > 0; --t) step<true>(scores, alpha, t, group(labels[t]), group(labels[t - 1]));
  const ChainShape& s = shape_;
  const std::int64_t start = s.start_context() * s.width;
  const double* edges = edges_at(scores, 0);
  const auto value = [&](int y) {
    return scores.transitions[s.start_history() * s.width + y] + scores.emissions[y] + rest_[start + y] +
           (edges ? edges[s.n_labels * s.width + y] : 0);
  };
  const Group first = group(labels[0]);
  double top = zero<double>, total = 0;
  for (int y = first.begin; y < first.end; ++y) top = std::max(top, value(y));
  if (std::isinf(top)) return top;
  for (int y = first.begin; y < first.end; ++y) total += std::exp(value(y) - top);
  return top + std::log(total);
}

int HiddenKBest::find(const ChainScores<double>& scores, int k, ChainWorkspace<double>& work, std::int32_t* labels,
                      double* values, double* sums) {
  const ChainShape& s = shape_;
  const int n = scores.length;
  if (n == 0) {
    values[0] = sums[0] = 0;
    return 1;
  }
  const double shift = chain_forward_max(scores, work);
  const double* alpha = work.alpha.data();
  Deviations queue(static_cast<std::size_t>(k), work.deviations);
  // What the best labelling scores for each group at a position, with the rest of the way as it is known; the best
  // group.
  const auto look = [&](int position) {
    std::size_t best = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      tops_[g] = zero<double>;
      for (std::int64_t c = 0; c < s.contexts; ++c)
        for (std::int64_t state = c * s.width + groups_[g].begin; state < c * s.width + groups_[g].end; ++state)
          tops_[g] = std::max(tops_[g], alpha[position * s.states() + state] + rest_[state]);
      if (tops_[g] > tops_[best]) best = g;
    }
    return best;
  };
  begin(scores);
  const double top = tops_[look(n - 1)];
  if (top == zero<double>) return 0;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (tops_[g] > zero<double>) queue.offer(top - tops_[g], -1, n - 1, groups_[g].begin);
  int done = 0;
  while (!queue.empty() && done < k) {
    const Deviation d = queue.take();
    const int me = done++;
    std::int32_t* mine = labels + static_cast<std::size_t>(me) * n;
    if (d.parent >= 0) {
      const std::int32_t* parent = labels + static_cast<std::size_t>(d.parent) * n;
      std::copy(parent + d.position + 1, parent + n, mine + d.position + 1);
    }
    mine[d.position] = d.state;
    begin(scores);
    for (int t = n - 1; t > d.position; --t) step<false>(scores, alpha, t, group(mine[t]), group(mine[t - 1]));
    for (int t = d.position; t > 0; --t) {
      step<false>(scores, alpha, t, group(mine[t]), {0, s.n_labels});
      const std::size_t best = look(t - 1);
      mine[t - 1] = groups_[best].begin;
      for (std::size_t g = 0; g < groups_.size() && done < k; ++g)
        if (g != best && tops_[g] > zero<double>)
          queue.offer(d.loss + (tops_[best] - tops_[g]), me, t - 1, groups_[g].begin);
    }
    values[me] = top + shift - d.loss;
    sums[me] = log_sum(scores, alpha, mine);
  }
  return done;
}

}  // namespace margent
