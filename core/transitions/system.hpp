// Incremental systems: answers that are built action by action, and what a search may see of them.
//
// A system says where it starts, what can be done in a state and what that scores, and where it leads. BeamSearch
// (beam_search.hpp) finds good answers, BeamOracle (beam_oracle.hpp) learns with that search, BeamLikelihood
// (beam_likelihood.hpp) sums over what it finds. All calls are resolved at compile time. docs/design.md has a sketch.
//
// States stand in *layers*, which are searched in order; of each layer the best states are kept. Which states compete
// is the system's choice: those after as many actions (labels of a chain, actions of a parser), or those that have read
// as much of the input, however many actions that took (graphones).
#pragma once
#include <concepts>
#include <cstdint>
#include <span>

#include "learning/flat_oracle.hpp"

namespace margent {

// States that have the same future - the same actions, scores and ends - are one: the best of them is kept.
enum class Recombination {
  none,       // no two states are taken for one
  proposals,  // `expand` proposes each state once, the best path to it
  moves,      // signature(state, move) and same(...): found before a state is made
  states,     // signature(state): found when a state is made, so that only as many are made as are kept and merged
};

// A state in a beam. `parent`: the index of the item it was reached from; -1 at the start. `move`: how.
template <class S>
struct BeamItem {
  double score;
  std::int32_t parent;
  typename S::Move move;
  typename S::State state;
};

// What a system is given to score with: S::Weights where it has a type of its own.
template <class S>
struct SearchWeights {
  using Type = FlatWeights<double>;
};
template <class S>
  requires requires { typename S::Weights; }
struct SearchWeights<S> {
  using Type = typename S::Weights;
};

namespace archetypes {
template <class S>
struct Start {
  void operator()(double score, typename S::State state);
};
template <class S>
struct Propose {
  void operator()(int layer, std::size_t item, double score, const typename S::Move& move);
  void stay(std::size_t item);
};
}  // namespace archetypes

// S::State: what later actions and scores depend on. S::Move: an action, with what `expand` found out about it.
//   synchronous           every action leads to the next layer
//   recombination         see above
//   start(add)            add(score, state) for each state before the first action; none: there is no answer
//   expand(layer, items, propose)
//                         for the states of a layer, best first: propose(next layer, number of the item, score, move)
//                         for each legal action, the score being that of the whole path to there, with costs. All
//                         actions of a state, or of all states, are scored in one call: what they share is scored once
//   step(layer, state, move)  the state that a move leads to; called only for what is kept
//
// A system may have
//   n_layers()            where the number of layers is known: the answers are the last one. Otherwise `expand` calls
//                         propose.stay(item) for a state that is an answer; it stays in the beam until all others are
//                         answers or dead ends
//   may_ask_again         true: `expand` may be called twice for a layer, so that the search need not remember what is
//                         far from the best
//   sorted                false: layers need not be sorted, only the best set apart, which takes less time
//   keeps(layer, score, move)
//                         false: dropped before the best of the layer are chosen
//   merge(layer, score, move, other_score, other_move)
//                         what is made of two paths to one state that `same` found: sets `score`, and says whether the
//                         other path is the one to remember; otherwise the better one stays
//   prefers(a, b)         which of two moves of equal score goes first; otherwise that which was proposed first
template <class S>
concept TransitionSystem =
    requires(S& system, const typename S::State& state, const typename S::Move& move,
             std::span<const BeamItem<S>> items, archetypes::Start<S> add, archetypes::Propose<S> propose, int layer) {
      { S::synchronous } -> std::convertible_to<bool>;
      { S::recombination } -> std::convertible_to<Recombination>;
      system.start(add);
      system.expand(layer, items, propose);
      { system.step(layer, state, move) } -> std::convertible_to<typename S::State>;
    };

// A system that knows what is right.
//   force(true)    from now on only proposes what can still become a right answer: all of them, where the path to it is
//                  latent; false: everything, with costs
//   right(state)   whether a state of the free search can still become a right answer
// and may have
//   signature(state)    to see whether the right answer is in the beam as another path to the same state
//   is_compared(layer)  whether answers are compared at a layer; otherwise at all
template <class S>
concept SupervisedSystem = TransitionSystem<S> && requires(S& system, const typename S::State& state) {
  system.force(true);
  { system.right(state) } -> std::convertible_to<bool>;
};

// A part of an answer: an action in a state.
template <class S>
struct ActionInState {
  const typename S::State& state;
  const typename S::Move& move;
};

// A system with examples and features: what a BeamOracle learns from. The verbs are those of PartFeatures
// (learning/part_features.hpp), but that parts are scored by `expand`, all actions of a state at once.
//   size()                           how many examples there are
//   turn_to(example, weights, cost)  searches are about this example from now on; mistakes score cost * loss more
//   loss(state)                      what a state has cost so far
//   errors(gold, rival)              at how many positions a path, given as items, is wrong
//   n_positions(gold)                how many positions there are
//   collect(part, amount)            adds amount * f(part)
//   hand_over(out)                   appends what was collected and forgets it
// and may have
//   weight(example)               what an example counts; otherwise 1
//   n_features()                  how many weights there are by now, where features are numbered as they are met
//   collect_totals(state, amount) features whose values add up in the state, once for a whole path
//   same_action(a, b)             with it, actions that two paths begin with are not collected
//   answer_key(state)             states of equal keys are the same answer: only the best of them is a rival
//   unreachable(example)          is called where no right answer is in reach of the search
template <class S>
concept LearnableSystem =
    SupervisedSystem<S> && requires(S& system, const typename S::State& state, typename SearchWeights<S>::Type weights,
                                    std::span<const BeamItem<S>* const> path, SparseVector& out,
                                    const ActionInState<S>& part, std::int64_t example, double amount) {
      { system.size() } -> std::convertible_to<std::int64_t>;
      system.turn_to(example, weights, amount);
      { system.loss(state) } -> std::convertible_to<double>;
      { system.errors(path, path) } -> std::convertible_to<std::int64_t>;
      { system.n_positions(state) } -> std::convertible_to<std::int64_t>;
      system.collect(part, amount);
      system.hand_over(out);
    };

}  // namespace margent
