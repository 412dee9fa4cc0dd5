// An n-gram model of parts of sentences: what is known of their probability before the words around them are.
//
// The words of a part are scored after those before them in the part, as if nothing came before it. When the part is
// put behind others, only its first words score differently, and what comes behind it depends on its last words only.
// These are its *state*, no longer than they have to be (Li and Khudanpur 2008; Heafield 2011):
//
// - on the left, the longest beginning w_1 ... w_m of the part that is a gram x w_1 ... w_m of the model for some x;
// - on the right, the longest end that the model has continuations of.
//
// Of a word further right than m + 1 nothing can change. Word m + 1 itself is found after no longer history, and of the
// longer ones only their backoffs count.
#pragma once
#include <cstdint>
#include <vector>

#include "cosegments/gram_model.hpp"

namespace margent {

class BoundaryModel {
 public:
  // left: a gram; right: a context; closed: the part is longer than its left side.
  struct State {
    std::int32_t left = 0, right = 0;
    bool closed = false;
    bool operator==(const State&) const = default;
    std::uint64_t hash() const {
      return mix((static_cast<std::uint64_t>(left) << 33) ^ (static_cast<std::uint64_t>(right) << 1) ^
                 static_cast<std::uint64_t>(closed));
    }
  };
  static constexpr std::int32_t unknown = -1;  // a word that the model does not have

  explicit BoundaryModel(const GramModel& model) : model_(&model) {
    const auto n = static_cast<std::size_t>(model.size());
    extends_.assign(n, 0);
    parent_.assign(n, 0);
    for (std::int32_t gram = 0; gram < model.size(); ++gram) {
      if (gram > 0) extends_[static_cast<std::size_t>(model.suffix()[static_cast<std::size_t>(gram)])] = 1;
      const auto at = static_cast<std::size_t>(gram);
      for (std::int32_t child = model.begin()[at]; child < model.begin()[at + 1]; ++child) {
        parent_[static_cast<std::size_t>(child)] = gram;
      }
    }
  }
  const GramModel& model() const { return *model_; }

  // A part that grows to the right, and what is known of its log-probability so far.
  class Part {
   public:
    explicit Part(const BoundaryModel& model) : model_(&model) {}

    // From the start of a sentence: all that follows has its full history.
    void start() { right_ = model_->model_->start(), closed_ = true; }
    void add(std::int32_t word) {
      const GramModel& m = *model_->model_;
      const std::int32_t before = right_;
      if (word == unknown) {
        for (;; right_ = m.suffix()[static_cast<std::size_t>(right_)]) {
          sum_ += m.backoff(right_);
          if (right_ == 0) break;
        }
        sum_ += m.log_uniform();
        closed_ = true;
        return;
      }
      sum_ += m.step(before, word, &right_);
      follow(before, word);
    }
    void end() { add(model_->model_->n_graphones()); }
    // Another part.
    void add(const State& part) {
      const GramModel& m = *model_->model_;
      std::int32_t grams[max_gram_order];
      int n = 0;
      for (std::int32_t gram = part.left; gram != 0; gram = model_->parent_[static_cast<std::size_t>(gram)])
        grams[n++] = gram;
      while (n > 0) {
        const std::int32_t gram = grams[--n], word = m.graphone()[static_cast<std::size_t>(gram)], before = right_;
        sum_ += m.step(before, word, &right_) - m.log_p(gram);
        follow(before, word);
      }
      if (!part.closed) return;
      for (const std::int32_t known = m.context_after(part.left); right_ != known && right_ != 0;
           right_ = m.suffix()[static_cast<std::size_t>(right_)])
        sum_ += m.backoff(right_);
      right_ = part.right;
      closed_ = true;
    }

    double log_probability() const { return sum_; }
    State state() const { return {left_, right_, closed_}; }

   private:
    // The left side goes on as long as what was added makes a gram that something may come before.
    void follow(std::int32_t before, std::int32_t word) {
      if (closed_) return;
      const std::int32_t gram = before == left_ ? model_->model_->continuation(left_, word) : not_found;
      closed_ = gram == not_found || !model_->extends_[static_cast<std::size_t>(gram)];
      if (!closed_) left_ = gram;
    }

    const BoundaryModel* model_;
    double sum_ = 0;
    std::int32_t left_ = 0, right_ = 0;
    bool closed_ = false;
  };

 private:
  const GramModel* model_;
  std::vector<std::uint8_t> extends_;  // whether a gram is the end of a longer one
  std::vector<std::int32_t> parent_;   // a gram without its last word
};

}  // namespace margent
