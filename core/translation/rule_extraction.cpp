#include "translation/rule_extraction.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "interruption.hpp"
#include "translation/rule_table.hpp"

namespace margent {

namespace {

// The positions on the other side that a word is linked with, from first to last; none: first > last.
struct Reach {
  std::int32_t first = std::numeric_limits<std::int32_t>::max(), last = -1, n_links = 0;
  bool linked() const { return n_links > 0; }
  void add(std::int32_t position) {
    first = std::min(first, position);
    last = std::max(last, position);
    ++n_links;
  }
};

class PairRules {
 public:
  PairRules(const AlignedPair& pair, const ExtractionLimits& limits, ExtractedRules& out)
      : pair_(pair), limits_(limits), phrases_(initial_phrases(pair, limits)), out_(out) {}

  void extract() {
    for (const InitialPhrase& phrase : phrases_) {
      const std::size_t before = out_.counts.size();
      add(phrase);
      const auto n = static_cast<std::int64_t>(out_.counts.size() - before);
      if (n == 0) continue;
      const std::int64_t share =
          limits_.fractional ? std::max<std::int64_t>(1, (count_of_one + n / 2) / n) : count_of_one;
      std::fill(out_.counts.begin() + static_cast<std::ptrdiff_t>(before), out_.counts.end(), share);
      check_interruption(n * 32);
    }
  }

 private:
  static std::int32_t length(const InitialPhrase& phrase) { return phrase.end - phrase.begin; }
  static bool contains(const InitialPhrase& outer, const InitialPhrase& inner) {
    return inner.begin >= outer.begin && inner.end <= outer.end && inner.target_begin >= outer.target_begin &&
           inner.target_end <= outer.target_end && inner.n_links < outer.n_links;
  }

  void add(const InitialPhrase& phrase) {
    if (length(phrase) <= limits_.max_source_symbols) emit(phrase, nullptr, nullptr);
    if (limits_.max_nonterminals == 0) return;
    inner_.clear();
    const auto first = std::lower_bound(phrases_.begin(), phrases_.end(), phrase.begin,
                                        [](const InitialPhrase& p, std::int32_t begin) { return p.begin < begin; });
    for (auto q = first; q != phrases_.end() && q->begin < phrase.end; ++q)
      if (contains(phrase, *q)) inner_.push_back(*q);
    check_interruption(static_cast<std::int64_t>(inner_.size() * inner_.size()));
    for (std::size_t a = 0; a < inner_.size(); ++a) {
      const std::int32_t symbols = length(phrase) - length(inner_[a]) + 1;
      if (symbols <= limits_.max_source_symbols) emit(phrase, &inner_[a], nullptr);
      if (limits_.max_nonterminals < 2) continue;
      for (std::size_t b = a + 1; b < inner_.size(); ++b) {
        const InitialPhrase &one = inner_[a], &other = inner_[b];
        if (other.begin <= one.end || symbols - length(other) + 1 > limits_.max_source_symbols) continue;
        if (one.target_begin < other.target_end && other.target_begin < one.target_end) continue;
        if (one.n_links + other.n_links < phrase.n_links) emit(phrase, &one, &other);
      }
    }
  }

  // Nonterminals are numbered in the order of the source side.
  void emit(const InitialPhrase& phrase, const InitialPhrase* one, const InitialPhrase* other) {
    for (std::int32_t i = phrase.begin; i < phrase.end;) {
      if (const InitialPhrase* gap = one && i == one->begin ? one : other && i == other->begin ? other : nullptr) {
        out_.symbols.push_back(source_nonterminal);
        i = gap->end;
      } else {
        out_.symbols.push_back(pair_.source[static_cast<std::size_t>(i++)]);
      }
    }
    out_.source_ends.push_back(static_cast<std::int32_t>(out_.symbols.size()));
    for (std::int32_t j = phrase.target_begin; j < phrase.target_end;) {
      if (one && j == one->target_begin) {
        out_.symbols.push_back(first_nonterminal);
        j = one->target_end;
      } else if (other && j == other->target_begin) {
        out_.symbols.push_back(second_nonterminal);
        j = other->target_end;
      } else {
        out_.symbols.push_back(pair_.target[static_cast<std::size_t>(j++)]);
      }
    }
    out_.ends.push_back(static_cast<std::int32_t>(out_.symbols.size()));
    out_.counts.push_back(0);
  }

  const AlignedPair& pair_;
  const ExtractionLimits& limits_;
  const std::vector<InitialPhrase> phrases_;
  std::vector<InitialPhrase> inner_;
  ExtractedRules& out_;
};

}  // namespace

std::vector<InitialPhrase> initial_phrases(const AlignedPair& pair, const ExtractionLimits& limits) {
  const auto n = static_cast<std::int32_t>(pair.source.size()), m = static_cast<std::int32_t>(pair.target.size());
  std::vector<Reach> of_source(static_cast<std::size_t>(n)), of_target(static_cast<std::size_t>(m));
  for (const Link& link : pair.links) {
    of_source[static_cast<std::size_t>(link.source)].add(link.target);
    of_target[static_cast<std::size_t>(link.target)].add(link.source);
  }
  const auto source = [&](std::int32_t i) -> const Reach& { return of_source[static_cast<std::size_t>(i)]; };
  const auto target = [&](std::int32_t j) -> const Reach& { return of_target[static_cast<std::size_t>(j)]; };
  std::vector<InitialPhrase> found;
  for (std::int32_t begin = 0; begin < n; ++begin) {
    if (limits.tight && !source(begin).linked()) continue;
    Reach all;
    const std::int32_t last_end = std::min(n, begin + std::min(limits.max_span, n));
    for (std::int32_t end = begin + 1; end <= last_end; ++end) {
      const Reach& last = source(end - 1);
      if (last.linked()) {
        all.first = std::min(all.first, last.first);
        all.last = std::max(all.last, last.last);
        all.n_links += last.n_links;
      }
      if (!all.linked()) continue;
      if (all.last - all.first >= limits.max_span) break;  // it only grows
      if (limits.tight && !last.linked()) continue;
      bool consistent = true;
      for (std::int32_t j = all.first; consistent && j <= all.last; ++j)
        consistent = !target(j).linked() || (target(j).first >= begin && target(j).last < end);
      if (!consistent) continue;
      for (std::int32_t first = all.first; first >= 0; --first) {
        if (first < all.first && (limits.tight || target(first).linked())) break;
        for (std::int32_t stop = all.last + 1; stop <= m && stop - first <= limits.max_span; ++stop) {
          if (stop > all.last + 1 && (limits.tight || target(stop - 1).linked())) break;
          found.push_back({begin, end, first, stop, all.n_links});
        }
      }
      check_interruption(64);
    }
  }
  std::sort(found.begin(), found.end(), [](const InitialPhrase& a, const InitialPhrase& b) {
    return std::tie(a.begin, a.end, a.target_begin, a.target_end) <
           std::tie(b.begin, b.end, b.target_begin, b.target_end);
  });
  return found;
}

void extract_rules(const AlignedPair& pair, const ExtractionLimits& limits, ExtractedRules& out) {
  PairRules(pair, limits, out).extract();
}

}  // namespace margent
