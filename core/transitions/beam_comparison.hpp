// What a beam search found beside what is right, step by step, and the step up to which they are compared.
#pragma once
#include <algorithm>

#include "transitions/beam_search.hpp"
#include "transitions/beam_update.hpp"

namespace margent {

// The right side is found by a search of its own among what can still become right (forced search; paper 003, equation
// 4.3). Where there is one right path, that search follows it; where the path is latent, it takes the best that its
// beam finds (Yu, Huang, Mi and Zhao 2013): the best at each step, or, for a system whose `follows_answer()` is true,
// the path of the best right answer alone.
template <SupervisedSystem S>
class BeamComparison {
 public:
  using Item = BeamItem<S>;
  BeamSearch<S> found, gold;

  // Makes both searches. Returns the layer to learn from, or -1: there is nothing to learn, or nothing right in reach.
  int run(S& system, std::int64_t beam, BeamUpdate update) {
    system.force(false);
    found.run(system, beam);
    system.force(true);
    gold.run(system, beam);
    system.force(false);
    answer_.clear();
    if (gold.last().empty()) return -1;
    if constexpr (requires { system.follows_answer(); })
      if (system.follows_answer()) gold.trace(gold.last()[0], answer_);
    PrefixChoice choice(update);
    bool lost = false;
    const int last = std::max(found.n_layers(), gold.n_layers()) - 1;
    for (int layer = 1; layer <= last; ++layer) {
      if constexpr (requires { system.is_compared(layer); })
        if (!system.is_compared(layer)) continue;
      const auto items = at(found, layer);
      const Item* right = this->right(layer);
      if (items.empty() || !right) continue;  // a layer may be stepped over
      const bool missed = is_missed(system, items, *right);
      lost = missed || (lost && S::synchronous);
      choice.see(layer, layer == last, system.right(items[0].state), lost, items[0].score - right->score);
    }
    return choice.chosen();
  }

  // The right side at a layer; null: there is none.
  const Item* right(int layer) const {
    const auto items = at(gold, layer);
    if (answer_.empty()) return items.empty() ? nullptr : &items[0];
    const auto there = std::ranges::find_if(
        answer_, [&](const Item* item) { return item >= items.data() && item < items.data() + items.size(); });
    return there == answer_.end() ? nullptr : *there;
  }
  // What there is at a layer; answers stay.
  static std::span<const Item> at(const BeamSearch<S>& search, int layer) {
    return search.layer(std::min(layer, search.n_layers() - 1));
  }

 private:
  typename BeamSearch<S>::Path answer_;  // of the best right answer, where it is followed

  // Whether the right path is not in the beam, nor another path to the same state.
  static bool is_missed(S& system, std::span<const Item> items, const Item& right) {
    if (std::ranges::any_of(items, [&](const Item& item) { return system.right(item.state); })) return false;
    if constexpr (requires { system.signature(right.state); }) {
      const auto wanted = system.signature(right.state);
      return std::ranges::none_of(items, [&](const Item& item) { return system.signature(item.state) == wanted; });
    }
    return true;
  }
};

}  // namespace margent
