// The cells of a column as codes: ids of their strings.
#pragma once
#include <cstdint>
#include <span>

#include "simd/uninitialised.hpp"
#include "text/columns.hpp"
#include "text/strings.hpp"

namespace margent {

using ColumnCodes = UninitialisedVector<std::int32_t>;

// Of all tokens, or of those of chosen sentences: ids of `table` for known strings. With `grow` new strings are added
// to it; without they are numbered on from table.size() in the order in which they appear, and put into `fresh`, while
// known ones are looked up by several threads.
ColumnCodes column_codes(const ColumnTable& columns, int column, StringTable& table, bool grow, int threads,
                         StringTable& fresh);
ColumnCodes column_codes(const ColumnTable& columns, int column, std::span<const std::int64_t> sentences,
                         StringTable& table, bool grow, int threads, StringTable& fresh);

}  // namespace margent
