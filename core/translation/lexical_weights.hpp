// How well the words of two phrases translate each other, from the links of a corpus (Koehn, Och and Marcu 2003).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/strings.hpp"
#include "translation/aligned_pair.hpp"

namespace margent {

// w(e | f) = c(f, e) / c(f) and w(f | e) = c(f, e) / c(e), where c(f, e) counts links, and a word without a link counts
// as one that is linked with the empty word. Of a phrase,
//
//     lex(e | f) = prod over the words e_j of max over f_i, the empty word with them, of w(e_j | f_i).
//
// Differs: the paper averages over the words that are linked within the phrase. The best of all is what a rule can know
// that was found with different links, and needs none to be kept.
class LexicalWeights {
 public:
  explicit LexicalWeights(const AlignedPairs& pairs);

  // log lex(e | f) and log lex(f | e); negative symbols, which are nonterminals, are passed over.
  double log_target_given_source(std::span<const std::int32_t> source, std::span<const std::int32_t> target) const;
  double log_source_given_target(std::span<const std::int32_t> source, std::span<const std::int32_t> target) const;

 private:
  double count(std::int32_t source, std::int32_t target) const;
  void add(std::int32_t source, std::int32_t target);

  std::int32_t no_source_, no_target_;  // the empty words
  KeyTable links_;
  std::vector<double> counts_, of_source_, of_target_;
};

// What stands for a weight of 0: two words that were never linked.
inline constexpr double least_lexical_weight = 1e-7;

}  // namespace margent
