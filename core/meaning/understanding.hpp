// Understanding questions with learned weights: the k best derivations that a beam search finds.
#pragma once
#include <cstdint>
#include <vector>

#include "learning/frozen_rows.hpp"
#include "meaning/question_system.hpp"

namespace margent {

struct FoundMeaning {
  double score = 0;
  std::vector<QuestionMove> moves;
};

// By question, up to k derivations of different expressions, best first; none where the search reaches no end. The
// same for any number of threads.
std::vector<std::vector<FoundMeaning>> understand(const QuestionSetup& setup, const FrozenRows& table,
                                                  std::int64_t beam, int k, int threads);

// What the actions of a derivation of the only question score: step, template, weight, and what the terms see.
struct MeaningFeature {
  std::int32_t step, tmpl;
  double weight;
  std::vector<std::uint64_t> values;
};
std::vector<MeaningFeature> explain_meaning(const QuestionSetup& setup, const FrozenRows& table,
                                            const std::vector<QuestionMove>& moves);

}  // namespace margent
