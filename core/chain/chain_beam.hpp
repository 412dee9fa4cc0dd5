// The label chain as a transition system, for beam search: an action is a label, the last one the end.
//
// A state is what later scores can depend on: the last k labels. Ways that reach the same state are one, the better of
// them; so an unlimited beam is Viterbi's search, and answers the same, ties included. Items that lead to the same
// context compete in a dense loop over labels, so recombination happens before anything is proposed.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "chain/chain.hpp"
#include "chain/examples.hpp"
#include "transitions/beam_search.hpp"

namespace margent {

// Layer 0 is the start, layer t + 1 has the labels of token t, layer n + 1 whole labellings, with what it scores to end
// so.
template <class Real>
class ChainSystem {
 public:
  static constexpr bool synchronous = true;
  static constexpr Recombination recombination = Recombination::proposals;
  using Move = std::int64_t;  // the state that it leads to
  struct State {
    std::int64_t number;
    bool right;
  };
  using Item = BeamItem<ChainSystem>;

  // A sequence that is not empty. O(n width L) for a search.
  void turn_to(const ChainScores<Real>& scores) { scores_ = &scores, examples_ = nullptr, forced_ = false; }
  // The same in training: `right` are its known labels, `gold` the one right labelling that a forced search follows.
  void turn_to(const ChainScores<Real>& scores, const Examples& examples, const std::int32_t* right,
               const std::int32_t* gold) {
    scores_ = &scores, examples_ = &examples, right_ = right, gold_ = gold, forced_ = false;
  }
  void force(bool forced) { forced_ = forced; }

  int n_layers() const { return scores_->length + 2; }
  template <class Add>
  void start(Add add) {
    add(0.0, {-1, true});
  }
  template <class Propose>
  void expand(int layer, std::span<const Item> items, Propose& propose);
  State step(int layer, const State& from, Move to) const {
    const bool ends = layer > scores_->length;
    return {to, from.right && (ends || !examples_ || examples_->fits(right_[layer - 1], label(to)))};
  }
  bool prefers(Move a, Move b) const { return tie_order(a) < tie_order(b); }
  bool right(const State& state) const { return state.right; }
  std::int64_t signature(const State& state) const { return state.number; }
  std::int32_t label(std::int64_t state) const { return static_cast<std::int32_t>(state % scores_->shape.width); }

 private:
  std::int64_t tie_order(std::int64_t state) const;
  template <class Propose>
  void first_position(Propose& propose);
  template <class Propose>
  void extend(int position, std::span<const Item> before, Propose& propose);

  const ChainScores<Real>* scores_ = nullptr;
  const Examples* examples_ = nullptr;
  const std::int32_t *right_ = nullptr, *gold_ = nullptr;
  bool forced_ = false;
  struct Ranked {
    std::int64_t context, history,
        label;  // the context that an item leads to, and the history that chooses transitions
    std::int32_t item;
  };
  std::vector<Ranked> order_;
  std::vector<std::int32_t> from_;
  std::vector<double> best_;
};

template <class Real>
using ChainBeamSearch = BeamSearch<ChainSystem<Real>>;
extern template class BeamSearch<ChainSystem<float>>;
extern template class BeamSearch<ChainSystem<double>>;

// The beam of a tagger.
template <class Real>
class ChainBeam {
 public:
  using Item = BeamItem<ChainSystem<Real>>;

  // Goes through a sequence that is not empty with up to `width` states at each position.
  void search(const ChainScores<Real>& scores, int width) {
    system_.turn_to(scores);
    search_.run(system_, width);
  }
  // What survived at a position, best first. At position n: whole labellings, with what it scores to end so.
  std::span<const Item> at(int position) const { return search_.layer(position + 1); }
  // The labels of the best whole labelling.
  void trace_best(std::int32_t* labels) {
    search_.trace(search_.last()[0], path_);
    for (std::size_t t = 0; t + 1 < path_.size(); ++t) labels[t] = system_.label(path_[t]->state.number);
  }

 private:
  ChainSystem<Real> system_;
  ChainBeamSearch<Real> search_;
  typename ChainBeamSearch<Real>::Path path_;
};

}  // namespace margent
