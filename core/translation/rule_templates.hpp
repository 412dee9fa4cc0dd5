// Templates of the word-edge features of rules, compiled: which atoms at the edges of a rule are seen together.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "translation/rule_use.hpp"

namespace margent {

struct RuleTerm {
  // Of tokens of the source: atom `atom` of them. `source_first` and `source_last` see a nonterminal as such where the
  // rule has one there.
  enum Kind : std::int32_t {
    span_first,
    span_last,
    span_before,
    span_after,
    source_first,
    source_last,
    target_first,
    target_second,
    target_last,
    target_length,
    target_shape,  // nonterminals, and stretches of words between them
    rule_number,
    rule_source,  // the whole source side
    rule_kind,    // in the table or passing through
    span_length,
    n_kinds
  };
  static bool is_token(std::int32_t kind) { return kind <= source_last; }

  Kind kind = rule_number;
  std::int32_t atom = 0;
};

class RuleTemplates {
 public:
  // terms[ptr[t]] to terms[ptr[t + 1] - 1] are those of template t.
  RuleTemplates(std::vector<RuleTerm> terms, std::vector<std::int64_t> ptr);

  std::size_t size() const { return ptr_.size() - 1; }
  std::span<const RuleTerm> terms() const { return terms_; }
  // Appends the keys of what the templates see of the use of a rule in a sentence, and to `templates`, if given, which
  // of them: no key for a template one of whose terms sees nothing.
  void keys(const TranslationSetup& setup, std::int64_t sentence, const RuleUse& use, std::vector<std::uint64_t>& out,
            std::vector<std::int32_t>* templates = nullptr) const;
  // What a term sees: 0 nothing, 1 a place outside the sentence, 2 a nonterminal, or a number from 3 on.
  static std::uint64_t value(const TranslationSetup& setup, std::int64_t sentence, const RuleUse& use,
                             const RuleTerm& term);

 private:
  std::vector<RuleTerm> terms_;
  std::vector<std::int64_t> ptr_;
  // Each different term once, and which one each term is.
  std::vector<RuleTerm> different_;
  std::vector<std::size_t> which_;
};

}  // namespace margent
