// Bindings of trees of phrases: grammars, pruned charts, what is seen in them, and their oracle.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include "forest.hpp"
#include "forest/forest_oracle.hpp"
#include "phrases/phrase_features.hpp"

using namespace margent;

namespace {

using Table = Array<std::int32_t, nb::ndim<2>>;
using Keys = Array<std::uint64_t, nb::ndim<1>>;

// Learns from pruned charts; a forest oracle by another name.
class PhraseOracle final : public ForestOracle {
 public:
  using ForestOracle::ForestOracle;
};

std::shared_ptr<PhraseGrammar> make_grammar(Table binary, Doubles binary_scores, Table unary, Doubles unary_scores,
                                            Doubles root_scores, Flags pieces) {
  const std::int64_t n = n_entries(root_scores);
  if (n < 1 || n > 1 << 20 || n_entries(pieces) != n) throw nb::value_error("a grammar has 1 to 2**20 symbols");
  if (binary.shape(1) != 3 || unary.shape(1) != 2) throw nb::value_error("rules of two parts, and of one");
  if (binary.shape(0) != binary_scores.shape(0) || unary.shape(0) != unary_scores.shape(0))
    throw nb::value_error("a score for each rule");
  for (const Table& table : {binary, unary})
    for (std::size_t i = 0; i < table.size(); ++i)
      if (table.data()[i] < 0 || table.data()[i] >= n) throw nb::value_error("a symbol is out of range");
  std::vector<BinaryRule> two;
  std::vector<UnaryRule> one;
  for (std::size_t r = 0; r < binary.shape(0); ++r)
    two.push_back({binary.data()[3 * r], binary.data()[3 * r + 1], binary.data()[3 * r + 2]});
  for (std::size_t r = 0; r < unary.shape(0); ++r) one.push_back({unary.data()[2 * r], unary.data()[2 * r + 1]});
  const auto scores = [](const Doubles& given) { return std::vector(view(given).begin(), view(given).end()); };
  const auto flags = view(pieces);
  return std::make_shared<PhraseGrammar>(std::move(two), scores(binary_scores), std::move(one), scores(unary_scores),
                                         scores(root_scores), std::vector(flags.begin(), flags.end()));
}

// Right trees: (offsets of sentences, rows (begin, end, split or -1, rule or tag, unary rule)).
std::vector<RightSpan> right_spans(const PhraseGrammar& grammar, const Ptr& sentence_ptr, const Ptr& right_ptr,
                                   const Table& rows) {
  check_ptr(right_ptr, n_entries(rows), "right trees");
  if (rows.shape(1) != 5 || right_ptr.shape(0) != sentence_ptr.shape(0))
    throw nb::value_error("right trees for each sentence");
  std::vector<RightSpan> spans;
  for (std::size_t s = 0; s + 1 < right_ptr.shape(0); ++s)
    for (std::int64_t i = right_ptr.data()[s]; i < right_ptr.data()[s + 1]; ++i) {
      const std::int32_t* row = rows.data() + 5 * i;
      const RightSpan span{row[0], row[1], row[2], row[3], row[4]};
      const bool word = span.split < 0;
      if (span.begin < 0 || span.begin >= span.end || span.end > sentence_ptr.data()[s + 1] - sentence_ptr.data()[s] ||
          (word ? span.end - span.begin != 1 : span.split <= span.begin || span.split >= span.end) || span.rule < 0 ||
          span.rule >= (word ? grammar.n_symbols() : grammar.n_binary()) || span.unary < 0 ||
          span.unary >= grammar.n_unary())
        throw nb::value_error("a right tree is not one of the grammar");
      spans.push_back(span);
    }
  return spans;
}

std::unique_ptr<PhraseForests> make_forests(std::shared_ptr<PhraseGrammar> grammar, Ptr sentence_ptr, Ptr tag_ptr,
                                            Ids tags, Doubles scores, double margin, std::optional<Ptr> right_ptr,
                                            std::optional<Table> right, int threads) {
  check_ptr(tag_ptr, n_entries(tags), "tags");
  check_ptr(sentence_ptr, n_entries(tag_ptr) - 1, "sentences");
  check_ids(tags, grammar->n_symbols(), "a tag is out of range");
  if (n_entries(scores) != n_entries(tags) || !(margin >= 0)) throw nb::value_error("a score for each tag, a margin");
  for (std::size_t t = 0; t + 1 < tag_ptr.shape(0); ++t)
    if (tag_ptr.data()[t] == tag_ptr.data()[t + 1]) throw nb::value_error("a word has no tag");
  for (std::size_t s = 0; s + 1 < sentence_ptr.shape(0); ++s)
    if (sentence_ptr.data()[s + 1] - sentence_ptr.data()[s] > 1 << 14) throw nb::value_error("a sentence is too long");
  if (right_ptr.has_value() != right.has_value()) throw nb::value_error("right trees need their offsets");
  std::vector<RightSpan> spans;
  if (right) spans = right_spans(*grammar, sentence_ptr, *right_ptr, *right);
  for (std::size_t s = 0; s + 1 < sentence_ptr.shape(0); ++s)
    if (sentence_ptr.data()[s] == sentence_ptr.data()[s + 1]) throw nb::value_error("a sentence has no word");
  return without_gil([&] {
    return std::make_unique<PhraseForests>(std::move(grammar), TagScores{view(tag_ptr), view(tags), view(scores)},
                                           view(sentence_ptr), margin, spans,
                                           right_ptr ? view(*right_ptr) : std::span<const std::int64_t>{}, threads);
  });
}

// Templates with the number of columns of atoms that they look at.
struct BoundTemplates {
  SpanTemplates templates;
  std::int64_t n_columns;
};

void check_atoms(const PhraseForests& forests, const Table& atoms, const BoundTemplates& templates) {
  if (static_cast<std::int64_t>(atoms.shape(1)) < templates.n_columns) throw nb::value_error("too few atoms");
  if (n_entries(atoms) != forests.first_word(forests.size())) throw nb::value_error("a row of atoms for each word");
  for (std::size_t i = 0; i < atoms.size(); ++i)
    if (atoms.data()[i] < 0) throw nb::value_error("an atom is out of range");
}

BoundTemplates make_templates(Table terms, Ptr ptr) {
  check_ptr(ptr, n_entries(terms), "templates");
  if (terms.shape(1) != 3) throw nb::value_error("a term is an address, an offset and a column");
  std::vector<SpanTerm> all;
  std::int64_t n_columns = 0;
  for (std::size_t i = 0; i < terms.shape(0); ++i) {
    const std::int32_t* row = terms.data() + 3 * i;
    if (row[0] < 0 || row[0] > static_cast<int>(SpanAddress::right_length) || row[1] < -64 || row[1] > 64 || row[2] < 0)
      throw nb::value_error("no such term");
    all.push_back({static_cast<SpanAddress>(row[0]), row[1], row[2]});
    n_columns = std::max<std::int64_t>(n_columns, row[2] + 1);
  }
  return {SpanTemplates(std::move(all), {view(ptr).begin(), view(ptr).end()}), n_columns};
}

PhraseColumns make_columns(const PhraseGrammar& grammar, std::int32_t width, Ids symbols, Ids unary) {
  if (width < 1 || n_entries(symbols) != grammar.n_symbols() || n_entries(unary) != grammar.n_unary())
    throw nb::value_error("a column for each symbol and unary rule");
  check_ids(symbols, width, "a column is out of range");
  for (const std::int32_t column : view(unary))
    if (column < -1 || column >= width) throw nb::value_error("a column is out of range");
  return {width, {view(symbols).begin(), view(symbols).end()}, {view(unary).begin(), view(unary).end()}};
}

template <class Value, class Of>
auto column_of(const PhraseForests& forests, Of of) {
  std::vector<Value> values;
  values.reserve(forests.edges().size());
  for (const PhraseEdge& edge : forests.edges()) values.push_back(static_cast<Value>(of(edge)));
  return to_numpy(std::move(values));
}

// (scores, where the edges of each derivation begin, edges, where the derivations of each sentence begin)
auto k_best_of(const PhraseForests& forests, Doubles scores, std::int64_t k, int threads) {
  if (n_entries(scores) != forests.batch().n_edges()) throw nb::value_error("one score per edge is expected");
  return joined(without_gil([&] {
    return forests.batch().ask_each(view(scores), threads, [k](const Forest& forest, std::int64_t) {
      return k == 1 ? best(forest) : k_best(forest, k);
    });
  }));
}

}  // namespace

void bind_phrases(nb::module_& m) {
  nb::class_<PhraseGrammar>(m, "PhraseGrammar", "Rules of binarised trees with their scores.")
      .def(nb::new_(&make_grammar), nb::arg("binary"), nb::arg("binary_scores"), nb::arg("unary"),
           nb::arg("unary_scores"), nb::arg("root_scores"), nb::arg("pieces"));

  nb::class_<PhraseForests>(m, "PhraseForests", "The pruned charts of sentences as forests.")
      .def(nb::new_(&make_forests), nb::arg("grammar"), nb::arg("sentence_ptr"), nb::arg("tag_ptr"), nb::arg("tags"),
           nb::arg("scores"), nb::arg("margin"), nb::arg("right_ptr").none() = nb::none(),
           nb::arg("right").none() = nb::none(), nb::arg("threads") = 1)
      .def("__len__", &PhraseForests::size)
      .def_prop_ro("n_edges", [](const PhraseForests& self) { return self.batch().n_edges(); })
      .def_prop_ro(
          "edge_ptr",
          [](const PhraseForests& self) {
            std::vector<std::int64_t> ptr;
            for (std::int64_t s = 0; s <= self.size(); ++s) ptr.push_back(self.batch().first_edge(s));
            return to_numpy(std::move(ptr));
          },
          nb::rv_policy::move, "Where the edges of each sentence begin, and the end of the last.")
      .def_prop_ro(
          "kinds",
          [](const PhraseForests& self) {
            return column_of<std::uint8_t>(self, [](const PhraseEdge& edge) { return edge.kind; });
          },
          nb::rv_policy::move, "Of each edge: 0 word, 1 binary, 2 unary, 3 root, 4 piece.")
      .def_prop_ro(
          "places",
          [](const PhraseForests& self) {
            std::vector<std::int32_t> rows;
            for (const PhraseEdge& edge : self.edges())
              rows.insert(rows.end(), {edge.begin, edge.end, edge.split, edge.rule});
            return to_numpy(std::move(rows), {self.edges().size(), 4});
          },
          nb::rv_policy::move,
          "Rows (begin, end, split or -1, rule): the number of a binary or unary rule, otherwise a symbol.")
      .def_prop_ro(
          "scores",
          [](const PhraseForests& self) {
            return column_of<double>(self, [](const PhraseEdge& edge) { return edge.score; });
          },
          nb::rv_policy::move, "Of each edge under the grammar.")
      .def_prop_ro(
          "right", [](const PhraseForests& self) { return to_numpy(self.right()); }, nb::rv_policy::move)
      .def_prop_ro(
          "costs", [](const PhraseForests& self) { return to_numpy(self.costs()); }, nb::rv_policy::move)
      .def("k_best", &k_best_of, nb::arg("scores"), nb::arg("k"), nb::arg("threads"))
      .def(
          "marginals",
          [](const PhraseForests& self, Doubles scores, int threads) {
            if (n_entries(scores) != self.batch().n_edges()) throw nb::value_error("one score per edge is expected");
            const auto found = without_gil([&] {
              return self.batch().ask_each(view(scores), threads,
                                           [](const Forest& forest, std::int64_t) { return marginals(forest); });
            });
            std::vector<double> totals, uses;
            for (const Marginals& one : found) {
              totals.push_back(one.log_partition);
              uses.insert(uses.end(), one.edges.begin(), one.edges.end());
            }
            return std::make_tuple(to_numpy(std::move(totals)), to_numpy(std::move(uses)));
          },
          nb::arg("scores"), nb::arg("threads"), "(log-partition of each forest, how often each edge is expected)");

  nb::class_<BoundTemplates>(m, "SpanTemplates", "Templates of spans and splits.")
      .def(nb::new_(&make_templates), nb::arg("terms"), nb::arg("ptr"))
      .def(
          "keys",
          [](const BoundTemplates& self, Table atoms, std::int32_t begin, std::int32_t end, std::int32_t split) {
            const auto n = static_cast<std::int32_t>(atoms.shape(0));
            if (n_entries(atoms) > 1 << 14 || static_cast<std::int64_t>(atoms.shape(1)) < self.n_columns || begin < 0 ||
                end <= begin || end > n || split >= end || (split >= 0 && split <= begin))
              throw nb::value_error("there is no such place");
            std::vector<std::pair<std::int32_t, std::uint64_t>> found;
            const SentenceAtoms sentence{atoms.data(), static_cast<std::int64_t>(atoms.shape(1)), n};
            std::uint64_t key;
            for (std::int32_t t = 0; t < self.templates.size(); ++t)
              if (self.templates.key(t, sentence, {begin, end, split}, key)) found.emplace_back(t, key);
            nb::list out;
            for (const auto& [t, each] : found) out.append(nb::make_tuple(t, each));
            return out;
          },
          nb::arg("atoms"), nb::arg("begin"), nb::arg("end"), nb::arg("split"),
          "[(number of a template, key)] at a place of one sentence; split: -1 for the span itself");

  nb::class_<KeyTable>(m, "PhraseKeys", "Numbers of what templates of spans have seen.")
      .def(nb::init<>())
      .def("__init__",
           [](KeyTable* self, Keys keys) {
             new (self) KeyTable();
             self->reserve(keys.size());
             for (const std::uint64_t key : view(keys)) self->add(key);
           })
      .def("__len__", &KeyTable::size)
      .def("keys", [](const KeyTable& self) { return to_numpy(std::vector(self.keys())); })
      .def("find",
           [](const KeyTable& self, Keys keys) {
             std::vector<std::int32_t> ids;
             for (const std::uint64_t key : view(keys)) ids.push_back(self.find(key));
             return to_numpy(std::move(ids));
           })
      .def(
          "add_right",
          [](KeyTable& self, const PhraseForests& forests, const BoundTemplates& templates, Table atoms,
             std::int64_t min_count) {
            check_atoms(forests, atoms, templates);
            without_gil([&] {
              add_right_keys(forests, templates.templates, atoms.data(), static_cast<std::int64_t>(atoms.shape(1)),
                             min_count, self);
            });
          },
          nb::arg("forests"), nb::arg("templates"), nb::arg("atoms"), nb::arg("min_count"));

  nb::class_<PhraseOracle, ForestOracle>(m, "PhraseOracle", "The oracle of pruned charts.")
      .def_prop_ro_static("structure", [](nb::handle) { return "trees of phrases"; });

  nb::class_<PhrasePlaces>(m, "PhrasePlaces", "What is seen in pruned charts, and which weights their edges have.")
      .def(
          "__init__",
          [](PhrasePlaces* self, const PhraseForests& forests, const BoundTemplates& templates, std::int32_t width,
             Ids symbols, Ids unary, Table atoms, const KeyTable& keys, int threads) {
            check_atoms(forests, atoms, templates);
            const PhraseColumns columns = make_columns(forests.grammar(), width, symbols, unary);
            without_gil([&] {
              new (self) PhrasePlaces(forests, templates.templates, columns, atoms.data(),
                                      static_cast<std::int64_t>(atoms.shape(1)), keys, threads);
            });
          },
          nb::keep_alive<1, 2>(), nb::arg("forests"), nb::arg("templates"), nb::arg("width"), nb::arg("symbols"),
          nb::arg("unary"), nb::arg("atoms"), nb::arg("keys"), nb::arg("threads") = 1)
      .def_prop_ro("n_weights", [](const PhrasePlaces& self) { return self.layout().size(); })
      .def(
          "scores",
          [](const PhrasePlaces& self, Doubles weights, int threads) {
            if (n_entries(weights) != self.layout().size()) throw nb::value_error("weights of the wrong number");
            return to_numpy(without_gil([&] { return edge_scores(self, weights.data(), threads); }));
          },
          nb::arg("weights"), nb::arg("threads"), "Of all edges.")
      .def(
          "oracle",
          [](const PhrasePlaces& self, std::optional<Doubles> sample_weight) {
            ForestProblem problem{
                &self.forests().batch(), nullptr, self.forests().right(),
                self.forests().costs(),  {},      [&self]() { return std::make_unique<PhraseFeatures>(self); }};
            if (sample_weight) {
              if (n_entries(*sample_weight) != self.forests().size()) throw nb::value_error("a weight per sentence");
              problem.weights.assign(sample_weight->data(), sample_weight->data() + sample_weight->size());
            }
            return std::make_unique<PhraseOracle>(std::move(problem), self.layout().size());
          },
          nb::keep_alive<0, 1>(), nb::arg("sample_weight").none() = nb::none(),
          "What a learner learns from; its forests must have right trees.");
}
