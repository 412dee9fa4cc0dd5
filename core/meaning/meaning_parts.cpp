#include "meaning/meaning_parts.hpp"

namespace margent {

PartHashes::PartHashes(const MeaningParts& parts) {
  const std::size_t n_parts = parts.connectives.size();
  numbers_.resize(64);
  std::vector<std::uint64_t> own(n_parts);
  for (std::size_t p = 0; p < n_parts; ++p) {
    own[p] = mix(0xA11Cull + p) | 1;
    const auto members = parts.members.subspan(parts.member_ptr[p], parts.member_ptr[p + 1] - parts.member_ptr[p]);
    if (members.empty()) continue;
    // A union is known by its hash, so that unions of some of the members of another one are on the way to that.
    const auto connective = static_cast<Connective>(parts.connectives[p]);
    const bool look_into = members.size() <= most_members;
    const std::size_t all = look_into ? (std::size_t{1} << members.size()) - 1 : 0;
    std::uint64_t sum = 0;
    for (const std::int32_t member : members) sum += member_hash(own[member]);
    own[p] = union_hash(connective, sum);
    unions_.push_back({own[p], sum, connective});
    for (std::size_t chosen = 1; chosen <= all; ++chosen) {
      if ((chosen & (chosen - 1)) == 0) continue;
      sum = 0;
      for (std::size_t m = 0; m < members.size(); ++m)
        if (chosen >> m & 1) sum += member_hash(own[members[m]]);
      set(union_hash(connective, sum), union_hash(connective, sum));
    }
  }
  // Ways of few arguments first: what is a part by itself, and also a function on the way to another one, is the part.
  std::int64_t left = static_cast<std::int64_t>(parts.pieces.size());
  for (std::int64_t n_arguments = 0; left > 0; ++n_arguments)
    for (std::size_t p = 0; p < n_parts; ++p)
      for (std::int64_t w = parts.way_ptr[p]; w < parts.way_ptr[p + 1]; ++w) {
        if (parts.arg_ptr[w + 1] - parts.arg_ptr[w] != n_arguments) continue;
        --left;
        std::uint64_t hash = piece_hash(parts.pieces[w]);
        for (std::int64_t a = parts.arg_ptr[w]; a < parts.arg_ptr[w + 1]; ++a) {
          const std::uint64_t number = canonical(hash);
          set(hash, number);
          hash = applied_hash(number, own[parts.arguments[a]]);
        }
        set(hash, own[p]);
      }
  whole_ = n_parts ? own.back() : 0;
}

std::uint64_t PartHashes::find(std::uint64_t hash) const {
  if (numbers_.empty()) return 0;
  const std::size_t mask = numbers_.size() - 1;
  for (std::size_t q = hash & mask;; q = (q + 1) & mask) {
    if (numbers_[q].first == hash) return numbers_[q].second;
    if (numbers_[q].first == 0) return 0;
  }
}

PartHashes::Union PartHashes::union_of(std::uint64_t number) const {
  for (const Union& each : unions_)
    if (each.number == number) return each;
  return {};
}

std::uint64_t PartHashes::canonical(std::uint64_t hash) const {
  const std::uint64_t known = find(hash);
  return known ? known : hash;
}

void PartHashes::set(std::uint64_t hash, std::uint64_t number) {
  if (2 * (n_ + 1) > numbers_.size()) {
    auto old = std::move(numbers_);
    numbers_.assign(2 * old.size(), {});
    n_ = 0;
    for (const auto& [key, value] : old)
      if (key) set(key, value);
  }
  const std::size_t mask = numbers_.size() - 1;
  std::size_t q = hash & mask;
  while (numbers_[q].first != 0 && numbers_[q].first != hash) q = (q + 1) & mask;
  n_ += numbers_[q].first == 0;
  numbers_[q] = {hash, number};
}

}  // namespace margent
