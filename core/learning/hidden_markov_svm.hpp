// The hidden Markov support vector machine (Altun, Tsochantaridis and Hofmann 2003: paper 001, sections 4 to 7).
#pragma once
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "learning/working_set.hpp"

namespace margent {

enum class Slack { none, linear, quadratic };

struct HiddenMarkovSettings {
  double C = 1;
  Slack slack = Slack::linear;
  bool hamming = false;  // the margin is the number of wrong labels; otherwise 1 for every wrong sequence
  double tol = 1e-3;
  int rounds = 10;  // searches for one example in an epoch
};

// min 1/2 |w|^2 + C sum xi_n (22), or + C/2 sum xi_n^2 (18), or without slack (13),
// s.t. F(gold_n) - F(y) >= margin(y) - xi_n for every wrong y (14),
// by its dual, one example at a time: the worst wrong sequence is found by a search for the two best, joins the working
// set of the example, whose variables are then optimised, until no other violates its margin (algorithm 2). The dual
// objective rises with each sequence that joins (proposition 2). Sequences whose variable is zero leave.
//
// Differs: what the example has is optimised before the first search too, for others have moved the weights since.
class HiddenMarkovRule final : public Rule {
 public:
  explicit HiddenMarkovRule(const HiddenMarkovSettings& settings) : settings_(settings), limits_{settings.tol} {}

  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    WorkingSet* known = sets_.find(example);
    bool moved = known && optimize(oracle, *known);
    for (int round = 0; round < settings_.rounds; ++round) {
      const Wrong worst = find_worst(oracle, example);
      if (round == 0) note(answer_, answer_.weight * std::max(0.0, worst.hinge), outcome);
      if (worst.hinge <= settings_.tol || answer_.weight <= 0) break;
      check_separable(oracle, example, worst.rival);
      WorkingSet& set = set_of(example);
      if (worst.hinge <= set.slack(oracle) + settings_.tol || !set.extend(oracle, worst.rival, worst.margin, true))
        break;
      moved |= optimize(oracle, set);
    }
    outcome.updates += moved;
    outcome.objective = objective_;
  }

  std::optional<double> penalty(const Oracle& oracle) const override { return sets_.penalty(oracle); }
  std::vector<SupportSequence> support() const override { return sets_.support(); }

  // The slack that the margins need, as the primal objective counts it.
  double losses(Oracle& oracle, const std::int64_t* examples, std::int64_t n) override {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double hinge = std::max(0.0, find_worst(oracle, examples[i]).hinge);
      sum += answer_.weight * (settings_.slack == Slack::quadratic ? hinge * hinge / 2 : hinge);
    }
    return sum;
  }

 private:
  struct Wrong {
    std::size_t rival = 0;
    double margin = 0, hinge = -std::numeric_limits<double>::infinity();
  };

  // Into answer_. One of the two best is wrong, unless labels are missing: then several may count as right.
  Wrong find_worst(Oracle& oracle, std::int64_t example) {
    constexpr int most = 64;
    const double cost = settings_.hamming ? 1 : 0;
    for (int k = 2;; k *= 2) {
      oracle.ask(example, {k, cost}, answer_);
      Wrong worst;
      for (std::size_t j = 0; j < answer_.rivals.size(); ++j) {
        const Rival& rival = answer_.rivals[j];
        if (rival.errors == 0) continue;
        const double margin = settings_.hamming ? rival.loss : rival.loss / static_cast<double>(rival.errors);
        const double hinge = margin - (answer_.gold_score - rival.score);
        if (hinge > worst.hinge) worst = {j, margin, hinge};
      }
      if (worst.margin > 0 || static_cast<int>(answer_.rivals.size()) < k || k == most) return worst;
    }
  }

  // Without slack nothing would limit the variable of a rival that no weights can tell from gold.
  void check_separable(const Oracle& oracle, std::int64_t example, std::size_t rival) const {
    if (settings_.slack == Slack::none && !(oracle.dot(rival, rival) > 0))
      throw std::invalid_argument("sentence " + std::to_string(example) +
                                  ": a wrong labelling has the same features as the "
                                  "right one, so that no weights can tell them apart; expected data that can be "
                                  "separated, or slack (l1 or l2)");
  }

  WorkingSet& set_of(std::int64_t example) {
    const double C = settings_.C * answer_.weight;
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    return sets_.of(example, settings_.slack == Slack::linear ? C : unlimited,
                    settings_.slack == Slack::quadratic ? 1 / C : 0);
  }

  bool optimize(Oracle& oracle, WorkingSet& set) {
    const double gained = set.optimize(oracle, limits_);
    objective_ += gained;
    return gained > 0;
  }

  HiddenMarkovSettings settings_;
  SmoLimits limits_;
  Reply answer_;
  WorkingSets sets_;
  double objective_ = 0;
};

// The perceptron in its dual form (algorithm 1): each wrong answer adds to the variable of the sequence that was given
// instead of gold. The weights move as those of the perceptron do, through delta and beta of equations (9) to (11); the
// variables are kept to be seen.
class DualPerceptronRule final : public Rule {
 public:
  void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) override {
    oracle.ask(example, {1, 0}, answer_);
    note(answer_, answer_.rivals.empty() ? 0 : answer_.weight * answer_.rivals.front().loss, outcome);
    if (answer_.rivals.empty() || answer_.rivals.front().errors == 0) return;
    const Rival& rival = answer_.rivals.front();
    const double step = answer_.weight * rival.loss / static_cast<double>(rival.errors);
    if (step == 0) return;
    oracle.move(0, step);
    outcome.updates += 1;
    if (variables_.empty()) variables_.resize(static_cast<std::size_t>(oracle.size()));
    const std::span<const std::int32_t> labels = oracle.labels(0);
    std::vector<SupportSequence>& own = variables_[example];
    const auto same = [&](const SupportSequence& s) { return std::ranges::equal(s.labels, labels); };
    const auto there = std::find_if(own.begin(), own.end(), same);
    if (there == own.end())
      own.push_back({example, step, {labels.begin(), labels.end()}});
    else
      there->value += step;
  }

  std::vector<SupportSequence> support() const override {
    std::vector<SupportSequence> out;
    for (const std::vector<SupportSequence>& own : variables_) out.insert(out.end(), own.begin(), own.end());
    return out;
  }

 private:
  Reply answer_;
  std::vector<std::vector<SupportSequence>> variables_;  // by examples
};

}  // namespace margent
