// The conditional random field over dependency trees.
//
//   - log (sum over right trees of exp(score) / sum over all trees of exp(score)),
//
// by inside and outside sums for projective trees (Paskin 2001), by the matrix-tree theorem for others (Koo, Globerson,
// Carreras and Collins 2007; Smith and Smith 2007). Where heads or labels are not known, several trees are right; with
// best_completion the best of them counts alone. The gradient is the expected features of a tree minus those of a right
// one; parts with a probability below 1e-9 are left out of it.
#pragma once
#include <vector>

#include "arcs/tree_oracle.hpp"
#include "learning/flat_likelihood.hpp"

namespace margent {

class TreeLikelihood final : public FlatLikelihood {
 public:
  TreeLikelihood(TreeOracle& oracle, bool best_completion, int threads)
      : FlatLikelihood(oracle, threads), oracle_(oracle), best_completion_(best_completion),
        examples_(static_cast<std::size_t>(workers(oracle.size(), threads)), TreeExample(oracle.problem())),
        work_(examples_.size()) {}

 protected:
  double example(std::size_t thread, std::int64_t i, SparseVector* gradient) override;

 private:
  TreeOracle& oracle_;
  bool best_completion_;
  std::vector<TreeExample> examples_;  // of each thread
  std::vector<TreeWorkspace> work_;
};

}  // namespace margent
