// Templates of the features of a parser, compiled: which atoms of a configuration are seen together.
//
// A template is a list of terms, a term an atom at an address: the word of s0, the label of the leftmost dependent of
// n0. A feature is a template with the values of its terms, and is known by a 64-bit hash of them alone: two features
// of the 10 million of a large parser have the same hash with a probability of 3e-6.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "parsing/configuration.hpp"
#include "text/strings.hpp"

namespace margent {

// A node or a word that features look at: one of the stack or the buffer, or a dependent or the head of another one.
struct AddressCode {
  // Without a parent, `step` counts the stack from 0 and the buffer from n_stack on; otherwise it is one of these.
  enum Step : std::int32_t { left, left_second, right, right_second, head };
  static constexpr std::int32_t n_stack = 4, n_buffer = 4;

  std::int32_t parent = -1;  // the number of an earlier address
  std::int32_t step = 0;
};

// What is seen at an address; `distance` of s0 and n0 and `stack_distance` of s1 and s0 have none.
enum class AtomKind : std::int32_t {
  token,  // column `atom` of the treebank
  label,
  left_valency,
  right_valency,
  left_labels,
  right_labels,
  distance,
  stack_distance,
};

struct TermCode {
  std::int32_t address = -1;
  AtomKind kind = AtomKind::token;
  std::int32_t atom = 0;
};

class ParserTemplates {
 public:
  // Template t has the terms template_terms[template_ptr[t]], ..., template_terms[template_ptr[t + 1] - 1], numbers of
  // `terms`. All is in range, and parents come before those that they are parents of.
  ParserTemplates(std::vector<AddressCode> addresses, std::vector<TermCode> terms,
                  std::vector<std::int32_t> template_ptr, std::vector<std::int32_t> template_terms);

  std::size_t size() const { return template_ptr_.size() - 1; }
  std::size_t n_terms() const { return terms_.size(); }
  std::span<const TermCode> terms() const { return terms_; }
  std::span<const std::int32_t> terms_of(std::size_t t) const {
    return {template_terms_.data() + template_ptr_[t], template_terms_.data() + template_ptr_[t + 1]};
  }

  // What the terms see in a configuration: `values` [n_terms], 0 where there is nothing; for a token the number of its
  // atom + 1, and 1 for the root. `words` [8]: those on top of the stack and at the front of the buffer, -1 for none.
  static constexpr std::size_t n_bases = AddressCode::n_stack + AddressCode::n_buffer;
  using Words = std::array<std::int32_t, n_bases>;
  void see(const Configuration& c, const WordNodes& nodes, const std::int32_t* atoms, std::int32_t n_atoms,
           std::int32_t n_words, std::uint64_t* values, Words& words) const;

  // The values, each mixed once for all templates that look at it: `mixed` [n_terms], 0 where there is nothing.
  void mix_values(const std::uint64_t* values, std::uint64_t* mixed) const {
    for (std::size_t i = 0; i < terms_.size(); ++i) mixed[i] = mixed_value(i, values[i]);
  }
  // The feature of a template among these mixed values, or 0: one of its terms sees nothing, and then there is no
  // feature.
  std::uint64_t key(std::size_t t, const std::uint64_t* mixed) const {
    std::uint64_t sum = salts_[t], there = 1;
    for (std::int32_t i = template_ptr_[t]; i < template_ptr_[t + 1]; ++i) {
      const std::uint64_t value = mixed[template_terms_[i]];
      there &= static_cast<std::uint64_t>(value != 0);
      sum += value;
    }
    sum = (sum ^ (sum >> 32)) * 0xBF58476D1CE4E5B9ull;
    return there ? (sum ^ (sum >> 29)) | 1 : 0;
  }

  // Templates that look at nothing but atoms of up to two words of stack and buffer: what they score depends on these
  // words alone. All others see what has been built.
  struct WordGroup {
    std::int32_t first, second;  // numbers of words; second -1: there is none
    std::vector<std::int32_t> templates;
  };
  std::span<const WordGroup> word_groups() const { return word_groups_; }
  std::span<const std::int32_t> other_templates() const { return other_templates_; }

 private:
  void group();
  static std::uint64_t mixed_value(std::size_t term, std::uint64_t value) {
    return value ? mix(value * 0x9E3779B97F4A7C15ull + (term + 1) * 0xD1B54A32D192ED03ull) | 1 : 0;
  }

  std::vector<AddressCode> addresses_;
  std::vector<TermCode> terms_;
  std::vector<std::int32_t> template_ptr_, template_terms_;
  std::vector<std::uint64_t> salts_;
  std::vector<WordGroup> word_groups_;
  std::vector<std::int32_t> other_templates_;
};

}  // namespace margent
