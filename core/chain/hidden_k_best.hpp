// The k best labellings of a chain some of whose labels are one and the same to those who look from outside.
#pragma once
#include <cstdint>
#include <vector>

#include "chain/chain.hpp"

namespace margent {

// Label y, unless it belongs to one before it, stands for the labels y to y + hidden[y] - 1, called a group. A
// labelling by groups scores as the best of all labellings whose labels are in those groups (paper 003, equation 4.1).
//
// The k best labellings by groups are found as chain_k_best finds labellings, going backwards over Viterbi's alpha:
// with the groups from position t on fixed, the best way from each state at t to the end is known, and with alpha so is
// the best labelling for each group at t - 1. Each labelling costs O(n L h) for an order-1 chain with groups of up to h
// labels, after one forward pass.
class HiddenKBest {
 public:
  HiddenKBest(const ChainShape& shape, const std::int32_t* hidden);

  // labels [k][n]: the first label of each group; values [k]; sums [k]: the log of the sum of exp(score) over all
  // labellings in those groups (4.2). Returns how many there are, at most k.
  int find(const ChainScores<double>& scores, int k, ChainWorkspace<double>& work, std::int32_t* labels, double* values,
           double* sums);

 private:
  struct Group {
    int begin, end;
  };
  // From what can be reached at position t, from a state with a label of `here`, to what can be from the states at t -
  // 1 with a label of `before`: the best, or with `sum` the log of the sum.
  template <bool sum>
  void step(const ChainScores<double>& scores, const double* alpha, int t, Group here, Group before);
  void begin(const ChainScores<double>& scores);
  double log_sum(const ChainScores<double>& scores, const double* alpha, const std::int32_t* labels);
  Group group(std::int32_t label) const { return {label, label + hidden_[label]}; }

  ChainShape shape_;
  const std::int32_t* hidden_;
  std::vector<Group> groups_;
  std::vector<double> tops_, rest_, next_;  // [groups]; [states]: from a state to the end
};

}  // namespace margent
