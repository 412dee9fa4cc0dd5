// Understanding questions as a transition system for beam search: a model of the concepts in transitions/system.hpp.
//
// A state is a stack of expressions and the words that are not read yet (paper 003, Section 5.1.1). Words are skipped,
// or shift a piece of meaning onto the stack; the two expressions on top are reduced to one where types allow it. The
// layers are, for each number of words read, one for each number of reductions since the last word was read: states
// compete with those that have read as much.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "learning/hashed_rows.hpp"
#include "learning/oracle.hpp"
#include "meaning/question_templates.hpp"
#include "transitions/beam_search.hpp"

namespace margent {

// What is right of a question: the parts of its meaning, and the states from which the meaning is in reach
// (meaning_reach.hpp), by their signatures, sorted.
struct RightMeaning {
  PartHashes parts;
  std::vector<std::int32_t> names;  // in the meaning, as often as they are in it
  std::vector<std::uint64_t> reach;

  bool holds(std::uint64_t signature) const { return std::binary_search(reach.begin(), reach.end(), signature); }
};

// What all searches of a kind share. `most_expressions`: so many may wait on the stack.
struct QuestionSetup {
  Questions questions;
  TypeTables types;
  const QuestionTemplates* templates = nullptr;
  std::int32_t most_expressions = 5;
  const std::vector<RightMeaning>* right = nullptr;  // in training
  bool follows_answer = false;                       // see transitions/beam_comparison.hpp
};

struct QuestionMove {
  MeaningAction action = MeaningAction::skip;
  std::int32_t choice = -1;  // which piece, for a shift
};

struct QuestionState {
  std::int32_t top = MeaningNode::none;
  std::int32_t position = 0;  // words read
  std::int32_t depth = 0;     // expressions on the stack
  std::int32_t reduced = 0;   // since the last word was read
  std::int32_t n_pieces = 0;
  bool finished = false;
  bool right = true;
  std::uint64_t stack = 0;
};

// Where actions lead, without scores.
class QuestionMoves {
 public:
  explicit QuestionMoves(const QuestionSetup& setup) : setup_(setup) {}

  void turn_to(std::int64_t question, const RightMeaning* right) {
    question_ = question;
    first_word_ = setup_.questions.sequence_ptr[question];
    n_words_ = setup_.questions.n_words(question);
    right_ = right;
    nodes_.clear();
  }
  const QuestionSetup& setup() const { return setup_; }
  const MeaningNodes& nodes() const { return nodes_; }
  std::int64_t question() const { return question_; }
  std::int32_t n_words() const { return n_words_; }
  const RightMeaning* right() const { return right_; }

  // Calls visit(move, node, next): what can be done in a state, and the state that it leads to but for its top, which
  // is `node` where that is not null and otherwise what it was.
  template <class Visit>
  void each(const QuestionState& state, Visit visit) const {
    if (state.finished) return;
    QuestionState next = state;
    if (state.position < n_words_) {
      next.reduced = 0;
      next.position = state.position + 1;
      visit(QuestionMove{MeaningAction::skip, -1}, nullptr, next);
      if (state.depth < setup_.most_expressions) each_shift(state, visit);
    } else if (state.depth == 1 && setup_.types.answers[nodes_[state.top].type]) {
      next.finished = true;
      visit(QuestionMove{MeaningAction::finish, -1}, nullptr, next);
    }
    if (state.depth < 2 || state.reduced + 1 >= setup_.most_expressions) return;
    for (const MeaningAction action :
         {MeaningAction::forward, MeaningAction::backward, MeaningAction::both, MeaningAction::either}) {
      auto node = nodes_.reduced(action, state.top, setup_.types);
      if (!node) continue;
      next = state;
      complete(*node, next);
      --next.depth;
      ++next.reduced;
      visit(QuestionMove{action, -1}, &*node, next);
    }
  }
  // The state that a move leads to; its top is made.
  QuestionState step(const QuestionState& from, const QuestionMove& move) {
    QuestionState next = from;
    switch (move.action) {
      case MeaningAction::skip:
        next.reduced = 0;
        ++next.position;
        return next;
      case MeaningAction::finish:
        next.finished = true;
        return next;
      case MeaningAction::shift: {
        MeaningNode node = shifted(from, move.choice);
        shift(node, move.choice, next);
        next.top = nodes_.add(node);
        return next;
      }
      default: {
        MeaningNode node = *nodes_.reduced(move.action, from.top, setup_.types);
        complete(node, next);
        --next.depth;
        ++next.reduced;
        next.top = nodes_.add(node);
        return next;
      }
    }
  }
  // What a move scores before anything is learned.
  double prior(const QuestionState& from, const QuestionMove& move) const {
    if (move.choice >= 0) return setup_.questions.priors[move.choice];
    return move.action == MeaningAction::skip ? setup_.questions.skips[first_word_ + from.position] : 0;
  }
  // Equal for states with the same future.
  static std::uint64_t signature(const QuestionState& state) {
    return mix(state.stack * 0x9E3779B97F4A7C15ull + 2 * static_cast<std::uint64_t>(state.position) +
               static_cast<std::uint64_t>(state.finished));
  }
  // The choice of a shift as features see it.
  ActionAtoms atoms(const QuestionMove& move, const MeaningNode* node) const {
    ActionAtoms out;
    out.kind = move.action;
    if (node) out.type = node->type;
    if (move.action != MeaningAction::shift) return out;
    const Questions& q = setup_.questions;
    const std::int32_t* atoms = q.known.atoms + static_cast<std::int64_t>(q.pieces[move.choice]) * Pieces::n_atoms;
    out.piece = atoms[0];
    out.tmpl = atoms[1];
    out.name = atoms[2];
    out.second_name = atoms[3];
    out.constant = atoms[4];
    out.evidence = q.evidence[move.choice];
    out.length = q.lengths[move.choice];
    return out;
  }

 private:
  template <class Visit>
  void each_shift(const QuestionState& state, Visit visit) const {
    const Questions& q = setup_.questions;
    const std::int64_t word = first_word_ + state.position;
    for (std::int64_t choice = q.choice_ptr[word]; choice < q.choice_ptr[word + 1]; ++choice) {
      MeaningNode node = shifted(state, static_cast<std::int32_t>(choice));
      QuestionState next = state;
      shift(node, static_cast<std::int32_t>(choice), next);
      visit(QuestionMove{MeaningAction::shift, static_cast<std::int32_t>(choice)}, &node, next);
    }
  }
  MeaningNode shifted(const QuestionState& state, std::int32_t choice) const {
    const Questions& q = setup_.questions;
    return nodes_.shifted(q.known, q.pieces[choice], state.position, q.lengths[choice], state.top);
  }
  void shift(MeaningNode& node, std::int32_t choice, QuestionState& next) const {
    complete(node, next);
    next.position += setup_.questions.lengths[choice];
    next.reduced = 0;
    ++next.depth;
    ++next.n_pieces;
  }
  // Of two ways to make a part of the right meaning, both are that part.
  void complete(MeaningNode& node, QuestionState& next) const {
    if (right_) {
      if (const std::uint64_t number = right_->parts.find(node.hash)) {
        node.hash = number;
        node.is_part = true;
        if (node.connective == Connective::none) {
          const PartHashes::Union whole = right_->parts.union_of(number);
          node.connective = whole.connective;
          node.members = whole.members;
        }
      }
    }
    node.stack = nodes_.stack_with(node);
    next.stack = node.stack;
  }

  QuestionSetup setup_;
  std::int64_t question_ = 0, first_word_ = 0;
  std::int32_t n_words_ = 0;
  const RightMeaning* right_ = nullptr;
  MeaningNodes nodes_;
};

// Table: where weights lie.
template <class Table>
class QuestionSystem {
 public:
  static constexpr bool synchronous = false;
  static constexpr Recombination recombination = Recombination::states;
  using Weights = TableWeights<Table>;
  using Move = QuestionMove;
  using State = QuestionState;
  using Item = BeamItem<QuestionSystem>;

  explicit QuestionSystem(const QuestionSetup& setup)
      : moves_(setup), templates_(*setup.templates), values_(templates_.n_terms()), begun_(templates_.size()) {}

  const QuestionMoves& moves() const { return moves_; }
  const QuestionTemplates& templates() const { return templates_; }

  // A question whose meaning nobody knows.
  void turn_to(std::int64_t question, const Weights& weights) {
    moves_.turn_to(question, nullptr);
    begin();
    weights_ = weights;
    forced_ = false;
    cost_ = 0;
  }
  // One whose meaning is known; what is wrong scores `cost` more.
  void turn_to(std::int64_t question, const Weights& weights, double cost) {
    moves_.turn_to(question, &(*moves_.setup().right)[question]);
    begin();
    weights_ = weights;
    forced_ = false;
    cost_ = cost;
  }
  void force(bool forced) { forced_ = forced; }

  int n_layers() const { return rounds() * (moves_.n_words() + 1) + 1; }
  bool is_compared(int layer) const { return layer % rounds() == 0; }
  template <class Add>
  void start(Add add) {
    State state;
    state.right = reaches(state);
    if (!forced_ || state.right) add(0.0, state);
  }
  template <class Propose>
  void expand(int, std::span<const Item> items, Propose& propose) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const State& state = items[i].state;
      see(state);
      lookups_.clear();
      actions_.clear();
      moves_.each(state, [&](const Move& move, const MeaningNode* node, const State& next) {
        const bool judged = forced_ || cost_ != 0;
        const bool right = !judged || (state.right && reaches(next));
        if (forced_ && !right) return;
        templates_.see(moves_.atoms(move, node), values_.data());
        for (std::size_t t = 0; t < templates_.size(move.action); ++t)
          if (const std::uint64_t key = templates_.key(t, begun_[t], values_.data())) {
            weights_.table->prefetch(key);
            lookups_.push_back({key, static_cast<std::int32_t>(actions_.size())});
          }
        double score = items[i].score;
        score += moves_.prior(state, move);
        if (state.right && !right) score += cost_;
        actions_.push_back({move, layer_of(next), score});
      });
      sums_.assign(actions_.size(), 0.0f);
      std::size_t found = 0;
      for (const auto& [key, action] : lookups_) {
        const std::int32_t row = weights_.table->find(key);
        if (row != Table::missing) rows_of(found++) = {row, action};
      }
      for (std::size_t r = 0; r < found; ++r) weights_.table->add(rows_[r].first, &sums_[rows_[r].second]);
      for (std::size_t a = 0; a < actions_.size(); ++a)
        propose(actions_[a].layer, i, actions_[a].score + weights_.scale * sums_[a], actions_[a].move);
    }
  }
  State step(int, const State& from, const Move& move) {
    State next = moves_.step(from, move);
    next.right = from.right && reaches(next);
    return next;
  }
  std::uint64_t signature(const State& state) const { return QuestionMoves::signature(state); }

  std::int64_t size() const { return moves_.setup().questions.size; }
  double weight(std::int64_t example) const {
    const double* weights = moves_.setup().questions.weights;
    return weights ? weights[example] : 1;
  }
  bool follows_answer() const { return moves_.setup().follows_answer; }
  bool right(const State& state) const { return state.right; }
  double loss(const State& state) const { return state.right ? 0 : 1; }
  std::int64_t errors(std::span<const Item* const>, std::span<const Item* const>) const { return 1; }
  std::int64_t n_positions(const State&) const { return 1; }
  bool same_action(const Move& a, const Move& b) const { return a.action == b.action && a.choice == b.choice; }
  std::int64_t action_id(const Move& move) const {
    return (static_cast<std::int64_t>(move.choice) + 1) * 8 + static_cast<std::int64_t>(move.action);
  }
  std::uint64_t answer_key(const State& state) const { return QuestionMoves::signature(state); }
  void collect(const ActionInState<QuestionSystem>& part, double amount)
    requires requires(Table& table) { table.row(std::uint64_t{}); }
  {
    features(part.state, part.move, [&](std::size_t, std::uint64_t key) {
      collected_.push_back({static_cast<std::int64_t>(weights_.table->row(key)), amount});
    });
  }
  void hand_over(SparseVector& out) {
    out.insert(out.end(), collected_.begin(), collected_.end());
    collected_.clear();
  }
  // Calls visit(template, key) for the features of an action; `values()` then has what their terms see.
  template <class Visit>
  void features(const State& state, const Move& move, Visit visit) {
    see(state);
    moves_.each(state, [&](const Move& other, const MeaningNode* node, const State&) {
      if (!same_action(move, other)) return;
      templates_.see(moves_.atoms(move, node), values_.data());
      for (std::size_t t = 0; t < templates_.size(move.action); ++t)
        if (const std::uint64_t key = templates_.key(t, begun_[t], values_.data())) visit(templates_.number(t), key);
    });
  }
  std::span<const std::uint64_t> values() const { return values_; }

 private:
  struct Action {
    Move move;
    int layer;
    double score;
  };

  // The strongest reason that each word has for a choice: reasons are numbered from strong to weak, eight of a kind.
  // And what it most likely says: the piece, or the type of the constant; nothing if it is more likely skipped.
  void begin() {
    const Questions& q = moves_.setup().questions;
    const std::int64_t first = q.sequence_ptr[moves_.question()];
    const std::int32_t n_words = moves_.n_words();
    outlook_.reasons.assign(n_words, 0);
    outlook_.said.assign(n_words, 0);
    outlook_.next.assign(n_words + 1, n_words);
    for (std::int32_t word = n_words - 1; word >= 0; --word) {
      float best = q.skips[first + word];
      for (std::int64_t c = q.choice_ptr[first + word]; c < q.choice_ptr[first + word + 1]; ++c) {
        const std::int32_t strength = 8 - q.evidence[c] % 8 + (q.evidence[c] / 8 == 1 ? 8 : 0);
        outlook_.reasons[word] = std::max(outlook_.reasons[word], strength);
        if (q.priors[c] <= best) continue;
        best = q.priors[c];
        const std::int32_t* atoms = q.known.atoms + static_cast<std::int64_t>(q.pieces[c]) * Pieces::n_atoms;
        const std::int32_t said = atoms[4] ? 2 * q.known.types[q.pieces[c]] + 1 : 2 * atoms[0];
        outlook_.said[word] = static_cast<std::uint64_t>(said) + 2;
      }
      outlook_.next[word] = outlook_.said[word] ? word : outlook_.next[word + 1];
    }
  }
  // States have had 0, ..., rounds - 1 reductions since the last word.
  int rounds() const { return moves_.setup().most_expressions; }
  int layer_of(const State& state) const {
    return state.finished ? n_layers() - 1 : state.position * rounds() + state.reduced;
  }
  bool reaches(const State& state) const {
    return moves_.right() && moves_.right()->holds(QuestionMoves::signature(state));
  }
  void see(const State& state) {
    const Questions& q = moves_.setup().questions;
    templates_.see(moves_.nodes(), state.top, state.depth, state.position, moves_.n_words(),
                   q.atoms_of(moves_.question()), q.n_atoms, outlook_, values_.data());
    templates_.begin(values_.data(), begun_.data());
  }
  std::pair<std::int32_t, std::int32_t>& rows_of(std::size_t place) {
    if (place >= rows_.size()) rows_.resize(2 * place + 64);
    return rows_[place];
  }

  QuestionMoves moves_;
  const QuestionTemplates& templates_;
  Weights weights_;
  bool forced_ = false;
  double cost_ = 0;
  QuestionOutlook outlook_;
  std::vector<std::uint64_t> values_, begun_;
  std::vector<std::pair<std::uint64_t, std::int32_t>> lookups_;
  std::vector<std::pair<std::int32_t, std::int32_t>> rows_;
  std::vector<Action> actions_;
  std::vector<float> sums_;
  SparseVector collected_;
};

}  // namespace margent
