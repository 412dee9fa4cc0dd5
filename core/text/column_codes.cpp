#include "text/column_codes.hpp"

#include <algorithm>
#include <vector>

#include "interruption.hpp"
#include "parallel.hpp"

namespace margent {

namespace {

// Stretches of tokens that follow each other in the table: from `begin`, and where their codes are.
struct Stretch {
  std::int64_t begin, size, place;
};

ColumnCodes codes_of(const ColumnTable& columns, int column, const std::vector<Stretch>& stretches, StringTable& table,
                     bool grow, int threads, StringTable& fresh) {
  ColumnCodes codes(stretches.empty() ? 0 : stretches.back().place + stretches.back().size);
  const auto each = [&](const Stretch& stretch, auto code) {
    check_interruption(32 * stretch.size);
    for (std::int64_t t = 0; t < stretch.size; ++t)
      codes[stretch.place + t] = code(columns.cell(stretch.begin + t, column));
  };
  if (grow) {
    for (const Stretch& stretch : stretches) each(stretch, [&](std::string_view cell) { return table.add(cell); });
    return codes;
  }
  constexpr std::int64_t at_once = 16;  // stretches, so that taking the next ones costs nothing
  const auto n = static_cast<std::int64_t>(stretches.size());
  std::vector<char> complete(stretches.size());
  parallel((n + at_once - 1) / at_once, threads, [&](std::size_t, std::int64_t i) {
    for (std::int64_t s = at_once * i; s < std::min(n, at_once * (i + 1)); ++s) {
      bool found = true;
      each(stretches[s], [&](std::string_view cell) {
        const std::int32_t code = table.find(cell);
        found &= code != not_found;
        return code;
      });
      complete[s] = found;
    }
  });
  const std::int32_t known = table.size();
  for (std::int64_t s = 0; s < n; ++s) {
    if (complete[s]) continue;
    const Stretch& stretch = stretches[s];
    check_interruption(32 * stretch.size);
    for (std::int64_t t = 0; t < stretch.size; ++t)
      if (std::int32_t& code = codes[stretch.place + t]; code == not_found)
        code = known + fresh.add(columns.cell(stretch.begin + t, column));
  }
  return codes;
}

constexpr std::int64_t longest = 512;  // tokens of a stretch

void append(std::int64_t begin, std::int64_t end, std::int64_t& place, std::vector<Stretch>& out) {
  for (; begin < end; begin += longest) {
    out.push_back({begin, std::min(longest, end - begin), place});
    place += out.back().size;
  }
}

}  // namespace

ColumnCodes column_codes(const ColumnTable& columns, int column, StringTable& table, bool grow, int threads,
                         StringTable& fresh) {
  std::vector<Stretch> stretches;
  std::int64_t place = 0;
  append(0, columns.n_tokens(), place, stretches);
  return codes_of(columns, column, stretches, table, grow, threads, fresh);
}

ColumnCodes column_codes(const ColumnTable& columns, int column, std::span<const std::int64_t> sentences,
                         StringTable& table, bool grow, int threads, StringTable& fresh) {
  std::vector<Stretch> stretches;
  std::int64_t place = 0;
  for (const std::int64_t s : sentences) append(columns.sentence_ptr[s], columns.sentence_ptr[s + 1], place, stretches);
  return codes_of(columns, column, stretches, table, grow, threads, fresh);
}

}  // namespace margent
