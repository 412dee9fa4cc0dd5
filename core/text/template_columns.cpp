#include "text/template_columns.hpp"

#include <stdexcept>
#include <utility>

namespace margent {

TemplateColumns::TemplateColumns(std::vector<TemplateColumn> columns) : columns_(std::move(columns)) {
  for (const TemplateColumn& column : columns_) {
    std::size_t source = 0;
    while (source < columns_.size() && (columns_[source].derivation || columns_[source].source != column.source))
      ++source;
    if (source == columns_.size()) throw std::invalid_argument("a derived column needs its source");
    source_of_.push_back(source);
  }
}

void TemplateColumns::restore(std::size_t i, StringTable strings, std::vector<std::int32_t> of_word) {
  columns_[i].strings = std::move(strings);
  columns_[i].of_word = std::move(of_word);
}

std::vector<std::int32_t> TemplateColumns::derived(std::size_t column, const StringTable& words, std::int32_t begin,
                                                   bool grow, const DeriveOther& other) {
  TemplateColumn& self = columns_[column];
  return derived_codes(
      *self.derivation, words, begin,
      [&](std::string_view word, std::string& value) { return other(column, word, value); },
      [&](const std::string& value) { return grow ? self.strings.add(value) : self.strings.find(value); });
}

TemplateColumns::Codes TemplateColumns::encode(const ColumnTable& table, std::span<const int> indices,
                                               std::optional<std::span<const std::int64_t>> sentences, bool grow,
                                               int threads, const DeriveOther& other) {
  Codes out;
  out.words.resize(size());
  out.fresh.resize(size());
  std::vector<std::optional<StringTable>> fresh(size());
  std::vector<std::int32_t> known(size());
  for (std::size_t c = 0; c < size(); ++c) {
    TemplateColumn& self = columns_[c];
    if (self.derivation) continue;
    known[c] = self.strings.size();
    const int index = indices[self.source];
    StringTable& unseen = fresh[c].emplace();
    out.words[c] = sentences ? column_codes(table, index, *sentences, self.strings, grow, threads, unseen)
                             : column_codes(table, index, self.strings, grow, threads, unseen);
  }
  for (std::size_t c = 0; c < size(); ++c) {
    TemplateColumn& self = columns_[c];
    const std::size_t source = source_of_[c];
    if (self.derivation) {
      const StringTable& words = grow ? columns_[source].strings : *fresh[source];
      std::vector<std::int32_t> codes = derived(c, words, grow ? known[source] : 0, grow, other);
      if (grow)
        self.of_word.insert(self.of_word.end(), codes.begin(), codes.end());
      else
        out.fresh[c] = std::move(codes);
    }
    out.columns.push_back({out.words[source].data(), self.derivation ? self.of_word.data() : nullptr,
                           columns_[source].strings.size(), self.derivation ? out.fresh[c].data() : nullptr});
  }
  return out;
}

}  // namespace margent
