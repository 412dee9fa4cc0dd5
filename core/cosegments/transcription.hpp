// From letters to phonemes: the best graphone sequences of a word under a model of grams.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cosegments/cosegments.hpp"
#include "cosegments/gram_model.hpp"
#include "transitions/beam_search.hpp"

namespace margent {

struct Transcription {
  double score = 0;  // log p(word, phonemes): of its best alignment, or of all that the search saw
  std::vector<std::int32_t> phonemes, graphones;  // graphones: of the best alignment
};

struct TranscriptionOptions {
  int k = 1;                    // how many pronunciations
  std::int64_t beam = 0;        // how many states go on from each layer; 0: all
  double threshold = 0;         // states go on if at most so far below the best of their position; 0: all
  bool sum_alignments = false;  // alignments with the same phonemes are summed
  int insertions = 8;           // how many graphones without letters may follow each other
};

// How often graphones without letters may follow each other, of those that there are.
inline std::int32_t possible_insertions(const Graphones& graphones, int insertions) {
  return graphones.letter_counts().empty() || graphones.letter_counts().front() > 0 ? 0 : insertions;
}

// A hash of the phonemes so far and one more.
inline std::uint64_t spoken_after(std::uint64_t phonemes, std::int32_t phoneme) {
  return mix(phonemes * 31 + static_cast<std::uint64_t>(phoneme) + 1);
}

// The joint model's search, as a transition system. An action is the next graphone, or the end. Layer i * rounds + g
// has the states that have read i letters and then g graphones without letters, the last layer whole words.
//
// A state is a context of the model and, with `sum_alignments` or for more than one answer, the phonemes so far: then
// what is kept are pronunciations and not alignments of them, and what a pronunciation scores is the sum of its
// alignments, or the best of them.
class TranscriptionSystem {
 public:
  static constexpr bool synchronous = false, sorted = false;
  static constexpr Recombination recombination = Recombination::moves;
  struct Move {
    double best;             // of the alignments up to here
    std::uint64_t phonemes;  // a hash; 0 where only the context counts
    std::int32_t graphone, context;
  };
  struct State {  // the rest is in the move that led to it
    std::int32_t context;
  };
  using Item = BeamItem<TranscriptionSystem>;

  TranscriptionSystem(const Graphones& graphones, const GramModel& model, const TranscriptionOptions& options);

  void turn_to(Symbols word) { word_ = word; }

  int n_layers() const { return (static_cast<int>(word_.size()) + 1) * rounds_ + 1; }
  template <class Add>
  void start(Add add) {
    best_.assign(n_layers(), log_zero);
    best_[0] = best_of_position_ = 0;
    add(0, {model_.start()});
  }
  template <class Propose>
  void expand(int layer, std::span<const Item> items, Propose& propose);
  State step(int, const State&, const Move& move) const { return {move.context}; }
  bool keeps(int layer, double score, const Move&) const {
    return !(options_.threshold > 0) || layer == n_layers() - 1 || !(score < best_of_position_ - options_.threshold);
  }
  std::uint64_t signature(const State&, const Move& move) const {
    return mix(move.phonemes ^ (static_cast<std::uint64_t>(move.context) << 32));
  }
  bool same(const State&, const Move& x, const State&, const Move& y) const {
    return x.context == y.context && x.phonemes == y.phonemes;
  }
  bool merge(int layer, double& score, const Move& known, double other_score, const Move& other) {
    score = options_.sum_alignments ? log_plus(score, other_score) : std::max(score, other_score);
    best_[layer] = std::max(best_[layer], score);
    return other.best > known.best;
  }

 private:
  // The graphones of some letters after a state.
  template <class Propose>
  void extend(const Item& from, std::size_t item, int layer, Symbols letters, Propose& propose);

  const Graphones& graphones_;
  const GramModel& model_;
  TranscriptionOptions options_;
  bool by_phonemes_;
  std::int32_t rounds_;
  Symbols word_;
  std::vector<double> best_;     // of each layer
  double best_of_position_ = 0;  // of the layers of a position up to the one that is chosen from next
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
};

// The graphones on the path to an item, without the end.
template <class S>
void trace_graphones(const Graphones& graphones, const BeamSearch<S>& search, const BeamItem<S>& item,
                     std::vector<std::int32_t>& out) {
  typename BeamSearch<S>::Path path;
  search.trace(item, path);
  out.clear();
  for (const BeamItem<S>* passed : path)
    if (passed->move.graphone != graphones.end()) out.push_back(passed->move.graphone);
}

template <class S>
Transcription transcription_of(const Graphones& graphones, const BeamSearch<S>& search, const BeamItem<S>& last) {
  Transcription t{last.score, {}, {}};
  trace_graphones(graphones, search, last, t.graphones);
  for (const std::int32_t graphone : t.graphones) {
    const Symbols spoken = graphones.phonemes(graphone);
    t.phonemes.insert(t.phonemes.end(), spoken.begin(), spoken.end());
  }
  return t;
}

// The best pronunciations of each word, best first; none where a letter has no graphone. Of equal scores the one found
// first comes first. The same for any number of threads.
void transcribe(const Graphones& graphones, const GramModel& model, const SpellingPairs& words,
                const TranscriptionOptions& options, int threads, std::vector<std::vector<Transcription>>& out);

}  // namespace margent
