// Bindings of packed forests and their learning. The arrays were checked by margent.structures.forest and forest_batch.
#include "forest.hpp"

#include <nanobind/stl/unique_ptr.h>

#include <optional>
#include <tuple>

#include "forest/envelopes.hpp"
#include "forest/forest_oracle.hpp"

namespace {

using namespace margent;

// Keeps the arrays alive that the batch looks at.
struct BoundForests {
  Ptr node_ptr, edge_ptr;
  Ids roots, heads;
  Ptr tail_ptr;
  Ids tails;
  Flags allowed;
  Ptr feature_ptr;
  Ids features;
  std::optional<Floats> values;
  ForestBatch batch;

  BoundForests(Ptr node_ptr, Ptr edge_ptr, Ids roots, Ids heads, Ptr tail_ptr, Ids tails, Flags allowed,
               Ptr feature_ptr, Ids features, std::optional<Floats> values)
      : node_ptr(node_ptr), edge_ptr(edge_ptr), roots(roots), heads(heads), tail_ptr(tail_ptr), tails(tails),
        allowed(allowed), feature_ptr(feature_ptr), features(features), values(values), batch(checked()) {}

  ForestArrays checked() const {
    const std::size_t n_edges = heads.size();
    const auto covers = [](const Ptr& ptr, std::size_t n, std::size_t end) {
      return ptr.size() == n + 1 && ptr.data()[0] == 0 && ptr.data()[n] == static_cast<std::int64_t>(end);
    };
    if (node_ptr.size() != roots.size() + 1 || !covers(edge_ptr, roots.size(), n_edges) ||
        !covers(tail_ptr, n_edges, tails.size()) || !covers(feature_ptr, n_edges, features.size()) ||
        allowed.size() != n_edges || (values && values->size() != features.size()))
      throw nb::value_error("the arrays of forests disagree in length");
    return {view(node_ptr), view(edge_ptr),
            view(roots),    view(heads),
            view(tail_ptr), view(tails),
            view(allowed),  {features.data(), values ? values->data() : nullptr, feature_ptr.data()}};
  }

  template <class Ask>
  auto ask(const Doubles& scores, int threads, Ask ask) const {
    if (scores.size() != heads.size()) throw nb::value_error("one score per edge is expected");
    const WithoutGil released;
    return batch.ask_each(view(scores), threads, ask);
  }
};

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<BoundForests>(m, "Forests", "Views of checked arrays. Private: use margent.structures.ForestBatch.")
      .def(nb::init<Ptr, Ptr, Ids, Ids, Ptr, Ids, Flags, Ptr, Ids, std::optional<Floats>>(), nb::arg("node_ptr"),
           nb::arg("edge_ptr"), nb::arg("roots"), nb::arg("heads"), nb::arg("tail_ptr"), nb::arg("tails"),
           nb::arg("allowed"), nb::arg("feature_ptr"), nb::arg("features"), nb::arg("values").none() = nb::none())
      .def(
          "scores",
          [](const BoundForests& self, Doubles weights, int threads) {
            auto scores = without_gil([&] { return self.batch.scores(weights.data(), threads); });
            return to_numpy(std::move(scores));
          },
          nb::arg("weights"), nb::arg("threads"), "Scores of all edges, under as many weights as there are features.")
      .def(
          "best",
          [](const BoundForests& self, Doubles scores, int threads) {
            return joined(self.ask(scores, threads, [](const Forest& forest, std::int64_t) { return best(forest); }));
          },
          nb::arg("scores"), nb::arg("threads"))
      .def(
          "k_best",
          [](const BoundForests& self, Doubles scores, std::int64_t k, int threads) {
            return joined(
                self.ask(scores, threads, [k](const Forest& forest, std::int64_t) { return k_best(forest, k); }));
          },
          nb::arg("scores"), nb::arg("k"), nb::arg("threads"))
      .def(
          "sample",
          [](const BoundForests& self, Doubles scores, std::int64_t n, std::uint64_t seed, int threads) {
            return joined(self.ask(scores, threads, [=](const Forest& forest, std::int64_t i) {
              return sample(forest, n, ForestBatch::seed(seed, i));
            }));
          },
          nb::arg("scores"), nb::arg("n"), nb::arg("seed"), nb::arg("threads"))
      .def(
          "log_partition",
          [](const BoundForests& self, Doubles scores, int threads) {
            return to_numpy(self.ask(scores, threads,
                                     [](const Forest& forest, std::int64_t) { return inside(forest, Log{}).back(); }));
          },
          nb::arg("scores"), nb::arg("threads"))
      .def(
          "count",
          [](const BoundForests& self, Doubles scores, int threads) {
            return to_numpy(self.ask(
                scores, threads, [](const Forest& forest, std::int64_t) { return inside(forest, Count{}).back(); }));
          },
          nb::arg("scores"), nb::arg("threads"), "How many derivations each forest has; 2**64 - 1: so many or more.")
      .def(
          "marginals",
          [](const BoundForests& self, Doubles scores, int threads) {
            const std::vector<Marginals> found =
                self.ask(scores, threads, [](const Forest& forest, std::int64_t) { return marginals(forest); });
            std::vector<double> totals, uses;
            for (const Marginals& one : found) {
              totals.push_back(one.log_partition);
              uses.insert(uses.end(), one.edges.begin(), one.edges.end());
            }
            return std::make_tuple(to_numpy(std::move(totals)), to_numpy(std::move(uses)));
          },
          nb::arg("scores"), nb::arg("threads"), "(log-partition of each forest, how often each edge is expected)")
      .def(
          "best_along",
          [](const BoundForests& self, Doubles scores, Doubles slopes, int threads) {
            if (slopes.size() != self.heads.size()) throw nb::value_error("one slope per edge is expected");
            const std::vector<BestAlong> found = self.ask(scores, threads, [&](const Forest& forest, std::int64_t i) {
              return best_along(forest, view(slopes).subspan(static_cast<std::size_t>(self.batch.first_edge(i)),
                                                             self.batch.n_edges(i)));
            });
            std::vector<std::int64_t> forest_ptr{0}, ptr{0};
            std::vector<double> from;
            std::vector<std::int32_t> edges;
            for (const BestAlong& one : found) {
              from.insert(from.end(), one.from.begin(), one.from.end());
              for (std::size_t k = 1; k < one.ptr.size(); ++k)
                ptr.push_back(static_cast<std::int64_t>(edges.size()) + one.ptr[k]);
              edges.insert(edges.end(), one.edges.begin(), one.edges.end());
              forest_ptr.push_back(static_cast<std::int64_t>(from.size()));
            }
            return std::make_tuple(to_numpy(std::move(forest_ptr)), to_numpy(std::move(from)), to_numpy(std::move(ptr)),
                                   to_numpy(std::move(edges)));
          },
          nb::arg("scores"), nb::arg("slopes"), nb::arg("threads"),
          "The best derivations where edges score scores + x * slopes, from x = -inf on: (ptr, from, ptr, edges).")
      .def(
          "expectation",
          [](const BoundForests& self, Doubles scores, Doubles values, int threads) {
            if (values.size() != self.heads.size()) throw nb::value_error("one value per edge is expected");
            const auto found = self.ask(scores, threads, [&](const Forest& forest, std::int64_t i) {
              const auto first = static_cast<std::size_t>(self.batch.first_edge(i));
              return inside(forest, Expectation{view(values).subspan(first)}).back();
            });
            std::vector<double> totals, means;
            for (const Expectation::Value& one : found) {
              totals.push_back(one.log_weight);
              means.push_back(one.mean);
            }
            return std::make_tuple(to_numpy(std::move(totals)), to_numpy(std::move(means)));
          },
          nb::arg("scores"), nb::arg("values"), nb::arg("threads"), "(log-partition, expected sum) of each forest");
}

void bind_forest_learning(nb::module_& m) {
  nb::class_<ForestOracle, FlatOracle>(m, "ForestOracle", "The oracle of forests. Private: use margent.structures.")
      .def_prop_ro_static("structure", [](nb::handle) { return "forest"; })
      .def(
          "__init__",
          [](ForestOracle* self, const BoundForests& answers, std::optional<const BoundForests*> right,
             std::optional<Flags> mask, Doubles costs, std::optional<Doubles> weights, std::int64_t n_features) {
            const auto n = static_cast<std::size_t>(answers.batch.size()), n_edges = answers.heads.size();
            const bool fits = right ? (*right)->batch.size() == answers.batch.size() : mask && mask->size() == n_edges;
            if (!fits || costs.size() != n_edges || (weights && weights->size() != n))
              throw nb::value_error("what is known of forests disagrees in length with them");
            ForestProblem problem{&answers.batch, right ? &(*right)->batch : nullptr, {}, {}, {}, {}};
            problem.costs.assign(costs.data(), costs.data() + n_edges);
            if (!right) problem.mask.assign(mask->data(), mask->data() + n_edges);
            if (weights) problem.weights.assign(weights->data(), weights->data() + n);
            new (self) ForestOracle(std::move(problem), n_features);
          },
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::arg("answers"), nb::arg("right").none(),
          nb::arg("mask").none(), nb::arg("costs"), nb::arg("sample_weight").none(), nb::arg("n_features"))
      .def("fix_gold", &ForestOracle::fix_gold, nb::call_guard<WithoutGil>(),
           "Keeps the right derivations that are best now; in how many examples others than those kept last.")
      .def("free_gold", &ForestOracle::free_gold, "Right derivations are found anew for each answer again.");
}
