#include "segments/segment_oracle.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace margent {

SegmentOracle::SegmentOracle(const SegmentShape& shape, std::unique_ptr<SegmentContent> content,
                             const GoldSegments& gold, const SegmentCosts& costs)
    : scorer_(shape, std::move(content)), known_(gold), costs_(costs), weights_(scorer_.layout().size),
      sums_(scorer_.layout().size) {}

static bool possible(double score) { return score > -std::numeric_limits<double>::infinity(); }

// Both are sums over where segments begin and end: frames of a label up to a position, and right boundaries before it.
SegmentScores SegmentOracle::with_costs(SegmentScores scores, double cost) {
  const std::size_t width = scores.width, size = (scores.length + 1) * width;
  ends_.assign(size, 0.0);
  begins_.assign(size, 0.0);
  std::vector<char> right(scores.length + 1, 0);
  for (const Segment& s : gold_) {
    right[s.end] = 1;
    for (int t = s.begin; t < s.end; ++t)
      for (std::size_t l = 0; l < width; ++l) {
        const double wrong = static_cast<int>(l) == s.label ? 0.0 : cost * costs_.of_frame(s.label);
        ends_[(t + 1) * width + l] = ends_[t * width + l] + wrong;
      }
  }
  int before = 0;  // right boundaries up to here
  const double boundary = cost * costs_.boundary;
  for (int t = 0; t <= scores.length; ++t) {
    const bool inside = 0 < t && t < scores.length;
    const double ending = boundary * (before + (inside && !right[t]));
    before += inside && right[t];
    for (std::size_t i = t * width; i < (t + 1) * width; ++i) {
      begins_[i] = -ends_[i] - boundary * before + (scores.begins ? scores.begins[i] : 0.0);
      ends_[i] += ending + (scores.ends ? scores.ends[i] : 0.0);
    }
  }
  scores.begins = begins_.data();
  scores.ends = ends_.data();
  return scores;
}

Rival SegmentOracle::compare(const std::vector<Segment>& found) const {
  Rival rival;
  std::int64_t frames = 0, boundaries = 0;
  double cost = 0;
  for (std::size_t i = 0, j = 0; i < gold_.size() && j < found.size();) {
    const Segment &a = gold_[i], &b = found[j];
    if (a.label != b.label) {
      const int wrong = std::min(a.end, b.end) - std::max(a.begin, b.begin);
      frames += wrong;
      cost += wrong * costs_.of_frame(a.label);
    }
    boundaries += a.end != b.end;
    const int end = std::min(a.end, b.end);
    i += a.end == end;
    j += b.end == end;
  }
  rival.loss = cost + costs_.boundary * static_cast<double>(boundaries);
  rival.errors = std::max<std::int64_t>(frames, boundaries > 0);
  return rival;
}

void SegmentOracle::ask(std::int64_t example, const Question& question, Reply& answer) {
  answer.weight = known_.weight(example);
  answer.n_positions = scorer_.content().length(example);
  answer.rivals.clear();
  rivals_.clear();
  gold_.clear();
  if (answer.n_positions == 0) return;
  const SegmentScores scores = scorer_.turn_to(example, weights_.data(), clock_.scale);
  if (known_.timed[example]) {
    known_.segments(example, gold_);
  } else {
    ForcedScores forced(scores, known_.labels + known_.ptr[example], known_.size(example));
    segments_best(forced.scores(), work_, gold_);
    forced.name(gold_);
  }
  // Limits that leave out the right answer: there is nothing to move towards.
  if (gold_.empty()) return;
  answer.gold_score = segments_score(scores, gold_);
  if (!possible(answer.gold_score)) return;
  const SegmentScores searched = question.cost == 0 ? scores : with_costs(scores, question.cost);
  if (question.k <= 1 || question.stop_if_right) {
    rivals_.emplace_back();
    rivals_[0].score = segments_best(searched, work_, rivals_[0].segments);
  }
  if (question.k > 1 && !(question.stop_if_right && rivals_[0].segments == gold_))
    rivals_ = segments_k_best(searched, question.k, work_);
  for (const ScoredSegments& found : rivals_) {
    Rival rival = compare(found.segments);
    rival.score = found.score - question.cost * rival.loss;
    answer.rivals.push_back(rival);
  }
}

void SegmentOracle::delta(std::size_t rival, SparseVector& out) const {
  if (rival >= rivals_.size()) throw std::out_of_range("the last answer has no such rival");
  out.clear();
  scorer_.collect_difference(gold_, rivals_[rival].segments);
  scorer_.hand_over(out);
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto not_after = [&](const auto& a, const auto& b) { return !before(a, b); };
  if (std::adjacent_find(out.begin(), out.end(), not_after) != out.end()) normalize(out);
}

std::span<const std::int32_t> SegmentOracle::labels(std::size_t rival) const {
  if (rival >= rivals_.size()) throw std::out_of_range("the last answer has no such rival");
  frames_.clear();
  const int n = scorer_.shape().n_labels;
  for (const Segment& s : rivals_[rival].segments)  // where a segment begins, its label is told from one that goes on
    for (int t = s.begin; t < s.end; ++t) frames_.push_back(t == s.begin ? s.label + n : s.label);
  return frames_;
}

double SegmentOracle::score(const SparseVector& vector) const {
  double sum = 0;
  for (const auto& [index, value] : vector) sum += weights_[index] * value;
  return clock_.scale * sum;
}

void SegmentOracle::add(const SparseVector& vector, double step) {
  const double change = step / clock_.scale;
  const float now = static_cast<float>(clock_.now);
  for (const auto& [index, value] : vector) {
    if (index < 0 || index >= static_cast<std::int64_t>(weights_.size()))
      throw std::out_of_range("there is no such weight");
    const float x = static_cast<float>(change * value);
    weights_[index] += x;
    sums_[index] += now * x;
  }
}

void SegmentOracle::scale(double factor) {
  clock_.scale *= factor;
  if (clock_.scale > 1e-2 && clock_.scale < 1e2) return;
  for (std::size_t i = 0; i < weights_.size(); ++i) clock_.absorb_scale(weights_[i], sums_[i]);
  clock_.absorb_scale();
}

double SegmentOracle::squared_norm() const {
  double sum = 0;
  for (const float weight : weights_) sum += static_cast<double>(weight) * weight;
  return clock_.scale * clock_.scale * sum;
}

}  // namespace margent
