// Columns to text: the inverse of the column parser.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "text/columns.hpp"

namespace margent {

// Some sentences and some columns of a table. The arrays belong to the caller.
struct ColumnView {
  const ColumnTable* table;
  const std::int64_t* sentences;
  const std::int64_t* columns;
  std::size_t n_columns;
};

// What cannot be written, and where: sentence and token are counted from 0.
class RowError : public std::runtime_error {
 public:
  RowError(std::int64_t sentence, std::int64_t token, const std::string& message)
      : std::runtime_error(message), sentence_(sentence), token_(token) {}
  std::int64_t sentence() const { return sentence_; }
  std::int64_t token() const { return token_; }

 private:
  std::int64_t sentence_, token_;
};

// The views side by side, a line for each token, a blank line after each sentence; all views have `n_sentences`. The
// separator is a tab or a space. Throws RowError for a sentence whose length differs between views (token -1), and for
// a row that a reader with the same separator would not give back.
std::string format_columns(const std::vector<ColumnView>& views, std::int64_t n_sentences, char separator);

}  // namespace margent
