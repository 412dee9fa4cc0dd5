#include "translation/right_forests.hpp"

#include <memory>

#include "parallel.hpp"

namespace margent {

namespace {

// Which rules there are for a sentence does not depend on weights: all are 0 here.
RightForest right_forest(TranslationSearch<ReferenceStates>& search, const References& references, std::int64_t i,
                         RuleFeatures<HashedRows>& features, std::int64_t most_edges) {
  RightForest out;
  static const HashedRows none(1);
  features.turn_to(i, {&none, 0});
  search.states().turn_to(i, references);
  search.run(i, features, most_edges);
  if (search.root() == not_found) return out;
  const auto& grown = search.grown();
  const ReferenceStates& states = search.states();
  out.forest = packed(grown, search.root());
  for (const std::int32_t node : out.forest.node) {
    out.cells.push_back(search.cell_of(node));
    out.states.push_back(grown.node(node).state);
  }
  for (const std::int32_t e : out.forest.edge) {
    const auto& edge = grown.edge(e);
    RuleUse use = search.option(e).use;
    if (use.rule == goal)
      use.log_probability = states.whole(grown.node(edge.tails[0]).state.reference);
    else
      use.log_probability = states.alone(grown.node(edge.head).state);
    for (const std::int32_t tail : edge.all_tails()) use.log_probability -= states.alone(grown.node(tail).state);
    out.uses.push_back(use);
  }
  return out;
}

}  // namespace

std::vector<RightForest> right_forests(const TranslationSetup& setup, const ReferenceArrays& references,
                                       std::int64_t most_edges, int threads) {
  std::vector<RightForest> out(static_cast<std::size_t>(setup.sentences.size));
  struct Worker {
    TranslationSearch<ReferenceStates> search;
    RuleFeatures<HashedRows> features;
    explicit Worker(const TranslationSetup& setup) : search(setup), features(setup) {}
  };
  TranslationSetup plain = setup;  // no templates: nothing is scored
  static const RuleTemplates none({}, {0});
  plain.templates = &none;
  std::vector<std::unique_ptr<Worker>> made(static_cast<std::size_t>(workers(setup.sentences.size, threads)));
  parallel(setup.sentences.size, threads, [&](std::size_t q, std::int64_t i) {
    if (!made[q]) made[q] = std::make_unique<Worker>(plain);
    out[static_cast<std::size_t>(i)] =
        right_forest(made[q]->search, references.of(i), i, made[q]->features, most_edges);
  });
  return out;
}

}  // namespace margent
