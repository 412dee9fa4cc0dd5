// Transition systems written in Python, through an adapter: the search, the oracle and the weights are native.

#include <cmath>
#include <string>

#include "items.hpp"
#include "transitions/beam_likelihood.hpp"
#include "transitions/beam_oracle.hpp"

using namespace margent;

namespace {

bool is_true(nb::handle value) {
  const int result = PyObject_IsTrue(value.ptr());
  if (result < 0) nb::raise_python_error();
  return result == 1;
}

bool are_equal(nb::handle a, nb::handle b) {
  const int result = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ);
  if (result < 0) nb::raise_python_error();
  return result == 1;
}

double to_double(nb::handle value) {
  const double x = PyFloat_AsDouble(value.ptr());
  if (x == -1 && PyErr_Occurred()) nb::raise_python_error();
  return x;
}

[[noreturn]] void raise(nb::handle type, const std::string& message) {
  PyErr_SetString(type.ptr(), message.c_str());
  nb::raise_python_error();
}

std::string shown(nb::handle object) { return nb::repr(object).c_str(); }

// Numbers things as they are first met: the n-th is n - 1. A dict, so that Python can look.
class Numbering {
 public:
  static constexpr std::int64_t unknown = -1;

  // The number of a thing; of one that was never met a new one, or `unknown`. Throws where it cannot be hashed.
  std::int64_t number(nb::handle name, bool learn) {
    PyObject* found = PyDict_GetItemWithError(names_.ptr(), name.ptr());
    if (found) return PyLong_AsLongLong(found);
    if (PyErr_Occurred()) nb::raise_python_error();
    if (!learn) return unknown;
    const std::int64_t next = size();
    names_[name] = nb::int_(next);
    return next;
  }
  std::int64_t size() const { return static_cast<std::int64_t>(names_.size()); }
  void clear() { names_.clear(); }
  const nb::dict& names() const { return names_; }

 private:
  nb::dict names_;
};

// What a state is in Python, and what is known of the path to it. Only the states that are kept are made by `step`,
// except where somebody has to ask `correct` about them.
class PythonSystem {
 public:
  static constexpr bool synchronous = true;
  static constexpr Recombination recombination = Recombination::states;
  struct Move {
    nb::object action, state;         // state: where it leads, if that was needed
    std::size_t first = 0, last = 0;  // its features: entries_[first], ..., entries_[last - 1]
    double cost = 0;
    bool right = true, is_judged = false;
  };
  struct State {
    nb::object value;
    double loss = 0;
    bool right = true;
    std::size_t length = 0;
  };
  using Item = BeamItem<PythonSystem>;

  PythonSystem(nb::object system, std::int64_t max_steps)
      : system_(std::move(system)), start_(system_.attr("start")), actions_(system_.attr("actions")),
        step_(system_.attr("step")), signature_(optional("signature")), final_(optional("final")),
        max_steps_(max_steps) {}
  // With examples, to learn from.
  PythonSystem(nb::object system, std::int64_t max_steps, nb::list X, nb::list y, std::vector<double> weights)
      : PythonSystem(std::move(system), max_steps) {
    X_ = std::move(X), Y_ = std::move(y), example_weights_ = std::move(weights);
    features_ = system_.attr("features");
    gold_actions_ = optional("gold_actions"), correct_ = optional("correct"), own_cost_ = optional("cost");
  }

  // Scores come from features and weights, or from a function of states and actions.
  void turn_to(nb::object x, const FlatWeights<double>& weights, nb::object score) {
    begin(std::move(x), weights);
    score_ = std::move(score);
  }
  void turn_to(std::int64_t example, const FlatWeights<double>& weights, double cost) {
    begin(X_[example], weights);
    supervised_ = true;
    cost_ = cost;
    y_ = Y_[example];
    if (gold_actions_.is_valid()) gold_ = nb::steal<nb::list>(PySequence_List(gold_actions_(x_, y_).ptr()));
    if (!gold_.is_valid()) nb::raise_python_error();
  }
  // The same without examples, which knows the features met so far and learns no more of them.
  PythonSystem frozen() const {
    PythonSystem other(system_, max_steps_);
    other.features_ = features_;
    other.names_ = names_;
    other.learns_names_ = false;
    return other;
  }
  void force(bool forced) { forced_ = forced; }

  template <class Add>
  void start(Add add) {
    add(0.0, {start_(x_)});
  }
  template <class Propose>
  void expand(int layer, std::span<const Item> items, Propose& propose) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const State& from = items[i].state;
      const Items actions(actions_(from.value));
      if (actions.size() == 0) {
        const bool is_gold = !forced_ || !gold_actions_.is_valid() || from.length == gold_.size();
        if (is_gold && (!final_.is_valid() || is_true(final_(from.value)))) propose.stay(i);
        continue;
      }
      if (layer >= max_steps_)
        raise(PyExc_ValueError, "a state of " + name() + " is not final after max_steps=" + std::to_string(max_steps_) +
                                    " actions; expected `actions` to be empty in the end");
      for (Py_ssize_t a = 0; a < actions.size(); ++a) {
        Move move;
        move.action = actions[a];
        if (supervised_ && (forced_ || cost_ != 0)) judge(from, move);
        if (forced_ && !move.right) continue;
        const double score = items[i].score + gain(from, move);
        propose(layer + 1, i, cost_ != 0 ? score + cost_ * move.cost : score, move);
      }
    }
  }
  State step(int, const State& from, const Move& given) {
    Move move = given;
    if (supervised_ && !move.is_judged) judge(from, move);
    if (!move.state.is_valid()) move.state = step_(from.value, move.action);
    return {move.state, from.loss + move.cost, move.right, from.length + 1};
  }
  // Without a signature all states are different.
  std::uint64_t signature(const State& state) {
    if (!signature_.is_valid()) return --n_unsigned_;
    return static_cast<std::uint64_t>(signatures_.number(signature_(state.value), true));
  }

  std::int64_t size() const { return static_cast<std::int64_t>(X_.size()); }
  double weight(std::int64_t example) const { return example_weights_[example]; }
  std::int64_t n_features() const { return names_.size(); }
  const nb::dict& feature_names() const { return names_.names(); }
  const nb::object& system() const { return system_; }
  bool right(const State& state) const { return state.right; }
  double loss(const State& state) const { return state.loss; }
  std::int64_t n_positions(const State& state) const { return std::max<std::int64_t>(1, state.length); }
  // Actions that are not the right ones of their step; 1 at least.
  std::int64_t errors(std::span<const Item* const> gold, std::span<const Item* const> path) const {
    std::int64_t wrong = std::abs(static_cast<std::int64_t>(gold.size()) - static_cast<std::int64_t>(path.size()));
    for (std::size_t i = 0; i < std::min(gold.size(), path.size()); ++i)
      wrong += !are_equal(gold[i]->move.action, path[i]->move.action);
    return std::max<std::int64_t>(1, wrong);
  }
  void collect(const ActionInState<PythonSystem>& part, double amount) {
    for (std::size_t e = part.move.first; e < part.move.last; ++e)
      collected_.push_back({entries_[e].first, amount * entries_[e].second});
  }
  void hand_over(SparseVector& out) {
    out.insert(out.end(), collected_.begin(), collected_.end());
    collected_.clear();
  }
  std::int64_t action_id(const Move& move) {
    try {
      return action_ids_.number(move.action, true);
    } catch (nb::python_error&) {
      raise(PyExc_TypeError, "a CRF has to tell actions apart: expected actions of " + name() +
                                 " that can be hashed, such as strings or tuples, got " + shown(move.action));
    }
  }
  void unreachable(std::int64_t example) const {
    raise(nb::module_::import_("margent.errors").attr("CorpusError"),
          "example " + std::to_string(example) +
              ": the right actions lead nowhere; expected each of them to be among `actions` of its state, and the "
              "last to reach a final one");
  }

 private:
  // A number that a method of the system gave.
  double finite(nb::handle value, const char* method) const {
    const double x = to_double(value);
    if (!std::isfinite(x))
      raise(PyExc_ValueError, std::string(method) + " of " + name() + " gave a number that is not finite");
    return x;
  }
  std::string name() const { return nb::cast<nb::str>(system_.type().attr("__name__")).c_str(); }
  nb::object optional(const char* method) const {
    return nb::hasattr(system_, method) ? nb::object(system_.attr(method)) : nb::object();
  }
  void begin(nb::object x, const FlatWeights<double>& weights) {
    x_ = std::move(x);
    weights_ = weights;
    supervised_ = forced_ = false;
    cost_ = 0;
    n_unsigned_ = 0;
    entries_.clear();
    signatures_.clear();
    action_ids_.clear();
  }
  // Whether an action keeps to the right answer, and what it costs.
  void judge(const State& from, Move& move) {
    bool same = false;
    if (gold_actions_.is_valid()) {
      same = from.length < gold_.size() && are_equal(move.action, gold_[from.length]);
      move.right = from.right && same;
    } else {
      move.right = from.right;
      if (from.right) {
        move.state = step_(from.value, move.action);
        move.right = is_true(correct_(move.state, y_));
      }
      same = move.right || !from.right;
    }
    move.cost = same ? 0.0 : 1.0;
    if (own_cost_.is_valid()) move.cost = finite(own_cost_(from.value, move.action, y_), "cost");
    move.is_judged = true;
  }
  // What an action in a state scores; its features are kept.
  double gain(const State& from, Move& move) {
    if (score_.is_valid()) {
      const double score = to_double(score_(from.value, move.action));
      if (std::isnan(score))
        raise(PyExc_ValueError, "the score of the action " + shown(move.action) + " after " +
                                    std::to_string(from.length) + " others is not a number");
      return score;
    }
    move.first = entries_.size();
    double sum = 0;
    const auto see = [&](nb::handle feature, double value) {
      const std::int64_t number = feature_number(feature);
      if (number == Numbering::unknown) return;
      entries_.push_back({number, value});
      if (number < weights_.size) sum += weights_.kept[number] * value;
    };
    const nb::object seen = features_(from.value, move.action);
    if (PyDict_Check(seen.ptr()) || is_mapping(seen)) {
      const Items pairs(seen.attr("items")());
      for (Py_ssize_t f = 0; f < pairs.size(); ++f) see(pairs[f][0], finite(pairs[f][1], "features"));
    } else {
      // A set has an order of its own in each process, and new features are numbered in the order in which they come.
      const Items names(PyAnySet_Check(seen.ptr()) ? in_order(seen) : seen);
      for (Py_ssize_t f = 0; f < names.size(); ++f) see(names[f], 1.0);
    }
    move.last = entries_.size();
    return weights_.scale * sum;
  }
  static nb::object in_order(const nb::object& set) {
    const nb::module_ builtins = nb::module_::import_("builtins");
    return builtins.attr("sorted")(set, nb::arg("key") = builtins.attr("repr"));
  }
  bool is_mapping(const nb::object& seen) {
    if (PyList_Check(seen.ptr()) || PyTuple_Check(seen.ptr())) return false;
    return nb::isinstance(seen, nb::module_::import_("collections.abc").attr("Mapping"));
  }
  std::int64_t feature_number(nb::handle feature) {
    try {
      return names_.number(feature, learns_names_);
    } catch (nb::python_error& error) {
      raise(PyExc_TypeError, "features of " + name() + " should be hashable names, such as strings or tuples: " +
                                 nb::str(error.value()).c_str());
    }
  }

  nb::object system_, start_, actions_, step_, signature_, final_, features_, gold_actions_, correct_, own_cost_;
  std::int64_t max_steps_;
  nb::list X_, Y_;
  std::vector<double> example_weights_;
  Numbering names_, signatures_, action_ids_;
  bool learns_names_ = true;
  // The example that was turned to last.
  nb::object x_, y_, score_;
  nb::list gold_;
  FlatWeights<double> weights_;
  bool supervised_ = false, forced_ = false;
  double cost_ = 0;
  std::uint64_t n_unsigned_ = 0;
  SparseVector entries_, collected_;
};

// [(score, state, actions)] of the best answers.
nb::list answers(PythonSystem& system, std::int64_t beam, bool recombine, std::int64_t k) {
  BeamSearch<PythonSystem> search;
  search.run(system, beam, recombine);
  nb::list out;
  BeamSearch<PythonSystem>::Path path;
  for (const auto& item : search.last()) {
    if (static_cast<std::int64_t>(out.size()) == k) break;
    search.trace(item, path);
    nb::list actions;
    for (const auto* passed : path) actions.append(passed->move.action);
    out.append(std::make_tuple(item.score, item.state.value, actions));
  }
  return out;
}

// Learners run without the GIL; a system written in Python needs it.
class TransitionOracle final : public BeamOracle<PythonSystem> {
 public:
  using BeamOracle::BeamOracle;
  void ask(std::int64_t example, const Question& question, Reply& answer) override {
    nb::gil_scoped_acquire acquire;
    BeamOracle::ask(example, question, answer);
  }
  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int threads) override;
};

class TransitionLikelihood final : public BeamLikelihood<PythonSystem> {
 public:
  using BeamLikelihood::BeamLikelihood;
  bool grow() override {
    nb::gil_scoped_acquire acquire;
    return BeamLikelihood::grow();
  }
  double evaluate(double* gradient) override {
    nb::gil_scoped_acquire acquire;
    return BeamLikelihood::evaluate(gradient);
  }
  double value(const std::int64_t* order, std::int64_t n) override {
    nb::gil_scoped_acquire acquire;
    return BeamLikelihood::value(order, n);
  }
  double descend(const std::int64_t* order, std::int64_t n, double eta, double decay, double first) override {
    nb::gil_scoped_acquire acquire;
    return BeamLikelihood::descend(order, n, eta, decay, first);
  }
  bool widens() const override { return true; }  // by features of states that no search has seen before
};

std::unique_ptr<Likelihood> TransitionOracle::likelihood(const LikelihoodOptions& options, int) {
  return std::make_unique<TransitionLikelihood>(*this, options.beam);
}

}  // namespace

void bind_transitions(nb::module_& m) {
  m.def(
      "beam_search",
      [](nb::object system, nb::object x, nb::object score, std::int64_t beam, std::int64_t k, bool recombine,
         std::int64_t max_steps) {
        PythonSystem adapted(std::move(system), max_steps);
        adapted.turn_to(std::move(x), {}, std::move(score));
        return answers(adapted, beam, recombine, k);
      },
      nb::arg("system"), nb::arg("x").none(), nb::arg("score"), nb::arg("beam"), nb::arg("k"), nb::arg("recombine"),
      nb::arg("max_steps"), "[(score, state, actions)] of the k best answers; beam 0: all states.");
  nb::class_<TransitionOracle, FlatOracle>(m, "TransitionOracle",
                                           "The oracle of a transition system written in Python, under beam search.")
      .def(
          "__init__",
          [](TransitionOracle* self, nb::object system, nb::list X, nb::list y, std::vector<double> weights,
             std::int64_t beam, BeamUpdate update, std::int64_t max_steps) {
            if (X.size() != y.size() || X.size() != weights.size()) throw nb::value_error("lists of different sizes");
            if (beam < 0) throw nb::value_error("beam out of range");
            new (self) TransitionOracle(0, beam, update, system, max_steps, X, y, weights);
          },
          nb::arg("system"), nb::arg("X"), nb::arg("y"), nb::arg("weights"), nb::arg("beam"), nb::arg("update"),
          nb::arg("max_steps"))
      .def_prop_ro_static("structure", [](nb::handle) { return "transitions"; })
      .def_prop_ro("system", [](const TransitionOracle& self) { return self.system().system(); })
      .def_prop_ro(
          "features", [](const TransitionOracle& self) { return self.system().feature_names(); },
          "The number of each feature met so far.")
      .def_prop_ro("n_features",
                   [](TransitionOracle& self) {
                     self.grow_to_system();
                     return self.n_features();
                   })
      .def_prop_ro("width", &TransitionOracle::beam, "How many states go on at each step; 0: all.")
      .def("set_width",
           [](TransitionOracle& self, std::int64_t beam) {
             if (beam < 0) throw nb::value_error("beam out of range");
             self.set_beam(beam);
           })
      .def(
          "search",
          [](TransitionOracle& self, nb::object x, Doubles weights, std::int64_t k) {
            PythonSystem system = self.system().frozen();
            system.turn_to(std::move(x), {weights.data(), n_entries(weights)}, {});
            return answers(system, self.beam(), true, k);
          },
          nb::arg("x").none(), nb::arg("weights"), nb::arg("k"), "[(score, state, actions)] of the k best answers.");
}
