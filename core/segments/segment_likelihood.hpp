// The semi-Markov conditional random field: the likelihood of the segments of sequences (Sarawagi and Cohen 2005).
//
// p(segmentation | x) = exp(score) / Z(x); where only the labels are known, the probability of all segmentations that
// have them, in this order, or of the best of these (best_completion). The gradient is the expected features minus
// those of the right segmentation (or those expected given the labels).
#pragma once
#include <memory>
#include <vector>

#include "learning/likelihood.hpp"
#include "segments/segment_oracle.hpp"

namespace margent {

class SegmentLikelihood final : public Likelihood {
 public:
  SegmentLikelihood(SegmentOracle& oracle, const LikelihoodOptions& choice, int threads);

  std::int64_t size() const override { return oracle_.size(); }
  std::int64_t n_parameters() const override { return static_cast<std::int64_t>(places_.size()); }
  int threads() const override { return threads_; }
  void get(double* parameters) const override;
  void set(const double* parameters) override;
  double evaluate(double* gradient) override;
  double value(const std::int64_t* numbers, std::int64_t n) override;
  double descend(const std::int64_t* numbers, std::int64_t n, double eta, double decay, double first) override;

 private:
  struct Worker {
    Worker(const SegmentOracle& oracle) : scorer(oracle.scorer().shape(), oracle.scorer().content().copy()) {}
    SegmentScorer scorer;
    SegmentWorkspace work;
    std::vector<Segment> gold;
    std::vector<double> pairs, first, last, row;
  };
  void choose(const LikelihoodOptions& choice);
  // The value of one example at scale * weights; its gradient is appended to `gradient`, unless null.
  double example(Worker& worker, std::int64_t i, double scale, SparseVector* gradient);
  // log of the sum over the segmentations with these labels, whose expectations are taken away.
  double known_labels(Worker& worker, const SegmentScores& scores, std::int64_t i, double weight, bool collect);

  SegmentOracle& oracle_;
  int threads_;
  bool best_completion_;
  std::vector<std::int64_t> places_;        // of parameters among the weights
  std::vector<std::int64_t> parameter_of_;  // of weights; -1: none
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace margent
