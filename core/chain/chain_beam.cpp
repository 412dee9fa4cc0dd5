#include "chain/chain_beam.hpp"

#include <algorithm>
#include <limits>

#include "chain/chain_lattice.hpp"

namespace margent {

namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

// The place of a state in the order in which ties are decided: the inverse of lattice::state_in_tie_order.
std::int64_t tie_order(const ChainShape& s, std::int64_t state) {
  std::int64_t place = state % s.width, context = state / s.width;
  for (std::int64_t size = s.contexts; size > 1; size /= s.base, context /= s.base)
    place = place * s.base + context % s.base;
  return place;
}

}  // namespace

template <class Real>
void ChainBeam<Real>::search(const ChainScores<Real>& scores, int width) {
  shape_ = scores.shape;
  length_ = scores.length;
  items_.clear();
  begins_.assign(1, 0);
  first_position(scores);
  keep(width);
  for (int t = 1; t < length_; ++t) {
    extend(scores, t);
    keep(width);
  }
  end(scores);
  keep(width);
}

template <class Real>
void ChainBeam<Real>::first_position(const ChainScores<Real>& scores) {
  const ChainShape& s = shape_;
  const Real* row = scores.transitions + s.start_history() * s.width;
  const Real* edges = lattice::edges_at(scores, 0);
  candidates_.clear();
  for (int y = 0; y < s.n_labels; ++y) {
    double score = row[y];
    if (edges) score += edges[s.n_labels * s.width + y];
    score += scores.emissions[y];
    candidates_.push_back({score, s.start_context() * s.width + y, -1});
  }
}

// Items that lead to the same contexts compete for the states there.
template <class Real>
void ChainBeam<Real>::extend(const ChainScores<Real>& scores, int position) {
  const ChainShape& s = shape_;
  const std::span<const Item> before = at(position - 1);
  const auto history = [&](std::int32_t i) { return before[i].state / s.width * s.base + before[i].state % s.width; };
  order_.resize(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) order_[i] = static_cast<std::int32_t>(i);
  // Ties go to the smallest of the labels that are forgotten, as in Viterbi's search.
  std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    const std::int64_t next_a = history(a) % s.contexts, next_b = history(b) % s.contexts;
    return next_a != next_b ? next_a < next_b : history(a) < history(b);
  });
  const Real* emissions = scores.emissions + static_cast<std::ptrdiff_t>(position) * s.width;
  const Real* edges = lattice::edges_at(scores, position);
  best_.resize(s.n_labels);
  from_.resize(s.n_labels);
  candidates_.clear();
  for (std::size_t first = 0; first < order_.size();) {
    const std::int64_t context = history(order_[first]) % s.contexts;
    std::fill(best_.begin(), best_.end(), impossible);
    std::size_t i = first;
    for (; i < order_.size() && history(order_[i]) % s.contexts == context; ++i) {
      const Item& item = before[order_[i]];
      const Real* row = scores.transitions + history(order_[i]) * s.width;
      const Real* edge = edges ? edges + item.state % s.width * s.width : nullptr;
      for (int y = 0; y < s.n_labels; ++y) {
        const double score = item.score + row[y] + (edge ? edge[y] : Real{0});
        if (score > best_[y]) best_[y] = score, from_[y] = order_[i];
      }
    }
    for (int y = 0; y < s.n_labels; ++y)
      if (best_[y] > impossible) candidates_.push_back({best_[y] + emissions[y], context * s.width + y, from_[y]});
    first = i;
  }
}

template <class Real>
void ChainBeam<Real>::end(const ChainScores<Real>& scores) {
  candidates_.clear();
  const std::span<const Item> last = at(length_ - 1);
  for (std::size_t i = 0; i < last.size(); ++i)
    candidates_.push_back({last[i].score + scores.end[last[i].state], last[i].state, static_cast<std::int32_t>(i)});
}

// The best candidates become the items of the next position.
template <class Real>
void ChainBeam<Real>::keep(int width) {
  std::erase_if(candidates_, [](const Item& item) { return !(item.score > impossible); });
  const auto better = [this](const Item& a, const Item& b) {
    return a.score != b.score ? a.score > b.score : tie_order(shape_, a.state) < tie_order(shape_, b.state);
  };
  const std::size_t kept = std::min(candidates_.size(), static_cast<std::size_t>(width));
  std::partial_sort(candidates_.begin(), candidates_.begin() + kept, candidates_.end(), better);
  items_.insert(items_.end(), candidates_.begin(), candidates_.begin() + kept);
  begins_.push_back(items_.size());
}

template <class Real>
void ChainBeam<Real>::follow(const ChainScores<Real>& scores, const std::int32_t* labels, std::vector<Item>& way) {
  const ChainShape& s = scores.shape;
  std::int64_t history = s.start_history();
  double score = 0;
  way.clear();
  for (int t = 0; t < scores.length; ++t) {
    const int y = labels[t];
    const Real* edges = lattice::edges_at(scores, t);
    // In the order in which the search adds up, so that equal ways have equal scores to the bit.
    score += scores.transitions[history * s.width + y];
    if (edges) score += edges[(t ? labels[t - 1] : s.n_labels) * s.width + y];
    score += scores.emissions[static_cast<std::ptrdiff_t>(t) * s.width + y];
    way.push_back({score, history % s.contexts * s.width + y, t ? 0 : -1});
    history = (history * s.base + y) % s.histories;
  }
  way.push_back({score + scores.end[way.back().state], way.back().state, 0});
}

template <class Real>
bool ChainBeam<Real>::holds(int position, std::int64_t state) const {
  const std::span<const Item> items = at(position);
  return std::any_of(items.begin(), items.end(), [state](const Item& item) { return item.state == state; });
}

template <class Real>
void ChainBeam<Real>::trace(int position, std::size_t item, std::int32_t* labels) const {
  if (position == length_) item = at(position--)[item].parent;
  for (; position >= 0; --position) {
    const Item& here = at(position)[item];
    labels[position] = static_cast<std::int32_t>(here.state % shape_.width);
    item = here.parent;
  }
}

template class ChainBeam<float>;
template class ChainBeam<double>;

}  // namespace margent
