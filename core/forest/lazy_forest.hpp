// Forests whose nodes are split by states, and made only as far as they promise to score well: cube pruning.
//
// A forest without states has cells, such as a phrase over a span of words, in an order in which those that another
// one is made of come first. What scores depends on more, as a language model does on the words at the edges of a
// translation: each cell has many nodes, one for each state that was reached there. All of them are too many. Cube
// pruning (Chiang 2007; Huang and Chiang 2007) makes those of a cell best first, and stops after `pop_limit` edges.
//
// Without a limit all combinations are made, and the forest is exact. The states decide what is made of it: boundary
// words for a language model, places in a given translation for forced decoding.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/forest.hpp"
#include "text/strings.hpp"

namespace margent {

inline constexpr std::size_t most_tails = 2;

// Any of the options first, ..., first + n - 1 with any node of each of the tails, which are cells. The options come in
// the order of their bounds, best first.
struct Cube {
  std::int32_t first = 0, n = 0, n_tails = 0;
  std::array<std::int32_t, most_tails> tails{};
};

// S::State  what the future of a derivation depends on, besides its cell; compared by ==, hashed by hash()
// bound(option)  what an edge of this option is expected to score: the order in which edges are tried
// combine(option, states of the tails, emit)  calls emit(state of the head, score of the edge) for each way to do it;
//                as a rule there is one, and none where these states do not go together
template <class S>
concept ForestStates = requires(S& states, std::int32_t option, std::span<const typename S::State* const> tails,
                                const typename S::State& state, void (*emit)(const typename S::State&, double)) {
  { states.bound(option) } -> std::convertible_to<double>;
  { state == state } -> std::convertible_to<bool>;
  { state.hash() } -> std::convertible_to<std::uint64_t>;
  states.combine(option, tails, emit);
};

template <ForestStates S>
class LazyForest {
 public:
  using State = typename S::State;
  static constexpr std::int64_t unlimited = 0;

  // `score`: of its best derivation, which ends with edge `best`.
  struct Node {
    State state;
    double score;
    std::int32_t cell, best;
  };
  struct Edge {
    double score;
    std::int32_t option, head, n_tails;
    std::array<std::int32_t, most_tails> tails;  // nodes
    std::span<const std::int32_t> all_tails() const { return {tails.data(), static_cast<std::size_t>(n_tails)}; }
  };

  void clear() {
    nodes_.clear();
    edges_.clear();
    order_.clear();
    cell_ptr_.assign(1, 0);
  }
  std::int32_t n_cells() const { return static_cast<std::int32_t>(cell_ptr_.size()) - 1; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Edge> edges() const { return edges_; }
  const Node& node(std::int32_t number) const { return nodes_[static_cast<std::size_t>(number)]; }
  const Edge& edge(std::int32_t number) const { return edges_[static_cast<std::size_t>(number)]; }
  // The nodes of a cell, best first.
  std::span<const std::int32_t> cell(std::int32_t number) const {
    const auto at = static_cast<std::size_t>(number);
    return {order_.data() + cell_ptr_[at], cell_ptr_[at + 1] - cell_ptr_[at]};
  }

  // Makes the next cell of these cubes: at most pop_limit edges, or all. Its number is n_cells() before.
  void grow(S& states, std::span<const Cube> cubes, std::int64_t pop_limit) {
    first_node_ = static_cast<std::int32_t>(nodes_.size());
    cell_ = n_cells();
    slots_.assign(least_slots_, not_found);
    if (pop_limit == unlimited)
      grow_all(states, cubes);
    else
      grow_best(states, cubes, pop_limit);
    const auto first = static_cast<std::ptrdiff_t>(order_.size());
    for (auto node = first_node_; node < static_cast<std::int32_t>(nodes_.size()); ++node) order_.push_back(node);
    std::sort(order_.begin() + first, order_.end(), [&](std::int32_t a, std::int32_t b) {
      return node(a).score != node(b).score ? node(a).score > node(b).score : a < b;
    });
    cell_ptr_.push_back(order_.size());
  }

  // The edges of the best derivation of a node, as those of `Derivations`: tails before heads.
  void trace(std::int32_t node, std::vector<std::int32_t>& out) const {
    const Edge& last = edge(this->node(node).best);
    for (const std::int32_t tail : last.all_tails()) trace(tail, out);
    out.push_back(this->node(node).best);
  }

 private:
  // A combination: an option and nodes by their ranks. Before it is combined, `score` is what it is expected to be.
  struct Candidate {
    double score;
    std::int32_t cube, option;
    std::array<std::int32_t, most_tails> ranks;
    std::int32_t result = not_found, n_results = 0;
    bool operator<(const Candidate& other) const {  // a heap has the largest on top; equal scores: the first
      if (score != other.score) return score < other.score;
      if (cube != other.cube) return cube > other.cube;
      if (option != other.option) return option > other.option;
      return ranks > other.ranks;
    }
  };
  struct Result {
    State state;
    double score;  // of the edge
  };

  void grow_all(S& states, std::span<const Cube> cubes) {
    for (std::size_t c = 0; c < cubes.size(); ++c) {
      const Cube& cube = cubes[c];
      Candidate candidate{0, static_cast<std::int32_t>(c), 0, {}};
      const auto n = [&](std::int32_t t) {
        return t < cube.n_tails ? static_cast<std::int32_t>(cell(cube.tails[static_cast<std::size_t>(t)]).size()) : 1;
      };
      check_interruption(static_cast<std::int64_t>(16) * cube.n * n(0) * n(1));
      for (candidate.option = 0; candidate.option < cube.n; ++candidate.option)
        for (candidate.ranks[0] = 0; candidate.ranks[0] < n(0); ++candidate.ranks[0])
          for (candidate.ranks[1] = 0; candidate.ranks[1] < n(1); ++candidate.ranks[1]) {
            results_.clear();
            combine(states, cube, candidate);
            add(cube, candidate);
          }
    }
  }

  void grow_best(S& states, std::span<const Cube> cubes, std::int64_t pop_limit) {
    heap_.clear();
    results_.clear();
    for (std::size_t c = 0; c < cubes.size(); ++c) push(states, cubes, {0, static_cast<std::int32_t>(c), 0, {}});
    for (std::int64_t popped = 0; popped < pop_limit && !heap_.empty();) {
      check_interruption(256);
      std::pop_heap(heap_.begin(), heap_.end());
      Candidate top = heap_.back();
      heap_.pop_back();
      const Cube& cube = cubes[static_cast<std::size_t>(top.cube)];
      if (top.result == not_found) {  // what it really scores decides when its turn is
        combine(states, cube, top);
        if (top.n_results > 0) {
          heap_.push_back(top);
          std::push_heap(heap_.begin(), heap_.end());
          continue;
        }
      } else {
        add(cube, top);
        ++popped;
      }
      // One rank further at one place. Only places from the last that is not 0 on, so that each combination has one
      // predecessor.
      Candidate next{0, top.cube, top.option, top.ranks};
      std::size_t last = static_cast<std::size_t>(cube.n_tails);
      while (last > 0 && top.ranks[last - 1] == 0) --last;
      if (last == 0) {
        ++next.option;
        push(states, cubes, next);
        --next.option;
      }
      for (std::size_t t = last == 0 ? 0 : last - 1; t < static_cast<std::size_t>(cube.n_tails); ++t) {
        ++next.ranks[t];
        push(states, cubes, next);
        --next.ranks[t];
      }
    }
  }

  void push(S& states, std::span<const Cube> cubes, Candidate candidate) {
    const Cube& cube = cubes[static_cast<std::size_t>(candidate.cube)];
    if (candidate.option >= cube.n) return;
    candidate.score = states.bound(cube.first + candidate.option);
    for (std::size_t t = 0; t < static_cast<std::size_t>(cube.n_tails); ++t) {
      const auto nodes = cell(cube.tails[t]);
      const auto rank = static_cast<std::size_t>(candidate.ranks[t]);
      if (rank >= nodes.size()) return;
      candidate.score += node(nodes[rank]).score;
    }
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end());
  }

  void combine(S& states, const Cube& cube, Candidate& candidate) {
    std::array<const State*, most_tails> tails{};
    double below = 0;
    const auto n_tails = static_cast<std::size_t>(cube.n_tails);
    for (std::size_t t = 0; t < n_tails; ++t) {
      const Node& tail = node(cell(cube.tails[t])[static_cast<std::size_t>(candidate.ranks[t])]);
      tails[t] = &tail.state;
      below += tail.score;
    }
    candidate.result = static_cast<std::int32_t>(results_.size());
    double most = log_zero;
    states.combine(cube.first + candidate.option, std::span<const State* const>(tails.data(), n_tails),
                   [&](const State& state, double score) {
                     results_.push_back({state, score});
                     most = std::max(most, score);
                   });
    candidate.n_results = static_cast<std::int32_t>(results_.size()) - candidate.result;
    candidate.score = below + most;
  }

  // Makes the edges of a combination.
  void add(const Cube& cube, const Candidate& candidate) {
    for (std::int32_t r = 0; r < candidate.n_results; ++r) {
      const Result& result = results_[static_cast<std::size_t>(candidate.result + r)];
      Edge edge{result.score, cube.first + candidate.option, 0, cube.n_tails, {}};
      double score = 0;
      for (std::size_t t = 0; t < static_cast<std::size_t>(cube.n_tails); ++t) {
        edge.tails[t] = cell(cube.tails[t])[static_cast<std::size_t>(candidate.ranks[t])];
        score += node(edge.tails[t]).score;
      }
      score += result.score;
      edge.head = node_of(result.state);
      Node& head = nodes_[static_cast<std::size_t>(edge.head)];
      if (head.best == not_found || score > head.score) {
        head.score = score;
        head.best = static_cast<std::int32_t>(edges_.size());
      }
      edges_.push_back(edge);
    }
  }

  // The node of the cell that grows with this state, made where there is none.
  std::int32_t node_of(const State& state) {
    const auto n = nodes_.size() - static_cast<std::size_t>(first_node_);
    if (2 * (n + 1) > slots_.size()) {
      slots_.assign(2 * slots_.size(), not_found);
      for (auto node = first_node_; node < static_cast<std::int32_t>(nodes_.size()); ++node)
        *slot(this->node(node).state) = node;
    }
    std::int32_t* const found = slot(state);
    if (*found == not_found) {
      *found = static_cast<std::int32_t>(nodes_.size());
      nodes_.push_back({state, log_zero, cell_, not_found});
    }
    return *found;
  }
  std::int32_t* slot(const State& state) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t q = state.hash() & mask;; q = (q + 1) & mask)
      if (slots_[q] == not_found || node(slots_[q]).state == state) return &slots_[q];
  }

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<std::int32_t> order_;  // nodes, cell after cell
  std::vector<std::size_t> cell_ptr_{0};
  // Of the cell that grows.
  std::int32_t first_node_ = 0, cell_ = 0;
  static constexpr std::size_t least_slots_ = 256;
  std::vector<std::int32_t> slots_;  // nodes by their states: a power of two, at most half full
  std::vector<Candidate> heap_;
  std::vector<Result> results_;
};

// A forest of its own arrays.
struct PackedForest {
  std::vector<std::int64_t> tail_ptr{0}, incoming_ptr{0};
  std::vector<std::int32_t> tails, incoming, heads;
  std::vector<double> scores;
  std::vector<std::int32_t> node, edge;  // what each was in the forest that it was packed from

  std::int32_t n_nodes() const { return static_cast<std::int32_t>(node.size()); }
  Forest view() const { return Forest(n_nodes() - 1, tail_ptr, tails, incoming_ptr, incoming, scores); }
};

// What derivations of a node are made of, and nothing else; the node is the root.
template <ForestStates S>
PackedForest packed(const LazyForest<S>& grown, std::int32_t root) {
  PackedForest out;
  std::vector<std::uint8_t> used(static_cast<std::size_t>(root) + 1, 0);
  std::vector<std::int32_t> edges;
  used[static_cast<std::size_t>(root)] = 1;
  // Edges of a node are not together, but all those of a cell come after those of the cells before it.
  std::vector<std::int64_t> edge_ptr(static_cast<std::size_t>(root) + 2, 0);
  for (const auto& edge : grown.edges())
    if (edge.head <= root) ++edge_ptr[static_cast<std::size_t>(edge.head) + 1];
  for (std::size_t v = 0; v + 1 < edge_ptr.size(); ++v) edge_ptr[v + 1] += edge_ptr[v];
  edges.resize(static_cast<std::size_t>(edge_ptr.back()));
  {
    std::vector<std::int64_t> at(edge_ptr.begin(), edge_ptr.end() - 1);
    for (std::size_t e = 0; e < grown.edges().size(); ++e) {
      const std::int32_t head = grown.edges()[e].head;
      if (head <= root)
        edges[static_cast<std::size_t>(at[static_cast<std::size_t>(head)]++)] = static_cast<std::int32_t>(e);
    }
  }
  const auto incoming = [&](std::int32_t v) {
    const auto at = static_cast<std::size_t>(v);
    return std::span<const std::int32_t>(edges.data() + edge_ptr[at],
                                         static_cast<std::size_t>(edge_ptr[at + 1] - edge_ptr[at]));
  };
  for (std::int32_t v = root; v >= 0; --v) {
    if (!used[static_cast<std::size_t>(v)]) continue;
    for (const std::int32_t e : incoming(v))
      for (const std::int32_t tail : grown.edge(e).all_tails()) used[static_cast<std::size_t>(tail)] = 1;
  }
  std::vector<std::int32_t> number(used.size(), not_found);
  for (std::int32_t v = 0; v <= root; ++v) {
    if (!used[static_cast<std::size_t>(v)]) continue;
    number[static_cast<std::size_t>(v)] = out.n_nodes();
    for (const std::int32_t e : incoming(v)) {
      const auto& edge = grown.edge(e);
      for (const std::int32_t tail : edge.all_tails()) out.tails.push_back(number[static_cast<std::size_t>(tail)]);
      out.tail_ptr.push_back(static_cast<std::int64_t>(out.tails.size()));
      out.incoming.push_back(static_cast<std::int32_t>(out.edge.size()));
      out.heads.push_back(out.n_nodes());
      out.scores.push_back(edge.score);
      out.edge.push_back(e);
    }
    out.incoming_ptr.push_back(static_cast<std::int64_t>(out.incoming.size()));
    out.node.push_back(v);
  }
  return out;
}

}  // namespace margent
