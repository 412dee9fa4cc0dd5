// The oracle of dependency trees: sentences with known heads and labels, all or some of them, under exact search.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arcs/tree_example.hpp"
#include "learning/flat_oracle.hpp"

namespace margent {

// Rivals are the k trees with the largest score + cost * loss, exactly, among those that the filter leaves. Where heads
// or labels are not known, gold is the best tree that has all that are. A sentence whose known tree is not searched for
// (it has crossing arcs, and the search is for projective trees) has no rivals.
class TreeOracle final : public FlatOracle {
 public:
  // The problem must outlive the oracle.
  explicit TreeOracle(const TreeProblem& problem)
      : FlatOracle(std::int64_t{1} << problem.bits()), problem_(problem), example_(problem) {}
  TreeOracle(const TreeOracle&) = delete;

  const TreeProblem& problem() const { return problem_; }
  // Turns an example of another thread to the weights as they are.
  void turn(TreeExample& example, std::int64_t i) const { example.turn_to(i, kept(), scale()); }

  std::int64_t size() const override { return problem_.examples().size(); }
  void ask(std::int64_t example, const Question& question, Reply& answer) override;
  void delta(std::size_t rival, SparseVector& out) const override;
  // A tree is named by head * n_labels + label of each word.
  std::span<const std::int32_t> labels(std::size_t rival) const override;
  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int threads) override;

  // From now on the gold side of each example is the best right tree under the weights as they are now. Others that are
  // right cost nothing. Returns in how many examples the gold side is another than that which was fixed before.
  std::int64_t fix_gold();
  // The gold side is found anew for each answer again.
  void free_gold() { is_fixed_ = false; }

 private:
  ScoredTree gold_of(std::int64_t example);

  const TreeProblem& problem_;
  mutable TreeExample example_;  // of the last answer
  TreeWorkspace work_;
  ScoredTree gold_;
  std::vector<ScoredTree> rivals_;
  mutable std::vector<std::int32_t> name_;
  bool is_fixed_ = false;
  std::vector<ScoredTree> fixed_;  // the gold sides of all examples, or empty
};

}  // namespace margent
