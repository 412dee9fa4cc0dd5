// Bindings of co-segments: units, grams of them, sums over all ways to cut a pair, and transcription.
#include "cosegments.hpp"

#include <cmath>
#include <optional>

#include "cosegments/cosegment_sums.hpp"
#include "cosegments/cosegments.hpp"
#include "cosegments/gram_model.hpp"
#include "cosegments/transcription.hpp"
#include "forest/semiring.hpp"

using namespace margent;

namespace {

using Ids = Array<std::int32_t, nb::ndim<1>>;
using Ptr = Array<std::int64_t, nb::ndim<1>>;
using Doubles = Array<double, nb::ndim<1>>;

template <class T, class... S>
std::vector<T> copied(const Array<T, S...>& a) {
  return {a.data(), a.data() + a.size()};
}

CosegmentUnits make_units(Ptr letter_ptr, Ids letters, Ptr phoneme_ptr, Ids phonemes) {
  check_ptr(letter_ptr, static_cast<std::int64_t>(letters.shape(0)), "letters of units");
  check_ptr(phoneme_ptr, static_cast<std::int64_t>(phonemes.shape(0)), "phonemes of units");
  if (letter_ptr.shape(0) != phoneme_ptr.shape(0)) throw nb::value_error("units: two sides each");
  check_symbols(letters, "letters must not be negative");
  check_symbols(phonemes, "phonemes must not be negative");
  const auto side = [](const Ptr& ptr, const Ids& ids, std::size_t u) {
    return Symbols(ids.data() + ptr.data()[u], ids.data() + ptr.data()[u + 1]);
  };
  const auto less = [](Symbols a, Symbols b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  };
  for (std::size_t u = 0; u + 1 < letter_ptr.shape(0); ++u) {
    const Symbols a = side(letter_ptr, letters, u), b = side(phoneme_ptr, phonemes, u);
    if (a.empty() && b.empty()) throw nb::value_error("a unit is empty on both sides");
    if (u == 0) continue;
    const Symbols c = side(letter_ptr, letters, u - 1), d = side(phoneme_ptr, phonemes, u - 1);
    if (!(less(c, a) || (!less(a, c) && less(d, b)))) throw nb::value_error("units must be sorted and different");
  }
  return CosegmentUnits(copied(letter_ptr), copied(letters), copied(phoneme_ptr), copied(phonemes));
}

CosegmentUnits discover(const BoundPairs& pairs, Array<std::int32_t, nb::ndim<2>> sizes) {
  std::vector<UnitSize> list;
  if (sizes.shape(1) != 2) throw nb::value_error("sizes: (letters, phonemes)");
  for (std::size_t i = 0; i < sizes.shape(0); ++i) {
    const UnitSize size{sizes.data()[2 * i], sizes.data()[2 * i + 1]};
    if (size.letters < 0 || size.phonemes < 0 || size.letters + size.phonemes == 0)
      throw nb::value_error("sizes out of range");
    list.push_back(size);
  }
  nb::gil_scoped_release release;
  return discover_units(pairs.view(), list);
}

auto unit_arrays(const CosegmentUnits& units) {
  std::vector<std::int64_t> letter_ptr{0}, phoneme_ptr{0};
  std::vector<std::int32_t> letters, phonemes;
  for (std::int32_t u = 0; u < units.size(); ++u) {
    for (const std::int32_t x : units.letters(u)) letters.push_back(x);
    for (const std::int32_t y : units.phonemes(u)) phonemes.push_back(y);
    letter_ptr.push_back(static_cast<std::int64_t>(letters.size()));
    phoneme_ptr.push_back(static_cast<std::int64_t>(phonemes.size()));
  }
  return std::make_tuple(to_numpy(std::move(letter_ptr)), to_numpy(std::move(letters)),
                         to_numpy(std::move(phoneme_ptr)), to_numpy(std::move(phonemes)));
}

// (from, to, unit) of all arcs.
Numpy<std::int32_t> lattice_arcs(const CosegmentUnits& units, const BoundPairs& pairs, std::int64_t s) {
  const SpellingPairs view = pairs.view();
  if (s < 0 || s >= view.size) throw nb::index_error("no such pair");
  CosegmentLattice lattice;
  build_lattice(units, view.word(s), view.pronunciation(s), lattice);
  std::vector<std::int32_t> out;
  for (const CosegmentLattice::Arc& arc : lattice.arcs) out.insert(out.end(), {arc.from, arc.to, arc.unit});
  const std::size_t n = lattice.arcs.size();
  return to_numpy(std::move(out), {n, 3});
}

GramModel stored_model(std::int32_t n_units, Ids begin, Ids unit, Ids suffix, Array<float, nb::ndim<1>> log_p,
                       Array<float, nb::ndim<1>> backoff) {
  const std::size_t n = unit.shape(0);
  const auto wrong = [](const char* what) { throw nb::value_error(what); };
  if (n == 0 || n > 0x7FFFFFF0u || begin.shape(0) != n + 1 || suffix.shape(0) != n || log_p.shape(0) != n ||
      backoff.shape(0) != n || n_units < 0)
    wrong("grams: arrays of different lengths");
  if (begin.data()[0] != 1 || begin.data()[n] != static_cast<std::int32_t>(n) || suffix.data()[0] != 0)
    wrong("grams: a tree is expected");
  std::vector<std::int32_t> depth(n, 0);
  for (std::size_t g = 0; g < n; ++g) {
    const std::int32_t first = begin.data()[g], last = begin.data()[g + 1];
    if (first > last || first <= static_cast<std::int32_t>(g) || last > static_cast<std::int32_t>(n))
      wrong("grams: a tree is expected");
    if (!std::isfinite(backoff.data()[g]) || backoff.data()[g] > 1e-3f) wrong("grams: a backoff is no log-probability");
    for (std::int32_t c = first; c < last; ++c) {
      depth[c] = depth[g] + 1;
      if (depth[c] > max_gram_order) wrong("grams: longer than any may be");
      const std::int32_t u = unit.data()[c], s = suffix.data()[c];
      if (u < 0 || u > n_units + 1 || (c > first && u <= unit.data()[c - 1]))
        wrong("grams: units must be known and rise");
      if (s < 0 || s >= c || depth[s] != depth[c] - 1 || (s > 0 && unit.data()[s] != u))
        wrong("grams: a suffix is wrong");
      const bool start = u == n_units + 1;
      if (start && g != 0) wrong("grams: the start stands first");
      if (!start && !(log_p.data()[c] <= 1e-3f && log_p.data()[c] > -1e30f)) wrong("grams: no log-probability");
    }
  }
  const auto values = [n](const Array<float, nb::ndim<1>>& stored) {
    std::vector<double> out(stored.data(), stored.data() + n);
    for (double& value : out)
      if (value <= stored_log_zero / 2) value = log_zero;
    return out;
  };
  return GramModel(n_units, copied(begin), copied(unit), copied(suffix), values(log_p), values(backoff));
}

auto model_arrays(const GramModel& model) {
  const auto values = [](const std::vector<double>& given) {
    std::vector<float> out(given.size());
    for (std::size_t g = 0; g < given.size(); ++g) out[g] = static_cast<float>(std::max(given[g], stored_log_zero));
    return out;
  };
  std::vector<float> log_p = values(model.log_p()), backoff = values(model.backoff());
  for (std::size_t g = 0; g < log_p.size(); ++g)
    if (g == 0 || model.unit()[g] == model.n_units() + 1) log_p[g] = 0;  // nothing asks for them
  return std::make_tuple(
      to_numpy(std::vector<std::int32_t>(model.begin())), to_numpy(std::vector<std::int32_t>(model.unit())),
      to_numpy(std::vector<std::int32_t>(model.suffix())), to_numpy(std::move(log_p)), to_numpy(std::move(backoff)));
}

auto expect(const CosegmentUnits& units, const GramModel& model, const BoundPairs& pairs, std::int64_t first,
            std::int64_t last, int order, std::int64_t beam, double least, int threads, GramCounts* counts) {
  check_model(units, model);
  const SpellingPairs view = pairs.view();
  if (order < 1 || order > max_gram_order || beam < 0) throw nb::value_error("order or beam out of range");
  if (first < 0 || last < first || last > view.size) throw nb::index_error("no such pairs");
  GramExpectation result;
  {
    nb::gil_scoped_release release;
    result = expect_grams(units, model, view, first, last, order, beam, least, threads, counts);
  }
  return std::make_tuple(result.log_likelihood, result.impossible);
}

auto cut(const CosegmentUnits& units, const GramModel& model, const BoundPairs& pairs, std::int64_t beam, bool best,
         int threads) {
  check_model(units, model);
  if (beam < 0) throw nb::value_error("beam out of range");
  const SpellingPairs view = pairs.view();
  std::vector<double> scores(view.size);
  std::vector<std::vector<std::int32_t>> paths(best ? view.size : 0);
  {
    nb::gil_scoped_release release;
    cut_pairs(units, model, view, beam, best, threads, scores.data(), best ? &paths : nullptr);
  }
  return std::make_tuple(to_numpy(std::move(scores)), flat(paths));
}

auto transcriptions(const CosegmentUnits& units, const GramModel& model, const BoundPairs& words, int k,
                    std::int64_t beam, double threshold, bool summed, int insertions, int threads) {
  check_model(units, model);
  if (k < 1 || beam < 0 || !(threshold >= 0) || insertions < 0 || insertions > 1000)
    throw nb::value_error("options out of range");
  std::vector<std::vector<Transcription>> found;
  {
    nb::gil_scoped_release release;
    transcribe(units, model, words.view(), {k, beam, threshold, summed, insertions}, threads, found);
  }
  return listed(std::move(found));
}

void estimate(GramModel& model, Array<double, nb::ndim<2>> discounts) {
  if (discounts.shape(1) != 3) throw nb::value_error("discounts: three numbers for each level");
  std::vector<Discounts> list;
  for (std::size_t k = 0; k < discounts.shape(0); ++k) {
    list.push_back({discounts.data()[3 * k], discounts.data()[3 * k + 1], discounts.data()[3 * k + 2]});
    for (const double d : list.back())
      if (!(d >= 0)) throw nb::value_error("discounts must not be negative");
  }
  nb::gil_scoped_release release;
  model.estimate(list);
}

}  // namespace

void bind_cosegments(nb::module_& m) {
  nb::class_<BoundPairs>(m, "SpellingPairs",
                         "Words and pronunciations as numbers; keeps the arrays it looks into alive.")
      .def(nb::init<Ptr, Ids, Ptr, Ids>(), nb::arg("letter_ptr"), nb::arg("letters"), nb::arg("phoneme_ptr"),
           nb::arg("phonemes"))
      .def("__len__", [](const BoundPairs& pairs) { return pairs.view().size; });
  nb::class_<CosegmentUnits>(m, "CosegmentUnits", "Units of letters and phonemes.")
      .def_static("of", &make_units, nb::arg("letter_ptr"), nb::arg("letters"), nb::arg("phoneme_ptr"),
                  nb::arg("phonemes"))
      .def_static("discovered", &discover, nb::arg("pairs"), nb::arg("sizes"))
      .def("__len__", &CosegmentUnits::size)
      .def("arrays", &unit_arrays)
      .def("arcs", &lattice_arcs, nb::arg("pairs"), nb::arg("pair"));
  nb::class_<GramCounts>(m, "GramCounts", "Counts of grams of units.")
      .def(nb::init<>())
      .def(
          "add",
          [](GramCounts& counts, const std::vector<std::int32_t>& gram, double count) {
            if (gram.empty() || gram.size() > max_gram_order) throw nb::value_error("a gram of a length out of range");
            for (const std::int32_t unit : gram)
              if (unit < 0) throw nb::value_error("a unit must not be negative");
            counts.add(gram, count);
          },
          nb::arg("gram"), nb::arg("count"))
      .def("__len__", &GramCounts::size);
  nb::class_<GramModel>(m, "GramModel", "Smoothed probabilities of grams of units.")
      .def_static(
          "of",
          [](const GramCounts& counts, std::int32_t n_units) {
            nb::gil_scoped_release release;
            return GramModel(counts, n_units);
          },
          nb::arg("counts"), nb::arg("n_units"))
      .def_static("stored", &stored_model, nb::arg("n_units"), nb::arg("begin"), nb::arg("unit"), nb::arg("suffix"),
                  nb::arg("log_p"), nb::arg("backoff"))
      .def("estimate", &estimate, nb::arg("discounts"))
      .def("trimmed", &GramModel::trimmed)
      .def("arrays", &model_arrays)
      .def("counts", [](const GramModel& model) { return to_numpy(std::vector<double>(model.count())); })
      .def("units", [](const GramModel& model) { return to_numpy(std::vector<std::int32_t>(model.unit())); })
      .def("levels", [](const GramModel& model) { return to_numpy(std::vector<std::int32_t>(model.levels())); })
      .def_prop_ro("order", &GramModel::order)
      .def("__len__", &GramModel::size)
      .def(
          "log_probability",
          [](const GramModel& model, const std::vector<std::int32_t>& history, std::int32_t unit) {
            for (const std::int32_t u : history)
              if (u < 0 || u > model.n_units() + 1) throw nb::value_error("no such unit");
            if (unit < 0 || unit > model.n_units()) throw nb::value_error("no such unit");
            std::int32_t context = 0, next = 0;
            for (const std::int32_t u : history) {
              model.step(context, u, &next);
              context = next;
            }
            return model.step(context, unit, &next);
          },
          nb::arg("history"), nb::arg("unit"));
  m.def("expect_grams", &expect, nb::arg("units"), nb::arg("model"), nb::arg("pairs"), nb::arg("first"),
        nb::arg("last"), nb::arg("order"), nb::arg("beam"), nb::arg("least"), nb::arg("threads"),
        nb::arg("counts").none());
  m.def("cut_pairs", &cut, nb::arg("units"), nb::arg("model"), nb::arg("pairs"), nb::arg("beam"), nb::arg("best"),
        nb::arg("threads"));
  m.def("transcribe", &transcriptions, nb::arg("units"), nb::arg("model"), nb::arg("words"), nb::arg("k"),
        nb::arg("beam"), nb::arg("threshold"), nb::arg("summed"), nb::arg("insertions"), nb::arg("threads"));
}
