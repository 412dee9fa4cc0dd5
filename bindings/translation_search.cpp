// Bindings of translation by hierarchical phrases: what is searched, translations, forests, right forests, the oracle.
#include <nanobind/stl/shared_ptr.h>

#include <cmath>

#include "bindings.hpp"
#include "rule_tables.hpp"
#include "translation/translating.hpp"
#include "translation/translation_oracle.hpp"

using namespace margent;

namespace {

using Matrix = Array<std::int32_t, nb::ndim<2>>;

BoundaryModel checked_model(const GramModel& model) {
  if (model.order() > max_gram_order) throw nb::value_error("the grams of the language model are too long");
  for (std::int32_t gram = 0; gram < model.size(); ++gram)
    if (!std::isfinite(model.backoff(gram)) || (gram > 0 && !std::isfinite(model.log_p(gram))))
      throw nb::value_error("a word of the language model is impossible");
  return BoundaryModel(model);
}

// A language model of target words; keeps its parts alive.
class BoundTargetModel {
 public:
  BoundTargetModel(std::shared_ptr<GramModel> model, Ids words, std::int32_t unknown)
      : model_(model), boundaries_(checked_model(*model)), words_(words) {
    for (const std::int32_t word : ::view(words))
      if (word < BoundaryModel::unknown || word >= model->n_graphones())
        throw nb::value_error("a word of the language model is out of range");
    if (unknown < BoundaryModel::unknown || unknown >= model->n_graphones())
      throw nb::value_error("the unknown word is out of range");
    view_ = {&boundaries_, ::view(words_), unknown};
  }
  BoundTargetModel(const BoundTargetModel&) = delete;
  const TargetModel& view() const { return view_; }

 private:
  std::shared_ptr<GramModel> model_;
  BoundaryModel boundaries_;
  Ids words_;
  TargetModel view_;
};

// What is searched: rules, language models, sentences. Keeps all arrays alive.
class BoundTranslation {
 public:
  BoundTranslation(std::shared_ptr<BoundRuleTable> table, std::vector<std::shared_ptr<BoundTargetModel>> models,
                   const RuleTemplates& templates, Ptr sentence_ptr, Ids words, Matrix atoms, Flags pieces,
                   std::int32_t span_limit, std::int32_t most_options,
                   std::optional<std::shared_ptr<BoundRuleSources>> sources, std::optional<Ids> model_of)
      : table_(table), models_(models), model_of_(model_of), templates_(templates), sentence_ptr_(sentence_ptr),
        words_(words), atoms_(atoms), pieces_(pieces), sources_(sources ? *sources : nullptr) {
    check_ptr(sentence_ptr, n_entries(words), "sentences");
    const std::int64_t n_words = n_entries(words);
    if (n_entries(atoms) != n_words || n_entries(pieces) != n_words)
      throw nb::value_error("atoms and a flag for each word");
    if (models.empty()) throw nb::value_error("a language model");
    for (const auto& model : models) {
      if (static_cast<std::int32_t>(model->view().words.size()) != table->n_target_words)
        throw nb::value_error("a number for each target word");
      model_views_.push_back(model->view());
    }
    if (model_of) {
      if (n_entries(*model_of) + 1 != n_entries(sentence_ptr))
        throw nb::value_error("a language model of each sentence");
      check_ids(*model_of, static_cast<std::int64_t>(models.size()), "a language model is out of range");
      view_.model_of = model_of->data();
    }
    for (const RuleTerm& term : templates.terms())
      if (RuleTerm::is_token(term.kind) && term.atom >= static_cast<std::int32_t>(atoms.shape(1)))
        throw nb::value_error("an atom is out of range");
    for (std::int64_t i = 0; i + 1 < n_entries(sentence_ptr); ++i)
      if (sentence_ptr.data()[i + 1] - sentence_ptr.data()[i] > 1000) throw nb::value_error("a sentence is too long");
    if (span_limit < 1 || most_options < 0) throw nb::value_error("limits out of range");
    view_.table = table->view();
    view_.models = model_views_;
    view_.templates = &templates_;
    view_.sentences = {n_entries(sentence_ptr) - 1,
                       sentence_ptr.data(),
                       words.data(),
                       atoms.data(),
                       static_cast<std::int32_t>(atoms.shape(1)),
                       pieces.data()};
    view_.span_limit = span_limit;
    view_.most_options = most_options;
    if (sources_) {
      left_out_ = sources_->view();
      if (static_cast<std::int64_t>(left_out_.ptr.size()) != view_.sentences.size + 1)
        throw nb::value_error("what each sentence added to the table");
      for (const std::int32_t rule : left_out_.rules)
        if (rule >= view_.table.n_rules()) throw nb::value_error("a rule of a sentence is out of range");
      view_.sources = &left_out_;
    }
  }
  BoundTranslation(const BoundTranslation&) = delete;
  const TranslationSetup& view() const { return view_; }

 private:
  std::shared_ptr<BoundRuleTable> table_;
  std::vector<std::shared_ptr<BoundTargetModel>> models_;
  std::vector<TargetModel> model_views_;
  std::optional<Ids> model_of_;
  RuleTemplates templates_;
  Ptr sentence_ptr_;
  Ids words_;
  Matrix atoms_;
  Flags pieces_;
  std::shared_ptr<BoundRuleSources> sources_;
  RuleSources left_out_;
  TranslationSetup view_;
};

void make_templates(RuleTemplates* self, Matrix terms, Ptr ptr) {
  if (terms.shape(1) != 2) throw nb::value_error("two numbers a row");
  std::vector<RuleTerm> found;
  for (std::size_t t = 0; t < terms.shape(0); ++t) {
    const std::int32_t* row = terms.data() + 2 * t;
    if (row[0] < 0 || row[0] >= RuleTerm::n_kinds || row[1] < 0) throw nb::value_error("an atom is out of range");
    found.push_back({static_cast<RuleTerm::Kind>(row[0]), row[1]});
  }
  check_ptr(ptr, static_cast<std::int64_t>(found.size()), "templates");
  new (self) RuleTemplates(std::move(found), {ptr.data(), ptr.data() + ptr.shape(0)});
}

std::int64_t checked_limit(std::int64_t pop_limit) {
  if (pop_limit < 0) throw nb::value_error("pop limit out of range");
  return pop_limit;
}
void check_weights(const FrozenRows& weights) {
  if (weights.n_columns() != 1) throw nb::value_error("one weight for each feature");
}

// Steps of derivations as arrays: rule, node, begin, end, gap_first, gap_last, n_tails; and log-probabilities.
struct StepArrays {
  std::vector<std::int32_t> numbers;
  std::vector<double> log_probabilities;
  void add(const DerivationStep& step) {
    const RuleUse& u = step.use;
    for (const std::int32_t n : {u.rule, u.node, u.begin, u.end, static_cast<std::int32_t>(u.gap_first),
                                 static_cast<std::int32_t>(u.gap_last), step.n_tails})
      numbers.push_back(n);
    log_probabilities.push_back(u.log_probability);
  }
  static constexpr std::size_t width = 7;
  auto arrays() {
    const std::size_t n = log_probabilities.size();
    return std::make_tuple(to_numpy(std::move(numbers), {n, width}), to_numpy(std::move(log_probabilities)));
  }
};

std::vector<DerivationStep> checked_steps(const BoundTranslation& translation, std::int64_t sentence, Matrix numbers,
                                          Doubles log_probabilities) {
  const TranslationSetup& setup = translation.view();
  if (sentence < 0 || sentence >= setup.sentences.size) throw nb::index_error("no such sentence");
  if (numbers.shape(1) != StepArrays::width || n_entries(numbers) != n_entries(log_probabilities))
    throw nb::value_error("seven numbers and a log-probability for each step");
  std::vector<DerivationStep> out;
  const std::int32_t length = setup.sentences.length(sentence);
  for (std::size_t i = 0; i < numbers.shape(0); ++i) {
    const std::int32_t* row = numbers.data() + StepArrays::width * i;
    if (row[0] < goal || row[0] >= setup.table.n_rules() || row[1] < 0 || row[1] >= setup.table.n_nodes() ||
        row[2] < 0 || row[3] < row[2] || row[3] > length)
      throw nb::value_error("a step is out of range");
    out.push_back({{row[0], row[1], row[2], row[3], row[4] != 0, row[5] != 0, log_probabilities.data()[i]}, row[6]});
  }
  return out;
}

auto translate_all(const BoundTranslation& translation, const FrozenRows& weights, std::int64_t k, bool distinct,
                   std::int64_t pop_limit, bool dense, int threads) {
  check_weights(weights);
  if (k < 1) throw nb::value_error("k out of range");
  const TranslationQuery query{k, checked_limit(pop_limit), distinct};
  std::vector<std::int64_t> counts, word_ptr{0}, step_ptr{0};
  std::vector<double> scores, features;
  std::vector<std::int32_t> words;
  StepArrays steps;
  {
    const WithoutGil released;
    const auto found = translate(translation.view(), weights, query, threads);
    for (std::size_t i = 0; i < found.size(); ++i) {
      counts.push_back(static_cast<std::int64_t>(found[i].size()));
      for (const Translation& one : found[i]) {
        scores.push_back(one.score);
        words.insert(words.end(), one.words.begin(), one.words.end());
        word_ptr.push_back(static_cast<std::int64_t>(words.size()));
        for (const DerivationStep& step : one.steps) steps.add(step);
        step_ptr.push_back(static_cast<std::int64_t>(steps.log_probabilities.size()));
        if (dense) {
          const DenseFeatures sums = dense_features(translation.view(), static_cast<std::int64_t>(i), one.steps);
          features.insert(features.end(), sums.begin(), sums.end());
        }
      }
    }
  }
  const std::size_t n = dense ? scores.size() : 0;
  return std::make_tuple(to_numpy(std::move(counts)), to_numpy(std::move(scores)), to_numpy(std::move(word_ptr)),
                         to_numpy(std::move(words)), to_numpy(std::move(step_ptr)), steps.arrays(),
                         to_numpy(std::move(features), {n, static_cast<std::size_t>(n_dense_features)}));
}

// Forests one after the other, as margent.structures.ForestBatch takes them, and what their edges and nodes are.
struct ForestLists {
  std::vector<std::int64_t> node_ptr{0}, edge_ptr{0}, tail_ptr{0};
  std::vector<std::int32_t> roots, heads, tails, cells;
  std::vector<double> scores, dense;
  StepArrays steps;

  void add(const PackedForest& forest, const std::vector<TranslationCell>& of_nodes) {
    const auto n_nodes = forest.n_nodes();
    roots.push_back(n_nodes - 1);
    node_ptr.push_back(node_ptr.back() + n_nodes);
    edge_ptr.push_back(edge_ptr.back() + static_cast<std::int64_t>(forest.heads.size()));
    const auto before = static_cast<std::int64_t>(tails.size());
    heads.insert(heads.end(), forest.heads.begin(), forest.heads.end());
    tails.insert(tails.end(), forest.tails.begin(), forest.tails.end());
    for (std::size_t e = 1; e < forest.tail_ptr.size(); ++e) tail_ptr.push_back(before + forest.tail_ptr[e]);
    scores.insert(scores.end(), forest.scores.begin(), forest.scores.end());
    for (const TranslationCell& cell : of_nodes)
      for (const std::int32_t n : {static_cast<std::int32_t>(cell.symbol), cell.begin, cell.end}) cells.push_back(n);
  }
  nb::dict arrays() {
    nb::dict out;
    const std::size_t n_edges = heads.size(), n_nodes = cells.size() / 3;
    out["node_ptr"] = to_numpy(std::move(node_ptr));
    out["edge_ptr"] = to_numpy(std::move(edge_ptr));
    out["roots"] = to_numpy(std::move(roots));
    out["heads"] = to_numpy(std::move(heads));
    out["tail_ptr"] = to_numpy(std::move(tail_ptr));
    out["tails"] = to_numpy(std::move(tails));
    out["scores"] = to_numpy(std::move(scores));
    out["cells"] = to_numpy(std::move(cells), {n_nodes, 3});
    out["dense"] = to_numpy(std::move(dense), {n_edges, static_cast<std::size_t>(n_dense_features)});
    out["steps"] = steps.arrays();
    return out;
  }
  void add_steps(const TranslationSetup& setup, std::int64_t sentence, const std::vector<DerivationStep>& given) {
    for (const DerivationStep& step : given) {
      steps.add(step);
      const DenseFeatures sums = dense_features(setup, sentence, {step});
      dense.insert(dense.end(), sums.begin(), sums.end());
    }
  }
};

nb::dict forests(const BoundTranslation& translation, const FrozenRows& weights, std::int64_t pop_limit, int threads) {
  check_weights(weights);
  checked_limit(pop_limit);
  ForestLists out;
  without_gil([&] {
    const auto found = translation_forests(translation.view(), weights, pop_limit, threads);
    for (std::size_t i = 0; i < found.size(); ++i) {
      out.add(found[i].forest, found[i].cells);
      out.add_steps(translation.view(), static_cast<std::int64_t>(i), found[i].steps);
    }
    return 0;
  });
  return out.arrays();
}

// Derivations of right translations, made by forced decoding.
class BoundRightForests {
 public:
  BoundRightForests(const BoundTranslation& translation, Ptr sentence_ptr, Ptr ptr, Ids words, std::int64_t most_edges,
                    bool search, int threads)
      : sentence_ptr_(sentence_ptr), ptr_(ptr), words_(words) {
    check_ptr(sentence_ptr, n_entries(ptr) - 1, "references");
    check_ptr(ptr, n_entries(words), "words of references");
    if (n_entries(sentence_ptr) != translation.view().sentences.size + 1)
      throw nb::value_error("references for each sentence");
    for (std::int64_t r = 0; r + 1 < n_entries(ptr); ++r)
      if (ptr.data()[r] == ptr.data()[r + 1]) throw nb::value_error("a reference without words");
    for (const std::int32_t word : ::view(words))
      if (word < 0) throw nb::value_error("a word of a reference is out of range");
    checked_limit(most_edges);
    const WithoutGil released;
    found_.resize(static_cast<std::size_t>(translation.view().sentences.size));
    if (search) found_ = right_forests(translation.view(), references(), most_edges, threads);
  }
  ReferenceArrays references() const { return {sentence_ptr_.data(), ptr_.data(), words_.data()}; }
  const std::vector<RightForest>& found() const { return found_; }
  Numpy<std::uint8_t> reachable() const {
    std::vector<std::uint8_t> out;
    for (const RightForest& one : found_) out.push_back(!one.empty());
    return to_numpy(std::move(out));
  }
  Numpy<double> n_derivations() const {
    std::vector<double> out;
    for (const RightForest& one : found_)
      out.push_back(one.empty() ? 0.0 : static_cast<double>(inside(one.forest.view(), Count{}).back()));
    return to_numpy(std::move(out));
  }
  nb::dict arrays(const BoundTranslation& translation) const {
    ForestLists out;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      out.add(found_[i].forest, found_[i].cells);
      std::vector<DerivationStep> steps;
      for (std::size_t e = 0; e < found_[i].uses.size(); ++e)
        steps.push_back({found_[i].uses[e],
                         static_cast<std::int32_t>(found_[i].forest.tail_ptr[e + 1] - found_[i].forest.tail_ptr[e])});
      out.add_steps(translation.view(), static_cast<std::int64_t>(i), steps);
    }
    return out.arrays();
  }

 private:
  Ptr sentence_ptr_, ptr_;
  Ids words_;
  std::vector<RightForest> found_;
};

}  // namespace

void bind_translation_search(nb::module_& m) {
  nb::enum_<TranslationUpdate>(m, "TranslationUpdate", "What is learned from a wrong translation.")
      .value("max_violation", TranslationUpdate::max_violation)
      .value("local", TranslationUpdate::local)
      .value("skip", TranslationUpdate::skip)
      .value("standard", TranslationUpdate::standard);
  nb::class_<RuleTemplates>(m, "RuleTemplates", "Templates of what is seen of rules.")
      .def("__init__", &make_templates, nb::arg("terms"), nb::arg("ptr"), "terms: (kind, atom) in rows.");
  m.def("dense_feature_key", &dense_key, nb::arg("feature"), "The key of a dense feature among `FeatureRows`.");
  nb::class_<BoundTargetModel>(m, "TargetModel", "A language model of the words of target sides.")
      .def(nb::init<std::shared_ptr<GramModel>, Ids, std::int32_t>(), nb::arg("grams"), nb::arg("words"),
           nb::arg("unknown") = BoundaryModel::unknown);
  nb::class_<BoundTranslation>(m, "Translations", "Sentences, rules and a language model: what is searched.")
      .def(nb::init<std::shared_ptr<BoundRuleTable>, std::vector<std::shared_ptr<BoundTargetModel>>,
                    const RuleTemplates&, Ptr, Ids, Matrix, Flags, std::int32_t, std::int32_t,
                    std::optional<std::shared_ptr<BoundRuleSources>>, std::optional<Ids>>(),
           nb::arg("table"), nb::arg("models"), nb::arg("templates"), nb::arg("sentence_ptr"), nb::arg("words"),
           nb::arg("atoms"), nb::arg("pieces"), nb::arg("span_limit"), nb::arg("most_options"),
           nb::arg("sources").none() = nb::none(), nb::arg("model_of").none() = nb::none())
      .def(
          "translate", &translate_all, nb::arg("weights"), nb::arg("k"), nb::arg("distinct"), nb::arg("pop_limit"),
          nb::arg("dense") = false, nb::arg("threads") = 1,
          "(translations of each sentence, scores, offsets, words, offsets, steps, dense features); pop limit 0: none.")
      .def("forests", &forests, nb::arg("weights"), nb::arg("pop_limit"), nb::arg("threads") = 1,
           "Forests of translations as arrays.")
      .def(
          "explain",
          [](const BoundTranslation& self, const FrozenRows& weights, std::int64_t sentence, Matrix numbers,
             Doubles log_probabilities) {
            check_weights(weights);
            const auto steps = checked_steps(self, sentence, numbers, log_probabilities);
            std::vector<std::tuple<int, int, int, double, double>> out;
            for (const StepFeature& f : explain_steps(self.view(), weights, sentence, steps))
              out.push_back({f.step, f.tmpl, f.dense, f.weight, f.value});
            return out;
          },
          nb::arg("weights"), nb::arg("sentence"), nb::arg("steps"), nb::arg("log_probabilities"),
          "[(step, template or -1, dense feature or -1, weight, value)]");
  nb::class_<BoundRightForests>(m, "RightTranslations", "Derivations of right translations, by forced decoding.")
      .def(nb::init<const BoundTranslation&, Ptr, Ptr, Ids, std::int64_t, bool, int>(), nb::arg("translations"),
           nb::arg("sentence_ptr"), nb::arg("ptr"), nb::arg("words"), nb::arg("most_edges") = 0,
           nb::arg("search") = true, nb::arg("threads") = 1)
      .def("reachable", &BoundRightForests::reachable, "By sentence, whether there is one.")
      .def("n_derivations", &BoundRightForests::n_derivations, "By sentence, how many there are.")
      .def("forests", &BoundRightForests::arrays, nb::arg("translations"), "As arrays.");
  nb::class_<TranslationOracle, RowOracle>(m, "TranslationOracle", "The oracle of sentence pairs.")
      .def_prop_ro_static("structure", [](nb::handle) { return "derivations of translations"; })
      .def(
          "__init__",
          [](TranslationOracle* self, const BoundTranslation& translation, const BoundRightForests& right,
             TranslationUpdate update, std::int64_t pop_limit, std::int64_t k_best, std::int64_t batch, int threads,
             std::optional<Doubles> sample_weight, std::optional<Numbers> examples, double dense_step,
             bool follows_answer) {
            if (batch < 1 || k_best < 1) throw nb::value_error("batch or k out of range");
            const TranslationSetup& setup = translation.view();
            if (static_cast<std::int64_t>(right.found().size()) != setup.sentences.size ||
                (sample_weight && n_entries(*sample_weight) != setup.sentences.size))
              throw nb::value_error("right translations and a weight for each sentence");
            TranslationTraining training{setup,
                                         right.references(),
                                         checked_limit(pop_limit),
                                         update,
                                         k_best,
                                         batch,
                                         threads,
                                         follows_answer,
                                         dense_step,
                                         {},
                                         {}};
            if (sample_weight)
              training.weights.assign(sample_weight->data(), sample_weight->data() + sample_weight->size());
            if (examples) {
              check_examples(*examples, setup.sentences.size);
              training.examples.assign(examples->data(), examples->data() + examples->size());
            } else {
              for (std::int64_t i = 0; i < setup.sentences.size; ++i) training.examples.push_back(i);
            }
            new (self) TranslationOracle(std::move(training), &right.found());
          },
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::arg("translations"), nb::arg("right"), nb::arg("update"),
          nb::arg("pop_limit"), nb::arg("k_best") = 100, nb::arg("batch") = 1, nb::arg("threads") = 1,
          nb::arg("sample_weight").none() = nb::none(), nb::arg("examples").none() = nb::none(),
          nb::arg("dense_step") = 1.0, nb::arg("follows_answer") = false)
      .def_prop_ro("batch", &TranslationOracle::batch)
      .def(
          "set_dense",
          [](TranslationOracle& self, Doubles weights) {
            if (n_entries(weights) != n_dense_features) throw nb::value_error("a weight for each dense feature");
            for (std::int32_t k = 0; k < n_dense_features; ++k)
              self.set(dense_key(k), 0, static_cast<float>(weights.data()[k]));
          },
          nb::arg("weights"), "The weights that training starts with.")
      .def("update_lengths", [](const TranslationOracle& self) {
        auto copy = self.update_lengths();
        return to_numpy(std::move(copy));
      });
}
