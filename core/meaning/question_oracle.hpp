// The oracle of a parser of questions: derivations are latent, and only their meanings are right or wrong.
#pragma once
#include <memory>

#include "learning/row_oracle.hpp"
#include "meaning/question_system.hpp"
#include "transitions/beam_likelihood.hpp"
#include "transitions/beam_oracle.hpp"

namespace margent {

class QuestionOracle final : public BeamOracle<QuestionSystem<HashedRows>, RowOracle> {
  using System = QuestionSystem<HashedRows>;
  using Base = BeamOracle<System, RowOracle>;

 public:
  QuestionOracle(const QuestionSetup& setup, std::int64_t beam, BeamUpdate update) : Base(1, beam, update, setup) {}

  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int) override {
    learn_features();
    return std::make_unique<Sums>(*this, options.beam);
  }

 private:
  class Sums final : public BeamLikelihood<System, RowOracle> {
   public:
    using BeamLikelihood<System, RowOracle>::BeamLikelihood;
    bool widens() const override { return true; }
  };
  void learn_features() {
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
  }
};

}  // namespace margent
