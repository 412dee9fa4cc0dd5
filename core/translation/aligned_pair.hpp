// Sentence pairs with the links between their words.
#pragma once
#include <cstdint>
#include <span>

namespace margent {

struct Link {
  std::int32_t source, target;  // positions from 0 on
};

struct AlignedPair {
  std::span<const std::int32_t> source, target;  // words
  std::span<const Link> links;
};

// Views of arrays that somebody else owns and has checked.
struct AlignedPairs {
  std::span<const std::int64_t> source_ptr;  // [n + 1]
  std::span<const std::int32_t> source_words;
  std::span<const std::int64_t> target_ptr;  // [n + 1]
  std::span<const std::int32_t> target_words;
  std::span<const std::int64_t> link_ptr;  // [n + 1]
  std::span<const Link> links;
  std::int32_t n_source_words = 0, n_target_words = 0;  // of the vocabularies

  std::int64_t size() const { return static_cast<std::int64_t>(source_ptr.size()) - 1; }
  AlignedPair operator[](std::int64_t i) const {
    return {row(source_ptr, source_words, i), row(target_ptr, target_words, i), row(link_ptr, links, i)};
  }

 private:
  template <class T>
  static std::span<const T> row(std::span<const std::int64_t> ptr, std::span<const T> values, std::int64_t i) {
    const std::int64_t first = ptr[static_cast<std::size_t>(i)], last = ptr[static_cast<std::size_t>(i) + 1];
    return values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  }
};

}  // namespace margent
