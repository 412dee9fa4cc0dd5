// Bindings of tables of translation rules and of their extraction from aligned sentences.
#include "rule_tables.hpp"

#include <cmath>

#include "translation/rule_counts.hpp"

using namespace margent;

namespace {

[[noreturn]] void wrong(const char* what) { throw nb::value_error(what); }

void check_starts(const Ids& ptr, std::size_t rows, std::size_t total, const char* what) {
  bool good = ptr.size() == rows + 1 && ptr.data()[0] == 0 && ptr.data()[rows] == static_cast<std::int32_t>(total);
  for (std::size_t i = 1; good && i <= rows; ++i) good = ptr.data()[i] >= ptr.data()[i - 1];
  if (!good) wrong(what);
}

void check_counts(const Doubles& counts, bool positive, const char* what) {
  for (const double count : view(counts))
    if (!(count >= 0 && count <= 0x1p32) || (positive && count == 0)) wrong(what);
}

// Words and nonterminals on the way to each node.
struct Content {
  std::int32_t words = 0, nonterminals = 0;
};

std::vector<Content> check_sources(const BoundRuleTable& t) {
  const std::size_t n = t.source_counts.size();
  if (n == 0 || n > 0x7FFFFFF0u || t.child_symbol.size() != n - 1) wrong("rules: a trie of source sides is expected");
  check_starts(t.child_ptr, n, n - 1, "rules: children of source sides are expected level by level");
  std::vector<Content> content(n);
  for (std::size_t node = 0; node < n; ++node) {
    const auto first = static_cast<std::size_t>(t.child_ptr.data()[node]);
    const auto last = static_cast<std::size_t>(t.child_ptr.data()[node + 1]);
    if (first < last && first < node) wrong("rules: children of source sides are expected level by level");
    for (std::size_t k = first; k < last; ++k) {
      const std::int32_t symbol = t.child_symbol.data()[k];
      if (symbol < source_nonterminal || symbol >= t.n_source_words ||
          (k > first && symbol <= t.child_symbol.data()[k - 1]))
        wrong("rules: symbols of source sides must be known and rise");
      content[k + 1] = content[node];
      ++(symbol < 0 ? content[k + 1].nonterminals : content[k + 1].words);
    }
  }
  check_counts(t.source_counts, false, "rules: counts of source sides must not be negative");
  return content;
}

std::vector<std::int32_t> check_targets(const BoundRuleTable& t) {
  const std::size_t n = t.target_counts.size();
  if (t.target_ptr.size() != n + 1) wrong("rules: target sides and their counts differ in number");
  check_ptr(t.target_ptr, n_entries(t.target_symbols), "target sides");
  std::vector<std::int32_t> nonterminals(n);
  for (std::size_t side = 0; side < n; ++side) {
    std::int32_t seen = 0;
    const std::int64_t first = t.target_ptr.data()[side], last = t.target_ptr.data()[side + 1];
    if (first == last) wrong("rules: a target side is empty");
    for (std::int64_t k = first; k < last; ++k) {
      const std::int32_t symbol = t.target_symbols.data()[k];
      if (symbol < second_nonterminal || symbol >= t.n_target_words)
        wrong("rules: symbols of target sides must be known");
      if (symbol >= 0) continue;
      const std::int32_t flag = symbol == first_nonterminal ? 1 : 2;
      if (seen & flag) wrong("rules: a nonterminal stands twice in a target side");
      seen |= flag;
    }
    if (seen == 2) wrong("rules: a target side has a second nonterminal but no first");
    nonterminals[side] = seen == 0 ? 0 : seen == 1 ? 1 : 2;
  }
  check_counts(t.target_counts, true, "rules: counts of target sides must be positive");
  return nonterminals;
}

auto extract(Ptr source_ptr, Ids source_words, Ptr target_ptr, Ids target_words, Ptr link_ptr,
             Array<std::int32_t, nb::ndim<2>> links, std::int32_t n_source_words, std::int32_t n_target_words,
             std::int32_t max_span, std::int32_t max_source_symbols, std::int32_t max_nonterminals, bool tight,
             bool fractional, double min_count, std::int32_t max_targets, bool with_sources, int threads) {
  check_ptr(source_ptr, n_entries(source_words), "source sentences");
  check_ptr(target_ptr, n_entries(target_words), "target sentences");
  check_ptr(link_ptr, n_entries(links), "links");
  check_ids(source_words, n_source_words, "source words must be known");
  check_ids(target_words, n_target_words, "target words must be known");
  const std::size_t n = source_ptr.size() - 1;
  if (target_ptr.size() != n + 1 || link_ptr.size() != n + 1 || links.shape(1) != 2)
    wrong("aligned pairs: the sides differ in number");
  if (max_span < 1 || max_source_symbols < 1 || max_nonterminals < 0 || max_nonterminals > 2 || !(min_count >= 0) ||
      max_targets < 0)
    wrong("extraction limits out of range");
  std::vector<Link> pairs_of_positions;
  pairs_of_positions.reserve(links.shape(0));
  for (std::size_t s = 0; s < n; ++s) {
    const std::int64_t n_source = source_ptr.data()[s + 1] - source_ptr.data()[s];
    const std::int64_t n_target = target_ptr.data()[s + 1] - target_ptr.data()[s];
    for (std::int64_t k = link_ptr.data()[s]; k < link_ptr.data()[s + 1]; ++k) {
      const Link link{links.data()[2 * k], links.data()[2 * k + 1]};
      if (link.source < 0 || link.source >= n_source || link.target < 0 || link.target >= n_target)
        wrong("a link points outside its sentences");
      pairs_of_positions.push_back(link);
    }
  }
  const AlignedPairs pairs{view(source_ptr), view(source_words), view(target_ptr), view(target_words),
                           view(link_ptr),   pairs_of_positions, n_source_words,   n_target_words};
  BuiltTable built = without_gil([&] {
    const LexicalWeights lexical(pairs);
    const RuleCounts counts(pairs, {max_span, max_source_symbols, max_nonterminals, tight, fractional}, threads);
    return counts.table({min_count, max_targets}, lexical, with_sources, threads);
  });
  const auto table =
      std::make_tuple(to_numpy(std::move(built.child_ptr)), to_numpy(std::move(built.child_symbol)),
                      to_numpy(std::move(built.source_counts)), to_numpy(std::move(built.rule_ptr)),
                      to_numpy(std::move(built.rule_target)), to_numpy(std::move(built.rule_counts)),
                      to_numpy(std::move(built.lexical)), to_numpy(std::move(built.target_ptr)),
                      to_numpy(std::move(built.target_symbols)), to_numpy(std::move(built.target_counts)));
  const auto sources =
      std::make_tuple(to_numpy(std::move(built.sentence_ptr)), to_numpy(std::move(built.sentence_rules)),
                      to_numpy(std::move(built.sentence_counts)));
  return std::make_tuple(table, sources);
}

// [rules x n_table_features]; NaN in the rows of rules that are left out.
Numpy<float> features(const BoundRuleTable& bound, const BoundRuleSources* sources, std::int64_t sentence) {
  const RuleTable table = bound.view();
  if (sources && (sentence < 0 || sentence + 1 >= n_entries(sources->ptr))) throw nb::index_error("no such sentence");
  const LeftOut left_out = sources ? LeftOut(table, sources->view(), sentence) : LeftOut(table);
  std::vector<float> out(static_cast<std::size_t>(table.n_rules()) * n_table_features, std::nanf(""));
  for (std::int32_t node = 0; node < table.n_nodes(); ++node)
    for (std::int32_t rule = table.first_rule(node); rule < table.first_rule(node + 1); ++rule)
      left_out.features(node, rule, out.data() + static_cast<std::size_t>(rule) * n_table_features);
  return to_numpy(std::move(out), {static_cast<std::size_t>(table.n_rules()), n_table_features});
}

}  // namespace

BoundRuleTable::BoundRuleTable(Ids child_ptr, Ids child_symbol, Doubles source_counts, Ids rule_ptr, Ids rule_target,
                               Doubles rule_counts, Floats lexical, Ptr target_ptr, Ids target_symbols,
                               Doubles target_counts, std::int32_t n_source_words, std::int32_t n_target_words)
    : child_ptr(child_ptr), child_symbol(child_symbol), source_counts(source_counts), rule_ptr(rule_ptr),
      rule_target(rule_target), rule_counts(rule_counts), lexical(lexical), target_ptr(target_ptr),
      target_symbols(target_symbols), target_counts(target_counts), n_source_words(n_source_words),
      n_target_words(n_target_words) {
  const std::vector<Content> content = check_sources(*this);
  const std::vector<std::int32_t> nonterminals = check_targets(*this);
  const std::size_t n_rules = rule_target.size();
  if (rule_counts.size() != n_rules || lexical.size() != 2 * n_rules) wrong("rules: arrays of different lengths");
  check_starts(rule_ptr, content.size(), n_rules, "rules: they are expected by their source sides");
  check_ids(rule_target, n_entries(target_counts), "rules: a target side is not known");
  check_counts(rule_counts, true, "rules: counts must be positive");
  for (const float weight : ::view(lexical))
    if (!(weight <= 0 && weight >= -1e6f)) wrong("rules: a lexical weight is not a log-probability");
  for (std::size_t node = 0; node < content.size(); ++node) {
    for (std::int32_t rule = rule_ptr.data()[node]; rule < rule_ptr.data()[node + 1]; ++rule) {
      const auto target = static_cast<std::size_t>(rule_target.data()[rule]);
      if (content[node].words == 0) wrong("rules: a source side has no word");
      if (content[node].nonterminals != nonterminals[target]) wrong("rules: the sides differ in nonterminals");
      if (rule_counts.data()[rule] > source_counts.data()[node] ||
          rule_counts.data()[rule] > target_counts.data()[target])
        wrong("rules: a rule is more frequent than its sides");
    }
  }
}

RuleTable BoundRuleTable::view() const {
  return {::view(child_ptr),      ::view(child_symbol), ::view(source_counts), ::view(rule_ptr),
          ::view(rule_target),    ::view(rule_counts),  ::view(lexical),       ::view(target_ptr),
          ::view(target_symbols), ::view(target_counts)};
}

BoundRuleSources::BoundRuleSources(const BoundRuleTable& table, Ptr ptr, Ids rules, Doubles counts)
    : ptr(ptr), rules(rules), counts(counts) {
  if (counts.size() != rules.size()) wrong("rules of sentences: arrays of different lengths");
  check_ptr(ptr, n_entries(rules), "rules of sentences");
  check_ids(rules, n_entries(table.rule_target), "rules of sentences: a rule is not known");
  check_counts(counts, true, "rules of sentences: counts must be positive");
}

RuleSources BoundRuleSources::view() const { return {::view(ptr), ::view(rules), ::view(counts)}; }

void bind_rule_tables(nb::module_& m) {
  nb::class_<BoundRuleTable>(m, "RuleTable", "Rules of a hierarchical grammar; keeps its arrays alive.")
      .def(nb::init<Ids, Ids, Doubles, Ids, Ids, Doubles, Floats, Ptr, Ids, Doubles, std::int32_t, std::int32_t>(),
           nb::arg("child_ptr"), nb::arg("child_symbol"), nb::arg("source_counts"), nb::arg("rule_ptr"),
           nb::arg("rule_target"), nb::arg("rule_counts"), nb::arg("lexical"), nb::arg("target_ptr"),
           nb::arg("target_symbols"), nb::arg("target_counts"), nb::arg("n_source_words"), nb::arg("n_target_words"))
      .def("features", &features, nb::arg("sources").none() = nb::none(), nb::arg("sentence") = -1,
           "(rules, 9): the features of the rules, as if a sentence had not been seen; NaN where a rule had not.");
  nb::class_<BoundRuleSources>(m, "RuleSources", "What each sentence adds to the counts of a table.")
      .def(nb::init<const BoundRuleTable&, Ptr, Ids, Doubles>(), nb::arg("table"), nb::arg("ptr"), nb::arg("rules"),
           nb::arg("counts"));
  std::vector<std::string> names(dense_feature_names.begin(), dense_feature_names.end());
  m.def("dense_translation_features", [names] { return names; }, "Names of the dense features, in their order.");
  m.attr("FIRST_TABLE_FEATURE") = static_cast<int>(first_table_feature);
  m.def("extract_rules", &extract, nb::arg("source_ptr"), nb::arg("source_words"), nb::arg("target_ptr"),
        nb::arg("target_words"), nb::arg("link_ptr"), nb::arg("links"), nb::arg("n_source_words"),
        nb::arg("n_target_words"), nb::arg("max_span"), nb::arg("max_source_symbols"), nb::arg("max_nonterminals"),
        nb::arg("tight"), nb::arg("fractional"), nb::arg("min_count"), nb::arg("max_targets"), nb::arg("with_sources"),
        nb::arg("threads"), "The arrays of a table of rules, and what each sentence adds to it.");
}
