// Many forests in common arrays, whose edges may have features: built once, asked under any weights.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "chain/rows.hpp"
#include "forest/forest.hpp"
#include "parallel.hpp"

namespace margent {

// Views of arrays that somebody else owns and has checked. Nodes and edges are numbered from 0 within each forest.
struct ForestArrays {
  std::span<const std::int64_t> node_ptr;  // [n + 1]: how many nodes there are in the forests before each
  std::span<const std::int64_t> edge_ptr;  // [n + 1]: where the edges of each forest begin
  std::span<const std::int32_t> roots;     // [n]
  std::span<const std::int32_t> heads;     // [E]
  std::span<const std::int64_t> tail_ptr;  // [E + 1]
  std::span<const std::int32_t> tails;
  std::span<const std::uint8_t> allowed;  // [E]; 0: no derivation may use the edge
  Features features;                      // rows are edges; ptr null: they have none
};

class ForestBatch {
 public:
  explicit ForestBatch(const ForestArrays& arrays);

  std::int64_t size() const { return static_cast<std::int64_t>(arrays_.roots.size()); }
  std::int64_t n_edges() const { return arrays_.edge_ptr.back(); }
  // The edges of forest i are numbers first_edge(i) to first_edge(i + 1) - 1 of the batch.
  std::int64_t first_edge(std::int64_t i) const { return arrays_.edge_ptr[static_cast<std::size_t>(i)]; }
  std::size_t n_edges(std::int64_t i) const { return static_cast<std::size_t>(first_edge(i + 1) - first_edge(i)); }
  bool allowed(std::int64_t edge) const { return arrays_.allowed[static_cast<std::size_t>(edge)] != 0; }
  const Features& features() const { return arrays_.features; }
  // Forest i with these scores of its edges.
  Forest forest(std::int64_t i, std::span<const double> scores) const;
  // ask(forest, i) of each forest, under scores [E] of all edges; answers in the order of the forests.
  template <class Ask>
  auto ask_each(std::span<const double> scores, int threads, Ask ask) const {
    std::vector<decltype(ask(forest(0, scores), 0))> answers(static_cast<std::size_t>(size()));
    parallel(size(), threads, [&](std::size_t, std::int64_t i) {
      const auto first = static_cast<std::size_t>(first_edge(i));
      answers[static_cast<std::size_t>(i)] = ask(forest(i, scores.subspan(first, n_edges(i))), i);
    });
    return answers;
  }
  // For samples of forest i: the random numbers of different forests have nothing in common.
  static std::uint64_t seed(std::uint64_t seed, std::int64_t i) {
    return seed + static_cast<std::uint64_t>(i) * 0xD1342543DE82EF95ull;
  }
  // Scores of all edges [E] under weights.
  std::vector<double> scores(const double* weights, int threads) const;

 private:
  ForestArrays arrays_;
  std::vector<std::int64_t> incoming_ptr_;  // of all nodes, one after the other
  std::vector<std::int32_t> incoming_;      // edges, numbered within their forest
};

}  // namespace margent
