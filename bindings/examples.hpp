// Encoded examples as Python hands them over: checked once, kept alive.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "chain/examples.hpp"

// hidden[y]: how many labels of a chain, itself and those after it, label y stands for.
inline void check_hidden(const Ids& hidden, std::int64_t n_labels, bool exactly) {
  const std::int64_t n = n_entries(hidden);
  if (exactly ? n != n_labels : n < n_labels) throw nb::value_error("hidden: one number per label of the chain");
  for (std::int64_t y = 0; y < n; ++y)
    if (hidden.data()[y] < 1 || hidden.data()[y] > n - y)
      throw nb::value_error("hidden: a label stands for at least one of the chain");
}

class BoundExamples {
 public:
  BoundExamples(Ptr sequence_ptr, Ids ids, std::optional<Floats> values, Ptr ptr, std::optional<Ids> edge_ids,
                std::optional<Floats> edge_values, std::optional<Ptr> edge_ptr, std::optional<Ids> allowed,
                std::optional<Ptr> allowed_ptr, std::optional<Ids> labels, std::optional<Floats> weights,
                std::optional<Ids> hidden)
      : sequence_ptr_(sequence_ptr), ptr_(ptr), ids_(ids), values_(values), edge_values_(edge_values),
        weights_(weights), edge_ids_(edge_ids), allowed_(allowed), labels_(labels), hidden_(hidden),
        edge_ptr_(edge_ptr), allowed_ptr_(allowed_ptr) {
    const std::int64_t n_tokens = n_entries(ptr) - 1;
    check_ptr(sequence_ptr, n_tokens, "sequences");
    examples_.n_sequences = n_entries(sequence_ptr) - 1;
    examples_.sequence_ptr = sequence_ptr.data();
    for (std::int64_t s = 0; s < examples_.n_sequences; ++s)
      if (sequence_ptr.data()[s + 1] - sequence_ptr.data()[s] > 0x7FFFFFF0)
        throw nb::value_error("a sequence is too long");
    examples_.unigrams = features(ids, values, ptr, n_tokens, "features", &max_unigram_);
    if (edge_ids.has_value() != edge_ptr.has_value() || (edge_values && !edge_ids))
      throw nb::value_error("edge features need both ids and offsets");
    if (allowed.has_value() != allowed_ptr.has_value())
      throw nb::value_error("allowed labels need both ids and offsets");
    if (edge_ids) examples_.edges = features(*edge_ids, edge_values, *edge_ptr, n_tokens, "edge features", &max_edge_);
    if (allowed) {
      check_rows(*allowed_ptr, n_tokens, n_entries(*allowed), "allowed labels");
      examples_.allowed = allowed->data();
      examples_.allowed_ptr = allowed_ptr->data();
      max_label_ = largest(*allowed, 0, "allowed labels");
    }
    if (labels) {
      if (n_entries(*labels) != n_tokens) throw nb::value_error("one label per token");
      examples_.labels = labels->data();
      max_label_ = std::max(max_label_, largest(*labels, margent::unlabelled, "labels"));
      if (hidden) {
        check_hidden(*hidden, max_label_ + 1, false);
        examples_.hidden = hidden->data();
        max_label_ = std::max(max_label_, n_entries(*hidden) - 1);
      }
    }
    if (weights) {
      if (n_entries(*weights) != examples_.n_sequences) throw nb::value_error("one weight per sequence");
      examples_.weights = weights->data();
    }
  }

  const margent::Examples& examples() const { return examples_; }
  std::int64_t n_tokens() const { return examples_.sequence_ptr[examples_.n_sequences]; }
  void check(std::int64_t n_unigrams, std::int64_t n_edges, int n_labels) const {
    if (max_unigram_ >= n_unigrams) throw nb::value_error("a feature id is out of range");
    if (max_edge_ >= n_edges) throw nb::value_error("an edge feature id is out of range");
    if (max_label_ >= n_labels) throw nb::value_error("a label id is out of range");
  }

 private:
  static std::int64_t largest(const Ids& ids, std::int32_t smallest_allowed, const char* what) {
    std::int32_t largest = -1, smallest = 0;
    for (std::size_t i = 0; i < ids.shape(0); ++i) {
      largest = std::max(largest, ids.data()[i]);
      smallest = std::min(smallest, ids.data()[i]);
    }
    if (smallest < smallest_allowed) throw nb::value_error((std::string(what) + ": negative id").c_str());
    return largest;
  }
  static void check_rows(const Ptr& ptr, std::int64_t n_tokens, std::int64_t total, const char* what) {
    check_ptr(ptr, total, what);
    if (n_entries(ptr) != n_tokens + 1) throw nb::value_error((std::string(what) + ": one row per token").c_str());
  }
  static margent::Features features(const Ids& ids, const std::optional<Floats>& values, const Ptr& ptr,
                                    std::int64_t n_tokens, const char* what, std::int64_t* largest_id) {
    check_rows(ptr, n_tokens, n_entries(ids), what);
    if (values && values->shape(0) != ids.shape(0)) throw nb::value_error("one value per feature");
    *largest_id = largest(ids, 0, what);
    return {ids.data(), values ? values->data() : nullptr, ptr.data(), 0};
  }

  margent::Examples examples_;
  std::int64_t max_unigram_ = -1, max_edge_ = -1, max_label_ = -1;
  Ptr sequence_ptr_, ptr_;
  Ids ids_;
  std::optional<Floats> values_, edge_values_, weights_;
  std::optional<Ids> edge_ids_, allowed_, labels_, hidden_;
  std::optional<Ptr> edge_ptr_, allowed_ptr_;
};
