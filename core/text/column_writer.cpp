#include "text/column_writer.hpp"

#include <string_view>

#include "interruption.hpp"

namespace margent {
namespace {

struct Range {
  std::int64_t begin, end;
};

Range tokens_of(const ColumnView& view, std::int64_t i) {
  const std::int64_t s = view.sentences[i];
  return {view.table->sentence_ptr[s], view.table->sentence_ptr[s + 1]};
}

}  // namespace

std::string format_columns(const std::vector<ColumnView>& views, std::int64_t n_sentences, char separator) {
  const bool tabs = separator == '\t';
  std::string text;
  for (std::int64_t i = 0; i < n_sentences; ++i) {
    const Range first = tokens_of(views[0], i);
    const std::int64_t length = first.end - first.begin;
    for (const ColumnView& view : views) {
      const Range here = tokens_of(view, i);
      if (here.end - here.begin != length)
        throw RowError(i, -1,
                       "found " + std::to_string(here.end - here.begin) + " tokens in one argument, expected " +
                           std::to_string(length) + " as in the first");
    }
    for (std::int64_t t = 0; t < length; ++t) {
      check_interruption(64);
      bool blank = true;  // the whole row: it would be read as the end of the sentence
      for (const ColumnView& view : views) {
        const std::int64_t token = tokens_of(view, i).begin + t;
        for (std::size_t c = 0; c < view.n_columns; ++c) {
          const std::string_view cell = view.table->cell(token, static_cast<int>(view.columns[c]));
          if (&view != &views[0] || c > 0) text.push_back(separator);
          for (const char byte : cell) {
            if (byte == '\n' || byte == '\t' || (byte == ' ' && !tabs))
              throw RowError(i, t,
                             tabs ? "found a tab or line end in a cell, expected none"
                                  : "found a blank or line end in a cell, expected none");
            blank = blank && byte == ' ';
          }
          if (cell.empty() && !tabs) throw RowError(i, t, "found an empty cell, expected text");
          text.append(cell);
        }
      }
      if (blank) throw RowError(i, t, "found only blanks, which would end the sentence, expected text");
      if (text.back() == '\r') throw RowError(i, t, "found a carriage return at the end of the row, expected none");
      text.push_back('\n');
    }
    if (length > 0) text.push_back('\n');
  }
  return text;
}

}  // namespace margent
