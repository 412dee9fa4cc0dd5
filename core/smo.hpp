// Sequential minimal optimisation on the maximum violating pair (paper 004, equations 17 to 20).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace margent {

struct SmoLimits {
  double tol = 0;    // ends when no pair violates the KKT conditions by more (17)
  double kappa = 0;  // only variables above this may become smaller
  std::int64_t max_steps = -1;  // -1: 1000 for each variable, so that rounding cannot keep it going for ever
};

// Raises the dual of one example, a' hinge - 1/2 a' K a, over changes a that sum to 0 and keep values + a >= 0.
// `gram` is K, row by row; `hinge` [m] is loss - w . delta on entry and at the solution on return, as `values` are.
// Returns by how much the objective rose. No step lowers it. Costs m for each step.
inline double smo(const std::vector<double>& gram, std::vector<double>& hinge, std::vector<double>& values,
                  const SmoLimits& limits) {
  const std::size_t m = values.size();
  double scale = 1;
  for (const double h : hinge) scale = std::max(scale, std::abs(h));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double tol = std::max(limits.tol, 1e-12 * scale), tie = 1e-10 * scale;
  const std::int64_t max_steps = limits.max_steps < 0 ? 1000 * static_cast<std::int64_t>(m) : limits.max_steps;
  double gained = 0;
  for (std::int64_t step = 0; step < max_steps; ++step) {
    // The gradient is -hinge: the variable that should grow has the largest hinge, the one that gives the smallest.
    double largest = -infinity, smallest = infinity;
    for (std::size_t i = 0; i < m; ++i) {
      largest = std::max(largest, hinge[i]);
      if (values[i] > limits.kappa) smallest = std::min(smallest, hinge[i]);
    }
    if (largest <= smallest + tol) break;
    // Each step makes two hinges equal, so ties are the rule. The first of those that tie is taken, not the one that
    // rounding favours: which pairs are moved must not depend on the compiler.
    std::size_t up = 0, down = 0;
    while (hinge[up] < largest - tie) ++up;
    while (!(values[down] > limits.kappa && hinge[down] <= smallest + tie)) ++down;
    if (hinge[up] <= hinge[down]) break;
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
