// Bindings of the column table and its parser.

#include <string>
#include <string_view>
#include <tuple>

#include "items.hpp"
#include "text/column_parser.hpp"
#include "text/column_writer.hpp"
#include "text/strings.hpp"

using margent::ColumnError;
using margent::ColumnFormat;
using margent::ColumnLimitError;
using margent::ColumnParser;
using margent::ColumnTable;
using margent::ColumnView;
using margent::RowError;

namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

nb::object error_type(const char* name) { return nb::module_::import_("margent.errors").attr(name); }

[[noreturn]] void raise_corpus_error(const std::string& message) {
  PyErr_SetString(error_type("CorpusError").ptr(), message.c_str());
  throw nb::python_error();
}

nb::str to_str(std::string_view cell) { return nb::str(cell.data(), cell.size()); }

// Cells to Python strings, equal cells to one and the same string.
class SharedStrings {
 public:
  nb::object operator()(std::string_view cell) {
    const std::int32_t id = table_.add(cell);
    if (static_cast<std::size_t>(id) == strings_.size()) strings_.push_back(to_str(cell));
    return strings_[id];
  }

 private:
  margent::StringTable table_;
  std::vector<nb::object> strings_;
};

// Token t as the chosen columns: a string where one is chosen, otherwise a tuple.
template <class ToString>
nb::object row(const ColumnTable& table, std::int64_t t, const Numbers& columns, ToString& to) {
  const std::size_t n = columns.shape(0);
  if (n == 1) return to(table.cell(t, static_cast<int>(columns.data()[0])));
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(n)));
  for (std::size_t c = 0; c < n; ++c)
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(c),
                    nb::object(to(table.cell(t, static_cast<int>(columns.data()[c])))).release().ptr());
  return tuple;
}

void check_columns(const ColumnTable& table, const Numbers& columns) {
  for (std::size_t c = 0; c < columns.shape(0); ++c)
    if (columns.data()[c] < 0 || columns.data()[c] >= table.n_columns) throw nb::index_error("no such column");
}

nb::list sentences(const ColumnTable& table, Numbers indices, Numbers columns) {
  check_columns(table, columns);
  const margent::Interruption interruption(check_signals);
  SharedStrings shared;
  nb::list result;
  for (std::size_t i = 0; i < indices.shape(0); ++i) {
    const std::int64_t s = indices.data()[i];
    if (s < 0 || s >= table.n_sentences()) throw nb::index_error("no such sentence");
    nb::list sentence;
    for (std::int64_t t = table.sentence_ptr[s]; t < table.sentence_ptr[s + 1]; ++t) {
      margent::check_interruption(256);
      sentence.append(row(table, t, columns, shared));
    }
    result.append(std::move(sentence));
  }
  return result;
}

// A list or tuple as it is, another sequence (an array, say) as a list; nothing for what is no sequence of tokens.
Items items_of(nb::handle h) {
  PyObject* p = h.ptr();
  if (PyUnicode_Check(p) || PyBytes_Check(p) || PyByteArray_Check(p) || !PySequence_Check(p)) return {};
  return Items(h);
}

std::string name_of_type(nb::handle h) { return nb::type_name(h.type()).c_str(); }

// Builds a table from Python rows; `n_columns` is the number expected, or 0 to take it from the first row. Errors count
// the sentences from `first` on.
class RowReader {
 public:
  RowReader(int n_columns, Py_ssize_t first) : first_(first) { table_.n_columns = n_columns; }

  ColumnTable read(nb::handle sentences) {
    const margent::Interruption interruption(check_signals);
    const Items outer = items_of(sentences);
    if (!outer.is_valid()) raise_corpus_error("expected a sequence of sentences, got " + name_of_type(sentences));
    // The lists are indexed anew each time: converting an odd sequence may run Python code that changes them.
    for (sentence_ = 0; sentence_ < outer.size(); ++sentence_) {
      const nb::object item = outer[sentence_];
      const Items tokens = items_of(item);
      if (!tokens.is_valid())
        raise_corpus_error("sentence " + std::to_string(first_ + sentence_) + ": expected a list of tokens, got " +
                           name_of_type(item));
      for (token_ = 0; token_ < tokens.size(); ++token_) add_row(tokens[token_]);
      n_rows_ += token_;
      table_.sentence_ptr.push_back(n_rows_);
    }
    return std::move(table_);
  }

 private:
  void add_row(const nb::object& row) {
    margent::check_interruption(256);
    if (PyUnicode_Check(row.ptr())) {
      count(1);
      return add_cell(row);
    }
    if (!PyTuple_Check(row.ptr()) && !PyList_Check(row.ptr()))
      fail("expected str or a tuple of str, got " + name_of_type(row));
    const Items cells(row);
    const Py_ssize_t n = cells.size();
    if (n == 0) fail("expected at least one column, got an empty " + name_of_type(row));
    count(n);
    for (Py_ssize_t c = 0; c < n; ++c) {
      const nb::object cell = cells[c];
      if (!PyUnicode_Check(cell.ptr()))
        fail("expected str in column " + std::to_string(c) + ", got " + name_of_type(cell));
      add_cell(cell);
    }
  }

  void count(Py_ssize_t found) {
    if (table_.n_columns == 0) table_.n_columns = static_cast<int>(found);
    if (found != table_.n_columns)
      fail("found " + std::to_string(found) + (found == 1 ? " column" : " columns") + ", expected " +
           std::to_string(table_.n_columns) + " as in the tokens before");
  }

  void add_cell(const nb::object& cell) {
    Py_ssize_t size = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(cell.ptr(), &size);
    if (!utf8) {
      PyErr_Clear();
      fail("expected text that can be written as UTF-8, got a lone surrogate");
    }
    if (static_cast<std::uint64_t>(size) > 0xFFFFFFFFu) fail("the text is longer than 4 GiB");
    table_.begin.push_back(table_.text.size());
    table_.length.push_back(static_cast<std::uint32_t>(size));
    table_.text.append(utf8, static_cast<std::size_t>(size));
  }

  [[noreturn]] void fail(const std::string& message) {
    raise_corpus_error("sentence " + std::to_string(first_ + sentence_) + ", token " + std::to_string(token_) + ": " +
                       message);
  }

  ColumnTable table_;
  Py_ssize_t first_, sentence_ = 0, token_ = 0;
  std::int64_t n_rows_ = 0;
};

using Part = std::tuple<const ColumnTable*, Numbers, Numbers>;

nb::str format_parts(const std::vector<Part>& parts, char separator, std::int64_t first) {
  std::vector<ColumnView> views;
  std::size_t n_sentences = 0;
  for (const auto& [table, sentences, columns] : parts) {
    check_columns(*table, columns);
    for (std::size_t i = 0; i < sentences.shape(0); ++i)
      if (sentences.data()[i] < 0 || sentences.data()[i] >= table->n_sentences())
        throw nb::index_error("no such sentence");
    if (!views.empty() && sentences.shape(0) != n_sentences) throw nb::value_error("numbers of sentences differ");
    n_sentences = sentences.shape(0);
    views.push_back({table, sentences.data(), columns.data(), columns.shape(0)});
  }
  std::string text;
  try {
    const WithoutGil released;
    text = margent::format_columns(views, static_cast<std::int64_t>(n_sentences), separator);
  } catch (const RowError& e) {
    raise_corpus_error("sentence " + std::to_string(first + e.sentence()) +
                       (e.token() < 0 ? "" : ", token " + std::to_string(e.token())) + ": " + e.what());
  }
  return to_str(text);
}

}  // namespace

void bind_columns(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const ColumnLimitError& e) {
      PyErr_SetObject(error_type("LimitError").ptr(), nb::make_tuple(e.what(), e.line()).ptr());
    } catch (const ColumnError& e) {
      const std::string message = "line " + std::to_string(e.line()) + ": " + e.what();
      PyErr_SetString(error_type("CorpusError").ptr(), message.c_str());
    }
  });

  nb::class_<ColumnTable>(m, "ColumnTable", "Tokens in columns, sentence by sentence; cannot be changed.")
      .def_static(
          "from_rows",
          [](nb::handle sentences, int n_columns, Py_ssize_t first) {
            return RowReader(n_columns, first).read(sentences);
          },
          nb::arg("sentences"), nb::arg("n_columns") = 0, nb::arg("first") = 0,
          "From a sequence of sentences, each a sequence of rows: tuples or lists of str, or str for one column.")
      .def_ro("n_columns", &ColumnTable::n_columns)
      .def_prop_ro("n_tokens", &ColumnTable::n_tokens)
      .def_prop_ro("n_sentences", &ColumnTable::n_sentences)
      .def_prop_ro(
          "sentence_ptr",
          [](nb::handle_t<ColumnTable> self) {
            const auto& ptr = nb::cast<const ColumnTable&>(self).sentence_ptr;
            return nb::ndarray<nb::numpy, const std::int64_t, nb::ndim<1>>(ptr.data(), {ptr.size()}, self);
          },
          "(n_sentences + 1,) int64, a view: the tokens of sentence s are sentence_ptr[s] to sentence_ptr[s + 1] - 1.")
      .def(
          "column",
          [](const ColumnTable& table, int column) {
            if (column < 0 || column >= table.n_columns) throw nb::index_error("no such column");
            SharedStrings shared;
            nb::list result;
            for (std::int64_t t = 0; t < table.n_tokens(); ++t) result.append(shared(table.cell(t, column)));
            return result;
          },
          nb::arg("column"), "The cells of one column over all tokens; equal cells are one object.")
      .def(
          "rows",
          [](const ColumnTable& table, std::int64_t sentence, Numbers columns) {
            check_columns(table, columns);
            if (sentence < 0 || sentence >= table.n_sentences()) throw nb::index_error("no such sentence");
            nb::list result;
            for (std::int64_t t = table.sentence_ptr[sentence]; t < table.sentence_ptr[sentence + 1]; ++t)
              result.append(row(table, t, columns, to_str));
            return result;
          },
          nb::arg("sentence"), nb::arg("columns"),
          "The tokens of one sentence: strings where one column is chosen, otherwise tuples.")
      .def("sentences", &sentences, nb::arg("indices"), nb::arg("columns"),
           "The tokens of several sentences as `rows` gives them; equal cells are one object.");

  m.def("format_columns", &format_parts, nb::arg("parts"), nb::arg("separator"), nb::arg("first") = 0,
        "The text of a column file: (table, sentences, columns) of each part, side by side.");

  nb::class_<ColumnParser>(m, "ColumnParser", "Parses column files given in pieces of UTF-8 bytes.")
      .def(
          "__init__",
          [](ColumnParser* self, bool tabs_only, std::string comment, bool drop_docstart, std::int64_t line,
             std::int64_t tokens, std::int64_t sentence, std::int64_t empty_lines) {
            new (self) ColumnParser(
                ColumnFormat{tabs_only, std::move(comment), drop_docstart, {line, tokens, sentence, empty_lines}});
          },
          nb::arg("tabs_only") = false, nb::arg("comment") = "", nb::arg("drop_docstart") = true,
          nb::arg("line") = no_limit, nb::arg("tokens") = no_limit, nb::arg("sentence") = no_limit,
          nb::arg("empty_lines") = no_limit)
      .def(
          "feed",
          [](ColumnParser& parser, nb::bytes bytes) {
            const std::string_view view(bytes.c_str(), bytes.size());
            const WithoutGil released;
            parser.feed(view);
          },
          nb::arg("bytes"), "Reads one more piece of the file; it may end anywhere.")
      .def("finish", &ColumnParser::finish, "The file has ended: closes its last line and sentence.")
      .def("take", &ColumnParser::take, "The sentences that are complete so far, as a ColumnTable.");
}
