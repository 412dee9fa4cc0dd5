// Arcs with their labels as arcs of their own, so that pairs of arcs see labels.
#pragma once
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "arcs/arc_set.hpp"

namespace margent {

struct TypedArc {
  std::int32_t head, modifier, label;
  auto operator<=>(const TypedArc&) const = default;
};

struct TypedArcs {
  ArcSet arcs;
  std::vector<std::int32_t> labels;  // of each arc; those of two words rise

  // At most 255 labels of two words. Sorts `chosen`, each of which should be there once.
  void assign(int n_words, std::vector<TypedArc>& chosen) {
    std::sort(chosen.begin(), chosen.end());
    const std::size_t n = static_cast<std::size_t>(n_words) + 1;
    counts_.assign(n * n, 0);
    for (const TypedArc& each : chosen) ++counts_[static_cast<std::size_t>(each.head) * n + each.modifier];
    arcs.assign(n_words, counts_.data());
    labels.resize(static_cast<std::size_t>(arcs.size()));
    for (std::size_t i = 0; i < chosen.size();) {
      std::int32_t arc = arcs.find(chosen[i].head, chosen[i].modifier);
      const std::size_t first = i;
      for (; i < chosen.size() && chosen[i].head == chosen[first].head && chosen[i].modifier == chosen[first].modifier;
           ++i)
        labels[static_cast<std::size_t>(arc++)] = chosen[i].label;
    }
  }

  // The number of the arc with this label; -1: not there.
  std::int32_t find(int head, int modifier, int label) const {
    std::int32_t arc = arcs.find(head, modifier);
    if (arc < 0) return -1;
    for (const std::int32_t first = arc; arc < arcs.size() && arcs.first(arc) == first; ++arc)
      if (labels[static_cast<std::size_t>(arc)] == label) return arc;
    return -1;
  }

 private:
  std::vector<std::uint8_t> counts_;
};

}  // namespace margent
