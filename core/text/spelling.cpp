#include "text/spelling.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace margent {

namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return is_upper(c) || is_lower(c); }
bool is_ascii(std::string_view s) {
  return std::ranges::none_of(s, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}
// A byte that does not begin a character.
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

char shape_of(char c) {
  if (is_upper(c)) return 'X';
  if (is_lower(c)) return 'x';
  return is_digit(c) ? '0' : c;
}

const char* capitalisation(std::string_view word) {
  const bool upper = std::ranges::any_of(word, is_upper), lower = std::ranges::any_of(word, is_lower);
  if (!upper) return lower ? "lower" : nullptr;
  if (!lower) return word.size() > 1 ? "upper" : "initial";
  return is_upper(word[0]) && std::ranges::none_of(word.substr(1), is_upper) ? "title" : "mixed";
}

const char* digits(std::string_view word) {
  if (std::ranges::none_of(word, is_digit)) return nullptr;
  if (std::ranges::all_of(word, is_digit)) return "all";
  return std::ranges::any_of(word, is_letter) ? "some" : "mostly";
}

const char* length(std::size_t n) {
  constexpr std::array<const char*, 10> classes{"0", "1", "2", "3", "4", "5-6", "5-6", "7-9", "7-9", "7-9"};
  return n < classes.size() ? classes[n] : "10+";
}

// The first (last) n characters; empty: there are fewer.
std::string_view prefix(std::string_view word, int n) {
  std::size_t end = 0;
  for (; n > 0; --n) {
    if (end == word.size()) return {};
    for (++end; end < word.size() && continues(word[end]);) ++end;
  }
  return word.substr(0, end);
}

std::string_view suffix(std::string_view word, int n) {
  std::size_t begin = word.size();
  for (; n > 0; --n) {
    if (begin == 0) return {};
    for (--begin; begin > 0 && continues(word[begin]);) --begin;
  }
  return word.substr(begin);
}

}  // namespace

std::optional<Derivation> derivation_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Spelling>, 7> plain{{{"lower", Spelling::lower},
                                                                        {"shape", Spelling::shape},
                                                                        {"short_shape", Spelling::short_shape},
                                                                        {"capitalisation", Spelling::capitalisation},
                                                                        {"digits", Spelling::digits},
                                                                        {"hyphen", Spelling::hyphen},
                                                                        {"length", Spelling::length}}};
  for (const auto& [known, what] : plain)
    if (name == known) return Derivation{what};
  for (const auto& [known, what] : {std::pair{"prefix", Spelling::prefix}, std::pair{"suffix", Spelling::suffix}})
    if (name.size() == 7 && name.substr(0, 6) == known && is_digit(name[6]) && name[6] != '0')
      return Derivation{what, name[6] - '0'};
  return std::nullopt;
}

Derived derive(const Derivation& derivation, std::string_view word, std::string& value) {
  const auto found = [&value](const char* text) {
    if (text) value = text;
    return text ? Derived::value : Derived::none;
  };
  switch (derivation.what) {
    case Spelling::prefix:
    case Spelling::suffix: {
      const bool first = derivation.what == Spelling::prefix;
      const std::string_view affix = first ? prefix(word, derivation.n) : suffix(word, derivation.n);
      value = affix;
      return affix.empty() ? Derived::none : Derived::value;
    }
    case Spelling::length:
      return found(length(word.size() - static_cast<std::size_t>(std::ranges::count_if(word, continues))));
    default:
      break;
  }
  if (!is_ascii(word)) return Derived::unknown;
  switch (derivation.what) {
    case Spelling::lower:
      value = word;
      for (char& c : value)
        if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
      return Derived::value;
    case Spelling::shape:
    case Spelling::short_shape:
      value.clear();
      for (const char c : word)
        if (const char x = shape_of(c); derivation.what == Spelling::shape || value.empty() || value.back() != x)
          value.push_back(x);
      return Derived::value;
    case Spelling::capitalisation:
      return found(capitalisation(word));
    case Spelling::digits:
      return found(digits(word));
    default:  // a hyphen inside
      return found(word.size() > 2 && word.substr(1, word.size() - 2).find('-') != word.npos ? "hyphen" : nullptr);
  }
}

}  // namespace margent
