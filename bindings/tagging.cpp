// Bindings of encoded examples and of the frozen linear chain.
#include "chain/tagging.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "examples.hpp"

using namespace margent;

namespace {

struct SparseArrays {
  Ptr ptr;
  Ids columns;
  Floats weights;

  std::unique_ptr<SparseView> view(std::int64_t width) const {
    check_ptr(ptr, n_entries(columns), "sparse weights");
    if (weights.shape(0) != columns.shape(0)) throw nb::value_error("sparse weights: one weight per column index");
    check_ids(columns, width, "sparse weights: column out of range");
    return std::make_unique<SparseView>(ptr.data(), columns.data(), weights.data(), width);
  }
};

// Keeps the arrays alive that the model looks into.
class FrozenChain {
 public:
  FrozenChain(int n_labels, int order, nb::object unigrams, nb::object edges, Array<float, nb::ndim<2>> transitions,
              Array<float, nb::ndim<2>> end, int beam)
      : shape_(n_labels, order), transitions_(transitions), end_(end), beam_(beam) {
    if (beam < 0) throw nb::value_error("a beam has a width of at least 1; 0: no beam");
    const auto is = [&](const auto& a, std::int64_t rows) {
      return n_entries(a) == rows && static_cast<int>(a.shape(1)) == shape_.width;
    };
    if (!is(transitions, shape_.histories) || !is(end, shape_.contexts))
      throw nb::value_error("transitions of the wrong shape");
    rows_ = open(unigrams, shape_.width, &n_unigrams_);
    if (!edges.is_none()) edge_rows_ = open(edges, shape_.base * shape_.width, &n_edges_);
    if (order == 1) {
      transposed_.grow(n_labels * shape_.width);
      transpose_transitions(transitions.data(), n_labels, shape_.width, transposed_.data());
      if (n_labels >= pruned_from) {
        bound_.grow(shape_.width);
        bound_transitions(transitions.data(), n_labels, shape_.width, bound_.data());
      }
    }
  }

  LinearChain model(bool pruned = true) const {
    LinearChain model{shape_, rows_.get()};
    model.edges = edge_rows_.get();
    model.transitions = transitions_.data();
    model.end = end_.data();
    model.transposed = transposed_.data();
    model.transition_bound = pruned ? bound_.data() : nullptr;
    model.beam = beam_;
    return model;
  }
  void check(const BoundExamples& examples) const { examples.check(n_unigrams_, n_edges_, shape_.n_labels); }
  const ChainShape& shape() const { return shape_; }

 private:
  // What the view looks into is kept: an array of another type or layout was converted, and lives only here.
  std::unique_ptr<Rows> open(nb::object source, std::int64_t width, std::int64_t* n_rows) {
    if (nb::isinstance<nb::tuple>(source)) {
      const auto t = nb::cast<nb::tuple>(source);
      if (t.size() != 3) throw nb::value_error("sparse weights: (ptr, columns, weights)");
      SparseArrays arrays{nb::cast<Ptr>(t[0]), nb::cast<Ids>(t[1]), nb::cast<Floats>(t[2])};
      *n_rows = static_cast<std::int64_t>(arrays.ptr.shape(0)) - 1;
      kept_.push_back(std::make_shared<SparseArrays>(arrays));
      return arrays.view(width);
    }
    const auto dense = nb::cast<Array<float, nb::ndim<2>>>(source);
    if (static_cast<std::int64_t>(dense.shape(1)) != width) throw nb::value_error("weights of the wrong width");
    *n_rows = n_entries(dense);
    kept_.push_back(std::make_shared<Array<float, nb::ndim<2>>>(dense));
    return std::make_unique<DenseView>(dense.data(), width);
  }

  ChainShape shape_;
  Array<float, nb::ndim<2>> transitions_, end_;
  int beam_;
  std::vector<std::shared_ptr<void>> kept_;
  std::unique_ptr<Rows> rows_, edge_rows_;
  std::int64_t n_unigrams_ = 0, n_edges_ = 0;
  Buffer<float> transposed_, bound_;
};

// A forbidden label is -inf, and must stay so.
void check_scale(double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) throw nb::value_error("scale must be positive and finite");
}

auto best(const FrozenChain& chain, const BoundExamples& bound, int threads, bool pruned) {
  chain.check(bound);
  const Examples& examples = bound.examples();
  std::vector<std::int32_t> labels(bound.n_tokens());
  std::vector<double> scores(examples.n_sequences);
  without_gil([&] { tag_best(chain.model(pruned), examples, threads, labels.data(), scores.data()); });
  return std::make_tuple(to_numpy(std::move(labels)), to_numpy(std::move(scores)));
}

auto k_best(const FrozenChain& chain, const BoundExamples& bound, int k, int threads) {
  if (k < 1) throw nb::value_error("k must be at least 1");
  chain.check(bound);
  const Examples& examples = bound.examples();
  std::vector<std::int32_t> labels(static_cast<std::size_t>(k) * bound.n_tokens()), counts(examples.n_sequences);
  std::vector<double> values(static_cast<std::size_t>(k) * examples.n_sequences);
  without_gil([&] { tag_k_best(chain.model(), examples, k, threads, labels.data(), values.data(), counts.data()); });
  return std::make_tuple(
      to_numpy(std::move(labels)),
      to_numpy(std::move(values), {static_cast<std::size_t>(examples.n_sequences), static_cast<std::size_t>(k)}),
      to_numpy(std::move(counts)));
}

auto hidden_k_best(const FrozenChain& chain, const BoundExamples& bound, double scale, Ids hidden, int k, int threads) {
  if (k < 1) throw nb::value_error("k must be at least 1");
  check_scale(scale);
  chain.check(bound);
  check_hidden(hidden, chain.shape().n_labels, true);
  const std::size_t n = bound.examples().n_sequences, size = static_cast<std::size_t>(k);
  std::vector<std::int32_t> labels(size * bound.n_tokens()), counts(n);
  std::vector<double> values(size * n), sums(size * n);
  without_gil([&] {
    tag_hidden_k_best(chain.model(), bound.examples(), scale, hidden.data(), k, threads, labels.data(), values.data(),
                      sums.data(), counts.data());
  });
  return std::make_tuple(to_numpy(std::move(labels)), to_numpy(std::move(values), {n, size}),
                         to_numpy(std::move(sums), {n, size}), to_numpy(std::move(counts)));
}

auto marginals(const FrozenChain& chain, const BoundExamples& bound, double scale, bool with_pairs, int threads) {
  check_scale(scale);
  chain.check(bound);
  const Examples& examples = bound.examples();
  const std::size_t n = bound.n_tokens(), n_labels = chain.shape().n_labels;
  std::vector<double> nodes(n * n_labels), pairs(with_pairs ? n * (n_labels + 1) * n_labels : 0),
      log_z(examples.n_sequences);
  without_gil([&] {
    tag_marginals(chain.model(), examples, scale, threads, nodes.data(), with_pairs ? pairs.data() : nullptr,
                  log_z.data());
  });
  std::optional<Numpy<double>> pair_array;
  if (with_pairs) pair_array = to_numpy(std::move(pairs), {n, n_labels + 1, n_labels});
  return std::make_tuple(to_numpy(std::move(nodes), {n, n_labels}), pair_array, to_numpy(std::move(log_z)));
}

Numpy<double> span_log_probabilities(const FrozenChain& chain, const BoundExamples& bound, double scale,
                                     Numbers sequences, Ids begins, Ids ends, Ptr span_ptr, Ids labels,
                                     Array<std::uint8_t, nb::ndim<2>> before, Array<std::uint8_t, nb::ndim<2>> after,
                                     int threads, std::optional<Ids> hidden) {
  check_scale(scale);
  chain.check(bound);
  const Examples& examples = bound.examples();
  const std::size_t n = sequences.shape(0);
  check_ptr(span_ptr, n_entries(labels), "spans");
  if (begins.shape(0) != n || ends.shape(0) != n || span_ptr.shape(0) != n + 1 || before.shape(0) != n ||
      after.shape(0) != n || static_cast<std::int64_t>(before.shape(1)) != chain.shape().base ||
      after.shape(1) != before.shape(1))
    throw nb::value_error("spans: arrays of different lengths");
  for (std::size_t r = 0; r < n; ++r) {
    const std::int64_t s = sequences.data()[r];
    if (s < 0 || s >= examples.n_sequences || (r && s < sequences.data()[r - 1]) || begins.data()[r] < 0 ||
        ends.data()[r] <= begins.data()[r] || ends.data()[r] > examples.length(s) ||
        span_ptr.data()[r + 1] - span_ptr.data()[r] != ends.data()[r] - begins.data()[r])
      throw nb::value_error("spans: out of range");
  }
  check_ids(labels, chain.shape().n_labels, "spans: no such label");
  if (hidden) check_hidden(*hidden, chain.shape().n_labels, true);
  std::vector<double> out(n);
  without_gil([&] {
    tag_spans(chain.model(), examples, scale, threads, static_cast<std::int64_t>(n), sequences.data(), begins.data(),
              ends.data(), span_ptr.data(), labels.data(), before.data(), after.data(),
              hidden ? hidden->data() : nullptr, out.data());
  });
  return to_numpy(std::move(out));
}

Numpy<double> scores(const FrozenChain& chain, const BoundExamples& bound, Ids labels, int threads) {
  chain.check(bound);
  if (n_entries(labels) != bound.n_tokens()) throw nb::value_error("one label per token");
  check_ids(labels, chain.shape().n_labels, "no such label");
  std::vector<double> out(bound.examples().n_sequences);
  without_gil([&] { tag_scores(chain.model(), bound.examples(), threads, labels.data(), out.data()); });
  return to_numpy(std::move(out));
}

auto beyond(const FrozenChain& chain, const BoundExamples& bound, double limit, int threads) {
  chain.check(bound);
  std::vector<std::uint8_t> found(bound.examples().n_sequences);
  without_gil([&] { tag_beyond(chain.model(), bound.examples(), limit, threads, found.data()); });
  return to_numpy(std::move(found));
}

auto samples(const FrozenChain& chain, const BoundExamples& bound, double scale, std::uint64_t seed, int count,
             int threads) {
  if (count < 0) throw nb::value_error("count must be at least 0");
  check_scale(scale);
  chain.check(bound);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(count) * bound.n_tokens());
  std::vector<double> log_z(bound.examples().n_sequences);
  without_gil(
      [&] { tag_samples(chain.model(), bound.examples(), scale, seed, count, threads, labels.data(), log_z.data()); });
  return std::make_tuple(to_numpy(std::move(labels)), to_numpy(std::move(log_z)));
}

}  // namespace

void bind_tagging(nb::module_& m) {
  nb::class_<BoundExamples>(m, "Examples", "Encoded sequences; keeps the arrays it looks into alive.")
      .def(nb::init<Ptr, Ids, std::optional<Floats>, Ptr, std::optional<Ids>, std::optional<Floats>, std::optional<Ptr>,
                    std::optional<Ids>, std::optional<Ptr>, std::optional<Ids>, std::optional<Floats>,
                    std::optional<Ids>>(),
           nb::arg("sequence_ptr"), nb::arg("ids"), nb::arg("values").none(), nb::arg("ptr"),
           nb::arg("edge_ids").none(), nb::arg("edge_values").none(), nb::arg("edge_ptr").none(),
           nb::arg("allowed").none(), nb::arg("allowed_ptr").none(), nb::arg("labels").none(),
           nb::arg("weights").none(), nb::arg("hidden").none() = nb::none());
  nb::class_<FrozenChain>(m, "LinearChain", "Frozen weights of a label chain.")
      .def(nb::init<int, int, nb::object, nb::object, Array<float, nb::ndim<2>>, Array<float, nb::ndim<2>>, int>(),
           nb::arg("n_labels"), nb::arg("order"), nb::arg("unigrams"), nb::arg("edges").none(), nb::arg("transitions"),
           nb::arg("end"), nb::arg("beam") = 0)
      .def("best", &best, nb::arg("examples"), nb::arg("threads"), nb::arg("pruned") = true)
      .def(
          "gather_only",
          [](const FrozenChain& chain, const BoundExamples& bound) {
            chain.check(bound);
            const WithoutGil released;
            return tag_gather_only(chain.model(), bound.examples());
          },
          nb::arg("examples"), "For benchmarks: scores every sequence and searches nothing.")
      .def("k_best", &k_best, nb::arg("examples"), nb::arg("k"), nb::arg("threads"))
      .def("hidden_k_best", &hidden_k_best, nb::arg("examples"), nb::arg("scale"), nb::arg("hidden"), nb::arg("k"),
           nb::arg("threads"), "(first labels of those that are one, values, logs of the sums, counts)")
      .def("marginals", &marginals, nb::arg("examples"), nb::arg("scale"), nb::arg("pairs"), nb::arg("threads"))
      .def("span_log_probabilities", &span_log_probabilities, nb::arg("examples"), nb::arg("scale"),
           nb::arg("sequences"), nb::arg("begins"), nb::arg("ends"), nb::arg("span_ptr"), nb::arg("labels"),
           nb::arg("before"), nb::arg("after"), nb::arg("threads"), nb::arg("hidden").none() = nb::none())
      .def("scores", &scores, nb::arg("examples"), nb::arg("labels"), nb::arg("threads"))
      .def("beyond", &beyond, nb::arg("examples"), nb::arg("limit"), nb::arg("threads"),
           "Whether each sequence has numbers so large that scores go beyond this.")
      .def("samples", &samples, nb::arg("examples"), nb::arg("scale"), nb::arg("seed"), nb::arg("count"),
           nb::arg("threads"));
  m.def("padded_width", &padded_width, nb::arg("n_labels"),
        "Columns of a weight row: labels rounded up to whole vectors.");
}
