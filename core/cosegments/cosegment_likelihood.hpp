// The latent CRF under beam search: the likelihood of right pronunciations, however they are aligned.
//
// p(alignment | word) = exp(score) / Z among listed alignments: those that survived a beam search by the weights as
// they were, and right ones that a search of their own found (paper 003, Section 3.2.2). How a word is aligned is not
// known, so what counts is the probability of all right alignments together (Section 4.3, equation 4.9), or of the best
// of them (best_completion, 4.8). Differs from the paper in that what was once in a beam stays in the sum: else it pays
// to lead the beam astray, where the right alignment, which is always in the sum, has no rival worth the name.
//
// Unlike the search for the best, this one does not put paths to the same state together: each is a term of the sum,
// and a beam that keeps all gives the exact one.
#pragma once
#include <span>
#include <vector>

#include "cosegments/cosegment_oracle.hpp"
#include "learning/flat_likelihood.hpp"

namespace margent {

class CosegmentLikelihood final : public FlatLikelihood {
 public:
  // beam 0: all.
  CosegmentLikelihood(CosegmentOracle& oracle, std::int64_t beam, bool best_completion, int threads);

  // Searches all words by the present weights.
  bool grow() override;

 protected:
  double example(std::size_t thread, std::int64_t i, SparseVector* gradient) override;

 private:
  // The listed alignments of a word: alignment c goes through the places path[ends[c]], .., path[ends[c + 1] - 1].
  // Alignments have most places in common, and the features of each are looked up once.
  struct Alignments {
    std::vector<Cosegment> places;
    std::vector<std::int32_t> path, ends{0};
    std::vector<double> joint;  // log p of the joint model
    std::vector<char> right;

    std::size_t size() const { return joint.size(); }
    std::span<const std::int32_t> alignment(std::size_t c) const {
      return {path.data() + ends[c], path.data() + ends[c + 1]};
    }
  };
  struct Searcher {
    CosegmentSystem<double> system;
    CosegmentSearch<double> search;
    std::vector<std::int32_t> alignment, path;
    std::vector<double> of_alignments, of_places;  // scores, then shares of the gradient
  };
  Symbols word(std::int64_t i) const { return oracle_.examples().word(i); }
  // Lists what a search for the word finds that is new; whether there was anything.
  bool grow(Searcher& searcher, std::int64_t i);
  // The places of an alignment, listed where they are new.
  void find_path(Symbols word, Symbols alignment, Alignments& listed, std::vector<std::int32_t>& path) const;

  CosegmentOracle& oracle_;
  std::int64_t beam_;
  bool best_completion_;
  std::vector<Searcher> searchers_;
  std::vector<Alignments> listed_;
};

}  // namespace margent
