// Sentences as a parser sees them, with their trees where these are known.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace margent {

// Sentence s has the words sequence_ptr[s], ..., sequence_ptr[s + 1] - 1 of all. `atoms` [words][n_atoms] is what is
// seen of each alone, 0 where it is unknown. Heads are counted within the sentence: 1 is its first word, 0 the root. A
// head of -1, or a label of -1, is not known. Without trees, `heads` and `labels` are null; without weights, all are 1.
struct Treebank {
  std::int64_t size = 0;
  std::int32_t n_atoms = 0;
  const std::int64_t* sequence_ptr = nullptr;
  const std::int32_t* atoms = nullptr;
  const std::int32_t *heads = nullptr, *labels = nullptr;
  const double* weights = nullptr;

  std::int32_t n_words(std::int64_t s) const {
    return static_cast<std::int32_t>(sequence_ptr[s + 1] - sequence_ptr[s]);
  }
  const std::int32_t* atoms_of(std::int64_t s) const { return atoms + sequence_ptr[s] * n_atoms; }
};

// What mistakes cost, all of them per word: 1 for a wrong head, and so much for a wrong label at the right head.
struct ParsingCosts {
  float label = 1;
};

// The right tree of a sentence: heads and labels of words from 1 on. What is not known of them is -1.
class GoldTree {
 public:
  void set(const Treebank& treebank, std::int64_t s) {
    n_words_ = treebank.n_words(s);
    const std::int64_t first = treebank.sequence_ptr[s];
    heads_.assign(1, -1);
    labels_.assign(1, -1);
    heads_.insert(heads_.end(), treebank.heads + first, treebank.heads + first + n_words_);
    labels_.insert(labels_.end(), treebank.labels + first, treebank.labels + first + n_words_);
    begin_.assign(n_words_ + 2, 0);
    for (std::int32_t word = 1; word <= n_words_; ++word)
      if (heads_[word] >= 0) ++begin_[heads_[word] + 1];
    for (std::int32_t head = 0; head <= n_words_; ++head) begin_[head + 1] += begin_[head];
    dependents_.resize(begin_.back());
    ends_.assign(begin_.begin(), begin_.end() - 1);
    for (std::int32_t word = 1; word <= n_words_; ++word)
      if (heads_[word] >= 0) dependents_[ends_[heads_[word]]++] = word;
  }
  std::int32_t n_words() const { return n_words_; }
  std::int32_t head(std::int32_t word) const { return heads_[word]; }
  std::int32_t label(std::int32_t word) const { return labels_[word]; }
  // The words that are known to hang on a head, from left to right.
  std::span<const std::int32_t> dependents(std::int32_t head) const {
    return {dependents_.data() + begin_[head], dependents_.data() + begin_[head + 1]};
  }
  // How many of these come at a position or after it.
  std::int32_t dependents_from(std::int32_t head, std::int32_t position) const {
    const auto all = dependents(head);
    return static_cast<std::int32_t>(all.end() - std::lower_bound(all.begin(), all.end(), position));
  }
  bool may_hang(std::int32_t word, std::int32_t head) const { return heads_[word] < 0 || heads_[word] == head; }
  // What an arc costs. A label at a head that is not known costs nothing.
  float cost(std::int32_t word, std::int32_t head, std::int32_t label, const ParsingCosts& costs) const {
    if (!may_hang(word, head)) return 1;
    return is_right(word, head, label) ? 0 : costs.label;
  }
  bool is_right(std::int32_t word, std::int32_t head, std::int32_t label) const {
    return may_hang(word, head) && (heads_[word] < 0 || labels_[word] < 0 || labels_[word] == label);
  }

 private:
  std::int32_t n_words_ = 0;
  std::vector<std::int32_t> heads_, labels_, begin_, ends_, dependents_;
};

}  // namespace margent
