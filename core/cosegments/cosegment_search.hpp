// Graphones as a transition system: beam search for the best alignment of a word by learned weights (paper 003,
// chapters 3 and 4).
//
// What an alignment scores is weights . features: those of cosegment_features.hpp, and as feature 0 the log-probability
// that the joint model gives its graphones. The search goes from letter to letter; between letters come graphones
// without letters. What is compared half way has the probability of the next letter in it: the joint model does not
// know that letter when it says how likely a graphone is, and would be far too sure that nothing is inserted before it.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "cosegments/cosegment_features.hpp"
#include "cosegments/cosegments.hpp"
#include "cosegments/gram_model.hpp"
#include "cosegments/transcription.hpp"
#include "transitions/beam_search.hpp"

namespace margent {

// The right pronunciations of a word, and which beginnings of alignments can still become one of them.
class RightAnswers {
 public:
  void set(const Graphones& graphones, const SpellingPairs& pairs, std::int64_t first, std::int64_t last);

  // Whether somebody who has read so many letters and has spoken so many phonemes, of this hash, may still be right.
  bool holds(std::int32_t letters, std::int32_t spoken, std::uint64_t phonemes) const {
    for (std::size_t p = 0; p < n_; ++p)
      if (fits(p, letters, spoken, phonemes)) return true;
    return false;
  }
  // Whether they are right if they stop here.
  bool ends(std::int32_t letters, std::int32_t spoken, std::uint64_t phonemes) const {
    for (std::size_t p = 0; p < n_; ++p)
      if (spoken == lattices_[p].m && letters == lattices_[p].n && fits(p, letters, spoken, phonemes)) return true;
    return false;
  }
  // Calls visit(graphone) for the graphones that keep them right; a graphone may come more than once.
  template <class Visit>
  void graphones_after(std::int32_t letters, std::int32_t spoken, std::uint64_t phonemes, Visit visit) const {
    for (std::size_t p = 0; p < n_; ++p) {
      if (!fits(p, letters, spoken, phonemes)) continue;
      const CosegmentLattice& lattice = lattices_[p];
      const std::int32_t cell = letters * (lattice.m + 1) + spoken;
      for (std::int32_t arc = lattice.begin[cell]; arc < lattice.begin[cell + 1]; ++arc)
        visit(lattice.arcs[arc].graphone);
    }
  }

 private:
  bool fits(std::size_t p, std::int32_t letters, std::int32_t spoken, std::uint64_t phonemes) const {
    const CosegmentLattice& lattice = lattices_[p];
    if (spoken > lattice.m || prefixes_[p][spoken] != phonemes || lattice.empty()) return false;
    const std::int32_t cell = letters * (lattice.m + 1) + spoken;
    return cell + 1 == lattice.cells() || lattice.begin[cell + 1] > lattice.begin[cell];
  }

  std::size_t n_ = 0;
  std::vector<CosegmentLattice> lattices_;
  std::vector<std::vector<std::uint64_t>> prefixes_;  // [pronunciation][phonemes]: hashes
};

struct CosegmentSearchOptions {
  std::int64_t beam = 0;  // how many states go on from each layer; 0: all
  double threshold =
      0;  // states go on if the joint model puts them at most so far below the best of their position; 0: all
  int insertions = 8;  // how many graphones without letters may follow each other
};

// Example i has the pairs [example_ptr[i], example_ptr[i + 1]): one word with its right pronunciations. Feature 0 comes
// from models[fold[i]], which should not have counted the word: else it is too sure of it to leave anything to learn.
struct TranscriptionExamples {
  SpellingPairs pairs;
  std::int64_t size = 0;
  const std::int64_t* example_ptr = nullptr;
  const std::int32_t* fold = nullptr;
  std::vector<const GramModel*> models;

  Symbols word(std::int64_t i) const { return pairs.word(example_ptr[i]); }
};

// An action is the next graphone, or the end. Layer i * rounds + g has the states that have read i letters and then g
// graphones without letters, the last layer whole words with their end. There are 2^bits + 1 weights.
//
// A state is what later scores and the answer depend on: the context of the joint model, the last two graphones and all
// phonemes so far. All that is not right has a loss of 1.
template <class Real>
class CosegmentSystem {
 public:
  static constexpr bool synchronous = false;
  static constexpr Recombination recombination = Recombination::moves;
  struct Move {
    double joint, outlook;   // log p of the graphones and the next letter; of the next letter alone
    std::uint64_t phonemes;  // a hash of all so far
    std::int32_t graphone, context;
    bool right;  // may still become a right answer
  };
  struct State {
    double joint, outlook;
    std::uint64_t phonemes;
    CosegmentHistory history;
    std::int32_t context, letters, spoken;  // letters read, phonemes spoken
    bool right;
  };
  using Item = BeamItem<CosegmentSystem>;

  CosegmentSystem(const Graphones& graphones, int bits, const CosegmentSearchOptions& options,
                  const TranscriptionExamples* examples = nullptr);

  const Graphones& graphones() const { return graphones_; }
  const TranscriptionExamples& examples() const { return *examples_; }
  const CosegmentSearchOptions& options() const { return options_; }
  int bits() const { return bits_; }

  // A word whose right pronunciations nobody knows: nothing costs.
  void turn_to(const GramModel& model, const FlatWeights<Real>& weights, Symbols word);
  // In training: answers that are not right score `cost` more.
  std::int64_t size() const { return examples_->size; }
  void turn_to(std::int64_t example, const FlatWeights<Real>& weights, double cost);
  // What the threshold dropped in the free search before is dropped here too.
  void force(bool forced) { forced_ = forced; }

  int n_layers() const { return (n_ + 1) * rounds_ + 1; }
  bool is_compared(int layer) const { return layer % rounds_ == 0 || layer == n_layers() - 1; }
  template <class Add>
  void start(Add add) {
    if (!forced_) best_.assign(n_ + 1, -std::numeric_limits<double>::infinity());
    const bool possible = !supervised_ || right_.holds(0, 0, 0);
    if (!forced_ || possible) add(possible ? 0 : cost_, {0, 0, 0, {}, model_->start(), 0, 0, possible});
  }
  template <class Propose>
  void expand(int layer, std::span<const Item> items, Propose& propose);
  State step(int layer, const State& from, const Move& move) const;
  bool keeps(int layer, double, const Move& move) const {
    return !(options_.threshold > 0) || layer == n_layers() - 1 ||
           !(move.joint < best_[layer / rounds_] - options_.threshold);
  }
  std::uint64_t signature(const State&, const Move& move) const {
    return mix(move.phonemes ^ (static_cast<std::uint64_t>(move.context) << 32));
  }
  bool same(const State& a, const Move& x, const State& b, const Move& y) const {
    return x.context == y.context && x.phonemes == y.phonemes && x.graphone == y.graphone &&
           x.graphone != graphones_.end() && a.history.graphones[0] == b.history.graphones[0];
  }

  bool right(const State& state) const { return state.right; }
  double loss(const State& state) const { return state.right ? 0 : 1; }
  std::uint64_t answer_key(const State& state) const { return state.phonemes; }
  std::int64_t errors(std::span<const Item* const>, std::span<const Item* const>) const { return 1; }
  std::int64_t n_positions(const State&) const { return 1; }
  bool same_action(const Move& a, const Move& b) const { return a.graphone == b.graphone; }
  void collect(const ActionInState<CosegmentSystem>& part, double amount);
  void collect_totals(const State& state, double amount) { collected_.push_back({0, amount * state.joint}); }
  void hand_over(SparseVector& out) {
    out.insert(out.end(), collected_.begin(), collected_.end());
    collected_.clear();
  }

 private:
  CosegmentFeatures features() const { return {graphones_, word_, bits_}; }
  void begin(const GramModel& model, const FlatWeights<Real>& weights, Symbols word);
  // The graphones of some letters after a state.
  template <class Propose>
  void extend(const Item& from, std::size_t item, int layer, Symbols letters, Propose& propose);
  template <class Propose>
  void add(const Item& from, std::size_t item, int layer, std::int32_t graphone, double log_p, std::int32_t next,
           Propose& propose);
  template <class Propose>
  void end(const Item& from, std::size_t item, Propose& propose);
  double of_graphone(std::int32_t at, std::int32_t graphone);
  double outlook(std::int32_t position, std::int32_t context);

  const Graphones& graphones_;
  int bits_;
  CosegmentSearchOptions options_;
  const TranscriptionExamples* examples_;
  const GramModel* model_ = nullptr;
  FlatWeights<Real> weights_;
  Symbols word_;
  RightAnswers right_;
  double cost_ = 0;
  bool supervised_ = false, forced_ = false;
  std::int32_t n_ = 0, rounds_ = 1;
  std::vector<double> best_;                  // joint, of each position
  std::vector<std::uint32_t> seen_, scored_;  // scored_[graphone]: at which place graphone_scores_[graphone] was found
  std::vector<double> graphone_scores_;
  std::uint32_t round_ = 0, place_ = 0;
  struct Outlook {
    std::uint64_t place = 0;
    std::int32_t context = -1;
    double value = 0;
  };
  std::vector<Outlook> outlooks_;  // those found last, by contexts
  std::vector<std::uint32_t> seen_ahead_;
  std::uint32_t round_ahead_ = 0;
  std::uint64_t words_ = 0;
  SparseVector collected_;
};

template <class Real>
using CosegmentSearch = BeamSearch<CosegmentSystem<Real>>;
extern template class BeamSearch<CosegmentSystem<float>>;
extern template class BeamSearch<CosegmentSystem<double>>;

// The k best pronunciations of each word, all different, by their best alignments. The same for any number of threads.
void search_words(const Graphones& graphones, const GramModel& model, const FlatWeights<float>& weights, int bits,
                  const SpellingPairs& words, const CosegmentSearchOptions& options, int k, int threads,
                  std::vector<std::vector<Transcription>>& out);

}  // namespace margent
