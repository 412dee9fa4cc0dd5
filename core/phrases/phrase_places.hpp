// What is seen at the places of pruned charts, worked out once: features of spans and splits, and which weights each
// edge has.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "phrases/phrase_forests.hpp"
#include "phrases/span_templates.hpp"

namespace margent {

// Which column of the weights of a feature is for what. Spans of one word and longer ones have features of their own,
// so the columns of tags may be those of phrases.
struct PhraseColumns {
  std::int32_t width;
  std::vector<std::int32_t> symbols;  // [n_symbols], of a tag above a word, or of a symbol above longer spans
  std::vector<std::int32_t> unary;    // [n_unary]; -1: none
};

// Weights are features x columns in rows, and then one for each binary rule, each unary rule, each symbol at the root,
// for a piece, and for the score that the grammar gives to an edge.
struct PhraseLayout {
  std::int64_t n_features;
  std::int32_t width, n_binary, n_unary, n_symbols;

  std::int64_t binary() const { return n_features * width; }
  std::int64_t unary() const { return binary() + n_binary; }
  std::int64_t root() const { return unary() + n_unary; }
  std::int64_t piece() const { return root() + n_symbols; }
  std::int64_t grammar() const { return piece() + 1; }
  std::int64_t size() const { return grammar() + 1; }
};

// Counts what the templates see at the places of right trees; keys seen at least min_count times are added.
void add_right_keys(const PhraseForests& forests, const SpanTemplates& templates, const std::int32_t* atoms,
                    std::int64_t n_atoms, std::int64_t min_count, KeyTable& keys);

// A *cell* is a place with a column: a sum of one weight for each feature of the place. The score of an edge is the sum
// of at most two cells (its span; its split) and of the weight of its rule.
class PhrasePlaces {
 public:
  // atoms: (words, n_atoms).
  PhrasePlaces(const PhraseForests& forests, const SpanTemplates& templates, const PhraseColumns& columns,
               const std::int32_t* atoms, std::int64_t n_atoms, const KeyTable& keys, int threads);

  struct Cell {
    std::int32_t place, column;
    auto operator<=>(const Cell&) const = default;
  };
  struct EdgeCells {
    std::int32_t span, split;  // cells, or -1
    std::int32_t rule;         // the number of the weight of its rule, counted from layout.binary()
  };
  // Of one sentence.
  struct Sentence {
    std::vector<std::int32_t> features;  // ids of place p: features[ptr[p]] to features[ptr[p + 1] - 1]
    std::vector<std::int32_t> ptr{0};
    std::vector<Cell> cells;
    std::vector<EdgeCells> edges;
  };

  const PhraseForests& forests() const { return *forests_; }
  const PhraseLayout& layout() const { return layout_; }
  const Sentence& sentence(std::int64_t s) const { return sentences_[static_cast<std::size_t>(s)]; }

 private:
  const PhraseForests* forests_;
  PhraseLayout layout_;
  std::vector<Sentence> sentences_;
};

}  // namespace margent
