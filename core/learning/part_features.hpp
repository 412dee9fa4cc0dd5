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
//   turn_to(example, weights...)  parts are of this example from now on, and score with these weights: a pointer and
//                                 the factor that all of them are to be multiplied by, or none where F knows them
//   score(part)                   w . f(part)
//   collect(part, amount)         adds amount * f(part): 1 and -1 for a step, probabilities for a gradient
//   hand_over(out)                appends what was collected, (index of a weight, value) in any order, and forgets it
// Calls are resolved at compile time, or made for many parts at once: none is virtual where it is made for each part.
template <class F, class... Weights>
concept PartFeatures = requires(F& features, const typename F::Part& part, std::int64_t example, Weights... weights,
                                double amount, SparseVector& out) {
  features.turn_to(example, weights...);
  { features.score(part) } -> std::convertible_to<double>;
  features.collect(part, amount);
  features.hand_over(out);
};

}  // namespace margent
