// Expected features of one sequence under a chain with given weights: the inner part of chain_likelihood.hpp, and fast
// marginals for tagging.hpp.
#pragma once
#include <memory>
#include <vector>

#include "chain/linear_chain.hpp"
#include "simd/sum_kernels.hpp"

namespace margent {

class ChainExpectations {
 public:
  // `label_costs` [L]: the logarithm of a label's cost is taken from its scores. `best_completion`: where several
  // labellings are right, the best of them counts alone.
  ChainExpectations(const LinearChain& model, const std::vector<float>& label_costs, bool best_completion = false);

  // Reads the transitions anew; all weights count `scale` times.
  void refresh(double scale);

  // log Z - log Z(known labels) of a sequence times `weight`. Adds the differences of expected counts, times `weight`,
  // unless `nodes` is null: nodes [n][width] of labels, edges [n][B * width] of label pairs (or null), and to the own
  // table of histories and ends. A sequence whose known labels are forbidden counts 0 and adds nothing.
  double add(const Examples& examples, std::int64_t sequence, double weight, float* nodes, float* edges);

  // log Z(known labels) of a sequence times `weight`, and what is expected of its right labellings alone: added as by
  // `add`.
  double add_right(const Examples& examples, std::int64_t sequence, double weight, float* nodes);

  // The probability of each label, nodes [n][L], to about six digits, and log Z. False, and nothing is said, where
  // single precision or the order is not up to it; costs do not count.
  bool marginals(const Examples& examples, std::int64_t sequence, double* nodes, double* log_z);

  // The own table: histories [B^k][width], then ends [B^(k-1)][width]. flush() brings it up to date.
  void clear();
  void flush();
  const std::vector<double>& table() const { return table_; }

 private:
  // The best right labelling of a sequence, into completion_; false where all are forbidden.
  bool complete(const Examples& examples, std::int64_t sequence);
  bool add_scaled(const Examples& examples, std::int64_t sequence, double weight, float* nodes, double* loss);
  double add_in_logs(const Examples& examples, std::int64_t sequence, double weight, float* nodes, float* edges);
  // Scores a sequence in single precision, times the scale.
  float* scaled_emissions(const Examples& examples, std::int64_t sequence);
  // The exponentials of the scores [n][width], into sums_.
  void exponentials(int n, const float* emissions);
  bool sums_scaled(int n, double* log_z);
  void expect_scaled(int n, double weight, float* nodes);
  void expect_in_logs(const ChainScores<double>& scores, double log_z, double factor, float* nodes, float* edges);
  void count_known(const std::int32_t* labels, int n, double weight, float* nodes, float* edges);

  template <class Real>
  void take_costs(int n, Real* emissions, double times = 1) const;

  LinearChain model_;
  std::vector<float> log_costs_;  // empty: all costs are 1
  bool best_completion_;
  double scale_ = 1;
  ChainScorer<float> narrow_;
  std::unique_ptr<ChainScorer<double>> wide_;  // made when first needed
  ChainWorkspace<double> work_;
  ChainWorkspace<float> completing_;
  std::vector<std::int32_t> completion_;
  std::vector<double> table_, marginals_;
  // Of the scaled sums; the others are those over all labellings, while the ones over the known labels are made.
  struct Sums {
    Buffer<float> exp_emissions, alpha, beta, norms;
  };
  Sums sums_, other_;
  Buffer<float> forward_, backward_, start_, end_, tops_, pairs_;
  double transition_top_ = 0, start_top_ = 0, end_top_ = 0;
  int in_pairs_ = 0;
};

}  // namespace margent
