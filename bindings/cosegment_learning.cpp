// Bindings of the search for alignments by learned weights, and of the oracle that it is learned with.
#include "cosegments.hpp"
#include "cosegments/cosegment_oracle.hpp"
#include "cosegments/cosegment_search.hpp"

using namespace margent;

namespace {

CosegmentSearchOptions checked_options(std::int64_t beam, double threshold, int insertions) {
  if (beam < 0 || !(threshold >= 0) || insertions < 0 || insertions > 1000)
    throw nb::value_error("options out of range");
  return {beam, threshold, insertions};
}

auto search(const Graphones& graphones, const GramModel& model, const BoundPairs& words, Floats weights, int k,
            std::int64_t beam, double threshold, int insertions, int threads) {
  check_model(graphones, model);
  const CosegmentSearchOptions options = checked_options(beam, threshold, insertions);
  if (k < 1) throw nb::value_error("k out of range");
  const int bits = checked_bits(weights.shape(0));
  std::vector<std::vector<Transcription>> found;
  without_gil([&] {
    search_words(graphones, model, {weights.data(), n_entries(weights)}, bits, words.view(), options, k, threads,
                 found);
  });
  return listed(std::move(found));
}

// Keeps the arrays alive that the oracle looks into.
class BoundWords {
 public:
  BoundWords(const BoundPairs& pairs, Ptr example_ptr, Ids fold, nb::tuple models)
      : example_ptr_(example_ptr), fold_(fold) {
    const SpellingPairs view = pairs.view();
    check_ptr(example_ptr, view.size, "examples");
    const std::size_t n = example_ptr.shape(0) - 1;
    if (fold.shape(0) != n) throw nb::value_error("a fold for each example");
    for (nb::handle model : models) examples_.models.push_back(nb::cast<const GramModel*>(model));
    for (std::size_t i = 0; i < n; ++i) {
      if (example_ptr.data()[i] == example_ptr.data()[i + 1]) throw nb::value_error("an example without a pair");
      if (fold.data()[i] < 0 || static_cast<std::size_t>(fold.data()[i]) >= examples_.models.size())
        throw nb::value_error("no such fold");
    }
    examples_.pairs = view;
    examples_.size = static_cast<std::int64_t>(n);
    examples_.example_ptr = example_ptr.data();
    examples_.fold = fold.data();
  }
  const TranscriptionExamples& view() const { return examples_; }

 private:
  Ptr example_ptr_;
  Ids fold_;
  TranscriptionExamples examples_;
};

}  // namespace

void bind_cosegment_learning(nb::module_& m) {
  m.def("search_words", &search, nb::arg("graphones"), nb::arg("model"), nb::arg("words"), nb::arg("weights"),
        nb::arg("k"), nb::arg("beam"), nb::arg("threshold"), nb::arg("insertions"), nb::arg("threads"));
  nb::class_<BoundWords>(m, "TranscriptionExamples",
                         "Words, their right pronunciations, and a joint model for each fold of them.")
      .def(nb::init<const BoundPairs&, Ptr, Ids, nb::tuple>(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 5>(),
           nb::arg("pairs"), nb::arg("example_ptr"), nb::arg("fold"), nb::arg("models"));
  nb::class_<CosegmentOracle, FlatOracle>(m, "CosegmentOracle",
                                          "The oracle of words under beam search; how they are aligned is latent.")
      .def_prop_ro_static("structure", [](nb::handle) { return "co-segments"; })
      .def(
          "__init__",
          [](CosegmentOracle* self, const Graphones& graphones, const BoundWords& words, int bits, std::int64_t beam,
             double threshold, int insertions, BeamUpdate update) {
            for (const GramModel* model : words.view().models) check_model(graphones, *model);
            if (bits < 1 || bits > 30) throw nb::value_error("bits out of range");
            new (self)
                CosegmentOracle(graphones, words.view(), bits, checked_options(beam, threshold, insertions), update);
          },
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::arg("graphones"), nb::arg("words"), nb::arg("bits"),
          nb::arg("beam"), nb::arg("threshold"), nb::arg("insertions"), nb::arg("update"));
}
