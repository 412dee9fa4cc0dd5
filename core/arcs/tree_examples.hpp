// Sentences and what is known of their trees, in common arrays.
#pragma once
#include <cstdint>
#include <span>

namespace margent {

// Views of arrays that somebody else owns and has checked. Words are numbered from 1 within each sentence.
struct TreeExamples {
  std::span<const std::int64_t> ptr;    // [n + 1]: where the words of each sentence begin
  std::span<const std::int32_t> atoms;  // [words][n_atoms]
  std::int32_t n_atoms = 0;
  std::span<const std::int32_t> heads;   // [words], 0 the root; -1: not known. Empty: of none
  std::span<const std::int32_t> labels;  // [words]; -1: not known. Empty: of none
  std::span<const float> weights;        // [n]; empty: 1

  std::int64_t size() const { return static_cast<std::int64_t>(ptr.size()) - 1; }
  int n_words(std::int64_t i) const { return static_cast<int>(ptr[i + 1] - ptr[i]); }
  const std::int32_t* atoms_of(std::int64_t i) const { return atoms.data() + ptr[i] * n_atoms; }
  // Of word 1.
  const std::int32_t* heads_of(std::int64_t i) const { return heads.data() + ptr[i]; }
  const std::int32_t* labels_of(std::int64_t i) const { return labels.data() + ptr[i]; }
  double weight(std::int64_t i) const { return weights.empty() ? 1.0 : static_cast<double>(weights[i]); }
};

}  // namespace margent
