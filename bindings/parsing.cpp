// Bindings of transition-based dependency parsing: templates, actions, tables of weights, oracles, parsing.
#include "parsing/parsing.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "bindings.hpp"

using namespace margent;

namespace {

using Matrix = Array<std::int32_t, nb::ndim<2>>;

// Keeps the arrays alive that the treebank looks into.
class BoundTreebank {
 public:
  BoundTreebank(Matrix atoms, Ptr sequence_ptr, std::optional<Ids> heads, std::optional<Ids> labels,
                std::optional<Doubles> weights)
      : atoms_(atoms), sequence_ptr_(sequence_ptr), heads_(heads), labels_(labels), weights_(weights) {
    const auto n_words = static_cast<std::int64_t>(atoms.shape(0));
    check_ptr(sequence_ptr, n_words, "sentences");
    if (heads.has_value() != labels.has_value()) throw nb::value_error("heads and labels belong together");
    view_.size = n_entries(sequence_ptr) - 1;
    view_.n_atoms = static_cast<std::int32_t>(atoms.shape(1));
    view_.sequence_ptr = sequence_ptr.data();
    view_.atoms = atoms.data();
    for (std::int64_t s = 0; s < view_.size; ++s)
      if (sequence_ptr.data()[s + 1] - sequence_ptr.data()[s] > 60000) throw nb::value_error("a sentence is too long");
    if (weights) {
      if (n_entries(*weights) != view_.size) throw nb::value_error("a weight for each sentence");
      view_.weights = weights->data();
    }
    if (!heads) return;
    if (n_entries(*heads) != n_words || n_entries(*labels) != n_words)
      throw nb::value_error("a head and a label for each word");
    for (std::int64_t s = 0; s < view_.size; ++s)
      for (std::int64_t i = sequence_ptr.data()[s]; i < sequence_ptr.data()[s + 1]; ++i) {
        const std::int32_t head = heads->data()[i];
        if (head < -1 || head > view_.n_words(s) || head == i - sequence_ptr.data()[s] + 1)
          throw nb::value_error("a head is out of range");
        if (labels->data()[i] < -1) throw nb::value_error("a label is out of range");
      }
    view_.heads = heads->data();
    view_.labels = labels->data();
  }
  const Treebank& view() const { return view_; }

 private:
  Matrix atoms_;
  Ptr sequence_ptr_;
  std::optional<Ids> heads_, labels_;
  std::optional<Doubles> weights_;
  Treebank view_;
};

void make_templates(ParserTemplates* self, Matrix addresses, Matrix terms, Ids template_ptr, Ids template_terms) {
  if (addresses.shape(1) != 2 || terms.shape(1) != 3) throw nb::value_error("two and three numbers a row");
  if (addresses.shape(0) > 64) throw nb::value_error("more than 64 addresses");
  std::vector<AddressCode> codes;
  for (std::size_t a = 0; a < addresses.shape(0); ++a) {
    const std::int32_t parent = addresses.data()[2 * a], step = addresses.data()[2 * a + 1];
    const std::int32_t n_steps = parent < 0 ? AddressCode::n_stack + AddressCode::n_buffer : AddressCode::head + 1;
    if (parent < -1 || parent >= static_cast<std::int32_t>(a) || step < 0 || step >= n_steps)
      throw nb::value_error("an address is out of range");
    codes.push_back({parent, step});
  }
  std::vector<TermCode> found;
  for (std::size_t t = 0; t < terms.shape(0); ++t) {
    const std::int32_t *row = terms.data() + 3 * t, kind = row[1];
    if (kind < 0 || kind > static_cast<std::int32_t>(AtomKind::stack_distance) || row[2] < 0)
      throw nb::value_error("an atom is out of range");
    const bool bare = kind >= static_cast<std::int32_t>(AtomKind::distance);
    if (bare ? row[0] != -1 : row[0] < 0 || row[0] >= static_cast<std::int32_t>(codes.size()))
      throw nb::value_error("the address of an atom is out of range");
    found.push_back({row[0], static_cast<AtomKind>(kind), row[2]});
  }
  const std::size_t n = template_ptr.shape(0);
  bool good = n >= 1 && template_ptr.data()[0] == 0 && template_ptr.data()[n - 1] == n_entries(template_terms);
  for (std::size_t i = 1; good && i < n; ++i) good = template_ptr.data()[i] > template_ptr.data()[i - 1];
  if (!good) throw nb::value_error("templates: offsets must rise from 0 to the number of terms");
  check_ids(template_terms, static_cast<std::int64_t>(found.size()), "a term is out of range");
  new (self) ParserTemplates(std::move(codes), std::move(found), {template_ptr.data(), template_ptr.data() + n},
                             {template_terms.data(), template_terms.data() + n_entries(template_terms)});
}

void make_actions(ParserActions* self, Ids transitions, Ids labels) {
  if (transitions.shape(0) != labels.shape(0)) throw nb::value_error("a label for each action");
  check_ids(transitions, ParserActions::n_transitions, "a transition is out of range");
  for (const std::int32_t label : view(labels))
    if (label < -1 || label > 32000) throw nb::value_error("a label is out of range");
  new (self) ParserActions(view(transitions), view(labels));
}

void make_table(FrozenRows* self, std::int32_t n_columns, Array<std::uint64_t, nb::ndim<1>> keys, Ptr row_ptr,
                Ids columns, Floats weights) {
  check_ptr(row_ptr, n_entries(columns), "rows");
  if (n_entries(row_ptr) != n_entries(keys) + 1 || weights.shape(0) != columns.shape(0) || n_columns < 1)
    throw nb::value_error("a key for each row, a weight for each column");
  if (n_columns > FrozenRows::most_columns) throw nb::value_error("too many columns");
  check_ids(columns, n_columns, "a column is out of range");
  std::vector<std::uint64_t> sorted(keys.data(), keys.data() + n_entries(keys));
  std::sort(sorted.begin(), sorted.end());
  if ((!sorted.empty() && sorted[0] == 0) || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    throw nb::value_error("keys must be different and not 0");
  for (std::int64_t r = 0; r < n_entries(keys); ++r)
    if (row_ptr.data()[r + 1] - row_ptr.data()[r] > n_columns) throw nb::value_error("a row is too long");
  for (const float weight : view(weights))
    if (!std::isfinite(weight)) throw nb::value_error("a weight is not finite");
  new (self) FrozenRows(n_columns, view(keys), view(row_ptr), view(columns), view(weights));
}

nb::dict to_dict(RowArrays&& arrays) {
  nb::dict out;
  out["keys"] = to_numpy(std::move(arrays.keys));
  out["row_ptr"] = to_numpy(std::move(arrays.row_ptr));
  out["columns"] = to_numpy(std::move(arrays.columns));
  out["weights"] = to_numpy(std::move(arrays.weights));
  return out;
}

// Everything that a search needs, in terms of what Python has.
ParsingSetup checked_setup(ParsingTransitions transitions, const BoundTreebank& treebank,
                           const ParserTemplates& templates, const ParserActions& actions, double label_cost, bool lazy,
                           bool supervised) {
  const Treebank& view = treebank.view();
  for (const TermCode& term : templates.terms())
    if (term.kind == AtomKind::token && term.atom >= view.n_atoms) throw nb::value_error("an atom is out of range");
  if (!complete(transitions, actions)) throw nb::value_error("an action for each transition");
  if (supervised && !view.heads) throw nb::value_error("the treebank has no trees");
  if (!(label_cost >= 0 && label_cost <= 1e6)) throw nb::value_error("the cost of a label is out of range");
  return {view, &templates, &actions, {{static_cast<float>(label_cost)}, lazy}};
}

std::int64_t checked_beam(std::int64_t beam) {
  if (beam < 0) throw nb::value_error("beam out of range");
  return beam;
}

// Every system has two actions at least, to shift and to finish.
void check_table(const FrozenRows& table, const ParserActions& actions) {
  if (table.n_columns() != actions.size() || actions.size() < 2) throw nb::value_error("weights of other actions");
}

auto parse_all(ParsingTransitions transitions, const BoundTreebank& treebank, const ParserTemplates& templates,
               const ParserActions& actions, const FrozenRows& table, std::int64_t beam, int k, int threads) {
  const ParsingSetup setup = checked_setup(transitions, treebank, templates, actions, 1, true, false);
  if (k < 1) throw nb::value_error("k out of range");
  check_table(table, actions);
  auto found = without_gil([&] { return parse(transitions, setup, table, checked_beam(beam), k, threads); });
  std::vector<std::int64_t> counts;
  std::vector<double> scores;
  std::vector<std::int32_t> heads, labels;
  for (const std::vector<FoundTree>& trees : found) {
    counts.push_back(static_cast<std::int64_t>(trees.size()));
    for (const FoundTree& tree : trees) {
      scores.push_back(tree.score);
      heads.insert(heads.end(), tree.heads.begin(), tree.heads.end());
      labels.insert(labels.end(), tree.labels.begin(), tree.labels.end());
    }
  }
  return std::make_tuple(to_numpy(std::move(counts)), to_numpy(std::move(scores)), to_numpy(std::move(heads)),
                         to_numpy(std::move(labels)));
}

using Explained = std::tuple<double, std::vector<std::tuple<int, int, int, double, std::vector<std::uint64_t>>>>;
std::optional<Explained> explain_tree(ParsingTransitions transitions, const BoundTreebank& treebank,
                                      const ParserTemplates& templates, const ParserActions& actions,
                                      const FrozenRows& table, std::int64_t beam) {
  const ParsingSetup setup = checked_setup(transitions, treebank, templates, actions, 1, true, true);
  if (treebank.view().size != 1) throw nb::value_error("one sentence");
  check_table(table, actions);
  const ExplainedTree explained = without_gil([&] { return explain(transitions, setup, table, checked_beam(beam)); });
  if (!explained.found) return std::nullopt;
  Explained out{explained.score, {}};
  for (const TreeFeature& f : explained.features)
    std::get<1>(out).push_back({f.step, f.action, f.tmpl, f.weight, f.values});
  return out;
}

}  // namespace

void bind_parsing(nb::module_& m) {
  nb::enum_<ParsingTransitions>(m, "ParsingTransitions", "Transition systems for dependency trees.")
      .value("arc_standard", ParsingTransitions::arc_standard)
      .value("arc_hybrid", ParsingTransitions::arc_hybrid)
      .value("arc_eager", ParsingTransitions::arc_eager)
      .value("swap", ParsingTransitions::swap);
  nb::class_<BoundTreebank>(m, "Treebank", "Sentences as atoms of words, with their trees where these are known.")
      .def(
          "__init__",
          [](BoundTreebank* self, Matrix atoms, Ptr sequence_ptr, std::optional<Ids> heads, std::optional<Ids> labels,
             std::optional<Doubles> weights) { new (self) BoundTreebank(atoms, sequence_ptr, heads, labels, weights); },
          nb::arg("atoms"), nb::arg("sequence_ptr"), nb::arg("heads") = nb::none(), nb::arg("labels") = nb::none(),
          nb::arg("weights") = nb::none())
      .def("__len__", [](const BoundTreebank& self) { return self.view().size; });
  nb::class_<ParserTemplates>(m, "ParserTemplates", "Templates of the features of a parser, compiled.")
      .def("__init__", &make_templates, nb::arg("addresses"), nb::arg("terms"), nb::arg("template_ptr"),
           nb::arg("template_terms"))
      .def("__len__", &ParserTemplates::size)
      .def(
          "key",
          [](const ParserTemplates& self, std::size_t t, std::vector<std::uint64_t> values) {
            if (t >= self.size() || values.size() != self.n_terms()) throw nb::value_error("no such template");
            std::vector<std::uint64_t> mixed(values.size());
            self.mix_values(values.data(), mixed.data());
            return self.key(t, mixed.data());
          },
          nb::arg("template"), nb::arg("values"), "The key of a feature: of a template with the values of all terms.");
  nb::class_<ParserActions>(m, "ParserActions", "What a parser can do: transitions, with labels where they make arcs.")
      .def("__init__", &make_actions, nb::arg("transitions"), nb::arg("labels"))
      .def("__len__", &ParserActions::size);
  nb::class_<FrozenRows>(m, "FeatureRows", "Weights of features with columns, by the keys of the features.")
      .def("__init__", &make_table, nb::arg("n_columns"), nb::arg("keys"), nb::arg("row_ptr"), nb::arg("columns"),
           nb::arg("weights"))
      .def("__len__", &FrozenRows::size)
      .def_prop_ro("n_columns", &FrozenRows::n_columns)
      .def(
          "arrays", [](const FrozenRows& self) { return to_dict(self.arrays()); }, "What it was made of.")
      .def(
          "row",
          [](const FrozenRows& self, std::uint64_t key) {
            std::vector<float> out(self.width(), 0.0f);
            const std::int32_t row = self.find(key);
            if (row != FrozenRows::missing) self.add(row, out.data());
            out.resize(self.n_columns());
            return to_numpy(std::move(out));
          },
          nb::arg("key"), "The weights of a feature with all columns.");

  nb::class_<RowOracle, Oracle>(m, "ParserOracle", "The oracle of a treebank and a transition system.")
      .def_prop_ro_static("structure", [](nb::handle) { return "transitions of a parser"; })
      .def_static(
          "searching",
          [](ParsingTransitions transitions, const BoundTreebank& treebank, const ParserTemplates& templates,
             const ParserActions& actions, std::int64_t beam, BeamUpdate update, double label_cost, bool lazy) {
            return parsing_oracle(transitions,
                                  checked_setup(transitions, treebank, templates, actions, label_cost, lazy, true),
                                  checked_beam(beam), update);
          },
          nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>(), nb::arg("transitions"),
          nb::arg("treebank"), nb::arg("templates"), nb::arg("actions"), nb::arg("beam"), nb::arg("update"),
          nb::arg("label_cost"), nb::arg("lazy"), "Learns under beam search.")
      .def_prop_ro("n_features", &RowOracle::n_features)
      .def(
          "weights",
          [](const RowOracle& self, bool average) { return to_dict(exported(self.rows(), self.clock(), average)); },
          nb::arg("average"), "The weights, or their averages, as `FeatureRows` takes them.")
      .def(
          "start_from",
          [](RowOracle& self, const FrozenRows& table, std::vector<std::int32_t> columns) {
            if (columns.size() != static_cast<std::size_t>(table.n_columns())) throw nb::value_error("other columns");
            for (const std::int32_t column : columns)
              if (column < 0 || column >= self.rows().n_columns()) throw nb::value_error("a column is out of range");
            const RowArrays arrays = table.arrays();
            for (std::size_t r = 0; r < arrays.keys.size(); ++r)
              for (std::int64_t e = arrays.row_ptr[r]; e < arrays.row_ptr[r + 1]; ++e)
                self.set(arrays.keys[r], columns[arrays.columns[e]], arrays.weights[e]);
          },
          nb::arg("table"), nb::arg("columns"), "Starts from given weights: those of column c become columns[c].");

  nb::class_<DecisionOracle, RowOracle>(m, "DecisionOracle",
                                        "The oracle of the single decisions of a greedy parser that explores.")
      .def_prop_ro_static("structure", [](nb::handle) { return "decisions of a parser"; })
      .def_static(
          "exploring",
          [](ParsingTransitions transitions, const BoundTreebank& treebank, const ParserTemplates& templates,
             const ParserActions& actions, double probability, std::uint64_t seed, double label_cost) {
            if (transitions != ParsingTransitions::arc_hybrid && transitions != ParsingTransitions::arc_eager)
              throw nb::value_error("these transitions have no dynamic oracle");
            return exploring_oracle(transitions,
                                    checked_setup(transitions, treebank, templates, actions, label_cost, true, true),
                                    {probability, seed});
          },
          nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>(), nb::arg("transitions"),
          nb::arg("treebank"), nb::arg("templates"), nb::arg("actions"), nb::arg("probability"), nb::arg("seed"),
          nb::arg("label_cost"), "Learns greedy decisions by a dynamic oracle, with exploration.");

  m.def("parse", &parse_all, nb::arg("transitions"), nb::arg("treebank"), nb::arg("templates"), nb::arg("actions"),
        nb::arg("table"), nb::arg("beam"), nb::arg("k"), nb::arg("threads"),
        "(trees of each sentence, scores, heads, labels), tree after tree; beam 0: all states.");
  m.def("explain_tree", &explain_tree, nb::arg("transitions"), nb::arg("treebank"), nb::arg("templates"),
        nb::arg("actions"), nb::arg("table"), nb::arg("beam"),
        "(score, [(step, action, template, weight, values)]) of the tree of the only sentence, or None.");
  m.def(
      "right_actions",
      [](ParsingTransitions transitions, const BoundTreebank& treebank, const ParserActions& actions, bool lazy) {
        const ParserTemplates none({}, {}, {0}, {});
        const ParsingSetup setup = checked_setup(transitions, treebank, none, actions, 1, lazy, true);
        return without_gil([&] { return right_actions(transitions, setup); });
      },
      nb::arg("transitions"), nb::arg("treebank"), nb::arg("actions"), nb::arg("lazy"),
      "By sentence, the actions of one derivation of its tree; empty where there is none.");
  m.def(
      "dynamic_costs",
      [](ParsingTransitions transitions, const BoundTreebank& treebank, const ParserActions& actions,
         std::vector<std::int32_t> taken) {
        const ParserTemplates none({}, {}, {0}, {});
        for (const std::int32_t action : taken)
          if (action < 0 || action >= actions.size()) throw nb::value_error("no such action");
        if (treebank.view().size != 1) throw nb::value_error("one sentence");
        return dynamic_costs(transitions, checked_setup(transitions, treebank, none, actions, 1, true, true), taken);
      },
      nb::arg("transitions"), nb::arg("treebank"), nb::arg("actions"), nb::arg("taken"),
      "{action: cost} of what is legal after these actions; a cost of -1 where there is no dynamic oracle.");
}
