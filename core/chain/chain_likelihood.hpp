// The conditional random field: the likelihood of the labels of a chain given its tokens (paper 003, chapter 3).
//
// With the score of a labelling linear in the weights w, p(y | x) = exp(score(x, y)) / Z(x). Minimised is
//
//   sum over examples of  weight * (log Z(x) - log Z(x; known labels)),
//
// the second sum running over the labellings that agree with the labels that are known: one of them, if all are. With
// label costs, p(y | x) is that of exp(score) / (product of the costs of the labels of y): where the true probability
// of a label is p, its score is then log(p * cost), and the best label the one whose absence is expected to cost most.
// The gradient is the expected features under p minus those under p given the known labels. Both come from forward and
// backward sums: in single precision with scaling for an order-1 chain without edge features, where that is safe (see
// sum_kernels.hpp), otherwise in double precision in log space.
//
// The parameters are those weights that may be other than zero, in one vector: (feature, label) pairs, (edge feature,
// previous label, label) triples, then the ends and transitions of each level. The weights live in the oracle, in
// single precision.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "chain/chain_oracle.hpp"
#include "learning/likelihood.hpp"

namespace margent {

// Sums over all labellings of one sequence after the other.
class ChainExpectations;

class ChainLikelihood final : public Likelihood {
 public:
  ChainLikelihood(ChainOracle& oracle, const LikelihoodOptions& choice, int threads);
  ~ChainLikelihood() override;

  std::int64_t size() const override { return examples_.n_sequences; }
  std::int64_t n_parameters() const override { return n_parameters_; }
  int threads() const override { return threads_; }
  void get(double* parameters) const override;
  void set(const double* parameters) override;
  // Examples are split into chunks that do not depend on the threads, and partial sums are added up in order.
  double evaluate(double* gradient) override;
  double value(const std::int64_t* numbers, std::int64_t n) override;
  double descend(const std::int64_t* numbers, std::int64_t n, double eta, double decay, double first) override;

 private:
  // Some weights of a table of the oracle, by their place in it.
  struct Cells {
    std::vector<float>* weights;
    std::vector<std::int64_t> indices;
    std::int64_t first;  // number of the first parameter
    bool end;
  };
  // Columns of the rows of features that are parameters: of row f, columns[ptr[f]] to columns[ptr[f + 1] - 1].
  struct Columns {
    std::vector<std::int64_t> ptr;
    std::vector<std::int32_t> columns;
  };
  // For a block of sequences: which of its tokens have a feature. Long lists are split, so that each piece can be
  // summed in single precision.
  struct Occurrences {
    std::vector<std::int32_t> rows;    // feature of each piece, ascending
    std::vector<std::int64_t> ptr;     // tokens of each piece
    std::vector<std::int32_t> tokens;  // counted from the first token of the block
    std::vector<float> values;         // empty: 1 each
  };
  struct Block {
    std::int64_t first, last;          // sequences
    std::vector<std::int64_t> chunks;  // boundaries
    Occurrences unigrams, edges;
  };
  template <class ColumnOf>
  Columns seen_columns(const Features& features, const GrowingRows& rows, std::int64_t n_rows, std::int64_t n_columns,
                       bool all, ColumnOf column_of) const;
  bool labelled(std::int64_t sequence) const;  // in part at least
  void choose_cells(const LikelihoodOptions& choice);
  Occurrences occurrences(const Features& features, std::int64_t n_rows, std::int64_t begin, std::int64_t end) const;
  void make_blocks();
  void gather_gradient(const Occurrences& of, const Columns& columns, const float* residuals, std::int64_t width,
                       double* gradient) const;
  template <class Visit>
  void each_row_weight(Visit visit) const;
  // The tables of expected histories and ends, added up to the levels of the parameters.
  std::vector<std::vector<double>> by_level(const double* table, bool ends) const;

  ChainOracle& oracle_;
  const Examples& examples_;
  ChainShape shape_;
  int threads_;
  std::int64_t n_parameters_ = 0, table_size_;
  Columns unigrams_, edges_;
  std::vector<Cells> cells_;
  std::vector<Block> blocks_;
  std::vector<std::unique_ptr<ChainExpectations>> workers_;
  Buffer<float> residuals_, edge_residuals_;
};

}  // namespace margent
