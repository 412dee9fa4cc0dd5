// What is seen of the parts of an answer: the one protocol between features and structures.
//
// A *part* is the unit that a score is a sum of: a token with a label, a transition, a segment, a co-segment, an edge
// of a forest, an action in a state. Whoever knows the features of parts can score them and collect them; no structure
// needs to know more, and no feature map knows which structure asks.
#pragma once
#include <concepts>
#include <cstdint>

#include "learning/oracle.hpp"

namespace margent {

// F::Part names a part of the example that was turned to last.
//   turn_to(example)       parts are of this example from now on, and score with the weights as they are now
//   score(part)            w . f(part)
//   collect(part, amount)  adds amount * f(part): 1 and -1 for a step, probabilities for a gradient
//   hand_over(out)         appends what was collected, (index of a weight, value) in any order, and forgets it
// Calls are resolved at compile time: none is virtual where it is made for each part.
template <class F>
concept PartFeatures =
    requires(F& features, const typename F::Part& part, std::int64_t example, double amount, SparseVector& out) {
      features.turn_to(example);
      { features.score(part) } -> std::convertible_to<double>;
      features.collect(part, amount);
      features.hand_over(out);
    };

}  // namespace margent
