// Feature templates over coded columns: tokens in, feature ids out.
//
// A column has an integer code for each token: the id of its string, or `unknown`. A template names a few cells around
// the token; its feature is identified by the template's text and the codes of these cells. Cells before the first and
// after the last token have codes of their own, by distance.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "simd/uninitialised.hpp"
#include "text/strings.hpp"
#include "text/template_columns.hpp"

namespace margent {

struct Template {
  std::int32_t text = 0;  // the same for templates that differ only in which cells they name: they share features
  bool edge = false;      // feature x previous label x label, instead of feature x label
  std::vector<std::pair<std::int32_t, std::int32_t>> cells;  // (offset, column)
};

// Features by id: which template text and which codes, one after the other in `codes` from `ptr[id]`.
struct FeatureNames {
  std::vector<std::int32_t> text, codes;
  std::vector<std::int64_t> ptr{0};
};

struct EncodedTokens {
  UninitialisedVector<std::int32_t> ids;
  UninitialisedVector<std::int64_t> ptr{0};
};

class TemplateEncoder {
 public:
  static constexpr std::int32_t unknown = -1;
  // The code of the cell `distance` tokens before the first (side 0) or after the last token (side 1).
  static std::int32_t boundary(int distance, int side) { return -2 * distance - side; }

  TemplateEncoder(std::vector<Template> templates, int n_columns);

  // columns[c] has codes of n_tokens tokens; sentence s is tokens sentence_ptr[s] to sentence_ptr[s + 1] - 1. With
  // `grow`, new features get ids; without, they are left out, and stretches of sentences are encoded by several
  // threads. `features` [n_tokens] rows of ids, `edges` likewise.
  void encode(const std::vector<CodedColumn>& columns, const std::int64_t* sentence_ptr, std::int64_t n_sentences,
              bool grow, int threads, EncodedTokens& features, EncodedTokens& edges);

  int n_columns() const { return n_columns_; }
  std::int32_t size(bool edge) const { return tables_[edge].size(); }
  const FeatureNames& names(bool edge) const { return names_[edge]; }
  // Adds features by name, as read from a model file, in the order of their ids.
  void restore(bool edge, const FeatureNames& names);
  // Keeps the features with keep[id], renumbered in order.
  void filter(bool edge, const std::vector<bool>& keep);

 private:
  // Sentences first <= s < last, by one thread.
  void encode_stretch(const std::vector<CodedColumn>& columns, const std::int64_t* sentence_ptr, std::int64_t first,
                      std::int64_t last, bool grow, EncodedTokens& features, EncodedTokens& edges);
  // A template's cells as they are read: cells_[begin], .., cells_[end - 1].
  struct Cell {
    std::int32_t column, offset;  // from the first cell before the sentence that a template may see
  };
  struct Compiled {
    std::uint64_t seed;
    std::size_t begin, end;
    bool edge;
  };
  static std::uint64_t key(std::int32_t text, const std::int32_t* codes, std::size_t n);

  std::vector<Template> templates_;
  std::vector<Cell> cells_;
  std::vector<Compiled> compiled_;
  std::int64_t n_of_kind_[2] = {0, 0};  // templates without and with edges
  int n_columns_, reach_;
  KeyTable tables_[2];
  FeatureNames names_[2];
};

}  // namespace margent
