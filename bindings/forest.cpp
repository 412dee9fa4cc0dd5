// Bindings of the packed forest. The arrays were checked by margent.structures.forest.
#include "forest/forest.hpp"

#include <nanobind/stl/pair.h>

#include "bindings.hpp"

namespace {

using namespace margent;

template <class T>
std::span<const T> view(const Array<T, nb::ndim<1>>& array) {
  return {array.data(), array.size()};
}

template <class Call>
auto without_gil(Call call) {
  nb::gil_scoped_release release;
  return call();
}

using Integers = Array<std::int32_t, nb::ndim<1>>;
using Offsets = Array<std::int64_t, nb::ndim<1>>;
using Reals = Array<double, nb::ndim<1>>;

Forest to_forest(std::int32_t n_nodes, std::int32_t root, const Integers& heads, const Offsets& tail_ptr,
                 const Integers& tails, const Reals& scores) {
  if (heads.size() != scores.size() || tail_ptr.size() != heads.size() + 1 || root < 0 || root >= n_nodes)
    throw nb::value_error("the arrays of a forest disagree in length, or its root is no node");
  return without_gil([&] { return Forest(n_nodes, root, view(heads), view(tail_ptr), view(tails), view(scores)); });
}

// Keeps the arrays alive that the forest looks at.
struct BoundForest {
  Integers heads;
  Offsets tail_ptr;
  Integers tails;
  Reals scores;
  Forest forest;

  BoundForest(std::int32_t n_nodes, std::int32_t root, Integers heads, Offsets tail_ptr, Integers tails, Reals scores)
      : heads(heads), tail_ptr(tail_ptr), tails(tails), scores(scores),
        forest(to_forest(n_nodes, root, heads, tail_ptr, tails, scores)) {}
};

auto to_tuple(Derivations&& found) {
  return std::make_tuple(to_numpy(std::move(found.scores)), to_numpy(std::move(found.ptr)),
                         to_numpy(std::move(found.edges)));
}

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<BoundForest>(m, "Forest", "A view of checked arrays. Private: use margent.structures.Forest.")
      .def(nb::init<std::int32_t, std::int32_t, Integers, Offsets, Integers, Reals>(), nb::arg("n_nodes"),
           nb::arg("root"), nb::arg("heads"), nb::arg("tail_ptr"), nb::arg("tails"), nb::arg("scores"))
      .def("best", [](const BoundForest& self) { return to_tuple(without_gil([&] { return best(self.forest); })); })
      .def(
          "k_best",
          [](const BoundForest& self, std::int64_t k) {
            return to_tuple(without_gil([&] { return k_best(self.forest, k); }));
          },
          nb::arg("k"))
      .def(
          "sample",
          [](const BoundForest& self, std::int64_t n, std::uint64_t seed) {
            return to_tuple(without_gil([&] { return sample(self.forest, n, seed); }));
          },
          nb::arg("n"), nb::arg("seed"))
      .def("log_partition",
           [](const BoundForest& self) { return without_gil([&] { return inside(self.forest, Log{}).back(); }); })
      .def("count",
           [](const BoundForest& self) { return without_gil([&] { return inside(self.forest, Count{}).back(); }); })
      .def("marginals",
           [](const BoundForest& self) {
             Marginals result = without_gil([&] { return marginals(self.forest); });
             return std::make_tuple(result.log_partition, to_numpy(std::move(result.edges)));
           })
      .def(
          "expectation",
          [](const BoundForest& self, Reals values) {
            if (values.size() != self.scores.size()) throw nb::value_error("one value per edge is expected");
            return without_gil([&] {
              const Expectation::Value total = inside(self.forest, Expectation{view(values)}).back();
              return std::pair(total.log_weight, total.mean);
            });
          },
          nb::arg("values"));
}
