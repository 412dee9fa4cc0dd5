// Scores of the labelled trees of one sentence by the numbers of their parts, and all questions to them.
#pragma once
#include <cstdint>
#include <vector>

#include "arcs/arc_scores.hpp"
#include "arcs/projective_trees.hpp"

namespace margent {

struct TreeKind {
  bool projective = true, single_root = true;
};

// Memory that calls share.
struct TreeWorkspace {
  ProjectiveWorkspace chart;
  std::vector<double> arcs;               // of each arc, over its labels: the best, or the log of the sum
  std::vector<std::int32_t> best_labels;  // of each arc
};

// A tree by the heads of its words.
struct HeadsAndLabels {
  double score = 0;
  std::vector<std::int32_t> heads, labels;  // [n_words]; labels are empty where there are none
};

struct LabelledMarginals {
  PartMarginals parts;
  std::vector<double> labels;  // [size][n_labels], or empty
};

// Finite, or -inf for what may not be. Parts of second order are for projective trees alone. Labels of an arc are
// either numbers beside it (n_labels), or arcs of their own between the same words (ArcSet).
struct LabelledScores {
  TreeKind kind;
  ArcSet arcs;
  int n_labels = 0;                  // 0: arcs have no labels
  std::vector<double> values;        // [size] of arcs, or [size][n_labels] of arcs with their labels, all in all
  std::vector<double> siblings;      // empty: there are no such parts
  std::vector<double> grandparents;  // empty: there are no such parts
  bool with_siblings = false, with_grandparents = false;

  TreeOrder order() const;
  double value(std::int32_t arc, std::int32_t label) const {
    return values[n_labels ? static_cast<std::size_t>(arc) * n_labels + label : static_cast<std::size_t>(arc)];
  }
  // What a tree scores.
  double score(const ScoredTree& tree) const;
  // -inf, and no arcs, where there is no tree.
  ScoredTree best(TreeWorkspace& work) const;
  // In order of score, all different in an arc or a label; fewer where there are fewer.
  std::vector<ScoredTree> k_best(std::int64_t k, TreeWorkspace& work) const;
  double log_partition(TreeWorkspace& work) const;
  LabelledMarginals marginals(TreeWorkspace& work) const;
  // Of projective trees.
  ProjectiveForest forest() const;

 private:
  // The same scores with one arc between two words at most, whose labels are the arcs that were there; `first` gets the
  // first of these by arc.
  LabelledScores by_words(std::vector<std::int32_t>& first) const;
  bool by_words_wanted() const;
  // Fills work.arcs, and work.best_labels without sums.
  PartScores over_labels(bool sums, TreeWorkspace& work) const;
  ArcLabels labels() const { return {n_labels ? values.data() : nullptr, n_labels}; }
};

}  // namespace margent
