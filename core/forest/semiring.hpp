// Semirings: what "add up over all derivations" means. A dynamic program is written once against the concept below;
// the choice of semiring decides whether it finds the best derivation, sums over all, counts them, or averages.
//
// Scores live in the log domain. -inf is the zero of every semiring: a forbidden edge, a node with no derivation.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

namespace margent {

inline constexpr double log_zero = -std::numeric_limits<double>::infinity();

// log(exp(a) * exp(b)). Zero annihilates even a sum that overflowed to +inf, so that no NaN can arise.
inline double log_times(double a, double b) { return a == log_zero || b == log_zero ? log_zero : a + b; }

// log(exp(a) + exp(b)), without NaN for infinite arguments.
inline double log_plus(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return low == log_zero || high == -log_zero ? high : high + std::log1p(std::exp(low - high));
}

// Associative plus with neutral zero; associative times with neutral one, that distributes over plus and is
// annihilated by zero. from_score is the value of one edge; a semiring may use the edge's number as well.
template <class S>
concept Semiring =
    requires(const S s, const typename S::Value a, const typename S::Value b, double score, std::int32_t edge) {
      { s.zero() } -> std::same_as<typename S::Value>;
      { s.one() } -> std::same_as<typename S::Value>;
      { s.plus(a, b) } -> std::same_as<typename S::Value>;
      { s.times(a, b) } -> std::same_as<typename S::Value>;
      { s.from_score(score, edge) } -> std::same_as<typename S::Value>;
    };

// The best score, and the edge it came through. Of equal scores the one added first stays. A product carries the edge
// of its last factor, so a value at a node is its own back pointer.
struct Best {
  struct Value {
    double score;
    std::int32_t edge;
  };
  Value zero() const { return {log_zero, -1}; }
  Value one() const { return {0.0, -1}; }
  Value plus(const Value& a, const Value& b) const { return b.score > a.score ? b : a; }
  Value times(const Value& a, const Value& b) const { return {log_times(a.score, b.score), b.edge}; }
  Value from_score(double score, std::int32_t edge) const { return {score, edge}; }
};

// The logarithm of the sum of exp(score).
struct Log {
  using Value = double;
  Value zero() const { return log_zero; }
  Value one() const { return 0.0; }
  Value plus(Value a, Value b) const { return log_plus(a, b); }
  Value times(Value a, Value b) const { return log_times(a, b); }
  Value from_score(double score, std::int32_t) const { return score; }
};

// The number of derivations that are not forbidden. Exact below `many`, which stands for itself and everything above:
// capping is compatible with sums and products, so a capped value never falls back below the cap.
struct Count {
  using Value = std::uint64_t;
  static constexpr Value many = std::numeric_limits<Value>::max();
  Value zero() const { return 0; }
  Value one() const { return 1; }
  Value plus(Value a, Value b) const { return a > many - b ? many : a + b; }
  Value times(Value a, Value b) const { return b != 0 && a > many / b ? many : a * b; }
  Value from_score(double score, std::int32_t) const { return score > log_zero; }
};

// First-order expectation (Eisner 2002; Li and Eisner 2009, section 3): the expected sum of values[edge] over the
// edges of a derivation drawn with probability proportional to exp(score).
// Differs: the papers carry (p, r) with r = p * mean; (log p, mean) holds the same and neither under- nor overflows.
struct Expectation {
  struct Value {
    double log_weight;
    double mean;
  };
  std::span<const double> values;

  Value zero() const { return {log_zero, 0.0}; }
  Value one() const { return {0.0, 0.0}; }
  Value plus(const Value& a, const Value& b) const {
    if (b.log_weight == log_zero) return a;
    if (a.log_weight == log_zero) return b;
    const double total = log_plus(a.log_weight, b.log_weight);
    return {total, a.mean + std::exp(b.log_weight - total) * (b.mean - a.mean)};
  }
  Value times(const Value& a, const Value& b) const { return {log_times(a.log_weight, b.log_weight), a.mean + b.mean}; }
  Value from_score(double score, std::int32_t edge) const { return {score, values[static_cast<std::size_t>(edge)]}; }
};

}  // namespace margent
