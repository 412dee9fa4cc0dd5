// Unfolding one derivation out of a forest without recursion: a derivation may be millions of edges deep.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace margent {

// Where tails are shared, a small forest can hold derivations of astronomic size; past this one gives up.
inline constexpr std::size_t max_derivation_edges = std::size_t{1} << 25;

// Appends the edges of the derivation that starts at `root`, tails before heads and left before right.
// open(item, stack) returns the edge chosen for an item and puts an item for each of its tails on the stack, in order.
template <class Item, class Open>
void append_derivation(Item root, Open open, std::vector<std::int32_t>& edges) {
  const std::size_t begin = edges.size();
  std::vector<Item> stack{root};
  while (!stack.empty()) {
    const Item item = stack.back();
    stack.pop_back();
    if (edges.size() - begin == max_derivation_edges)
      throw std::length_error("a derivation of this forest has more than 33554432 (2**25) edges; expected fewer");
    edges.push_back(open(item, stack));
  }
  // Seen so far: each edge before its tails, and these from right to left.
  std::reverse(edges.begin() + static_cast<std::ptrdiff_t>(begin), edges.end());
}

}  // namespace margent
