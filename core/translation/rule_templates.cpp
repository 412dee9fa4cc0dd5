#include "translation/rule_templates.hpp"

#include <algorithm>
#include <utility>

namespace margent {

namespace {

constexpr std::uint64_t nothing = 0, outside = 1, nonterminal = 2, first_value = 3;

std::uint64_t class_of_length(std::size_t n) {
  static constexpr std::size_t bounds[] = {1, 2, 3, 4, 5, 7, 10, 15};
  return first_value + static_cast<std::uint64_t>(std::ranges::lower_bound(bounds, n) - std::begin(bounds));
}

}  // namespace

RuleTemplates::RuleTemplates(std::vector<RuleTerm> terms, std::vector<std::int64_t> ptr)
    : terms_(std::move(terms)), ptr_(std::move(ptr)) {
  for (const RuleTerm& term : terms_) {
    const auto same = [&](const RuleTerm& other) { return other.kind == term.kind && other.atom == term.atom; };
    const auto found = std::ranges::find_if(different_, same);
    which_.push_back(static_cast<std::size_t>(found - different_.begin()));
    if (found == different_.end()) different_.push_back(term);
  }
}

std::uint64_t RuleTemplates::value(const TranslationSetup& setup, std::int64_t sentence, const RuleUse& use,
                                   const RuleTerm& term) {
  const auto symbol = [](std::int32_t s) { return s < 0 ? nonterminal : first_value + static_cast<std::uint64_t>(s); };
  const auto token = [&](std::int32_t place) -> std::uint64_t {
    const SourceSentences& all = setup.sentences;
    if (place < 0 || place >= all.length(sentence)) return outside;
    const std::int32_t atom = all.atoms[(all.ptr[sentence] + place) * all.n_atoms + term.atom];
    return atom > 0 ? first_value + static_cast<std::uint64_t>(atom) : nothing;
  };
  const bool passes = use.rule == pass_through;
  const auto target = passes ? std::span<const std::int32_t>{} : setup.table.target(use.rule);
  switch (term.kind) {
    case RuleTerm::span_first:
      return token(use.begin);
    case RuleTerm::span_last:
      return token(use.end - 1);
    case RuleTerm::span_before:
      return token(use.begin - 1);
    case RuleTerm::span_after:
      return token(use.end);
    case RuleTerm::source_first:
      return use.gap_first ? nonterminal : token(use.begin);
    case RuleTerm::source_last:
      return use.gap_last ? nonterminal : token(use.end - 1);
    case RuleTerm::target_first:
      return target.empty() ? outside : symbol(target.front());
    case RuleTerm::target_second:
      return target.size() < 2 ? outside : symbol(target[1]);
    case RuleTerm::target_last:
      return target.empty() ? outside : symbol(target.back());
    case RuleTerm::target_length:
      return class_of_length(target.size());
    case RuleTerm::target_shape: {
      std::uint64_t shape = 1;
      bool in_words = false;
      for (const std::int32_t s : target) {
        if (s < 0)
          shape = 4 * shape + static_cast<std::uint64_t>(-s);
        else if (!in_words)
          shape = 4 * shape;
        in_words = s >= 0;
      }
      return first_value + shape;
    }
    case RuleTerm::rule_number:
      return passes ? nothing : first_value + static_cast<std::uint64_t>(use.rule);
    case RuleTerm::rule_source:
      return passes ? nothing : first_value + static_cast<std::uint64_t>(use.node);
    case RuleTerm::rule_kind:
      return first_value + static_cast<std::uint64_t>(passes);
    case RuleTerm::span_length:
      return class_of_length(static_cast<std::size_t>(use.end - use.begin));
    default:
      return nothing;
  }
}

void RuleTemplates::keys(const TranslationSetup& setup, std::int64_t sentence, const RuleUse& use,
                         std::vector<std::uint64_t>& out, std::vector<std::int32_t>* templates) const {
  std::uint64_t values[64];
  const std::size_t n = std::min<std::size_t>(different_.size(), std::size(values));
  for (std::size_t i = 0; i < n; ++i) values[i] = value(setup, sentence, use, different_[i]);
  for (std::size_t t = 0; t < size(); ++t) {
    std::uint64_t key = 0x9E57 + t;
    bool there = true;
    for (auto k = static_cast<std::size_t>(ptr_[t]); k < static_cast<std::size_t>(ptr_[t + 1]); ++k) {
      const std::uint64_t seen = values[which_[k]];
      there = there && seen != nothing;
      key = (key ^ seen) * 0x9E3779B97F4A7C15ull;
      key ^= key >> 32;
    }
    if (!there) continue;
    out.push_back(mix(key) | 1);
    if (templates) templates->push_back(static_cast<std::int32_t>(t));
  }
}

}  // namespace margent
