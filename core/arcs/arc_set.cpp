#include "arcs/arc_set.hpp"

#include <cstdlib>

namespace margent {

void ArcSet::assign(int n_words, const std::uint8_t* allowed) {
  n_words_ = n_words;
  const int n = n_nodes();
  head_.clear();
  modifier_.clear();
  first_.clear();
  outward_.assign(1, 0);
  const auto take = [&](int h, int m) {
    const int n_arcs = allowed[static_cast<std::size_t>(h) * n + m];
    head_.insert(head_.end(), n_arcs, h);
    modifier_.insert(modifier_.end(), n_arcs, m);
    first_.insert(first_.end(), n_arcs, static_cast<std::int32_t>(first_.size()));
  };
  for (int h = 0; h < n; ++h) {
    for (int m = h + 1; m < n; ++m) take(h, m);
    outward_.push_back(size());
    for (int m = h - 1; m > 0; --m) take(h, m);
    outward_.push_back(size());
  }
  // By modifier and by length: counting, then placing in order of number.
  inward_ptr_.assign(n + 1, 0);
  std::vector<std::int32_t> length_ptr(n + 1, 0);
  for (std::int32_t a = 0; a < size(); ++a) {
    ++inward_ptr_[modifier_[a] + 1];
    ++length_ptr[std::abs(head_[a] - modifier_[a]) + 1];
  }
  for (int i = 0; i < n; ++i) {
    inward_ptr_[i + 1] += inward_ptr_[i];
    length_ptr[i + 1] += length_ptr[i];
  }
  inward_.resize(head_.size());
  by_length_.resize(head_.size());
  rank_.resize(head_.size());
  std::vector<std::int32_t> next(inward_ptr_.begin(), inward_ptr_.end() - 1);
  for (std::int32_t a = 0; a < size(); ++a) {
    rank_[a] = next[modifier_[a]] - inward_ptr_[modifier_[a]];
    inward_[next[modifier_[a]]++] = a;
    by_length_[length_ptr[std::abs(head_[a] - modifier_[a])]++] = a;
  }
  sibling_.assign(head_.size() + 1, 0);
  grandparent_.assign(head_.size() + 1, 0);
  for (std::int32_t a = 0; a < size(); ++a) {
    sibling_[a + 1] = sibling_[a] + 1 + inner(a).end - inner(a).begin;
    grandparent_[a + 1] = grandparent_[a] + (head_[a] == 0 ? 0 : n_inward(head_[a]));
  }
}

std::int32_t ArcSet::find(int head, int modifier) const {
  for (const std::int32_t arc : inward(modifier))
    if (head_[arc] == head) return arc;
  return -1;
}

}  // namespace margent
