// Greedy learning with a dynamic oracle and exploration (Goldberg and Nivre 2012, Algorithm 3; 2013, Section 3).
//
// A dynamic oracle says of each action in any configuration, also one that mistakes led to, how many right arcs it puts
// out of reach. Learned are the decisions where the best action costs more than another one; the parser goes on with
// its own choice most of the time, so that it sees in training what it will meet.
//
// Differs: the decisions of a sentence are one answer, all by the weights at its beginning, so that every rule can
// learn from them: gold has the cheapest actions, the rival those that were chosen instead. The loss is what they cost.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "learning/row_oracle.hpp"
#include "parsing/parsing_oracle.hpp"
#include "random.hpp"

namespace margent {

template <class T>
class ExploringOracle final : public DecisionOracle {
 public:
  ExploringOracle(const ParsingSetup& setup, const Exploration& exploration)
      : DecisionOracle(setup.actions->size()), setup_(setup), exploration_(exploration), random_(exploration.seed),
        scorer_(*setup.templates) {}

  std::int64_t size() const override { return setup_.treebank.size; }

  void ask(std::int64_t example, const Question& question, Reply& answer) override {
    const Treebank& treebank = setup_.treebank;
    const std::int32_t n = treebank.n_words(example);
    gold_.set(treebank, example);
    nodes_.clear();
    delta_.clear();
    scorer_.begin(treebank.atoms_of(example), treebank.n_atoms, n, rows());
    answer.rivals.clear();
    answer.n_positions = 2 * n;
    answer.weight = treebank.weights ? treebank.weights[example] : 1;
    answer.gold_score = 0;
    Rival rival;
    const bool explores = n_asked_++ >= size();  // in the first epoch the parser's own choices mean nothing
    for (Configuration c; c.depth > 0 || !c.buffer_empty(n);) {
      scorer_.score(1, nodes_, [&c](std::size_t) { return c; });
      list(c, n, question.cost);
      const Choice& chosen = choices_[best_];
      const Choice& right = choices_[cheapest_];
      std::int32_t next = right.action;
      if (chosen.cost > right.cost) {
        const double loss = chosen.cost - right.cost;
        rival.score += chosen.score;
        rival.loss += loss;
        rival.errors += 1;
        answer.gold_score += right.score;
        collect(c, right.action, 1);
        collect(c, chosen.action, -1);
        if (explores && random_.uniform() < exploration_.probability) next = chosen.action;
      } else {
        next = chosen.action;
      }
      const auto [transition, label] = (*setup_.actions)[next];
      c = T::apply(transition, label, c, nodes_);
    }
    normalize(delta_);
    answer.rivals.push_back(rival);
  }
  void delta(std::size_t, SparseVector& out) const override { out = delta_; }

 private:
  struct Choice {
    std::int32_t action;
    double score;
    float cost;
  };

  // The legal actions with what they score and cost; the best, and the best of the cheapest.
  void list(const Configuration& c, std::int32_t n_words, double cost_weight) {
    choices_.clear();
    const float* scores = scorer_.scores(0);
    const double scale = clock().scale;
    for (const Transition transition : T::transitions) {
      if (!T::legal(transition, c, nodes_, n_words)) continue;
      const auto lost = static_cast<float>(T::cost(transition, c, nodes_, gold_));
      const MadeArc arc = T::arc(transition, c, nodes_);
      const bool right_head = arc.made() && gold_.may_hang(arc.word, arc.head);
      for (const std::int32_t action : setup_.actions->of(transition)) {
        // A wrong head is counted where it puts the right one out of reach, a wrong label here.
        const float label_cost =
            right_head ? gold_.cost(arc.word, arc.head, (*setup_.actions)[action].label, setup_.options.costs) : 0;
        choices_.push_back({action, scale * scores[action], lost + label_cost});
      }
    }
    float least = std::numeric_limits<float>::infinity();
    for (const Choice& choice : choices_) least = std::min(least, choice.cost);
    best_ = cheapest_ = choices_.size();
    const auto value = [&](const Choice& choice) { return choice.score + cost_weight * choice.cost; };
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (best_ == choices_.size() || value(choices_[i]) > value(choices_[best_])) best_ = i;
      if (choices_[i].cost != least) continue;
      if (cheapest_ == choices_.size() || choices_[i].score > choices_[cheapest_].score) cheapest_ = i;
    }
  }
  void collect(const Configuration& c, std::int32_t action, double amount) {
    scorer_.features(c, nodes_, [&](std::size_t, std::uint64_t key) {
      delta_.push_back({row_of(key) * rows().n_columns() + action, amount});
    });
  }

  ParsingSetup setup_;
  Exploration exploration_;
  Random random_;
  ParserScorer<HashedRows> scorer_;
  std::int64_t n_asked_ = 0;
  // The last answer.
  WordNodes nodes_;
  GoldTree gold_;
  std::vector<Choice> choices_;
  std::size_t best_ = 0, cheapest_ = 0;
  SparseVector delta_;
};

}  // namespace margent
