// The column reader: bytes in pieces to a ColumnTable, sentence by sentence.
#pragma once
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "text/columns.hpp"

namespace margent {

// What is wrong, and in which line (counted from 1).
class ColumnError : public std::runtime_error {
 public:
  ColumnError(std::int64_t line, const std::string& message) : std::runtime_error(message), line_(line) {}
  std::int64_t line() const { return line_; }

 private:
  std::int64_t line_;
};

// Something is larger than a limit, by its name in ColumnLimits.
class ColumnLimitError : public ColumnError {
 public:
  ColumnLimitError(std::int64_t line, const char* limit) : ColumnError(line, limit) {}
};

// The largest that is taken: bytes of a line, tokens and bytes of a sentence, empty lines one after the other.
struct ColumnLimits {
  std::int64_t line = std::numeric_limits<std::int64_t>::max();
  std::int64_t tokens = std::numeric_limits<std::int64_t>::max();
  std::int64_t sentence = std::numeric_limits<std::int64_t>::max();
  std::int64_t empty_lines = std::numeric_limits<std::int64_t>::max();
};

struct ColumnFormat {
  bool tabs_only = false;     // cells end at each single tab; otherwise at any run of spaces and tabs
  std::string comment;        // lines that begin so are skipped; empty: there are no comments
  bool drop_docstart = true;  // lines whose first cell is -DOCSTART- end a sentence and are dropped
  ColumnLimits limits = {};
};

// Whether all of `s` is UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool valid_utf8(std::string_view s);

// A row a line, cells separated by blanks; lines of nothing but blanks end a sentence. Accepts LF and CRLF, a byte
// order mark, a last line without its end, NUL bytes. The fed bytes themselves become the table's text, so that a cell
// costs one pair of numbers. A line that raises ColumnError leaves nothing behind. Memory is bounded by the limits
// while no sentence is complete, whatever is fed.
class ColumnParser {
 public:
  explicit ColumnParser(ColumnFormat format = {}) : format_(std::move(format)) {}

  // Reads one more piece of the file; it may end anywhere, also within a character. What comes after a line that raises
  // ColumnError is not read.
  void feed(std::string_view bytes);

  // The file has ended: closes its last line and sentence. What is fed next is another file with the same columns.
  void finish();

  // The sentences that are complete so far. The parser keeps the rest.
  ColumnTable take();

 private:
  void scan();
  void parse_line(std::size_t begin, std::size_t end);
  void split(std::size_t begin, std::size_t end);
  void close_sentence();
  void check_sentence(std::size_t end) const;
  void drop_passed();

  ColumnFormat format_;
  ColumnTable table_;  // sentence_ptr counts complete sentences only; begin and length also the rows after them
  std::size_t line_begin_ = 0;  // of the line that is not complete yet
  std::size_t scanned_ = 0;     // no line end before this
  std::int64_t line_ = 0;       // lines read
  std::int64_t n_empty_ = 0;    // lines of nothing but blanks, since the last other one
};

}  // namespace margent
