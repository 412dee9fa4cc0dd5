// What a learner may see of a problem: the oracle answers, the rule moves the weights, the epoch runs through examples.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "interruption.hpp"
#include "learning/clock.hpp"
#include "learning/likelihood.hpp"

namespace margent {

// A sparse vector in the space of all weights: (index, value), sorted by index, each index once.
using SparseVector = std::vector<std::pair<std::int64_t, double>>;

// Makes a sparse vector of entries in any order: sorted, equal indices summed, zeros left out.
inline void normalize(SparseVector& vector) {
  std::sort(vector.begin(), vector.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < vector.size();) {
    std::pair<std::int64_t, double> sum = vector[i];
    for (++i; i < vector.size() && vector[i].first == sum.first; ++i) sum.second += vector[i].second;
    if (sum.second != 0) vector[kept++] = sum;
  }
  vector.resize(kept);
}

// out = x a + y b, zeros left out; out must be neither.
inline void combine(double x, const SparseVector& a, double y, const SparseVector& b, SparseVector& out) {
  out.clear();
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const bool left = j == b.size() || (i < a.size() && a[i].first <= b[j].first);
    const bool right = i == a.size() || (j < b.size() && b[j].first <= a[i].first);
    const std::int64_t index = left ? a[i].first : b[j].first;
    const double value = (left ? x * a[i++].second : 0) + (right ? y * b[j++].second : 0);
    if (value != 0) out.push_back({index, value});
  }
}

// The inner product.
inline double dot(const SparseVector& a, const SparseVector& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].first == b[j].first)
      sum += a[i++].second * b[j++].second;
    else if (a[i].first < b[j].first)
      ++i;
    else
      ++j;
  }
  return sum;
}

// A sum of sparse vectors, with room for little more than the entries that are not zero.
class SparseSum {
 public:
  void add(const SparseVector& vector, double step) {
    for (const auto& [index, value] : vector) entries_.push_back({index, step * value});
    if (entries_.size() < 2 * normalized_ + 65536) return;
    normalize(entries_);
    normalized_ = entries_.size();
  }
  const SparseVector& vector() {
    normalize(entries_);
    return entries_;
  }

 private:
  SparseVector entries_;
  std::size_t normalized_ = 0;
};

struct Question {
  int k = 1;                   // how many rivals
  double cost = 0;             // search for the largest score + cost * loss
  bool stop_if_right = false;  // if the best answer has no errors, the others need not be found
};

// One wrong answer with delta = F(gold) - F(rival).
struct Rival {
  double score = 0;         // w . F(rival), without costs
  double loss = 0;          // what it costs to answer this instead of gold
  std::int64_t errors = 0;  // at how many positions it is wrong
};

struct Reply {
  double gold_score = 0;         // w . F(gold); gold is the best completion where labels are missing
  double weight = 1;             // of this example
  std::int64_t n_positions = 0;  // that could be wrong
  std::vector<Rival> rivals;     // best first; empty when there is none
};

// What the best answer is short of its margin, times the weight of the example. For questions with a cost of 1.
inline double hinge_loss(const Reply& answer) {
  if (answer.rivals.empty() || answer.rivals.front().errors == 0) return 0;
  const Rival& best = answer.rivals.front();
  return answer.weight * std::max(0.0, best.loss - (answer.gold_score - best.score));
}

// A structure, its data and its weights. The answer to the last question can be moved along.
class Oracle {
 public:
  virtual ~Oracle() = default;
  virtual std::int64_t size() const = 0;
  virtual void ask(std::int64_t example, const Question& question, Reply& answer) = 0;
  // delta of rival j of the last answer.
  virtual void delta(std::size_t rival, SparseVector& out) const = 0;
  // The inner product of two vectors in the space of all weights.
  virtual double inner(const SparseVector& a, const SparseVector& b) const { return margent::dot(a, b); }
  // The inner product of the deltas of rivals i and j of the last answer.
  virtual double dot(std::size_t i, std::size_t j) const {
    SparseVector a, b;
    delta(i, a);
    delta(j, b);
    return inner(a, b);
  }
  // Rival j of the last answer, where it is a sequence of labels; otherwise nothing.
  virtual std::span<const std::int32_t> labels(std::size_t) const { return {}; }
  // w . vector.
  virtual double score(const SparseVector& vector) const = 0;
  // w += step * vector.
  virtual void add(const SparseVector& vector, double step) = 0;
  // w += step * delta of rival j of the last answer.
  virtual void move(std::size_t rival, double step) {
    SparseVector vector;
    delta(rival, vector);
    add(vector, step);
  }
  // Says which examples will be asked for, in this order. An oracle of minibatches answers as many of them at once as
  // a batch has, all under the weights as they are at the first; so the weights move only between batches.
  virtual void plan(const std::int64_t* /*examples*/, std::int64_t /*n*/) {}
  // Says which example will be asked for after the next: time to fetch what it needs.
  virtual void prefetch(std::int64_t) {}
  // w *= factor, which is above 0. Costs next to nothing.
  virtual void scale(double factor) = 0;
  // |w|^2. Costs as much as there are weights.
  virtual double squared_norm() const = 0;
  // The weights as they are count in their average as much as `weight` says.
  virtual void tick(double weight = 1) = 0;
  // The likelihood of its examples as a function of its weights; null where it cannot sum over these answers. It must
  // not outlive the oracle.
  virtual std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions&, int /*threads*/) { return nullptr; }
};

struct Outcome {
  double loss = 0;
  std::int64_t errors = 0, n_positions = 0, wrong_examples = 0, updates = 0;
  std::optional<double> objective;  // of the dual, after the last example, where a rule knows it
};

// What a rule reports of the answer to its question.
inline void note(const Reply& answer, double loss, Outcome& outcome) {
  outcome.n_positions += answer.n_positions;
  outcome.loss += loss;
  if (answer.rivals.empty()) return;
  outcome.errors += answer.rivals.front().errors;
  outcome.wrong_examples += answer.rivals.front().errors > 0;
}

// A wrong answer that holds up the margin of an example, and its dual variable.
struct SupportSequence {
  std::int64_t example;
  double value;
  std::vector<std::int32_t> labels;
};

// How one example moves the weights. A learner is a rule.
class Rule {
 public:
  virtual ~Rule() = default;
  virtual void learn(Oracle& oracle, std::int64_t example, Outcome& outcome) = 0;
  // How much the weights after the last example count in the average.
  virtual double weight() const { return 1; }
  // 1/2 |w|^2 as the problem that this rule solves has it, where it solves one.
  virtual std::optional<double> penalty(const Oracle&) const { return std::nullopt; }
  // The hinge losses of examples, weighted and summed, at the weights as they are: a search for each.
  virtual double losses(Oracle& oracle, const std::int64_t* examples, std::int64_t n) {
    double sum = 0;
    Reply answer;
    for (std::int64_t i = 0; i < n; ++i) {
      check_interruption(1 << 10);
      if (i + 1 < n) oracle.prefetch(examples[i + 1]);
      oracle.ask(examples[i], {1, 1}, answer);
      sum += hinge_loss(answer);
    }
    return sum;
  }
  // What the weights are made of, by examples, where the rule keeps it.
  virtual std::vector<SupportSequence> support() const { return {}; }
};

// Runs a rule over examples in the given order.
inline Outcome run_epoch(Oracle& oracle, Rule& rule, const std::int64_t* examples, std::int64_t n) {
  Outcome outcome;
  oracle.plan(examples, n);
  for (std::int64_t i = 0; i < n; ++i) {
    check_interruption(1 << 10);
    if (i + 1 < n) oracle.prefetch(examples[i + 1]);
    rule.learn(oracle, examples[i], outcome);
    oracle.tick(rule.weight());
  }
  return outcome;
}

}  // namespace margent
