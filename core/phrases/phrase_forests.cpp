#include "phrases/phrase_forests.hpp"

#include <array>
#include <map>
#include <stdexcept>

#include "interruption.hpp"
#include "parallel.hpp"

namespace margent {

namespace {

enum Level : std::int32_t { bottom, top, pieces };

using Item = std::array<std::int32_t, 4>;  // level, begin, end, symbol

}  // namespace

PhraseForests::PhraseForests(std::shared_ptr<const PhraseGrammar> grammar, const TagScores& tags,
                             std::span<const std::int64_t> sentence_ptr, double margin,
                             std::span<const RightSpan> right, std::span<const std::int64_t> right_ptr, int threads)
    : grammar_(std::move(grammar)), sentence_ptr_(sentence_ptr.begin(), sentence_ptr.end()) {
  const auto n = static_cast<std::int64_t>(sentence_ptr.size()) - 1;
  std::vector<PhraseChart> charts(static_cast<std::size_t>(workers(n, threads)), PhraseChart(*grammar_));
  std::vector<std::vector<PhraseEdge>> found(static_cast<std::size_t>(n));
  parallel(n, threads, [&](std::size_t thread, std::int64_t s) {
    charts[thread].fill(tags, first_word(s), n_words(s));
    const auto spans = right.empty() ? right : right.subspan(right_ptr[s], right_ptr[s + 1] - right_ptr[s]);
    found[static_cast<std::size_t>(s)] = charts[thread].edges(margin, spans);
  });
  for (std::vector<PhraseEdge>& edges : found) {
    append(edges);
    edges = {};
  }
  allowed_.assign(edges_.size(), 1);
  batch_ = std::make_unique<ForestBatch>(
      ForestArrays{node_ptr_, edge_ptr_, roots_, heads_, tail_ptr_, tails_, allowed_, Features{}});
}

// Nodes are numbered as edges come: tails before heads.
void PhraseForests::append(std::span<const PhraseEdge> edges) {
  std::map<Item, std::int32_t> nodes;
  std::int32_t n_nodes = 0;
  const auto head_of = [&](const PhraseEdge& edge) -> Item {
    switch (edge.kind) {
      case PhraseEdgeKind::word:
        return {bottom, edge.begin, edge.end, edge.rule};
      case PhraseEdgeKind::binary:
        return {bottom, edge.begin, edge.end, grammar_->binary(edge.rule).parent};
      case PhraseEdgeKind::unary:
        return {top, edge.begin, edge.end, grammar_->unary(edge.rule).parent};
      default:
        return {pieces, 0, edge.end, 0};
    }
  };
  const auto tails_of = [&](const PhraseEdge& edge) -> std::vector<Item> {
    switch (edge.kind) {
      case PhraseEdgeKind::word:
        return {};
      case PhraseEdgeKind::binary: {
        const BinaryRule& rule = grammar_->binary(edge.rule);
        return {{top, edge.begin, edge.split, rule.left}, {top, edge.split, edge.end, rule.right}};
      }
      case PhraseEdgeKind::unary:
        return {{bottom, edge.begin, edge.end, grammar_->unary(edge.rule).child}};
      case PhraseEdgeKind::root:
        return {{top, edge.begin, edge.end, edge.rule}};
      default:
        if (edge.split == 0) return {{top, 0, edge.end, edge.rule}};
        return {{pieces, 0, edge.split, 0}, {top, edge.split, edge.end, edge.rule}};
    }
  };
  for (const PhraseEdge& edge : edges) {
    check_interruption(1 << 9);
    std::vector<std::int32_t> tails;
    for (const Item& item : tails_of(edge)) {
      const auto there = nodes.find(item);
      if (there == nodes.end()) break;  // its own edges are a rounding error below the margin
      tails.push_back(there->second);
    }
    if (tails.size() != tails_of(edge).size()) continue;
    const auto [there, is_new] = nodes.try_emplace(head_of(edge), n_nodes);
    n_nodes += is_new;
    heads_.push_back(there->second);
    tails_.insert(tails_.end(), tails.begin(), tails.end());
    tail_ptr_.push_back(static_cast<std::int64_t>(tails_.size()));
    edges_.push_back(edge);
  }
  if (n_nodes == 0) throw std::invalid_argument("a sentence has no tree: a tag has nothing above it in the grammar");
  roots_.push_back(n_nodes - 1);
  node_ptr_.push_back(node_ptr_.back() + n_nodes);
  edge_ptr_.push_back(static_cast<std::int64_t>(edges_.size()));
}

std::vector<std::uint8_t> PhraseForests::right() const {
  std::vector<std::uint8_t> mask;
  mask.reserve(edges_.size());
  for (const PhraseEdge& edge : edges_) mask.push_back(edge.right);
  return mask;
}

std::vector<double> PhraseForests::costs() const {
  std::vector<double> costs(edges_.size(), 0.0);
  std::map<std::array<std::int32_t, 2>, std::array<std::int32_t, 2>> known;  // words -> symbol, unary rule
  const auto symbol = [&](const PhraseEdge& edge) {
    return edge.kind == PhraseEdgeKind::binary ? grammar_->binary(edge.rule).parent : edge.rule;
  };
  for (std::int64_t s = 0; s < size(); ++s) {
    const auto begin = static_cast<std::size_t>(batch_->first_edge(s));
    const auto end = static_cast<std::size_t>(batch_->first_edge(s + 1));
    known.clear();
    for (std::size_t e = begin; e < end; ++e) {
      const PhraseEdge& edge = edges_[e];
      if (!edge.right || edge.kind == PhraseEdgeKind::root) continue;
      auto& there = known.try_emplace({edge.begin, edge.end}, std::array<std::int32_t, 2>{-1, -1}).first->second;
      (edge.kind == PhraseEdgeKind::unary ? there[1] : there[0]) =
          edge.kind == PhraseEdgeKind::unary ? edge.rule : symbol(edge);
    }
    for (std::size_t e = begin; e < end; ++e) {
      const PhraseEdge& edge = edges_[e];
      const auto there = known.find({edge.begin, edge.end});
      if (edge.kind == PhraseEdgeKind::unary) {
        const bool none = grammar_->unary(edge.rule).parent == grammar_->unary(edge.rule).child;
        costs[e] = there == known.end() ? !none : there->second[1] != edge.rule;
      } else if (edge.kind == PhraseEdgeKind::binary || edge.kind == PhraseEdgeKind::word) {
        costs[e] = there == known.end() || there->second[0] != symbol(edge);
      }
    }
  }
  return costs;
}

}  // namespace margent
