// What is seen of a part of a dependency tree: templates over the atoms of its words and the labels of its arcs.
//
// An atom is what is seen of one word, as a number: its form, its tag. A template names some atoms of the words of a
// part and of their neighbours; with the values that it finds there it is a feature.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace margent {

// arc h -> m; h -> m with the next modifier s inward, or none; g -> h -> m.
enum class PartKind : std::uint8_t { arc, sibling, grandparent };
inline constexpr int n_part_kinds = 3;

enum class PartNode : std::uint8_t { head, modifier, sibling, grandparent };
inline constexpr int n_part_nodes = 4;

struct PartTerm {
  PartNode node;
  int offset;         // of a neighbour, to the right of the node
  std::int32_t atom;  // its column
};

struct PartTemplate {
  PartKind kind;
  std::vector<PartTerm> terms;
  bool direction = false, distance = false;
  bool label = false;         // of h -> m
  bool other_label = false;   // of h -> s, or of g -> h
  std::int32_t between = -1;  // a feature for each value of this atom among the words between h and m; -1: one feature

  bool labelled() const { return label || other_label; }
};

// Checked: nodes that their kind of part has, atoms below n_atoms, at most 2^16 of them.
class PartTemplates {
 public:
  PartTemplates(std::vector<PartTemplate> templates, std::int32_t n_atoms)
      : templates_(std::move(templates)), n_atoms_(n_atoms) {
    if (templates_.size() > 1u << 16) throw std::length_error("too many templates");
    for (const PartTemplate& given : templates_) {
      const bool is_arc = given.kind == PartKind::arc;
      bool good = given.between < n_atoms && (given.between < 0 || is_arc) && !(is_arc && given.other_label);
      for (const PartTerm& term : given.terms)
        good = good && has(given.kind, term.node) && term.atom >= 0 && term.atom < n_atoms && term.offset > -100 &&
               term.offset < 100;
      if (!good) throw std::invalid_argument("a template of something that its part does not have");
    }
  }

  const std::vector<PartTemplate>& all() const { return templates_; }
  std::int32_t n_atoms() const { return n_atoms_; }
  bool any(PartKind kind) const {
    for (const PartTemplate& each : templates_)
      if (each.kind == kind) return true;
    return false;
  }
  static bool has(PartKind kind, PartNode node) {
    return node == PartNode::head || node == PartNode::modifier ||
           (node == PartNode::sibling && kind == PartKind::sibling) ||
           (node == PartNode::grandparent && kind == PartKind::grandparent);
  }

 private:
  std::vector<PartTemplate> templates_;
  std::int32_t n_atoms_;
};

}  // namespace margent
