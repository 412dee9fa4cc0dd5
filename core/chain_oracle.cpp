#include "chain_oracle.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace margent {

TransitionWeights::TransitionWeights(const ChainShape& shape, bool with_bound)
    : shape_(shape), with_bound_(with_bound) {
  std::int64_t histories = 1;
  for (int level = 0; level < shape.order; ++level) {
    end_weights.emplace_back(histories * shape.width);
    histories *= shape.base;
    weights.emplace_back(histories * shape.width);
  }
  sums = weights;
  end_sums = end_weights;
  total.grow(shape.histories * shape.width);
  end.grow(shape.states());
  if (shape.order == 1) transposed.grow(shape.n_labels * shape.width);
  if (with_bound) bound.grow(shape.width);
  fold();
}

void TransitionWeights::fold() {
  const ChainShape& s = shape_;
  const auto sum_levels = [](std::vector<std::vector<float>>& levels, Buffer<float>& out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = 0;
      for (const std::vector<float>& level : levels) out[i] += level[i % level.size()];
    }
  };
  sum_levels(weights, total);
  sum_levels(end_weights, end);
  if (s.order == 1) transpose_transitions(total.data(), s.n_labels, s.width, transposed.data());
  if (with_bound_) bound_transitions(total.data(), s.n_labels, s.width, bound.data());
}

void TransitionWeights::add(const std::int32_t* labels, int length, int position, float step, float clock) {
  const ChainShape& s = shape_;
  const auto label_at = [&](int t) -> std::int64_t { return t < 0 ? s.n_labels : labels[t]; };
  if (position == length) {
    const int y = labels[length - 1];
    std::int64_t context = 0, size = 1;
    for (int level = 0; level < s.order; ++level) {
      const std::int64_t i = context * s.width + y;
      end_weights[level][i] += step;
      end_sums[level][i] += clock * step;
      for (std::int64_t c = context; c < s.contexts; c += size) end[c * s.width + y] += step;
      context += label_at(length - 2 - level) * size;
      size *= s.base;
    }
    return;
  }
  const int y = labels[position];
  std::int64_t history = 0, size = 1;
  for (int level = 0; level < s.order; ++level) {
    history += label_at(position - 1 - level) * size;
    size *= s.base;
    const std::int64_t i = history * s.width + y;
    weights[level][i] += step;
    sums[level][i] += clock * step;
    for (std::int64_t h = history; h < s.histories; h += size) total[h * s.width + y] += step;
  }
  if (s.order == 1 && position > 0) {
    transposed[y * s.width + labels[position - 1]] = total[history * s.width + y];
    // A bound may only rise between two folds: too high is still a bound.
    if (with_bound_) bound[y] = std::max(bound[y], total[history * s.width + y]);
  }
}

ChainOracle::ChainOracle(const Examples& examples, int n_labels, int order, bool learn_transitions,
                         std::int64_t n_unigrams, std::int64_t n_edges, bool sparse, std::vector<float> label_costs)
    : examples_(examples),
      shape_(n_labels, order),
      learn_transitions_(learn_transitions),
      label_costs_(std::move(label_costs)),
      transitions_(shape_, order == 1 && n_labels >= pruned_from) {
  if (sparse)
    sparse_ = std::make_unique<SparseRows>(n_unigrams, shape_.width);
  else
    dense_ = std::make_unique<DenseRows>(n_unigrams, shape_.width);
  if (n_edges) edges_ = std::make_unique<SparseRows>(n_edges, shape_.base * shape_.width);
  if (label_costs_.empty()) label_costs_.assign(n_labels, 1.0f);
  scorer_ = std::make_unique<ChainScorer<float>>(model());
}

LinearChain ChainOracle::model() const {
  LinearChain model{shape_, &unigrams()};
  model.edges = edges_.get();
  model.transitions = transitions_.total.data();
  model.end = transitions_.end.data();
  model.transposed = transitions_.transposed.data();
  model.transition_bound = transitions_.bound.data();
  return model;
}

// Whether a search that returned this score has written a labelling: not for -inf, nor for what is no number.
static bool possible(double score) { return score > -std::numeric_limits<double>::infinity(); }

void ChainOracle::ask(std::int64_t example, const Question& question, Answer& answer) {
  example_ = example;
  const int n = examples_.length(example);
  const std::int32_t* labels = examples_.labels + examples_.begin(example);
  answer.weight = examples_.weights ? examples_.weights[example] : 1.0f;
  answer.places = n - std::count(labels, labels + n, unlabelled);
  answer.rivals.clear();
  n_rivals_ = 0;
  if (answer.places == 0) return;

  gold_.assign(labels, labels + n);
  const std::size_t k = static_cast<std::size_t>(std::max(1, question.k));
  rivals_.resize(k * n);
  values_.resize(k);
  std::size_t found = 1;
  if (k == 1 && question.cost == 0 && answer.places == n) {
    ChainScores<float> scores{shape_, 0, nullptr, nullptr, nullptr};
    values_[0] = scorer_->best(examples_, example, work_, rivals_.data(), scores);
    answer.gold_score = chain_score(scores, gold_.data());
  } else {
    const ChainScores<float> scores = scorer_->score(examples_, example);
    answer.gold_score = answer.places < n ? complete_gold(scores, labels) : chain_score(scores, gold_.data());
    if (question.cost != 0) add_costs(labels, n, static_cast<float>(question.cost));
    if (k == 1)
      values_[0] = chain_best(scores, work_, rivals_.data());
    else
      found = chain_k_best(scores, static_cast<int>(k), work_, rivals_.data(), values_.data());
  }
  // Allowed labels that leave out the right one, or weights beyond what a float can hold: there is nothing to move
  // towards.
  if (!possible(answer.gold_score)) return;
  for (std::size_t j = 0; j < found; ++j) {
    if (!possible(values_[j])) break;
    Rival rival;
    for (int t = 0; t < n; ++t) {
      if (labels[t] == unlabelled || labels[t] == rivals_[j * n + t]) continue;
      rival.errors += 1;
      rival.loss += label_costs_[labels[t]];
    }
    rival.score = values_[j] - question.cost * rival.loss;
    answer.rivals.push_back(rival);
  }
  n_rivals_ = answer.rivals.size();
}

// The gold side is the best completion: searches with the known labels fixed, into gold_.
double ChainOracle::complete_gold(const ChainScores<float>& scores, const std::int32_t* labels) {
  float* emissions = scorer_->emissions();
  const std::vector<float> kept(emissions, emissions + static_cast<std::size_t>(scores.length) * shape_.width);
  for (int t = 0; t < scores.length; ++t) {
    if (labels[t] == unlabelled) continue;
    const std::size_t row = static_cast<std::size_t>(t) * shape_.width;
    std::fill(emissions + row, emissions + row + shape_.width, -std::numeric_limits<float>::infinity());
    emissions[row + labels[t]] = kept[row + labels[t]];
  }
  const double score = chain_best(scores, work_, gold_.data());
  std::copy(kept.begin(), kept.end(), emissions);
  return score;
}

void ChainOracle::add_costs(const std::int32_t* labels, int n, float cost) {
  for (int t = 0; t < n; ++t) {
    if (labels[t] == unlabelled) continue;
    float* row = scorer_->emissions() + static_cast<std::size_t>(t) * shape_.width;
    for (int y = 0; y < shape_.n_labels; ++y) row[y] += y == labels[t] ? 0.0f : cost * label_costs_[labels[t]];
  }
}

const std::int32_t* ChainOracle::labels_of(std::size_t rival) const {
  if (rival >= n_rivals_) throw std::out_of_range("the last answer has no such rival");
  return rivals_.data() + rival * gold_.size();
}

template <class OnToken, class OnTransition>
void ChainOracle::differences(std::size_t rival, OnToken on_token, OnTransition on_transition) const {
  const int n = static_cast<int>(gold_.size());
  const std::int32_t* gold = gold_.data();
  const std::int32_t* other = labels_of(rival);
  int last_difference = -shape_.order - 1;
  for (int t = 0; t < n; ++t) {
    if (gold[t] != other[t]) {
      last_difference = t;
      on_token(t);
    }
    if (t - last_difference <= shape_.order) on_transition(t);
  }
  // The end looks back on k labels, of which the last one stands at n - 1.
  if (n - last_difference <= shape_.order) on_transition(n);
}

void ChainOracle::move(std::size_t rival, double step) {
  const float change = static_cast<float>(step), clock = static_cast<float>(clock_);
  const int n = static_cast<int>(gold_.size());
  const std::int64_t begin = examples_.begin(example_);
  const std::int32_t* gold = gold_.data();
  const std::int32_t* other = labels_of(rival);
  GrowingRows& rows = unigrams();
  const auto on_token = [&](int t) {
    rows.add(examples_.unigrams, begin + t, gold[t], change, clock);
    rows.add(examples_.unigrams, begin + t, other[t], -change, clock);
  };
  const auto on_transition = [&](int t) {
    if (learn_transitions_) {
      transitions_.add(gold, n, t, change, clock);
      transitions_.add(other, n, t, -change, clock);
    }
    if (edges_ && examples_.edges.ptr && t < n) {
      const auto column = [&](const std::int32_t* y) { return (t ? y[t - 1] : shape_.n_labels) * shape_.width + y[t]; };
      if (column(gold) == column(other)) return;
      edges_->add(examples_.edges, begin + t, column(gold), change, clock);
      edges_->add(examples_.edges, begin + t, column(other), -change, clock);
    }
  };
  differences(rival, on_token, on_transition);
}

ChainOracle::Layout ChainOracle::layout() const {
  Layout at{};
  at.edges = (dense_ ? dense_->n_rows() : sparse_->n_rows()) * shape_.width;
  at.edge_width = shape_.base * shape_.width;
  at.size = at.levels = at.edges + (edges_ ? edges_->n_rows() * at.edge_width : 0);
  for (int level = 0; level < shape_.order; ++level)
    at.size += static_cast<std::int64_t>(transitions_.end_weights[level].size() + transitions_.weights[level].size());
  return at;
}

void ChainOracle::delta(std::size_t rival, SparseVector& out) const {
  const int n = static_cast<int>(gold_.size());
  const std::int64_t begin = examples_.begin(example_);
  const ChainShape& s = shape_;
  const Layout at = layout();
  out.clear();
  const std::int32_t* sides[2] = {gold_.data(), labels_of(rival)};
  const auto on_token = [&](int t) {
    const Features& f = examples_.unigrams;
    for (int side = 0; side < 2; ++side)
      for (std::int64_t k = f.ptr[begin + t]; k < f.ptr[begin + t + 1]; ++k)
        out.push_back({std::int64_t{f.ids[k]} * s.width + sides[side][t], side ? -f.value(k) : f.value(k)});
  };
  const auto on_transition = [&](int t) {
    for (int side = 0; side < 2; ++side) {
      const std::int32_t* y = sides[side];
      const double sign = side ? -1 : 1;
      const auto label_at = [&](int u) -> std::int64_t { return u < 0 ? s.n_labels : y[u]; };
      if (edges_ && examples_.edges.ptr && t < n) {
        const Features& f = examples_.edges;
        for (std::int64_t k = f.ptr[begin + t]; k < f.ptr[begin + t + 1]; ++k)
          out.push_back({at.edges + f.ids[k] * at.edge_width + label_at(t - 1) * s.width + y[t], sign * f.value(k)});
      }
      if (!learn_transitions_) continue;
      std::int64_t offset = at.levels, size = 1, history = 0;
      for (int level = 0; level < s.order; ++level) {
        // Each level holds its end weights [B^level][width], then its transitions [B^(level+1)][width].
        if (t == n) {
          out.push_back({offset + history * s.width + y[n - 1], sign});
          history += label_at(n - 2 - level) * size;
        } else {
          history += label_at(t - 1 - level) * size;
          out.push_back({offset + (size + history) * s.width + y[t], sign});
        }
        offset += size * s.width * (1 + s.base);
        size *= s.base;
      }
    }
  };
  differences(rival, on_token, on_transition);
  settle(out);
}

template <class OnRow, class OnLevel>
void ChainOracle::entries(const SparseVector& vector, OnRow on_row, OnLevel on_level) const {
  const Layout at = layout();
  for (const auto& [index, value] : vector) {
    if (index < 0 || index >= at.size) throw std::out_of_range("there is no such weight");
    if (index < at.edges) {
      on_row(unigrams(), static_cast<std::int32_t>(index / shape_.width), static_cast<std::int32_t>(index % shape_.width), value);
    } else if (index < at.levels) {
      const std::int64_t i = index - at.edges;
      on_row(*edges_, static_cast<std::int32_t>(i / at.edge_width), static_cast<std::int32_t>(i % at.edge_width), value);
    } else {
      std::int64_t i = index - at.levels;
      std::size_t level = 0;
      const auto n_ends = [&] { return static_cast<std::int64_t>(transitions_.end_weights[level].size()); };
      const auto n_steps = [&] { return static_cast<std::int64_t>(transitions_.weights[level].size()); };
      for (; i >= n_ends() + n_steps(); ++level) i -= n_ends() + n_steps();
      const bool is_end = i < n_ends();
      on_level(level, is_end, is_end ? i : i - n_ends(), value);
    }
  }
}

double ChainOracle::score(const SparseVector& vector) const {
  double sum = 0;
  const auto on_row = [&](const GrowingRows& rows, std::int32_t id, std::int32_t column, double value) {
    sum += value * rows.weight(id, column);
  };
  const auto on_level = [&](std::size_t level, bool is_end, std::int64_t i, double value) {
    sum += value * (is_end ? transitions_.end_weights : transitions_.weights)[level][i];
  };
  entries(vector, on_row, on_level);
  return sum;
}

void ChainOracle::add(const SparseVector& vector, double step) {
  const float clock = static_cast<float>(clock_);
  bool transitions_changed = false;
  const auto on_row = [&](GrowingRows& rows, std::int32_t id, std::int32_t column, double value) {
    const std::int64_t ptr[2] = {0, 1};
    rows.add({&id, nullptr, ptr}, 0, column, static_cast<float>(step * value), clock);
  };
  const auto on_level = [&](std::size_t level, bool is_end, std::int64_t i, double value) {
    const float change = static_cast<float>(step * value);
    (is_end ? transitions_.end_weights : transitions_.weights)[level][i] += change;
    (is_end ? transitions_.end_sums : transitions_.sums)[level][i] += clock * change;
    transitions_changed = true;
  };
  entries(vector, on_row, on_level);
  if (transitions_changed) transitions_.fold();
}

}  // namespace margent
