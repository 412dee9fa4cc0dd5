// What the binding files share: array types, ownership of results, and one register function each.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "interruption.hpp"

namespace nb = nanobind;

// An input array: read only, contiguous, of this dtype. One that is not is converted into a copy, which lives as long
// as the Array does; Python hands over what fits, so that nothing is copied.
template <class T, class... Shape>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu, Shape...>;

using Ids = Array<std::int32_t, nb::ndim<1>>;
using Ptr = Array<std::int64_t, nb::ndim<1>>;  // where rows begin, and the end of the last
using Floats = Array<float, nb::ndim<1>>;
using Doubles = Array<double, nb::ndim<1>>;
using Flags = Array<std::uint8_t, nb::ndim<1>>;
using Numbers = Array<std::int64_t, nb::ndim<1>>;  // of examples, sentences, columns

// The first dimension, as the core counts.
template <class A>
std::int64_t n_entries(const A& array) {
  return static_cast<std::int64_t>(array.shape(0));
}

template <class T>
std::span<const T> view(const Array<T, nb::ndim<1>>& array) {
  return {array.data(), array.size()};
}

// Raises what a handler of a signal raises, Ctrl-C as a rule. Only the main thread of Python has any.
inline void check_signals() {
  nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// For work that takes long and needs nothing of Python: other threads of Python run meanwhile, and signals end it.
class WithoutGil {
  nb::gil_scoped_release release_;
  margent::Interruption interruption_{check_signals};
};

// The answer to such work.
template <class Work>
auto without_gil(Work work) {
  const WithoutGil released;
  return work();
}

inline void check_ptr(const Ptr& ptr, std::int64_t total, const char* what) {
  const std::size_t n = ptr.shape(0);
  bool good = n >= 1 && ptr.data()[0] == 0 && ptr.data()[n - 1] == total;
  for (std::size_t i = 1; good && i < n; ++i) good = ptr.data()[i] >= ptr.data()[i - 1];
  if (!good) throw nb::value_error((std::string(what) + ": offsets must rise from 0 to the number of entries").c_str());
}

// All ids should be from 0 to n - 1.
inline void check_ids(const Ids& ids, std::int64_t n, const char* message) {
  for (const std::int32_t id : view(ids))
    if (id < 0 || id >= n) throw nb::value_error(message);
}

inline void check_examples(const Numbers& examples, std::int64_t n_examples) {
  for (std::size_t i = 0; i < examples.shape(0); ++i)
    if (examples.data()[i] < 0 || examples.data()[i] >= n_examples) throw nb::index_error("no such example");
}

// An array that is handed over to Python.
template <class T>
using Numpy = nb::ndarray<nb::numpy, T>;

// A container (std::vector or margent::Buffer) handed over to numpy without a copy.
template <class Container, class T = typename Container::value_type>
Numpy<T> to_numpy(Container&& values, std::vector<std::size_t> shape = {}) {
  static_assert(!std::is_lvalue_reference_v<Container>, "what is handed over must be moved");
  auto owner = std::make_unique<Container>(std::move(values));
  if (shape.empty()) shape = {owner->size()};
  T* data = owner->data();
  nb::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<Container*>(p); });
  return Numpy<T>(data, shape.size(), shape.data(), capsule);
}

void bind_arcs(nb::module_& m);
void bind_tree_learning(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_forest_learning(nb::module_& m);
void bind_columns(nb::module_& m);
void bind_interruption(nb::module_& m);
void bind_chain(nb::module_& m);
void bind_features(nb::module_& m);
void bind_k_grams(nb::module_& m);
void bind_learning(nb::module_& m);
void bind_likelihood(nb::module_& m);
void bind_segments(nb::module_& m);
void bind_segment_learning(nb::module_& m);
void bind_tagging(nb::module_& m);
void bind_cosegments(nb::module_& m);
void bind_phrases(nb::module_& m);
void bind_reranking(nb::module_& m);
void bind_cosegment_learning(nb::module_& m);
void bind_transitions(nb::module_& m);
void bind_parsing(nb::module_& m);
void bind_meaning(nb::module_& m);
void bind_rule_tables(nb::module_& m);
void bind_translation_search(nb::module_& m);
