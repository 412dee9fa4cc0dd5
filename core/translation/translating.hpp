// Translations of many sentences under fixed weights: the best, the k best, and the forests they are in.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "learning/frozen_rows.hpp"
#include "translation/translation_search.hpp"

namespace margent {

// A use of a rule in a derivation, over the derivations of its nonterminals.
struct DerivationStep {
  RuleUse use;
  std::int32_t n_tails = 0;
};

struct Translation {
  double score = 0;
  std::vector<std::int32_t> words;    // of the target; from n_targets on: source words, by their places
  std::vector<DerivationStep> steps;  // tails before heads
};

// `distinct`: translations that differ in their words, each with its best derivation; otherwise derivations. Of each
// sentence up to k, best first. Those beyond the best come from the forest that cube pruning leaves, where up to
// `most_derivations` are looked at.
struct TranslationQuery {
  std::int64_t k = 1, pop_limit = 100;
  bool distinct = true;
  static constexpr std::int64_t most_derivations = 20000;
};
std::vector<std::vector<Translation>> translate(const TranslationSetup& setup, const FrozenRows& weights,
                                                const TranslationQuery& query, int threads);

// A forest of translations that cube pruning leaves.
struct TranslationForest {
  PackedForest forest;
  std::vector<DerivationStep> steps;   // of edges
  std::vector<TranslationCell> cells;  // of nodes
};
std::vector<TranslationForest> translation_forests(const TranslationSetup& setup, const FrozenRows& weights,
                                                   std::int64_t pop_limit, int threads);

// The dense features of uses of rules in a sentence, summed.
using DenseFeatures = std::array<double, n_dense_features>;
DenseFeatures dense_features(const TranslationSetup& setup, std::int64_t sentence,
                             const std::vector<DerivationStep>& steps);

// A feature of a step of a derivation: a dense one, or of a template (-1: dense), with its weight and value.
struct StepFeature {
  std::int32_t step, tmpl, dense;
  double weight, value;
};
std::vector<StepFeature> explain_steps(const TranslationSetup& setup, const FrozenRows& weights, std::int64_t sentence,
                                       const std::vector<DerivationStep>& steps);

}  // namespace margent
