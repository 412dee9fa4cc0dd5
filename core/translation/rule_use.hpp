// An application of a rule to a span of a source sentence: the part that scores of translations are sums of.
#pragma once
#include <cstdint>
#include <span>

#include "translation/rule_table.hpp"
#include "translation/target_model.hpp"

namespace margent {

// Rules that are in no table.
enum MadeRule : std::int32_t {
  first_glue = -1,    // S -> X
  glue = -2,          // S -> S X
  pass_through = -3,  // X -> a word, as it is
  goal = -4,          // the whole sentence, from S
};

struct RuleUse {
  std::int32_t rule = goal, node = 0, begin = 0, end = 0;  // node: of the table, where its source side ends
  bool gap_first = false, gap_last = false;                // whether its source side begins, ends with a nonterminal
  double log_probability = 0;                              // what the language model adds
};

// Sentences one after the other, as ids of words of rules and atoms of templates. Views of checked arrays.
struct SourceSentences {
  std::int64_t size = 0;
  const std::int64_t* ptr = nullptr;    // [size + 1]
  const std::int32_t* words = nullptr;  // [T]; -1: in no rule
  const std::int32_t* atoms = nullptr;  // [T][n_atoms], 0: none
  std::int32_t n_atoms = 0;
  const std::uint8_t* pieces = nullptr;  // [T]; 1: a part of a word that is in no rule

  std::int32_t length(std::int64_t i) const { return static_cast<std::int32_t>(ptr[i + 1] - ptr[i]); }
  std::span<const std::int32_t> of(std::int64_t i) const {
    return {words + ptr[i], static_cast<std::size_t>(length(i))};
  }
};

class RuleTemplates;

// What all searches of a kind share.
struct TranslationSetup {
  RuleTable table;
  std::span<const TargetModel> models;     // at least one, all of the same target words
  const std::int32_t* model_of = nullptr;  // of each sentence which of them; null: the first
  const RuleTemplates* templates = nullptr;
  SourceSentences sentences;
  const RuleSources* sources = nullptr;  // what each sentence added to the table, to be left out; null: nothing
  std::int32_t span_limit = 10;          // no X is longer
  std::int32_t most_options = 30;        // translations of a source side at a span, the best; 0: all

  // Target words from this number on are words of the source sentence that pass through, by their places.
  std::int32_t n_targets() const { return static_cast<std::int32_t>(models.front().words.size()); }
  const TargetModel& model(std::int64_t sentence) const {
    return models[model_of ? static_cast<std::size_t>(model_of[sentence]) : 0];
  }
};

}  // namespace margent
