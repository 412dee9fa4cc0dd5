// The oracle of a transition system under beam search: learning that minds what the search loses.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "learning/flat_oracle.hpp"
#include "transitions/beam_comparison.hpp"

namespace margent {

// `Base` keeps the weights. Answers are about the prefixes that `update` chooses (beam_update.hpp), with up to k
// rivals: the best of the beam there. Where there is nothing to learn from, an answer has no rivals, and no position
// that could be wrong.
template <LearnableSystem S, class Base = FlatOracle>
class BeamOracle : public Base {
 public:
  // n_weights: what makes the base. beam 0: all states. What follows makes the system.
  template <class... Given>
  BeamOracle(std::int64_t n_weights, std::int64_t beam, BeamUpdate update, Given&&... given)
      : Base(n_weights), system_(std::forward<Given>(given)...), beam_(beam), update_(update) {}

  S& system() { return system_; }
  const S& system() const { return system_; }
  std::int64_t beam() const { return beam_; }
  void set_beam(std::int64_t beam) { beam_ = beam; }
  // Weights for features that the system has met since.
  void grow_to_system() {
    if constexpr (requires { system_.n_features(); }) this->grow(system_.n_features());
  }

  std::int64_t size() const override { return system_.size(); }
  void ask(std::int64_t example, const Question& question, Reply& answer) override {
    answer.rivals.clear();
    answer.n_positions = 0;
    answer.weight = weight(system_, example);
    deltas_.clear();
    system_.turn_to(example, this->search_weights(), question.cost);
    const int chosen = pair_.run(system_, beam_, update_);
    if constexpr (requires { system_.unreachable(example); })
      if (pair_.gold.last().empty()) system_.unreachable(example);
    grow_to_system();
    if (chosen < 0) return;
    const BeamItem<S>& gold = *pair_.right(chosen);
    pair_.gold.trace(gold, gold_path_);
    answer.n_positions = system_.n_positions(pair_.gold.last()[0].state);
    answer.gold_score = gold.score - question.cost * system_.loss(gold.state);
    keys_.clear();
    for (const BeamItem<S>& item : BeamComparison<S>::at(pair_.found, chosen)) {
      if (static_cast<int>(answer.rivals.size()) == question.k) break;
      if (!is_new(item.state)) continue;
      pair_.found.trace(item, path_);
      const bool right = system_.right(item.state);
      const double loss = system_.loss(item.state);
      const std::int64_t errors = right ? 0 : system_.errors(gold_path_, path_);
      answer.rivals.push_back({item.score - question.cost * loss, loss, errors});
      difference(deltas_.emplace_back());
      if (right && question.stop_if_right && answer.rivals.size() == 1) break;
    }
  }
  void delta(std::size_t rival, SparseVector& out) const override { out = deltas_.at(rival); }
  double dot(std::size_t i, std::size_t j) const override { return this->inner(deltas_.at(i), deltas_.at(j)); }
  void move(std::size_t rival, double step) override { this->add(deltas_.at(rival), step); }

  static double weight(const S& system, std::int64_t example) {
    if constexpr (requires { system.weight(example); })
      return system.weight(example);
    else
      return 1;
  }
  // Adds amount * the features of a path, from its first-th action on.
  static void collect(S& system, const BeamSearch<S>& search, const typename BeamSearch<S>::Path& path,
                      std::size_t first, double amount) {
    for (std::size_t i = first; i < path.size(); ++i)
      system.collect(ActionInState<S>{search.before(*path[i]), path[i]->move}, amount);
    if constexpr (requires { system.collect_totals(path.back()->state, amount); })
      if (!path.empty()) system.collect_totals(path.back()->state, amount);
  }

 private:
  bool is_new(const typename S::State& state) {
    if constexpr (requires { system_.answer_key(state); }) {
      const std::uint64_t key = system_.answer_key(state);
      if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) return false;
      keys_.push_back(key);
    }
    return true;
  }
  // F(gold) - F(rival), of the paths traced last.
  void difference(SparseVector& out) {
    std::size_t same = 0;
    if constexpr (requires(const typename S::Move& move) { system_.same_action(move, move); })
      while (same < path_.size() && same < gold_path_.size() &&
             system_.same_action(path_[same]->move, gold_path_[same]->move))
        ++same;
    collect(system_, pair_.gold, gold_path_, same, 1);
    collect(system_, pair_.found, path_, same, -1);
    system_.hand_over(out);
    normalize(out);
  }

  S system_;
  std::int64_t beam_;
  BeamUpdate update_;
  BeamComparison<S> pair_;
  // The last answer.
  typename BeamSearch<S>::Path gold_path_, path_;
  std::vector<std::uint64_t> keys_;
  std::vector<SparseVector> deltas_;
};

}  // namespace margent
