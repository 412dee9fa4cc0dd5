// Grams of graphones: counts that may be fractions, and the smoothed model made of them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/semiring.hpp"
#include "text/strings.hpp"

namespace margent {

inline constexpr int max_gram_order = 12;
// What stands for log 0 in a file, where all numbers are finite.
inline constexpr double stored_log_zero = -1e20;
std::vector<double> from_stored(std::span<const float> log_values);

// What is taken off a count c of each level: below 1 the first number or c itself if that is less, from 3 on the third,
// between 1, 2 and 3 in proportion.
using Discounts = std::array<double, 3>;

// A tree of grams. Node 0 is the empty gram; the parent of a gram is the gram without its last graphone, its suffix the
// gram without its first. With a gram, all parts of it are in the tree.
class GramCounts {
 public:
  GramCounts() : parent_{0}, graphone_{-1}, suffix_{0}, depth_{0}, count_{0} {}

  // Adds to the count of a gram, which is not empty.
  void add(std::span<const std::int32_t> gram, double count) { count_[node(gram)] += count; }
  std::int32_t size() const { return static_cast<std::int32_t>(graphone_.size()); }

 private:
  friend class GramModel;
  std::int32_t node(std::span<const std::int32_t> gram);

  KeyTable table_;
  std::vector<std::int32_t> parent_, graphone_, suffix_, depth_;
  std::vector<double> count_;
};

// p(q | h) = (c(hq) - d(hq)) / c(h) + (sum of d after h) / c(h) * p(q | h without its first graphone), down to the
// uniform distribution over all graphones and the end. c is counted for the longest grams and for those at the start of
// a word; a shorter gram counts in how many longer ones it is the end, one with a count below 1 as that part of one.
// With whole counts this is the smoothing of Kneser and Ney as modified by Chen and Goodman (1999). Without any
// discount nothing is left for shorter histories, and p is the relative frequency of the longest grams.
//
// Nodes are numbered level by level and sorted, so that the continuations of a gram follow each other by graphones.
class GramModel {
 public:
  GramModel(const GramCounts& counts, std::int32_t n_graphones);
  // Of a tree that is known; the caller has checked the numbers.
  GramModel(std::int32_t n_graphones, std::vector<std::int32_t> begin, std::vector<std::int32_t> graphone,
            std::vector<std::int32_t> suffix, std::vector<double> log_p, std::vector<double> backoff);

  std::int32_t size() const { return static_cast<std::int32_t>(graphone_.size()); }
  std::int32_t n_graphones() const { return n_graphones_; }
  int order() const { return static_cast<int>(levels_.size()) - 2; }
  // The context at the start of a word.
  std::int32_t start() const { return start_; }

  // Sets the probabilities; discounts[k] are those of grams of k + 1 graphones. Without discounts the model is the
  // relative frequencies of the longest grams (the M-step), and what was not seen is impossible.
  void estimate(const std::vector<Discounts>& discounts);
  // log p(graphone | context), and the context after it: the longest gram that has continuations.
  double step(std::int32_t context, std::int32_t graphone, std::int32_t* next) const {
    double sum = 0;
    for (;; context = suffix_[context]) {
      const std::int32_t node = child(context, graphone);
      if (node != not_found) {
        *next = next_[node];
        return sum + log_p_[node];
      }
      sum += backoff_[context];
      if (context == 0) break;
    }
    *next = 0;
    return sum + log_uniform_;
  }
  // log p(graphone | the graphones before it).
  double log_probability(std::span<const std::int32_t> history, std::int32_t graphone) const;
  // Calls visit(graphone, log p, next context) for all graphones of [first, last) once, those seen after the longest
  // context first. `seen` is memory for it, of n_graphones + 2 numbers, at first all 0; `round` must be another at each
  // call.
  template <class Visit>
  void steps(std::int32_t context, std::int32_t first, std::int32_t last, std::uint32_t* seen, std::uint32_t round,
             Visit visit) const {
    double sum = 0;
    for (;; context = suffix_[context]) {
      const std::int32_t stop = begin_[context + 1];
      for (std::int32_t node = lower_bound(context, first); node < stop && graphone_[node] < last; ++node) {
        if (seen[graphone_[node]] == round) continue;
        seen[graphone_[node]] = round;
        visit(graphone_[node], sum + log_p_[node], next_[node]);
      }
      sum += backoff_[context];
      if (context == 0 || sum == log_zero) break;
    }
    if (sum == log_zero) return;
    for (std::int32_t graphone = first; graphone < last; ++graphone)
      if (seen[graphone] != round) visit(graphone, sum + log_uniform_, 0);
  }

  // For those who walk the tree themselves. The gram that continues another one, or not_found; log p of the last
  // graphone of a gram after the others; what is added for each gram that is given up; the context after a gram.
  std::int32_t continuation(std::int32_t gram, std::int32_t graphone) const { return child(gram, graphone); }
  double log_p(std::int32_t gram) const { return log_p_[gram]; }
  double backoff(std::int32_t gram) const { return backoff_[gram]; }
  std::int32_t context_after(std::int32_t gram) const { return next_[gram]; }
  double log_uniform() const { return log_uniform_; }

  const std::vector<std::int32_t>& begin() const { return begin_; }
  const std::vector<std::int32_t>& graphone() const { return graphone_; }
  const std::vector<std::int32_t>& suffix() const { return suffix_; }
  const std::vector<double>& count() const { return count_; }

  // log p and backoff of each node as they are stored; log p is 0 where nothing asks for it.
  std::vector<float> stored_log_p() const;
  std::vector<float> stored_backoff() const;

  const std::vector<std::int32_t>& levels() const { return levels_; }

  // The same model without the grams that say no more than their suffixes do.
  GramModel trimmed() const;

 private:
  std::int32_t lower_bound(std::int32_t context, std::int32_t graphone) const;
  std::int32_t child(std::int32_t context, std::int32_t graphone) const {
    if (context == 0) return root_[graphone];
    const std::int32_t node = lower_bound(context, graphone);
    return node < begin_[context + 1] && graphone_[node] == graphone ? node : not_found;
  }
  void index();

  std::int32_t n_graphones_ = 0, start_ = 0;
  double log_uniform_ = 0;
  std::vector<std::int32_t> begin_, graphone_, suffix_, next_, root_;
  std::vector<std::int32_t> levels_;  // where the grams of k graphones begin, k = 0, 1, ..., and the number of all
  std::vector<double> log_p_, backoff_;
  std::vector<double> raw_, count_, excess_;  // only of a model that was made of counts
};

}  // namespace margent
