// The oracle of a semi-Markov model in training: its weights, their averages, its examples.
#pragma once
#include <memory>
#include <vector>

#include "learning/clock.hpp"
#include "learning/oracle.hpp"
#include "segments/segment_model.hpp"

namespace margent {

// The right segmentations. Of a sequence whose `timed` is 0 only the labels are known, in order: its ends are not read.
struct GoldSegments {
  const std::int64_t* ptr = nullptr;  // [n_sequences + 1]
  const std::int32_t* labels = nullptr;
  const std::int32_t* ends = nullptr;
  const std::uint8_t* timed = nullptr;  // [n_sequences]
  const float* weights = nullptr;       // [n_sequences]; null: 1

  int size(std::int64_t s) const { return static_cast<int>(ptr[s + 1] - ptr[s]); }
  double weight(std::int64_t s) const { return weights ? weights[s] : 1.0; }
  // Those of a sequence whose ends are known.
  void segments(std::int64_t s, std::vector<Segment>& out) const {
    out.clear();
    for (std::int64_t i = ptr[s]; i < ptr[s + 1]; ++i)
      out.push_back({i == ptr[s] ? 0 : ends[i - 1], ends[i], labels[i]});
  }
};

// What a mistake costs: each wrong frame, times the cost of its right label where there are such, and each boundary
// that only one of the two has.
struct SegmentCosts {
  double frame = 1, boundary = 0;
  std::vector<double> labels;  // [n_labels], or empty: 1 each

  double of_frame(int right) const { return labels.empty() ? frame : frame * labels[right]; }
};

class SegmentOracle final : public Oracle {
 public:
  SegmentOracle(const SegmentShape& shape, std::unique_ptr<SegmentContent> content, const GoldSegments& gold,
                const SegmentCosts& costs);

  std::int64_t size() const override { return scorer_.content().n_sequences(); }
  void ask(std::int64_t example, const Question& question, Reply& answer) override;
  void delta(std::size_t rival, SparseVector& out) const override;
  std::span<const std::int32_t> labels(std::size_t rival) const override;
  double score(const SparseVector& vector) const override;
  void add(const SparseVector& vector, double step) override;
  void scale(double factor) override;
  double squared_norm() const override;
  void tick(double weight = 1) override { clock_.tick(weight); }
  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int threads) override;

  const SegmentScorer& scorer() const { return scorer_; }
  const GoldSegments& gold() const { return known_; }
  const Clock& clock() const { return clock_; }
  std::vector<float>& weights() { return weights_; }
  const std::vector<float>& sums() const { return sums_; }

 private:
  // Scores with costs added, kept here.
  SegmentScores with_costs(SegmentScores scores, double cost);
  Rival compare(const std::vector<Segment>& found) const;

  mutable SegmentScorer scorer_;
  GoldSegments known_;
  SegmentCosts costs_;
  std::vector<float> weights_, sums_;
  Clock clock_;
  SegmentWorkspace work_;

  // The last answer.
  std::vector<Segment> gold_;
  std::vector<ScoredSegments> rivals_;
  std::vector<double> begins_, ends_;
  mutable std::vector<std::int32_t> frames_;
};

}  // namespace margent
