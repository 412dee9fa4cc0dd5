#include "arcs/arc_scores.hpp"

namespace margent {

double tree_score(const ArcSet& arcs, const PartScores& scores, const Tree& tree) {
  double sum = 0;
  for (const std::int32_t arc : tree) sum += scores.arcs[arc];
  if (!scores.siblings && !scores.grandparents) return sum;
  each_second_order_part(
      arcs, tree,
      [&](std::int64_t part, std::int32_t, std::int32_t) { sum += scores.siblings ? scores.siblings[part] : 0; },
      [&](std::int64_t part, std::int32_t, std::int32_t) {
        sum += scores.grandparents ? scores.grandparents[part] : 0;
      });
  return sum;
}

bool find_tree(const ArcSet& arcs, const std::int32_t* heads, Tree& tree) {
  tree.clear();
  for (int m = 1; m <= arcs.n_words(); ++m) {
    const std::int32_t arc = arcs.find(heads[m - 1], m);
    if (arc < 0) return false;
    tree.push_back(arc);
  }
  return true;
}

}  // namespace margent
