// Bindings of oracles, rules and epochs.
#include <nanobind/stl/unique_ptr.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "chain/chain_oracle.hpp"
#include "chain/chain_weights.hpp"
#include "chain/gold_counts.hpp"
#include "chain/soft_counts.hpp"
#include "examples.hpp"
#include "learning/arow.hpp"
#include "learning/flat_oracle.hpp"
#include "learning/frank_wolfe.hpp"
#include "learning/hidden_markov_svm.hpp"
#include "learning/larank.hpp"
#include "learning/mira.hpp"
#include "learning/passive_aggressive.hpp"
#include "learning/perceptron.hpp"
#include "learning/smo.hpp"
#include "learning/subgradient.hpp"

using namespace margent;

namespace {

auto to_arrays(CompressedRows&& rows) {
  return std::make_tuple(to_numpy(std::move(rows.ptr)), to_numpy(std::move(rows.columns)),
                         to_numpy(std::move(rows.weights)));
}

// Weights as arrays: `unigrams` and `edges` as the frozen LinearChain takes them, transitions and ends per level.
nb::dict export_weights(ChainOracle& oracle, bool average) {
  const std::size_t width = oracle.shape().width;
  const Clock& clock = oracle.clock();
  nb::dict out;
  if (DenseRows* rows = oracle.dense())
    out["unigrams"] = to_numpy(exported(rows->weights(), rows->sums(), rows->n_rows() * width, clock, average),
                               {static_cast<std::size_t>(rows->n_rows()), width});
  else if (KernelRows* rows = oracle.kernel())
    out["unigrams"] = to_numpy(exported(rows->beta(), rows->sums(), rows->n_rows() * width, clock, average),
                               {static_cast<std::size_t>(rows->n_rows()), width});
  else
    out["unigrams"] = to_arrays(exported(*oracle.sparse(), clock, average));
  if (oracle.edges())
    out["edges"] = to_arrays(exported(*oracle.edges(), clock, average));
  else
    out["edges"] = nb::none();
  TransitionWeights& t = oracle.transitions();
  nb::list transitions, ends;
  const auto level = [&](const std::vector<float>& weights, const std::vector<float>& sums) {
    const float* kept = sums.empty() ? nullptr : sums.data();
    return to_numpy(exported(weights.data(), kept, weights.size(), clock, average), {weights.size() / width, width});
  };
  for (std::size_t j = 0; j < t.weights.size(); ++j) {
    transitions.append(level(t.weights[j], t.sums[j]));
    ends.append(level(t.end_weights[j], t.end_sums[j]));
  }
  out["transitions"] = transitions;
  out["ends"] = ends;
  return out;
}

// The number of rows of features that can be counted.
std::int64_t n_rows_of(ChainOracle& oracle) {
  if (oracle.kernel())
    throw nb::value_error("a hidden Markov model counts features, and a kernel has none: choose another learner");
  return oracle.dense() ? oracle.dense()->n_rows() : oracle.sparse()->n_rows();
}

// Counts in the form of export_weights, but those of features always compressed.
nb::dict to_dict(GoldCounts counts, ChainOracle& oracle) {
  const std::size_t width = oracle.shape().width;
  const auto levels = [width](std::vector<std::vector<double>>& tables) {
    nb::list out;
    for (std::vector<double>& table : tables) {
      const std::size_t rows = table.size() / width;
      out.append(to_numpy(std::move(table), {rows, width}));
    }
    return out;
  };
  nb::dict out;
  out["unigrams"] = std::make_tuple(to_numpy(std::move(counts.ptr)), to_numpy(std::move(counts.columns)),
                                    to_numpy(std::move(counts.counts)));
  out["negative"] = counts.negative;
  out["transitions"] = levels(counts.transitions);
  out["ends"] = levels(counts.ends);
  return out;
}

// What the labels of the examples were seen with.
nb::dict export_counts(ChainOracle& oracle) {
  const std::int64_t n_unigrams = n_rows_of(oracle);
  return to_dict(without_gil([&] { return count_gold(oracle.examples(), oracle.shape(), n_unigrams); }), oracle);
}

// What is expected to have been seen where labels are not known, in the same form, and the log-likelihood.
auto export_soft_counts(ChainOracle& oracle, int threads) {
  const std::int64_t n_unigrams = n_rows_of(oracle);
  SoftCounts soft = without_gil([&] { return soft_counts(oracle, n_unigrams, threads); });
  return std::make_tuple(to_dict(std::move(soft.counts), oracle), soft.log_likelihood);
}

void import_rows(SparseRows& rows, nb::tuple arrays) {
  const auto ptr = nb::cast<Ptr>(arrays[0]);
  const auto columns = nb::cast<Ids>(arrays[1]);
  const auto weights = nb::cast<Floats>(arrays[2]);
  check_ptr(ptr, n_entries(columns), "weights");
  if (n_entries(ptr) - 1 > rows.n_rows() || weights.shape(0) != columns.shape(0))
    throw nb::value_error("weights of the wrong shape");
  for (std::size_t r = 0; r + 1 < ptr.shape(0); ++r)
    for (std::int64_t e = ptr.data()[r]; e < ptr.data()[r + 1]; ++e) {
      if (columns.data()[e] < 0 || columns.data()[e] >= rows.width())
        throw nb::value_error("weights: column out of range");
      rows.entry(static_cast<std::int32_t>(r), columns.data()[e]).weight = weights.data()[e];
    }
}

// Starts from given weights, in the form of export_weights; rows beyond theirs stay zero. Averages start anew.
void import_weights(ChainOracle& oracle, nb::dict weights) {
  const std::size_t width = oracle.shape().width;
  const auto rows_given = [&](std::int64_t n_rows) {
    const auto array = nb::cast<Array<float, nb::ndim<2>>>(weights["unigrams"]);
    if (array.shape(1) != width || n_entries(array) > n_rows) throw nb::value_error("weights of the wrong shape");
    return array;
  };
  if (DenseRows* rows = oracle.dense()) {
    const auto array = rows_given(rows->n_rows());
    std::copy(array.data(), array.data() + array.size(), rows->weights());
  } else if (KernelRows* rows = oracle.kernel()) {
    const auto array = rows_given(rows->n_rows());
    rows->start_from(array.data(), n_entries(array));
  } else {
    import_rows(*oracle.sparse(), nb::cast<nb::tuple>(weights["unigrams"]));
  }
  nb::object edges = weights["edges"];
  if (oracle.edges() && !edges.is_none()) import_rows(*oracle.edges(), nb::cast<nb::tuple>(edges));
  TransitionWeights& t = oracle.transitions();
  const auto copy_levels = [](nb::list arrays, std::vector<std::vector<float>>& levels) {
    if (arrays.size() != levels.size()) throw nb::value_error("transitions of another order");
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const auto array = nb::cast<Array<float, nb::ndim<2>>>(arrays[j]);
      if (array.size() != levels[j].size()) throw nb::value_error("transitions of the wrong shape");
      std::copy(array.data(), array.data() + array.size(), levels[j].begin());
    }
  };
  copy_levels(nb::cast<nb::list>(weights["transitions"]), t.weights);
  copy_levels(nb::cast<nb::list>(weights["ends"]), t.end_weights);
  t.sum_levels();
}

// A kernel written in Python: a function from observations to their rows of the kernel matrix, all in float32.
class PythonKernel final : public KernelSource {
 public:
  PythonKernel(nb::object function, std::int64_t n) : function_(std::move(function)), n_(static_cast<std::size_t>(n)) {}

  void rows(std::span<const std::int32_t> ids, float* out) override {
    nb::gil_scoped_acquire acquire;
    nb::object result = function_(to_numpy(std::vector<std::int32_t>(ids.begin(), ids.end())));
    Array<float, nb::ndim<2>> array;
    if (!nb::try_cast(result, array) || array.shape(0) != ids.size() || array.shape(1) != n_)
      throw nb::value_error(("the kernel should give an array of float32 of shape (" + std::to_string(ids.size()) +
                             ", " + std::to_string(n_) + ")")
                                .c_str());
    std::copy(array.data(), array.data() + array.size(), out);
    for (std::size_t i = 0; i < array.size(); ++i)
      if (!std::isfinite(out[i])) throw nb::value_error("the kernel gave a value that is not finite");
  }

 private:
  nb::object function_;
  std::size_t n_;
};

// An oracle written in Python: it answers with feature vectors as dicts, the weights live here.
class PythonOracle final : public FlatOracle {
 public:
  PythonOracle(nb::object oracle, std::int64_t n_features)
      : FlatOracle(checked(n_features)), oracle_(std::move(oracle)),
        size_(static_cast<std::int64_t>(nb::len(oracle_))) {}

  std::int64_t size() const override { return size_; }

  void ask(std::int64_t example, const Question& question, Reply& answer) override {
    nb::gil_scoped_acquire acquire;
    nb::object reply = oracle_.attr("answer")(example, to_numpy(weights(false)), question.k, question.cost);
    grow(checked(nb::cast<std::int64_t>(nb::int_(oracle_.attr("n_features")))));
    gold_ = vector(reply.attr("gold"));
    rivals_.clear();
    answer.rivals.clear();
    answer.gold_score = score(gold_);
    answer.weight = number(reply.attr("weight"), "a weight");
    answer.n_positions = count(reply.attr("n_positions"), "positions");
    const nb::object given = reply.attr("rivals");
    const nb::list rivals = nb::steal<nb::list>(PySequence_List(given.ptr()));
    if (!rivals.is_valid()) nb::raise_python_error();
    if (rivals.size() > static_cast<std::size_t>(question.k))
      throw nb::value_error(("the oracle answered with " + std::to_string(rivals.size()) +
                             " rivals, at most k = " + std::to_string(question.k) + " were asked for")
                                .c_str());
    for (nb::handle item : rivals) {
      rivals_.push_back(vector(item.attr("features")));
      answer.rivals.push_back(
          {score(rivals_.back()), number(item.attr("loss"), "a loss"), count(item.attr("errors"), "errors")});
    }
  }

  void delta(std::size_t rival, SparseVector& out) const override {
    if (rival >= rivals_.size()) throw std::out_of_range("the last answer has no such rival");
    out = gold_;
    for (const auto& [index, value] : rivals_[rival]) out.push_back({index, -value});
    normalize(out);
  }

 private:
  static std::int64_t checked(std::int64_t n_features) {
    if (n_features < 0) throw nb::value_error("the oracle's n_features must not be negative");
    return n_features;
  }
  static double number(nb::handle value, const char* what) {
    const double x = PyFloat_AsDouble(value.ptr());
    if (x == -1 && PyErr_Occurred()) nb::raise_python_error();
    if (!std::isfinite(x))
      throw nb::value_error((std::string("the oracle answered with ") + what + " that is not finite").c_str());
    return x;
  }
  static std::int64_t count(nb::handle value, const char* what) {
    const Py_ssize_t n = PyNumber_AsSsize_t(value.ptr(), PyExc_OverflowError);
    if (n == -1 && PyErr_Occurred()) nb::raise_python_error();
    if (n < 0) throw nb::value_error((std::string("the oracle answered with a negative number of ") + what).c_str());
    return n;
  }
  SparseVector vector(nb::handle features) const {
    SparseVector out;
    // dict(...): any mapping will do.
    const nb::object entries = nb::handle(reinterpret_cast<PyObject*>(&PyDict_Type))(features);
    for (auto [key, value] : nb::borrow<nb::dict>(entries)) {
      const std::int64_t index = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
      if (index == -1 && PyErr_Occurred()) nb::raise_python_error();
      const double x = number(value, "a feature value");
      if (index < 0 || index >= n_features())
        throw nb::index_error("the oracle answered with a feature index outside 0 .. n_features - 1");
      out.push_back({index, x});
    }
    return out;
  }
  nb::object oracle_;
  std::int64_t size_;
  SparseVector gold_;
  std::vector<SparseVector> rivals_;
};

Outcome run(Oracle& oracle, Rule& rule, Numbers examples) {
  check_examples(examples, oracle.size());
  const WithoutGil released;
  return run_epoch(oracle, rule, examples.data(), n_entries(examples));
}

}  // namespace

void bind_learning(nb::module_& m) {
  nb::class_<Oracle>(m, "Oracle", "A structure, its data and its weights, as a learner sees them.")
      .def("__len__", &Oracle::size)
      .def(
          "ask",
          [](Oracle& oracle, std::int64_t example, int k, double cost) {
            if (example < 0 || example >= oracle.size()) throw nb::index_error("no such example");
            Reply answer;
            oracle.ask(example, {k, cost}, answer);
            nb::list rivals;
            for (std::size_t j = 0; j < answer.rivals.size(); ++j) {
              SparseVector delta;
              oracle.delta(j, delta);
              nb::dict vector;
              for (const auto& [index, value] : delta) vector[nb::int_(index)] = value;
              const Rival& r = answer.rivals[j];
              rivals.append(std::make_tuple(r.score, r.loss, r.errors, vector));
            }
            return std::make_tuple(answer.gold_score, rivals);
          },
          nb::arg("example"), nb::arg("k"), nb::arg("cost"), "(gold score, [(score, loss, errors, delta as a dict)])")
      .def(
          "dot", [](const Oracle& oracle, std::size_t i, std::size_t j) { return oracle.dot(i, j); }, nb::arg("i"),
          nb::arg("j"), "The inner product of the deltas of two rivals of the last answer.")
      .def("move", [](Oracle& oracle, std::size_t rival, double step) { oracle.move(rival, step); })
      .def("add",
           [](Oracle& oracle, nb::dict vector, double step) {
             SparseVector v;
             for (auto [key, value] : vector) v.push_back({nb::cast<std::int64_t>(key), nb::cast<double>(value)});
             oracle.add(v, step);
           })
      .def("scale",
           [](Oracle& oracle, double factor) {
             if (!(factor > 0 && std::isfinite(factor))) throw nb::value_error("the factor must be above 0 and finite");
             oracle.scale(factor);
           })
      .def("squared_norm", &Oracle::squared_norm)
      .def("tick", &Oracle::tick, nb::arg("weight") = 1.0)
      .def(
          "likelihood",
          [](Oracle& oracle, bool all_pairs, bool all_transitions, bool boundaries, int beam, bool best_completion,
             int threads) {
            if (beam < 0) throw nb::value_error("beam out of range");
            std::unique_ptr<Likelihood> made = without_gil([&] {  // some search all examples for that
              return oracle.likelihood({all_pairs, all_transitions, boundaries, beam, best_completion}, threads);
            });
            if (!made) throw nb::type_error("this oracle has no such likelihood");
            return made;
          },
          nb::keep_alive<0, 1>(), nb::kw_only(), nb::arg("all_pairs") = false, nb::arg("all_transitions") = false,
          nb::arg("boundaries") = true, nb::arg("beam") = 0, nb::arg("best_completion") = false, nb::arg("threads") = 1,
          "Minus the log-likelihood of its examples, as a function of its weights; beam 0: sums over all answers.");

  nb::enum_<BeamUpdate>(m, "BeamUpdate", "Which prefix is learned from where beam search goes wrong.")
      .value("standard", BeamUpdate::standard)
      .value("early", BeamUpdate::early)
      .value("max_violation", BeamUpdate::max_violation)
      .value("skip", BeamUpdate::skip);
  nb::class_<ChainOracle, Oracle>(m, "ChainOracle", "The oracle of a linear chain in training.")
      .def(
          "__init__",
          [](ChainOracle* self, const BoundExamples& bound, int n_labels, int order, bool learn_transitions,
             std::int64_t n_unigrams, std::int64_t n_edges, bool sparse, std::vector<float> label_costs,
             nb::object kernel, std::int64_t cache_bytes) {
            constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
            if (n_unigrams < 0 || n_unigrams > most || n_edges < 0 || n_edges > most)
              throw nb::value_error("the number of features must be between 0 and 2^31 - 1");
            bound.check(n_unigrams, n_edges, n_labels);
            const Examples& examples = bound.examples();
            if (!examples.labels) throw nb::value_error("the examples have no labels");
            const std::size_t n_costs = label_costs.size(), n = static_cast<std::size_t>(std::max(n_labels, 0));
            if (n_costs != 0 && n_costs != n && n_costs != n * n)
              throw nb::value_error("one cost per label or pair of labels");
            if (kernel.is_none()) {
              new (self)
                  ChainOracle(examples, n_labels, order, learn_transitions, n_unigrams, n_edges, sparse, label_costs);
              return;
            }
            const Features& f = examples.unigrams;
            const std::int64_t n_tokens = examples.sequence_ptr[examples.n_sequences];
            bool single = n_edges == 0 && !f.values;
            for (std::int64_t t = 0; single && t < n_tokens; ++t) single = f.ptr[t + 1] - f.ptr[t] == 1;
            if (!single)
              throw nb::value_error("with a kernel each token has one feature, its observation, without a value");
            new (self) ChainOracle(examples, n_labels, order, learn_transitions, n_unigrams,
                                   std::make_unique<PythonKernel>(kernel, n_unigrams), cache_bytes, label_costs);
          },
          nb::keep_alive<1, 2>(), nb::arg("examples"), nb::arg("n_labels"), nb::arg("order"),
          nb::arg("learn_transitions"), nb::arg("n_unigrams"), nb::arg("n_edges"), nb::arg("sparse"),
          nb::arg("label_costs"), nb::arg("kernel") = nb::none(), nb::arg("cache_bytes") = 0)
      .def_prop_ro(
          "structure",
          [](ChainOracle& oracle) {
            std::string name = oracle.kernel()            ? "chain with a kernel"
                               : oracle.examples().hidden ? "chain of hidden labels"
                                                          : "chain";
            return oracle.beam_width() ? name + " under a beam" : name;
          },
          "Its name among `margent.capability.STRUCTURES`, which says what it can do.")
      .def_prop_ro("n_tokens", [](ChainOracle& o) { return o.examples().sequence_ptr[o.examples().n_sequences]; })
      .def_prop_ro("n_labels", [](const ChainOracle& oracle) { return oracle.shape().n_labels; })
      .def_prop_ro("learn_transitions", &ChainOracle::learn_transitions)
      .def(
          "set_beam",
          [](ChainOracle& oracle, int width, BeamUpdate update) {
            if (width < 1) throw nb::value_error("a beam has a width of at least 1");
            oracle.set_beam(width, update);
          },
          nb::arg("width"), nb::arg("update"),
          "From now on searches with a beam, and learns from the prefixes that `update` chooses.")
      .def_prop_ro(
          "label_costs", [](const ChainOracle& oracle) { return to_numpy(std::vector<float>(oracle.label_costs())); },
          nb::rv_policy::move)
      .def("fix_gold",
           [](ChainOracle& oracle) {
             const WithoutGil released;
             return oracle.fix_gold();
           })
      .def("free_gold", &ChainOracle::free_gold)
      .def("soft_counts", &export_soft_counts, nb::arg("threads") = 1,
           "The counts that are expected where labels are not known, and the log-likelihood of what is known.")
      .def("counts", &export_counts, "How often labels were seen with each feature, after each history and at the end.")
      .def("weights", &export_weights, nb::arg("average"))
      .def("start_from", &import_weights, nb::arg("weights"));

  nb::class_<FlatOracle, Oracle>(m, "FlatOracle", "An oracle whose weights are one flat vector.")
      .def_prop_ro("n_features", &FlatOracle::n_features)
      .def(
          "weights", [](const FlatOracle& oracle, bool average) { return to_numpy(oracle.weights(average)); },
          nb::arg("average"), "A copy of the weights, or of their averages.")
      .def(
          "start_from",
          [](FlatOracle& oracle, Doubles weights) {
            if (n_entries(weights) != oracle.n_features()) throw nb::value_error("weights of the wrong shape");
            oracle.start_from(weights.data());
          },
          nb::arg("weights"), "Starts from given weights; averages start anew.");
  nb::class_<PythonOracle, FlatOracle>(m, "PythonOracle", "Runs an oracle written in Python.")
      .def(nb::init<nb::object, std::int64_t>(), nb::arg("oracle"), nb::arg("n_features"));

  nb::class_<Rule>(m, "Rule", "How one example moves the weights.")
      .def("penalty", &Rule::penalty, nb::arg("oracle"), "1/2 |w|^2 as the problem of the rule has it, or None")
      .def(
          "losses",
          [](Rule& rule, Oracle& oracle, Numbers examples) {
            check_examples(examples, oracle.size());
            const WithoutGil released;
            return rule.losses(oracle, examples.data(), n_entries(examples));
          },
          nb::arg("oracle"), nb::arg("examples"),
          "The losses of these examples as the primal objective counts them, summed.")
      .def(
          "support",
          [](const Rule& rule) {
            nb::list out;
            for (SupportSequence& s : rule.support())
              out.append(std::make_tuple(s.example, s.value, to_numpy(std::move(s.labels))));
            return out;
          },
          "[(example, dual variable, labels)] of the wrong answers that the weights are made of, where it is kept");
  nb::class_<PerceptronRule, Rule>(m, "PerceptronRule")
      .def(nb::init<double, int>(), nb::arg("margin"), nb::arg("k") = 1);
  nb::class_<PassiveAggressiveRule, Rule>(m, "PassiveAggressiveRule")
      .def(nb::init<double, int, bool>(), nb::arg("C"), nb::arg("k"), nb::arg("restricted"));
  nb::class_<ArowRule, Rule>(m, "ArowRule").def(nb::init<double>(), nb::arg("r"));
  nb::class_<MiraRule, Rule>(m, "MiraRule")
      .def(nb::init<double, int, double>(), nb::arg("C"), nb::arg("k"), nb::arg("tol"));
  nb::class_<DualRule, Rule>(m, "DualRule")
      .def(
          "__init__",
          [](DualRule* self, double C, int k, double tol, std::size_t working_set, int n_reprocess, double kappa,
             std::uint64_t seed) { new (self) DualRule({C, k, working_set, {tol, kappa}}, n_reprocess, seed); },
          nb::arg("C"), nb::arg("k"), nb::arg("tol"), nb::arg("working_set"), nb::arg("n_reprocess"), nb::arg("kappa"),
          nb::arg("seed"));
  nb::class_<FrankWolfeRule, Rule>(m, "FrankWolfeRule")
      .def(nb::init<double>(), nb::arg("C"))
      .def("bytes", &FrankWolfeRule::bytes, "what the vectors of all examples take");
  nb::class_<SubgradientRule, Rule>(m, "SubgradientRule")
      .def(nb::init<double, bool, double>(), nb::arg("C"), nb::arg("project"), nb::arg("warm_start") = 1.0);
  nb::class_<DualPerceptronRule, Rule>(m, "DualPerceptronRule").def(nb::init<>());
  nb::class_<HiddenMarkovRule, Rule>(m, "HiddenMarkovRule")
      .def(
          "__init__",
          [](HiddenMarkovRule* self, double C, int slack, bool hamming, double tol, int rounds) {
            if (slack < 0 || slack > 2) throw nb::value_error("slack is 0 (none), 1 (linear) or 2 (quadratic)");
            new (self) HiddenMarkovRule({C, static_cast<Slack>(slack), hamming, tol, rounds});
          },
          nb::arg("C"), nb::arg("slack"), nb::arg("hamming"), nb::arg("tol"), nb::arg("rounds"));
  m.def(
      "smo",
      [](Array<double, nb::ndim<2>> gram, Doubles hinge, Doubles values, double tol, double kappa,
         std::int64_t max_steps) {
        const std::size_t n = values.shape(0);
        if (gram.shape(0) != n || gram.shape(1) != n || hinge.shape(0) != n)
          throw nb::value_error("arrays of different sizes");
        std::vector<double> h(hinge.data(), hinge.data() + n), v(values.data(), values.data() + n);
        const double gained = smo({gram.data(), gram.data() + n * n}, h, v, {tol, kappa, max_steps});
        return std::make_tuple(to_numpy(std::move(v)), to_numpy(std::move(h)), gained);
      },
      nb::arg("gram"), nb::arg("hinge"), nb::arg("values"), nb::arg("tol"), nb::arg("kappa"), nb::arg("max_steps"),
      "(values, hinge, gain of the dual objective) of one example's dual problem; max_steps=-1: to the end");

  nb::class_<Outcome>(m, "Outcome")
      .def_ro("loss", &Outcome::loss)
      .def_ro("errors", &Outcome::errors)
      .def_ro("n_positions", &Outcome::n_positions)
      .def_ro("wrong_examples", &Outcome::wrong_examples)
      .def_ro("updates", &Outcome::updates)
      .def_ro("objective", &Outcome::objective);
  m.def("run", &run, nb::arg("oracle"), nb::arg("rule"), nb::arg("examples"),
        "Runs a rule over examples, in the order in which they are given.");
}
