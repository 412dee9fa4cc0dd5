// Arc-standard with reordering (Nivre 2009): any tree, as words that are in the way go back to the buffer.
//
//   swap    s0|s1|..., b     ->  s0|..., s1|b       where s1 comes before s0 in the sentence
//
// Each pair of words is swapped once at most. The words are then in a projective order of the tree (Section 3).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "parsing/arc_standard.hpp"

namespace margent {

struct SwapStandard {
  static constexpr bool known_length = false;
  static constexpr std::array transitions{Transition::shift, Transition::swap, Transition::left, Transition::right,
                                          Transition::finish};

  static bool legal(Transition transition, const Configuration& c, const WordNodes& nodes, std::int32_t n_words) {
    if (transition != Transition::swap) return ArcStandard::legal(transition, c, nodes, n_words);
    return c.depth >= 2 && nodes.word(nodes.below(c.top)) < nodes.word(c.top);
  }
  static MadeArc arc(Transition transition, const Configuration& c, const WordNodes& nodes) {
    return ArcStandard::arc(transition, c, nodes);
  }
  static Configuration apply(Transition transition, std::int32_t label, Configuration c, WordNodes& nodes) {
    if (transition != Transition::swap) return ArcStandard::apply(transition, label, c, nodes);
    const std::int32_t s1 = nodes.below(c.top);
    c.top = nodes.placed(c.top, nodes.below(s1));
    c.front = nodes.placed(s1, c.front);
    --c.depth;
    return c;
  }
};

// The derivation of a tree that the system learns: an arc as soon as it can be made, a swap where two words are not in
// the projective order of the tree, otherwise a shift (Nivre 2009, Section 4.2). Lazy: a swap waits until s0 has become
// a root of what arc-standard could build of the tree without swaps (Nivre, Kuhlmann and Hall 2009), which takes far
// fewer swaps. O(n log n + swaps). Empty where some heads are not known.
std::vector<Transition> swap_oracle(const GoldTree& gold, bool lazy);

}  // namespace margent
