// From which states of a parser the right meaning is in reach: all derivations of it that its choices of pieces allow.
#pragma once
#include <cstdint>
#include <vector>

#include "meaning/question_system.hpp"

namespace margent {

struct ReachOptions {
  std::int64_t most_states = 20000;  // that are looked at for each number of words read
};

// Goes through all states whose expressions are parts of the meaning, and then back from the meaning itself: good_i of
// paper 003, Section 5.1.2. Empty where it is not in reach.
std::vector<std::uint64_t> states_in_reach(QuestionMoves& moves, std::int64_t question, const RightMeaning& right,
                                           const ReachOptions& options);

// Sums of how often something is done in derivations of right meanings.
struct ChoiceCounts {
  double* chosen = nullptr;   // [choices]
  double* skipped = nullptr;  // [words]
};

// Adds how often each choice is taken, and each word skipped, in the derivations of a right meaning, whose chances are
// the products of those of their moves; what moves score before anything is learned is the logarithm of that. It is the
// expectation step of learning what words say. Returns the logarithm of the sum of the chances of all derivations.
double expect_choices(QuestionMoves& moves, std::int64_t question, const RightMeaning& right,
                      const ReachOptions& options, const ChoiceCounts& counts);

// Of all questions, in threads.
std::vector<double> expect_choices(const QuestionSetup& setup, const std::vector<RightMeaning>& right,
                                   const ReachOptions& options, const ChoiceCounts& counts, int threads);
void find_reach(const QuestionSetup& setup, std::vector<RightMeaning>& right, const ReachOptions& options, int threads);

}  // namespace margent
