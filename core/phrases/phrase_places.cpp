#include "phrases/phrase_places.hpp"

#include <algorithm>
#include <map>

#include "interruption.hpp"

namespace margent {

namespace {

// The places of an edge: its span, and its split.
template <class Visit>
void each_place(const PhraseEdge& edge, Visit visit) {
  if (edge.kind == PhraseEdgeKind::root || edge.kind == PhraseEdgeKind::piece) return;
  visit(SpanPlace{edge.begin, edge.end, -1});
  if (edge.kind == PhraseEdgeKind::binary) visit(SpanPlace{edge.begin, edge.end, edge.split});
}

SentenceAtoms atoms_of(const PhraseForests& forests, std::int64_t s, const std::int32_t* atoms, std::int64_t n_atoms) {
  return {atoms + forests.first_word(s) * n_atoms, n_atoms, forests.n_words(s)};
}

std::span<const PhraseEdge> edges_of(const PhraseForests& forests, std::int64_t s) {
  const auto begin = static_cast<std::size_t>(forests.batch().first_edge(s));
  return std::span(forests.edges()).subspan(begin, forests.batch().n_edges(s));
}

}  // namespace

void add_right_keys(const PhraseForests& forests, const SpanTemplates& templates, const std::int32_t* atoms,
                    std::int64_t n_atoms, std::int64_t min_count, KeyTable& keys) {
  KeyTable seen;
  std::vector<std::int64_t> counts;
  std::vector<SpanPlace> places;
  for (std::int64_t s = 0; s < forests.size(); ++s) {
    places.clear();
    for (const PhraseEdge& edge : edges_of(forests, s))
      if (edge.right) each_place(edge, [&](const SpanPlace& place) { places.push_back(place); });
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const SentenceAtoms sentence = atoms_of(forests, s, atoms, n_atoms);
    check_interruption(static_cast<std::int64_t>(places.size()) * templates.size());
    for (const SpanPlace& place : places)
      for (std::int32_t t = 0; t < templates.size(); ++t) {
        std::uint64_t key;
        if (!templates.key(t, sentence, place, key)) continue;
        const auto id = static_cast<std::size_t>(seen.add(key));
        if (id == counts.size()) counts.push_back(0);
        ++counts[id];
      }
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] >= min_count) keys.add(seen.keys()[i]);
}

PhrasePlaces::PhrasePlaces(const PhraseForests& forests, const SpanTemplates& templates, const PhraseColumns& columns,
                           const std::int32_t* atoms, std::int64_t n_atoms, const KeyTable& keys, int threads)
    : forests_(&forests), layout_{keys.size(), columns.width, forests.grammar().n_binary(), forests.grammar().n_unary(),
                                  forests.grammar().n_symbols()},
      sentences_(static_cast<std::size_t>(forests.size())) {
  const PhraseGrammar& grammar = forests.grammar();
  parallel(forests.size(), threads, [&](std::size_t, std::int64_t s) {
    Sentence& out = sentences_[static_cast<std::size_t>(s)];
    const SentenceAtoms sentence = atoms_of(forests, s, atoms, n_atoms);
    std::map<SpanPlace, std::int32_t> places;
    std::map<Cell, std::int32_t> cells;
    const auto cell = [&](const SpanPlace& place, std::int32_t column) -> std::int32_t {
      if (column < 0) return -1;
      const auto [at, is_new] = places.try_emplace(place, static_cast<std::int32_t>(places.size()));
      if (is_new) {
        for (std::int32_t t = 0; t < templates.size(); ++t) {
          std::uint64_t key;
          if (!templates.key(t, sentence, place, key)) continue;
          if (const std::int32_t id = keys.find(key); id != not_found) out.features.push_back(id);
        }
        out.ptr.push_back(static_cast<std::int32_t>(out.features.size()));
      }
      const Cell found{at->second, column};
      const auto [there, is_first] = cells.try_emplace(found, static_cast<std::int32_t>(cells.size()));
      if (is_first) out.cells.push_back(found);
      return there->second;
    };
    for (const PhraseEdge& edge : edges_of(forests, s)) {
      check_interruption(64 * static_cast<std::int64_t>(4 + templates.size()));
      const SpanPlace span{edge.begin, edge.end, -1};
      EdgeCells own{-1, -1, edge.rule};
      switch (edge.kind) {
        case PhraseEdgeKind::word:
          own = {cell(span, columns.symbols[edge.rule]), -1, -1};
          break;
        case PhraseEdgeKind::binary: {
          const std::int32_t column = columns.symbols[grammar.binary(edge.rule).parent];
          own.span = cell(span, column);
          own.split = cell({edge.begin, edge.end, edge.split}, column);
          break;
        }
        case PhraseEdgeKind::unary:
          own.span = cell(span, columns.unary[edge.rule]);
          own.rule += static_cast<std::int32_t>(layout_.unary() - layout_.binary());
          break;
        case PhraseEdgeKind::root:
          own.rule += static_cast<std::int32_t>(layout_.root() - layout_.binary());
          break;
        case PhraseEdgeKind::piece:
          own.rule = static_cast<std::int32_t>(layout_.piece() - layout_.binary());
          break;
      }
      out.edges.push_back(own);
    }
  });
}

}  // namespace margent
