// Expected counts of labels that are not, or only partly, known: the E-step of Baum and Welch on the chain.
#pragma once
#include "chain/chain_oracle.hpp"
#include "chain/gold_counts.hpp"

namespace margent {

// With p(h | x) the probability of a right labelling h of x among all right ones, proportional to exp(score):
//
//   counts = sum over sequences of weight * sum over right h of p(h | x) * (the counts of h),
//   log_likelihood = sum over sequences of weight * log sum over right h of exp(score(x, h)).
//
// A label that is not known at all may be any; one that stands for several is one of these. Sums are made over chunks
// of sequences that do not depend on the threads. Of the weights of labels the logarithms of their costs are taken
// away, which a hidden Markov model adds to them. A sequence whose right labellings are all forbidden counts nothing.
struct SoftCounts {
  GoldCounts counts;
  double log_likelihood = 0;
};

SoftCounts soft_counts(ChainOracle& oracle, std::int64_t n_unigrams, int threads);

}  // namespace margent
