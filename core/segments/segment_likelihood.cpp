#include "segments/segment_likelihood.hpp"

#include <algorithm>
#include <limits>

#include "parallel.hpp"

namespace margent {

static bool possible(double score) { return score > -std::numeric_limits<double>::infinity(); }

std::unique_ptr<Likelihood> SegmentOracle::likelihood(const LikelihoodOptions& options, int threads) {
  if (options.beam) return nullptr;
  return std::make_unique<SegmentLikelihood>(*this, options, threads);
}

SegmentLikelihood::SegmentLikelihood(SegmentOracle& oracle, const LikelihoodOptions& choice, int threads)
    : oracle_(oracle), threads_(std::max(threads, 1)), best_completion_(choice.best_completion) {
  for (int i = 0; i < std::min<std::int64_t>(threads_, std::max<std::int64_t>(size(), 1)); ++i)
    workers_.push_back(std::make_unique<Worker>(oracle));
  choose(choice);
}

void SegmentLikelihood::choose(const LikelihoodOptions& choice) {
  SegmentScorer& scorer = workers_[0]->scorer;
  const SegmentLayout& at = scorer.layout();
  const SegmentShape& shape = scorer.shape();
  const int n = shape.n_labels, width = shape.width();
  std::vector<char> taken(at.size, 0);
  const std::vector<float>& weights = oracle_.weights();
  for (std::int64_t i = 0; i < at.size; ++i) taken[i] = weights[i] != 0;
  const auto all = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      if (i < at.durations ? scorer.content().has_weight(i) : (i - at.durations) % width < n) taken[i] = 1;
  };
  const GoldSegments& gold = oracle_.gold();
  SparseVector seen;
  std::vector<Segment> segments;
  std::vector<double> row(width);
  for (std::int64_t i = 0; i < size(); ++i) {
    if (gold.weight(i) == 0 || scorer.content().length(i) == 0) continue;
    check_interruption(1 << 10);
    scorer.turn_to(i, weights.data(), 1);
    if (gold.timed[i]) {
      gold.segments(i, segments);
      scorer.collect(segments, 1);
    } else {
      // Any segment may have any of these labels, and any two neighbours may be neighbours.
      std::fill(row.begin(), row.end(), 0.0);
      for (std::int64_t k = gold.ptr[i]; k < gold.ptr[i + 1]; ++k) {
        row[gold.labels[k]] = 1;
        if (shape.learn_transitions && k > gold.ptr[i])
          taken[at.transitions + gold.labels[k - 1] * width + gold.labels[k]] = 1;
      }
      if (shape.learn_transitions) {
        taken[at.start + gold.labels[gold.ptr[i]]] = 1;
        taken[at.end + gold.labels[gold.ptr[i + 1] - 1]] = 1;
      }
      const int length = scorer.content().length(i);
      for (int begin = 0; begin < length; ++begin)
        for (int end = begin + 1; end <= std::min(length, begin + shape.most()); ++end) {
          check_interruption(width);
          scorer.collect_row(begin, end, row.data(), 1);
        }
    }
    seen.clear();
    scorer.hand_over(seen);
    for (const auto& entry : seen) taken[entry.first] = 1;
  }
  if (choice.all_pairs || scorer.content().dense()) all(0, at.durations);
  all(at.durations, at.transitions);
  if (shape.learn_transitions && choice.all_transitions) all(at.transitions, at.start);
  if (!choice.boundaries) std::fill(taken.begin() + at.start, taken.end(), 0);
  parameter_of_.assign(at.size, -1);
  for (std::int64_t i = 0; i < at.size; ++i) {
    if (!taken[i]) continue;
    parameter_of_[i] = static_cast<std::int64_t>(places_.size());
    places_.push_back(i);
  }
}

void SegmentLikelihood::get(double* parameters) const {
  for (std::size_t i = 0; i < places_.size(); ++i) parameters[i] = oracle_.weights()[places_[i]];
}

void SegmentLikelihood::set(const double* parameters) {
  constexpr double largest = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < places_.size(); ++i)
    oracle_.weights()[places_[i]] = static_cast<float>(std::clamp(parameters[i], -largest, largest));
}

double SegmentLikelihood::known_labels(Worker& worker, const SegmentScores& scores, std::int64_t i, double weight,
                                       bool collect) {
  const GoldSegments& gold = oracle_.gold();
  ForcedScores forced(scores, gold.labels + gold.ptr[i], gold.size(i));
  if (!collect) return segments_log_partition(forced.scores(), worker.work);
  const int width = scores.width;
  const std::vector<std::int32_t>& labels = forced.labels();
  const double log_z = segments_expectations(
      forced.scores(), worker.work,
      [&](int begin, int end, const double* p) {
        worker.row.assign(width, 0.0);
        for (std::size_t k = 0; k < labels.size(); ++k) worker.row[labels[k]] += p[k];
        worker.scorer.collect_row(begin, end, worker.row.data(), -weight);
      },
      nullptr, nullptr, nullptr);
  // The labels, and so their pairs, are the same in all of them.
  worker.pairs.assign(static_cast<std::size_t>(scores.n_labels) * width, 0.0);
  worker.first.assign(width, 0.0);
  worker.last.assign(width, 0.0);
  for (std::size_t k = 1; k < labels.size(); ++k) worker.pairs[labels[k - 1] * width + labels[k]] += 1;
  worker.first[labels.front()] = worker.last[labels.back()] = 1;
  if (possible(log_z))
    worker.scorer.collect_pairs(worker.pairs.data(), worker.first.data(), worker.last.data(), -weight);
  return log_z;
}

double SegmentLikelihood::example(Worker& worker, std::int64_t i, double scale, SparseVector* gradient) {
  const GoldSegments& gold = oracle_.gold();
  const double weight = gold.weight(i);
  SegmentScorer& scorer = worker.scorer;
  if (weight == 0 || scorer.content().length(i) == 0) return 0;
  const SegmentScores scores = scorer.turn_to(i, oracle_.weights().data(), scale);
  double right;
  if (gold.timed[i] || best_completion_) {
    if (gold.timed[i]) {
      gold.segments(i, worker.gold);
    } else {
      ForcedScores forced(scores, gold.labels + gold.ptr[i], gold.size(i));
      segments_best(forced.scores(), worker.work, worker.gold);
      forced.name(worker.gold);
      if (worker.gold.empty()) return 0;
    }
    right = segments_score(scores, worker.gold);
    if (gradient && possible(right)) scorer.collect(worker.gold, -weight);
  } else {
    right = known_labels(worker, scores, i, weight, gradient != nullptr);
  }
  if (!possible(right)) return 0;  // limits that leave out the right answer
  if (!gradient) return weight * (segments_log_partition(scores, worker.work) - right);
  worker.pairs.assign(static_cast<std::size_t>(scores.n_labels) * scores.width, 0.0);
  worker.first.assign(scores.width, 0.0);
  worker.last.assign(scores.width, 0.0);
  const double log_z = segments_expectations(
      scores, worker.work, [&](int begin, int end, const double* p) { scorer.collect_row(begin, end, p, weight); },
      worker.pairs.data(), worker.first.data(), worker.last.data());
  scorer.collect_pairs(worker.pairs.data(), worker.first.data(), worker.last.data(), weight);
  scorer.hand_over(*gradient);
  return weight * (log_z - right);
}

// Examples of a block are worked on by all threads, and their gradients then added up in order.
double SegmentLikelihood::evaluate(double* gradient) {
  constexpr std::int64_t block = 16;
  if (gradient) std::fill(gradient, gradient + n_parameters(), 0.0);
  double sum = 0;
  std::vector<SparseVector> parts(block);
  std::vector<double> losses(block);
  for (std::int64_t begin = 0; begin < size(); begin += block) {
    const std::int64_t n = std::min(block, size() - begin);
    parallel(n, static_cast<int>(workers_.size()), [&](std::size_t thread, std::int64_t k) {
      parts[k].clear();
      losses[k] = example(*workers_[thread], begin + k, 1, gradient ? &parts[k] : nullptr);
    });
    for (std::int64_t k = 0; k < n; ++k) {
      sum += losses[k];
      for (const auto& [index, value] : parts[k])
        if (parameter_of_[index] >= 0) gradient[parameter_of_[index]] += value;
    }
  }
  return sum;
}

double SegmentLikelihood::value(const std::int64_t* numbers, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    check_interruption(1 << 10);
    sum += example(*workers_[0], numbers[i], 1, nullptr);
  }
  return sum;
}

double SegmentLikelihood::descend(const std::int64_t* numbers, std::int64_t n, double eta, double decay, double first) {
  std::vector<float>& weights = oracle_.weights();
  SparseVector gradient;
  double sum = 0, scale = 1;
  const auto multiply_in = [&] {
    for (const std::int64_t place : places_) weights[place] = static_cast<float>(scale * weights[place]);
    scale = 1;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const double rate = eta / (1 + decay * eta * (first + static_cast<double>(i)));
    gradient.clear();
    sum += example(*workers_[0], numbers[i], scale, &gradient);
    scale *= std::max(1 - rate * decay, 1e-3);
    for (const auto& [index, value] : gradient)
      if (parameter_of_[index] >= 0) weights[index] -= static_cast<float>(rate / scale * value);
    if (scale < 1e-6) multiply_in();
  }
  multiply_in();
  return sum;
}

}  // namespace margent
