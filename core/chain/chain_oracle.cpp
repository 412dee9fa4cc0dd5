#include "chain/chain_oracle.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>

#include "interruption.hpp"

namespace margent {

TransitionWeights::TransitionWeights(const ChainShape& shape, bool learned, bool with_bound)
    : shape_(shape), with_bound_(with_bound) {
  std::int64_t histories = 1;
  for (int level = 0; level < shape.order; ++level) {
    end_weights.emplace_back(histories * shape.width);
    histories *= shape.base;
    weights.emplace_back(histories * shape.width);
  }
  sums.resize(weights.size());
  end_sums.resize(end_weights.size());
  if (learned) sums = weights, end_sums = end_weights;
  if (shape.order > 1) total_.grow(shape.histories * shape.width);
  end.grow(shape.states());
  if (shape.order == 1) transposed.grow(shape.n_labels * shape.width);
  if (with_bound) bound.grow(shape.width);
  sum_levels();
}

void TransitionWeights::sum_levels() {
  const ChainShape& s = shape_;
  const auto sum_levels = [](std::vector<std::vector<float>>& levels, Buffer<float>& out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = 0;
      for (const std::vector<float>& level : levels) out[i] += level[i % level.size()];
    }
  };
  sum_levels(weights, total_);
  sum_levels(end_weights, end);
  if (s.order == 1) transpose_transitions(total(), s.n_labels, s.width, transposed.data());
  if (with_bound_) bound_transitions(total(), s.n_labels, s.width, bound.data());
}

void TransitionWeights::absorb_scale(const Clock& clock) {
  const auto absorb = [&clock](std::vector<float>& weights, std::vector<float>& sums) {
    float no_sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      clock.absorb_scale(weights[i], sums.empty() ? no_sum = 0 : sums[i]);
  };
  for (std::size_t j = 0; j < weights.size(); ++j) {
    absorb(weights[j], sums[j]);
    absorb(end_weights[j], end_sums[j]);
  }
  sum_levels();
}

double TransitionWeights::squared_norm() const {
  double sum = 0;
  for (const auto* levels : {&weights, &end_weights})
    for (const std::vector<float>& level : *levels)
      for (const float weight : level) sum += static_cast<double>(weight) * weight;
  return sum;
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
    for (std::int64_t h = history; s.order > 1 && h < s.histories; h += size) total_[h * s.width + y] += step;
  }
  if (s.order == 1 && position > 0) {
    transposed[y * s.width + labels[position - 1]] = weights[0][history * s.width + y];
    // A bound may only rise between two folds: too high is still a bound.
    if (with_bound_) bound[y] = std::max(bound[y], weights[0][history * s.width + y]);
  }
}

ChainOracle::ChainOracle(const Examples& examples, int n_labels, int order, bool learn_transitions,
                         std::int64_t n_unigrams, std::int64_t n_edges, bool sparse, std::vector<float> label_costs)
    : examples_(examples), shape_(n_labels, order), learn_transitions_(learn_transitions),
      label_costs_(std::move(label_costs)),
      transitions_(shape_, learn_transitions, order == 1 && n_labels >= pruned_from) {
  if (sparse)
    sparse_ = std::make_unique<SparseRows>(n_unigrams, shape_.width);
  else
    dense_ = std::make_unique<DenseRows>(n_unigrams, shape_.width);
  if (n_edges) edges_ = std::make_unique<SparseRows>(n_edges, shape_.base * shape_.width);
  begin(n_labels);
}

ChainOracle::ChainOracle(const Examples& examples, int n_labels, int order, bool learn_transitions,
                         std::int64_t n_unigrams, std::unique_ptr<KernelSource> kernel, std::int64_t cache_bytes,
                         std::vector<float> label_costs)
    : examples_(examples), shape_(n_labels, order), learn_transitions_(learn_transitions),
      label_costs_(std::move(label_costs)), source_(std::move(kernel)),
      kernel_(std::make_unique<KernelRows>(*source_, n_unigrams, shape_.width, cache_bytes)),
      transitions_(shape_, learn_transitions, order == 1 && n_labels >= pruned_from) {
  begin(n_labels);
}

void ChainOracle::begin(int n_labels) {
  if (label_costs_.empty()) label_costs_.assign(n_labels, 1.0f);
  right_.resize(n_labels);
  pair_costs_ = label_costs_.size() != static_cast<std::size_t>(n_labels);
  scorer_ = std::make_unique<ChainScorer<float>>(model());
  features_ = std::make_unique<ChainFeatures>(examples_, shape_, n_unigrams(), edges_ ? edges_->n_rows() : 0,
                                              learn_transitions_);
}

LinearChain ChainOracle::model() const {
  LinearChain model{shape_, &unigrams()};
  model.edges = edges_.get();
  model.transitions = transitions_.total();
  model.end = transitions_.end.data();
  model.transposed = transitions_.transposed.data();
  model.transition_bound = transitions_.bound.data();
  return model;
}

// Whether a search that returned this score has written a labelling: not for -inf, nor for what is not a number.
static bool possible(double score) { return score > -std::numeric_limits<double>::infinity(); }

void ChainOracle::ask(std::int64_t example, const Question& question, Reply& answer) {
  example_ = example;
  features_->turn_to(example);
  const int n = examples_.length(example);
  const std::int32_t* labels = examples_.labels + examples_.begin(example);
  answer.weight = examples_.weights ? examples_.weights[example] : 1.0f;
  answer.n_positions = n - std::count(labels, labels + n, unlabelled);
  answer.rivals.clear();
  n_rivals_ = 0;
  has_gram_ = false;
  if (answer.n_positions == 0) return;
  // The search sees weights as they are kept: costs are brought to their scale, scores back from it.
  const double cost = question.cost / clock_.scale;

  gold_.assign(labels, labels + n);
  ends_ = true;
  // No more than there are labellings.
  const std::size_t wanted = static_cast<std::size_t>(std::max(1, question.k));
  std::size_t labellings = 1;
  for (int t = 0; t < n && labellings < wanted; ++t) labellings *= static_cast<std::size_t>(shape_.n_labels);
  const std::size_t k = std::min(wanted, labellings);
  rivals_.resize(k * n);
  values_.resize(k);
  std::size_t found = 1;
  const bool complete = examples_.complete(example);
  if (k == 1 && question.cost == 0 && complete && !beam_width_) {
    ChainScores<float> scores{shape_, 0, nullptr, nullptr, nullptr};
    values_[0] = scorer_->best(examples_, example, work_, rivals_.data(), scores);
    answer.gold_score = chain_score(scores, gold_.data());
  } else {
    const ChainScores<float> scores = scorer_->score(examples_, example);
    if (is_fixed_) std::copy_n(fixed_.begin() + examples_.begin(example), n, gold_.begin());
    if (is_fixed_ && gold_[0] == unlabelled) return;
    answer.gold_score = complete || is_fixed_ ? chain_score(scores, gold_.data()) : complete_gold(scores);
    if (cost != 0) add_costs(labels, n, static_cast<float>(cost));
    if (beam_width_) {
      if (possible(answer.gold_score)) found = ask_beam(scores, labels, k, answer);
    } else {
      const double shift = chain_forward_max(scores, work_);
      values_[0] = chain_trace_back(scores, work_, rivals_.data());
      const auto right = [&](std::int32_t y, std::int32_t found) { return examples_.fits(y, found); };
      const bool enough = question.stop_if_right && std::equal(labels, labels + n, rivals_.data(), right);
      if (k > 1 && !enough)
        found = chain_k_best_back(scores, static_cast<int>(k), work_, rivals_.data(), values_.data());
      for (std::size_t j = 0; j < found; ++j) values_[j] += shift;
    }
  }
  // Allowed labels that leave out the right one, or weights beyond what a float can hold: there is nothing to move
  // towards.
  if (!possible(answer.gold_score)) return;
  answer.gold_score *= clock_.scale;
  const int size = static_cast<int>(gold_.size());  // of all tokens or, with a beam, of the first of them
  for (std::size_t j = 0; j < found; ++j) {
    if (!possible(values_[j])) break;
    Rival rival;
    for (int t = 0; t < size; ++t) {
      const bool fits = examples_.fits(labels[t], rivals_[j * size + t]);
      rival.errors += is_fixed_ ? gold_[t] != rivals_[j * size + t] : !fits;
      if (fits) continue;
      rival.loss += cost_of(labels[t], rivals_[j * size + t]);
    }
    rival.score = (values_[j] - cost * rival.loss) * clock_.scale;
    answer.rivals.push_back(rival);
  }
  n_rivals_ = answer.rivals.size();
  if (n_rivals_ && answer.rivals[0].errors)
    for (int t = 0; t < size; ++t)
      if (gold_[t] != rivals_[t])
        unigrams().expect_move(examples_.unigrams, examples_.begin(example) + t, gold_[t], rivals_[t]);
}

std::size_t ChainOracle::ask_beam(const ChainScores<float>& scores, const std::int32_t* labels, std::size_t k,
                                  Reply& answer) {
  system_.turn_to(scores, examples_, labels, gold_.data());
  const int chosen = beam_.run(system_, beam_width_, update_);
  if (chosen < 0) {
    answer.n_positions = 0;
    return 0;
  }
  const auto items = beam_.found.layer(chosen);
  const std::size_t size = std::min(chosen, scores.length), found = std::min(k, items.size());
  for (std::size_t j = 0; j < found; ++j) {
    beam_.found.trace(items[j], path_);
    for (std::size_t t = 0; t < size; ++t) rivals_[j * size + t] = system_.label(path_[t]->move);
    values_[j] = items[j].score;
  }
  gold_.resize(size);
  ends_ = chosen > scores.length;
  answer.gold_score = beam_.gold.layer(chosen)[0].score;
  return found;
}

std::int64_t ChainOracle::fix_gold() {
  std::vector<std::int32_t> fixed(examples_.sequence_ptr[examples_.n_sequences], unlabelled);
  std::int64_t changed = 0;
  for (example_ = 0; example_ < examples_.n_sequences; ++example_) {
    const std::int64_t begin = examples_.begin(example_);
    const int n = examples_.length(example_);
    gold_.resize(n);
    if (n && possible(complete_gold(scorer_->score(examples_, example_))))
      std::copy(gold_.begin(), gold_.end(), fixed.begin() + begin);
    changed += fixed_.empty() || !std::equal(fixed.begin() + begin, fixed.begin() + begin + n, fixed_.begin() + begin);
  }
  fixed_ = std::move(fixed);
  is_fixed_ = true;
  n_rivals_ = 0;
  return changed;
}

// The gold side is the best of what is right: searches with the known labels fixed, into gold_.
double ChainOracle::complete_gold(const ChainScores<float>& scores) {
  float* emissions = scorer_->emissions();
  const std::vector<float> kept(emissions, emissions + static_cast<std::size_t>(scores.length) * shape_.width);
  examples_.keep_right(example_, shape_.n_labels, shape_.width, emissions);
  const double score = chain_best(scores, work_, gold_.data());
  std::copy(kept.begin(), kept.end(), emissions);
  return score;
}

void ChainOracle::add_costs(const std::int32_t* labels, int n, float cost) {
  for (int t = 0; t < n; ++t) {
    if (labels[t] == unlabelled) continue;
    float* row = scorer_->emissions() + static_cast<std::size_t>(t) * shape_.width;
    if (pair_costs_) {
      for (int y = 0; y < shape_.n_labels; ++y)
        if (!examples_.fits(labels[t], y)) row[y] += cost * cost_of(labels[t], y);
      continue;
    }
    const float wrong = cost * label_costs_[labels[t]];
    const std::vector<float>::iterator right = right_.begin();
    const int n_sublabels = examples_.n_sublabels(labels[t]);
    std::copy(row + labels[t], row + labels[t] + n_sublabels, right);
    for (int y = 0; y < shape_.width; ++y) row[y] += wrong;
    std::copy(right, right + n_sublabels, row + labels[t]);
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
  if (ends_ && n - last_difference <= shape_.order) on_transition(n);
}

void ChainOracle::move(std::size_t rival, double step) {
  const float change = static_cast<float>(step / clock_.scale), clock = static_cast<float>(clock_.now);
  const int n = static_cast<int>(gold_.size());
  const std::int64_t begin = examples_.begin(example_);
  const std::int32_t* gold = gold_.data();
  const std::int32_t* other = labels_of(rival);
  GrowingRows& rows = unigrams();
  const auto on_token = [&](int t) { rows.move(examples_.unigrams, begin + t, gold[t], other[t], change, clock); };
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

void ChainOracle::delta(std::size_t rival, SparseVector& out) const {
  const std::span<const std::int32_t> gold = gold_, other = labels(rival);
  const auto on_part = [&](int t, bool is_transition) {
    features_->collect({t, gold, is_transition}, 1);
    features_->collect({t, other, is_transition}, -1);
  };
  differences(rival, [&](int t) { on_part(t, false); }, [&](int t) { on_part(t, true); });
  out.clear();
  features_->hand_over(out);
  normalize(out);
}

double ChainOracle::inner(const SparseVector& a, const SparseVector& b) const {
  if (!kernel_) return margent::dot(a, b);
  // Observations meet in the kernel, transitions as they are.
  const std::int64_t end = features_->layout().edges;
  const auto cut = [end](const SparseVector& v) {
    return std::partition_point(v.begin(), v.end(), [end](const auto& entry) { return entry.first < end; });
  };
  const auto a_end = cut(a), b_end = cut(b);
  return kernel_->inner({a.begin(), a_end}, {b.begin(), b_end}) + margent::dot({a_end, a.end()}, {b_end, b.end()});
}

double ChainOracle::dot(std::size_t i, std::size_t j) const {
  labels_of(std::max(i, j));  // both are there
  if (kernel_) return Oracle::dot(i, j);
  if (!has_gram_) make_gram();
  return gram_.at(i, j);
}

void ChainOracle::find_parts(int position, int reach, bool is_transition) const {
  const int n = static_cast<int>(gold_.size());
  const int from = std::max(0, position + 1 - reach), to = std::min(position + 1, n);
  const std::int32_t* rivals = rivals_.data();
  const auto same = [=](const std::int32_t* a, const std::int32_t* b) {
    for (int t = from; t < to; ++t)
      if (a[t] != b[t]) return false;
    return true;
  };
  const std::size_t begin = members_.size();
  check_interruption(static_cast<std::int64_t>(n_rivals_ * n_rivals_));
  for (std::size_t j = 0; j < n_rivals_; ++j)
    if (!same(gold_.data(), rivals + j * n)) members_.push_back(j);
  const std::size_t end = members_.size();
  if (begin == end) return;
  parts_.push_back({{position, gold_, is_transition}, 1, begin, end});
  for (std::size_t i = begin; i < end; ++i) {
    const std::int32_t* labels = rivals + members_[i] * n;
    const auto like_this = [&](std::size_t q) { return same(labels, rivals + members_[q] * n); };
    bool seen = false;
    for (std::size_t q = begin; q < i && !seen; ++q) seen = like_this(q);
    if (seen) continue;
    const std::size_t first = members_.size();
    for (std::size_t q = i; q < end; ++q)
      if (like_this(q)) members_.push_back(members_[q]);
    parts_.push_back({{position, {labels, gold_.size()}, is_transition}, -1, first, members_.size()});
  }
}

// A token's features with one label are a part of the deltas of all rivals that have that label there; with the right
// label, of all rivals that have another. Rivals have most of their parts in common. Where tokens that matter are few,
// each two are compared, feature by feature, which vectors do well; where they are many, features are hashed.
void ChainOracle::make_gram() const {
  constexpr std::size_t few_parts = 64;
  constexpr std::int64_t few_features = 1024;
  constexpr int far_away = 1 << 20;
  const int n = static_cast<int>(gold_.size());
  const Features& f = examples_.unigrams;
  const std::int64_t* ptr = f.ptr + examples_.begin(example_);
  gram_.reset(n_rivals_);
  const auto members = [&](const SharedPart& part) {
    return std::span<const std::size_t>(members_).subspan(part.begin, part.end - part.begin);
  };
  const auto add_entries = [&] {
    for (const SharedPart& p : parts_)
      gram_.add(members(p), [&](auto on_entry) { features_->visit(p.part, p.sign, on_entry); });
  };
  // Positions where a rival differs from gold, and those from which one can look back on one.
  near_.assign(static_cast<std::size_t>(n) + 1, far_away);
  for (std::size_t j = 0; j < n_rivals_; ++j)
    for (int t = 0; t < n; ++t)
      if (rivals_[j * n + t] != gold_[t]) near_[t] = 0;
  for (int t = 1; t <= n; ++t) near_[t] = std::min(near_[t], near_[t - 1] + 1);
  parts_.clear();
  members_.clear();
  for (int t = 0; t < n; ++t)
    if (near_[t] == 0) find_parts(t, 1, false);
  std::int64_t n_features = 0;
  for (const SharedPart& p : parts_) n_features += ptr[p.part.position + 1] - ptr[p.part.position];
  if (f.values || parts_.size() > few_parts || n_features > few_features) {
    add_entries();
  } else {
    // The overlap of two tokens is kept with the first part of each.
    constexpr std::int64_t unknown = -1;
    const std::size_t size = parts_.size();
    overlaps_.assign(size * size, unknown);
    for (std::size_t i = 0, first_i = 0; i < size; ++i) {
      const auto& [p, p_sign, p_begin, p_end] = parts_[i];
      if (p.position != parts_[first_i].part.position) first_i = i;
      for (std::size_t j = 0, first_j = 0; j <= i; ++j) {
        const auto& [q, q_sign, q_begin, q_end] = parts_[j];
        if (q.position != parts_[first_j].part.position) first_j = j;
        if (p.labels[p.position] != q.labels[q.position]) continue;
        std::int64_t& overlap = overlaps_[first_i * size + first_j];
        const std::int64_t *a = ptr + p.position, *b = ptr + q.position;
        if (overlap == unknown)
          overlap = kernels<float>().equal_pairs(f.ids + a[0], a[1] - a[0], f.ids + b[0], b[1] - b[0]);
        if (overlap) gram_.add(members(parts_[i]), members(parts_[j]), p_sign * q_sign * static_cast<double>(overlap));
      }
    }
  }
  if (learn_transitions_ || edges_) {
    parts_.clear();
    members_.clear();
    for (int t = 0; t < n + ends_; ++t)
      if (near_[t] <= shape_.order) find_parts(t, shape_.order + 1, true);
    add_entries();
  }
  has_gram_ = true;
}

template <class OnWeight, class OnRow, class OnLevel>
void ChainOracle::entries(const SparseVector& vector, OnWeight on_weight, OnRow on_row, OnLevel on_level) const {
  const ChainFeatures::Layout& at = features_->layout();
  for (const auto& [index, value] : vector) {
    if (index < 0 || index >= at.size) throw std::out_of_range("there is no such weight");
    if (index < at.edges && dense_) {
      on_weight(index, value);
    } else if (index < at.edges) {
      on_row(unigrams(), static_cast<std::int32_t>(index / shape_.width),
             static_cast<std::int32_t>(index % shape_.width), value);
    } else if (index < at.levels) {
      const std::int64_t i = index - at.edges;
      on_row(*edges_, static_cast<std::int32_t>(i / at.edge_width), static_cast<std::int32_t>(i % at.edge_width),
             value);
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
  const auto on_weight = [&](std::int64_t i, double value) { sum += value * dense_->weights()[i]; };
  const auto on_row = [&](const GrowingRows& rows, std::int32_t id, std::int32_t column, double value) {
    sum += value * rows.weight(id, column);
  };
  const auto on_level = [&](std::size_t level, bool is_end, std::int64_t i, double value) {
    sum += value * (is_end ? transitions_.end_weights : transitions_.weights)[level][i];
  };
  entries(vector, on_weight, on_row, on_level);
  return clock_.scale * sum;
}

void ChainOracle::add(const SparseVector& vector, double step) {
  const float clock = static_cast<float>(clock_.now);
  step /= clock_.scale;
  bool transitions_changed = false;
  const auto on_weight = [&](std::int64_t i, double value) {
    const float change = static_cast<float>(step * value);
    dense_->weights()[i] += change;
    dense_->sums()[i] += clock * change;
  };
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
  entries(vector, on_weight, on_row, on_level);
  if (transitions_changed) transitions_.sum_levels();
}

void ChainOracle::scale(double factor) {
  clock_.scale *= factor;
  // The smaller the scale, the larger what is kept, and its rounding: now and then all weights are made anew.
  if (clock_.scale > 1e-2 && clock_.scale < 1e2) return;
  unigrams().absorb_scale(clock_);
  if (edges_) edges_->absorb_scale(clock_);
  transitions_.absorb_scale(clock_);
  clock_.absorb_scale();
}

double ChainOracle::squared_norm() const {
  const double edges = edges_ ? edges_->squared_norm() : 0;
  return clock_.scale * clock_.scale * (unigrams().squared_norm() + edges + transitions_.squared_norm());
}

}  // namespace margent
