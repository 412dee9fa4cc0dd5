// Features of uses of rules: the dense ones, and those of templates.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "learning/hashed_rows.hpp"
#include "learning/part_features.hpp"
#include "translation/rule_templates.hpp"

namespace margent {

// The key of a dense feature (dense_features.hpp).
inline std::uint64_t dense_key(std::int32_t k) { return mix(0xDE45E0000ull + static_cast<std::uint64_t>(k)) | 1; }

// Table: where weights are looked up, HashedRows in training and FrozenRows after it, with one column. One for each
// thread. What is collected is handed over by keys.
template <class Table>
class RuleFeatures {
 public:
  using Part = RuleUse;
  explicit RuleFeatures(const TranslationSetup& setup) : setup_(&setup), left_out_(setup.table) {}

  void turn_to(std::int64_t sentence, TableWeights<const Table> weights) {
    sentence_ = sentence;
    if (setup_->sources) left_out_ = LeftOut(setup_->table, *setup_->sources, sentence);
    weights_ = weights;
    for (std::size_t k = 0; k < dense_.size(); ++k) dense_[k] = weight(dense_key(static_cast<std::int32_t>(k)));
  }
  double dense_weight(DenseFeature feature) const { return dense_[static_cast<std::size_t>(feature)]; }

  // How much of dense features is collected: less than 1, where their weights are to move less than the others.
  void set_dense_step(double step) { dense_step_ = step; }

  double score(const Part& use) const {
    double sum = 0;
    each_dense(use, [&](std::int32_t k, double value) { sum += dense_[static_cast<std::size_t>(k)] * value; });
    return sum + sparse_score(use);
  }
  void collect(const Part& use, double amount) {
    if (dense_step_ != 0)
      each_dense(use, [&](std::int32_t k, double value) {
        collected_.push_back({as_index(dense_key(k)), dense_step_ * amount * value});
      });
    if (!has_sparse(use)) return;
    keys_.clear();
    setup_->templates->keys(*setup_, sentence_, use, keys_);
    for (const std::uint64_t key : keys_) collected_.push_back({as_index(key), amount});
  }
  void hand_over(SparseVector& out) {
    out.insert(out.end(), collected_.begin(), collected_.end());
    collected_.clear();
  }

  // Whether a rule of the table is known from more than this sentence.
  bool is_allowed(std::int32_t node, std::int32_t rule) const {
    float values[n_table_features];
    return left_out_.features(node, rule, values);
  }
  // Calls visit(feature, value) for the dense features of a use that are not 0.
  template <class Visit>
  void each_dense(const Part& use, Visit visit) const {
    if (use.log_probability != 0) visit(feature_language_model, use.log_probability);
    if (use.rule >= 0) {
      float values[n_table_features];
      left_out_.features(use.node, use.rule, values);
      for (std::int32_t k = 0; k < n_table_features; ++k)
        if (values[k] != 0) visit(first_table_feature + k, static_cast<double>(values[k]));
      double words = 0, unknown = 0;
      std::int32_t first = 0, n_gaps = 0;
      for (const std::int32_t symbol : setup_->table.target(use.rule)) {
        words += symbol >= 0;
        unknown += symbol >= 0 && setup_->model(sentence_).is_unknown(symbol);
        if (symbol < 0 && n_gaps++ == 0) first = symbol;
      }
      if (words > 0) visit(feature_target_length, words);
      if (unknown > 0) visit(feature_language_model_unknown, unknown);
      visit(n_gaps > 0 ? feature_hierarchical : feature_lexical, 1.0);
      if (first == second_nonterminal) visit(feature_reordering, 1.0);
      if (use.end - use.begin == 1 && is_piece(use.begin)) visit(feature_characters, 1.0);
    } else if (use.rule == glue) {
      visit(feature_glue, 1.0);
    } else if (use.rule == pass_through) {
      visit(feature_pass_through, 1.0);
      visit(feature_language_model_unknown, 1.0);
      visit(feature_target_length, 1.0);
    }
  }
  bool has_sparse(const Part& use) const {
    return setup_->templates->size() > 0 && (use.rule >= 0 || use.rule == pass_through);
  }

  // Of a feature, by its key.
  double weight(std::uint64_t key) const {
    const std::int32_t row = weights_.table->find(key);
    float sum = 0;
    if (row != Table::missing) weights_.table->add(row, &sum);
    return weights_.scale * static_cast<double>(sum);
  }

  static std::int64_t as_index(std::uint64_t key) { return static_cast<std::int64_t>(key); }
  static std::uint64_t as_key(std::int64_t index) { return static_cast<std::uint64_t>(index); }

 private:
  bool is_piece(std::int32_t place) const {
    const SourceSentences& all = setup_->sentences;
    return all.pieces && all.pieces[all.ptr[sentence_] + place];
  }
  // All are prefetched, then found, then added: what costs is to wait for memory.
  double sparse_score(const Part& use) const {
    if (!has_sparse(use)) return 0;
    keys_.clear();
    setup_->templates->keys(*setup_, sentence_, use, keys_);
    rows_.clear();
    for (const std::uint64_t key : keys_) weights_.table->prefetch(key);
    for (const std::uint64_t key : keys_) rows_.push_back(weights_.table->find(key));
    float sum = 0;
    for (const std::int32_t row : rows_)
      if (row != Table::missing) weights_.table->add(row, &sum);
    return weights_.scale * static_cast<double>(sum);
  }

  const TranslationSetup* setup_;
  std::int64_t sentence_ = 0;
  LeftOut left_out_;
  TableWeights<const Table> weights_;
  std::array<double, n_dense_features> dense_{};
  mutable std::vector<std::uint64_t> keys_;
  mutable std::vector<std::int32_t> rows_;
  double dense_step_ = 1;
  SparseVector collected_;
};

static_assert(ScoredParts<RuleFeatures<HashedRows>, TableWeights<const HashedRows>>);

}  // namespace margent
