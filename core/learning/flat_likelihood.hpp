// The likelihood of an oracle whose weights are one vector of parameters. What one example is worth is left to those
// that derive from it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "learning/likelihood.hpp"
#include "learning/parameter_oracle.hpp"
#include "parallel.hpp"

namespace margent {

class FlatLikelihood : public Likelihood {
 public:
  FlatLikelihood(ParameterOracle& oracle, int threads) : oracle_(oracle), threads_(std::max(threads, 1)) {}

  std::int64_t size() const override { return oracle_.size(); }
  std::int64_t n_parameters() const override { return oracle_.n_features(); }
  int threads() const override { return threads_; }
  void get(double* parameters) const override { std::ranges::copy(oracle_.weights(false), parameters); }
  void set(const double* parameters) override { oracle_.start_from(parameters); }

  // Examples of a block are worked on by all threads, and their gradients then added up in order.
  double evaluate(double* gradient) override {
    constexpr std::int64_t block = 64;
    if (gradient) std::fill(gradient, gradient + n_parameters(), 0.0);
    std::vector<SparseVector> parts(block);
    std::vector<double> losses(block);
    double sum = 0;
    for (std::int64_t begin = 0; begin < size(); begin += block) {
      const std::int64_t n = std::min(block, size() - begin);
      parallel(n, workers(size(), threads_), [&](std::size_t thread, std::int64_t k) {
        parts[k].clear();
        losses[k] = example(thread, begin + k, gradient ? &parts[k] : nullptr);
      });
      for (std::int64_t k = 0; k < n; ++k) {
        sum += losses[k];
        oracle_.to_parameters(parts[k]);
        for (const auto& [index, value] : parts[k]) gradient[index] += value;
      }
    }
    return sum;
  }

  double value(const std::int64_t* numbers, std::int64_t n) override {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      check_interruption(1 << 10);
      sum += example(0, numbers[i], nullptr);
    }
    return sum;
  }

  double descend(const std::int64_t* numbers, std::int64_t n, double eta, double decay, double first) override {
    SparseVector gradient;
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double rate = eta / (1 + decay * eta * (first + static_cast<double>(i)));
      gradient.clear();
      sum += example(0, numbers[i], &gradient);
      oracle_.scale(std::max(1 - rate * decay, 1e-3));
      oracle_.add(gradient, -rate);
    }
    return sum;
  }

 protected:
  // Minus the log-likelihood of example i at the weights as they are, times its weight; its gradient is appended unless
  // null, in any order. Called by several threads at once, each with a number of its own below workers(size, threads).
  virtual double example(std::size_t thread, std::int64_t i, SparseVector* gradient) = 0;

 private:
  ParameterOracle& oracle_;
  int threads_;
};

}  // namespace margent
