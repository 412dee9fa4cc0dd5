// Bindings of listed answers: features of aligned words, the oracle of candidates, and reranking.
#include "cosegments/reranking.hpp"

#include <algorithm>
#include <cmath>

#include "cosegments.hpp"
#include "learning/candidate_oracle.hpp"

using namespace margent;

namespace {

// The arrays of words, their candidates and how these are aligned.
struct CandidateArrays {
  const Graphones& inventory;
  Ptr letter_ptr;
  Ids letters;
  Ptr candidate_ptr, graphone_ptr;
  Ids graphones;
  Doubles scores;

  AlignedCandidates checked() const {
    check_ptr(letter_ptr, n_entries(letters), "letters");
    check_ptr(graphone_ptr, n_entries(graphones), "graphones");
    check_ptr(candidate_ptr, n_entries(graphone_ptr) - 1, "candidates");
    if (candidate_ptr.shape(0) != letter_ptr.shape(0)) throw nb::value_error("candidates for each word");
    if (scores.shape(0) + 1 != graphone_ptr.shape(0)) throw nb::value_error("a score for each candidate");
    check_ids(graphones, inventory.size(), "no such graphone");
    return {inventory,           n_entries(letter_ptr) - 1, letter_ptr.data(), letters.data(), candidate_ptr.data(),
            graphone_ptr.data(), graphones.data(),          scores.data()};
  }
};

// (feature_ptr, features, values) of all candidates.
auto features(const Graphones& inventory, Ptr letter_ptr, Ids letters, Ptr candidate_ptr, Ptr graphone_ptr,
              Ids graphones, Doubles scores, int bits, int threads) {
  const CandidateArrays arrays{inventory, letter_ptr, letters, candidate_ptr, graphone_ptr, graphones, scores};
  const AlignedCandidates candidates = arrays.checked();
  if (bits < 1 || bits > 30) throw nb::value_error("bits out of range");
  auto found = without_gil([&] { return candidate_features(candidates, bits, threads); });
  return std::make_tuple(to_numpy(std::move(found.ptr)), to_numpy(std::move(found.ids)),
                         to_numpy(std::move(found.values)));
}

Numpy<double> rerank(const Graphones& inventory, Ptr letter_ptr, Ids letters, Ptr candidate_ptr, Ptr graphone_ptr,
                     Ids graphones, Doubles scores, Floats weights, int threads) {
  const CandidateArrays arrays{inventory, letter_ptr, letters, candidate_ptr, graphone_ptr, graphones, scores};
  const AlignedCandidates candidates = arrays.checked();
  const int bits = checked_bits(weights.shape(0));
  auto found = without_gil([&] { return candidate_scores(candidates, weights.data(), bits, threads); });
  return to_numpy(std::move(found));
}

// Keeps the arrays alive that the oracle looks into.
class BoundCandidates {
 public:
  BoundCandidates(Ptr example_ptr, Ptr feature_ptr, Ids features, Floats values, Floats losses, Ids n_positions)
      : example_ptr_(example_ptr), feature_ptr_(feature_ptr), features_(features), n_positions_(n_positions),
        values_(values), losses_(losses) {
    check_ptr(example_ptr, n_entries(losses), "examples");
    check_ptr(feature_ptr, n_entries(features), "features");
    if (feature_ptr.shape(0) != losses.shape(0) + 1 || values.shape(0) != features.shape(0) ||
        n_positions.shape(0) + 1 != example_ptr.shape(0))
      throw nb::value_error("candidates: arrays of different lengths");
    for (std::size_t c = 0; c < losses.shape(0); ++c)
      if (!(losses.data()[c] >= 0)) throw nb::value_error("a loss must not be negative");
    for (std::size_t i = 0; i < features.shape(0); ++i) {
      if (features.data()[i] < 0) throw nb::value_error("a feature must not be negative");
      if (!std::isfinite(values.data()[i])) throw nb::value_error("a feature value must be finite");
      largest_ = std::max<std::int64_t>(largest_, features.data()[i]);
    }
    view_ = {n_entries(example_ptr) - 1,
             example_ptr.data(),
             feature_ptr.data(),
             features.data(),
             values.data(),
             losses.data(),
             n_positions.data()};
  }
  const Candidates& view() const { return view_; }
  std::int64_t largest() const { return largest_; }

 private:
  Ptr example_ptr_, feature_ptr_;
  Ids features_, n_positions_;
  Floats values_, losses_;
  Candidates view_;
  std::int64_t largest_ = -1;
};

}  // namespace

void bind_reranking(nb::module_& m) {
  m.def("candidate_features", &features, nb::arg("graphones"), nb::arg("letter_ptr"), nb::arg("letters"),
        nb::arg("candidate_ptr"), nb::arg("graphone_ptr"), nb::arg("alignments"), nb::arg("scores"), nb::arg("bits"),
        nb::arg("threads"), "(feature_ptr, features, values), without what all candidates of a word have in common");
  m.def("rerank", &rerank, nb::arg("graphones"), nb::arg("letter_ptr"), nb::arg("letters"), nb::arg("candidate_ptr"),
        nb::arg("graphone_ptr"), nb::arg("alignments"), nb::arg("scores"), nb::arg("weights"), nb::arg("threads"),
        "weights . features of each candidate, with the given score as feature 0");
  nb::class_<BoundCandidates>(m, "Candidates", "Listed answers; keeps the arrays it looks into alive.")
      .def(nb::init<Ptr, Ptr, Ids, Floats, Floats, Ids>(), nb::arg("example_ptr"), nb::arg("feature_ptr"),
           nb::arg("features"), nb::arg("values"), nb::arg("losses"), nb::arg("n_positions"));
  nb::class_<CandidateOracle, FlatOracle>(m, "CandidateOracle", "The oracle of listed answers.")
      .def_prop_ro_static("structure", [](nb::handle) { return "listed answers"; })
      .def(
          "__init__",
          [](CandidateOracle* self, const BoundCandidates& bound, std::int64_t n_features) {
            if (n_features <= bound.largest()) throw nb::value_error("n_features: a feature is larger");
            new (self) CandidateOracle(bound.view(), n_features);
          },
          nb::keep_alive<1, 2>(), nb::arg("candidates"), nb::arg("n_features"));
}
