#include "arcs/part_keys.hpp"

#include <algorithm>

namespace margent {

PartKeys::PartKeys(const PartTemplates& templates) : templates_(templates) {
  for (const bool between : {false, true})
    for (std::size_t t = 0; t < templates.all().size(); ++t) {
      const PartTemplate& given = templates.all()[t];
      if ((given.between >= 0) != between) continue;
      Group& group = groups_[static_cast<std::size_t>(given.kind)][given.labelled()];
      group.numbers.push_back(static_cast<std::int32_t>(t));
      group.n_plain += !between;
    }
  for (auto& groups : groups_)
    for (Group& group : groups) finish(group);
}

void PartKeys::finish(Group& group) const {
  // By column, so that the values between two words are found once for all templates of an atom.
  std::stable_sort(
      group.numbers.begin() + static_cast<std::ptrdiff_t>(group.n_plain), group.numbers.end(),
      [&](std::int32_t a, std::int32_t b) { return templates_.all()[a].between < templates_.all()[b].between; });
  for (const std::int32_t t : group.numbers)
    group.seen_labels.push_back(
        static_cast<std::uint8_t>(templates_.all()[t].label + 2 * templates_.all()[t].other_label));
  for (int bare = 0; bare < 4 * n_bins; ++bare)
    for (const std::int32_t t : group.numbers) {
      const PartTemplate& given = templates_.all()[t];
      const std::uint64_t seen = (given.direction ? 1u + static_cast<unsigned>(bare / n_bins) : 0u) +
                                 (given.distance ? 8u * (1u + static_cast<unsigned>(bare % n_bins)) : 0u);
      group.bare.push_back(mix((static_cast<std::uint64_t>(t) << 32) + seen + 0x9E3779B97F4A7C15ull));
    }
}

void PartKeys::turn_to(const std::int32_t* atoms, int n_words) {
  atoms_ = atoms;
  n_words_ = n_words;
  for (std::size_t kind = 0; kind < n_part_kinds; ++kind)
    for (Group& group : groups_[kind])
      for (int node = 0; node < n_part_nodes && group.size(); ++node)
        if (PartTemplates::has(static_cast<PartKind>(kind), static_cast<PartNode>(node))) look(group, node);
}

void PartKeys::look(Group& group, int node) const {
  auto& rows = group.of_nodes[static_cast<std::size_t>(node)];
  rows.clear();
  // The place after the last word is that of a sibling which is not there.
  for (int place = 0; place <= n_words_ + 1; ++place)
    for (const std::int32_t t : group.numbers) {
      std::uint64_t key = 0;
      for (const PartTerm& term : templates_.all()[static_cast<std::size_t>(t)].terms) {
        if (static_cast<int>(term.node) != node) continue;
        const std::uint64_t value = place > n_words_ ? 0 : value_at(place + term.offset, term.atom);
        key = mix(key + value * 0x9E3779B97F4A7C15ull + (static_cast<std::uint64_t>(term.atom + 1) << 40) +
                  (static_cast<std::uint64_t>(term.offset + 128) << 32) + static_cast<std::uint64_t>(t) * 64 +
                  static_cast<std::uint64_t>(node));
      }
      rows.push_back(key);
    }
}

void PartKeys::find_between(std::int32_t atom, int h, int m) const {
  between_.clear();
  for (int place = std::min(h, m) + 1; place < std::max(h, m); ++place) {
    const std::int32_t value = atoms_[static_cast<std::size_t>(place - 1) * templates_.n_atoms() + atom];
    if (std::find(between_.begin(), between_.end(), value) == between_.end()) between_.push_back(value);
  }
}

}  // namespace margent
