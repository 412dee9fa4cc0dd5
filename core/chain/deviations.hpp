// Deviations from answers already found: how k-best searches list further ones in order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace margent {

// An answer of k-best not yet built: it agrees with answer `parent` after `position`, is in `state` there and goes the
// best way before. `loss` is what it scores less than the best answer: a sum of differences that are never negative, so
// no answer can come out better than the one it was split off.
struct Deviation {
  double loss;
  std::int64_t arrival;
  std::int32_t parent, position, state;
};

// Memory that queues share.
struct DeviationQueue {
  std::vector<Deviation> open;
  std::vector<double> losses;
};

// The k smallest of all losses offered, and the deviations they belong to, best first. Equal losses: first come, first
// served. Deviations that have fallen out stay where they are: k are taken before it is their turn.
class Deviations {
 public:
  Deviations(std::size_t k, DeviationQueue& memory) : k_(k), open_(memory.open), losses_(memory.losses) {
    open_.clear();
    losses_.clear();
  }
  // What does not lose less than this is no longer of use.
  double limit() const { return losses_.size() < k_ ? std::numeric_limits<double>::infinity() : losses_.front(); }
  bool empty() const { return open_.empty(); }

  void offer(double loss, std::int32_t parent, std::int32_t position, std::int32_t state) {
    if (!(loss < limit())) return;
    if (losses_.size() == k_) {
      std::pop_heap(losses_.begin(), losses_.end());
      losses_.pop_back();
    }
    losses_.push_back(loss);
    std::push_heap(losses_.begin(), losses_.end());
    open_.push_back({loss, arrivals_++, parent, position, state});
    std::push_heap(open_.begin(), open_.end(), later);
  }

  Deviation take() {
    std::pop_heap(open_.begin(), open_.end(), later);
    const Deviation first = open_.back();
    open_.pop_back();
    return first;
  }

 private:
  static bool later(const Deviation& a, const Deviation& b) {
    return a.loss != b.loss ? a.loss > b.loss : a.arrival > b.arrival;
  }
  std::size_t k_;
  std::vector<Deviation>& open_;
  std::vector<double>& losses_;
  std::int64_t arrivals_ = 0;
};

}  // namespace margent
