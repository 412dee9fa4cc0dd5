// A trained parser of dependency trees by parts: the best trees of many sentences, the k best, probabilities of arcs.
#pragma once
#include <cstdint>
#include <vector>

#include "arcs/arc_filter.hpp"
#include "arcs/tree_features.hpp"

namespace margent {

// A feature of a part of a tree: which template, with which value between (0: none), and its weight.
struct TreeContribution {
  std::int32_t number, value;
  TreePart part;
  double weight;
};

struct ArcProbabilities {
  std::vector<double> heads;   // by sentence [n][n + 1]: of each head of each word
  std::vector<double> labels;  // [words][n_labels], whatever the head
  std::vector<double> arcs;    // [words] of the head and the label together that were asked about
};

// Views of what somebody else owns: templates, weights [2^bits], filter (null: none).
class TreeModel {
 public:
  TreeModel(const PartTemplates& templates, const float* weights, int bits, int n_labels, const ArcFilter* filter,
            TreeKind kind)
      : templates_(templates), weights_(weights), bits_(bits), n_labels_(n_labels), filter_(filter), kind_(kind) {}

  const PartTemplates& templates() const { return templates_; }
  int n_labels() const { return n_labels_; }

  // scores [n], heads and labels [words]. Sentences are handed out to threads.
  void best(const TreeExamples& examples, int threads, double* scores, std::int32_t* heads, std::int32_t* labels) const;
  // Of each sentence its k best trees, best first.
  std::vector<std::vector<HeadsAndLabels>> k_best(const TreeExamples& examples, std::int64_t k, int threads) const;
  // Probabilities under exp(factor * score) / Z; heads and labels [words] name a tree whose arcs are asked about.
  ArcProbabilities marginals(const TreeExamples& examples, const std::int32_t* heads, const std::int32_t* labels,
                             double factor, int threads) const;
  // The features of a tree; their weights add up to its score.
  std::vector<TreeContribution> contributions(const TreeExamples& examples, std::int64_t i, const std::int32_t* heads,
                                              const std::int32_t* labels) const;

 private:
  struct Worker;
  template <class Answer>
  void each(const TreeExamples& examples, int threads, Answer answer) const;

  const PartTemplates& templates_;
  const float* weights_;
  int bits_, n_labels_;
  const ArcFilter* filter_;
  TreeKind kind_;
};

}  // namespace margent
