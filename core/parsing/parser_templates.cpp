#include "parsing/parser_templates.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "text/strings.hpp"

namespace margent {
namespace {

// A node or word that an address led to, and the label of the arc to its head as far as that is known from here.
struct Seen {
  std::int32_t node = -1, word = -1;
  std::int32_t label = -1;
  std::int32_t last_right = -1;  // the last dependent at its right, where that is still being built, on the stack
};

// Distances are seen as 1, 2, 3, 4, 5 to 9, and 10 or more.
std::uint64_t distance_class(std::int32_t a, std::int32_t b) {
  if (a < 0 || b < 0) return 0;
  const std::int32_t distance = std::abs(a - b);
  return static_cast<std::uint64_t>(1 + (distance >= 10 ? 6 : distance >= 5 ? 5 : distance));
}

std::uint64_t valency_class(std::int32_t n) { return static_cast<std::uint64_t>(1 + std::min(n, 5)); }

std::uint64_t label_set(std::uint64_t labels) { return labels + 1; }

Seen step_from(const Seen& parent, std::int32_t step, const WordNodes& nodes) {
  if (parent.node < 0) return {};
  const WordNode& node = nodes[parent.node];
  const auto dependent = [&nodes](std::int32_t at, std::int16_t label) {
    return at < 0 ? Seen{} : Seen{at, nodes.word(at), label, -1};
  };
  switch (step) {
    case AddressCode::left:
      return dependent(node.left, node.left_label);
    case AddressCode::left_second:
      return dependent(node.left_second, node.left_second_label);
    case AddressCode::right:
      return dependent(parent.last_right < 0 ? node.right : parent.last_right, node.right_label);
    case AddressCode::right_second:
      return dependent(node.right_second, node.right_second_label);
    default:
      return node.label < 0 ? Seen{} : Seen{node.below, nodes.word(node.below), nodes[node.below].label, -1};
  }
}

}  // namespace

ParserTemplates::ParserTemplates(std::vector<AddressCode> addresses, std::vector<TermCode> terms,
                                 std::vector<std::int32_t> template_ptr, std::vector<std::int32_t> template_terms)
    : addresses_(std::move(addresses)), terms_(std::move(terms)), template_ptr_(std::move(template_ptr)),
      template_terms_(std::move(template_terms)) {
  for (std::size_t t = 0; t < size(); ++t) salts_.push_back(mix(0x7A05 + t));
  group();
}

void ParserTemplates::group() {
  for (std::size_t t = 0; t < size(); ++t) {
    std::vector<std::int32_t> words;
    bool words_alone = true;
    for (const std::int32_t number : terms_of(t)) {
      const TermCode& term = terms_[number];
      words_alone = words_alone && term.kind == AtomKind::token && addresses_[term.address].parent < 0;
      if (!words_alone) break;
      const std::int32_t word = addresses_[term.address].step;
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
    if (!words_alone || words.size() > 2) {
      other_templates_.push_back(static_cast<std::int32_t>(t));
      continue;
    }
    std::sort(words.begin(), words.end());
    const std::int32_t second = words.size() > 1 ? words[1] : -1;
    auto known = std::find_if(word_groups_.begin(), word_groups_.end(), [&](const WordGroup& group) {
      return group.first == words[0] && group.second == second;
    });
    if (known == word_groups_.end()) known = word_groups_.insert(known, {words[0], second, {}});
    known->templates.push_back(static_cast<std::int32_t>(t));
  }
  // Those with as many terms follow each other, so that processors foresee how far each loop over terms goes.
  const auto fewer = [this](std::int32_t a, std::int32_t b) { return terms_of(a).size() < terms_of(b).size(); };
  std::stable_sort(other_templates_.begin(), other_templates_.end(), fewer);
  for (WordGroup& group : word_groups_) std::stable_sort(group.templates.begin(), group.templates.end(), fewer);
}

void ParserTemplates::see(const Configuration& c, const WordNodes& nodes, const std::int32_t* atoms,
                          std::int32_t n_atoms, std::int32_t n_words, std::uint64_t* values, Words& words) const {
  std::array<Seen, n_bases> bases;
  std::int32_t node = c.top;
  std::int32_t last_right = -1;
  for (std::int32_t i = 0; i < AddressCode::n_stack && node >= 0; ++i, node = nodes.below(node)) {
    bases[i] = {node, nodes.word(node), nodes[node].label, last_right};
    last_right = nodes[node].label >= 0 ? node : -1;
  }
  std::int32_t next = c.next;
  node = c.front;
  for (std::int32_t i = 0; i < AddressCode::n_buffer; ++i) {
    Seen& seen = bases[AddressCode::n_stack + i];
    if (node >= 0) {
      seen = {node, nodes.word(node), -1, -1};
      next += seen.word == next;
      node = nodes.below(node);
    } else if (next <= n_words) {
      seen = {-1, next++, -1, -1};
    }
  }
  for (std::size_t i = 0; i < n_bases; ++i) words[i] = bases[i].word;

  constexpr std::size_t most_addresses = 64;
  std::array<Seen, most_addresses> seen;
  for (std::size_t a = 0; a < addresses_.size(); ++a) {
    const AddressCode& address = addresses_[a];
    seen[a] = address.parent < 0 ? bases[address.step] : step_from(seen[address.parent], address.step, nodes);
  }
  const auto node_value = [&](const Seen& at, auto value) -> std::uint64_t {
    return at.word < 0 ? 0 : value(at.node < 0 ? WordNode{} : nodes[at.node]);
  };
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const TermCode& term = terms_[i];
    const Seen at = term.address < 0 ? Seen{} : seen[term.address];
    std::uint64_t value = 0;
    switch (term.kind) {
      case AtomKind::token:
        if (at.word > 0) {
          const std::int32_t atom = atoms[static_cast<std::size_t>(at.word - 1) * n_atoms + term.atom];
          value = atom > 0 ? static_cast<std::uint64_t>(atom) + 1 : 0;
        } else {
          value = at.word == 0;
        }
        break;
      case AtomKind::label:
        value = static_cast<std::uint64_t>(at.label + 1);
        break;
      case AtomKind::left_valency:
        value = node_value(at, [](const WordNode& n) { return valency_class(n.n_left); });
        break;
      case AtomKind::right_valency:
        value = node_value(at, [](const WordNode& n) { return valency_class(n.n_right); });
        break;
      case AtomKind::left_labels:
        value = node_value(at, [](const WordNode& n) { return label_set(n.left_labels); });
        break;
      case AtomKind::right_labels:
        value = node_value(at, [](const WordNode& n) { return label_set(n.right_labels); });
        break;
      case AtomKind::distance:
        value = distance_class(words[0], words[AddressCode::n_stack]);
        break;
      case AtomKind::stack_distance:
        value = distance_class(words[1], words[0]);
        break;
    }
    values[i] = value;
  }
}

}  // namespace margent
