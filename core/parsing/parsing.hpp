// Parsing with learned weights: the k best trees that a beam search finds.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "learning/frozen_rows.hpp"
#include "parsing/parsing_oracle.hpp"

namespace margent {

struct FoundTree {
  double score = 0;
  std::vector<std::int32_t> heads, labels;
};

// By sentence, up to k different trees, best first. The same for any number of threads.
std::vector<std::vector<FoundTree>> parse(ParsingTransitions transitions, const ParsingSetup& setup,
                                          const FrozenRows& table, std::int64_t beam, int k, int threads);

// How the tree of a sentence is made: the features of each action with their weights. Of several derivations, the best
// that a forced search finds with this beam; nothing where there is none.
struct TreeFeature {
  std::int32_t step, action, tmpl;
  double weight;
  std::vector<std::uint64_t> values;  // of the terms of the template
};
struct ExplainedTree {
  bool found = false;
  double score = 0;
  std::vector<TreeFeature> features;
};
ExplainedTree explain(ParsingTransitions transitions, const ParsingSetup& setup, const FrozenRows& table,
                      std::int64_t beam);

// Whether the actions have one at least for each of these transitions, without which a search could end nowhere.
bool complete(ParsingTransitions transitions, const ParserActions& actions);

// The actions of a derivation of the tree of each sentence, by the rules of these transitions alone: of several
// derivations, the one whose actions come first in this order: left, right, finish, swap, reduce, shift. Empty where
// there is none.
std::vector<std::vector<std::int32_t>> right_actions(ParsingTransitions transitions, const ParsingSetup& setup);

// What can be done in the only sentence after these actions, which are legal, as (action, cost): the right arcs, and
// labels at right heads, that it puts out of reach. The cost is -1 where transitions have no dynamic oracle.
std::vector<std::pair<std::int32_t, double>> dynamic_costs(ParsingTransitions transitions, const ParsingSetup& setup,
                                                           const std::vector<std::int32_t>& taken);

}  // namespace margent
