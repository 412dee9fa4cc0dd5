// The features of the parts of a labelling: of a token with its label, and of a transition.
#pragma once
#include <cstdint>
#include <span>

#include "chain/chain.hpp"
#include "chain/examples.hpp"
#include "learning/part_features.hpp"

namespace margent {

// In the space of all weights of a chain. What is scored by them, all labels of all tokens at once, is ChainScorer's.
class ChainFeatures {
 public:
  // The token at a position with its label; or the transition into the position and, behind the last token, the end.
  struct Part {
    int position;
    std::span<const std::int32_t> labels;  // of all tokens, or of the first of them
    bool is_transition;
  };
  // Where the weights are: unigrams [n_unigrams][width], edges [n_edges][edge_width], and of each level its ends
  // [B^level][width] and its transitions [B^(level + 1)][width].
  struct Layout {
    std::int64_t edges, edge_width, levels, size;
  };

  ChainFeatures(const Examples& examples, const ChainShape& shape, std::int64_t n_unigrams, std::int64_t n_edges,
                bool learn_transitions)
      : examples_(examples), shape_(shape), learn_transitions_(learn_transitions) {
    layout_.edges = n_unigrams * shape.width;
    layout_.edge_width = shape.base * shape.width;
    layout_.size = layout_.levels = layout_.edges + n_edges * layout_.edge_width;
    for (std::int64_t level = 0, n = 1; level < shape.order; ++level, n *= shape.base)
      layout_.size += n * (1 + shape.base) * shape.width;
  }

  const Layout& layout() const { return layout_; }
  void turn_to(std::int64_t example) { begin_ = examples_.begin(example); }
  void collect(const Part& part, double amount) {
    visit(part, amount, [&](std::int64_t index, double value) { collected_.push_back({index, value}); });
  }
  void hand_over(SparseVector& out) {
    out.insert(out.end(), collected_.begin(), collected_.end());
    collected_.clear();
  }
  // Calls on_entry(index, amount * value) for each feature of a part.
  template <class OnEntry>
  void visit(const Part& part, double amount, OnEntry on_entry) const {
    if (part.is_transition)
      transition(part, amount, on_entry);
    else
      row(examples_.unigrams, part.position, part.labels[part.position], shape_.width, amount, on_entry);
  }

 private:
  template <class OnEntry>
  void row(const Features& f, int position, std::int64_t first, std::int64_t stride, double amount,
           OnEntry on_entry) const {
    const std::int64_t token = begin_ + position;
    for (std::int64_t k = f.ptr[token]; k < f.ptr[token + 1]; ++k)
      on_entry(first + f.ids[k] * stride, amount * f.value(k));
  }

  template <class OnEntry>
  void transition(const Part& part, double amount, OnEntry on_entry) const {
    const ChainShape& s = shape_;
    const std::span<const std::int32_t> y = part.labels;
    const int n = static_cast<int>(y.size()), t = part.position;
    const auto label_at = [&](int u) -> std::int64_t { return u < 0 ? s.n_labels : y[u]; };
    if (layout_.levels > layout_.edges && examples_.edges.ptr && t < n)
      row(examples_.edges, t, layout_.edges + label_at(t - 1) * s.width + y[t], layout_.edge_width, amount, on_entry);
    if (!learn_transitions_) return;
    std::int64_t offset = layout_.levels, size = 1, history = 0;
    for (int level = 0; level < s.order; ++level) {
      if (t == n) {
        on_entry(offset + history * s.width + y[n - 1], amount);
        history += label_at(n - 2 - level) * size;
      } else {
        history += label_at(t - 1 - level) * size;
        on_entry(offset + (size + history) * s.width + y[t], amount);
      }
      offset += size * s.width * (1 + s.base);
      size *= s.base;
    }
  }

  Examples examples_;
  ChainShape shape_;
  bool learn_transitions_;
  Layout layout_{};
  std::int64_t begin_ = 0;
  SparseVector collected_;
};

static_assert(PartFeatures<ChainFeatures>);

}  // namespace margent
