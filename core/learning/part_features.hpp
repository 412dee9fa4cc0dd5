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
//                                 the factor that all of them are to be multiplied by; none where they are not scored
//   collect(part, amount)         adds amount * f(part): 1 and -1 for a step, probabilities for a gradient
//   hand_over(out)                appends what was collected, (index of a weight, value) in any order, and forgets it
// Where a search looks at parts one by one, they score one by one (ScoredParts). Where it wants many at once, as a row
// for all labels of a segment or all actions of a state, these are scored together into the arrays of that search.
template <class F, class... Weights>
concept PartFeatures = requires(F& features, const typename F::Part& part, std::int64_t example, Weights... weights,
                                double amount, SparseVector& out) {
  features.turn_to(example, weights...);
  features.collect(part, amount);
  features.hand_over(out);
};

//   score(part)  w . f(part)
template <class F, class... Weights>
concept ScoredParts = PartFeatures<F, Weights...> && requires(const F& features, const typename F::Part& part) {
  { features.score(part) } -> std::convertible_to<double>;
};

}  // namespace margent
