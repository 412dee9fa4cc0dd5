// Properties of a word's spelling, from which templates make columns. margent/features/derived.py says what each is.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interruption.hpp"
#include "text/strings.hpp"

namespace margent {

enum class Spelling { lower, shape, short_shape, capitalisation, digits, hyphen, length, prefix, suffix };

struct Derivation {
  Spelling what;
  int n = 0;  // of prefix and suffix: how many characters
};

// By its name ("shape", "suffix3"); nothing for a name that there is not.
std::optional<Derivation> derivation_named(std::string_view name);

enum class Derived {
  value,
  none,     // the word does not have the property
  unknown,  // what the letters are only Unicode's tables say
};

// Affixes and lengths of any word in valid UTF-8, everything else of ASCII words. `value` is written where there is
// one.
Derived derive(const Derivation& derivation, std::string_view word, std::string& value);

// code(value) of each word from number `begin` on; not_found where the word has none. other(word, value) says what only
// Unicode's tables say: whether there is a value.
template <class Other, class Code>
std::vector<std::int32_t> derived_codes(const Derivation& derivation, const StringTable& words, std::int32_t begin,
                                        Other other, Code code) {
  std::vector<std::int32_t> codes;
  codes.reserve(words.size() - begin);
  std::string value;
  for (std::int32_t w = begin; w < words.size(); ++w) {
    check_interruption(128);
    const Derived found = derive(derivation, words[w], value);
    const bool there = found == Derived::unknown ? other(words[w], value) : found == Derived::value;
    codes.push_back(there ? code(value) : not_found);
  }
  return codes;
}

}  // namespace margent
