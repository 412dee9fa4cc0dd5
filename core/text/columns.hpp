// A table of tokens in columns: what the column reader makes and the feature templates read.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace margent {

// Cell c of token t is text[begin[t * n_columns + c], + length[t * n_columns + c]); the tokens of sentence s are
// sentence_ptr[s] to sentence_ptr[s + 1] - 1. Cells are valid UTF-8.
struct ColumnTable {
  int n_columns = 0;
  std::string text;
  std::vector<std::uint64_t> begin;
  std::vector<std::uint32_t> length;
  std::vector<std::int64_t> sentence_ptr{0};

  std::int64_t n_tokens() const { return sentence_ptr.back(); }
  std::int64_t n_sentences() const { return static_cast<std::int64_t>(sentence_ptr.size()) - 1; }
  std::string_view cell(std::int64_t token, int column) const {
    const std::size_t i = static_cast<std::size_t>(token) * n_columns + column;
    return std::string_view(text).substr(begin[i], length[i]);
  }
};

}  // namespace margent
