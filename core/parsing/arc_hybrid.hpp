// The arc-hybrid system (Kuhlmann, Gomez-Rodriguez and Satta 2011): arc-standard, but arcs to the left come from the
// buffer.
//
//   shift   s|..., n0|b      ->  n0|s|..., b
//   left    s0|..., n0|b     ->  ..., n0|b          arc n0 -> s0
//   right   s0|s1|..., b     ->  s1|..., b          arc s1 -> s0
//   finish  s0, empty        ->  empty              arc root -> s0
//
// 2n actions for n words, and one derivation of each projective tree.
#pragma once
#include <array>
#include <cstdint>

#include "parsing/arc_standard.hpp"

namespace margent {

struct ArcHybrid {
  static constexpr bool known_length = true;
  static constexpr std::array transitions{Transition::shift, Transition::left, Transition::right, Transition::finish};

  static bool legal(Transition transition, const Configuration& c, const WordNodes& nodes, std::int32_t n_words) {
    if (transition != Transition::left) return ArcStandard::legal(transition, c, nodes, n_words);
    return c.depth >= 1 && !c.buffer_empty(n_words);
  }

  static MadeArc arc(Transition transition, const Configuration& c, const WordNodes& nodes) {
    if (transition != Transition::left) return ArcStandard::arc(transition, c, nodes);
    return {front_word(c, nodes), nodes.word(c.top)};
  }

  static Configuration apply(Transition transition, std::int32_t label, Configuration c, WordNodes& nodes) {
    if (transition != Transition::left) return ArcStandard::apply(transition, label, c, nodes);
    const std::int32_t s0 = c.top, front = front_node(c, nodes);
    c.front = nodes.with_left(front, s0, label, nodes.below(front));
    c.top = nodes.below(s0);
    --c.depth;
    return c;
  }

  // How many right arcs, still in reach, get out of reach (Goldberg and Nivre 2013, Section 4.2). Arcs that are in
  // reach one by one are so together, also where the tree is known in part. O(depth of the stack + log n).
  static std::int32_t cost(Transition transition, const Configuration& c, const WordNodes& nodes,
                           const GoldTree& gold) {
    const std::int32_t b = c.next, s0 = nodes.word(c.top);
    if (transition == Transition::shift) {
      // Below s0 nothing can become the head of n0 any more, and nothing on the stack its dependent.
      const std::int32_t head = gold.head(b);
      std::int32_t lost = 0;
      for (std::int32_t node = c.top; node >= 0; node = nodes.below(node)) {
        const std::int32_t word = nodes.word(node);
        lost += (node != c.top && word == head) + (word > 0 && gold.head(word) == b);
      }
      return lost;
    }
    const std::int32_t head = gold.head(s0);
    if (transition == Transition::finish) return 0;
    const std::int32_t s1 = nodes.word(nodes.below(c.top));
    const std::int32_t lost = gold.dependents_from(s0, b);
    if (transition == Transition::left) return lost + (head == s1 || head > b);
    return lost + (head >= b);
  }
  static bool keeps(Transition transition, const Configuration& c, const WordNodes& nodes, const GoldTree& gold) {
    if (transition == Transition::finish) return gold.may_hang(nodes.word(c.top), 0);
    return cost(transition, c, nodes, gold) == 0;
  }
};

}  // namespace margent
