#include "cosegments/cosegments.hpp"

#include <algorithm>
#include <compare>

#include "interruption.hpp"

namespace margent {
namespace {

std::uint64_t key_of(Symbols symbols, std::uint64_t seed) {
  std::uint64_t key = mix(seed + symbols.size());
  for (const std::int32_t symbol : symbols) key = mix(key ^ (static_cast<std::uint64_t>(symbol) + 0x51ED270B1ull));
  return key;
}

std::uint64_t key_of(Symbols letters, Symbols phonemes) { return key_of(phonemes, key_of(letters, 1)); }

// `lookup(letters, phonemes)` gives the number of a graphone, or not_found where it may not be used.
template <class Lookup>
void build(const std::vector<GraphoneSize>& sizes, Symbols word, Symbols pronunciation, Lookup lookup,
           CosegmentLattice& out) {
  const auto n = static_cast<std::int32_t>(word.size()), m = static_cast<std::int32_t>(pronunciation.size());
  out.n = n;
  out.m = m;
  out.arcs.clear();
  const std::int32_t cells = out.cells();
  // 1: the end can be reached; 2: and it can be reached from the start
  thread_local std::vector<std::uint8_t> leads_on;
  leads_on.assign(cells, 0);
  leads_on[cells - 1] = 1;
  for (std::int32_t i = n; i >= 0; --i)
    for (std::int32_t j = m; j >= 0; --j) {
      check_interruption(static_cast<std::int64_t>(8 * sizes.size()));
      const std::int32_t cell = i * (m + 1) + j;
      for (const GraphoneSize& size : sizes) {
        if (i + size.letters > n || j + size.phonemes > m) continue;
        const std::int32_t to = cell + size.letters * (m + 1) + size.phonemes;
        if (!leads_on[to]) continue;
        const std::int32_t graphone = lookup(word.subspan(i, size.letters), pronunciation.subspan(j, size.phonemes));
        if (graphone == not_found) continue;
        leads_on[cell] = 1;
        out.arcs.push_back({cell, to, graphone});
      }
    }
  std::reverse(out.arcs.begin(), out.arcs.end());
  if (leads_on[0]) leads_on[0] = 2;
  out.begin.assign(cells + 1, 0);
  std::size_t kept = 0;
  for (const CosegmentLattice::Arc& arc : out.arcs) {  // by cells, so that what leads to a cell comes before it
    if (leads_on[arc.from] != 2) continue;
    leads_on[arc.to] = 2;
    ++out.begin[arc.from + 1];
    out.arcs[kept++] = arc;
  }
  out.arcs.resize(kept);
  for (std::int32_t cell = 0; cell < cells; ++cell) out.begin[cell + 1] += out.begin[cell];
}

}  // namespace

Graphones::Graphones(std::vector<std::int64_t> letter_ptr, std::vector<std::int32_t> letters,
                     std::vector<std::int64_t> phoneme_ptr, std::vector<std::int32_t> phonemes)
    : letter_ptr_(std::move(letter_ptr)), phoneme_ptr_(std::move(phoneme_ptr)), letters_(std::move(letters)),
      phonemes_(std::move(phonemes)) {
  for (std::int32_t u = 0; u < size(); ++u) {
    graphones_.add(key_of(this->letters(u), this->phonemes(u)));
    if (groups_.add(key_of(this->letters(u), 2)) == static_cast<std::int32_t>(group_begin_.size()))
      group_begin_.push_back(u);
    sizes_.push_back(
        {static_cast<std::int32_t>(this->letters(u).size()), static_cast<std::int32_t>(this->phonemes(u).size())});
    letter_counts_.push_back(sizes_.back().letters);
  }
  group_begin_.push_back(size());
  const auto pair = [](const GraphoneSize& s) { return std::pair(s.letters, s.phonemes); };
  std::sort(sizes_.begin(), sizes_.end(), [&](const auto& a, const auto& b) { return pair(a) < pair(b); });
  sizes_.erase(
      std::unique(sizes_.begin(), sizes_.end(), [&](const auto& a, const auto& b) { return pair(a) == pair(b); }),
      sizes_.end());
  std::sort(letter_counts_.begin(), letter_counts_.end());
  letter_counts_.erase(std::unique(letter_counts_.begin(), letter_counts_.end()), letter_counts_.end());
}

std::int32_t Graphones::find(Symbols letters, Symbols phonemes) const {
  return graphones_.find(key_of(letters, phonemes));
}

std::pair<std::int32_t, std::int32_t> Graphones::group(Symbols letters) const {
  const std::int32_t group = groups_.find(key_of(letters, 2));
  if (group == not_found) return {0, 0};
  return {group_begin_[group], group_begin_[group + 1]};
}

void build_lattice(const Graphones& graphones, Symbols word, Symbols pronunciation, CosegmentLattice& out) {
  build(graphones.sizes(), word, pronunciation, [&](Symbols a, Symbols b) { return graphones.find(a, b); }, out);
}

Graphones discover_graphones(const SpellingPairs& pairs, const std::vector<GraphoneSize>& sizes) {
  KeyTable seen;
  std::vector<std::pair<Symbols, Symbols>> found;
  CosegmentLattice lattice;
  for (std::int64_t s = 0; s < pairs.size; ++s) {
    // Only what lies on a whole path counts, so the graphones of a pair are listed after its lattice is known.
    const Symbols word = pairs.word(s), pronunciation = pairs.pronunciation(s);
    build(sizes, word, pronunciation, [](Symbols, Symbols) { return 0; }, lattice);
    check_interruption(static_cast<std::int64_t>(32 * lattice.arcs.size()));
    for (const CosegmentLattice::Arc& arc : lattice.arcs) {
      const std::int32_t width = lattice.m + 1, i = arc.from / width, j = arc.from % width;
      const Symbols a = word.subspan(i, arc.to / width - i), b = pronunciation.subspan(j, arc.to % width - j);
      const std::int32_t before = seen.size();
      if (seen.add(key_of(a, b)) == before) found.emplace_back(a, b);
    }
  }
  const auto less = [](Symbols a, Symbols b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  };
  std::sort(found.begin(), found.end(), [&](const auto& x, const auto& y) {
    return less(x.first, y.first) || (!less(y.first, x.first) && less(x.second, y.second));
  });
  std::vector<std::int64_t> letter_ptr{0}, phoneme_ptr{0};
  std::vector<std::int32_t> letters, phonemes;
  for (const auto& [a, b] : found) {
    letters.insert(letters.end(), a.begin(), a.end());
    phonemes.insert(phonemes.end(), b.begin(), b.end());
    letter_ptr.push_back(static_cast<std::int64_t>(letters.size()));
    phoneme_ptr.push_back(static_cast<std::int64_t>(phonemes.size()));
  }
  return Graphones(std::move(letter_ptr), std::move(letters), std::move(phoneme_ptr), std::move(phonemes));
}

}  // namespace margent
