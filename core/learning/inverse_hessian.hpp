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

// Calls prepare(begin, end) for each chunk, and then takes it up into the inner product.
template <class A, class B, class Prepare>
double dot_after(const A* a, const B* b, std::int64_t n, int threads, Prepare prepare) {
  constexpr std::int64_t lanes = 8;
  std::vector<double> parts;
  parts.resize((n >> 14) + 1);
  in_chunks(n, threads, [&](std::int64_t begin, std::int64_t end) {
    prepare(begin, end);
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

template <class A, class B>
double dot(const A* a, const B* b, std::int64_t n, int threads) {
  return dot_after(a, b, n, threads, [](std::int64_t, std::int64_t) {});
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

  // The matrix times a vector, into `out`. What one step changes in q is looked at by the next while it is at hand.
  void times(const double* vector, double* out) {
    if (pairs_.empty()) {
      std::copy(vector, vector + n_, out);
      return;
    }
    q_.resize(n_);
    float* q = q_.data();
    const float *row = nullptr, scale = static_cast<float>(scale_);
    float x = 0;
    const auto copied = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) q[i] = static_cast<float>(vector[i]);
    };
    const auto added = [&](std::int64_t begin, std::int64_t end) {
      const float* r = row;  // as locals, which no q[i] can be
      const float factor = x;
      for (std::int64_t i = begin; i < end; ++i) q[i] += factor * r[i];
    };
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      Pair& pair = pairs_[i];
      const float* step = pair.step.data();
      pair.factor = (row ? dot_after(step, q, n_, threads_, added) : dot_after(step, q, n_, threads_, copied));
      pair.factor /= pair.curvature;
      row = pair.change.data();
      x = static_cast<float>(-pair.factor);
    }
    const auto scaled = [&](std::int64_t begin, std::int64_t end) {
      added(begin, end);
      const float all = scale;
      for (std::int64_t i = begin; i < end; ++i) q[i] *= all;
    };
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Pair& pair = pairs_[i];
      const float* change = pair.change.data();
      const double sum = i ? dot_after(change, q, n_, threads_, added) : dot_after(change, q, n_, threads_, scaled);
      row = pair.step.data();
      x = static_cast<float>(pair.factor - sum / pair.curvature);
    }
    in_chunks(n_, threads_, [&](std::int64_t begin, std::int64_t end) {
      added(begin, end);
      for (std::int64_t i = begin; i < end; ++i) out[i] = q[i];
    });
  }

 private:
  // In single precision, which is enough for a direction.
  struct Pair {
    std::vector<float> step, change;
    double curvature = 0, factor = 0;
  };

  std::int64_t n_, memory_;
  int threads_;
  double scale_ = 1;
  std::deque<Pair> pairs_;
  std::vector<float> q_;
};

}  // namespace margent
