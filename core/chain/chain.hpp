// The label chain of any order k >= 1: what a labelling scores, and the searches and sums over all labellings.
//
// A labelling y of a sequence of n tokens scores
//
//   sum over t of  emissions[t][y_t] + transitions[y_{t-k}, ..., y_{t-1}][y_t] + edges[t][y_{t-1}][y_t]
//   + end[y_{n-k}, ..., y_{n-2}][y_{n-1}]
//
// where a label before the first token is the start symbol. Histories are numbers in base B = L + 1, digit L being the
// start symbol and the last digit the most recent label. A state at position t is (context, y_t): the k - 1 labels
// before y_t as a base-B number, and y_t as a column; its index is context * width + y_t. So for k = 1 there is one
// context and a state is a label; alpha is a row per position; the general case only adds strides.
//
// -inf is the zero of both semirings: a forbidden label, transition or edge.
#pragma once
#include <cstdint>
#include <vector>

#include "chain/deviations.hpp"
#include "simd/buffer.hpp"
#include "simd/kernels.hpp"

namespace margent {

struct ChainShape {
  int n_labels, order, width;
  std::int64_t base, contexts, histories;  // B, B^(k-1), B^k

  ChainShape(int n_labels, int order);
  std::int64_t states() const { return contexts * width; }
  std::int64_t start_context() const { return contexts - 1; }
  std::int64_t start_history() const { return histories - 1; }
  // The context that follows state (context, label).
  std::int64_t next_context(std::int64_t context, int label) const { return (context * base + label) % contexts; }
  int last_label(std::int64_t context) const { return static_cast<int>(context % base); }
};

// Position-dependent scores of adjacent label pairs. `at(t)` is a matrix [L + 1][width], valid until the next call, or
// null where there is none.
template <class Real>
class EdgeSource {
 public:
  virtual ~EdgeSource() = default;
  virtual const Real* at(int position) = 0;
};

// exp(transitions - scale) of an order-1 chain and its transpose, both [L][width]: with them a step of the sums costs
// one exponential and one logarithm per label, instead of one exponential per pair. `scale` is the largest transition.
template <class Real>
struct ExpTransitions {
  ExpTransitions(const ChainShape& shape, const Real* transitions);
  Real scale;
  Buffer<Real> forward, backward;
};

template <class Real>
struct ChainScores {
  ChainShape shape;
  int length;
  const Real* emissions;                   // [length][width]
  const Real* transitions;                 // [B^k][width]
  const Real* end;                         // [B^(k-1)][width]
  const Real* transposed = nullptr;        // k = 1 only: [j][i] = transitions[i][j]; -inf past the labels
  const Real* transition_bound = nullptr;  // k = 1 only: at least the maximum over i of transitions[i][j]
  EdgeSource<Real>* edges = nullptr;
  const ExpTransitions<Real>* exp_transitions = nullptr;  // k = 1 only
  bool few_labels = false;  // many labels are forbidden at most positions: worth looking for
};

// Memory that calls share. After chain_log_partition and chain_marginals, alpha and beta of position t are relative to
// alpha_shift[t] and beta_shift[t]: the largest of each row is 0, however long the sequence.
template <class Real>
struct ChainWorkspace {
  Buffer<Real> alpha, beta, reached, matrix, row, sums;
  std::vector<double> alpha_shift, beta_shift;
  std::vector<std::int32_t> states, live;
  DeviationQueue deviations;
};

// The score of one labelling.
template <class Real>
double chain_score(const ChainScores<Real>& scores, const std::int32_t* labels);

// Viterbi. Writes the best labelling and returns its score; -inf when every labelling is forbidden. Ties go to the
// smaller label, decided from the last position backwards. O(n L^(k+1)) time, O(n L^k) memory.
template <class Real>
double chain_best(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, std::int32_t* labels);

// The first half of chain_best and chain_k_best: alpha of the max-plus semiring for all positions, shifted to zero once
// in a while, as differences within a position are what the search needs. Returns what has to be added to alpha at the
// last position.
template <class Real>
double chain_forward_max(const ChainScores<Real>& scores, ChainWorkspace<Real>& work);

// The second half of chain_best, for alpha (and, where there is a transpose and no edges, reached) that
// chain_forward_max or somebody else has computed.
template <class Real>
double chain_trace_back(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, std::int32_t* labels);

// Up to so many positions, alpha is not shifted to zero in between.
inline constexpr int unshifted_length = 128;

// The k best labellings in order of score, exactly: labels [k][n], values [k]. Returns how many exist (at most k).
// After one forward pass each further labelling costs O(n L) and O(log k) for each rival kept: it is the best one among
// those that leave an earlier labelling at some position, going backwards; the sets of labellings so split off are
// disjoint. The first is that of chain_best.
template <class Real>
int chain_k_best(const ChainScores<Real>& scores, int k, ChainWorkspace<Real>& work, std::int32_t* labels,
                 double* values);

// The second half of chain_k_best, of sequences that are not empty. Values lack what chain_forward_max returned.
template <class Real>
int chain_k_best_back(const ChainScores<Real>& scores, int k, ChainWorkspace<Real>& work, std::int32_t* labels,
                      double* values);

// The log of the sum of exp(score) over all labellings, by the forward recursion in log space. Leaves alpha in `work`.
template <class Real>
double chain_log_partition(const ChainScores<Real>& scores, ChainWorkspace<Real>& work);

// Probabilities under exp(score) / Z: of each label, nodes [n][L], and, unless null, of each pair of adjacent labels,
// pairs [n][L + 1][L] (row L: the start symbol, at position 0). Returns log Z; leaves alpha and beta in `work`.
template <class Real>
double chain_marginals(const ChainScores<Real>& scores, ChainWorkspace<Real>& work, double* nodes, double* pairs);

// A span of fixed labels with what may stand before and after it. Label y stands for hidden[y] labels, itself and those
// after it; null: for itself alone.
struct SpanQuery {
  int begin, end;              // positions begin <= t < end
  const std::int32_t* labels;  // [end - begin]
  const std::uint8_t* before;  // [L + 1]: labels allowed at begin - 1; entry L: may begin at position 0
  const std::uint8_t* after;   // [L + 1]: labels allowed at end; entry L: may end at the last position
  const std::int32_t* hidden = nullptr;

  int n_sublabels(int label) const { return hidden ? hidden[label] : 1; }
};
// The log-probability that a labelling holds this span, after chain_marginals has filled `work`.
template <class Real>
double chain_span_log_probability(const ChainScores<Real>& scores, const ChainWorkspace<Real>& work,
                                  double log_partition, const SpanQuery& query);

// Draws labellings with probability exp(score) / Z: labels [count][n]. Needs alpha of chain_log_partition in `work`.
template <class Real>
void chain_sample(const ChainScores<Real>& scores, const ChainWorkspace<Real>& work, std::uint64_t seed, int count,
                  std::int32_t* labels);

}  // namespace margent
