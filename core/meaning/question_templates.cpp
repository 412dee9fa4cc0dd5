#include "meaning/question_templates.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "text/strings.hpp"

namespace margent {

QuestionTemplates::QuestionTemplates(std::vector<QuestionTerm> terms, std::vector<std::int32_t> template_ptr,
                                     std::vector<std::int32_t> template_terms)
    : terms_(std::move(terms)), template_ptr_{0} {
  const auto given = [&](std::size_t t) {
    return std::span<const std::int32_t>(template_terms)
        .subspan(template_ptr[t], template_ptr[t + 1] - template_ptr[t]);
  };
  for (std::size_t t = 0; t + 1 < template_ptr.size(); ++t) numbers_.push_back(static_cast<std::int32_t>(t));
  const auto middle = std::stable_partition(numbers_.begin(), numbers_.end(), [&](std::int32_t t) {
    return std::ranges::none_of(given(t), [&](std::int32_t term) { return terms_[term].of_piece(); });
  });
  n_without_piece_ = static_cast<std::size_t>(middle - numbers_.begin());
  for (const std::int32_t t : numbers_) {
    for (const bool of_action : {false, true}) {
      for (const std::int32_t term : given(t))
        if (terms_[term].of_action() == of_action) template_terms_.push_back(term);
      if (!of_action) split_.push_back(static_cast<std::int32_t>(template_terms_.size()));
    }
    template_ptr_.push_back(static_cast<std::int32_t>(template_terms_.size()));
    salts_.push_back(mix(0x9E57 + static_cast<std::uint64_t>(t)) | 1);
  }
}

void QuestionTemplates::see(const MeaningNodes& nodes, std::int32_t top, std::int32_t depth, std::int32_t position,
                            std::int32_t n_words, const std::int32_t* atoms, std::int32_t n_atoms,
                            const QuestionOutlook& outlook, std::uint64_t* values) const {
  std::array<const MeaningNode*, QuestionTerm::n_expressions> expressions{};
  std::array<std::int32_t, QuestionTerm::n_words> words;
  words.fill(-1);
  for (std::size_t e = 0; e < expressions.size() && top >= 0; ++e) {
    expressions[e] = &nodes[top];
    words[QuestionTerm::edges + 2 * e] = expressions[e]->first;
    words[QuestionTerm::edges + 2 * e + 1] = expressions[e]->last;
    words[QuestionTerm::before + e] = expressions[e]->first - 1;
    top = expressions[e]->below;
  }
  for (std::int32_t i = 0; i < QuestionTerm::last - QuestionTerm::next; ++i)
    if (position + i < n_words) words[QuestionTerm::next + i] = position + i;
  for (std::int32_t i = 0; i < QuestionTerm::n_words - QuestionTerm::last; ++i)
    words[QuestionTerm::last + i] = position - 1 - i;
  const auto seen = [&](const QuestionTerm& term) -> std::uint64_t {
    if (term.kind == QuestionTerm::depth) return static_cast<std::uint64_t>(depth) + 1;
    if (term.kind == QuestionTerm::next_choice || term.kind == QuestionTerm::second_choice) {
      const std::int32_t word = position + (term.kind == QuestionTerm::second_choice);
      return word < n_words ? static_cast<std::uint64_t>(outlook.reasons[word]) + 2 : 1;
    }
    if (term.kind >= QuestionTerm::first_ahead && term.kind <= QuestionTerm::third_ahead)
      return outlook.ahead_of(position, term.kind - QuestionTerm::first_ahead);
    if (term.kind == QuestionTerm::token) {
      const std::int32_t word = words[term.address];
      if (word < 0) return 1;  // before the first word or after the last
      const std::int32_t atom = atoms[static_cast<std::int64_t>(word) * n_atoms + term.atom];
      return atom > 0 ? static_cast<std::uint64_t>(atom) + 1 : 0;
    }
    const MeaningNode* node = expressions[term.address];
    if (!node) return 1;  // nothing is on the stack there
    switch (term.kind) {
      case QuestionTerm::expression_type:
        return static_cast<std::uint64_t>(node->type) + 2;
      case QuestionTerm::expression_name:
        return static_cast<std::uint64_t>(node->name) + 2;
      case QuestionTerm::expression_second_name:
        return static_cast<std::uint64_t>(node->second_name) + 2;
      case QuestionTerm::expression_names:
        return node->names | 2;
      case QuestionTerm::expression_size:
        return static_cast<std::uint64_t>(std::min(node->size, 6)) + 2;
      default:
        return static_cast<std::uint64_t>(node->made) + 2;
    }
  };
  for (std::size_t i = 0; i < terms_.size(); ++i)
    if (!terms_[i].of_action()) values[i] = seen(terms_[i]);
}

void QuestionTemplates::see(const ActionAtoms& action, std::uint64_t* values) const {
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const auto number = [](std::int32_t n) { return static_cast<std::uint64_t>(n); };
    switch (terms_[i].kind) {
      case QuestionTerm::action_kind:
        values[i] = static_cast<std::uint64_t>(action.kind) + 1;
        break;
      case QuestionTerm::action_piece:
        values[i] = number(action.piece);
        break;
      case QuestionTerm::action_template:
        values[i] = number(action.tmpl);
        break;
      case QuestionTerm::action_name:
        values[i] = number(action.name);
        break;
      case QuestionTerm::action_second_name:
        values[i] = number(action.second_name);
        break;
      case QuestionTerm::action_constant:
        values[i] = number(action.constant);
        break;
      case QuestionTerm::action_type:
        values[i] = number(action.type) + 1;
        break;
      case QuestionTerm::action_evidence:
        values[i] = number(action.evidence);
        break;
      case QuestionTerm::action_length:
        values[i] = number(std::min(action.length, 4));
        break;
      default:
        break;
    }
  }
}

}  // namespace margent
