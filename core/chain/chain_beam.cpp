#include "chain/chain_beam.hpp"

#include <algorithm>
#include <limits>

#include "chain/chain_lattice.hpp"

namespace margent {

// The place of a state in the order in which ties are decided: the inverse of lattice::state_in_tie_order.
template <class Real>
std::int64_t ChainSystem<Real>::tie_order(std::int64_t state) const {
  const ChainShape& s = scores_->shape;
  std::int64_t place = state % s.width, context = state / s.width;
  for (std::int64_t size = s.contexts; size > 1; size /= s.base, context /= s.base)
    place = place * s.base + context % s.base;
  return place;
}

template <class Real>
template <class Propose>
void ChainSystem<Real>::expand(int layer, std::span<const Item> items, Propose& propose) {
  if (layer == 0) return first_position(propose);
  if (layer < scores_->length) return extend(layer, items, propose);
  for (std::size_t i = 0; i < items.size(); ++i)
    propose(layer + 1, i, items[i].score + scores_->end[items[i].state.number], items[i].state.number);
}

template <class Real>
template <class Propose>
void ChainSystem<Real>::first_position(Propose& propose) {
  const ChainShape& s = scores_->shape;
  const Real* row = scores_->transitions + s.start_history() * s.width;
  const Real* edges = lattice::edges_at(*scores_, 0);
  for (int y = forced_ ? gold_[0] : 0; y < (forced_ ? gold_[0] + 1 : s.n_labels); ++y) {
    double score = row[y];
    if (edges) score += edges[s.n_labels * s.width + y];
    score += scores_->emissions[y];
    propose(1, 0, score, s.start_context() * s.width + y);
  }
}

// best(context, y) = max over items that lead to the context of score(item) + transition + edge, and then the emission.
// Ties go to the smallest of the labels that are forgotten, as in Viterbi's search.
template <class Real>
template <class Propose>
void ChainSystem<Real>::extend(int position, std::span<const Item> before, Propose& propose) {
  constexpr double impossible = -std::numeric_limits<double>::infinity();
  const ChainShape& s = scores_->shape;
  order_.resize(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::int64_t context = before[i].move / s.width, label = before[i].move % s.width;
    const std::int64_t history = context * s.base + label;
    order_[i] = {history % s.contexts, history, label, static_cast<std::int32_t>(i)};
  }
  const Real* emissions = scores_->emissions + static_cast<std::ptrdiff_t>(position) * s.width;
  const Real* edges = lattice::edges_at(*scores_, position);
  if (order_.size() == 1) {  // nothing competes: greedy, or forced, which has one item always
    const Ranked& only = order_[0];
    const Real* row = scores_->transitions + only.history * s.width;
    const Real* edge = edges ? edges + only.label * s.width : nullptr;
    const int first = forced_ ? gold_[position] : 0, last = forced_ ? first + 1 : s.n_labels;
    for (int y = first; y < last; ++y)
      propose(position + 1, 0, before[0].score + row[y] + (edge ? edge[y] : Real{0}) + emissions[y],
              only.context * s.width + y);
    return;
  }
  std::sort(order_.begin(), order_.end(), [](const Ranked& a, const Ranked& b) {
    return a.context != b.context ? a.context < b.context : a.history < b.history;
  });
  best_.resize(s.n_labels);
  from_.resize(s.n_labels);
  for (std::size_t first = 0; first < order_.size();) {
    const std::int64_t context = order_[first].context;
    std::fill(best_.begin(), best_.end(), impossible);
    std::size_t i = first;
    for (; i < order_.size() && order_[i].context == context; ++i) {
      const std::int32_t item = order_[i].item;
      const double so_far = before[item].score;
      const Real* row = scores_->transitions + order_[i].history * s.width;
      const Real* edge = edges ? edges + order_[i].label * s.width : nullptr;
      for (int y = 0; y < s.n_labels; ++y) {
        const double score = so_far + row[y] + (edge ? edge[y] : Real{0});
        if (score > best_[y]) best_[y] = score, from_[y] = item;
      }
    }
    for (int y = 0; y < s.n_labels; ++y)
      if (best_[y] > impossible)
        propose(position + 1, static_cast<std::size_t>(from_[y]), best_[y] + emissions[y], context * s.width + y);
    first = i;
  }
}

template class ChainSystem<float>;
template void ChainSystem<float>::expand(int, std::span<const Item>, BeamSearch<ChainSystem>&);
template class ChainSystem<double>;
template void ChainSystem<double>::expand(int, std::span<const Item>, BeamSearch<ChainSystem>&);
template class BeamSearch<ChainSystem<float>>;
template class BeamSearch<ChainSystem<double>>;

}  // namespace margent
