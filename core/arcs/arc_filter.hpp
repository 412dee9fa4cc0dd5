// A filter of arcs: each word keeps the heads, and each of its arcs the labels, that a small model takes for possible.
//
// The model gives each word m a head and a label of its own, whatever the others have:
//
//   p(h, l | m) = p(h | m) p(l | h, m),  p(h | m) = exp(w . f(h, m)) / Z(m),  p(l | h, m) = exp(w . f(h, m, l)) / Z(h,
//   m).
//
// Heads see arcs alone, so that all pairs of words are scored in O(n^2), and the likelihood needs no sums over trees
// (the filter of Martins, Almeida and Smith 2013, section 4, after Koo and Collins 2010). The labels of an arc are a
// row of weights that begins at the number of its feature, so that rows overlap.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "arcs/part_keys.hpp"
#include "arcs/tree_examples.hpp"
#include "arcs/typed_arcs.hpp"
#include "arcs/weight_sums.hpp"
#include "learning/flat_likelihood.hpp"
#include "learning/flat_oracle.hpp"
#include "simd/kernels.hpp"

namespace margent {

// How many weights a filter has for 2^bits numbers of features: rows of labels begin at any of them.
inline std::int64_t n_filter_weights(int bits, int n_labels) {
  return (std::int64_t{1} << bits) + padded_width(n_labels);
}

// The scores of a filter's model under some weights. One for each thread; the templates must outlive it.
template <class Real>
class ArcFilterScorer {
 public:
  ArcFilterScorer(const PartTemplates& templates, int bits, int n_labels)
      : keys_(templates), bits_(bits), n_labels_(n_labels) {}

  void turn_to(const std::int32_t* atoms, int n_words, const Real* weights, double scale) {
    keys_.turn_to(atoms, n_words);
    sums_.start(weights, scale);
    row_.start(weights, scale, padded_width(n_labels_));
  }
  int n_words() const { return keys_.n_words(); }
  // log p(h | m) of all heads of all words, [n + 1][n + 1] by modifier and head; -inf for what is no arc.
  const std::vector<double>& heads();
  // log p(l | h, m) of an arc, [n_labels].
  const std::vector<double>& labels(int h, int m);
  // The weights of the head h of m, and of the first label of this arc.
  template <class Visit>
  void each_head_feature(int h, int m, Visit visit) const {
    keys_.each(TreePart{PartKind::arc, h, m}, false,
               [&](std::uint64_t key, std::int32_t, std::int32_t) { visit(weight_number(key, bits_)); });
  }
  template <class Visit>
  void each_label_feature(int h, int m, Visit visit) const {
    keys_.each_label_row(h, m, [&](std::uint64_t key) { visit(weight_number(key, bits_)); });
  }

 private:
  PartKeys keys_;
  int bits_, n_labels_;
  WeightSums<Real> sums_;
  RowSum<Real> row_;
  std::vector<double> heads_, labels_;
};

struct ArcFilterOptions {
  int most_heads = 10;      // of a word
  int most_labels = 4;      // of an arc
  double threshold = 1e-3;  // what is less probable than this times the best of the word is left out
};

class ArcFilter {
 public:
  // weights [n_filter_weights(bits, n_labels)], which must outlive the filter, as must the templates.
  ArcFilter(const PartTemplates& templates, const float* weights, int bits, int n_labels, ArcFilterOptions options)
      : templates_(templates), weights_(weights), bits_(bits), n_labels_(n_labels), options_(options) {}

  // Memory of one thread.
  struct Workspace {
    explicit Workspace(const ArcFilter& filter) : scorer(filter.templates_, filter.bits_, filter.n_labels_) {}
    ArcFilterScorer<float> scorer;
    std::vector<std::int32_t> heads, labels;
  };
  // The arcs that are kept, each with its best label and others that are likely. Among them are those from each word to
  // the next one in the direction of the most likely root, so that there always is a projective tree with one root.
  void keep(const std::int32_t* atoms, int n_words, Workspace& work, std::vector<TypedArc>& out) const;

 private:
  const PartTemplates& templates_;
  const float* weights_;
  int bits_, n_labels_;
  ArcFilterOptions options_;
};

// All arcs with all labels.
void all_arcs(int n_words, int n_labels, std::vector<TypedArc>& out);

// Words with known heads and labels, as examples of the filter's model: its likelihood is what it learns by.
class ArcFilterOracle final : public FlatOracle {
 public:
  ArcFilterOracle(const PartTemplates& templates, const TreeExamples& examples, int bits, int n_labels)
      : FlatOracle(n_filter_weights(bits, n_labels)), templates_(templates), examples_(examples), bits_(bits),
        n_labels_(n_labels) {}

  std::int64_t size() const override { return examples_.size(); }
  // It is learned by its likelihood alone.
  void ask(std::int64_t, const Question&, Reply& answer) override { answer = {}; }
  void delta(std::size_t, SparseVector& out) const override { out.clear(); }
  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int threads) override;

  const TreeExamples& examples() const { return examples_; }
  ArcFilterScorer<double> scorer() const { return {templates_, bits_, n_labels_}; }
  int n_labels() const { return n_labels_; }
  // Turns a scorer of some thread to the weights as they are.
  void turn(ArcFilterScorer<double>& scorer, std::int64_t i) const {
    scorer.turn_to(examples_.atoms_of(i), examples_.n_words(i), kept(), scale());
  }

 private:
  const PartTemplates& templates_;
  TreeExamples examples_;
  int bits_, n_labels_;
};

}  // namespace margent
