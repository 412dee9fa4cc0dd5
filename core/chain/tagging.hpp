// A frozen linear chain over many sequences, from as many threads as wanted. The answers do not depend on their number.
#pragma once
#include <cstdint>

#include "chain/linear_chain.hpp"

namespace margent {

// labels [n_tokens], scores [n_sequences]; a score of -inf says that the constraints leave no labelling.
void tag_best(const LinearChain& model, const Examples& examples, int threads, std::int32_t* labels, double* scores);

// Per sequence s: counts[s] <= k labellings, values[s * k + j] in descending order, labelling j of sequence s at
// labels[k * begin(s) + j * length(s)].
void tag_k_best(const LinearChain& model, const Examples& examples, int k, int threads, std::int32_t* labels,
                double* values, std::int32_t* counts);

// The k best labellings where label y stands for hidden[y] labels, and the log of the sum over each, of scores times
// `scale`; see HiddenKBest. Labels are the first of those that are one; sums as values.
void tag_hidden_k_best(const LinearChain& model, const Examples& examples, double scale, const std::int32_t* hidden,
                       int k, int threads, std::int32_t* labels, double* values, double* sums, std::int32_t* counts);

// Probabilities of labels under exp(scale * score): nodes [n_tokens][L]; of adjacent labels: pairs [n_tokens][L + 1][L]
// or null. log_partitions [n_sequences]. Without pairs an order-1 chain is summed in single precision where that is
// safe: probabilities are then right to about six digits.
void tag_marginals(const LinearChain& model, const Examples& examples, double scale, int threads, double* nodes,
                   double* pairs, double* log_partitions);

// Log-probabilities of spans of labels: span r lies in sequence sequences[r] at begins[r] .. ends[r] - 1 with the
// labels labels[span_ptr[r] ...]; before, after [n_spans][L + 1] and hidden: see SpanQuery. Spans are sorted by
// sequence.
void tag_spans(const LinearChain& model, const Examples& examples, double scale, int threads, std::int64_t n_spans,
               const std::int64_t* sequences, const std::int32_t* begins, const std::int32_t* ends,
               const std::int64_t* span_ptr, const std::int32_t* labels, const std::uint8_t* before,
               const std::uint8_t* after, const std::int32_t* hidden, double* log_probabilities);

// Whether a sequence has a token whose features with values beyond the ordinary score more than `limit`, whichever way
// they are added up: beyond [n_sequences]. No score of the others comes near to what a float can hold.
void tag_beyond(const LinearChain& model, const Examples& examples, double limit, int threads, std::uint8_t* beyond);

// The floor of all the others: scores each sequence and searches nothing. For benchmarks; returns a checksum.
double tag_gather_only(const LinearChain& model, const Examples& examples);

// The scores of given labellings: labels [n_tokens], scores [n_sequences].
void tag_scores(const LinearChain& model, const Examples& examples, int threads, const std::int32_t* labels,
                double* scores);

// Draws `count` labellings per sequence, laid out as for tag_k_best. Each sequence has random numbers of
// its own, by `seed` and its place; so do two seeds.
void tag_samples(const LinearChain& model, const Examples& examples, double scale, std::uint64_t seed, int count,
                 int threads, std::int32_t* labels, double* log_partitions);

}  // namespace margent
