// The oracles of a transition-based parser: under beam search, and greedy, with a dynamic oracle and exploration.
#pragma once
#include <cstdint>
#include <memory>

#include "learning/row_oracle.hpp"
#include "parsing/parsing_system.hpp"
#include "transitions/beam_likelihood.hpp"
#include "transitions/beam_oracle.hpp"

namespace margent {

enum class ParsingTransitions { arc_standard, arc_hybrid, arc_eager, swap };

// What trees may be made of, for both oracles and for the parser.
struct ParsingSetup {
  Treebank treebank;
  const ParserTemplates* templates = nullptr;
  const ParserActions* actions = nullptr;
  ParsingOptions options;
};

// Learns with the search that will parse (paper 003, chapter 3). Where several derivations lead to the right tree,
// which one is right is latent: it is the best that a forced search finds.
template <class T>
class ParsingOracle final : public BeamOracle<ParsingSystem<T, HashedRows>, RowOracle> {
  using System = ParsingSystem<T, HashedRows>;
  using Base = BeamOracle<System, RowOracle>;

 public:
  ParsingOracle(const ParsingSetup& setup, std::int64_t beam, BeamUpdate update)
      : Base(setup.actions->size(), beam, update, setup.treebank, *setup.templates, *setup.actions, setup.options) {}

  // The features of the first searches become parameters; others join as they are met.
  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int) override {
    Reply answer;
    SparseVector delta;
    for (std::int64_t i = 0; i < this->size(); ++i) {
      this->ask(i, {1, 0}, answer);
      for (std::size_t rival = 0; rival < answer.rivals.size(); ++rival) {
        this->delta(rival, delta);
        this->drop_unknown(delta);
      }
    }
    this->grow_to_met();
    return std::make_unique<Sums>(*this, options.beam);
  }

 private:
  class Sums final : public BeamLikelihood<System, RowOracle> {
   public:
    using BeamLikelihood<System, RowOracle>::BeamLikelihood;
    bool widens() const override { return true; }
  };
};

std::unique_ptr<RowOracle> parsing_oracle(ParsingTransitions transitions, const ParsingSetup& setup, std::int64_t beam,
                                          BeamUpdate update);

struct Exploration {
  double probability = 0.9;  // of going on with the action that scores best, where it is wrong
  std::uint64_t seed = 0;
};

// Learns decisions, one after the other, along a derivation that makes mistakes (Goldberg and Nivre 2012, 2013). See
// exploring_oracle.hpp. For arc-hybrid and arc-eager.
class DecisionOracle : public RowOracle {
 public:
  using RowOracle::RowOracle;
};
std::unique_ptr<DecisionOracle> exploring_oracle(ParsingTransitions transitions, const ParsingSetup& setup,
                                                 const Exploration& exploration);

}  // namespace margent
