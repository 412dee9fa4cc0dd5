// Configurations of a parser: a stack, a buffer, and what the words on both have got so far; actions as numbers.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "parsing/treebank.hpp"
#include "parsing/word_node.hpp"

namespace margent {

// What is done with stack and buffer. `finish` hangs the last word that is left on the root: every derivation ends with
// it, and nothing else does so, so that exactly one word hangs on the root.
enum class Transition : std::uint8_t { shift, reduce, swap, left, right, finish };

// s0 is the top of the stack, n0 the front of the buffer. What waits in the buffer with something done to it - with
// dependents, or put back from the stack - is a list of nodes, from `front` on; after it come the words from `next` on,
// of which none has been touched.
struct Configuration {
  std::int32_t top = 0;  // the node of s0
  std::int32_t front = WordNode::none;
  std::int32_t next = 1;
  std::int32_t depth = 0;     // how many words the stack has, without the root
  std::int32_t headless = 0;  // how many of them have no head yet (arc-eager)

  bool buffer_empty(std::int32_t n_words) const { return front < 0 && next > n_words; }
};

// An arc that a transition makes, or none.
struct MadeArc {
  std::int32_t head = -1, word = -1;
  bool made() const { return word >= 0; }
};

// The actions of a parser: what a transition does, with a label where it makes an arc. Numbers stay when more are
// added.
class ParserActions {
 public:
  struct Action {
    Transition transition;
    std::int32_t label;
  };

  ParserActions() = default;
  ParserActions(std::span<const std::int32_t> transitions, std::span<const std::int32_t> labels) {
    for (std::size_t a = 0; a < transitions.size(); ++a) {
      actions_.push_back({static_cast<Transition>(transitions[a]), labels[a]});
      by_transition_[transitions[a]].push_back(static_cast<std::int32_t>(a));
    }
  }
  std::int32_t size() const { return static_cast<std::int32_t>(actions_.size()); }
  const Action& operator[](std::int32_t action) const { return actions_[action]; }
  std::span<const std::int32_t> of(Transition transition) const {
    return by_transition_[static_cast<std::size_t>(transition)];
  }
  static constexpr std::int32_t n_transitions = 6;

 private:
  std::vector<Action> actions_;
  std::vector<std::int32_t> by_transition_[n_transitions];
};

// Takes n0 from the buffer and puts it on the stack, with an arc from s0 where there is a label.
inline void push_front(Configuration& c, WordNodes& nodes, std::int32_t below, std::int32_t label = WordNode::none) {
  if (c.front < 0) {
    c.top = nodes.add_word(c.next, below);
    if (label >= 0) c.top = nodes.placed(c.top, below, label);
    ++c.next;
  } else {
    const std::int32_t node = c.front;
    c.front = nodes.below(node);
    if (nodes.word(node) == c.next) ++c.next;
    c.top = nodes.placed(node, below, label);
  }
  ++c.depth;
}

// The node of n0, made where it was untouched.
inline std::int32_t front_node(const Configuration& c, WordNodes& nodes) {
  return c.front >= 0 ? c.front : nodes.add_word(c.next, WordNode::none);
}
inline std::int32_t front_word(const Configuration& c, const WordNodes& nodes) {
  return c.front >= 0 ? nodes.word(c.front) : c.next;
}

}  // namespace margent
