// The oracle of words and their right pronunciations, under beam search: the latent perceptron for co-segments.
#pragma once
#include <cstdint>

#include "cosegments/cosegment_search.hpp"
#include "transitions/beam_oracle.hpp"

namespace margent {

// How a word is aligned is not known, so the right side is found by forced search. Where the beam's best whole answer
// is wrong, `update` chooses the number of letters up to which the best in the beam and the best that is right are
// compared. A word is left out where all that is right lies beyond the threshold of the search: what cannot be found
// would be moved towards for ever.
class CosegmentOracle final : public BeamOracle<CosegmentSystem<double>> {
 public:
  CosegmentOracle(const Graphones& graphones, const TranscriptionExamples& examples, int bits,
                  const CosegmentSearchOptions& options, BeamUpdate update)
      : BeamOracle((std::int64_t{1} << bits) + 1, options.beam, update, graphones, bits, options, &examples_),
        examples_(examples) {}

  const Graphones& graphones() const { return system().graphones(); }
  const TranscriptionExamples& examples() const { return examples_; }
  std::unique_ptr<Likelihood> likelihood(const LikelihoodOptions& options, int threads) override;

 private:
  TranscriptionExamples examples_;
};

}  // namespace margent
