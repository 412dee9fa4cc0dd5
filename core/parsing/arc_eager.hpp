// The arc-eager system (Nivre 2003): a word gets its head, if that is at its left, before it has its own dependents.
//
//   shift   s|..., n0|b      ->  n0|s|..., b
//   right   s0|..., n0|b     ->  n0|s0|..., b       arc s0 -> n0
//   left    s0|..., n0|b     ->  ..., n0|b          arc n0 -> s0, which has no head yet
//   reduce  s0|..., b        ->  ..., b             s0 has its head
//   finish  s0, empty        ->  empty              arc root -> s0
//
// Differs: the last word of a sentence may only be shifted onto an empty stack, and hung on s0 where one word alone has
// no head yet. So exactly one word is left for the root in the end, which the system by itself does not see to; no tree
// is lost by that. Words that have heads are taken from the stack until it is empty, so that all derivations have 2n
// actions, and can be compared in a beam.
#pragma once
#include <array>
#include <cstdint>

#include "parsing/configuration.hpp"

namespace margent {

struct ArcEager {
  static constexpr bool known_length = true;
  static constexpr std::array transitions{Transition::shift, Transition::reduce, Transition::left, Transition::right,
                                          Transition::finish};

  static bool legal(Transition transition, const Configuration& c, const WordNodes& nodes, std::int32_t n_words) {
    const bool empty = c.buffer_empty(n_words), last = c.next == n_words;
    const bool has_head = nodes[c.top].label >= 0;
    switch (transition) {
      case Transition::shift:
        return !empty && (!last || c.depth == 0);
      case Transition::reduce:
        return c.depth >= 1 && has_head;
      case Transition::left:
        return !empty && c.depth >= 1 && !has_head;
      case Transition::right:
        return !empty && c.depth >= 1 && (!last || c.headless == 1);
      case Transition::finish:
        return empty && c.depth == 1 && !has_head;
      default:
        return false;
    }
  }

  static MadeArc arc(Transition transition, const Configuration& c, const WordNodes& nodes) {
    const std::int32_t s0 = nodes.word(c.top);
    switch (transition) {
      case Transition::left:
        return {c.next, s0};
      case Transition::right:
        return {s0, c.next};
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
        ++c.headless;
        return c;
      case Transition::right: {
        const std::int32_t dependent = front_node(c, nodes);
        c.front = dependent;
        push_front(c, nodes, nodes.with_right(s0, dependent, label, s1), label);
        return c;
      }
      case Transition::left: {
        const std::int32_t front = front_node(c, nodes);
        c.front = nodes.with_left(front, s0, label, WordNode::none);
        c.top = s1;
        --c.headless;
        break;
      }
      case Transition::reduce:
        c.top = nodes.with_last_right(s1, s0);
        break;
      default:
        c.top = s1;
        --c.headless;
    }
    --c.depth;
    return c;
  }

  // How many right arcs, still in reach, get out of reach (Goldberg and Nivre 2012, Section 3.2), where any word
  // without a head may hang on the root in the end. O(depth of the stack + log n).
  // Differs: that only one word may is not counted. From where the whole tree is in reach, that makes no difference.
  static std::int32_t cost(Transition transition, const Configuration& c, const WordNodes& nodes,
                           const GoldTree& gold) {
    const std::int32_t b = c.next, s0 = nodes.word(c.top);
    switch (transition) {
      case Transition::left:
        return gold.dependents_from(s0, b) + (gold.head(s0) > b || gold.head(s0) == 0);
      case Transition::reduce:
        return gold.dependents_from(s0, b);
      case Transition::shift:
        return lost_at_stack(c.top, gold.head(b), c, nodes, gold);
      case Transition::right: {
        const std::int32_t head = gold.head(b);
        return (head > b || head == 0) + lost_at_stack(nodes.below(c.top), head, c, nodes, gold);
      }
      default:
        return 0;
    }
  }
  static bool keeps(Transition transition, const Configuration& c, const WordNodes& nodes, const GoldTree& gold) {
    if (transition == Transition::finish) return gold.may_hang(nodes.word(c.top), 0);
    return cost(transition, c, nodes, gold) == 0;
  }

 private:
  // When n0 goes onto the stack: its head, if that is at a node of the stack or below it, and its dependents there.
  static std::int32_t lost_at_stack(std::int32_t from, std::int32_t head, const Configuration& c,
                                    const WordNodes& nodes, const GoldTree& gold) {
    std::int32_t lost = 0;
    for (std::int32_t node = from; node > 0; node = nodes.below(node)) lost += nodes.word(node) == head;
    for (std::int32_t node = c.top; node > 0; node = nodes.below(node))
      lost += nodes[node].label < 0 && gold.head(nodes.word(node)) == c.next;
    return lost;
  }
};

}  // namespace margent
