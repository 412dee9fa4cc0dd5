// Dependency parsing as a transition system for beam search: a model of the concepts in transitions/system.hpp.
//
// T: which transitions there are (ArcStandard, ArcHybrid, ArcEager, SwapStandard). Table: where weights lie.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "learning/hashed_rows.hpp"
#include "learning/oracle.hpp"
#include "parsing/arc_eager.hpp"
#include "parsing/arc_hybrid.hpp"
#include "parsing/arc_standard.hpp"
#include "parsing/parser_scorer.hpp"
#include "parsing/swap_standard.hpp"
#include "transitions/beam_search.hpp"

namespace margent {

struct ParsingOptions {
  ParsingCosts costs;
  bool lazy_swaps = true;
};

// A state is what later actions see, and what the path to it has cost. All states of a layer have taken as many
// actions.
template <class T, class Table>
class ParsingSystem {
 public:
  static constexpr bool synchronous = true;
  static constexpr bool may_ask_again = true;
  static constexpr Recombination recombination = Recombination::states;
  using Weights = TableWeights<Table>;
  struct Move {
    std::int32_t action;
  };
  struct State {
    Configuration configuration;
    std::uint64_t tree = 0;  // a hash of the arcs so far, in whatever order they were made
    float arc_loss = 0;      // what they cost
    std::int32_t wrong = 0;  // how many are wrong, by head or label
    bool right = true;       // the right tree is still in reach
  };
  using Item = BeamItem<ParsingSystem>;

  ParsingSystem(const Treebank& treebank, const ParserTemplates& templates, const ParserActions& actions,
                const ParsingOptions& options)
      : treebank_(treebank), actions_(actions), options_(options), scorer_(templates) {}

  const ParserActions& actions() const { return actions_; }
  std::int32_t n_words() const { return n_words_; }
  const WordNodes& nodes() const { return nodes_; }

  // A sentence whose tree nobody knows.
  void turn_to(std::int64_t sentence, const Weights& weights) {
    n_words_ = treebank_.n_words(sentence);
    weights_ = weights;
    supervised_ = forced_ = false;
    cost_ = 0;
    nodes_.clear();
    scorer_.begin(treebank_.atoms_of(sentence), treebank_.n_atoms, n_words_, *weights.table);
  }
  // One whose tree is known; mistakes score `cost` times what they cost more.
  void turn_to(std::int64_t sentence, const Weights& weights, double cost) {
    turn_to(sentence, weights);
    supervised_ = true;
    cost_ = cost;
    gold_.set(treebank_, sentence);
    if constexpr (!T::known_length) plan_ = swap_oracle(gold_, options_.lazy_swaps);
  }
  void force(bool forced) { forced_ = forced; }
  // Whether states that look alike stay apart where they have other arcs. As a rule the better one has the better tree,
  // whatever comes, so that the other need not be kept; but of the k best trees it may have one.
  void tell_trees(bool wanted) { tells_trees_ = wanted; }

  int n_layers() const
    requires(T::known_length)
  {
    return 2 * n_words_ + 1;
  }
  template <class Add>
  void start(Add add) {
    add(0.0, State{});
  }
  template <class Propose>
  void expand(int layer, std::span<const Item> items, Propose& propose) {
    scorer_.score(items.size(), nodes_, [&](std::size_t i) { return items[i].state.configuration; });
    for (std::size_t i = 0; i < items.size(); ++i) {
      const State& state = items[i].state;
      if constexpr (!T::known_length) {
        if (is_final(state)) {
          propose.stay(i);
          continue;
        }
      }
      const float* scores = scorer_.scores(i);
      for (const Transition transition : T::transitions) {
        if (!may(transition, state, layer)) continue;
        const MadeArc arc = T::arc(transition, state.configuration, nodes_);
        const bool kept = (forced_ || cost_ != 0) && keeps(transition, state, layer);
        if (forced_ && !kept) continue;
        for (const std::int32_t action : actions_.of(transition)) {
          const std::int32_t label = actions_[action].label;
          if (forced_ && arc.made() && !gold_.is_right(arc.word, arc.head, label)) continue;
          double score = items[i].score + weights_.scale * scores[action];
          if (cost_ != 0) score += cost_ * (loss(judged(state, arc, label, kept)) - loss(state));
          propose(layer + 1, i, score, Move{action});
        }
      }
    }
  }
  // `layer`: that of the new state.
  State step(int layer, const State& from, const Move& move) {
    const auto [transition, label] = actions_[move.action];
    const MadeArc arc = T::arc(transition, from.configuration, nodes_);
    State to = supervised_ ? judged(from, arc, label, keeps(transition, from, layer - 1)) : from;
    if (arc.made())
      to.tree += mix((static_cast<std::uint64_t>(arc.head) << 40) ^ (static_cast<std::uint64_t>(arc.word) << 16) ^
                     static_cast<std::uint64_t>(label + 1));
    to.configuration = T::apply(transition, label, from.configuration, nodes_);
    return to;
  }
  std::uint64_t signature(const State& state) const {
    const Configuration& c = state.configuration;
    const std::uint64_t tree = tells_trees_ || is_final(state) ? state.tree : 0;
    return mix(tree ^ nodes_.signature_of(c.top) ^
               mix(nodes_.signature_of(c.front) + static_cast<std::uint64_t>(c.next)));
  }

  std::int64_t size() const { return treebank_.size; }
  double weight(std::int64_t example) const { return treebank_.weights ? treebank_.weights[example] : 1; }
  bool right(const State& state) const { return state.right; }
  // A derivation that has left the right tree has made a mistake, if only one that no arc shows yet.
  double loss(const State& state) const { return !state.right && state.wrong == 0 ? 1 : state.arc_loss; }
  std::int64_t errors(std::span<const Item* const>, std::span<const Item* const> path) const {
    return std::max(1, path.back()->state.wrong);
  }
  std::int64_t n_positions(const State&) const { return std::max(1, n_words_); }
  bool same_action(const Move& a, const Move& b) const { return a.action == b.action; }
  std::int64_t action_id(const Move& move) const { return move.action; }
  std::uint64_t answer_key(const State& state) const { return state.tree; }
  void collect(const ActionInState<ParsingSystem>& part, double amount)
    requires requires(Table& table) { table.row(std::uint64_t{}); }
  {
    scorer_.features(part.state.configuration, nodes_, [&](std::size_t, std::uint64_t key) {
      const std::int64_t row = weights_.table->row(key);
      collected_.push_back({row * weights_.table->n_columns() + part.move.action, amount});
    });
  }
  void hand_over(SparseVector& out) {
    out.insert(out.end(), collected_.begin(), collected_.end());
    collected_.clear();
  }

  // The arc that an action makes.
  MadeArc arc(const State& state, const Move& move) const {
    return T::arc(actions_[move.action].transition, state.configuration, nodes_);
  }
  ParserScorer<Table>& scorer() { return scorer_; }

 private:
  bool is_final(const State& state) const {
    return state.configuration.depth == 0 && state.configuration.buffer_empty(n_words_);
  }
  bool may(Transition transition, const State& state, int layer) const {
    // Weights that nobody learned must not lead through n^2 / 2 swaps; derivations of real trees have far fewer.
    if (transition == Transition::swap && !forced_ && layer > 10 * n_words_) return false;
    return T::legal(transition, state.configuration, nodes_, n_words_);
  }
  bool keeps(Transition transition, const State& state, int layer) const {
    if constexpr (T::known_length)
      return T::keeps(transition, state.configuration, nodes_, gold_);
    else
      return static_cast<std::size_t>(layer) < plan_.size() && plan_[layer] == transition;
  }
  // What is known of a state after an action, but its configuration and its arcs. kept: by the transition.
  State judged(const State& from, const MadeArc& arc, std::int32_t label, bool kept) const {
    State to = from;
    to.right = to.right && kept;
    if (!arc.made()) return to;
    const bool right = gold_.is_right(arc.word, arc.head, label);
    to.arc_loss += gold_.cost(arc.word, arc.head, label, options_.costs);
    to.wrong += !right;
    to.right = to.right && right;
    return to;
  }

  Treebank treebank_;
  const ParserActions& actions_;
  ParsingOptions options_;
  ParserScorer<Table> scorer_;
  // The sentence that was turned to last.
  Weights weights_;
  std::int32_t n_words_ = 0;
  bool supervised_ = false, forced_ = false, tells_trees_ = false;
  double cost_ = 0;
  WordNodes nodes_;
  GoldTree gold_;
  std::vector<Transition> plan_;
  SparseVector collected_;
};

}  // namespace margent
