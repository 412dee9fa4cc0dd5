// Properties of a word's spelling, from which templates make columns. margent/features/derived.py says what each is.
#pragma once
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace margent
