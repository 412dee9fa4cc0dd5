// A chain whose scores are linear in weights: from encoded tokens to the scores of one sequence.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "chain/chain.hpp"
#include "chain/chain_beam.hpp"
#include "chain/examples.hpp"
#include "parallel.hpp"

namespace margent {

// From this many labels on, the pruned search of chain_best is faster than the complete one.
inline constexpr int pruned_from = 256;

// The weights as the search sees them. All pointers belong to somebody else.
struct LinearChain {
  ChainShape shape;
  const Rows* unigrams;                // width: shape.width
  const Rows* edges = nullptr;         // width: (L + 1) * shape.width
  const float* transitions = nullptr;  // [B^k][width]: all orders added up, forbidden ones -inf
  const float* end = nullptr;          // [B^(k-1)][width]
  const float* transposed = nullptr;   // see ChainScores
  const float* transition_bound = nullptr;
  int beam = 0;  // so many states survive at each token; 0: all
};

// Values of features up to this are ordinary: what they score is as exact in single precision as it needs to be.
inline constexpr float ordinary_value = 1000;

// Whether all features of these tokens have ordinary values.
inline bool has_ordinary_values(const Features& features, std::int64_t begin, std::int64_t end) {
  if (!features.values) return true;
  float largest = 0;
  for (std::int64_t k = features.ptr[begin]; k < features.ptr[end]; ++k)
    largest = std::max(largest, std::abs(features.values[k]));
  return largest <= ordinary_value;
}

// What is done with the scores of sequences: tables of label pairs that it does not need are not made.
enum class ChainUse { score, search, sums };

// Scores sequences one after the other into its own memory. Real is float for search in training and tagging, double
// for sums and for k-best, where scores are reported.
template <class Real>
class ChainScorer {
 public:
  // Scores are multiplied by `scale`, which must be 1 for floats.
  explicit ChainScorer(const LinearChain& model, double scale = 1, ChainUse use = ChainUse::search)
      : model_(model), scale_(static_cast<Real>(scale)), edge_scores_(*this) {
    if constexpr (!std::is_same_v<Real, float>) {
      const ChainShape& s = model.shape;
      transitions_.assign(model.transitions, model.transitions + s.histories * s.width);
      end_.assign(model.end, model.end + s.states());
      for (Real& x : transitions_) x *= scale_;
      for (Real& x : end_) x *= scale_;
      if (s.order == 1 && use == ChainUse::search)
        transpose_transitions(transitions_.data(), s.n_labels, s.width, transposed_.need(s.n_labels * s.width));
      if (s.order == 1 && use == ChainUse::sums)
        exp_transitions_ = std::make_unique<ExpTransitions<Real>>(s, transitions_.data());
    }
  }

  // With a beam, labels that no survivor has are forbidden; in training, the right ones stay.
  ChainScores<Real> score(const Examples& examples, std::int64_t sequence) {
    const ChainScores<Real> scores = score_all(examples, sequence);
    if (model_.beam && scores.length) keep_survivors(examples, examples.begin(sequence), scores);
    return scores;
  }

  // The same without a beam.
  ChainScores<Real> score_all(const Examples& examples, std::int64_t sequence) {
    const std::int64_t begin = examples.begin(sequence);
    const int n = examples.length(sequence);
    const std::size_t size = static_cast<std::size_t>(n) * model_.shape.width;
    if constexpr (!std::is_same_v<Real, float>) {
      if (!has_ordinary_values(examples.unigrams, begin, begin + n)) {
        Real* emissions = emissions_.need(size);
        gather_exactly(examples.unigrams, begin, begin + n, emissions);
        apply_tag_dictionary(examples, begin, n, emissions);
        return with_transitions(examples, begin, n, emissions);
      }
    }
    float* gathered = gathered_.need(size);
    gather(examples.unigrams, begin, begin + n, gathered);
    Real* emissions = widen(gathered, size, emissions_);
    apply_tag_dictionary(examples, begin, n, emissions);
    return with_transitions(examples, begin, n, emissions);
  }

  // Scores a sequence and finds its best labelling: the same answer as chain_best(score(...)). Where nothing stands in
  // the way (dense rows, order 1, no constraints), both happen in one loop, which is faster than one after the other.
  double best(const Examples& examples, std::int64_t sequence, ChainWorkspace<Real>& work, std::int32_t* labels,
              ChainScores<Real>& scores) {
    const ChainShape& s = model_.shape;
    const int n = examples.length(sequence);
    if (model_.beam && n) {
      scores = score_all(examples, sequence);
      beam_.search(scores, model_.beam);
      if (beam_.at(n).empty()) return -std::numeric_limits<double>::infinity();
      beam_.trace_best(labels);
      return beam_.at(n)[0].score;
    }
    if constexpr (std::is_same_v<Real, float>) {
      if (model_.unigrams->dense() && s.order == 1 && !model_.transition_bound && !examples.allowed_ptr &&
          !(model_.edges && examples.edges.ptr) && 0 < n && n <= unshifted_length) {
        const std::int64_t begin = examples.begin(sequence);
        const std::size_t size = static_cast<std::size_t>(n) * s.width;
        const Features& f = examples.unigrams;
        scores = with_transitions(examples, begin, n, gathered_.need(size));
        kernels<float>().gather_viterbi(model_.unigrams->dense(), s.width, f.ids, f.values, f.ptr, begin, begin + n,
                                        std::max(f.last, begin + n), s.n_labels, model_.transitions,
                                        model_.transitions + s.start_history() * s.width, gathered_.data(),
                                        work.alpha.need(size), work.reached.need(size));
        return chain_trace_back(scores, work, labels);
      }
    }
    scores = score(examples, sequence);
    return chain_best(scores, work, labels);
  }

  // The largest sum of |value * weight| over the features of a token, for any label of a sequence: no partial sum of a
  // score is larger. 0 where all values are ordinary.
  double magnitude(const Examples& examples, std::int64_t sequence) {
    const std::int64_t begin = examples.begin(sequence), end = examples.begin(sequence + 1);
    const Features& f = examples.unigrams;
    if (has_ordinary_values(f, begin, end)) return 0;
    double largest = 0;
    std::vector<double> sums(model_.shape.n_labels);
    for (std::int64_t t = begin; t < end; ++t) {
      std::fill(sums.begin(), sums.end(), 0.0);
      each_row(f, t, [&](double value, const float* row) {
        for (std::size_t y = 0; y < sums.size(); ++y) sums[y] += std::abs(value * row[y]);
      });
      largest = std::max(largest, *std::max_element(sums.begin(), sums.end()));
    }
    return largest;
  }

  // Says which sequence comes next, so that the rows of its first tokens are fetched meanwhile.
  void prefetch(const Examples& examples, std::int64_t sequence) const {
    if (const float* rows = model_.unigrams->dense())
      kernels<float>().prefetch(rows, model_.shape.width, examples.unigrams.ids, examples.unigrams.ptr,
                                examples.begin(sequence), examples.sequence_ptr[sequence + 1]);
  }

  // The emissions of the last `score`, to add costs or constraints to.
  Real* emissions() {
    if constexpr (std::is_same_v<Real, float>)
      return gathered_.data();
    else
      return emissions_.data();
  }

 private:
  struct EdgeScores final : EdgeSource<Real> {
    explicit EdgeScores(ChainScorer& owner) : owner(owner) {}
    const Real* at(int position) override {
      const std::int64_t t = begin + position;
      if (features->ptr[t] == features->ptr[t + 1]) return nullptr;
      const std::size_t size = static_cast<std::size_t>(owner.model_.edges->width());
      float* out = owner.edge_matrix_.need(size);
      owner.model_.edges->gather(*features, t, t + 1, out);
      return owner.widen(out, size, owner.wide_edges_);
    }
    ChainScorer& owner;
    const Features* features = nullptr;
    std::int64_t begin = 0;
  };

  // visit(value, row of weights) for the features of a token.
  template <class Visit>
  void each_row(const Features& features, std::int64_t t, Visit visit) {
    float* row = row_.need(model_.shape.width);
    check_interruption((features.ptr[t + 1] - features.ptr[t]) * model_.shape.width);
    for (std::int64_t k = features.ptr[t]; k < features.ptr[t + 1]; ++k) {
      const std::int64_t ptr[] = {k, k + 1};
      model_.unigrams->gather({features.ids, nullptr, ptr, 0}, 0, 1, row);
      visit(static_cast<double>(features.value(k)), row);
    }
  }

  // The same sums as `gather`, in double precision: values may be so large that what is left of them after they cancel
  // out is lost in single precision.
  void gather_exactly(const Features& features, std::int64_t begin, std::int64_t end, Real* out) {
    const int width = model_.shape.width;
    std::vector<double> sums(width);
    for (std::int64_t t = begin; t < end; ++t, out += width) {
      std::fill(sums.begin(), sums.end(), 0.0);
      each_row(features, t, [&](double value, const float* row) {
        for (int y = 0; y < width; ++y) sums[y] += value * row[y];
      });
      for (int y = 0; y < width; ++y) out[y] = static_cast<Real>(scale_ * sums[y]);
    }
  }

  // The sums of rows of all tokens, some at a time.
  void gather(Features features, std::int64_t begin, std::int64_t end, float* out) const {
    constexpr std::int64_t at_once = 1024;
    const std::int64_t width = model_.shape.width;
    features.last = std::max(features.last, end);
    for (std::int64_t t = begin; t < end; t += at_once, out += at_once * width) {
      const std::int64_t to = std::min(t + at_once, end);
      check_interruption((features.ptr[to] - features.ptr[t]) * width / lane_count);
      model_.unigrams->gather(features, t, to, out);
    }
  }

  ChainScores<Real> with_transitions(const Examples& examples, std::int64_t begin, int n, const Real* emissions) {
    ChainScores<Real> scores{model_.shape, n, emissions, nullptr, nullptr};
    if constexpr (std::is_same_v<Real, float>) {
      scores.transitions = model_.transitions;
      scores.end = model_.end;
      scores.transposed = model_.transposed;
      scores.transition_bound = model_.transition_bound;
    } else {
      scores.transitions = transitions_.data();
      scores.end = end_.data();
      scores.transposed = transposed_.size() ? transposed_.data() : nullptr;
      scores.exp_transitions = exp_transitions_.get();
    }
    scores.few_labels = examples.allowed_ptr || model_.beam;
    if (model_.edges && examples.edges.ptr) {
      edge_scores_.features = &examples.edges;
      edge_scores_.begin = begin;
      scores.edges = &edge_scores_;
    }
    return scores;
  }

  Real* widen(float* from, std::size_t size, Buffer<Real>& to) {
    if constexpr (std::is_same_v<Real, float>) {
      (void)size, (void)to;
      return from;
    } else {
      Real* out = to.need(size);
      for (std::size_t i = 0; i < size; ++i) out[i] = scale_ * from[i];
      return out;
    }
  }

  void apply_tag_dictionary(const Examples& examples, std::int64_t begin, int n, Real* emissions) {
    if (!examples.allowed_ptr) return;
    const int width = model_.shape.width;
    for (int t = 0; t < n; ++t) {
      const std::int64_t from = examples.allowed_ptr[begin + t], to = examples.allowed_ptr[begin + t + 1];
      if (from == to) continue;
      Real* row = emissions + static_cast<std::size_t>(t) * width;
      kept_.assign(row, row + width);
      std::fill(row, row + width, -std::numeric_limits<Real>::infinity());
      for (std::int64_t k = from; k < to; ++k) row[examples.allowed[k]] = kept_[examples.allowed[k]];
    }
  }

  void keep_survivors(const Examples& examples, std::int64_t begin, const ChainScores<Real>& scores) {
    const int width = model_.shape.width;
    beam_.search(scores, model_.beam);
    for (int t = 0; t < scores.length; ++t) {
      Real* row = emissions() + static_cast<std::size_t>(t) * width;
      kept_.assign(row, row + width);
      std::fill(row, row + width, -std::numeric_limits<Real>::infinity());
      for (const auto& item : beam_.at(t)) row[item.move % width] = kept_[item.move % width];
      if (examples.labels && examples.labels[begin + t] != unlabelled)
        for (int y = examples.labels[begin + t]; examples.fits(examples.labels[begin + t], y); ++y) row[y] = kept_[y];
    }
  }

  LinearChain model_;
  Real scale_;
  Buffer<float> gathered_, edge_matrix_, row_;
  Buffer<Real> emissions_, wide_edges_, transposed_;
  std::vector<Real> transitions_, end_, kept_;
  std::unique_ptr<ExpTransitions<Real>> exp_transitions_;
  EdgeScores edge_scores_;
  ChainBeam<Real> beam_;
};

// Calls work(state, sequence) for every sequence, from up to `threads` threads, each with a state of its own made by
// make_state(). The answers must not depend on which thread works on what.
template <class MakeState, class Work>
void for_each_sequence(std::int64_t n_sequences, int threads, MakeState make_state, Work work) {
  const std::int64_t pieces = 8 * static_cast<std::int64_t>(std::max(threads, 1));
  const std::int64_t chunk = std::clamp<std::int64_t>(n_sequences / pieces, 1, 16);
  const std::int64_t chunks = (n_sequences + chunk - 1) / chunk;
  const int used = static_cast<int>(std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(chunks, 1)));
  std::vector<decltype(make_state())> states(used);
  parallel(chunks, used, [&](std::size_t thread, std::int64_t c) {
    auto& state = states[thread];
    if (!state) state = make_state();
    for (std::int64_t s = c * chunk; s < std::min((c + 1) * chunk, n_sequences); ++s) work(*state, s);
  });
}

}  // namespace margent
