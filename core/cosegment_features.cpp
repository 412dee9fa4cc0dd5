#include "cosegment_features.hpp"

#include <algorithm>
#include <array>

namespace margent {
namespace {

// Letters to the left and to the right of a unit that are seen together with it.
constexpr std::array<std::pair<int, int>, 16> windows{{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}, {2, 1}, {1, 2},
                                                       {2, 2}, {3, 0}, {0, 3}, {3, 1}, {1, 3}, {3, 3}, {4, 0}, {0, 4}}};

}  // namespace

void cosegment_features(const CosegmentUnits& units, Symbols word, Symbols cut, int bits, CountedFeatures& out) {
  out.clear();
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const auto add = [&](std::uint64_t key) { out.emplace_back(static_cast<std::int32_t>((mix(key) & mask) + 1), 1.0f); };
  const auto n = static_cast<std::int32_t>(word.size());
  const auto letter = [&](std::int32_t i) { return static_cast<std::uint64_t>(i < 0 || i >= n ? 1 : word[i] + 2); };
  std::int32_t at = 0;
  std::array<std::uint64_t, 2> before{1, 1};            // the last two units
  std::array<std::uint64_t, 4> spoken{1, 1, 1, 1};      // the last four phonemes
  const auto speak = [&](std::uint64_t phoneme, std::int32_t next) {
    std::uint64_t key = mix(phoneme + 0x100000000ull);
    for (std::size_t j = 0; j < spoken.size(); ++j) {
      key = mix(key * 31 + spoken[j]);
      add(key + j);
      if (j < 2) add(mix(key ^ 0x5555) * 31 + letter(next));
    }
    for (std::size_t j = spoken.size() - 1; j > 0; --j) spoken[j] = spoken[j - 1];
    spoken[0] = phoneme;
  };
  for (const std::int32_t u : cut) {
    const auto size = static_cast<std::int32_t>(units.letters(u).size());
    const auto unit = static_cast<std::uint64_t>(u) + 2;
    for (std::size_t w = 0; w < windows.size(); ++w) {
      std::uint64_t key = mix(unit + (static_cast<std::uint64_t>(w + 1) << 40));
      for (std::int32_t i = at - windows[w].first; i < at; ++i) key = mix(key * 31 + letter(i));
      for (std::int32_t i = at + size; i < at + size + windows[w].second; ++i) key = mix(key * 37 + letter(i));
      add(key);
    }
    const std::uint64_t pair = mix(mix(unit + 0x200000000ull) * 31 + before[0]);
    add(pair);
    add(mix(pair * 31 + before[1]));
    add(mix(pair * 37 + letter(at + size)));
    before = {unit, before[0]};
    at += size;
    for (const std::int32_t phoneme : units.phonemes(u)) speak(static_cast<std::uint64_t>(phoneme) + 2, at);
  }
  speak(0, n);  // the end
  std::sort(out.begin(), out.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++kept) {
    out[kept] = out[i];
    for (++i; i < out.size() && out[i].first == out[kept].first; ++i) out[kept].second += 1;
  }
  out.resize(kept);
}

void remove_common(std::vector<CountedFeatures>& lists) {
  if (lists.empty()) return;
  CountedFeatures common = lists.front(), both;
  for (const CountedFeatures& list : lists) {
    both.clear();
    for (std::size_t i = 0, j = 0; i < common.size() && j < list.size();) {
      if (common[i].first < list[j].first) ++i;
      else if (common[i].first > list[j].first) ++j;
      else {
        both.emplace_back(common[i].first, std::min(common[i].second, list[j].second));
        ++i;
        ++j;
      }
    }
    common.swap(both);
  }
  for (CountedFeatures& list : lists) {
    std::size_t kept = 0, j = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      while (j < common.size() && common[j].first < list[i].first) ++j;
      std::pair<std::int32_t, float> entry = list[i];
      if (j < common.size() && common[j].first == entry.first) entry.second -= common[j].second;
      if (entry.second > 0) list[kept++] = entry;
    }
    list.resize(kept);
  }
}

}  // namespace margent
