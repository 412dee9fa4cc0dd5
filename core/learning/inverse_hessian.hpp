// The two-loop recursion of L-BFGS (Nocedal and Wright, algorithm 7.4), by several threads, the same to the bit for any
// number of them: sums are made over chunks of a fixed size and added up in order.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "parallel.hpp"

namespace margent {

// Calls task(begin, end) for the chunks of n numbers.
template <class Task>
void in_chunks(std::int64_t n, int threads, Task task) {
  constexpr std::int64_t size = 1 << 14;
  parallel((n + size - 1) / size, n < 8 * size ? 1 : threads,
           [&](std::size_t, std::int64_t c) { task(c * size, std::min((c + 1) * size, n)); });
}

template <class A, class B>
double dot(const A* a, const B* b, std::int64_t n, int threads) {
  constexpr std::int64_t lanes = 8;
  std::vector<double> parts;
  parts.resize((n >> 14) + 1);
  in_chunks(n, threads, [&](std::int64_t begin, std::int64_t end) {
    double lane[lanes] = {}, rest = 0;
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes)
      for (std::int64_t q = 0; q < lanes; ++q) lane[q] += static_cast<double>(a[i + q]) * b[i + q];
    for (; i < end; ++i) rest += static_cast<double>(a[i]) * b[i];
    for (const double x : lane) rest += x;
    parts[begin >> 14] = rest;
  });
  double sum = 0;
  for (const double x : parts) sum += x;
  return sum;
}

// What is known of the inverse of the second derivatives of a function from the last changes of point and gradient.
class InverseHessian {
 public:
  InverseHessian(std::int64_t n, int memory, int threads) : n_(n), memory_(memory), threads_(threads) {}

  std::int64_t n() const { return n_; }
  std::int64_t size() const { return static_cast<std::int64_t>(pairs_.size()); }
  void clear() { pairs_.clear(); }

  // A step from one point to the next, and the change of the gradient; nothing where the function is not curved, which
  // is seen from the angle between the two, whatever their scale.
  void add(const double* from, const double* to, const double* gradient_from, const double* gradient_to) {
    Pair pair;
    if (size() == memory_) {  // its memory is used again
      pair = std::move(pairs_.front());
      pairs_.pop_front();
    }
    pair.step.resize(n_);
    pair.change.resize(n_);
    in_chunks(n_, threads_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        pair.step[i] = static_cast<float>(to[i] - from[i]);
        pair.change[i] = static_cast<float>(gradient_to[i] - gradient_from[i]);
      }
    });
    pair.curvature = dot(pair.step.data(), pair.change.data(), n_, threads_);
    const double length = dot(pair.change.data(), pair.change.data(), n_, threads_);
    const double step = dot(pair.step.data(), pair.step.data(), n_, threads_);
    if (!(pair.curvature > 1e-10 * std::sqrt(step) * std::sqrt(length))) return;
    scale_ = pair.curvature / length;
    pairs_.push_back(std::move(pair));
  }

  // The matrix times a vector, into `out`.
  void times(const double* vector, double* out) {
    q_.resize(n_);
    in_chunks(n_, threads_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) q_[i] = static_cast<float>(vector[i]);
    });
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
      pair->factor = dot(pair->step.data(), q_.data(), n_, threads_) / pair->curvature;
      add_to_q(pair->change, -pair->factor);
    }
    const float scale = static_cast<float>(scale_);
    if (!pairs_.empty())
      in_chunks(n_, threads_, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) q_[i] *= scale;
      });
    for (const Pair& pair : pairs_)
      add_to_q(pair.step, pair.factor - dot(pair.change.data(), q_.data(), n_, threads_) / pair.curvature);
    std::copy(q_.begin(), q_.end(), out);
  }

 private:
  // In single precision, which is enough for a direction.
  struct Pair {
    std::vector<float> step, change;
    double curvature = 0, factor = 0;
  };

  void add_to_q(const std::vector<float>& row, double factor) {
    const float x = static_cast<float>(factor);
    in_chunks(n_, threads_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) q_[i] += x * row[i];
    });
  }

  std::int64_t n_, memory_;
  int threads_;
  double scale_ = 1;
  std::deque<Pair> pairs_;
  std::vector<float> q_;
};

}  // namespace margent
