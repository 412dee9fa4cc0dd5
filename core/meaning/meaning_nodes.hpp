// What is on the stack of a parser of questions, as values that states of a beam share.
//
// A node is an expression on top of a stack; it knows the node below it, so that a stack is the number of its top.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "meaning/meaning_parts.hpp"
#include "meaning/questions.hpp"

namespace margent {

enum class MeaningAction : std::uint8_t {
  skip,      // the next word says nothing
  shift,     // it, with those after it, says a piece
  forward,   // the expression below the top, applied to the top
  backward,  // the top, applied to the expression below it
  both,      // the two are sets, and what is in both is meant
  either,    // ... or what is in either of them
  finish,    // the only expression is the meaning
};

struct MeaningNode {
  static constexpr std::int32_t none = -1;

  std::int32_t below = none;
  std::int32_t type = 0;
  std::int32_t first = 0, last = 0;        // words at its edges
  std::int32_t name = 0, second_name = 0;  // what it is about: names of its function, or of the first of its members
  std::int32_t size = 0;                   // pieces in it
  MeaningAction made = MeaningAction::shift;
  Connective connective = Connective::none;
  bool is_part = false;       // of the right meaning, or on the way to a part, as far as this is known
  std::uint64_t hash = 0;     // how it was made, or the part of the right meaning that it is
  std::uint64_t members = 0;  // of a union: the sum of what its members are
  std::uint64_t names = 0;    // the names in it, in any order
  std::uint64_t stack = 0;    // a hash of it and all below it
};

class MeaningNodes {
 public:
  void clear() { nodes_.clear(); }
  const MeaningNode& operator[](std::int32_t node) const { return nodes_[node]; }
  std::int32_t add(const MeaningNode& node) {
    nodes_.push_back(node);
    return static_cast<std::int32_t>(nodes_.size()) - 1;
  }

  // What one would be, on top of `below`.
  MeaningNode shifted(const Pieces& pieces, std::int32_t piece, std::int32_t first, std::int32_t length,
                      std::int32_t below) const {
    const std::int32_t* atoms = pieces.atoms + static_cast<std::int64_t>(piece) * Pieces::n_atoms;
    MeaningNode node;
    node.below = below;
    node.type = pieces.types[piece];
    node.first = first;
    node.last = first + length - 1;
    node.name = atoms[2];
    node.second_name = atoms[3];
    node.size = 1;
    node.hash = piece_hash(piece);
    node.names = mix(static_cast<std::uint64_t>(atoms[0]) + 0x9A3Eull);
    return node;
  }
  // The two on top as one; nothing where their types do not go together.
  std::optional<MeaningNode> reduced(MeaningAction action, std::int32_t top, const TypeTables& types) const {
    const MeaningNode &right = nodes_[top], &left = nodes_[right.below];
    const bool applies = action == MeaningAction::forward || action == MeaningAction::backward;
    const MeaningNode& function = action == MeaningAction::backward ? right : left;
    const MeaningNode& other = action == MeaningAction::backward ? left : right;
    const std::int32_t type =
        applies ? types.applied(function.type, other.type) : types.combined(left.type, right.type);
    if (type < 0) return std::nullopt;
    MeaningNode node;
    node.below = left.below;
    node.type = type;
    node.first = left.first;
    node.last = right.last;
    node.name = function.name;
    node.second_name = applies ? other.name : function.second_name;
    node.size = left.size + right.size;
    node.made = action;
    node.names = left.names + right.names;
    if (applies) {
      node.hash = applied_hash(function.hash, other.hash);
    } else {
      node.connective = action == MeaningAction::both ? Connective::both : Connective::either;
      const auto members = [&](const MeaningNode& n) {
        return n.connective == node.connective ? n.members : member_hash(n.hash);
      };
      node.members = members(left) + members(right);
      node.hash = union_hash(node.connective, node.members);
    }
    return node;
  }
  // Its place among all stacks.
  std::uint64_t stack_with(const MeaningNode& node) const {
    const std::uint64_t below = node.below < 0 ? 0x57ACull : nodes_[node.below].stack;
    return mix(below * 0x9E3779B97F4A7C15ull + node.hash + static_cast<std::uint64_t>(node.type));
  }

 private:
  std::vector<MeaningNode> nodes_;
};

}  // namespace margent
