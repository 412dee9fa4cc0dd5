#include "cosegments/cosegment_features.hpp"

#include <algorithm>

namespace margent {

void cosegment_features(const Graphones& graphones, Symbols word, Symbols alignment, int bits, CountedFeatures& out) {
  out.clear();
  const CosegmentFeatures features(graphones, word, bits);
  features.parts(alignment, [&](const Cosegment& part) {
    features.of_part(part, [&](std::int32_t feature) { out.emplace_back(feature, 1.0f); });
  });
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
      if (common[i].first < list[j].first)
        ++i;
      else if (common[i].first > list[j].first)
        ++j;
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
