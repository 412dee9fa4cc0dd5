// The oracle of packed forests: the answers to an example are the derivations of its forest.
//
// Several derivations may be right, so the gold side depends on the weights: it is the best of the right derivations,
// found in the same forest with all other edges forbidden, or in a forest of right derivations.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "forest/forest_example.hpp"
#include "learning/flat_oracle.hpp"
#include "learning/likelihood.hpp"

namespace margent {

class ForestOracle : public FlatOracle {
 public:
  // The batches that the problem names must outlive the oracle.
  ForestOracle(ForestProblem problem, std::int64_t n_features)
      : FlatOracle(n_features), problem_(std::move(problem)), example_(problem_) {}
  ForestOracle(const ForestOracle&) = delete;

  std::int64_t size() const override { return problem_.answers->size(); }
  // Rivals are the k derivations with the largest score + cost * loss, exactly, right ones among them; errors are edges
  // that cost something. Two passes over the forest, one for gold, and O(k d log k) for k > 1 rivals of d edges.
  void ask(std::int64_t example, const Question& question, Reply& answer) override;
  void delta(std::size_t rival, SparseVector& out) const override;
  // A derivation is named by its edges.
  std::span<const std::int32_t> labels(std::size_t rival) const override;
  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int threads) override;

  // From now on the gold side of each example is the best right derivation under the weights as they are now. All
  // others that score higher are wrong, but those that are right cost nothing. Returns in how many examples the gold
  // side is another than that which was fixed before.
  std::int64_t fix_gold();
  // The gold side is found anew for each answer again.
  void free_gold() { is_fixed_ = false; }

  const ForestProblem& problem() const { return problem_; }
  // Turns an example of another thread to the weights as they are.
  void turn(ForestExample& example, std::int64_t i) const { example.turn_to(i, kept(), scale()); }

 private:
  ForestProblem problem_;
  mutable ForestExample example_;  // of the last answer
  std::vector<std::int32_t> gold_;
  Derivations rivals_;
  bool is_fixed_ = false;
  std::vector<std::vector<std::int32_t>> fixed_;  // [n] edges of the gold sides, or empty
};

}  // namespace margent
