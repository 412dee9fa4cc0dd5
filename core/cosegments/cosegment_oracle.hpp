// The oracle of words and their right pronunciations, under beam search: the latent perceptron for co-segments.
#pragma once
#include <cstdint>
#include <vector>

#include "cosegments/cosegment_search.hpp"
#include "learning/flat_oracle.hpp"
#include "transitions/beam_update.hpp"

namespace margent {

// Example i has the pairs [example_ptr[i], example_ptr[i + 1]): one word with its right pronunciations. Feature 0 comes
// from models[fold[i]], which should not have counted the word: else it is too sure of it to leave anything to learn.
struct TranscriptionExamples {
  SpellingPairs pairs;
  std::int64_t size = 0;
  const std::int64_t* example_ptr = nullptr;
  const std::int32_t* fold = nullptr;
  std::vector<const GramModel*> models;
};

// How a word is cut is not known, so the right side is found by a search of its own among what can still become right
// (forced search; paper 003, equation 4.3). Where the beam's best whole answer is wrong, `update` chooses the number of
// letters up to which the best in the beam and the best that is right are compared, as in the max-violation perceptron
// with latent variables (Yu, Huang, Mi and Zhao 2013). All that is not right has a loss of 1. A word is left out where
// all that is right lies beyond the threshold of the search: what cannot be found would be moved towards for ever.
class CosegmentOracle final : public FlatOracle {
 public:
  CosegmentOracle(const CosegmentUnits& units, const TranscriptionExamples& examples, int bits,
                  const CosegmentSearchOptions& options, BeamUpdate update)
      : FlatOracle((std::int64_t{1} << bits) + 1), units_(units), examples_(examples), bits_(bits), options_(options),
        update_(update), gold_(units, options), search_(units, options) {}

  const CosegmentUnits& units() const { return units_; }
  const TranscriptionExamples& examples() const { return examples_; }
  int bits() const { return bits_; }
  const CosegmentSearchOptions& options() const { return options_; }
  CosegmentWeights<double> search_weights() const { return {kept(), bits_, scale()}; }

  std::int64_t size() const override { return examples_.size; }
  void ask(std::int64_t example, const Question& question, Reply& answer) override;
  void delta(std::size_t rival, SparseVector& out) const override { out = deltas_.at(rival); }
  double dot(std::size_t i, std::size_t j) const override { return inner(deltas_.at(i), deltas_.at(j)); }
  void move(std::size_t rival, double step) override { add(deltas_.at(rival), step); }
  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int threads) override;

 private:
  // F(gold) - F(rival), of whole words or of their first letters.
  void difference(Symbols word, std::int32_t rival, bool whole, SparseVector& out);

  const CosegmentUnits& units_;
  TranscriptionExamples examples_;
  int bits_;
  CosegmentSearchOptions options_;
  BeamUpdate update_;
  RightAnswers right_;
  CosegmentSearch<double> gold_, search_;
  // The last answer.
  std::int32_t gold_item_ = -1;
  std::vector<std::int32_t> gold_cut_, cut_;
  std::vector<SparseVector> deltas_;
};

}  // namespace margent
