// From letters to phonemes: the best graphone sequences of a word under a model of grams.
#pragma once
#include <cstdint>
#include <vector>

#include "cosegments/cosegments.hpp"
#include "cosegments/gram_model.hpp"

namespace margent {

struct Transcription {
  double score = 0;  // log p(word, phonemes): of its best alignment, or of all that the search saw
  std::vector<std::int32_t> phonemes, graphones;  // graphones: of the best alignment
};

struct TranscriptionOptions {
  int k = 1;                    // how many pronunciations
  std::int64_t beam = 0;        // how many states go on from each position; 0: all
  double threshold = 0;         // states go on if at most so far below the best of their position; 0: all
  bool sum_alignments = false;  // alignments with the same phonemes are summed
  int insertions = 8;           // how many graphones without letters may follow each other
};

// Searches from left to right. A state is a position in the word and the context of the model; with `sum_alignments`,
// or for more than one answer, also the phonemes so far, so that what is kept are pronunciations and not alignments of
// them.
class Transcriber {
 public:
  Transcriber(const Graphones& graphones, const GramModel& model, const TranscriptionOptions& options);
  // The best pronunciations, best first; none where a letter has no graphone.
  void run(Symbols word, std::vector<Transcription>& out);

 private:
  struct Hypothesis {
    std::int32_t context, back, graphone, link, layer;
    std::uint64_t phonemes;  // a hash; 0 where only the context counts
    double score, best;      // the sum and the best of the alignments up to it
  };
  void expand(std::int32_t from, std::int32_t layer, Symbols letters);
  void add(std::int32_t layer, std::int32_t context, std::uint64_t phonemes, double score, double best,
           std::int32_t back, std::int32_t graphone);
  void finish(std::vector<Transcription>& out);

  const Graphones& graphones_;
  const GramModel& model_;
  TranscriptionOptions options_;
  bool by_phonemes_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<std::vector<std::int32_t>> layers_;
  std::vector<double> best_;  // of each layer
  std::vector<std::int32_t> buckets_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  std::vector<std::pair<double, std::int32_t>> ends_;
};

void transcribe(const Graphones& graphones, const GramModel& model, const SpellingPairs& words,
                const TranscriptionOptions& options, int threads, std::vector<std::vector<Transcription>>& out);

}  // namespace margent
