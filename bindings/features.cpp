// Bindings of string tables, coded columns, feature templates and attributes.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "text/column_codes.hpp"
#include "text/column_parser.hpp"
#include "text/columns.hpp"
#include "text/spelling.hpp"
#include "text/strings.hpp"
#include "text/template_columns.hpp"
#include "text/templates.hpp"

using namespace margent;

namespace {

nb::list strings_of(const StringTable& table, std::int32_t begin) {
  nb::list out;
  for (std::int32_t i = begin; i < table.size(); ++i) out.append(nb::str(table[i].data(), table[i].size()));
  return out;
}

std::string_view utf8(nb::handle h) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(h.ptr(), &size);
  if (!text) nb::raise_python_error();
  return {text, static_cast<std::size_t>(size)};
}

StringTable restored(nb::ndarray<const std::uint8_t, nb::c_contig, nb::ndim<1>> arena, Ptr ends) {
  StringTable table;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < ends.shape(0); ++i) {
    const std::int64_t end = ends.data()[i];
    if (end < begin || end > n_entries(arena)) throw nb::value_error("string ends are not in order");
    table.add({reinterpret_cast<const char*>(arena.data()) + begin, static_cast<std::size_t>(end - begin)});
    begin = end;
  }
  if (table.size() != static_cast<std::int32_t>(ends.shape(0))) throw nb::value_error("a string occurs twice");
  return table;
}

auto dump(const StringTable& table) {
  std::vector<std::uint8_t> arena(table.arena().begin(), table.arena().end());
  return std::make_tuple(to_numpy(std::move(arena)), to_numpy(std::vector<std::int64_t>(table.ends())));
}

void check_sentences(const ColumnTable& table, const std::optional<Numbers>& sentences) {
  if (sentences)
    for (const std::int64_t s : view(*sentences))
      if (s < 0 || s >= table.n_sentences()) throw nb::index_error("no such sentence");
}

// The codes of one column for chosen sentences: ids of `table` for known strings; with `grow` new strings are added,
// without they are numbered on from table.size() in order of appearance and returned as a list.
auto encode_column(const ColumnTable& columns, int column, std::optional<Numbers> sentences, StringTable& table,
                   bool grow, int threads) {
  if (column < 0 || column >= columns.n_columns) throw nb::index_error("no such column");
  check_sentences(columns, sentences);
  StringTable fresh;
  ColumnCodes codes;
  without_gil([&] {
    if (sentences)
      codes = column_codes(columns, column, view(*sentences), table, grow, threads, fresh);
    else
      codes = column_codes(columns, column, table, grow, threads, fresh);
  });
  return std::make_tuple(to_numpy(std::move(codes)), strings_of(fresh, 0));
}

// What a Python function that knows Unicode says of a word: whether it has a value, and which.
bool derive_in_python(const nb::object& function, std::string_view word, std::string& value) {
  nb::gil_scoped_acquire acquire;
  const nb::object found = function(nb::str(word.data(), word.size()));
  if (!found.is_none()) value = utf8(found);
  return !found.is_none();
}

Derivation derivation_of(const std::string& name) {
  const std::optional<Derivation> found = derivation_named(name);
  if (!found) throw nb::value_error("no such derived column");
  return *found;
}

// The codes in `values` of what is derived from each word of a table; -1: not known.
auto find_derived(const StringTable& values, const StringTable& words, const std::string& name, nb::object function) {
  const Derivation derivation = derivation_of(name);
  std::vector<std::int32_t> codes;
  without_gil([&] {
    codes = derived_codes(
        derivation, words, 0,
        [&](std::string_view word, std::string& value) { return derive_in_python(function, word, value); },
        [&](const std::string& value) { return values.find(value); });
  });
  return to_numpy(std::move(codes));
}

// The columns of templates, and for each derived one the Python function that knows Unicode.
class PythonColumns {
 public:
  using Spec = std::pair<int, std::optional<std::string>>;

  PythonColumns(const std::vector<Spec>& specs, nb::dict derivations) {
    std::vector<TemplateColumn> columns;
    for (const auto& [source, name] : specs) {
      if (source < 0) throw nb::index_error("no such column");
      columns.push_back({source, std::nullopt, {}, {}});
      functions_.emplace_back();
      if (!name) continue;
      columns.back().derivation = derivation_of(*name);
      const nb::object function = derivations.get(name->c_str(), nb::none());
      if (function.is_none()) throw nb::value_error("no such derived column");
      functions_.back() = function;
    }
    columns_ = std::make_shared<TemplateColumns>(std::move(columns));
  }
  PythonColumns copy() const {
    PythonColumns copied(*this);
    copied.columns_ = std::make_shared<TemplateColumns>(*columns_);
    return copied;
  }
  TemplateColumns& columns() const { return *columns_; }
  const TemplateColumn& at(std::size_t i) const {
    if (i >= columns_->size()) throw nb::index_error("no such column");
    return (*columns_)[i];
  }
  TemplateColumns::Codes encode(const ColumnTable& table, const std::vector<int>& indices,
                                std::optional<std::span<const std::int64_t>> sentences, bool grow, int threads) const {
    return columns_->encode(table, indices, sentences, grow, threads,
                            [this](std::size_t column, std::string_view word, std::string& value) {
                              return derive_in_python(functions_[column], word, value);
                            });
  }

 private:
  std::shared_ptr<TemplateColumns> columns_;
  std::vector<nb::object> functions_;
};

auto encode_templates(TemplateEncoder& encoder, const PythonColumns& columns, const ColumnTable& table,
                      std::vector<int> indices, std::optional<Numbers> sentences, Ptr sentence_ptr, bool grow,
                      int threads) {
  const std::int64_t n_sentences = n_entries(sentence_ptr) - 1;
  if (n_sentences < 0 || sentence_ptr.data()[0] != 0) throw nb::value_error("sentence_ptr must begin with 0");
  for (std::int64_t s = 0; s < n_sentences; ++s)
    if (sentence_ptr.data()[s + 1] < sentence_ptr.data()[s]) throw nb::value_error("sentence_ptr must not fall");
  check_sentences(table, sentences);
  std::int64_t n_tokens = sentences ? 0 : table.n_tokens();
  if (sentences)
    for (const std::int64_t s : view(*sentences)) n_tokens += table.sentence_ptr[s + 1] - table.sentence_ptr[s];
  if (n_tokens != sentence_ptr.data()[n_sentences]) throw nb::value_error("sentence_ptr must count all tokens");
  if (static_cast<int>(columns.columns().size()) != encoder.n_columns()) throw nb::value_error("other columns");
  for (std::size_t c = 0; c < columns.columns().size(); ++c)
    if (columns.at(c).source >= static_cast<int>(indices.size())) throw nb::index_error("no such column");
  for (const int index : indices)
    if (index < 0 || index >= table.n_columns) throw nb::index_error("no such column");
  EncodedTokens features, edges;
  without_gil([&] {
    const TemplateColumns::Codes codes =
        columns.encode(table, indices, sentences ? std::optional(view(*sentences)) : std::nullopt, grow, threads);
    encoder.encode(codes.columns, sentence_ptr.data(), n_sentences, grow, threads, features, edges);
  });
  return std::make_tuple(to_numpy(std::move(features.ids)), to_numpy(std::move(features.ptr)),
                         to_numpy(std::move(edges.ids)), to_numpy(std::move(edges.ptr)));
}

// Python looks for garbage after so many new lists; where all of them stay, that is time lost.
class WithoutCollection {
 public:
  ~WithoutCollection() {
    if (before_) PyGC_Enable();
  }

 private:
  int before_ = PyGC_Disable();
};

// A list of names for each row of ids.
nb::list named_rows(Ids ids, Ptr ptr, nb::list names) {
  check_ptr(ptr, n_entries(ids), "rows");
  check_ids(ids, static_cast<std::int64_t>(names.size()), "no such name");
  const Interruption interruption(check_signals);
  const WithoutCollection all_stay;
  nb::list out;
  for (std::size_t r = 0; r + 1 < ptr.shape(0); ++r) {
    const std::int64_t begin = ptr.data()[r], n = ptr.data()[r + 1] - begin;
    nb::object row = nb::steal(PyList_New(static_cast<Py_ssize_t>(n)));
    if (!row.is_valid()) nb::raise_python_error();
    for (std::int64_t i = 0; i < n; ++i) {
      PyObject* name = NB_LIST_GET_ITEM(names.ptr(), ids.data()[begin + i]);
      Py_INCREF(name);
      NB_LIST_SET_ITEM(row.ptr(), static_cast<Py_ssize_t>(i), name);
    }
    out.append(std::move(row));
    check_interruption(4 * n + 64);
  }
  return out;
}

// Attributes of tokens as Python has them: a dict (name to text, number, bool, or a nested dict, list or set) or a list
// of names per token, read as sklearn-crfsuite reads them. In which order a dict or set has them does not matter: those
// that are new get their ids in the order of their names, and a token has its ids in rising order.
class AttributeReader {
 public:
  // zeros: attributes of value 0 are kept.
  AttributeReader(StringTable& table, bool grow, bool zeros) : table_(table), grow_(grow), zeros_(zeros) {}

  auto read(nb::handle sequences) {
    const Interruption interruption(check_signals);
    for (nb::handle sequence : sequences) {
      token_ = 0;
      if (PyUnicode_Check(sequence.ptr()) || !PySequence_Check(sequence.ptr()))
        fail("expected a list of tokens", sequence);
      for (nb::handle token : sequence) {
        check_interruption(1 << 10);
        item(token);
        add_new(!PyDict_Check(token.ptr()) && !PyAnySet_Check(token.ptr()) && !PyDictViewSet_Check(token.ptr()));
        sort_ids();
        ptr_.push_back(static_cast<std::int64_t>(ids_.size()));
        ++token_;
      }
      sequence_ptr_.push_back(static_cast<std::int64_t>(ptr_.size()) - 1);
      ++sequence_;
    }
    std::optional<Numpy<float>> values;
    if (!plain_) values = to_numpy(std::move(values_));
    return std::make_tuple(to_numpy(std::move(ids_)), values, to_numpy(std::move(ptr_)),
                           to_numpy(std::move(sequence_ptr_)));
  }

 private:
  void item(nb::handle token) {
    if (PyDict_Check(token.ptr())) {
      PyObject *key, *value;
      Py_ssize_t position = 0;
      while (PyDict_Next(token.ptr(), &position, &key, &value)) {
        name_.assign(name_text(key));
        attribute(value);
      }
    } else if (is_iterable(token)) {
      for (nb::handle name : token) add(name_text(name), 1);
    } else {
      fail("expected a dict or a list of attributes", token);
    }
  }

  // Text is str, or bytes of UTF-8, as python-crfsuite takes it.
  static bool is_text(nb::handle h) { return PyUnicode_Check(h.ptr()) || PyBytes_Check(h.ptr()); }
  // Lists, sets, views of dicts, iterators.
  static bool is_iterable(nb::handle h) {
    if (is_text(h) || PyFloat_Check(h.ptr()) || PyLong_Check(h.ptr())) return false;
    return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()) || PyAnySet_Check(h.ptr()) ||
           PyObject_HasAttrString(h.ptr(), "__iter__");
  }
  std::string_view name_text(nb::handle name) {
    if (!is_text(name)) fail("expected attribute names of type str", name);
    return text(name);
  }

  // The attribute whose name so far is in name_.
  void attribute(nb::handle value) {
    PyObject* v = value.ptr();
    const std::size_t size = name_.size();
    if (is_text(value)) {
      name_ += ':';
      name_ += text(value);
      add(name_, 1);
    } else if (PyDict_Check(v)) {
      PyObject *key, *inner;
      Py_ssize_t position = 0;
      if (++depth_ > 20) fail("attributes are nested too deeply", value);
      while (PyDict_Next(v, &position, &key, &inner)) {
        name_.resize(size);
        name_ += ':';
        name_ += name_text(key);
        attribute(inner);
      }
      --depth_;
    } else if (is_iterable(value) && !PyNumber_Check(v)) {
      for (nb::handle inner : value) {
        name_.resize(size);
        name_ += ':';
        name_ += name_text(inner);
        add(name_, 1);
      }
    } else {
      const nb::object held = nb::borrow(value);  // its __float__ may be Python code, and take it out of the dict
      const double number = PyFloat_AsDouble(v);
      if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        fail("expected text, a number, a bool, a dict, a list or a set as value of attribute '" + name_ + "'", value);
      }
      if (!std::isfinite(static_cast<float>(number)))
        fail("expected a finite number of 32 bits as value of attribute '" + name_ + "'", value);
      add(name_, number);
    }
    name_.resize(size);
  }

  void add(std::string_view name, double value) {
    const std::int32_t id = table_.find(name);
    if (id != not_found) return add_id(id, value);
    if (grow_) new_.emplace_back(name, value);
  }

  void add_id(std::int32_t id, double value) {
    if (value == 0 && !zeros_) return;
    ids_.push_back(id);
    values_.push_back(static_cast<float>(value));
    plain_ &= value == 1;
  }

  // Those of the token that had no id; `ordered`: they have an order of their own, that of a list.
  void add_new(bool ordered) {
    if (!ordered) std::sort(new_.begin(), new_.end());
    for (const auto& [name, value] : new_) add_id(table_.add(name), value);
    new_.clear();
  }

  void sort_ids() {
    const std::size_t first = static_cast<std::size_t>(ptr_.back());
    if (std::is_sorted(ids_.begin() + first, ids_.end(), std::less_equal<>())) return;
    if (plain_) return std::sort(ids_.begin() + first, ids_.end());
    row_.clear();
    for (std::size_t i = first; i < ids_.size(); ++i) row_.emplace_back(ids_[i], values_[i]);
    std::sort(row_.begin(), row_.end());
    for (std::size_t i = first; i < ids_.size(); ++i) std::tie(ids_[i], values_[i]) = row_[i - first];
  }

  std::string_view text(nb::handle h) {
    Py_ssize_t size = 0;
    if (char* bytes = nullptr; PyBytes_Check(h.ptr())) {
      if (PyBytes_AsStringAndSize(h.ptr(), &bytes, &size) != 0) nb::raise_python_error();
      const std::string_view found(bytes, static_cast<std::size_t>(size));
      if (!valid_utf8(found)) fail("expected text, or bytes of UTF-8", h);
      return found;
    }
    const char* utf8 = PyUnicode_AsUTF8AndSize(h.ptr(), &size);
    if (!utf8) {
      PyErr_Clear();
      fail("expected text that can be written as UTF-8, found a lone surrogate", h);
    }
    return {utf8, static_cast<std::size_t>(size)};
  }

  [[noreturn]] void fail(const std::string& message, nb::handle got) {
    const std::string text = "sentence " + std::to_string(sequence_) + ", token " + std::to_string(token_) + ": " +
                             message + ", got " + nb::type_name(got.type()).c_str();
    PyErr_SetString(nb::module_::import_("margent.errors").attr("CorpusError").ptr(), text.c_str());
    throw nb::python_error();
  }

  StringTable& table_;
  bool grow_, zeros_, plain_ = true;
  int depth_ = 0;
  std::int64_t sequence_ = 0, token_ = 0;
  std::string name_;
  std::vector<std::pair<std::string, double>> new_;  // of the token
  std::vector<std::pair<std::int32_t, float>> row_;  // of the token, to be sorted
  std::vector<std::int32_t> ids_;
  std::vector<float> values_;
  std::vector<std::int64_t> ptr_{0}, sequence_ptr_{0};
};

}  // namespace

void bind_features(nb::module_& m) {
  nb::class_<StringTable>(m, "StringTable", "Strings to ids, in the order first seen.")
      .def(nb::init<>())
      .def("__len__", &StringTable::size)
      .def("__getitem__",
           [](const StringTable& t, std::int32_t i) {
             if (i < 0 || i >= t.size()) throw nb::index_error("no such string");
             return nb::str(t[i].data(), t[i].size());
           })
      .def("find", [](const StringTable& t, nb::str s) { return t.find(utf8(s)); })
      .def("add", [](StringTable& t, nb::str s) { return t.add(utf8(s)); })
      .def("add_all",
           [](StringTable& t, nb::list strings) {
             std::vector<std::int32_t> ids;
             for (nb::handle s : strings) ids.push_back(t.add(utf8(s)));
             return to_numpy(std::move(ids));
           })
      .def("find_all",
           [](const StringTable& t, nb::list strings) {
             std::vector<std::int32_t> ids;
             for (nb::handle s : strings) ids.push_back(t.find(utf8(s)));
             return to_numpy(std::move(ids));
           })
      .def(
          "find_table",
          [](const StringTable& t, const StringTable& other) {
            std::vector<std::int32_t> ids;
            for (std::int32_t i = 0; i < other.size(); ++i) ids.push_back(t.find(other[i]));
            return to_numpy(std::move(ids));
          },
          "find_all of all strings of another table.")
      .def(
          "find_derived", &find_derived, nb::arg("words"), nb::arg("derivation"), nb::arg("other"),
          "find_all of what is derived from the words of another table; `other`: the function, for words beyond ASCII.")
      .def("strings", &strings_of, nb::arg("begin") = 0)
      .def("dump", &dump, "(bytes, ends) as stored in a model file.")
      .def_static("restore", &restored)
      .def("copy", [](const StringTable& t) { return t; })
      .def("filter", [](const StringTable& t, Array<bool, nb::ndim<1>> keep) {
        if (static_cast<std::int32_t>(keep.shape(0)) != t.size())
          throw nb::value_error("keep needs one entry per string");
        StringTable kept;
        for (std::int32_t i = 0; i < t.size(); ++i)
          if (keep.data()[i]) kept.add(t[i]);
        return kept;
      });
  m.def("encode_column", &encode_column, nb::arg("table"), nb::arg("column"), nb::arg("sentences").none(),
        nb::arg("strings"), nb::arg("grow"), nb::arg("threads") = 1);
  m.def("named_rows", &named_rows, nb::arg("ids"), nb::arg("ptr"), nb::arg("names"),
        "A list for each row ids[ptr[r]], .., ids[ptr[r + 1] - 1], with a name for each id.");
  m.def(
      "encode_attributes",
      [](nb::handle sequences, StringTable& table, bool grow, bool zeros) {
        return AttributeReader(table, grow, zeros).read(sequences);
      },
      nb::arg("sequences"), nb::arg("strings"), nb::arg("grow"), nb::arg("zeros") = false,
      "(ids, values or None, ptr, sequence_ptr)");

  nb::class_<PythonColumns>(m, "TemplateColumns",
                            "The columns that templates read, and those derived from their words.")
      .def(nb::init<const std::vector<PythonColumns::Spec>&, nb::dict>(), nb::arg("columns"), nb::arg("derivations"))
      .def("copy", &PythonColumns::copy)
      .def(
          "strings", [](const PythonColumns& c, std::size_t i) { return c.at(i).strings; }, "The distinct values.")
      .def("string",
           [](const PythonColumns& c, std::size_t column, std::int32_t code) -> std::optional<std::string> {
             const StringTable& strings = c.at(column).strings;
             return code >= 0 && code < strings.size() ? std::optional<std::string>(strings[code]) : std::nullopt;
           })
      .def(
          "dump", [](const PythonColumns& c, std::size_t i) { return dump(c.at(i).strings); },
          "(bytes, ends) of the values, as stored in a model file.")
      .def(
          "of_word", [](const PythonColumns& c, std::size_t i) { return to_numpy(std::vector(c.at(i).of_word)); },
          "The code of the value of each distinct word.")
      .def("restore", [](PythonColumns& c, std::size_t i, const StringTable& strings, Ids of_word) {
        c.at(i);
        c.columns().restore(i, strings, {of_word.data(), of_word.data() + of_word.shape(0)});
      });

  using Cells = std::vector<std::pair<std::int32_t, std::int32_t>>;
  nb::class_<TemplateEncoder>(m, "TemplateEncoder", "Feature templates over coded columns.")
      .def(
          "__init__",
          [](TemplateEncoder* self, std::vector<std::tuple<std::int32_t, bool, Cells>> specs, int n_columns) {
            std::vector<Template> templates;
            for (auto& [text, edge, cells] : specs) {
              for (const auto& [offset, column] : cells)
                if (column < 0 || column >= n_columns || offset < -1000 || offset > 1000)
                  throw nb::index_error("no such cell");
              templates.push_back({text, edge, std::move(cells)});
            }
            new (self) TemplateEncoder(std::move(templates), n_columns);
          },
          nb::arg("templates"), nb::arg("n_columns"))
      .def("encode", &encode_templates, nb::arg("columns"), nb::arg("table"), nb::arg("indices"),
           nb::arg("sentences").none(), nb::arg("sentence_ptr"), nb::arg("grow"), nb::arg("threads") = 1,
           "(ids, ptr, edge_ids, edge_ptr)")
      .def("size", &TemplateEncoder::size, nb::arg("edge"))
      .def(
          "name",
          [](const TemplateEncoder& e, bool edge, std::int64_t id) {
            if (id < 0 || id >= e.size(edge)) throw nb::index_error("no such feature");
            const FeatureNames& names = e.names(edge);
            return std::make_tuple(names.text[id], std::vector<std::int32_t>(names.codes.begin() + names.ptr[id],
                                                                             names.codes.begin() + names.ptr[id + 1]));
          },
          "(template text, codes of its cells)")
      .def("dump",
           [](const TemplateEncoder& e, bool edge) {
             const FeatureNames& names = e.names(edge);
             return std::make_tuple(to_numpy(std::vector<std::int32_t>(names.text)),
                                    to_numpy(std::vector<std::int64_t>(names.ptr)),
                                    to_numpy(std::vector<std::int32_t>(names.codes)));
           })
      .def("restore",
           [](TemplateEncoder& e, bool edge, Ids text, Ptr ptr, Ids codes) {
             if (ptr.shape(0) != text.shape(0) + 1 || ptr.data()[0] != 0 ||
                 ptr.data()[text.shape(0)] != n_entries(codes))
               throw nb::value_error("feature names do not fit together");
             FeatureNames names;
             names.text.assign(text.data(), text.data() + text.shape(0));
             names.ptr.assign(ptr.data(), ptr.data() + ptr.shape(0));
             names.codes.assign(codes.data(), codes.data() + codes.shape(0));
             for (std::size_t i = 0; i < names.text.size(); ++i)
               if (names.ptr[i + 1] < names.ptr[i]) throw nb::value_error("feature names do not fit together");
             e.restore(edge, names);
           })
      .def("filter", [](TemplateEncoder& e, bool edge, Array<bool, nb::ndim<1>> keep) {
        if (static_cast<std::int32_t>(keep.shape(0)) != e.size(edge))
          throw nb::value_error("keep needs one entry per feature");
        e.filter(edge, std::vector<bool>(keep.data(), keep.data() + keep.shape(0)));
      });
}
