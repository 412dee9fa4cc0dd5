// Sums and the best over all alignments of a pair, under grams of graphones of any order (paper 003,
// equations 4.11, 4.12).
//
// A state is a cell, the context of the model, and the last `history` graphones on the path to it; two paths with the
// same state share all that follows. With history = order - 1, an arc is one gram of that order, also where the model
// is of a lower one.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "cosegments/cosegments.hpp"
#include "cosegments/gram_model.hpp"

namespace margent {

// A gram that ends at some arc, and how often it is expected there.
struct ExpectedGram {
  std::array<std::int32_t, max_gram_order> graphones;
  std::int32_t length;
  double count;
};

class CosegmentSums {
 public:
  // The states of a lattice, with the sums of all paths to them. `beam`: of the states on a diagonal (those with the
  // same number of letters and phonemes behind them) only so many go on, the most likely; 0: all. `best`: not the sums
  // but the largest.
  CosegmentSums(const Graphones& graphones, const GramModel& model, int history, std::int64_t beam, bool best = false)
      : graphones_(graphones), model_(model), history_(history), beam_(beam), best_(best) {}

  // The log-probability of a pair; -inf where it has no alignment.
  double run(const CosegmentLattice& lattice);
  // After run: the grams of history + 1 graphones (fewer at the start of a word) with an expectation of at least
  // `prune_count`.
  void expect(double prune_count, std::vector<ExpectedGram>& out);
  // After run with `best`: the graphones of the best path.
  void best_graphones(std::vector<std::int32_t>& out) const;

 private:
  struct State {
    std::int32_t cell, context, next_of_diagonal, link,
        back;        // link: of states with the same hash; back: best arc into it
    double in, out;  // sums of the paths to it and from it
    std::array<std::int32_t, max_gram_order>
        graphones;  // the last `history` graphones, the latest first; -1: before the start
  };
  struct Arc {
    std::int32_t from, to, graphone;
    double score;
  };
  std::int32_t state(std::int32_t cell, std::int32_t context, const State& from, std::int32_t graphone);
  void reach(std::int32_t from, std::int32_t cell, std::int32_t graphone, double score, std::int32_t context);

  const Graphones& graphones_;
  const GramModel& model_;
  int history_;
  std::int64_t beam_;
  bool best_;
  double total_ = 0;
  std::int32_t end_ = -1, width_ = 0;
  std::vector<State> states_;
  std::vector<Arc> arcs_;
  std::vector<std::int32_t> diagonals_, buckets_, here_;
};

// The expected grams of pairs [first, last), added to `counts` in the order of the pairs, whatever the threads; returns
// the sum of the log-probabilities of those pairs that have an alignment, and how many have none.
struct GramExpectation {
  double log_likelihood = 0;
  std::int64_t impossible = 0;
};
GramExpectation expect_grams(const Graphones& graphones, const GramModel& model, const SpellingPairs& pairs,
                             std::int64_t first, std::int64_t last, int order, std::int64_t beam, double prune_count,
                             int threads, GramCounts* counts);

// For each pair its log-probability: of all alignments, or of the best, with its graphones.
void align_pairs(const Graphones& graphones, const GramModel& model, const SpellingPairs& pairs, std::int64_t beam,
                 bool best, int threads, double* scores, std::vector<std::vector<std::int32_t>>* paths);

}  // namespace margent
