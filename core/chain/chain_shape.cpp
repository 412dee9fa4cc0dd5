// The shape of a chain, and the score of one labelling.
#include <limits>
#include <stdexcept>
#include <string>

#include "chain/chain_lattice.hpp"

namespace margent {

using namespace lattice;

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

#define MARGENT_INSTANTIATE(Real) template double chain_score(const ChainScores<Real>&, const std::int32_t*);
MARGENT_INSTANTIATE(float)
MARGENT_INSTANTIATE(double)

}  // namespace margent
