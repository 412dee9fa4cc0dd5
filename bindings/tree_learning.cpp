// Bindings of dependency parsing by parts: templates, the filter of arcs, the oracle of trees, and the trained model.
#include <cmath>
#include <limits>

#include "arcs/tree_model.hpp"
#include "arcs/tree_oracle.hpp"
#include "bindings.hpp"

using namespace margent;

namespace {

using Atoms = Array<std::int32_t, nb::ndim<2>>;
// (kind, [(node, offset, atom)], direction, distance, label, other label, between or -1)
using GivenTerm = std::tuple<int, int, std::int32_t>;
using GivenTemplate = std::tuple<int, std::vector<GivenTerm>, bool, bool, bool, bool, std::int32_t>;

PartTemplates make_templates(const std::vector<GivenTemplate>& given, std::int32_t n_atoms) {
  std::vector<PartTemplate> templates;
  for (const auto& [kind, terms, direction, distance, label, other_label, between] : given) {
    if (kind < 0 || kind >= n_part_kinds || between < -1) throw nb::value_error("there is no such kind of part");
    PartTemplate& each = templates.emplace_back();
    each = {static_cast<PartKind>(kind), {}, direction, distance, label, other_label, between};
    for (const auto& [node, offset, atom] : terms) {
      if (node < 0 || node >= n_part_nodes) throw nb::value_error("there is no such node of a part");
      each.terms.push_back({static_cast<PartNode>(node), offset, atom});
    }
  }
  return {std::move(templates), n_atoms};
}

// Sentences as arrays, which it keeps alive.
class BoundTrees {
 public:
  BoundTrees(Ptr ptr, Atoms atoms, std::optional<Ids> heads, std::optional<Ids> labels, std::optional<Floats> weights,
             std::int32_t n_labels)
      : ptr_(ptr), atoms_(atoms), heads_(heads), labels_(labels), weights_(weights), n_labels_(n_labels) {
    const std::int64_t n = n_entries(atoms);
    check_ptr(ptr, n, "sentences");
    if (n > std::numeric_limits<std::int32_t>::max()) throw nb::value_error("too many words");
    for (const auto& column : {heads, labels})
      if (column && n_entries(*column) != n) throw nb::value_error("a head and a label for each word");
    if (weights && n_entries(*weights) + 1 != n_entries(ptr)) throw nb::value_error("a weight for each sentence");
    for (std::size_t i = 0; heads && i + 1 < ptr.shape(0); ++i)
      for (std::int64_t w = ptr.data()[i]; w < ptr.data()[i + 1]; ++w) {
        const std::int32_t head = heads->data()[w];
        if (head < -1 || head > ptr.data()[i + 1] - ptr.data()[i] || head == w - ptr.data()[i] + 1)
          throw nb::value_error("a head is out of range");
      }
    for (std::int64_t w = 0; labels && w < n; ++w)
      if (labels->data()[w] < -1 || labels->data()[w] >= n_labels) throw nb::value_error("a label is out of range");
    for (std::size_t i = 0; weights && i < weights->shape(0); ++i)
      if (!(weights->data()[i] >= 0 && std::isfinite(weights->data()[i])))
        throw nb::value_error("a weight must be finite and not negative");
  }
  TreeExamples examples() const {
    TreeExamples out{view(ptr_), {atoms_.data(), atoms_.size()}, n_atoms(), {}, {}, {}};
    if (heads_) out.heads = view(*heads_);
    if (labels_) out.labels = view(*labels_);
    if (weights_) out.weights = view(*weights_);
    return out;
  }
  std::int32_t n_atoms() const { return static_cast<std::int32_t>(atoms_.shape(1)); }
  std::int32_t n_labels() const { return n_labels_; }
  std::int64_t n_words() const { return n_entries(atoms_); }
  bool has_trees() const { return heads_ && labels_; }

 private:
  Ptr ptr_;
  Atoms atoms_;
  std::optional<Ids> heads_, labels_;
  std::optional<Floats> weights_;
  std::int32_t n_labels_;
};

void check(const PartTemplates& templates, const BoundTrees& trees) {
  if (templates.n_atoms() != trees.n_atoms()) throw nb::value_error("templates for other atoms");
}

void check_bits(int bits) {
  if (bits < 4 || bits > 30) throw nb::value_error("bits out of range");
}

TreeKind checked_kind(const PartTemplates& templates, bool projective, bool single_root) {
  if (!projective && (templates.any(PartKind::sibling) || templates.any(PartKind::grandparent)))
    throw nb::value_error("parts of second order are for projective trees");
  return {projective, single_root};
}

// The labels of arcs are counted in a byte (TypedArcs).
void check_labels(std::int64_t n_labels, bool filtered) {
  if (n_labels < 1 || n_labels > (filtered ? 1 << 20 : 255))
    throw nb::value_error("the number of labels is out of range");
}

// A filter with its templates and weights.
class BoundFilter {
 public:
  BoundFilter(const PartTemplates& templates, Floats weights, int bits, int n_labels, int most_heads, int most_labels,
              double threshold)
      : templates_(templates), weights_(weights), n_labels_(n_labels),
        filter_(templates_, weights_.data(), bits, n_labels, {most_heads, most_labels, threshold}) {
    check_bits(bits);
    check_labels(n_labels, true);
    if (n_entries(weights) != n_filter_weights(bits, n_labels)) throw nb::value_error("weights of the wrong shape");
    if (most_heads < 1 || most_labels < 1 || most_labels > 16 || !(threshold > 0 && threshold <= 1))
      throw nb::value_error("a filter that keeps no arc, or too many labels");
  }
  BoundFilter(const BoundFilter&) = delete;
  const ArcFilter& filter() const { return filter_; }
  const PartTemplates& templates() const { return templates_; }
  int n_labels() const { return n_labels_; }

 private:
  PartTemplates templates_;
  Floats weights_;
  int n_labels_;
  ArcFilter filter_;
};

// A model with its weights.
class BoundModel {
 public:
  BoundModel(const PartTemplates& templates, Floats weights, int bits, int n_labels, const ArcFilter* filter,
             TreeKind kind)
      : weights_(weights), model_(templates, weights_.data(), bits, n_labels, filter, kind) {}
  BoundModel(const BoundModel&) = delete;
  const TreeModel& model() const { return model_; }

 private:
  Floats weights_;
  TreeModel model_;
};

const ArcFilter* filter_of(const BoundFilter* bound, const PartTemplates& templates, int n_labels) {
  check_labels(n_labels, bound != nullptr);
  if (bound && (bound->templates().n_atoms() != templates.n_atoms() || bound->n_labels() != n_labels))
    throw nb::value_error("a filter for other atoms or labels");
  return bound ? &bound->filter() : nullptr;
}

// [by sentence the arcs that are kept: head, modifier and label of one after the other]
nb::list kept_arcs(const BoundFilter& bound, const BoundTrees& trees) {
  check(bound.templates(), trees);
  const TreeExamples examples = trees.examples();
  nb::list out;
  ArcFilter::Workspace work(bound.filter());
  std::vector<TypedArc> kept;
  for (std::int64_t i = 0; i < examples.size(); ++i) {
    bound.filter().keep(examples.atoms_of(i), examples.n_words(i), work, kept);
    std::vector<std::int32_t> flat;
    for (const TypedArc& each : kept) flat.insert(flat.end(), {each.head, each.modifier, each.label});
    out.append(to_numpy(std::move(flat), {kept.size(), 3}));
  }
  return out;
}

}  // namespace

void bind_tree_learning(nb::module_& m) {
  nb::class_<PartTemplates>(m, "PartTemplates", "What is seen of the parts of a dependency tree.")
      .def(
          "__init__",
          [](PartTemplates* self, const std::vector<GivenTemplate>& templates, std::int32_t n_atoms) {
            new (self) PartTemplates(make_templates(templates, n_atoms));
          },
          nb::arg("templates"), nb::arg("n_atoms"),
          "templates: (kind, [(node, offset, atom)], direction, distance, label, other label, between or -1)");
  nb::class_<BoundTrees>(m, "TreeExamples", "Sentences and their trees; keeps the arrays it looks into alive.")
      .def(nb::init<Ptr, Atoms, std::optional<Ids>, std::optional<Ids>, std::optional<Floats>, std::int32_t>(),
           nb::arg("sequence_ptr"), nb::arg("atoms"), nb::arg("heads").none() = nb::none(),
           nb::arg("labels").none() = nb::none(), nb::arg("weights").none() = nb::none(), nb::arg("n_labels") = 0);
  nb::class_<BoundFilter>(m, "ArcFilter", "Leaves each word the arcs that a small model takes for possible.")
      .def(nb::init<const PartTemplates&, Floats, int, int, int, int, double>(), nb::arg("templates"),
           nb::arg("weights"), nb::arg("bits"), nb::arg("n_labels"), nb::arg("most_heads"), nb::arg("most_labels"),
           nb::arg("threshold"))
      .def("kept", &kept_arcs, nb::arg("examples"), "[(arcs, 3) of each sentence: head, modifier, label]");
  nb::class_<ArcFilterOracle, FlatOracle>(m, "ArcFilterOracle", "The arc of each word by itself: what a filter learns.")
      .def_prop_ro_static("structure", [](nb::handle) { return "arcs of words"; })
      .def(
          "__init__",
          [](ArcFilterOracle* self, const PartTemplates& templates, const BoundTrees& trees, int bits) {
            check(templates, trees);
            check_bits(bits);
            if (!trees.has_trees()) throw nb::value_error("examples without trees");
            check_labels(trees.n_labels(), true);
            new (self) ArcFilterOracle(templates, trees.examples(), bits, trees.n_labels());
          },
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::arg("templates"), nb::arg("examples"), nb::arg("bits"));
  nb::class_<TreeProblem>(m, "TreeProblem", "What a parser by parts learns from; the arcs that it searches.")
      .def(
          "__init__",
          [](TreeProblem* self, const PartTemplates& templates, const BoundTrees& trees, const BoundFilter* filter,
             bool projective, bool single_root, int bits, double label_cost, int threads) {
            check(templates, trees);
            check_bits(bits);
            if (!trees.has_trees()) throw nb::value_error("examples without trees");
            if (!(label_cost >= 0 && std::isfinite(label_cost))) throw nb::value_error("label_cost out of range");
            const TreeKind kind = checked_kind(templates, projective, single_root);
            const ArcFilter* filtered = filter_of(filter, templates, trees.n_labels());
            const WithoutGil released;
            new (self)
                TreeProblem(templates, trees.examples(), filtered, kind, trees.n_labels(), bits, label_cost, threads);
          },
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::arg("templates"),
          nb::arg("examples"), nb::arg("filter").none(), nb::arg("projective"), nb::arg("single_root"), nb::arg("bits"),
          nb::arg("label_cost"), nb::arg("threads") = 1);
  nb::class_<TreeOracle, FlatOracle>(m, "TreeOracle", "The oracle of dependency trees under exact search.")
      .def_prop_ro_static("structure", [](nb::handle) { return "dependency arcs"; })
      .def(nb::init<const TreeProblem&>(), nb::keep_alive<1, 2>(), nb::arg("problem"))
      .def("fix_gold", &TreeOracle::fix_gold, nb::call_guard<WithoutGil>())
      .def("free_gold", &TreeOracle::free_gold);
  nb::class_<BoundModel>(m, "TreeModel", "A trained parser of dependency trees by parts.")
      .def(
          "__init__",
          [](BoundModel* self, const PartTemplates& templates, Floats weights, int bits, int n_labels,
             const BoundFilter* filter, bool projective, bool single_root) {
            check_bits(bits);
            if (n_entries(weights) != std::int64_t{1} << bits) throw nb::value_error("weights of the wrong shape");
            new (self) BoundModel(templates, weights, bits, n_labels, filter_of(filter, templates, n_labels),
                                  checked_kind(templates, projective, single_root));
          },
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 6>(), nb::arg("templates"), nb::arg("weights"), nb::arg("bits"),
          nb::arg("n_labels"), nb::arg("filter").none(), nb::arg("projective"), nb::arg("single_root"))
      .def(
          "best",
          [](const BoundModel& bound, const BoundTrees& trees, int threads) {
            const TreeModel& model = bound.model();
            check(model.templates(), trees);
            const TreeExamples examples = trees.examples();
            std::vector<double> scores(static_cast<std::size_t>(examples.size()));
            std::vector<std::int32_t> heads(static_cast<std::size_t>(trees.n_words())), labels(heads.size());
            without_gil([&] { model.best(examples, threads, scores.data(), heads.data(), labels.data()); });
            return std::make_tuple(to_numpy(std::move(scores)), to_numpy(std::move(heads)),
                                   to_numpy(std::move(labels)));
          },
          nb::arg("examples"), nb::arg("threads"), "(scores, heads, labels)")
      .def(
          "k_best",
          [](const BoundModel& bound, const BoundTrees& trees, std::int64_t k, int threads) {
            const TreeModel& model = bound.model();
            check(model.templates(), trees);
            auto found = without_gil([&] { return model.k_best(trees.examples(), k, threads); });
            nb::list out;
            for (auto& sentence : found) {
              nb::list listed;
              for (HeadsAndLabels& tree : sentence)
                listed.append(
                    std::make_tuple(tree.score, to_numpy(std::move(tree.heads)), to_numpy(std::move(tree.labels))));
              out.append(listed);
            }
            return out;
          },
          nb::arg("examples"), nb::arg("k"), nb::arg("threads"), "[[(score, heads, labels)]]")
      .def(
          "marginals",
          [](const BoundModel& bound, const BoundTrees& trees, Ids heads, Ids labels, double factor, int threads) {
            const TreeModel& model = bound.model();
            check(model.templates(), trees);
            if (n_entries(heads) != trees.n_words() || n_entries(labels) != trees.n_words())
              throw nb::value_error("a head and a label for each word");
            check_ids(labels, model.n_labels(), "a label is out of range");
            ArcProbabilities found = without_gil(
                [&] { return model.marginals(trees.examples(), heads.data(), labels.data(), factor, threads); });
            return std::make_tuple(to_numpy(std::move(found.heads)), to_numpy(std::move(found.labels)),
                                   to_numpy(std::move(found.arcs)));
          },
          nb::arg("examples"), nb::arg("heads"), nb::arg("labels"), nb::arg("factor"), nb::arg("threads"),
          "flat (heads by sentence (n, n + 1), labels (words, n_labels), arcs (words,))")
      .def(
          "contributions",
          [](const BoundModel& bound, const BoundTrees& trees) {
            const TreeModel& model = bound.model();
            check(model.templates(), trees);
            const TreeExamples examples = trees.examples();
            if (examples.size() != 1 || !trees.has_trees()) throw nb::value_error("one sentence with its tree");
            for (const auto& column : {examples.heads, examples.labels})
              for (const std::int32_t each : column)
                if (each < 0) throw nb::value_error("a head or a label is not known");
            if (trees.n_labels() > model.n_labels()) throw nb::value_error("a label is out of range");
            nb::list out;
            for (const auto& [number, value, part, weight] :
                 model.contributions(examples, 0, examples.heads.data(), examples.labels.data()))
              out.append(std::make_tuple(number, part.head, part.modifier, part.third, part.label, part.other_label,
                                         value, weight));
            return out;
          },
          nb::arg("example"),
          "[(template, head, modifier, sibling or grandparent, label, label of the other arc, value between, weight)]");
}
