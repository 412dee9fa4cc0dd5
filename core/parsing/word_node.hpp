// What has been built so far, as values that states of a beam share: a node is a word with what hangs on it.
//
// A node never changes. An arc makes a new node of the head, with one more dependent; the nodes of the dependents stay.
// The node of a word on the stack knows the one below it, so a stack is the number of its top node, and all states of a
// search together need one or two nodes for each step that one of them took.
#pragma once
#include <cstdint>
#include <vector>

#include "text/strings.hpp"

namespace margent {

struct WordNode {
  static constexpr std::int32_t none = -1;

  std::int32_t word = 0;
  std::int32_t below = none;                     // the node under it on the stack; the next one where it waits
  std::int32_t left = none, left_second = none;  // the outermost dependents at either side, and those next to them
  std::int32_t right = none, right_second = none;
  std::int16_t left_label = none, left_second_label = none, right_label = none, right_second_label = none;
  std::int16_t label = none;  // of the arc to the word below, where there is one already (arc-eager)
  std::uint16_t n_left = 0, n_right = 0;
  // The labels of all dependents at a side, bit l % 64 for label l: of more than 64 labels, some count as one.
  std::uint64_t left_labels = 0, right_labels = 0;
  std::uint64_t signature = 0;  // of all that a parser can see of this node and of those below it
};

// The nodes of a search. Node 0 is the root.
class WordNodes {
 public:
  void clear() {
    nodes_.clear();
    add({});
  }
  const WordNode& operator[](std::int32_t node) const { return nodes_[node]; }
  std::int32_t below(std::int32_t node) const { return nodes_[node].below; }
  std::int32_t word(std::int32_t node) const { return nodes_[node].word; }

  std::int32_t add(WordNode node) {
    node.signature = signature(node);
    nodes_.push_back(node);
    return static_cast<std::int32_t>(nodes_.size()) - 1;
  }
  // A word without dependents on top of a stack.
  std::int32_t add_word(std::int32_t word, std::int32_t below) {
    WordNode node;
    node.word = word;
    node.below = below;
    return add(node);
  }
  // The node somewhere else, or with an arc to what is below it.
  std::int32_t placed(std::int32_t node, std::int32_t below, std::int32_t label = WordNode::none) {
    WordNode moved = nodes_[node];
    moved.below = below;
    moved.label = static_cast<std::int16_t>(label);
    return add(moved);
  }
  // The head with another dependent at its left or right, as the outermost one there.
  std::int32_t with_left(std::int32_t head, std::int32_t dependent, std::int32_t label, std::int32_t below) {
    WordNode grown = nodes_[head];
    grown.below = below;
    grown.left_second = grown.left;
    grown.left_second_label = grown.left_label;
    grown.left = dependent;
    grown.left_label = static_cast<std::int16_t>(label);
    grown.left_labels |= bit(label);
    ++grown.n_left;
    return add(grown);
  }
  std::int32_t with_right(std::int32_t head, std::int32_t dependent, std::int32_t label, std::int32_t below) {
    WordNode grown = nodes_[head];
    grown.below = below;
    grown.right_second = grown.right;
    grown.right_second_label = grown.right_label;
    grown.right = dependent;
    grown.right_label = static_cast<std::int16_t>(label);
    grown.right_labels |= bit(label);
    ++grown.n_right;
    return add(grown);
  }
  // The head, whose last dependent at the right has got dependents of its own since.
  std::int32_t with_last_right(std::int32_t head, std::int32_t dependent) {
    if (nodes_[head].right == dependent) return head;
    WordNode changed = nodes_[head];
    changed.right = dependent;
    return add(changed);
  }
  std::uint64_t signature_of(std::int32_t node) const { return node < 0 ? 0x51ED : nodes_[node].signature; }

 private:
  static std::uint64_t bit(std::int32_t label) { return std::uint64_t{1} << (label & 63); }

  std::uint64_t seen(std::int32_t node, std::int16_t label) const {
    if (node < 0) return 1;
    return (static_cast<std::uint64_t>(nodes_[node].word) << 16 | static_cast<std::uint16_t>(label)) + 2;
  }
  // Features see two dependents at each side, and the outermost ones of the outermost ones.
  std::uint64_t signature(const WordNode& node) const {
    std::uint64_t key = mix(static_cast<std::uint64_t>(node.word) << 32 | static_cast<std::uint16_t>(node.label));
    const auto see = [&key](std::uint64_t value) { key = mix(key ^ (value * 0x9E3779B97F4A7C15ull)); };
    see(seen(node.left, node.left_label));
    see(seen(node.left_second, node.left_second_label));
    see(seen(node.right, node.right_label));
    see(seen(node.right_second, node.right_second_label));
    if (node.left >= 0) see(seen(nodes_[node.left].left, nodes_[node.left].left_label));
    if (node.right >= 0) see(seen(nodes_[node.right].right, nodes_[node.right].right_label));
    see(static_cast<std::uint64_t>(node.n_left) << 16 | node.n_right);
    see(node.left_labels);
    see(node.right_labels);
    see(signature_of(node.below));
    return key;
  }

  std::vector<WordNode> nodes_;
};

}  // namespace margent
