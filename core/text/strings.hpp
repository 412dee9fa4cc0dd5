// Interning: strings and 64-bit keys to dense ids, in the order first seen.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simd/buffer.hpp"

namespace margent {

inline constexpr std::int32_t not_found = -1;

inline std::uint64_t mix(std::uint64_t h) {
  h ^= h >> 32;
  h *= 0x9E3779B97F4A7C15ull;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9ull;
  return h ^ (h >> 32);
}

// The 128-bit product of a and b, its halves folded together: every bit of the result depends on every bit of both.
inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
  const std::uint64_t low_a = a & 0xFFFFFFFFu, high_a = a >> 32, low_b = b & 0xFFFFFFFFu, high_b = b >> 32;
  const std::uint64_t low = low_a * low_b, first = high_a * low_b + (low >> 32), second = low_a * high_b;
  const std::uint64_t middle = (first & 0xFFFFFFFFu) + second;
  return (a * b) ^ (high_a * high_b + (first >> 32) + (middle >> 32));
#endif
}

// Two secret numbers of this process. Who writes a corpus does not know them, and cannot make its words collide.
struct HashSecret {
  std::uint64_t first, second;
  static const HashSecret& of_process();
};

// Only for tables whose order is not seen: it is another one in each process.
inline std::uint64_t hash_bytes(std::string_view s, const HashSecret& secret = HashSecret::of_process()) {
  const char* p = s.data();
  std::size_t n = s.size();
  std::uint64_t h = secret.first ^ n, w;
  for (; n >= 8; p += 8, n -= 8) {
    std::memcpy(&w, p, 8);
    h = folded_product(h ^ w, secret.second);
  }
  w = 0;
  if (n > 0) std::memcpy(&w, p, n);
  return folded_product(folded_product(h ^ w, secret.second), secret.first | 1);
}

// 64-bit hashes to ids; open addressing, linear probing, at most half full. The keys must be well mixed in their low
// bits, as `mix` leaves them: they are not hashed again.
class KeyTable {
 public:
  KeyTable() { resize(1 << 10); }

  std::int32_t size() const { return static_cast<std::int32_t>(keys_.size()); }
  // By id.
  const std::vector<std::uint64_t>& keys() const { return keys_; }

  void prefetch(std::uint64_t key) const {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(&slots_[key & mask_]);
#else
    (void)key;
#endif
  }

  std::int32_t find(std::uint64_t key) const {
    for (std::size_t q = key & mask_;; q = (q + 1) & mask_) {
      const Slot& slot = slots_[q];
      if (slot.number == 0) return not_found;
      if (slot.key == key) return slot.number - 1;
    }
  }

  std::int32_t add(std::uint64_t key) {
    std::size_t q = key & mask_;
    for (; slots_[q].number != 0; q = (q + 1) & mask_)
      if (slots_[q].key == key) return slots_[q].number - 1;
    if (2 * (keys_.size() + 1) > slots_.size()) {
      resize(2 * slots_.size());
      return add(key);
    }
    if (keys_.size() >= 0x7FFFFFF0u) throw std::length_error("more than 2^31 distinct features");
    keys_.push_back(key);
    slots_[q] = {key, size()};
    return size() - 1;
  }

  // Room for `count` keys without growing again.
  void reserve(std::size_t count) {
    std::size_t capacity = slots_.size();
    while (capacity < 2 * (count + 1)) capacity *= 2;
    if (capacity != slots_.size()) resize(capacity);
  }

  // Keeps the ids with keep[id], renumbered in order.
  void filter(const std::vector<bool>& keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (keep[i]) keys_[kept++] = keys_[i];
    keys_.resize(kept);
    resize(slots_.size());
  }

 private:
  struct Slot {
    std::uint64_t key;
    std::int32_t number;  // id + 1; 0: empty
  };
  // A new table of this capacity with the keys there are. The old one goes only when there is room for the new, so that
  // a lack of memory leaves a table that works, but before the new one is filled: fresh pages cost nothing until then.
  void resize(std::size_t capacity) {
    Buffer<Slot> slots;
    slots.grow(capacity);
    slots_ = std::move(slots);
    slots = Buffer<Slot>();
    mask_ = capacity - 1;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::size_t q = keys_[i] & mask_;
      while (slots_[q].number != 0) q = (q + 1) & mask_;
      slots_[q] = {keys_[i], static_cast<std::int32_t>(i) + 1};
    }
  }
  Buffer<Slot> slots_;
  std::size_t mask_ = 0;
  std::vector<std::uint64_t> keys_;
};

// Byte strings to ids. The strings lie one after the other in one arena, as they do in the model file.
class StringTable {
 public:
  StringTable() : slots_(1 << 8), mask_(slots_.size() - 1) {}

  std::int32_t size() const { return static_cast<std::int32_t>(ends_.size()); }
  const std::string& arena() const { return arena_; }
  const std::vector<std::int64_t>& ends() const { return ends_; }

  std::string_view operator[](std::int32_t id) const {
    const std::int64_t begin = id ? ends_[id - 1] : 0;
    return std::string_view(arena_).substr(begin, ends_[id] - begin);
  }

  std::int32_t find(std::string_view s) const {
    const std::uint32_t h = static_cast<std::uint32_t>(hash_bytes(s));
    for (std::size_t q = h & mask_;; q = (q + 1) & mask_) {
      const Slot& slot = slots_[q];
      if (slot.id < 0) return not_found;
      if (slot.hash == h && (*this)[slot.id] == s) return slot.id;
    }
  }

  std::int32_t add(std::string_view s) {
    const std::uint32_t h = static_cast<std::uint32_t>(hash_bytes(s));
    std::size_t q = h & mask_;
    for (; slots_[q].id >= 0; q = (q + 1) & mask_)
      if (slots_[q].hash == h && (*this)[slots_[q].id] == s) return slots_[q].id;
    if (2 * (ends_.size() + 1) > slots_.size()) {
      grow();
      return add(s);
    }
    if (ends_.size() >= 0x7FFFFFF0u) throw std::length_error("more than 2^31 distinct strings");
    slots_[q] = {h, size()};
    arena_.append(s);
    ends_.push_back(static_cast<std::int64_t>(arena_.size()));
    return slots_[q].id;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t id = not_found;
  };
  void grow() {
    slots_.assign(slots_.size() * 2, Slot{});
    mask_ = slots_.size() - 1;
    for (std::int32_t id = 0; id < size(); ++id) {
      const std::uint32_t h = static_cast<std::uint32_t>(hash_bytes((*this)[id]));
      std::size_t q = h & mask_;
      while (slots_[q].id >= 0) q = (q + 1) & mask_;
      slots_[q] = {h, id};
    }
  }
  std::vector<Slot> slots_;
  std::size_t mask_;
  std::string arena_;
  std::vector<std::int64_t> ends_;
};

}  // namespace margent
