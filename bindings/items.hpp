// The items of a Python list or tuple by index, in the limited API as in the full one.
#pragma once
#include "bindings.hpp"

// The items of any iterable: those of a list or tuple themselves, of others a list made of them. The list may change
// while it is gone through, as Python code may run in between: size() is always that of now.
class Items {
 public:
  Items() = default;
  explicit Items(nb::handle iterable) : items_(nb::steal(PySequence_Fast(iterable.ptr(), "expected a sequence"))) {
    if (!items_.is_valid()) nb::raise_python_error();
    is_list_ = PyList_Check(items_.ptr());
  }
  bool is_valid() const { return items_.is_valid(); }
  Py_ssize_t size() const { return is_list_ ? NB_LIST_GET_SIZE(items_.ptr()) : NB_TUPLE_GET_SIZE(items_.ptr()); }
  nb::object operator[](Py_ssize_t i) const {
    PyObject* const item = is_list_ ? NB_LIST_GET_ITEM(items_.ptr(), i) : NB_TUPLE_GET_ITEM(items_.ptr(), i);
    if (!item) nb::raise_python_error();
    return nb::borrow(item);
  }

 private:
  nb::object items_;
  bool is_list_ = false;
};
