#include "translation/sentence_bleu.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace margent {

namespace {

using Gram = std::span<const std::int32_t>;

std::vector<Gram> grams(std::span<const std::int32_t> words, std::size_t n) {
  std::vector<Gram> out;
  for (std::size_t i = 0; i + n <= words.size(); ++i) out.push_back(words.subspan(i, n));
  std::ranges::sort(out, [](Gram a, Gram b) { return std::ranges::lexicographical_compare(a, b); });
  return out;
}

std::int64_t count(const std::vector<Gram>& sorted, Gram gram) {
  const auto less = [](Gram a, Gram b) { return std::ranges::lexicographical_compare(a, b); };
  const auto found = std::ranges::equal_range(sorted, gram, less);
  return static_cast<std::int64_t>(found.size());
}

}  // namespace

double sentence_bleu(std::span<const std::int32_t> candidate, const References& references) {
  if (candidate.empty() || references.size() == 0) return 0;
  double sum = 0;
  for (std::size_t n = 1; n <= 4; ++n) {
    const std::vector<Gram> found = grams(candidate, n);
    std::vector<std::vector<Gram>> right;
    for (std::int32_t r = 0; r < references.size(); ++r) right.push_back(grams(references[r], n));
    std::int64_t matched = 0;
    for (std::size_t i = 0; i < found.size();) {
      const std::int64_t there = count(found, found[i]);
      std::int64_t most = 0;
      for (const auto& one : right) most = std::max(most, count(one, found[i]));
      matched += std::min(there, most);
      i += static_cast<std::size_t>(there);
    }
    const double added = n > 1 ? 1 : 0;
    if (static_cast<double>(matched) + added == 0) return 0;
    sum += std::log((static_cast<double>(matched) + added) / (static_cast<double>(found.size()) + added)) / 4;
  }
  const auto length = static_cast<std::int64_t>(candidate.size());
  std::int64_t closest = 0;
  for (std::int32_t r = 0; r < references.size(); ++r) {
    const auto other = static_cast<std::int64_t>(references[r].size());
    const std::int64_t away = std::abs(other - length), least = std::abs(closest - length);
    if (r == 0 || away < least || (away == least && other < closest)) closest = other;
  }
  const double shortness = 1 - static_cast<double>(closest) / static_cast<double>(length);
  return std::exp(sum + std::min(0.0, shortness));
}

}  // namespace margent
