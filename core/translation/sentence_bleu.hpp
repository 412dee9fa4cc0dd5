// BLEU of a sentence, with one added to the counts of grams of two and more words (Lin and Och 2004).
#pragma once
#include <cstdint>
#include <span>

#include "translation/translation_states.hpp"

namespace margent {

// exp(sum over n = 1..4 of log p_n / 4) * min(1, exp(1 - r / c)), where p_n is the share of the n-grams of the
// candidate that are in a reference, each no more often than there, and r the length of the reference closest to c.
double sentence_bleu(std::span<const std::int32_t> candidate, const References& references);

}  // namespace margent
