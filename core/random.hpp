// Reproducible random numbers: the same seed gives the same numbers on every machine and with every compiler, which
// the distributions of <random> do not promise.
#pragma once
#include <bit>
#include <cstdint>

namespace margent {

// xoshiro256** of Blackman and Vigna (2021), its state filled by splitmix64 so that any seed, even 0, is a good one.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9E3779B97F4A7C15ull;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
      word = z ^ (z >> 31);
    }
  }

  // 64 random bits.
  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // A real number in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // An integer in [0, n), each as likely as the other; n > 0. Numbers that would favour the small ones are thrown away.
  std::uint64_t uniform(std::uint64_t n) {
    const std::uint64_t threshold = (0 - n) % n;
    std::uint64_t bits = next();
    while (bits < threshold) bits = next();
    return bits % n;
  }

 private:
  std::uint64_t state_[4];
};

}  // namespace margent
