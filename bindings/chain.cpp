// Bindings of the chain on plain score arrays, for one sequence.
#include "chain/chain.hpp"

#include <optional>

#include "bindings.hpp"

using namespace margent;

namespace {

template <class Real>
struct GivenEdges final : EdgeSource<Real> {
  const Real* data = nullptr;
  std::int64_t stride = 0;
  const Real* at(int position) override { return data + position * stride; }
};

// Padded arrays of one sequence: emissions [n][width], transitions [B^k][width], end [B^(k-1)][width], edges
// [n][L + 1][width] or None.
template <class Real>
class GivenScores {
 public:
  using Matrix = Array<Real, nb::ndim<2>>;
  using Edges = std::optional<Array<Real, nb::ndim<3>>>;
  GivenScores(int n_labels, int order, Matrix emissions, Matrix transitions, Matrix end, Edges edges)
      : emissions_(emissions), transitions_(transitions), end_(end), edges_(edges),
        scores_{ChainShape(n_labels, order), static_cast<int>(emissions.shape(0)), emissions.data(), transitions.data(),
                end.data()} {
    const ChainShape& s = scores_.shape;
    const std::size_t width = s.width;
    if (emissions.shape(0) > 0x7FFFFFF0u) throw nb::value_error("a sequence is too long");
    if (emissions.shape(1) != width || transitions.shape(1) != width || end.shape(1) != width ||
        n_entries(transitions) != s.histories || n_entries(end) != s.contexts)
      throw nb::value_error("scores of the wrong shape");
    if (edges) {
      if (edges->shape(0) != emissions.shape(0) || static_cast<std::int64_t>(edges->shape(1)) != s.base ||
          edges->shape(2) != width)
        throw nb::value_error("edge scores of the wrong shape");
      given_.data = edges->data();
      given_.stride = s.base * s.width;
      scores_.edges = &given_;
    }
    if (order == 1) {
      transposed_.grow(n_labels * width);
      transpose_transitions(transitions.data(), n_labels, s.width, transposed_.data());
      scores_.transposed = transposed_.data();
      exp_transitions_ = std::make_unique<ExpTransitions<Real>>(s, transitions.data());
      scores_.exp_transitions = exp_transitions_.get();
    }
  }
  const ChainScores<Real>& scores() const { return scores_; }

 private:
  Matrix emissions_, transitions_, end_;
  Edges edges_;
  GivenEdges<Real> given_;
  Buffer<Real> transposed_;
  std::unique_ptr<ExpTransitions<Real>> exp_transitions_;
  ChainScores<Real> scores_;
};

template <class Real>
void bind_scores(nb::module_& m, const char* name) {
  using Given = GivenScores<Real>;
  using Matrix = typename Given::Matrix;
  nb::class_<Given>(m, name)
      .def(nb::init<int, int, Matrix, Matrix, Matrix, typename Given::Edges>(), nb::arg("n_labels"), nb::arg("order"),
           nb::arg("emissions"), nb::arg("transitions"), nb::arg("end"), nb::arg("edges").none())
      .def("score",
           [](const Given& g, Ids labels) {
             if (static_cast<int>(labels.shape(0)) != g.scores().length)
               throw nb::value_error("one label per position");
             check_ids(labels, g.scores().shape.n_labels, "no such label");
             return chain_score(g.scores(), labels.data());
           })
      .def("best",
           [](const Given& g) {
             std::vector<std::int32_t> labels(g.scores().length);
             ChainWorkspace<Real> work;
             auto score = without_gil([&] { return chain_best(g.scores(), work, labels.data()); });
             return std::make_tuple(score, to_numpy(std::move(labels)));
           })
      .def("k_best",
           [](const Given& g, int k) {
             if (k < 1) throw nb::value_error("k must be at least 1");
             const std::size_t n = g.scores().length;
             std::vector<std::int32_t> labels(static_cast<std::size_t>(k) * n);
             std::vector<double> values(k);
             ChainWorkspace<Real> work;
             auto found = without_gil([&] { return chain_k_best(g.scores(), k, work, labels.data(), values.data()); });
             labels.resize(found * n);
             values.resize(found);
             return std::make_tuple(to_numpy(std::move(values)),
                                    to_numpy(std::move(labels), {static_cast<std::size_t>(found), n}));
           })
      .def("log_partition",
           [](const Given& g) {
             ChainWorkspace<Real> work;
             const WithoutGil released;
             return chain_log_partition(g.scores(), work);
           })
      .def("marginals",
           [](const Given& g, bool with_pairs) {
             const std::size_t n = g.scores().length, n_labels = g.scores().shape.n_labels;
             std::vector<double> nodes(n * n_labels), pairs(with_pairs ? n * (n_labels + 1) * n_labels : 0);
             ChainWorkspace<Real> work;
             auto log_z = without_gil(
                 [&] { return chain_marginals(g.scores(), work, nodes.data(), with_pairs ? pairs.data() : nullptr); });
             std::optional<Numpy<double>> pair_array;
             if (with_pairs) pair_array = to_numpy(std::move(pairs), {n, n_labels + 1, n_labels});
             return std::make_tuple(log_z, to_numpy(std::move(nodes), {n, n_labels}), pair_array);
           })
      .def("sample", [](const Given& g, int count, std::uint64_t seed) {
        if (count < 0) throw nb::value_error("count must be at least 0");
        const std::size_t n = g.scores().length;
        std::vector<std::int32_t> labels(count * n);
        ChainWorkspace<Real> work;
        double log_z;
        without_gil([&] {
          log_z = chain_log_partition(g.scores(), work);
          if (log_z > -std::numeric_limits<double>::infinity())
            chain_sample(g.scores(), work, seed, count, labels.data());
        });
        return std::make_tuple(log_z, to_numpy(std::move(labels), {static_cast<std::size_t>(count), n}));
      });
}

}  // namespace

void bind_chain(nb::module_& m) {
  bind_scores<float>(m, "ChainScores32");
  bind_scores<double>(m, "ChainScores64");
}
