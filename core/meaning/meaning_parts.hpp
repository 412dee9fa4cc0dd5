// What a right meaning is made of: the parts that a parser may build on the way to it, known by their hashes.
//
// An expression is known by a hash of how it was made: of a piece, by its number; of a function applied to an argument,
// by both; of a union, by its members in any order. There are many ways to make the same part, so each hash of a part,
// or of what leads to one, is translated to one number: what was made in another way is then the same.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "text/strings.hpp"

namespace margent {

enum class Connective : std::uint8_t { none, both, either };  // `and`, `or`

inline std::uint64_t piece_hash(std::int32_t piece) {
  return mix(0x51ECE000000ull + static_cast<std::uint64_t>(piece));
}
inline std::uint64_t applied_hash(std::uint64_t function, std::uint64_t argument) {
  return mix(function * 0x9E3779B97F4A7C15ull + argument);
}
// A union is the sum of what its members are, so that their order does not matter.
inline std::uint64_t member_hash(std::uint64_t hash) { return mix(hash ^ 0x3E3BE2ull); }
inline std::uint64_t union_hash(Connective connective, std::uint64_t members) {
  return mix(members + static_cast<std::uint64_t>(connective));
}

// Parts of a meaning, smaller ones first (src/margent/models/semantic_parser/fragments.py). Part p is a union of
// members, or is made in ways: a piece applied to parts.
struct MeaningParts {
  std::span<const std::uint8_t> connectives;                   // [parts]
  std::span<const std::int64_t> member_ptr, way_ptr, arg_ptr;  // [parts + 1], [parts + 1], [ways + 1]
  std::span<const std::int32_t> members, pieces, arguments;
};

// Unions of more members than this are not looked into.
inline constexpr std::size_t most_members = 12;

class PartHashes {
 public:
  PartHashes() = default;
  explicit PartHashes(const MeaningParts& parts);

  // The number that stands for what has this hash; 0: it is not on the way to the meaning.
  std::uint64_t find(std::uint64_t hash) const;
  // Of a number that stands for a union: of which kind, and the sum of its members.
  struct Union {
    std::uint64_t number = 0, members = 0;
    Connective connective = Connective::none;
  };
  Union union_of(std::uint64_t number) const;
  std::uint64_t whole() const { return whole_; }

 private:
  std::uint64_t canonical(std::uint64_t hash) const;
  void set(std::uint64_t hash, std::uint64_t number);

  std::vector<std::pair<std::uint64_t, std::uint64_t>> numbers_;  // open addressing; 0: empty
  std::size_t n_ = 0;
  std::vector<Union> unions_;  // parts that are unions
  std::uint64_t whole_ = 0;
};

}  // namespace margent
