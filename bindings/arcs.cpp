// Bindings of dependency trees on plain score arrays, for one sentence.
#include <limits>

#include "arcs/tree_scores.hpp"
#include "bindings.hpp"

using namespace margent;

namespace {

using Matrix = Array<double, nb::ndim<2>>;
using Cube = Array<double, nb::ndim<3>>;

TreeScores make_scores(Matrix arcs, std::optional<Cube> labels, std::optional<Cube> siblings,
                       std::optional<Cube> grandparents, bool projective, bool single_root) {
  const std::size_t n = arcs.shape(0);
  if (n < 1 || n > std::size_t(1) << 20 || arcs.shape(1) != n) throw nb::value_error("arcs should be square");
  if (labels && (labels->shape(0) != n || labels->shape(1) != n || labels->shape(2) < 1))
    throw nb::value_error("labels of the wrong shape");
  for (const auto& cube : {siblings, grandparents})
    if (cube && (cube->shape(0) != n || cube->shape(1) != n || cube->shape(2) != n))
      throw nb::value_error("parts of second order of the wrong shape");
  if (!projective && (siblings || grandparents))
    throw nb::value_error("parts of second order are for projective trees");
  const TreeArrays arrays{static_cast<int>(n) - 1,
                          labels ? static_cast<int>(labels->shape(2)) : 0,
                          arcs.data(),
                          labels ? labels->data() : nullptr,
                          siblings ? siblings->data() : nullptr,
                          grandparents ? grandparents->data() : nullptr};
  return without_gil([&] { return TreeScores(arrays, {projective, single_root}); });
}

auto to_python(HeadsAndLabels&& tree) {
  return std::make_tuple(tree.score, to_numpy(std::move(tree.heads)), to_numpy(std::move(tree.labels)));
}

}  // namespace

void bind_arcs(nb::module_& m) {
  nb::class_<TreeScores>(m, "TreeScores", "Scores of the dependency trees of a sentence, as plain arrays.")
      .def(
          "__init__",
          [](TreeScores* self, Matrix arcs, std::optional<Cube> labels, std::optional<Cube> siblings,
             std::optional<Cube> grandparents, bool projective, bool single_root) {
            new (self) TreeScores(make_scores(arcs, labels, siblings, grandparents, projective, single_root));
          },
          nb::arg("arcs"), nb::arg("labels").none(), nb::arg("siblings").none(), nb::arg("grandparents").none(),
          nb::arg("projective"), nb::arg("single_root"))
      .def(
          "best", [](const TreeScores& scores) { return to_python(without_gil([&] { return scores.best(); })); },
          "(score, heads, labels)")
      .def(
          "k_best",
          [](const TreeScores& scores, std::int64_t k) {
            std::vector<HeadsAndLabels> trees = without_gil([&] { return scores.k_best(k); });
            nb::list out;
            for (HeadsAndLabels& tree : trees) out.append(to_python(std::move(tree)));
            return out;
          },
          nb::arg("k"), "[(score, heads, labels)]")
      .def("log_partition", &TreeScores::log_partition, nb::call_guard<WithoutGil>())
      .def(
          "marginals",
          [](const TreeScores& scores) {
            TreeProbabilities p = without_gil([&] { return scores.marginals(); });
            return std::make_tuple(p.log_partition, to_numpy(std::move(p.arcs)), to_numpy(std::move(p.labels)),
                                   to_numpy(std::move(p.siblings)), to_numpy(std::move(p.grandparents)));
          },
          "(log Z, and flat arrays of the probabilities of arcs, labels, siblings and grandparents)")
      .def(
          "score",
          [](const TreeScores& scores, Ids heads, Ids labels) {
            const std::int64_t n = scores.arcs().n_words(), n_labels = scores.n_labels();
            if (n_entries(heads) != n || n_entries(labels) != (n_labels ? n : 0))
              throw nb::value_error("a head and a label per word");
            check_ids(heads, n + 1, "a head is out of range");
            check_ids(labels, n_labels, "a label id is out of range");
            return scores.score(heads.data(), labels.data());
          },
          nb::arg("heads"), nb::arg("labels"))
      .def(
          "forest",
          [](const TreeScores& scores) {
            ProjectiveForest forest = without_gil([&] { return scores.forest(); });
            std::vector<std::int32_t> heads, modifiers;
            for (const std::int32_t arc : forest.arcs) {
              heads.push_back(arc < 0 ? -1 : scores.arcs().head(arc));
              modifiers.push_back(arc < 0 ? -1 : scores.arcs().modifier(arc));
            }
            return std::make_tuple(to_numpy(std::move(forest.heads)), to_numpy(std::move(forest.tail_ptr)),
                                   to_numpy(std::move(forest.tails)), to_numpy(std::move(forest.scores)),
                                   forest.n_nodes, to_numpy(std::move(heads)), to_numpy(std::move(modifiers)),
                                   to_numpy(std::move(forest.labels)));
          },
          "(heads, tail_ptr, tails, scores, n_nodes, and of each edge the arc's head, its modifier and label, or -1)");
}
