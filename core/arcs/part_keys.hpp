// The features of the parts of a sentence's trees as keys: 64-bit numbers, of which the highest bits number a weight.
//
// What a template sees of one word is a number k(template, word), well mixed. The key of a template's feature is their
// sum over the words of the part,
//
//   key_t(h, m) = k_t(h as head) + k_t(m as modifier) + k_t(direction, distance),
//
// so that after O(words x templates) of mixing a feature costs two additions (Zobrist 1970). Features with equal
// numbers share a weight (the hash kernel of Bohnet 2010), and no feature needs to be known beforehand: those that are
// seen in wrong trees alone count, too.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "arcs/part_templates.hpp"

namespace margent {

class PartKeys {
 public:
  // The templates must outlive the keys.
  explicit PartKeys(const PartTemplates& templates);

  // Words 1 to n_words; atoms [n_words][n_atoms].
  void turn_to(const std::int32_t* atoms, int n_words);
  int n_words() const { return n_words_; }

  // Calls visit(key, number of the template, value between or 0) for each feature of a part. `sibling` 0: none.
  template <class Visit>
  void arc(int h, int m, Visit visit) const {
    of_arc(PartKind::arc, h, m, visit);
  }
  template <class Visit>
  void label(int h, int m, Visit visit) const {
    of_arc(PartKind::label, h, m, visit);
  }
  template <class Visit>
  void sibling(int h, int s, int m, Visit visit) const {
    const Group& group = groups_[static_cast<int>(PartKind::sibling)];
    const int away = s ? distance_bin(s, m) : distance_bin(h, m);
    of_words(group, (h < m) * n_bins + away, {h, m, s ? s : n_words_ + 1}, PartNode::sibling, visit);
  }
  template <class Visit>
  void grandparent(int g, int h, int m, Visit visit) const {
    const Group& group = groups_[static_cast<int>(PartKind::grandparent)];
    const int directions = 2 * (g < h) + (h < m);
    of_words(group, directions * n_bins + distance_bin(h, m), {h, m, g}, PartNode::grandparent, visit);
  }

  // 1, 2, 3, 4, 5, 6 to 7, 8 to 10, 11 to 15, 16 to 30, more.
  static constexpr int n_bins = 10;
  static int distance_bin(int i, int j) {
    const int d = i < j ? j - i : i - j;
    return d <= 5 ? d - 1 : d <= 7 ? 5 : d <= 10 ? 6 : d <= 15 ? 7 : d <= 30 ? 8 : 9;
  }

 private:
  // The templates of one kind of part, those with words between last.
  struct Group {
    std::vector<std::int32_t> numbers;  // of the templates
    std::size_t n_plain = 0;
    std::vector<std::uint64_t> bare;                                // [direction and distance][template]
    std::array<std::vector<std::uint64_t>, n_part_nodes> of_nodes;  // [place][template]; empty: no template looks there
    std::size_t size() const { return numbers.size(); }
    const std::uint64_t* row(PartNode node, int place) const {
      const auto& rows = of_nodes[static_cast<std::size_t>(node)];
      return rows.empty() ? nullptr : rows.data() + static_cast<std::size_t>(place) * size();
    }
  };
  struct Words {
    int h, m, third;
  };

  template <class Visit>
  void of_words(const Group& group, int bare, Words words, PartNode third, Visit& visit) const {
    const std::size_t n = group.size();
    if (!n) return;
    const std::uint64_t* base = group.bare.data() + static_cast<std::size_t>(bare) * n;
    const std::uint64_t* head = group.row(PartNode::head, words.h);
    const std::uint64_t* modifier = group.row(PartNode::modifier, words.m);
    const std::uint64_t* other = group.row(third, words.third);
    for (std::size_t t = 0; t < n; ++t) visit(base[t] + head[t] + modifier[t] + other[t], group.numbers[t], 0);
  }

  template <class Visit>
  void of_arc(PartKind kind, int h, int m, Visit& visit) const {
    const Group& group = groups_[static_cast<int>(kind)];
    const std::size_t n = group.size();
    if (!n) return;
    const std::uint64_t* base = group.bare.data() + static_cast<std::size_t>((h < m) * n_bins + distance_bin(h, m)) * n;
    const std::uint64_t* head = group.row(PartNode::head, h);
    const std::uint64_t* modifier = group.row(PartNode::modifier, m);
    for (std::size_t t = 0; t < group.n_plain; ++t) visit(base[t] + head[t] + modifier[t], group.numbers[t], 0);
    std::int32_t column = -1;
    for (std::size_t t = group.n_plain; t < n; ++t) {
      const PartTemplate& given = templates_.all()[group.numbers[t]];
      if (given.between != column) find_between(column = given.between, h, m);
      const std::uint64_t key = base[t] + head[t] + modifier[t];
      for (const std::int32_t value : between_) visit(key + value_key(value), group.numbers[t], value);
    }
  }

  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }
  static std::uint64_t value_key(std::int32_t value) {
    return mix(static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15ull + 0xD1B54A32D192ED03ull);
  }
  // What stands at a place: beyond the sentence and the root are values of their own.
  std::uint64_t value_at(int place, std::int32_t atom) const {
    if (place <= 0) return place == 0 ? 1 : 2;
    if (place > n_words_) return 3;
    return 4 + static_cast<std::uint64_t>(static_cast<std::uint32_t>(
                   atoms_[static_cast<std::size_t>(place - 1) * templates_.n_atoms() + atom]));
  }
  // The different values of an atom among the words between, in order.
  void find_between(std::int32_t atom, int h, int m) const;

  const PartTemplates& templates_;
  std::array<Group, n_part_kinds> groups_;
  const std::int32_t* atoms_ = nullptr;
  int n_words_ = 0;
  mutable std::vector<std::int32_t> between_;
};

}  // namespace margent
