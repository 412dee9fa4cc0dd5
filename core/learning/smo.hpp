// Sequential minimal optimisation on the maximum violating pair (paper 004, equations 17 to 20).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "interruption.hpp"

namespace margent {

struct SmoLimits {
  double tol = 0;               // ends when no pair violates the KKT conditions by more (17)
  double kappa = 0;             // only variables above this may become smaller
  std::int64_t max_steps = -1;  // -1: 1000 for each variable, so that rounding cannot keep it going for ever
};

struct Pair {
  std::size_t up, down;
};

// The maximum violating pair (18), or nothing where the KKT conditions hold within tol (17). The gradient is -hinge:
// the variable that should grow has the largest hinge, the one that gives the smallest.
//
// Each step of the solver makes two hinges equal, so ties are the rule. The first of those that tie is taken, not the
// one that rounding favours: which pairs are moved must not depend on the compiler.
inline std::optional<Pair> violating_pair(const std::vector<double>& hinge, const std::vector<double>& values,
                                          const SmoLimits& limits) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double largest = -infinity, smallest = infinity, scale = 1;
  for (std::size_t i = 0; i < hinge.size(); ++i) {
    largest = std::max(largest, hinge[i]);
    if (values[i] > limits.kappa) smallest = std::min(smallest, hinge[i]);
    scale = std::max(scale, std::abs(hinge[i]));
  }
  if (!(scale < infinity) || largest <= smallest + std::max(limits.tol, 1e-12 * scale)) return std::nullopt;
  const double tie = 1e-10 * scale;
  Pair pair{0, 0};
  while (hinge[pair.up] < largest - tie) ++pair.up;
  while (values[pair.down] <= limits.kappa || hinge[pair.down] > smallest + tie) ++pair.down;
  if (hinge[pair.up] <= hinge[pair.down]) return std::nullopt;
  return pair;
}

// Raises the dual of one example, a' hinge - 1/2 a' K a, over changes a that sum to 0 and keep values + a >= 0.
// `gram` is K, row by row; `hinge` [m] is loss - w . delta on entry and at the solution on return, as `values` are.
// Returns by how much the objective rose. No step lowers it. Costs m for each step.
inline double smo(const std::vector<double>& gram, std::vector<double>& hinge, std::vector<double>& values,
                  const SmoLimits& limits) {
  const std::size_t m = values.size();
  const std::int64_t max_steps = limits.max_steps < 0 ? 1000 * static_cast<std::int64_t>(m) : limits.max_steps;
  double gained = 0;
  for (std::int64_t step = 0; step < max_steps; ++step) {
    check_interruption(static_cast<std::int64_t>(2 * m));
    const std::optional<Pair> pair = violating_pair(hinge, values, limits);
    if (!pair) break;
    const auto [up, down] = *pair;
    const double difference = hinge[up] - hinge[down];
    const double norm = gram[up * m + up] + gram[down * m + down] - 2 * gram[up * m + down];
    // Two rivals with the same features: all goes to the one that costs more.
    const double delta = norm > 0 ? std::min(values[down], difference / norm) : values[down];
    values[up] += delta;
    values[down] = delta == values[down] ? 0 : values[down] - delta;
    gained += delta * (difference - 0.5 * delta * std::max(norm, 0.0));
    for (std::size_t i = 0; i < m; ++i) hinge[i] -= delta * (gram[i * m + up] - gram[i * m + down]);
  }
  return gained;
}

}  // namespace margent
