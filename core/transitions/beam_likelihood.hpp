// The likelihood of right answers among those that survive a beam (paper 003, Section 3.2.2).
//
// p(path) = exp(score) / Z, where Z sums over the paths in the last beam and the right ones that a forced search found.
// Where several paths are right, what counts is the probability of all of them together (equation 4.9). Searches do not
// recombine: each path is a term of the sum, and a beam that keeps all gives the exact one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "learning/flat_likelihood.hpp"
#include "transitions/beam_oracle.hpp"

namespace margent {

// Needs, besides what a BeamOracle does, action_id(move): equal numbers for equal actions. Searches by the weights as
// they are at each look at an example, one example after the other.
template <LearnableSystem S, class Base = FlatOracle>
class BeamLikelihood : public FlatLikelihood {
 public:
  // beam 0: that of the oracle.
  BeamLikelihood(BeamOracle<S, Base>& oracle, std::int64_t beam)
      : FlatLikelihood(oracle, 1), oracle_(oracle), beam_(beam) {}

  // Weights for features that were met since; until then these have none, also while descending.
  bool grow() override {
    const std::int64_t before = n_parameters();
    oracle_.grow_to_system();
    oracle_.grow_to_met();
    return n_parameters() > before;
  }

 protected:
  // -weight * log p(right), and its gradient, weight * (E[F] - E[F | right]). 0 where nothing right is in reach.
  double example(std::size_t, std::int64_t i, SparseVector* gradient) override {
    S& system = oracle_.system();
    system.turn_to(i, oracle_.search_weights(), 0);
    const std::int64_t beam = beam_ > 0 ? beam_ : oracle_.beam();
    found_.run(system, beam, false);
    system.force(true);
    gold_.run(system, beam, false);
    system.force(false);
    if constexpr (requires { system.unreachable(i); })
      if (gold_.last().empty()) system.unreachable(i);
    list();
    if (n_right_ == 0) return 0;
    const auto log_sum = [&](std::size_t n) {
      double top = terms_[0].item->score, sum = 0;
      for (std::size_t t = 1; t < n; ++t) top = std::max(top, terms_[t].item->score);
      for (std::size_t t = 0; t < n; ++t) sum += std::exp(terms_[t].item->score - top);
      return top + std::log(sum);
    };
    const double all = log_sum(terms_.size()), right = log_sum(n_right_);
    const double weight = BeamOracle<S, Base>::weight(system, i);
    if (!gradient) return weight * (all - right);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      const auto& [search, item] = terms_[t];
      const double share = std::exp(item->score - all) - (t < n_right_ ? std::exp(item->score - right) : 0);
      search->trace(*item, path_);
      BeamOracle<S, Base>::collect(system, *search, path_, 0, weight * share);
    }
    system.hand_over(*gradient);
    normalize(*gradient);
    oracle_.drop_unknown(*gradient);
    return weight * (all - right);
  }

 private:
  using Path = typename BeamSearch<S>::Path;

  // The terms of the sum: right paths first, each once.
  void list() {
    S& system = oracle_.system();
    terms_.clear();
    std::set<std::vector<std::int64_t>> known;
    for (const BeamSearch<S>* search : {&gold_, &found_})
      for (const BeamItem<S>& item : search->last()) {
        if (!system.right(item.state)) continue;
        search->trace(item, path_);
        std::vector<std::int64_t> actions;
        for (const BeamItem<S>* passed : path_) actions.push_back(system.action_id(passed->move));
        if (known.insert(std::move(actions)).second) terms_.push_back({search, &item});
      }
    n_right_ = terms_.size();
    for (const BeamItem<S>& item : found_.last())
      if (!system.right(item.state)) terms_.push_back({&found_, &item});
  }

  struct Term {
    const BeamSearch<S>* search;
    const BeamItem<S>* item;
  };
  BeamOracle<S, Base>& oracle_;
  std::int64_t beam_;
  BeamSearch<S> found_, gold_;
  std::vector<Term> terms_;
  std::size_t n_right_ = 0;
  Path path_;
};

}  // namespace margent
