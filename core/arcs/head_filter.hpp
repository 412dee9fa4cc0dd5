// A filter of arcs: each word keeps the heads that a small model takes for possible, and a search sees no others.
//
// The model gives each word m a head of its own, whatever the others have: p(h | m) = exp(w . f(h, m)) / Z(m). It sees
// arcs alone, so that all pairs of words are scored in O(n^2), and its likelihood needs no sums over trees (the filter
// of Martins, Almeida and Smith 2013, section 4, after Koo and Collins 2010).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "arcs/part_keys.hpp"
#include "arcs/tree_examples.hpp"
#include "arcs/weight_sums.hpp"
#include "learning/flat_likelihood.hpp"

namespace margent {

// The scores of all heads of all words, [n + 1][n + 1] by modifier and head; what is no arc is -inf.
template <class Real>
void score_heads(const PartKeys& keys, WeightSums<Real>& sums, int bits, std::vector<double>& out);

struct HeadFilterOptions {
  int most_heads = 10;      // of a word
  double threshold = 1e-3;  // heads less probable than this times the most probable are left out
};

// Arcs of one sentence, by modifier and head.
using ArcList = std::vector<std::pair<std::int32_t, std::int32_t>>;

class HeadFilter {
 public:
  // weights [2^bits], which must outlive the filter, as must the templates.
  HeadFilter(const PartTemplates& templates, const float* weights, int bits, HeadFilterOptions options)
      : templates_(templates), weights_(weights), bits_(bits), options_(options) {}

  // Memory of one thread.
  struct Workspace {
    explicit Workspace(const HeadFilter& filter) : keys(filter.templates_) {}
    PartKeys keys;
    WeightSums<float> sums;
    std::vector<double> scores;
    std::vector<std::int32_t> order;
  };
  // The arcs that are kept, allowed [n + 1][n + 1] by head and modifier. Among them are those from each word to the
  // next one in the direction of the most likely root, so that there always is a projective tree with one root.
  void keep(const std::int32_t* atoms, int n_words, Workspace& work, std::vector<std::uint8_t>& allowed) const;

 private:
  const PartTemplates& templates_;
  const float* weights_;
  int bits_;
  HeadFilterOptions options_;
};

// Words with known heads, as examples of the filter's model: its likelihood is what it learns by.
class HeadOracle final : public FlatOracle {
 public:
  HeadOracle(const PartTemplates& templates, const TreeExamples& examples, int bits)
      : FlatOracle(std::int64_t{1} << bits), templates_(templates), examples_(examples), bits_(bits) {}

  std::int64_t size() const override { return examples_.size(); }
  // It is learned by its likelihood alone.
  void ask(std::int64_t, const Question&, Reply& answer) override { answer = {}; }
  void delta(std::size_t, SparseVector& out) const override { out.clear(); }
  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int threads) override;

  const PartTemplates& templates() const { return templates_; }
  const TreeExamples& examples() const { return examples_; }
  int bits() const { return bits_; }
  const double* weights_kept() const { return kept(); }
  double weights_scale() const { return scale(); }

 private:
  const PartTemplates& templates_;
  TreeExamples examples_;
  int bits_;
};

}  // namespace margent
