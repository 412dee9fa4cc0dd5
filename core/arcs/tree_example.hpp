// A sentence of a tree bank under given weights: the scores of its trees, free, with costs, or of the right ones alone.
#pragma once
#include <cstdint>
#include <vector>

#include "arcs/arc_filter.hpp"
#include "arcs/tree_features.hpp"

namespace margent {

// What is learned, and from what. Templates, filter and what the examples look into must outlive it.
class TreeProblem {
 public:
  // filter null: all arcs are searched. A wrong head costs 1, a wrong label of a right head `label_cost`.
  TreeProblem(const PartTemplates& templates, const TreeExamples& examples, const ArcFilter* filter, TreeKind kind,
              int n_labels, int bits, double label_cost, int threads);

  const PartTemplates& templates() const { return templates_; }
  const TreeExamples& examples() const { return examples_; }
  TreeKind kind() const { return kind_; }
  int n_labels() const { return n_labels_; }
  int bits() const { return bits_; }
  double label_cost() const { return label_cost_; }
  // The arcs that an example is searched in: those of the filter, and all that are known to be right. `chosen` is
  // memory of the caller.
  void find_arcs(std::int64_t i, std::vector<TypedArc>& chosen, TypedArcs& out) const;
  // Whether head and label of each word are known.
  bool is_complete(std::int64_t i) const { return state_[static_cast<std::size_t>(i)] != State::partial; }
  // Whether the known tree is none of those that are searched: it has crossing arcs, or several roots.
  bool is_out_of_reach(std::int64_t i) const { return state_[static_cast<std::size_t>(i)] == State::out_of_reach; }

 private:
  enum class State : std::uint8_t { complete, out_of_reach, partial };
  State state_of(std::int64_t i) const;

  const PartTemplates& templates_;
  TreeExamples examples_;
  TreeKind kind_;
  int n_labels_, bits_;
  double label_cost_;
  bool filtered_;
  std::vector<State> state_;
  std::vector<std::vector<TypedArc>> kept_;  // by example
};

// One for each thread.
class TreeExample {
 public:
  explicit TreeExample(const TreeProblem& problem)
      : problem_(&problem), features_(problem.templates(), problem.examples(), problem.bits()) {}

  void turn_to(std::int64_t example, const double* weights, double scale);
  // Scores of all trees, as they are.
  const LabelledScores& all() { return with(plain_); }
  // With cost * loss added.
  const LabelledScores& with_costs(double cost);
  // Of the trees that have all heads and labels that are known.
  const LabelledScores& right();
  // The right tree, the best one where several are; no arcs: none is in reach.
  ScoredTree gold(TreeWorkspace& work);
  std::int32_t head(std::int32_t arc) const { return typed_.arcs.head(arc); }
  std::int32_t label(std::int32_t arc) const { return typed_.labels[static_cast<std::size_t>(arc)]; }
  double score(const ScoredTree& tree) { return all().score(tree); }
  double loss(const ScoredTree& tree) const;
  std::int64_t errors(const ScoredTree& tree) const;

  // Adds the features of a tree times an amount, or of the parts in which one differs from another: f(a) - f(b).
  void collect(const ScoredTree& tree, double amount);
  void collect_difference(const ScoredTree& a, const ScoredTree& b);
  // Those of all parts, times amount and probability.
  void collect_expected(const LabelledMarginals& marginals, double amount);
  void hand_over(SparseVector& out) { features_.hand_over(out); }

 private:
  const LabelledScores& with(const std::vector<double>& values) {
    scores_.values = values;
    return scores_;
  }
  template <class Change>
  const LabelledScores& changed(Change change);
  // Whether an arc is wrong in its head, and in its label; what is not known is not wrong.
  bool wrong_head(std::int32_t arc) const;
  bool wrong_label(std::int32_t arc) const;

  const TreeProblem* problem_;
  TreeFeatures<double> features_;
  std::int64_t example_ = 0;
  TypedArcs typed_;
  LabelledScores scores_;
  std::vector<double> plain_, changed_;
  std::vector<TypedArc> chosen_;
  std::vector<TreePart> parts_, other_parts_;
};

}  // namespace margent
