// Which derivations of a forest are best as the weights move along a line (Kumar, Macherey, Dyer and Och 2009).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "forest/forest.hpp"
#include "forest/semiring.hpp"

namespace margent {

// When edge e scores scores[e] + x * slopes[e], a derivation's score is a line in x: intercept and slope are the sums
// of those of its edges. A value is the upper envelope of a set of such lines, from x = -inf to +inf:
//
//     a + b = the upper envelope of both;  a * b = all sums of a line of a and one of b, their envelope.
//
// The second is found by going through the corners of both, as long as the two together.
class Envelopes {
 public:
  struct Line {
    double slope, intercept;
    double from;           // where it is the best; the first: -inf
    std::int32_t history;  // which edges it is made of
  };
  using Value = std::vector<Line>;  // by rising slope

  explicit Envelopes(std::span<const double> slopes) : slopes_(slopes) {}

  Value zero() const { return {}; }
  Value one() const { return {{0, 0, log_zero, nothing}}; }
  Value plus(const Value& a, const Value& b) const;
  Value times(const Value& a, const Value& b) const;
  Value from_score(double score, std::int32_t edge) const;

  // Adds the edges of a line, those of tails before their heads.
  void edges(const Line& line, std::vector<std::int32_t>& out) const;

 private:
  static constexpr std::int32_t nothing = -1;
  struct History {
    std::int32_t left, right, edge;  // of a product its factors; of an edge its number
  };
  std::int32_t remember(std::int32_t left, std::int32_t right, std::int32_t edge) const;

  std::span<const double> slopes_;
  mutable std::vector<History> histories_;
};

static_assert(Semiring<Envelopes>);

// The best derivations along a line, number i from x = from[i] to from[i + 1]. None where the root has none.
struct BestAlong {
  std::vector<double> from;
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> edges;
};
BestAlong best_along(const Forest& forest, std::span<const double> slopes);

}  // namespace margent
