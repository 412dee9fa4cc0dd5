// The columns that templates read: columns of the data as codes, and columns derived from the spelling of their words.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/column_codes.hpp"
#include "text/spelling.hpp"

namespace margent {

struct TemplateColumn {
  int source;                            // the column of the data that it is, or is derived from
  std::optional<Derivation> derivation;  // nothing: the column itself
  StringTable strings;                   // its distinct values
  // Of a derived column, the code of the value of each distinct word of the source, by the code of the word; -1: the
  // word has none, or one that is not known. So spelling is looked at once per distinct word.
  std::vector<std::int32_t> of_word;
};

// The codes of one column for some tokens, as the encoder of templates reads them: of[words[t]], or words[t] itself
// where there is no `of`. Words from `known` on are new: their codes are fresh[words[t] - known], or unknown.
struct CodedColumn {
  const std::int32_t* words;
  const std::int32_t* of;
  std::int32_t known;
  const std::int32_t* fresh;

  std::int32_t operator[](std::int64_t t) const {
    const std::int32_t word = words[t];
    if (word < known) return of ? of[word] : word;
    return fresh ? fresh[word - known] : not_found;
  }
};

// What Unicode's tables say of a word that is not of ASCII letters: whether it has the property of the column, and its
// value.
using DeriveOther = std::function<bool(std::size_t column, std::string_view word, std::string& value)>;

class TemplateColumns {
 public:
  // A derived column needs its source among the columns.
  explicit TemplateColumns(std::vector<TemplateColumn> columns);

  std::size_t size() const { return columns_.size(); }
  const TemplateColumn& operator[](std::size_t i) const { return columns_[i]; }
  void restore(std::size_t i, StringTable strings, std::vector<std::int32_t> of_word);

  // What the answer to `encode` points to, besides the columns themselves.
  struct Codes {
    std::vector<ColumnCodes> words;
    std::vector<std::vector<std::int32_t>> fresh;
    std::vector<CodedColumn> columns;
  };
  // Of all tokens of a table, or of those of chosen sentences; `indices[c]` is where the table has column c of the
  // data. With `grow`, new words and values get codes; without, nothing of the columns changes, and words are looked up
  // by several threads.
  Codes encode(const ColumnTable& table, std::span<const int> indices,
               std::optional<std::span<const std::int64_t>> sentences, bool grow, int threads,
               const DeriveOther& other);

 private:
  std::vector<std::int32_t> derived(std::size_t column, const StringTable& words, std::int32_t begin, bool grow,
                                    const DeriveOther& other);

  std::vector<TemplateColumn> columns_;
  std::vector<std::size_t> source_of_;  // of each column, which one is its source
};

}  // namespace margent
