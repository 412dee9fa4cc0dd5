#include "parsing/parsing_oracle.hpp"

#include <stdexcept>

#include "parsing/exploring_oracle.hpp"

namespace margent {

std::unique_ptr<RowOracle> parsing_oracle(ParsingTransitions transitions, const ParsingSetup& setup, std::int64_t beam,
                                          BeamUpdate update) {
  switch (transitions) {
    case ParsingTransitions::arc_standard:
      return std::make_unique<ParsingOracle<ArcStandard>>(setup, beam, update);
    case ParsingTransitions::arc_hybrid:
      return std::make_unique<ParsingOracle<ArcHybrid>>(setup, beam, update);
    case ParsingTransitions::arc_eager:
      return std::make_unique<ParsingOracle<ArcEager>>(setup, beam, update);
    default:
      return std::make_unique<ParsingOracle<SwapStandard>>(setup, beam, update);
  }
}

std::unique_ptr<DecisionOracle> exploring_oracle(ParsingTransitions transitions, const ParsingSetup& setup,
                                                 const Exploration& exploration) {
  switch (transitions) {
    case ParsingTransitions::arc_hybrid:
      return std::make_unique<ExploringOracle<ArcHybrid>>(setup, exploration);
    case ParsingTransitions::arc_eager:
      return std::make_unique<ExploringOracle<ArcEager>>(setup, exploration);
    default:
      throw std::invalid_argument("these transitions have no dynamic oracle");
  }
}

}  // namespace margent
