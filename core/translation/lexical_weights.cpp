#include "translation/lexical_weights.hpp"

#include <algorithm>
#include <cmath>

#include "interruption.hpp"

namespace margent {

namespace {

std::uint64_t key_of(std::int32_t source, std::int32_t target) {
  return mix((static_cast<std::uint64_t>(source) << 32) | static_cast<std::uint32_t>(target));
}

}  // namespace

LexicalWeights::LexicalWeights(const AlignedPairs& pairs)
    : no_source_(pairs.n_source_words), no_target_(pairs.n_target_words),
      of_source_(static_cast<std::size_t>(pairs.n_source_words) + 1, 0.0),
      of_target_(static_cast<std::size_t>(pairs.n_target_words) + 1, 0.0) {
  std::vector<std::uint8_t> source_linked, target_linked;
  for (std::int64_t s = 0; s < pairs.size(); ++s) {
    const AlignedPair pair = pairs[s];
    source_linked.assign(pair.source.size(), 0);
    target_linked.assign(pair.target.size(), 0);
    for (const Link& link : pair.links) {
      const auto i = static_cast<std::size_t>(link.source), j = static_cast<std::size_t>(link.target);
      source_linked[i] = target_linked[j] = 1;
      add(pair.source[i], pair.target[j]);
    }
    for (std::size_t i = 0; i < pair.source.size(); ++i)
      if (!source_linked[i]) add(pair.source[i], no_target_);
    for (std::size_t j = 0; j < pair.target.size(); ++j)
      if (!target_linked[j]) add(no_source_, pair.target[j]);
    check_interruption(static_cast<std::int64_t>(pair.links.size()) * 32);
  }
}

void LexicalWeights::add(std::int32_t source, std::int32_t target) {
  const auto link = static_cast<std::size_t>(links_.add(key_of(source, target)));
  if (link == counts_.size()) counts_.push_back(0);
  counts_[link] += 1;
  of_source_[static_cast<std::size_t>(source)] += 1;
  of_target_[static_cast<std::size_t>(target)] += 1;
}

double LexicalWeights::count(std::int32_t source, std::int32_t target) const {
  const std::int32_t link = links_.find(key_of(source, target));
  return link == not_found ? 0.0 : counts_[static_cast<std::size_t>(link)];
}

double LexicalWeights::log_target_given_source(std::span<const std::int32_t> source,
                                               std::span<const std::int32_t> target) const {
  double sum = 0;
  for (const std::int32_t e : target) {
    if (e < 0) continue;
    double best = least_lexical_weight;
    const auto try_word = [&](std::int32_t f) {
      if (const double c = count(f, e); c > 0) best = std::max(best, c / of_source_[static_cast<std::size_t>(f)]);
    };
    try_word(no_source_);
    for (const std::int32_t f : source)
      if (f >= 0) try_word(f);
    sum += std::log(best);
  }
  return sum;
}

double LexicalWeights::log_source_given_target(std::span<const std::int32_t> source,
                                               std::span<const std::int32_t> target) const {
  double sum = 0;
  for (const std::int32_t f : source) {
    if (f < 0) continue;
    double best = least_lexical_weight;
    const auto try_word = [&](std::int32_t e) {
      if (const double c = count(f, e); c > 0) best = std::max(best, c / of_target_[static_cast<std::size_t>(e)]);
    };
    try_word(no_target_);
    for (const std::int32_t e : target)
      if (e >= 0) try_word(e);
    sum += std::log(best);
  }
  return sum;
}

}  // namespace margent
