// The conditional random field over forests: the likelihood of the right derivations.
//
//   - log (sum over right derivations of exp(score) / sum over all derivations of exp(score)),
//
// a latent CRF where several are right; with best_completion the best right derivation counts alone. The gradient is
// the expected features of a derivation minus those of a right one, by inside and outside passes over both forests.
#pragma once
#include <vector>

#include "forest/forest_oracle.hpp"
#include "learning/flat_likelihood.hpp"

namespace margent {

class ForestLikelihood final : public FlatLikelihood {
 public:
  ForestLikelihood(ForestOracle& oracle, bool best_completion, int threads)
      : FlatLikelihood(oracle, threads), oracle_(oracle), best_completion_(best_completion) {
    for (int i = 0; i < workers(oracle.size(), threads); ++i) examples_.emplace_back(oracle.problem());
  }

 protected:
  double example(std::size_t thread, std::int64_t i, SparseVector* gradient) override;

 private:
  ForestOracle& oracle_;
  bool best_completion_;
  std::vector<ForestExample> examples_;  // of each thread
};

}  // namespace margent
