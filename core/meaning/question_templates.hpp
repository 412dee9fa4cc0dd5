// Templates of the features of a parser of questions, compiled: which atoms of a state and an action are seen together.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "meaning/meaning_nodes.hpp"

namespace margent {

// Expressions on the stack, words, and the action. Words of expressions are those at their edges and the one before
// them; `next` counts the words that are not read yet, `last` those that were read, from the latest back.
struct QuestionTerm {
  enum Kind : std::int32_t {
    expression_type,
    expression_name,
    expression_second_name,
    expression_names,
    expression_size,
    expression_made,
    token,  // atom `atom` of a word
    action_kind,
    action_piece,
    action_template,
    action_name,
    action_second_name,
    action_constant,
    action_type,
    action_evidence,
    action_length,
    depth,
    next_choice,  // the strongest reason for a choice at the next word, and at the one after it
    second_choice,
    first_ahead,  // what the next words that likely say something say most likely
    second_ahead,
    third_ahead,
  };
  // Of expressions: 0 the top, 1, 2 those below. Of tokens, see `Word`.
  enum Word : std::int32_t { edges = 0, before = 6, next = 9, last = 13, n_words = 16 };
  static constexpr std::int32_t n_expressions = 3;

  Kind kind = depth;
  std::int32_t address = 0;
  std::int32_t atom = 0;

  bool of_piece() const { return kind >= action_piece && kind <= action_length && kind != action_type; }
  bool of_action() const { return kind >= action_kind && kind <= action_length; }
};

// What features see of an action.
struct ActionAtoms {
  MeaningAction kind = MeaningAction::skip;
  std::int32_t piece = 0, tmpl = 0, name = 0, second_name = 0, constant = 0, type = 0, evidence = 0, length = 0;
};

// What the words of a question may say, before any of them is read.
struct QuestionOutlook {
  std::vector<std::int32_t> reasons;  // [words]: the strongest reason for a choice at each word
  std::vector<std::uint64_t> said;    // [words]: a number for what a word most likely says
  std::vector<std::int32_t> next;     // [words + 1]: the first word from there on that likely says something

  // Of the word that is `ahead` of such words after the first one from a position on; 1: there is none.
  std::uint64_t ahead_of(std::int32_t position, std::int32_t ahead) const {
    const auto n_words = static_cast<std::int32_t>(said.size());
    std::int32_t word = next[position];
    for (; ahead > 0 && word < n_words; --ahead) word = next[word + 1];
    return word < n_words ? said[word] : 1;
  }
};

class QuestionTemplates {
 public:
  // Template t has the terms template_terms[template_ptr[t]], ..., numbers of `terms`; all is in range.
  QuestionTemplates(std::vector<QuestionTerm> terms, std::vector<std::int32_t> template_ptr,
                    std::vector<std::int32_t> template_terms);

  std::size_t size() const { return salts_.size(); }
  // The first so many have a feature with an action of this kind: those that look at a piece come last.
  std::size_t size(MeaningAction action) const { return action == MeaningAction::shift ? size() : n_without_piece_; }
  // Which of the given templates the t-th is.
  std::size_t number(std::size_t t) const { return static_cast<std::size_t>(numbers_[t]); }
  std::size_t n_terms() const { return terms_.size(); }
  std::span<const QuestionTerm> terms() const { return terms_; }
  // The terms of a template by its number: those of the state, then those of the action.
  std::span<const std::int32_t> terms_of(std::size_t number) const {
    const auto t = std::find(numbers_.begin(), numbers_.end(), static_cast<std::int32_t>(number)) - numbers_.begin();
    return {template_terms_.data() + template_ptr_[t], template_terms_.data() + template_ptr_[t + 1]};
  }

  // What the terms of a state see: `values` [terms], 0 where there is nothing.
  void see(const MeaningNodes& nodes, std::int32_t top, std::int32_t depth, std::int32_t position, std::int32_t n_words,
           const std::int32_t* atoms, std::int32_t n_atoms, const QuestionOutlook& outlook,
           std::uint64_t* values) const;
  // ... and those of an action.
  void see(const ActionAtoms& action, std::uint64_t* values) const;

  // The beginnings of features, that which they see of the state; 0 where a term sees nothing.
  void begin(const std::uint64_t* values, std::uint64_t* begun) const {
    for (std::size_t t = 0; t < size(); ++t) {
      std::uint64_t key = salts_[t], there = 1;
      for (std::int32_t i = template_ptr_[t]; i < split_[t]; ++i) join(key, there, values[template_terms_[i]]);
      begun[t] = there ? key : 0;
    }
  }
  // The feature of a template with a beginning and an action; 0: there is none.
  std::uint64_t key(std::size_t t, std::uint64_t begun, const std::uint64_t* values) const {
    std::uint64_t key = begun, there = static_cast<std::uint64_t>(begun != 0);
    for (std::int32_t i = split_[t]; i < template_ptr_[t + 1]; ++i) join(key, there, values[template_terms_[i]]);
    key *= 0xBF58476D1CE4E5B9ull;
    return there ? (key ^ (key >> 29)) | 1 : 0;
  }

 private:
  static void join(std::uint64_t& key, std::uint64_t& there, std::uint64_t value) {
    there &= static_cast<std::uint64_t>(value != 0);
    key = (key ^ value) * 0x9E3779B97F4A7C15ull;
    key ^= key >> 32;
  }

  std::vector<QuestionTerm> terms_;
  std::vector<std::int32_t> template_ptr_, template_terms_;  // terms of states before those of actions
  std::vector<std::int32_t> split_, numbers_;
  std::size_t n_without_piece_ = 0;
  std::vector<std::uint64_t> salts_;
};

}  // namespace margent
