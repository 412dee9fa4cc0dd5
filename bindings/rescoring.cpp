// Bindings of listed answers: features of cut words, the oracle of candidates, and rescoring.
#include <algorithm>
#include <cmath>
#include <optional>

#include "cosegments/cosegment_features.hpp"
#include "cosegments/cosegments.hpp"
#include "examples.hpp"
#include "learning/candidate_oracle.hpp"
#include "parallel.hpp"

using namespace margent;

namespace {

using Ids = Array<std::int32_t, nb::ndim<1>>;
using Ptr = Array<std::int64_t, nb::ndim<1>>;
using Floats = Array<float, nb::ndim<1>>;
using Doubles = Array<double, nb::ndim<1>>;

// Words, their candidates and the units of these; what native code needs is checked.
struct CutWords {
  const CosegmentUnits& units;
  Ptr letter_ptr;
  Ids letters;
  Ptr candidate_ptr, unit_ptr;
  Ids cuts;

  std::int64_t size() const { return static_cast<std::int64_t>(letter_ptr.shape(0)) - 1; }
  void check() const {
    check_ptr(letter_ptr, static_cast<std::int64_t>(letters.shape(0)), "letters");
    check_ptr(unit_ptr, static_cast<std::int64_t>(cuts.shape(0)), "units of cuts");
    check_ptr(candidate_ptr, static_cast<std::int64_t>(unit_ptr.shape(0)) - 1, "candidates");
    if (candidate_ptr.shape(0) != letter_ptr.shape(0)) throw nb::value_error("candidates for each word");
    for (std::size_t i = 0; i < cuts.shape(0); ++i)
      if (cuts.data()[i] < 0 || cuts.data()[i] >= units.size()) throw nb::value_error("no such unit");
  }
  Symbols word(std::int64_t s) const {
    return {letters.data() + letter_ptr.data()[s], letters.data() + letter_ptr.data()[s + 1]};
  }
  Symbols cut(std::int64_t c) const { return {cuts.data() + unit_ptr.data()[c], cuts.data() + unit_ptr.data()[c + 1]}; }
};

void check_bits(int bits) {
  if (bits < 1 || bits > 30) throw nb::value_error("bits out of range");
}

// (feature_ptr, features, values) of all candidates, without what those of a word have in common.
auto features(const CosegmentUnits& units, Ptr letter_ptr, Ids letters, Ptr candidate_ptr, Ptr unit_ptr, Ids cuts,
              Doubles scores, int bits, int threads) {
  const CutWords words{units, letter_ptr, letters, candidate_ptr, unit_ptr, cuts};
  words.check();
  check_bits(bits);
  if (scores.shape(0) + 1 != unit_ptr.shape(0)) throw nb::value_error("a score for each candidate");
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> ids;
  std::vector<float> values;
  {
    nb::gil_scoped_release release;
    constexpr std::int64_t chunk = 1024;
    const std::int64_t n_chunks = (words.size() + chunk - 1) / chunk;
    std::vector<std::vector<CountedFeatures>> found(n_chunks);
    parallel(n_chunks, threads, [&](std::size_t, std::int64_t part) {
      std::vector<CountedFeatures> lists;
      for (std::int64_t s = part * chunk; s < std::min(words.size(), (part + 1) * chunk); ++s) {
        const std::int64_t begin = candidate_ptr.data()[s], end = candidate_ptr.data()[s + 1];
        lists.resize(end - begin);
        for (std::int64_t c = begin; c < end; ++c)
          cosegment_features(units, words.word(s), words.cut(c), bits, lists[c - begin]);
        remove_common(lists);
        for (CountedFeatures& list : lists) found[part].push_back(list);
      }
    });
    std::size_t c = 0;
    for (const auto& part : found)
      for (const CountedFeatures& list : part) {
        ids.push_back(0);
        values.push_back(static_cast<float>(scores.data()[c++]));
        for (const auto& [id, value] : list) {
          ids.push_back(id);
          values.push_back(value);
        }
        ptr.push_back(static_cast<std::int64_t>(ids.size()));
      }
  }
  return std::make_tuple(to_numpy(std::move(ptr)), to_numpy(std::move(ids)), to_numpy(std::move(values)));
}

// The scores of candidates: weights . features, with the given score as feature 0.
Numpy<double> rescore(const CosegmentUnits& units, Ptr letter_ptr, Ids letters, Ptr candidate_ptr, Ptr unit_ptr,
                      Ids cuts, Doubles scores, Floats weights, int threads) {
  const CutWords words{units, letter_ptr, letters, candidate_ptr, unit_ptr, cuts};
  words.check();
  int bits = 0;
  while (bits < 30 && (std::size_t{1} << bits) + 1 < weights.shape(0)) ++bits;
  if (bits < 1 || (std::size_t{1} << bits) + 1 != weights.shape(0)) throw nb::value_error("2^bits + 1 weights");
  if (scores.shape(0) + 1 != unit_ptr.shape(0)) throw nb::value_error("a score for each candidate");
  std::vector<double> out(scores.shape(0));
  {
    nb::gil_scoped_release release;
    parallel(words.size(), threads, [&](std::size_t, std::int64_t s) {
      thread_local CountedFeatures list;
      for (std::int64_t c = candidate_ptr.data()[s]; c < candidate_ptr.data()[s + 1]; ++c) {
        cosegment_features(units, words.word(s), words.cut(c), bits, list);
        double sum = weights.data()[0] * scores.data()[c];
        for (const auto& [id, value] : list) sum += weights.data()[id] * value;
        out[c] = sum;
      }
    });
  }
  return to_numpy(std::move(out));
}

// Keeps the arrays alive that the oracle looks into.
class BoundCandidates {
 public:
  BoundCandidates(Ptr example_ptr, Ptr feature_ptr, Ids features, Floats values, Floats losses, Ids n_positions)
      : example_ptr_(example_ptr), feature_ptr_(feature_ptr), features_(features), n_positions_(n_positions),
        values_(values), losses_(losses) {
    check_ptr(example_ptr, static_cast<std::int64_t>(losses.shape(0)), "examples");
    check_ptr(feature_ptr, static_cast<std::int64_t>(features.shape(0)), "features");
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
    view_ = {static_cast<std::int64_t>(example_ptr.shape(0)) - 1,
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

void bind_rescoring(nb::module_& m) {
  m.def("cosegment_features", &features, nb::arg("units"), nb::arg("letter_ptr"), nb::arg("letters"),
        nb::arg("candidate_ptr"), nb::arg("unit_ptr"), nb::arg("cuts"), nb::arg("scores"), nb::arg("bits"),
        nb::arg("threads"));
  m.def("rescore", &rescore, nb::arg("units"), nb::arg("letter_ptr"), nb::arg("letters"), nb::arg("candidate_ptr"),
        nb::arg("unit_ptr"), nb::arg("cuts"), nb::arg("scores"), nb::arg("weights"), nb::arg("threads"));
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
