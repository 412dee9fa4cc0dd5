// Co-segments: a word and its pronunciation aligned by graphones of some letters and some phonemes (paper 003,
// section 4.1).
//
// A graphone is a pair (letters, phonemes), either of which may be empty. The alignments of a word of n letters and m
// phonemes are the paths from cell (0, 0) to cell (n, m) of a grid; a graphone of a letters and b phonemes leads from
// (i, j) to (i + a, j + b).
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "text/strings.hpp"

namespace margent {

using Symbols = std::span<const std::int32_t>;

struct GraphoneSize {
  std::int32_t letters, phonemes;
};

// Words and pronunciations as numbers, one after the other; those of pair s are [ptr[s], ptr[s + 1]).
struct SpellingPairs {
  std::int64_t size = 0;
  const std::int64_t *letter_ptr = nullptr, *phoneme_ptr = nullptr;
  const std::int32_t *letters = nullptr, *phonemes = nullptr;

  Symbols word(std::int64_t s) const { return {letters + letter_ptr[s], letters + letter_ptr[s + 1]}; }
  Symbols pronunciation(std::int64_t s) const { return {phonemes + phoneme_ptr[s], phonemes + phoneme_ptr[s + 1]}; }
};

// The graphones that may be used, numbered in the order of their letters, so that those of the same letters follow each
// other. After the graphones come two symbols of the grams over them: the end and the start of a word.
class Graphones {
 public:
  // Graphone u has the letters [letter_ptr[u], letter_ptr[u + 1]) and the phonemes likewise; sorted by letters, all
  // different, none empty on both sides: the caller has checked.
  Graphones(std::vector<std::int64_t> letter_ptr, std::vector<std::int32_t> letters,
            std::vector<std::int64_t> phoneme_ptr, std::vector<std::int32_t> phonemes);

  std::int32_t size() const { return static_cast<std::int32_t>(letter_ptr_.size()) - 1; }
  std::int32_t end() const { return size(); }
  std::int32_t start() const { return size() + 1; }
  Symbols letters(std::int32_t graphone) const {
    return {letters_.data() + letter_ptr_[graphone], letters_.data() + letter_ptr_[graphone + 1]};
  }
  Symbols phonemes(std::int32_t graphone) const {
    return {phonemes_.data() + phoneme_ptr_[graphone], phonemes_.data() + phoneme_ptr_[graphone + 1]};
  }
  // The graphone of these letters and phonemes, or not_found.
  std::int32_t find(Symbols letters, Symbols phonemes) const;
  // The graphones of these letters: [first, second).
  std::pair<std::int32_t, std::int32_t> group(Symbols letters) const;
  // The sizes that occur, and the numbers of letters that occur, both rising.
  const std::vector<GraphoneSize>& sizes() const { return sizes_; }
  const std::vector<std::int32_t>& letter_counts() const { return letter_counts_; }

 private:
  std::vector<std::int64_t> letter_ptr_, phoneme_ptr_;
  std::vector<std::int32_t> letters_, phonemes_;
  KeyTable graphones_, groups_;
  std::vector<std::int32_t> group_begin_;
  std::vector<GraphoneSize> sizes_;
  std::vector<std::int32_t> letter_counts_;
};

// The cells and arcs on paths from start to end. Cell (i, j) is i * (m + 1) + j; its arcs are [begin[cell],
// begin[cell + 1]). Without a path there are no arcs.
struct CosegmentLattice {
  struct Arc {
    std::int32_t from, to, graphone;
  };
  std::int32_t n = 0, m = 0;
  std::vector<std::int32_t> begin;
  std::vector<Arc> arcs;

  std::int32_t cells() const { return (n + 1) * (m + 1); }
  bool empty() const { return arcs.empty() && cells() > 1; }
};

// All alignments of a word and its pronunciation. O(n m sizes).
void build_lattice(const Graphones& graphones, Symbols word, Symbols pronunciation, CosegmentLattice& out);

// All graphones of the given sizes that occur in an alignment of some pair, in their order, as the constructor of
// Graphones takes them.
Graphones discover_graphones(const SpellingPairs& pairs, const std::vector<GraphoneSize>& sizes);

}  // namespace margent
