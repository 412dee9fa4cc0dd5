#include "meaning/meaning_reach.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "parallel.hpp"

namespace margent {
namespace {

// How often names are said: a stack says no name more often than the meaning has it, and the words that are left must
// be able to say what is missing. Four bits for each of the first 16 different names; others are not counted.
class NameBudget {
 public:
  NameBudget(const QuestionMoves& moves, const RightMeaning& right) : pieces_(moves.setup().questions.known) {
    for (const std::int32_t name : right.names) {
      const auto known = std::find(names_.begin(), names_.end(), name);
      if (known == names_.end() && names_.size() == 16) continue;
      const auto place = static_cast<std::size_t>(known - names_.begin());
      if (known == names_.end()) names_.push_back(name);
      limit_ = added(limit_, std::uint64_t{1} << 4 * place);
    }
    // What each word can say at most, as far as it is a part of the meaning, and all that come after it.
    const Questions& q = moves.setup().questions;
    const std::int64_t first = q.sequence_ptr[moves.question()];
    later_.assign(moves.n_words() + 1, 0);
    for (std::int32_t word = moves.n_words() - 1; word >= 0; --word) {
      std::uint64_t most = 0;
      for (std::int64_t c = q.choice_ptr[first + word]; c < q.choice_ptr[first + word + 1]; ++c)
        if (right.parts.find(piece_hash(q.pieces[c])) != 0) most = larger(most, said_by(q.pieces[c]));
      later_[word] = added(later_[word + 1], most);
    }
  }
  // What is said with one more piece.
  std::uint64_t with(std::uint64_t said, std::int32_t piece) const { return added(said, said_by(piece)); }
  // Whether it is not too much, and what is missing can still be said by the words from a position on.
  bool holds(std::uint64_t said, std::int32_t position) const {
    return covers(limit_, said) && covers(added(said, later_[position]), limit_);
  }

 private:
  static constexpr std::uint64_t guards = 0x8888888888888888ull;

  static bool covers(std::uint64_t all, std::uint64_t some) { return (((all | guards) - some) & guards) == guards; }
  // Numbers above 7 are 7.
  static std::uint64_t added(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t sum = a + b, over = sum & guards;
    return (sum & ~guards) | (over - (over >> 3));
  }
  static std::uint64_t larger(std::uint64_t a, std::uint64_t b) {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 64; shift += 4) out |= std::max(a >> shift & 15, b >> shift & 15) << shift;
    return out;
  }
  std::uint64_t said_by(std::int32_t piece) const {
    std::uint64_t out = 0;
    for (std::int64_t n = pieces_.name_ptr[piece]; n < pieces_.name_ptr[piece + 1]; ++n) {
      const auto known = std::find(names_.begin(), names_.end(), pieces_.names[n]);
      if (known != names_.end()) out = added(out, std::uint64_t{1} << 4 * (known - names_.begin()));
    }
    return out;
  }

  const Pieces& pieces_;
  std::vector<std::int32_t> names_;
  std::vector<std::uint64_t> later_;  // [position]
  std::uint64_t limit_ = 0;
};

// A step from a state to another one; -1 as the choice of a shift: it is not one.
struct ReachStep {
  std::int32_t from;
  QuestionMove move;
};

// All derivations of a meaning: the states that they go through, with the steps that lead to each.
struct Derivations {
  std::vector<QuestionState> states;
  std::vector<std::vector<ReachStep>> steps;
  std::vector<bool> good;  // the meaning is in reach of the state
  std::vector<std::int32_t> ends;

  std::uint64_t signature(std::size_t state) const { return QuestionMoves::signature(states[state]); }
};

Derivations all_derivations(QuestionMoves& moves, std::int64_t question, const RightMeaning& right,
                            const ReachOptions& options) {
  moves.turn_to(question, &right);
  const std::int32_t n_words = moves.n_words();
  Derivations out;
  std::vector<QuestionState>& states = out.states;
  states.emplace_back();
  std::vector<std::uint64_t> said(1);
  const NameBudget budget(moves, right);
  const auto after = [&](std::int32_t from, const QuestionMove& move) {
    return move.choice < 0 ? said[from] : budget.with(said[from], moves.setup().questions.pieces[move.choice]);
  };
  out.steps.resize(1);
  std::vector<std::vector<std::int32_t>> waiting(n_words + 1);
  std::unordered_map<std::uint64_t, std::int32_t> known{{QuestionMoves::signature(states[0]), 0}};
  std::vector<std::int64_t> n_states(n_words + 2);
  waiting[0].push_back(0);
  for (std::int32_t position = 0; position <= n_words; ++position) {
    for (std::size_t at = 0; at < waiting[position].size(); ++at) {
      check_interruption(256);
      const std::int32_t from = waiting[position][at];
      const QuestionState state = states[from];
      std::vector<QuestionMove> chosen;
      moves.each(state, [&](const QuestionMove& move, const MeaningNode* node, const QuestionState& next) {
        if (node && !node->is_part) return;
        if (move.action == MeaningAction::finish && moves.nodes()[state.top].hash != right.parts.whole()) return;
        const auto place = known.find(QuestionMoves::signature(next));
        if (place != known.end())
          out.steps[place->second].push_back({from, move});
        else if (budget.holds(after(from, move), next.position) &&
                 n_states[next.position + next.finished] < options.most_states)
          chosen.push_back(move);
      });
      for (const QuestionMove& move : chosen) {
        QuestionState next = moves.step(state, move);
        next.reduced = 0;  // how often was reduced is a limit of searches
        const auto [place, is_new] =
            known.try_emplace(QuestionMoves::signature(next), static_cast<std::int32_t>(states.size()));
        if (!is_new) {
          out.steps[place->second].push_back({from, move});
          continue;
        }
        ++n_states[next.position + next.finished];
        states.push_back(next);
        said.push_back(after(from, move));
        out.steps.push_back({{from, move}});
        if (next.finished)
          out.ends.push_back(place->second);
        else
          waiting[next.position].push_back(place->second);
      }
    }
  }
  out.good.resize(states.size());
  std::vector<std::int32_t> left = out.ends;
  for (const std::int32_t end : left) out.good[end] = true;
  while (!left.empty()) {
    const std::int32_t state = left.back();
    left.pop_back();
    for (const ReachStep& step : out.steps[state])
      if (!out.good[step.from]) {
        out.good[step.from] = true;
        left.push_back(step.from);
      }
  }
  return out;
}

double log_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -std::numeric_limits<double>::infinity() ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

std::vector<std::uint64_t> states_in_reach(QuestionMoves& moves, std::int64_t question, const RightMeaning& right,
                                           const ReachOptions& options) {
  const Derivations found = all_derivations(moves, question, right, options);
  std::vector<std::uint64_t> out;
  for (std::size_t s = 0; s < found.states.size(); ++s)
    if (found.good[s]) out.push_back(found.signature(s));
  std::sort(out.begin(), out.end());
  return out;
}

double expect_choices(QuestionMoves& moves, std::int64_t question, const RightMeaning& right,
                      const ReachOptions& options, const ChoiceCounts& counts) {
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  const Derivations found = all_derivations(moves, question, right, options);
  if (found.ends.empty()) return nothing;
  const std::int64_t first = moves.setup().questions.sequence_ptr[question];
  const auto chance = [&](const ReachStep& step) { return moves.prior(found.states[step.from], step.move); };
  // Words are read, and then expressions put together: what is left of a question, and of its stack, becomes less.
  std::vector<std::int32_t> order;
  for (std::size_t s = 0; s < found.states.size(); ++s)
    if (found.good[s]) order.push_back(static_cast<std::int32_t>(s));
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const QuestionState &x = found.states[a], &y = found.states[b];
    return std::tuple(x.finished, x.position, -x.depth) < std::tuple(y.finished, y.position, -y.depth);
  });
  std::vector<double> before(found.states.size(), nothing), behind(found.states.size(), nothing);
  before[0] = 0;
  for (const std::int32_t s : order)
    for (const ReachStep& step : found.steps[s])
      if (found.good[step.from]) before[s] = log_sum(before[s], before[step.from] + chance(step));
  double total = nothing;
  for (const std::int32_t end : found.ends) {
    total = log_sum(total, before[end]);
    behind[end] = 0;
  }
  if (total == nothing) return nothing;
  for (auto s = order.rbegin(); s != order.rend(); ++s)
    for (const ReachStep& step : found.steps[*s]) {
      if (!found.good[step.from]) continue;
      const double own = chance(step) + behind[*s];
      behind[step.from] = log_sum(behind[step.from], own);
      const double share = std::exp(before[step.from] + own - total);
      if (step.move.action == MeaningAction::shift) counts.chosen[step.move.choice] += share;
      if (step.move.action == MeaningAction::skip) counts.skipped[first + found.states[step.from].position] += share;
    }
  return total;
}

void find_reach(const QuestionSetup& setup, std::vector<RightMeaning>& right, const ReachOptions& options,
                int threads) {
  const std::int64_t n = setup.questions.size;
  std::vector<std::unique_ptr<QuestionMoves>> moves(workers(n, threads));
  parallel(n, threads, [&](std::size_t thread, std::int64_t question) {
    if (!moves[thread]) moves[thread] = std::make_unique<QuestionMoves>(setup);
    right[question].reach = states_in_reach(*moves[thread], question, right[question], options);
  });
}

std::vector<double> expect_choices(const QuestionSetup& setup, const std::vector<RightMeaning>& right,
                                   const ReachOptions& options, const ChoiceCounts& counts, int threads) {
  const std::int64_t n = setup.questions.size;
  std::vector<double> totals(n);
  std::vector<std::unique_ptr<QuestionMoves>> moves(workers(n, threads));
  parallel(n, threads, [&](std::size_t thread, std::int64_t question) {
    if (!moves[thread]) moves[thread] = std::make_unique<QuestionMoves>(setup);
    totals[question] = expect_choices(*moves[thread], question, right[question], options, counts);
  });
  return totals;
}

}  // namespace margent
