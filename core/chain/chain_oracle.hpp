// The oracle of a linear chain in training: its weights, their averages, its examples.
#pragma once
#include <memory>
#include <vector>

#include "chain/chain_beam.hpp"
#include "chain/chain_features.hpp"
#include "chain/kernel_rows.hpp"
#include "chain/linear_chain.hpp"
#include "cosegments/gram_sums.hpp"
#include "learning/oracle.hpp"
#include "transitions/beam_comparison.hpp"

namespace margent {

// Transition weights of all orders up to k, with their sums for averaging, and their total as the search wants it.
//
// Level j (1 <= j <= k) has a weight for each label after each history of j labels, and for ending after each; the
// search sees the sum over levels, which is kept up to date at each change, together with its transpose and a bound
// on each column (see ChainScores).
class TransitionWeights {
 public:
  // Those that are not `learned` stay as they are set, and their sums over time are not kept.
  TransitionWeights(const ChainShape& shape, bool learned, bool with_bound);

  // The sum of all levels [B^k][width]; of one level, it is that level.
  const float* total() const { return shape_.order == 1 ? weights[0].data() : total_.data(); }

  // The transition into labels[position] (or, at position n, the end) of a labelling: adds `step` at every level.
  void add(const std::int32_t* labels, int length, int position, float step, float clock);
  // The sums over levels, made anew from the levels.
  void sum_levels();
  void absorb_scale(const Clock& clock);
  double squared_norm() const;

  // Per level: [B^j][width] and [B^(j-1)][width]; sums are empty where nothing is learned.
  std::vector<std::vector<float>> weights, sums;
  std::vector<std::vector<float>> end_weights, end_sums;
  Buffer<float> end, transposed, bound;

 private:
  ChainShape shape_;
  Buffer<float> total_;
  bool with_bound_;
};

class ChainOracle final : public Oracle {
 public:
  // `label_costs`: what a mistake costs, [L] for each right label or [L][L] for each right and each other label;
  // empty: 1 each.
  ChainOracle(const Examples& examples, int n_labels, int order, bool learn_transitions, std::int64_t n_unigrams,
              std::int64_t n_edges, bool sparse, std::vector<float> label_costs);
  // With a kernel over n_unigrams observations, of whose rows up to `cache_bytes` are kept: each token has one feature,
  // its observation, without a value.
  ChainOracle(const Examples& examples, int n_labels, int order, bool learn_transitions, std::int64_t n_unigrams,
              std::unique_ptr<KernelSource> kernel, std::int64_t cache_bytes, std::vector<float> label_costs);

  std::int64_t size() const override { return examples_.n_sequences; }
  void ask(std::int64_t example, const Question& question, Reply& answer) override;
  // From now on searches with a beam. Where that goes wrong, answers are about the prefix that `update` chooses.
  void set_beam(int width, BeamUpdate update) { beam_width_ = width, update_ = update; }
  int beam_width() const { return beam_width_; }  // 0: searches are exact
  // From now on the gold side of each example is the best of what is right under the weights as they are now. All other
  // labellings are wrong, but those that are right cost nothing. Returns in how many examples the gold side is another
  // than that which was fixed before.
  std::int64_t fix_gold();
  // The gold side is found anew for each answer again.
  void free_gold() { is_fixed_ = false; }
  void delta(std::size_t rival, SparseVector& out) const override;
  double inner(const SparseVector& a, const SparseVector& b) const override;
  double dot(std::size_t i, std::size_t j) const override;
  std::span<const std::int32_t> labels(std::size_t rival) const override { return {labels_of(rival), gold_.size()}; }
  double score(const SparseVector& vector) const override;
  void add(const SparseVector& vector, double step) override;
  void move(std::size_t rival, double step) override;
  void prefetch(std::int64_t example) override { scorer_->prefetch(examples_, example); }
  void scale(double factor) override;
  double squared_norm() const override;
  void tick(double weight = 1) override { clock_.tick(weight); }
  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int threads) override;

  const ChainShape& shape() const { return shape_; }
  const Clock& clock() const { return clock_; }
  const Examples& examples() const { return examples_; }
  bool learn_transitions() const { return learn_transitions_; }
  // [L], or [L * L] where the cost depends on the right label and on the wrong one.
  const std::vector<float>& label_costs() const { return label_costs_; }
  // The weights as they are at any time, as the search sees them.
  LinearChain model() const;
  DenseRows* dense() { return dense_.get(); }
  SparseRows* sparse() { return sparse_.get(); }
  KernelRows* kernel() { return kernel_.get(); }
  SparseRows* edges() { return edges_.get(); }
  TransitionWeights& transitions() { return transitions_; }

 private:
  void begin(int n_labels);
  GrowingRows& unigrams() const {
    return dense_ ? static_cast<GrowingRows&>(*dense_) : sparse_ ? static_cast<GrowingRows&>(*sparse_) : *kernel_;
  }
  std::int64_t n_unigrams() const {
    return dense_ ? dense_->n_rows() : sparse_ ? sparse_->n_rows() : kernel_->n_rows();
  }
  // Searches with the beam: up to k rivals of the prefix to learn from, and gold cut down to it. Returns how many;
  // none, and no place that could be wrong, where there is nothing to learn from.
  std::size_t ask_beam(const ChainScores<float>& scores, const std::int32_t* labels, std::size_t k, Reply& answer);
  double complete_gold(const ChainScores<float>& scores);
  void add_costs(const std::int32_t* labels, int n, float cost);
  float cost_of(std::int32_t gold, std::int32_t other) const {
    return label_costs_[pair_costs_ ? static_cast<std::size_t>(gold) * shape_.n_labels + other : gold];
  }
  // The labels of rival j of the last answer.
  const std::int32_t* labels_of(std::size_t rival) const;
  // Calls on_token(t) where gold and the rival differ, on_transition(t) where the transition into t (or the end) does.
  template <class OnToken, class OnTransition>
  void differences(std::size_t rival, OnToken on_token, OnTransition on_transition) const;

  // A part of the deltas of some rivals.
  struct SharedPart {
    ChainFeatures::Part part;
    double sign;
    std::size_t begin, end;  // its members: members_[begin] to members_[end - 1]
  };
  void make_gram() const;
  // The parts at a position: one for gold, with the rivals that differ from it in the `reach` labels up to there, and
  // one for each way in which they do.
  void find_parts(int position, int reach, bool is_transition) const;
  // Calls on_weight(position, value) for dense rows, on_row(rows, id, column, value) for others, and
  // on_level(level, is_end, position, value), for each entry of a vector.
  template <class OnWeight, class OnRow, class OnLevel>
  void entries(const SparseVector& vector, OnWeight on_weight, OnRow on_row, OnLevel on_level) const;

  Examples examples_;
  ChainShape shape_;
  bool learn_transitions_;
  std::vector<float> label_costs_;
  bool pair_costs_;
  std::vector<float> right_;  // [L]
  bool is_fixed_ = false;
  std::vector<std::int32_t> fixed_;  // [tokens]: gold as it was fixed last, `unlabelled` where there is none; or empty
  std::unique_ptr<DenseRows> dense_;
  std::unique_ptr<SparseRows> sparse_, edges_;
  std::unique_ptr<KernelSource> source_;
  std::unique_ptr<KernelRows> kernel_;
  TransitionWeights transitions_;
  std::unique_ptr<ChainFeatures> features_;
  std::unique_ptr<ChainScorer<float>> scorer_;
  ChainWorkspace<float> work_;
  ChainSystem<float> system_;
  BeamComparison<ChainSystem<float>> beam_;
  ChainBeamSearch<float>::Path path_;
  int beam_width_ = 0;
  BeamUpdate update_ = BeamUpdate::max_violation;
  Clock clock_;

  // The last answer, about all tokens or, with a beam, about the first of them: gold_.size().
  std::int64_t example_ = 0;
  bool ends_ = true;  // the end of the sequence is a part of it
  std::vector<std::int32_t> gold_, rivals_;
  std::vector<double> values_;
  std::size_t n_rivals_ = 0;
  // The inner products of its deltas, once somebody has asked for one.
  mutable GramSums gram_;
  mutable bool has_gram_ = false;
  mutable std::vector<SharedPart> parts_;
  mutable std::vector<std::size_t> members_;
  mutable std::vector<std::int64_t> overlaps_;
  mutable std::vector<int> near_;
};

}  // namespace margent
