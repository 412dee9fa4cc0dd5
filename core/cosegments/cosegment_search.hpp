// Beam search for the best cut of a word by learned weights (paper 003, chapters 3 and 4).
//
// What a cut scores is weights . features: those of cosegment_features.hpp, and as feature 0 the log-probability that
// the joint model gives its units. The search goes from letter to letter; between letters come units without letters.
// What is compared half way has the probability of the next letter in it: the joint model does not know that letter
// when it says how likely a unit is, and would be far too sure that nothing is inserted before it.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cosegments/cosegment_features.hpp"
#include "cosegments/cosegments.hpp"
#include "cosegments/gram_model.hpp"
#include "cosegments/transcription.hpp"

namespace margent {

// The right pronunciations of a word, and which beginnings of cuts can still become one of them.
class RightAnswers {
 public:
  void set(const CosegmentUnits& units, const SpellingPairs& pairs, std::int64_t first, std::int64_t last);

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
  // Calls visit(unit) for the units that keep them right; a unit may come more than once.
  template <class Visit>
  void units_after(std::int32_t letters, std::int32_t spoken, std::uint64_t phonemes, Visit visit) const {
    for (std::size_t p = 0; p < n_; ++p) {
      if (!fits(p, letters, spoken, phonemes)) continue;
      const CosegmentLattice& lattice = lattices_[p];
      const std::int32_t cell = letters * (lattice.m + 1) + spoken;
      for (std::int32_t arc = lattice.begin[cell]; arc < lattice.begin[cell + 1]; ++arc) visit(lattice.arcs[arc].unit);
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
  std::int64_t beam = 0;  // how many states go on from each position; 0: all
  double threshold =
      0;  // states go on if the joint model puts them at most so far below the best of their position; 0: all
  int insertions = 8;  // how many units without letters may follow each other
  bool merge = true;   // ways to the same state are one, the best of them
};

// The weights are scale times these, 2^bits + 1 of them.
template <class Real>
struct CosegmentWeights {
  const Real* kept;
  int bits;
  double scale = 1;
};

// A state is what later scores and the answer depend on: the context of the joint model, the last two units and all
// phonemes so far.
template <class Real>
class CosegmentSearch {
 public:
  struct Item {
    double score, joint;     // weights . features, with costs; log p of the units and the next letter
    double outlook;          // log p of the next letter alone
    std::uint64_t phonemes;  // a hash
    CosegmentHistory history;
    std::int32_t context, back, unit, layer, spoken, link;
    bool right;  // may still become a right answer
  };

  CosegmentSearch(const CosegmentUnits& units, const CosegmentSearchOptions& options);

  // `right`: the answers that cost nothing, all others cost `cost`; null: nothing costs. O(letters beam units)
  // features.
  void run(const GramModel& model, const CosegmentWeights<Real>& weights, Symbols word,
           const RightAnswers* right = nullptr, double cost = 0);
  // Only what is right, in the last search of `free`: what the threshold would have dropped there is dropped here.
  void run_forced(const CosegmentSearch& free);

  // Steps 1 to n: the items that have just read so many letters; step n + 1: whole words with their end. Best first.
  std::int32_t n_steps() const { return n_ + 1; }
  std::span<const std::int32_t> step(std::int32_t t) const {
    return layers_[t > n_ ? (n_ + 1) * rounds_ : t * rounds_];
  }
  const Item& item(std::int32_t h) const { return items_[h]; }
  // The units of an item.
  void trace(std::int32_t item, std::vector<std::int32_t>& units) const;

 private:
  void search();
  void expand(std::int32_t from, std::int32_t at, std::int32_t layer, Symbols letters);
  void add(std::int32_t from, std::int32_t at, std::int32_t layer, std::int32_t unit, double log_p, std::int32_t next);
  void push(const Item& item);
  void end(std::int32_t from);
  void keep(std::vector<std::int32_t>& layer, std::int64_t beam);
  double of_unit(std::int32_t at, std::int32_t unit);
  double outlook(std::int32_t position, std::int32_t context);

  const CosegmentUnits& units_;
  CosegmentSearchOptions options_;
  const GramModel* model_ = nullptr;
  CosegmentWeights<Real> weights_{};
  Symbols word_;
  const RightAnswers* right_ = nullptr;
  double cost_ = 0;
  bool forced_ = false;
  std::int32_t n_ = 0, rounds_ = 1;  // layer i * rounds + g: i letters done, then g units without letters
  std::vector<Item> items_;
  std::vector<std::vector<std::int32_t>> layers_;
  std::vector<double> best_;  // joint, of each position
  std::vector<std::int32_t> buckets_;
  std::vector<std::uint32_t> seen_, scored_;  // scored_[unit]: at which place unit_scores_[unit] was found
  std::vector<double> unit_scores_;
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
};

// The k best pronunciations of each word, all different, by their best cuts. The same for any number of threads.
void search_words(const CosegmentUnits& units, const GramModel& model, const CosegmentWeights<float>& weights,
                  const SpellingPairs& words, const CosegmentSearchOptions& options, int k, int threads,
                  std::vector<std::vector<Transcription>>& out);

}  // namespace margent
