#include "phrases/span_templates.hpp"

#include <algorithm>

namespace margent {

namespace {

// What is no number of an atom.
constexpr std::int64_t outside_sentence = -1, outside_span = -2;

std::int64_t length_class(std::int32_t n) {
  static constexpr std::int32_t bounds[] = {1, 2, 3, 4, 5, 7, 10, 15, 20, 30};
  return std::ranges::lower_bound(bounds, n) - std::begin(bounds);
}

std::uint64_t joined(std::uint64_t key, std::int64_t value) {
  return mix(key * 0x9E3779B97F4A7C15ull + static_cast<std::uint64_t>(value + 3));
}

}  // namespace

SpanTemplates::SpanTemplates(std::vector<SpanTerm> terms, std::vector<std::int64_t> ptr)
    : terms_(std::move(terms)), ptr_(std::move(ptr)) {
  for (std::size_t t = 0; t + 1 < ptr_.size(); ++t)
    of_splits_.push_back(std::any_of(terms_.begin() + ptr_[t], terms_.begin() + ptr_[t + 1], [](const SpanTerm& term) {
      return term.address == SpanAddress::split || term.address == SpanAddress::left_length ||
             term.address == SpanAddress::right_length;
    }));
}

bool SpanTemplates::key(std::int32_t number, const SentenceAtoms& sentence, const SpanPlace& place,
                        std::uint64_t& key) const {
  const auto t = static_cast<std::size_t>(number);
  if ((place.split >= 0) != (of_splits_[t] != 0)) return false;
  const auto atom = [&](std::int32_t word, std::int32_t column) -> std::int64_t {
    if (word < 0 || word >= sentence.n_words) return outside_sentence;
    return sentence.atoms[word * sentence.width + column];
  };
  const std::int32_t begin = place.begin, end = place.end;
  // Words and the single word of a span have weights of their own: another key for spans of one word.
  key = joined(end - begin == 1, number);
  for (std::int64_t k = ptr_[t]; k < ptr_[t + 1]; ++k) {
    const SpanTerm& term = terms_[static_cast<std::size_t>(k)];
    switch (term.address) {
      case SpanAddress::begin:
      case SpanAddress::end: {
        const bool from_begin = term.address == SpanAddress::begin;
        const std::int32_t word = (from_begin ? begin : end) + term.offset;
        const bool looks_inside = from_begin == (term.offset >= 0), inside = begin <= word && word < end;
        key = joined(key, looks_inside == inside ? atom(word, term.column) : outside_span);
        break;
      }
      case SpanAddress::split:
        key = joined(key, atom(place.split + term.offset, term.column));
        break;
      case SpanAddress::sequence:
        for (std::int32_t word = begin; word < end; ++word) {
          if (end - begin > 6 && word == begin + 3) {
            key = joined(key, outside_span);
            word = end - 3;
          }
          key = joined(key, atom(word, term.column));
        }
        break;
      case SpanAddress::length:
        key = joined(key, length_class(end - begin));
        break;
      case SpanAddress::left_length:
        key = joined(key, length_class(place.split - begin));
        break;
      case SpanAddress::right_length:
        key = joined(key, length_class(end - place.split));
        break;
    }
  }
  return true;
}

}  // namespace margent
