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
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace nb = nanobind;

// An input array: read only, contiguous, of this dtype. One that is not is converted into a copy, which lives as long
// as the Array does; Python hands over what fits, so that nothing is copied.
template <class T, class... Shape>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu, Shape...>;

// Examples by their numbers, in the order in which to go through them.
using ExampleNumbers = Array<std::int64_t, nb::ndim<1>>;

inline void check_examples(const ExampleNumbers& examples, std::int64_t n_examples) {
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

void bind_forest(nb::module_& m);
void bind_forest_learning(nb::module_& m);
void bind_columns(nb::module_& m);
void bind_chain(nb::module_& m);
void bind_features(nb::module_& m);
void bind_k_grams(nb::module_& m);
void bind_learning(nb::module_& m);
void bind_likelihood(nb::module_& m);
void bind_segments(nb::module_& m);
void bind_segment_learning(nb::module_& m);
void bind_tagging(nb::module_& m);
void bind_cosegments(nb::module_& m);
void bind_reranking(nb::module_& m);
void bind_cosegment_learning(nb::module_& m);
void bind_transitions(nb::module_& m);
