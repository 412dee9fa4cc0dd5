// The pruned charts of many sentences as packed forests, with what each of their edges stands for.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "forest/forest_batch.hpp"
#include "phrases/phrase_chart.hpp"

namespace margent {

class PhraseForests {
 public:
  // The trees of each sentence that score at least as much as its best under the grammar less `margin`; sentence s is
  // the words sentence_ptr[s] to sentence_ptr[s + 1] - 1 of `tags`, at least one. Right trees, where there are any:
  // right[right_ptr[s]] to right[right_ptr[s + 1] - 1] are the spans of that of sentence s. Sentences are shared out to
  // threads; the forests are the same for any number of them.
  PhraseForests(std::shared_ptr<const PhraseGrammar> grammar, const TagScores& tags,
                std::span<const std::int64_t> sentence_ptr, double margin, std::span<const RightSpan> right,
                std::span<const std::int64_t> right_ptr, int threads);
  PhraseForests(const PhraseForests&) = delete;

  const PhraseGrammar& grammar() const { return *grammar_; }
  const ForestBatch& batch() const { return *batch_; }
  std::int64_t size() const { return batch_->size(); }
  // Of all forests, one after the other.
  const std::vector<PhraseEdge>& edges() const { return edges_; }
  // Where words of sentence s begin.
  std::int64_t first_word(std::int64_t s) const { return sentence_ptr_[static_cast<std::size_t>(s)]; }
  std::int32_t n_words(std::int64_t s) const { return static_cast<std::int32_t>(first_word(s + 1) - first_word(s)); }
  // Which edges are of right trees, and what an edge costs: 1 for a word with a wrong tag, for a symbol over words that
  // the right tree does not have there, and for a unary rule that is wrong there.
  std::vector<std::uint8_t> right() const;
  std::vector<double> costs() const;

 private:
  void append(std::span<const PhraseEdge> edges);

  std::shared_ptr<const PhraseGrammar> grammar_;
  std::vector<std::int64_t> sentence_ptr_;
  std::vector<PhraseEdge> edges_;
  std::vector<std::int64_t> node_ptr_{0}, edge_ptr_{0}, tail_ptr_{0};
  std::vector<std::int32_t> roots_, heads_, tails_;
  std::vector<std::uint8_t> allowed_;
  std::unique_ptr<ForestBatch> batch_;
};

}  // namespace margent
