// The oracle of sentence pairs: derivations are latent, and only translations are right or wrong (paper 003, Section
// 5.2.2: MaxForce).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "learning/row_oracle.hpp"
#include "translation/right_forests.hpp"
#include "translation/translation_search.hpp"

namespace margent {

// What is learned from where the best translation that the search finds is not right.
enum class TranslationUpdate {
  max_violation,  // at the node where the best wrong partial derivation is furthest ahead of the best right one
  local,          // at the root, towards the best of the k best translations by sentence BLEU (Liang et al. 2006)
  skip,           // at the root, and only where the wrong derivation scores no less than the right one
  standard,       // at the root
};

struct TranslationTraining {
  TranslationSetup setup;
  ReferenceArrays references;
  std::int64_t pop_limit = 100;
  TranslationUpdate update = TranslationUpdate::max_violation;
  std::int64_t k_best = 100;  // of the local update
  std::int64_t batch = 1;     // so many sentences are translated under the same weights
  int threads = 1;
  // What is compared with wrong partial derivations: those that the best right derivation is made of, or at each node
  // the best of any right one.
  bool follows_answer = false;
  double dense_step = 1;               // the part of a step that weights of dense features make
  std::vector<double> weights;         // of sentences, or empty
  std::vector<std::int64_t> examples;  // the sentences to learn from
};

class TranslationOracle final : public RowOracle {
 public:
  // `right`: by sentence; not looked at by the local update, which asks only which translations are better.
  TranslationOracle(TranslationTraining training, const std::vector<RightForest>* right);
  ~TranslationOracle() override;

  std::int64_t size() const override { return static_cast<std::int64_t>(training_.examples.size()); }
  std::int64_t batch() const { return training_.batch; }
  void plan(const std::int64_t* examples, std::int64_t n) override;
  void ask(std::int64_t example, const Question& question, Reply& answer) override;
  void delta(std::size_t rival, SparseVector& out) const override { out = deltas_.at(rival); }
  double dot(std::size_t i, std::size_t j) const override { return this->inner(deltas_.at(i), deltas_.at(j)); }
  void move(std::size_t rival, double step) override { this->add(deltas_.at(rival), step); }

  // How often the node of the last answers was one over so many words, by updates so far.
  const std::vector<std::int64_t>& update_lengths() const { return update_lengths_; }

 private:
  class Worker;
  // An answer, and its deltas by the keys of features.
  struct Answer {
    Reply reply;
    std::vector<SparseVector> deltas;
    std::int32_t length = 0;
  };
  std::vector<Answer> answers(const std::int64_t* examples, std::int64_t n, const Question& question);

  TranslationTraining training_;
  const std::vector<RightForest>* right_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::int64_t> plan_;
  std::size_t planned_ = 0;           // where in the plan the next example should be
  std::vector<Answer> prepared_;      // of the rest of the batch, the next one last
  std::vector<SparseVector> deltas_;  // of the last answer, by weights
  std::vector<std::int64_t> update_lengths_;
};

}  // namespace margent
