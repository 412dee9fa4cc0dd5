// The arc-standard system (Nivre 2004; paper 003, Section 2.2.1 and Table 2.1): arcs between the two topmost words.
//
//   shift   s|..., n0|b      ->  n0|s|..., b
//   left    s0|s1|..., b     ->  s0|..., b          arc s0 -> s1
//   right   s0|s1|..., b     ->  s1|..., b          arc s1 -> s0
//   finish  s0, empty        ->  empty              arc root -> s0
//
// A sentence of n words takes 2n actions: each word is shifted once and gets its head once.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "parsing/configuration.hpp"

namespace margent {

struct ArcStandard {
  static constexpr bool known_length = true;
  static constexpr std::array transitions{Transition::shift, Transition::left, Transition::right, Transition::finish};

  static bool legal(Transition transition, const Configuration& c, const WordNodes&, std::int32_t n_words) {
    switch (transition) {
      case Transition::shift:
        return !c.buffer_empty(n_words);
      case Transition::left:
      case Transition::right:
        return c.depth >= 2;
      case Transition::finish:
        return c.depth == 1 && c.buffer_empty(n_words);
      default:
        return false;
    }
  }

  static MadeArc arc(Transition transition, const Configuration& c, const WordNodes& nodes) {
    const std::int32_t s0 = nodes.word(c.top);
    switch (transition) {
      case Transition::left:
        return {s0, nodes.word(nodes.below(c.top))};
      case Transition::right:
        return {nodes.word(nodes.below(c.top)), s0};
      case Transition::finish:
        return {0, s0};
      default:
        return {};
    }
  }

  static Configuration apply(Transition transition, std::int32_t label, Configuration c, WordNodes& nodes) {
    const std::int32_t s0 = c.top, s1 = nodes.below(s0);
    switch (transition) {
      case Transition::shift:
        push_front(c, nodes, s0);
        return c;
      case Transition::left:
        c.top = nodes.with_left(s0, s1, label, nodes.below(s1));
        break;
      case Transition::right:
        c.top = nodes.with_right(s1, s0, label, nodes.below(s1));
        break;
      default:
        c.top = s1;
    }
    --c.depth;
    return c;
  }

  // Whether the right tree, which is in reach, stays so. Several derivations lead to it: an arc to the left may wait
  // until s0 has its dependents at the right. An arc must not be made while its dependent lacks one of its own. s0 must
  // not be covered while it only lacks what is below it: it would not come to the top again without a head. Of a tree
  // that is known in part, this is necessary, and a search over several derivations may meet dead ends.
  static bool keeps(Transition transition, const Configuration& c, const WordNodes& nodes, const GoldTree& gold) {
    if (transition == Transition::finish) return gold.may_hang(nodes.word(c.top), 0);
    if (c.depth == 0) return true;
    const std::int32_t s0 = nodes.word(c.top), s1 = nodes.word(nodes.below(c.top));
    switch (transition) {
      case Transition::left:
        return gold.may_hang(s1, s0) && !lacks(s1, c, nodes, gold);
      case Transition::right:
        return gold.may_hang(s0, s1) && !lacks(s0, c, nodes, gold);
      default:
        if (gold.dependents_from(s0, c.next) > 0) return true;
        if (gold.head(s0) == s1 && s1 > 0) return false;
        return s1 == 0 || gold.head(s1) != s0;
    }
  }

 private:
  // Whether a word lacks dependents: they wait in the buffer or on the stack.
  static bool lacks(std::int32_t word, const Configuration& c, const WordNodes& nodes, const GoldTree& gold) {
    if (gold.dependents_from(word, c.next) > 0) return true;
    for (std::int32_t node = c.top; node > 0; node = nodes.below(node))
      if (gold.head(nodes.word(node)) == word) return true;
    return false;
  }
};

}  // namespace margent
