// The k best derivations, lazily: algorithm 3 of Huang and Chiang (2005), "Better k-best parsing".
//
// After one pass in the semiring Best, a node's derivations are ranked only as far as the root asks for them. So k
// derivations of d edges each cost O(edges + k d log(k + incoming edges of a node)), not k times the whole forest.
// Differs: an explicit stack instead of recursion, and no table of seen candidates, since each is made only once.
#include <algorithm>
#include <deque>

#include "forest/forest.hpp"
#include "forest/forest_derivation.hpp"

namespace margent {
namespace {

class Ranking {
 public:
  explicit Ranking(const Forest& forest) : forest_(forest), best_(inside(forest, Best{})), place_(best_.size(), -1) {}

  // Whether the root has a derivation of this rank (0 is the best); ranks are asked for in order.
  bool reach(std::size_t rank) {
    while (!settled(forest_.root(), rank)) advance(forest_.root());
    return node(forest_.root()).found.size() > rank;
  }

  void append(std::size_t rank, Derivations& out) {
    struct Item {
      std::int32_t node;
      std::int32_t rank;
    };
    const auto open = [&](Item item, std::vector<Item>& stack) {
      // A node that was never ranked is only ever used with its best derivation.
      const std::int32_t place = place_[static_cast<std::size_t>(item.node)];
      if (place < 0 || nodes_[static_cast<std::size_t>(place)].found.empty()) {
        const std::int32_t edge = best_[static_cast<std::size_t>(item.node)].edge;
        for (const std::int32_t tail : forest_.tails(edge)) stack.push_back({tail, 0});
        return edge;
      }
      const Ranked& chosen = nodes_[static_cast<std::size_t>(place)].found[static_cast<std::size_t>(item.rank)];
      const auto tails = forest_.tails(chosen.edge);
      for (std::size_t i = 0; i < tails.size(); ++i) stack.push_back({tails[i], ranks_[chosen.ranks + i]});
      return chosen.edge;
    };
    append_derivation(Item{forest_.root(), static_cast<std::int32_t>(rank)}, open, out.edges);
    out.scores.push_back(node(forest_.root()).found[rank].score);
    out.ptr.push_back(static_cast<std::int64_t>(out.edges.size()));
  }

 private:
  // An edge with, for each tail, the rank of the derivation used there: ranks_[ranks] and on.
  struct Ranked {
    double score;
    std::int32_t edge;
    std::size_t ranks;
  };
  struct Node {
    std::vector<Ranked> found;       // best first
    std::vector<Ranked> candidates;  // a heap: the next one is among these
    bool exhausted = false;
  };

  // The order of the heap. Equal scores: the smaller edge first, then the smaller ranks, so that the order is fixed.
  bool worse(const Ranked& a, const Ranked& b) const {
    if (a.score != b.score) return a.score < b.score;
    if (a.edge != b.edge) return a.edge > b.edge;
    const auto arity = static_cast<std::ptrdiff_t>(forest_.tails(a.edge).size());
    const auto first = ranks_.begin() + static_cast<std::ptrdiff_t>(a.ranks);
    const auto second = ranks_.begin() + static_cast<std::ptrdiff_t>(b.ranks);
    return std::lexicographical_compare(second, second + arity, first, first + arity);
  }
  auto order() const {
    return [this](const Ranked& a, const Ranked& b) { return worse(a, b); };
  }

  // The ranking of a node; when first seen, each incoming edge with the best of its tails is a candidate.
  Node& node(std::int32_t id) {
    std::int32_t& place = place_[static_cast<std::size_t>(id)];
    if (place >= 0) return nodes_[static_cast<std::size_t>(place)];
    place = static_cast<std::int32_t>(nodes_.size());
    Node& made = nodes_.emplace_back();
    for (const std::int32_t edge : forest_.incoming(id)) {
      const double score = edge_value<Best>(forest_, Best{}, best_, edge).score;
      if (score == log_zero) continue;
      made.candidates.push_back({score, edge, ranks_.size()});
      ranks_.resize(ranks_.size() + forest_.tails(edge).size(), 0);
    }
    std::make_heap(made.candidates.begin(), made.candidates.end(), order());
    return made;
  }

  bool settled(std::int32_t id, std::size_t rank) {
    const Node& seen = node(id);
    return seen.exhausted || seen.found.size() > rank;
  }

  // Finds one more derivation of a node, or that there is none.
  void advance(std::int32_t id) {
    stack_.push_back(id);
    while (!stack_.empty()) {
      check_interruption(256);
      Node& top = node(stack_.back());
      if (!top.found.empty() && !add_successors(top)) continue;
      stack_.pop_back();
      if (top.candidates.empty()) {
        top.exhausted = true;
        continue;
      }
      std::pop_heap(top.candidates.begin(), top.candidates.end(), order());
      top.found.push_back(top.candidates.back());
      top.candidates.pop_back();
    }
  }

  // The successors of the derivation found last: one rank further at one tail. Only tails from the last nonzero rank
  // on are moved, so that every combination of ranks has exactly one predecessor. False when the ranking of some tail
  // must advance first; that tail is then on the stack.
  bool add_successors(Node& at) {
    const Ranked last = at.found.back();
    const auto tails = forest_.tails(last.edge);
    std::size_t first = tails.size();
    while (first > 0 && ranks_[last.ranks + first - 1] == 0) --first;
    if (first > 0) --first;
    for (std::size_t i = first; i < tails.size(); ++i)
      if (!settled(tails[i], static_cast<std::size_t>(ranks_[last.ranks + i]) + 1)) {
        stack_.push_back(tails[i]);
        return false;
      }
    for (std::size_t i = first; i < tails.size(); ++i) {
      const auto rank = static_cast<std::size_t>(ranks_[last.ranks + i]) + 1;
      if (node(tails[i]).found.size() <= rank) continue;
      const std::size_t ranks = ranks_.size();
      for (std::size_t j = 0; j < tails.size(); ++j) ranks_.push_back(ranks_[last.ranks + j] + (i == j));
      at.candidates.push_back({score(last.edge, ranks), last.edge, ranks});
      std::push_heap(at.candidates.begin(), at.candidates.end(), order());
    }
    return true;
  }

  // In the order of the inside pass, so that equal derivations have equal bits.
  double score(std::int32_t edge, std::size_t ranks) {
    double product = 0.0;
    for (const std::int32_t tail : forest_.tails(edge)) {
      const auto rank = static_cast<std::size_t>(ranks_[ranks++]);
      const double tail_score = rank == 0 ? best_[static_cast<std::size_t>(tail)].score : node(tail).found[rank].score;
      product = log_times(product, tail_score);
    }
    return log_times(product, forest_.score(edge));
  }

  const Forest& forest_;
  std::vector<Best::Value> best_;
  std::vector<std::int32_t> place_;  // node to its number in nodes_, -1 until it is asked for
  std::deque<Node> nodes_;           // a deque: references stay valid while it grows
  std::vector<std::int32_t> ranks_;
  std::vector<std::int32_t> stack_;
};

}  // namespace

Derivations k_best(const Forest& forest, std::int64_t k) {
  Ranking ranking(forest);
  Derivations found;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(k) && ranking.reach(rank); ++rank)
    ranking.append(rank, found);
  return found;
}

}  // namespace margent
