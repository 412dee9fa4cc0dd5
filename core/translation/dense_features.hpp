// The dense features of a derivation: what is known of every rule and translation, whatever its words. Their order is
// that of the weights.
#pragma once
#include <array>
#include <cstdint>

namespace margent {

enum DenseFeature : std::int32_t {
  // Made by the decoder.
  feature_language_model,          // log p of the target words, the end of the sentence with them
  feature_language_model_unknown,  // target words that the language model does not know
  feature_target_length,           // target words
  feature_glue,                    // applications of S -> <S X, S X>
  feature_pass_through,            // source words that are left as they are
  feature_characters,              // unknown source words that are translated by their characters
  feature_lexical,                 // rules without nonterminals
  feature_hierarchical,            // rules with nonterminals
  feature_reordering,              // rules whose nonterminals change places
  // Of a rule of the table, from counts: f its source side, e its target side.
  feature_target_given_source,          // log p(e | f)
  feature_source_given_target,          // log p(f | e)
  feature_target_given_source_lexical,  // log of the lexical weight of e given f
  feature_source_given_target_lexical,  // log of the lexical weight of f given e
  feature_rule_count,                   // log (1 + c(f, e))
  feature_source_count,                 // log (1 + c(f))
  feature_target_count,                 // log (1 + c(e))
  feature_rule_singleton,               // 1: c(f, e) is at most 1
  feature_source_singleton,             // 1: c(f) is at most 1
  n_dense_features
};

inline constexpr std::int32_t first_table_feature = feature_target_given_source;
inline constexpr std::int32_t n_table_features = n_dense_features - first_table_feature;
static_assert(n_dense_features == 18);

inline constexpr std::array<const char*, n_dense_features> dense_feature_names = {
    "language model",
    "language model: unknown word",
    "target length",
    "glue",
    "pass-through",
    "characters",
    "lexical rule",
    "hierarchical rule",
    "reordering",
    "log p(target | source)",
    "log p(source | target)",
    "log lex(target | source)",
    "log lex(source | target)",
    "rule count",
    "source count",
    "target count",
    "rule seen once",
    "source seen once",
};

}  // namespace margent
