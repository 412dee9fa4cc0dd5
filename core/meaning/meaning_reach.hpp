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

// Of all questions, in threads.
void find_reach(const QuestionSetup& setup, std::vector<RightMeaning>& right, const ReachOptions& options, int threads);

}  // namespace margent
