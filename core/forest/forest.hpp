// Packed forests and inference over them: one pass, written once against a semiring.
//
// A forest is an acyclic hypergraph. Nodes are numbered so that the tails of an edge come before its head. A derivation
// of a node is one of its incoming edges together with a derivation of each tail: a tree of edges, whose score is the
// sum of theirs. A node reached twice within a derivation may be derived differently each time. An edge without tails
// is a leaf; a node without incoming edges has no derivation.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "forest/semiring.hpp"
#include "interruption.hpp"

namespace margent {

// A view: the arrays belong to somebody else (see forest_batch.hpp), who has checked them.
class Forest {
 public:
  // Edge e has tails tails[tail_ptr[e]] to tails[tail_ptr[e + 1] - 1], and scores[e]; incoming[incoming_ptr[v]] to
  // incoming[incoming_ptr[v + 1] - 1] are the edges whose head is v, in ascending order.
  Forest(std::int32_t root, std::span<const std::int64_t> tail_ptr, std::span<const std::int32_t> tails,
         std::span<const std::int64_t> incoming_ptr, std::span<const std::int32_t> incoming,
         std::span<const double> scores)
      : root_(root), tail_ptr_(tail_ptr), tails_(tails), incoming_ptr_(incoming_ptr), incoming_(incoming),
        scores_(scores) {}

  std::int32_t root() const { return root_; }
  std::int32_t n_edges() const { return static_cast<std::int32_t>(scores_.size()); }
  double score(std::int32_t edge) const { return scores_[static_cast<std::size_t>(edge)]; }
  std::span<const std::int32_t> tails(std::int32_t edge) const { return slice(tails_, tail_ptr_, edge); }
  std::span<const std::int32_t> incoming(std::int32_t node) const { return slice(incoming_, incoming_ptr_, node); }

 private:
  static std::span<const std::int32_t> slice(std::span<const std::int32_t> items, std::span<const std::int64_t> ptr,
                                             std::int32_t i) {
    const auto at = static_cast<std::size_t>(i);
    return items.subspan(static_cast<std::size_t>(ptr[at]), static_cast<std::size_t>(ptr[at + 1] - ptr[at]));
  }
  std::int32_t root_;
  std::span<const std::int64_t> tail_ptr_;
  std::span<const std::int32_t> tails_;
  std::span<const std::int64_t> incoming_ptr_;
  std::span<const std::int32_t> incoming_;
  std::span<const double> scores_;
};

// The product of the inside values of an edge's tails and of the edge itself:
//   edge_value(e) = inside(tail_1) * ... * inside(tail_m) * from_score(score(e))
template <Semiring S>
typename S::Value edge_value(const Forest& forest, const S& semiring, std::span<const typename S::Value> inside,
                             std::int32_t edge) {
  typename S::Value product = semiring.one();
  for (const std::int32_t tail : forest.tails(edge))
    product = semiring.times(product, inside[static_cast<std::size_t>(tail)]);
  return semiring.times(product, semiring.from_score(forest.score(edge), edge));
}

// The inside pass: for each node up to the root, the sum over its derivations of the product over their edges,
//   inside(v) = sum over edges e with head v of edge_value(e),   zero() where there is none.
// O(edges + tails) operations of the semiring.
template <Semiring S>
std::vector<typename S::Value> inside(const Forest& forest, const S& semiring) {
  std::vector<typename S::Value> values(static_cast<std::size_t>(forest.root()) + 1, semiring.zero());
  for (std::int32_t node = 0; node <= forest.root(); ++node) {
    check_interruption(static_cast<std::int64_t>(32 * forest.incoming(node).size()));
    auto& sum = values[static_cast<std::size_t>(node)];
    for (const std::int32_t edge : forest.incoming(node))
      sum = semiring.plus(sum, edge_value<S>(forest, semiring, values, edge));
  }
  return values;
}

// Some derivations of the root: number i has scores[i] and edges[ptr[i]] to edges[ptr[i + 1] - 1], the edges of each
// tail before those of the next, and all of them before the edge itself.
struct Derivations {
  std::vector<double> scores;
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> edges;

  std::size_t size() const { return scores.size(); }
  std::span<const std::int32_t> operator[](std::size_t i) const {
    return {edges.data() + ptr[i], static_cast<std::size_t>(ptr[i + 1] - ptr[i])};
  }
};

// None of these returns a derivation where the root has none.
Derivations best(const Forest& forest);
// Exact; fewer than k when there are fewer. Different trees of edges, best first, the first one equal to best().
Derivations k_best(const Forest& forest, std::int64_t k);
// Independent draws with probability proportional to exp(score).
Derivations sample(const Forest& forest, std::int64_t n, std::uint64_t seed);

// How often each edge is expected in a derivation drawn as `sample` does, and the logarithm of the sum of exp(score):
//   edges[e] = outside(head(e)) * edge_value(e) / inside(root),   log_partition = log inside(root),
//   outside(root) = 1,
//   outside(v) = sum over edges e and each v among their tails of outside(head(e)) * edge_value(e) / inside(v).
// forest.cpp computes the same without outside values.
struct Marginals {
  double log_partition;
  std::vector<double> edges;
};
Marginals marginals(const Forest& forest);

}  // namespace margent
