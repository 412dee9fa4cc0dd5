// Bindings of co-segments: graphones, grams of them, sums over all alignments of a pair, and transcription.
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

template <class T, class... S>
std::vector<T> copied(const Array<T, S...>& a) {
  return {a.data(), a.data() + a.size()};
}

Graphones make_graphones(Ptr letter_ptr, Ids letters, Ptr phoneme_ptr, Ids phonemes) {
  check_ptr(letter_ptr, n_entries(letters), "letters of graphones");
  check_ptr(phoneme_ptr, n_entries(phonemes), "phonemes of graphones");
  if (letter_ptr.shape(0) != phoneme_ptr.shape(0)) throw nb::value_error("graphones: two sides each");
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
    if (a.empty() && b.empty()) throw nb::value_error("a graphone is empty on both sides");
    if (u == 0) continue;
    const Symbols c = side(letter_ptr, letters, u - 1), d = side(phoneme_ptr, phonemes, u - 1);
    if (!(less(c, a) || (!less(a, c) && less(d, b)))) throw nb::value_error("graphones must be sorted and different");
  }
  return Graphones(copied(letter_ptr), copied(letters), copied(phoneme_ptr), copied(phonemes));
}

Graphones discover(const BoundPairs& pairs, Array<std::int32_t, nb::ndim<2>> sizes) {
  std::vector<GraphoneSize> list;
  if (sizes.shape(1) != 2) throw nb::value_error("sizes: (letters, phonemes)");
  for (std::size_t i = 0; i < sizes.shape(0); ++i) {
    const GraphoneSize size{sizes.data()[2 * i], sizes.data()[2 * i + 1]};
    if (size.letters < 0 || size.phonemes < 0 || size.letters + size.phonemes == 0)
      throw nb::value_error("sizes out of range");
    list.push_back(size);
  }
  const WithoutGil released;
  return discover_graphones(pairs.view(), list);
}

auto graphone_arrays(const Graphones& graphones) {
  std::vector<std::int64_t> letter_ptr{0}, phoneme_ptr{0};
  std::vector<std::int32_t> letters, phonemes;
  for (std::int32_t u = 0; u < graphones.size(); ++u) {
    for (const std::int32_t x : graphones.letters(u)) letters.push_back(x);
    for (const std::int32_t y : graphones.phonemes(u)) phonemes.push_back(y);
    letter_ptr.push_back(static_cast<std::int64_t>(letters.size()));
    phoneme_ptr.push_back(static_cast<std::int64_t>(phonemes.size()));
  }
  return std::make_tuple(to_numpy(std::move(letter_ptr)), to_numpy(std::move(letters)),
                         to_numpy(std::move(phoneme_ptr)), to_numpy(std::move(phonemes)));
}

// (from, to, graphone) of all arcs.
Numpy<std::int32_t> lattice_arcs(const Graphones& graphones, const BoundPairs& pairs, std::int64_t s) {
  const SpellingPairs view = pairs.view();
  if (s < 0 || s >= view.size) throw nb::index_error("no such pair");
  CosegmentLattice lattice;
  build_lattice(graphones, view.word(s), view.pronunciation(s), lattice);
  std::vector<std::int32_t> out;
  for (const CosegmentLattice::Arc& arc : lattice.arcs) out.insert(out.end(), {arc.from, arc.to, arc.graphone});
  const std::size_t n = lattice.arcs.size();
  return to_numpy(std::move(out), {n, 3});
}

GramModel stored_model(std::int32_t n_graphones, Ids begin, Ids graphone, Ids suffix, Floats log_p, Floats backoff) {
  const std::size_t n = graphone.shape(0);
  const auto wrong = [](const char* what) { throw nb::value_error(what); };
  if (n == 0 || n > 0x7FFFFFF0u || begin.shape(0) != n + 1 || suffix.shape(0) != n || log_p.shape(0) != n ||
      backoff.shape(0) != n || n_graphones < 0)
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
      const std::int32_t u = graphone.data()[c], s = suffix.data()[c];
      if (u < 0 || u > n_graphones + 1 || (c > first && u <= graphone.data()[c - 1]))
        wrong("grams: graphones must be known and rise");
      if (s < 0 || s >= c || depth[s] != depth[c] - 1 || (s > 0 && graphone.data()[s] != u))
        wrong("grams: a suffix is wrong");
      const bool start = u == n_graphones + 1;
      if (start && g != 0) wrong("grams: the start stands first");
      if (!start && !(log_p.data()[c] <= 1e-3f && log_p.data()[c] > -1e30f)) wrong("grams: no log-probability");
    }
  }
  return GramModel(n_graphones, copied(begin), copied(graphone), copied(suffix), from_stored({log_p.data(), n}),
                   from_stored({backoff.data(), n}));
}

auto model_arrays(const GramModel& model) {
  return std::make_tuple(to_numpy(std::vector<std::int32_t>(model.begin())),
                         to_numpy(std::vector<std::int32_t>(model.graphone())),
                         to_numpy(std::vector<std::int32_t>(model.suffix())), to_numpy(model.stored_log_p()),
                         to_numpy(model.stored_backoff()));
}

auto expect(const Graphones& graphones, const GramModel& model, const BoundPairs& pairs, std::int64_t first,
            std::int64_t last, int order, std::int64_t beam, double prune_count, int threads, GramCounts* counts) {
  check_model(graphones, model);
  const SpellingPairs view = pairs.view();
  if (order < 1 || order > max_gram_order || beam < 0) throw nb::value_error("order or beam out of range");
  if (first < 0 || last < first || last > view.size) throw nb::index_error("no such pairs");
  auto result = without_gil(
      [&] { return expect_grams(graphones, model, view, first, last, order, beam, prune_count, threads, counts); });
  return std::make_tuple(result.log_likelihood, result.impossible);
}

auto align(const Graphones& graphones, const GramModel& model, const BoundPairs& pairs, std::int64_t beam, bool best,
           int threads) {
  check_model(graphones, model);
  if (beam < 0) throw nb::value_error("beam out of range");
  const SpellingPairs view = pairs.view();
  std::vector<double> scores(view.size);
  std::vector<std::vector<std::int32_t>> paths(best ? view.size : 0);
  without_gil(
      [&] { align_pairs(graphones, model, view, beam, best, threads, scores.data(), best ? &paths : nullptr); });
  return std::make_tuple(to_numpy(std::move(scores)), flat(paths));
}

auto transcriptions(const Graphones& graphones, const GramModel& model, const BoundPairs& words, int k,
                    std::int64_t beam, double threshold, bool sum_alignments, int insertions, int threads) {
  check_model(graphones, model);
  if (k < 1 || beam < 0 || !(threshold >= 0) || insertions < 0 || insertions > 1000)
    throw nb::value_error("options out of range");
  std::vector<std::vector<Transcription>> found;
  without_gil([&] {
    transcribe(graphones, model, words.view(), {k, beam, threshold, sum_alignments, insertions}, threads, found);
  });
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
  const WithoutGil released;
  model.estimate(list);
}

}  // namespace

void bind_cosegments(nb::module_& m) {
  nb::class_<BoundPairs>(m, "SpellingPairs",
                         "Words and pronunciations as numbers; keeps the arrays it looks into alive.")
      .def(nb::init<Ptr, Ids, Ptr, Ids>(), nb::arg("letter_ptr"), nb::arg("letters"), nb::arg("phoneme_ptr"),
           nb::arg("phonemes"))
      .def("__len__", [](const BoundPairs& pairs) { return pairs.view().size; });
  nb::class_<Graphones>(m, "Graphones", "Graphones of letters and phonemes.")
      .def_static("of", &make_graphones, nb::arg("letter_ptr"), nb::arg("letters"), nb::arg("phoneme_ptr"),
                  nb::arg("phonemes"))
      .def_static("discovered", &discover, nb::arg("pairs"), nb::arg("sizes"))
      .def("__len__", &Graphones::size)
      .def("arrays", &graphone_arrays)
      .def("arcs", &lattice_arcs, nb::arg("pairs"), nb::arg("pair"));
  nb::class_<GramCounts>(m, "GramCounts", "Counts of grams of graphones.")
      .def(nb::init<>())
      .def(
          "add",
          [](GramCounts& counts, const std::vector<std::int32_t>& gram, double count) {
            if (gram.empty() || gram.size() > max_gram_order) throw nb::value_error("a gram of a length out of range");
            for (const std::int32_t graphone : gram)
              if (graphone < 0) throw nb::value_error("a graphone must not be negative");
            counts.add(gram, count);
          },
          nb::arg("gram"), nb::arg("count"))
      .def("__len__", &GramCounts::size);
  nb::class_<GramModel>(m, "GramModel", "Smoothed probabilities of grams of graphones.")
      .def_static(
          "of",
          [](const GramCounts& counts, std::int32_t n_graphones) {
            const WithoutGil released;
            return GramModel(counts, n_graphones);
          },
          nb::arg("counts"), nb::arg("n_graphones"))
      .def_static("stored", &stored_model, nb::arg("n_graphones"), nb::arg("begin"), nb::arg("graphone"),
                  nb::arg("suffix"), nb::arg("log_p"), nb::arg("backoff"))
      .def("estimate", &estimate, nb::arg("discounts"))
      .def("trimmed", &GramModel::trimmed)
      .def("arrays", &model_arrays)
      .def("counts", [](const GramModel& model) { return to_numpy(std::vector<double>(model.count())); })
      .def("graphones", [](const GramModel& model) { return to_numpy(std::vector<std::int32_t>(model.graphone())); })
      .def("levels", [](const GramModel& model) { return to_numpy(std::vector<std::int32_t>(model.levels())); })
      .def_prop_ro("order", &GramModel::order)
      .def("__len__", &GramModel::size)
      .def(
          "log_probability",
          [](const GramModel& model, const std::vector<std::int32_t>& history, std::int32_t graphone) {
            for (const std::int32_t u : history)
              if (u < 0 || u > model.n_graphones() + 1) throw nb::value_error("no such graphone");
            if (graphone < 0 || graphone > model.n_graphones()) throw nb::value_error("no such graphone");
            return model.log_probability(history, graphone);
          },
          nb::arg("history"), nb::arg("graphone"));
  m.def("expect_grams", &expect, nb::arg("graphones"), nb::arg("model"), nb::arg("pairs"), nb::arg("first"),
        nb::arg("last"), nb::arg("order"), nb::arg("beam"), nb::arg("prune_count"), nb::arg("threads"),
        nb::arg("counts").none());
  m.def("align_pairs", &align, nb::arg("graphones"), nb::arg("model"), nb::arg("pairs"), nb::arg("beam"),
        nb::arg("best"), nb::arg("threads"));
  m.def("transcribe", &transcriptions, nb::arg("graphones"), nb::arg("model"), nb::arg("words"), nb::arg("k"),
        nb::arg("beam"), nb::arg("threshold"), nb::arg("sum_alignments"), nb::arg("insertions"), nb::arg("threads"));
}
