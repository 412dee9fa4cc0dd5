// Templates of spans: which atoms of tokens in and around a span of words, or around a split of it, are seen together.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/strings.hpp"

namespace margent {

enum class SpanAddress : std::int32_t {
  begin,         // the token `offset` after the first of the span
  end,           // the token `offset` after the first that follows the span
  split,         // the token `offset` after the first behind the split
  sequence,      // the tokens within the span: all of up to six, or else the first three and the last three
  length,        // how many tokens, the longer the rougher; so the next two:
  left_length,   // before the split
  right_length,  // behind it
};

struct SpanTerm {
  SpanAddress address;
  std::int32_t offset, column;
};

// Words begin to end - 1 of a sentence; split is -1 or from begin + 1 to end - 1.
struct SpanPlace {
  std::int32_t begin, end, split;
  auto operator<=>(const SpanPlace&) const = default;
};

// Atoms of the tokens of a sentence, rows of `width` numbers of at least 0.
struct SentenceAtoms {
  const std::int32_t* atoms;
  std::int64_t width;
  std::int32_t n_words;
};

class SpanTemplates {
 public:
  // terms[ptr[t]] to terms[ptr[t + 1] - 1] are those of template t.
  SpanTemplates(std::vector<SpanTerm> terms, std::vector<std::int64_t> ptr);

  std::int32_t size() const { return static_cast<std::int32_t>(ptr_.size()) - 1; }
  // The key of what a template sees at a place: equal keys for what is equal, and others otherwise but for an accident
  // of 64 bits. Templates that name the split see nothing of a place without one, all others nothing of a place with
  // one: false.
  bool key(std::int32_t number, const SentenceAtoms& sentence, const SpanPlace& place, std::uint64_t& key) const;

 private:
  std::vector<SpanTerm> terms_;
  std::vector<std::int64_t> ptr_;
  std::vector<char> of_splits_;
};

}  // namespace margent
