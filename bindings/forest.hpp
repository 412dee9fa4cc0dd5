// What bindings of forests share: derivations as arrays.
#pragma once
#include "bindings.hpp"
#include "forest/forest.hpp"

// (scores, where the edges of each derivation begin, edges, where the derivations of each forest begin)
inline auto joined(std::vector<margent::Derivations>&& found) {
  margent::Derivations all;
  std::vector<std::int64_t> forest_ptr{0};
  for (const margent::Derivations& one : found) {
    all.scores.insert(all.scores.end(), one.scores.begin(), one.scores.end());
    for (std::size_t j = 0; j < one.size(); ++j)
      all.ptr.push_back(static_cast<std::int64_t>(all.edges.size()) + one.ptr[j + 1]);
    all.edges.insert(all.edges.end(), one.edges.begin(), one.edges.end());
    forest_ptr.push_back(static_cast<std::int64_t>(all.size()));
  }
  return std::make_tuple(to_numpy(std::move(all.scores)), to_numpy(std::move(all.ptr)), to_numpy(std::move(all.edges)),
                         to_numpy(std::move(forest_ptr)));
}
