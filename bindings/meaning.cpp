// Bindings of parsing questions: what words may mean, right meanings, templates, the oracle, understanding.
#include <cmath>

#include "bindings.hpp"
#include "meaning/meaning_reach.hpp"
#include "meaning/question_oracle.hpp"
#include "meaning/understanding.hpp"

using namespace margent;

namespace {

using Matrix = Array<std::int32_t, nb::ndim<2>>;

// Keeps the arrays alive that the questions look into.
class BoundQuestions {
 public:
  BoundQuestions(Matrix atoms, Ptr sequence_ptr, Ptr choice_ptr, Ids lengths, Ids pieces, Ids evidence, Floats priors,
                 Floats skips, Ids piece_types, Matrix piece_atoms, Ptr name_ptr, Ids names,
                 std::optional<Doubles> weights)
      : atoms_(atoms), sequence_ptr_(sequence_ptr), choice_ptr_(choice_ptr), lengths_(lengths), pieces_(pieces),
        evidence_(evidence), priors_(priors), skips_(skips), piece_types_(piece_types), piece_atoms_(piece_atoms),
        name_ptr_(name_ptr), names_(names), weights_(weights) {
    const auto n_words = static_cast<std::int64_t>(atoms.shape(0));
    check_ptr(sequence_ptr, n_words, "questions");
    check_ptr(choice_ptr, n_entries(lengths), "choices");
    if (n_entries(skips) != n_words) throw nb::value_error("a score of skipping each word");
    if (n_entries(choice_ptr) != n_words + 1) throw nb::value_error("choices for each word");
    if (n_entries(pieces) != n_entries(lengths) || n_entries(evidence) != n_entries(lengths) ||
        n_entries(priors) != n_entries(lengths))
      throw nb::value_error("a piece, a reason and a score for each choice");
    if (n_entries(lengths) > 0x7FFFFFFF) throw nb::value_error("too many choices");
    if (piece_atoms.shape(1) != Pieces::n_atoms || n_entries(piece_types) != n_entries(piece_atoms))
      throw nb::value_error("a type and five atoms for each piece");
    check_ids(pieces, n_entries(piece_types), "a piece is out of range");
    check_ptr(name_ptr, n_entries(names), "names");
    if (n_entries(name_ptr) != n_entries(piece_types) + 1) throw nb::value_error("names for each piece");
    for (std::size_t i = 0; i < piece_atoms.shape(0) * Pieces::n_atoms; ++i)
      if (piece_atoms.data()[i] < 0) throw nb::value_error("an atom of a piece is out of range");
    view_.size = n_entries(sequence_ptr) - 1;
    for (std::int64_t q = 0; q < view_.size; ++q) {
      const std::int64_t begin = sequence_ptr.data()[q], end = sequence_ptr.data()[q + 1];
      if (end - begin > 10000) throw nb::value_error("a question is too long");
      for (std::int64_t i = begin; i < end; ++i)
        for (std::int64_t c = choice_ptr.data()[i]; c < choice_ptr.data()[i + 1]; ++c)
          if (lengths.data()[c] < 1 || lengths.data()[c] > end - i) throw nb::value_error("a choice is too long");
    }
    for (const Floats& scores : {priors, skips})
      for (const float score : ::view(scores))
        if (!std::isfinite(score)) throw nb::value_error("a score is not finite");
    if (weights && n_entries(*weights) != view_.size) throw nb::value_error("a weight for each question");
    view_.n_atoms = static_cast<std::int32_t>(atoms.shape(1));
    view_.sequence_ptr = sequence_ptr.data();
    view_.atoms = atoms.data();
    view_.choice_ptr = choice_ptr.data();
    view_.lengths = lengths.data();
    view_.pieces = pieces.data();
    view_.evidence = evidence.data();
    view_.priors = priors.data();
    view_.skips = skips.data();
    view_.weights = weights ? weights->data() : nullptr;
    view_.known = {n_entries(piece_types), piece_types.data(), piece_atoms.data(), name_ptr.data(), names.data()};
  }
  const Questions& view() const { return view_; }
  std::int64_t n_choices() const { return n_entries(lengths_); }
  std::int64_t n_words() const { return static_cast<std::int64_t>(atoms_.shape(0)); }

 private:
  Matrix atoms_;
  Ptr sequence_ptr_, choice_ptr_;
  Ids lengths_, pieces_, evidence_;
  Floats priors_, skips_;
  Ids piece_types_;
  Matrix piece_atoms_;
  Ptr name_ptr_;
  Ids names_;
  std::optional<Doubles> weights_;
  Questions view_;
};

class BoundTypes {
 public:
  BoundTypes(Matrix apply, Matrix combine, Flags answers) : apply_(apply), combine_(combine), answers_(answers) {
    const auto n = static_cast<std::int32_t>(answers.shape(0));
    for (const Matrix& table : {apply, combine}) {
      if (table.shape(0) != answers.shape(0) || table.shape(1) != answers.shape(0))
        throw nb::value_error("a row and a column for each type");
      for (std::size_t i = 0; i < table.size(); ++i)
        if (table.data()[i] < -1 || table.data()[i] >= n) throw nb::value_error("a type is out of range");
    }
    view_ = {n, apply.data(), combine.data(), answers.data()};
  }
  const TypeTables& view() const { return view_; }

 private:
  Matrix apply_, combine_;
  Flags answers_;
  TypeTables view_;
};

void make_templates(QuestionTemplates* self, Matrix terms, Ids template_ptr, Ids template_terms) {
  if (terms.shape(1) != 3) throw nb::value_error("three numbers a row");
  std::vector<QuestionTerm> found;
  for (std::size_t t = 0; t < terms.shape(0); ++t) {
    const std::int32_t *row = terms.data() + 3 * t, kind = row[0];
    if (kind < 0 || kind > QuestionTerm::third_ahead || row[2] < 0) throw nb::value_error("an atom is out of range");
    const std::int32_t most = kind == QuestionTerm::token  ? QuestionTerm::n_words
                              : kind < QuestionTerm::token ? QuestionTerm::n_expressions
                                                           : 1;
    if (row[1] < 0 || row[1] >= most) throw nb::value_error("the address of an atom is out of range");
    found.push_back({static_cast<QuestionTerm::Kind>(kind), row[1], row[2]});
  }
  const std::size_t n = template_ptr.shape(0);
  bool good = n >= 1 && template_ptr.data()[0] == 0 && template_ptr.data()[n - 1] == n_entries(template_terms);
  for (std::size_t i = 1; good && i < n; ++i) good = template_ptr.data()[i] > template_ptr.data()[i - 1];
  if (!good) throw nb::value_error("templates: offsets must rise from 0 to the number of terms");
  check_ids(template_terms, static_cast<std::int64_t>(found.size()), "a term is out of range");
  new (self) QuestionTemplates(std::move(found), {template_ptr.data(), template_ptr.data() + n},
                               {template_terms.data(), template_terms.data() + n_entries(template_terms)});
}

QuestionSetup checked_setup(const BoundQuestions& questions, const BoundTypes& types,
                            const QuestionTemplates& templates, std::int32_t most_expressions,
                            const std::vector<RightMeaning>* right) {
  const Questions& view = questions.view();
  for (const QuestionTerm& term : templates.terms())
    if (term.kind == QuestionTerm::token && term.atom >= view.n_atoms) throw nb::value_error("an atom is out of range");
  for (std::int64_t piece = 0; piece < view.known.size; ++piece)
    if (view.known.types[piece] < 0 || view.known.types[piece] >= types.view().size)
      throw nb::value_error("the type of a piece is out of range");
  if (most_expressions < 1 || most_expressions > 100) throw nb::value_error("expressions out of range");
  if (right && static_cast<std::int64_t>(right->size()) != view.size)
    throw nb::value_error("a right meaning for each question");
  return {view, types.view(), &templates, most_expressions, right, false};
}

std::int64_t checked_beam(std::int64_t beam) {
  if (beam < 0) throw nb::value_error("beam out of range");
  return beam;
}

// Right meanings by their parts; then the states of a search that they are in reach of.
class RightMeanings {
 public:
  RightMeanings(Ptr part_ptr, Flags connectives, Ptr member_ptr, Ids members, Ptr way_ptr, Ids pieces, Ptr arg_ptr,
                Ids arguments, Ptr name_ptr, Ids names) {
    const std::int64_t n_parts = n_entries(connectives);
    check_ptr(part_ptr, n_parts, "parts");
    check_ptr(member_ptr, n_entries(members), "members");
    check_ptr(way_ptr, n_entries(pieces), "ways");
    check_ptr(arg_ptr, n_entries(arguments), "arguments");
    check_ptr(name_ptr, n_entries(names), "names");
    if (n_entries(name_ptr) != n_entries(part_ptr)) throw nb::value_error("names for each meaning");
    if (n_entries(member_ptr) != n_parts + 1 || n_entries(way_ptr) != n_parts + 1 ||
        n_entries(arg_ptr) != n_entries(pieces) + 1)
      throw nb::value_error("members and ways for each part, arguments for each way");
    for (std::int64_t q = 0; q + 1 < n_entries(part_ptr); ++q) {
      const std::int64_t first = part_ptr.data()[q], n = part_ptr.data()[q + 1] - first;
      const std::int64_t first_way = way_ptr.data()[first];
      std::vector<std::int64_t> member_begins, way_begins, arg_begins;
      for (std::int64_t p = 0; p <= n; ++p) {
        member_begins.push_back(member_ptr.data()[first + p]);
        way_begins.push_back(way_ptr.data()[first + p] - first_way);
      }
      for (std::int64_t w = first_way; w <= way_ptr.data()[first + n]; ++w) arg_begins.push_back(arg_ptr.data()[w]);
      for (std::int64_t p = 0; p < n; ++p) {
        for (std::int64_t m = member_begins[p]; m < member_begins[p + 1]; ++m)
          if (members.data()[m] < 0 || members.data()[m] >= p) throw nb::value_error("a member is out of range");
        for (std::int64_t w = way_begins[p]; w < way_begins[p + 1]; ++w)
          for (std::int64_t a = arg_begins[w]; a < arg_begins[w + 1]; ++a)
            if (arguments.data()[a] < 0 || arguments.data()[a] >= p)
              throw nb::value_error("an argument is out of range");
      }
      MeaningParts parts;
      parts.connectives = view(connectives).subspan(first, n);
      parts.member_ptr = member_begins;
      parts.way_ptr = way_begins;
      parts.arg_ptr = arg_begins;
      parts.members = view(members);
      parts.pieces = view(pieces).subspan(first_way, way_begins[n]);
      parts.arguments = view(arguments);
      right_.push_back(
          {PartHashes(parts), {names.data() + name_ptr.data()[q], names.data() + name_ptr.data()[q + 1]}, {}});
    }
  }
  void find_reach(const BoundQuestions& questions, const BoundTypes& types, std::int32_t most_expressions,
                  std::int64_t most_states, int threads) {
    const QuestionTemplates none({}, {0}, {});
    const QuestionSetup setup = checked_setup(questions, types, none, most_expressions, &right_);
    without_gil([&] { margent::find_reach(setup, right_, {most_states}, threads); });
  }
  auto expect_choices(const BoundQuestions& questions, const BoundTypes& types, std::int32_t most_expressions,
                      std::int64_t most_states, int threads) const {
    const QuestionTemplates none({}, {0}, {});
    const QuestionSetup setup = checked_setup(questions, types, none, most_expressions, &right_);
    const auto n_words = static_cast<std::size_t>(questions.n_words());
    std::vector<double> chosen(static_cast<std::size_t>(questions.n_choices())), skipped(n_words);
    auto totals = without_gil([&] {
      return margent::expect_choices(setup, right_, {most_states}, {chosen.data(), skipped.data()}, threads);
    });
    return std::make_tuple(to_numpy(std::move(chosen)), to_numpy(std::move(skipped)), to_numpy(std::move(totals)));
  }
  const std::vector<RightMeaning>& all() const { return right_; }

 private:
  std::vector<RightMeaning> right_;
};

auto understand_all(const BoundQuestions& questions, const BoundTypes& types, const QuestionTemplates& templates,
                    const FrozenRows& table, std::int64_t beam, std::int32_t most_expressions, int k, int threads) {
  const QuestionSetup setup = checked_setup(questions, types, templates, most_expressions, nullptr);
  if (k < 1) throw nb::value_error("k out of range");
  if (table.n_columns() != 1) throw nb::value_error("weights of one column");
  auto found = without_gil([&] { return understand(setup, table, checked_beam(beam), k, threads); });
  std::vector<std::int64_t> counts, move_ptr{0};
  std::vector<double> scores;
  std::vector<std::uint8_t> actions;
  std::vector<std::int32_t> choices;
  for (const std::vector<FoundMeaning>& answers : found) {
    counts.push_back(static_cast<std::int64_t>(answers.size()));
    for (const FoundMeaning& answer : answers) {
      scores.push_back(answer.score);
      for (const QuestionMove& move : answer.moves) {
        actions.push_back(static_cast<std::uint8_t>(move.action));
        choices.push_back(move.choice);
      }
      move_ptr.push_back(static_cast<std::int64_t>(actions.size()));
    }
  }
  return std::make_tuple(to_numpy(std::move(counts)), to_numpy(std::move(scores)), to_numpy(std::move(move_ptr)),
                         to_numpy(std::move(actions)), to_numpy(std::move(choices)));
}

}  // namespace

void bind_meaning(nb::module_& m) {
  nb::class_<BoundQuestions>(m, "Questions", "Questions as atoms of words, with what words may mean.")
      .def(
          "__init__",
          [](BoundQuestions* self, Matrix atoms, Ptr sequence_ptr, Ptr choice_ptr, Ids lengths, Ids pieces,
             Ids evidence, Floats priors, Floats skips, Ids piece_types, Matrix piece_atoms, Ptr name_ptr, Ids names,
             std::optional<Doubles> weights) {
            new (self) BoundQuestions(atoms, sequence_ptr, choice_ptr, lengths, pieces, evidence, priors, skips,
                                      piece_types, piece_atoms, name_ptr, names, weights);
          },
          nb::arg("atoms"), nb::arg("sequence_ptr"), nb::arg("choice_ptr"), nb::arg("lengths"), nb::arg("pieces"),
          nb::arg("evidence"), nb::arg("priors"), nb::arg("skips"), nb::arg("piece_types"), nb::arg("piece_atoms"),
          nb::arg("name_ptr"), nb::arg("names"), nb::arg("weights") = nb::none())
      .def("__len__", [](const BoundQuestions& self) { return self.view().size; })
      .def_prop_ro("n_choices", &BoundQuestions::n_choices);
  nb::class_<BoundTypes>(m, "TypeTables", "What comes of applying and combining expressions, by their types.")
      .def(
          "__init__",
          [](BoundTypes* self, Matrix apply, Matrix combine, Flags answers) {
            new (self) BoundTypes(apply, combine, answers);
          },
          nb::arg("apply"), nb::arg("combine"), nb::arg("answers"));
  nb::class_<QuestionTemplates>(m, "QuestionTemplates", "Templates of the features of a parser of questions, compiled.")
      .def("__init__", &make_templates, nb::arg("terms"), nb::arg("template_ptr"), nb::arg("template_terms"))
      .def("__len__", [](const QuestionTemplates& self) { return self.size(); });
  nb::class_<RightMeanings>(m, "RightMeanings",
                            "The meanings of questions, and the states from which they are in reach.")
      .def(
          "__init__",
          [](RightMeanings* self, Ptr part_ptr, Flags connectives, Ptr member_ptr, Ids members, Ptr way_ptr, Ids pieces,
             Ptr arg_ptr, Ids arguments, Ptr name_ptr, Ids names) {
            new (self) RightMeanings(part_ptr, connectives, member_ptr, members, way_ptr, pieces, arg_ptr, arguments,
                                     name_ptr, names);
          },
          nb::arg("part_ptr"), nb::arg("connectives"), nb::arg("member_ptr"), nb::arg("members"), nb::arg("way_ptr"),
          nb::arg("pieces"), nb::arg("arg_ptr"), nb::arg("arguments"), nb::arg("name_ptr"), nb::arg("names"))
      .def("find_reach", &RightMeanings::find_reach, nb::arg("questions"), nb::arg("types"),
           nb::arg("most_expressions"), nb::arg("most_states"), nb::arg("threads"),
           "Finds all derivations of the meanings that the choices allow.")
      .def("expect_choices", &RightMeanings::expect_choices, nb::arg("questions"), nb::arg("types"),
           nb::arg("most_expressions"), nb::arg("most_states"), nb::arg("threads"),
           "(how often each choice is taken, and each word skipped, in the derivations of the meanings, the logarithm "
           "of the sum of their chances by question); the scores of choices and skips are logarithms of chances.")
      .def(
          "n_states",
          [](const RightMeanings& self) {
            std::vector<std::int64_t> out;
            for (const RightMeaning& one : self.all()) out.push_back(static_cast<std::int64_t>(one.reach.size()));
            return to_numpy(std::move(out));
          },
          "By question, how many states its meaning is in reach of; 0: it has no derivation.");
  nb::class_<QuestionOracle, RowOracle>(m, "QuestionOracle", "The oracle of questions with their meanings.")
      .def_prop_ro_static("structure", [](nb::handle) { return "derivations of meanings"; })
      .def(
          "__init__",
          [](QuestionOracle* self, const BoundQuestions& questions, const BoundTypes& types,
             const QuestionTemplates& templates, const RightMeanings& right, std::int64_t beam, BeamUpdate update,
             std::int32_t most_expressions, bool follows_answer) {
            QuestionSetup setup = checked_setup(questions, types, templates, most_expressions, &right.all());
            setup.follows_answer = follows_answer;
            new (self) QuestionOracle(setup, checked_beam(beam), update);
          },
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
          nb::arg("questions"), nb::arg("types"), nb::arg("templates"), nb::arg("right"), nb::arg("beam"),
          nb::arg("update"), nb::arg("most_expressions"), nb::arg("follows_answer") = false);
  m.def("understand", &understand_all, nb::arg("questions"), nb::arg("types"), nb::arg("templates"), nb::arg("table"),
        nb::arg("beam"), nb::arg("most_expressions"), nb::arg("k"), nb::arg("threads"),
        "(answers of each question, scores, offsets, actions, choices), answer after answer; beam 0: all states.");
  m.def(
      "explain_meaning",
      [](const BoundQuestions& questions, const BoundTypes& types, const QuestionTemplates& templates,
         const FrozenRows& table, std::int32_t most_expressions, Array<std::uint8_t, nb::ndim<1>> actions,
         Ids choices) {
        const QuestionSetup setup = checked_setup(questions, types, templates, most_expressions, nullptr);
        if (setup.questions.size != 1) throw nb::value_error("one question");
        if (n_entries(actions) != n_entries(choices)) throw nb::value_error("a choice for each action");
        std::vector<QuestionMove> moves;
        for (std::int64_t i = 0; i < n_entries(actions); ++i)
          moves.push_back({static_cast<MeaningAction>(actions.data()[i]), choices.data()[i]});
        std::vector<std::tuple<int, int, double, std::vector<std::uint64_t>>> out;
        for (const MeaningFeature& f : explain_meaning(setup, table, moves))
          out.push_back({f.step, f.tmpl, f.weight, f.values});
        return out;
      },
      nb::arg("questions"), nb::arg("types"), nb::arg("templates"), nb::arg("table"), nb::arg("most_expressions"),
      nb::arg("actions"), nb::arg("choices"),
      "[(step, template, weight, values)] of a derivation of the only question.");
}
