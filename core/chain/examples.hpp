// Encoded sequences, ready for a linear chain: views over arrays that somebody else owns.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "chain/rows.hpp"

namespace margent {

inline constexpr std::int32_t unlabelled = -1;

struct Examples {
  std::int64_t n_sequences = 0;
  const std::int64_t* sequence_ptr = nullptr;  // [n_sequences + 1]: tokens of sequence s
  Features unigrams;                           // feature x label
  Features edges;                              // feature x previous label x label; ptr null where there are none
  // Labels allowed at each token, in compressed rows; an empty row allows all. Null: all everywhere.
  const std::int64_t* allowed_ptr = nullptr;
  const std::int32_t* allowed = nullptr;
  // Training only: gold labels, `unlabelled` where not known, and the weight of each sequence (null: 1).
  const std::int32_t* labels = nullptr;
  // Gold label y stands for hidden[y] labels of the chain, itself and those after it; which one is right is not known.
  // Null: for itself alone.
  const std::int32_t* hidden = nullptr;
  const float* weights = nullptr;

  std::int64_t begin(std::int64_t s) const { return sequence_ptr[s]; }
  // How many labels of the chain a gold label stands for.
  int n_sublabels(std::int32_t gold) const { return hidden ? hidden[gold] : 1; }
  // Whether a label of the chain is what the gold label says.
  bool fits(std::int32_t gold, std::int32_t label) const {
    return gold == unlabelled ||
           static_cast<std::uint32_t>(label - gold) < static_cast<std::uint32_t>(n_sublabels(gold));
  }
  // Whether there is one right labelling.
  bool complete(std::int64_t s) const {
    return std::all_of(labels + begin(s), labels + begin(s + 1),
                       [&](std::int32_t gold) { return gold != unlabelled && n_sublabels(gold) == 1; });
  }
  // Forbids what is not right at the tokens of a sequence, in scores [length][width].
  template <class Real>
  void keep_right(std::int64_t s, int n_labels, int width, Real* scores) const {
    for (int t = 0; t < length(s); ++t, scores += width)
      for (int y = 0; y < n_labels; ++y)
        if (!fits(labels[begin(s) + t], y)) scores[y] = -std::numeric_limits<Real>::infinity();
  }
  int length(std::int64_t s) const { return static_cast<int>(sequence_ptr[s + 1] - sequence_ptr[s]); }
};

}  // namespace margent
