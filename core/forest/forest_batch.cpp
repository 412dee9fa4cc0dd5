#include "forest/forest_batch.hpp"

#include "forest/edge_features.hpp"

namespace margent {

ForestBatch::ForestBatch(const ForestArrays& arrays)
    : arrays_(arrays), incoming_ptr_(static_cast<std::size_t>(arrays.node_ptr.back()) + 1),
      incoming_(arrays.heads.size()) {
  const auto each_edge = [&](auto visit) {
    for (std::int64_t i = 0; i < size(); ++i)
      for (std::int64_t e = first_edge(i); e < first_edge(i + 1); ++e)
        visit(static_cast<std::size_t>(arrays.node_ptr[static_cast<std::size_t>(i)] +
                                       arrays.heads[static_cast<std::size_t>(e)]),
              static_cast<std::int32_t>(e - first_edge(i)));
  };
  each_edge([&](std::size_t node, std::int32_t) { ++incoming_ptr_[node + 1]; });
  for (std::size_t v = 1; v < incoming_ptr_.size(); ++v) incoming_ptr_[v] += incoming_ptr_[v - 1];
  std::vector<std::int64_t> next = incoming_ptr_;
  each_edge([&](std::size_t node, std::int32_t edge) { incoming_[static_cast<std::size_t>(next[node]++)] = edge; });
}

Forest ForestBatch::forest(std::int64_t i, std::span<const double> scores) const {
  const auto at = static_cast<std::size_t>(i);
  const auto node = static_cast<std::size_t>(arrays_.node_ptr[at]);
  const auto n_nodes = static_cast<std::size_t>(arrays_.node_ptr[at + 1]) - node;
  const auto edge = static_cast<std::size_t>(first_edge(i));
  return {arrays_.roots[at], arrays_.tail_ptr.subspan(edge, n_edges(i) + 1),
          arrays_.tails,     std::span(incoming_ptr_).subspan(node, n_nodes + 1),
          incoming_,         scores};
}

std::vector<double> ForestBatch::scores(const double* weights, int threads) const {
  std::vector<double> out(static_cast<std::size_t>(n_edges()));
  std::vector<StoredEdgeFeatures> features(static_cast<std::size_t>(workers(size(), threads)),
                                           StoredEdgeFeatures(*this));
  parallel(size(), threads, [&](std::size_t thread, std::int64_t i) {
    features[thread].turn_to(i, weights, 1);
    for (std::int64_t e = first_edge(i); e < first_edge(i + 1); ++e)
      out[static_cast<std::size_t>(e)] = features[thread].score(static_cast<std::int32_t>(e - first_edge(i)));
  });
  return out;
}

}  // namespace margent
