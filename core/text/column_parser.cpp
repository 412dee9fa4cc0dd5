#include "text/column_parser.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "interruption.hpp"

namespace margent {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view docstart = "-DOCSTART-";

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool starts_with(std::string_view s, std::string_view prefix) { return s.substr(0, prefix.size()) == prefix; }

}  // namespace

bool valid_utf8(std::string_view s) {
  const auto* p = reinterpret_cast<const unsigned char*>(s.data());
  const unsigned char* const end = p + s.size();
  while (p < end) {
    if (*p < 0x80) {
      ++p;
      continue;
    }
    // The range of the second byte rules out overlong forms (E0, F0), surrogates (ED) and too large numbers (F4).
    int follow;
    unsigned char low = 0x80, high = 0xBF;
    if (*p >= 0xC2 && *p <= 0xDF) {
      follow = 1;
    } else if (*p >= 0xE0 && *p <= 0xEF) {
      follow = 2;
      if (*p == 0xE0) low = 0xA0;
      if (*p == 0xED) high = 0x9F;
    } else if (*p >= 0xF0 && *p <= 0xF4) {
      follow = 3;
      if (*p == 0xF0) low = 0x90;
      if (*p == 0xF4) high = 0x8F;
    } else {
      return false;
    }
    if (end - p <= follow || p[1] < low || p[1] > high) return false;
    for (int i = 2; i <= follow; ++i)
      if ((p[i] & 0xC0) != 0x80) return false;
    p += follow + 1;
  }
  return true;
}

void ColumnParser::feed(std::string_view bytes) {
  // By slices: what was passed is dropped between them, and a large copy would let nobody look up.
  constexpr std::size_t slice = 1 << 20;
  do {
    drop_passed();
    table_.text.append(bytes.substr(0, slice));
    bytes.remove_prefix(std::min(bytes.size(), slice));
    scan();
  } while (!bytes.empty());
}

void ColumnParser::scan() {
  const std::string& text = table_.text;
  while (scanned_ < text.size()) {
    const void* found = std::memchr(text.data() + scanned_, '\n', text.size() - scanned_);
    if (!found) {
      check_interruption(static_cast<std::int64_t>(text.size() - scanned_));
      scanned_ = text.size();
      if (static_cast<std::int64_t>(scanned_ - line_begin_) > format_.limits.line)
        throw ColumnLimitError(line_ + 1, "line");
      return;
    }
    const std::size_t end = static_cast<const char*>(found) - text.data();
    check_interruption(64 + static_cast<std::int64_t>(end - scanned_));
    const std::size_t begin = line_begin_;
    line_begin_ = scanned_ = end + 1;  // first, so that a wrong line is left behind
    parse_line(begin, end);
  }
}

void ColumnParser::finish() {
  const std::size_t begin = line_begin_;
  line_begin_ = scanned_ = table_.text.size();
  if (begin < line_begin_) parse_line(begin, line_begin_);
  close_sentence();
  line_ = 0;
}

ColumnTable ColumnParser::take() {
  ColumnTable complete;
  complete.n_columns = table_.n_columns;
  if (table_.n_sentences() == 0) return complete;  // nothing is copied while one long sentence comes in pieces

  // The rows of the unfinished sentence and the unfinished line stay, moved to the beginning of a new text.
  const std::size_t n_cells = static_cast<std::size_t>(table_.n_tokens()) * table_.n_columns;
  const std::size_t kept = n_cells < table_.begin.size() ? table_.begin[n_cells] : line_begin_;
  ColumnTable rest;
  rest.n_columns = table_.n_columns;
  rest.text.assign(table_.text, kept, std::string::npos);
  rest.length.assign(table_.length.begin() + n_cells, table_.length.end());
  rest.begin.reserve(rest.length.size());
  for (std::size_t i = n_cells; i < table_.begin.size(); ++i) rest.begin.push_back(table_.begin[i] - kept);
  table_.text.resize(kept);
  table_.begin.resize(n_cells);
  table_.length.resize(n_cells);
  line_begin_ -= kept;
  scanned_ -= kept;
  complete = std::move(table_);
  table_ = std::move(rest);
  return complete;
}

void ColumnParser::parse_line(std::size_t begin, std::size_t end) {
  ++line_;
  if (static_cast<std::int64_t>(end - begin) > format_.limits.line) throw ColumnLimitError(line_, "line");
  const std::string_view text = table_.text;
  if (line_ == 1 && starts_with(text.substr(begin, end - begin), byte_order_mark)) begin += byte_order_mark.size();
  if (end > begin && text[end - 1] == '\r') --end;
  const std::string_view line = text.substr(begin, end - begin);

  std::size_t first = 0;
  while (first < line.size() && is_blank(line[first])) ++first;
  if (first == line.size()) {
    if (++n_empty_ > format_.limits.empty_lines) throw ColumnLimitError(line_, "empty_lines");
    return close_sentence();
  }
  n_empty_ = 0;
  if (!format_.comment.empty() && starts_with(line, format_.comment)) return;
  if (format_.drop_docstart && starts_with(line, docstart) &&
      (line.size() == docstart.size() || is_blank(line[docstart.size()])))
    return close_sentence();
  split(begin, end);
  check_sentence(end);
}

// Of the sentence that is not complete yet, whose last line ends there; what comments take counts.
void ColumnParser::check_sentence(std::size_t end) const {
  const auto n_open = static_cast<std::int64_t>(table_.length.size()) / table_.n_columns - table_.n_tokens();
  if (n_open > format_.limits.tokens) throw ColumnLimitError(line_, "tokens");
  const std::size_t first = static_cast<std::size_t>(table_.n_tokens()) * table_.n_columns;
  if (static_cast<std::int64_t>(end - table_.begin[first]) > format_.limits.sentence)
    throw ColumnLimitError(line_, "sentence");
}

// Empty lines, comments and the like before the first sentence are forgotten.
void ColumnParser::drop_passed() {
  if (!table_.length.empty() || line_begin_ == 0) return;
  table_.text.erase(0, line_begin_);
  scanned_ -= line_begin_;
  line_begin_ = 0;
}

void ColumnParser::split(std::size_t begin, std::size_t end) {
  const char* const text = table_.text.data();
  const std::size_t n_before = table_.length.size();
  unsigned char seen = 0;  // bits of all bytes: the highest says whether there is anything beyond ASCII
  const auto fail = [&](const std::string& message) {
    table_.begin.resize(n_before);
    table_.length.resize(n_before);
    throw ColumnError(line_, message);
  };
  const auto add = [&](std::size_t from, std::size_t to) {
    if (to - from > std::numeric_limits<std::uint32_t>::max()) fail("a cell is longer than 4 GiB");
    table_.begin.push_back(from);
    table_.length.push_back(static_cast<std::uint32_t>(to - from));
  };
  std::size_t p = begin;
  if (format_.tabs_only) {
    for (std::size_t from = begin;; ++p) {
      if (p == end || text[p] == '\t') {
        add(from, p);
        from = p + 1;
        if (p == end) break;
      }
      seen |= static_cast<unsigned char>(text[p]);
    }
  } else {
    while (true) {
      while (p < end && is_blank(text[p])) ++p;
      if (p == end) break;
      const std::size_t from = p;
      for (; p < end && !is_blank(text[p]); ++p) seen |= static_cast<unsigned char>(text[p]);
      add(from, p);
    }
  }
  if ((seen & 0x80) && !valid_utf8(std::string_view(text + begin, end - begin)))
    fail("the text is not valid UTF-8; name the encoding it is in");

  const int found = static_cast<int>(table_.length.size() - n_before);
  if (table_.n_columns == 0) table_.n_columns = found;
  if (found != table_.n_columns)
    fail("found " + std::to_string(found) + (found == 1 ? " column" : " columns") + ", expected " +
         std::to_string(table_.n_columns) + " as in the rows before");
}

void ColumnParser::close_sentence() {
  const auto n_rows =
      table_.n_columns ? static_cast<std::int64_t>(table_.length.size()) / table_.n_columns : std::int64_t{0};
  if (n_rows > table_.n_tokens()) table_.sentence_ptr.push_back(n_rows);
}

}  // namespace margent
