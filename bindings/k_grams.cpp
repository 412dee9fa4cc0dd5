// Binding of the search by k-gram scores. The arrays were checked by margent.structures.k_gram_search.
#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "chain/k_gram_search.hpp"

namespace {

using namespace margent;

auto search(int order, std::int64_t n_symbols, Ptr candidate_ptr, Ids candidates,
            Array<std::int32_t, nb::ndim<2>> contexts, Ids tokens, Ptr sequence_ptr,
            std::vector<std::pair<int, Doubles>> tables, Ids gold, int threads) {
  if (order < 2 || contexts.shape(1) != static_cast<std::size_t>(order) || sequence_ptr.size() == 0 ||
      static_cast<std::size_t>(sequence_ptr.data()[sequence_ptr.size() - 1]) != tokens.size() ||
      (gold.size() != 0 && gold.size() != tokens.size()))
    throw nb::value_error("the arrays of a search by k-grams disagree in length");
  std::vector<GramScores> scores;
  for (const auto& [length, values] : tables) {
    std::size_t size = 1;
    for (int l = 0; l < length; ++l) size *= static_cast<std::size_t>(n_symbols);
    if (length < 1 || length > order || values.size() != size)
      throw nb::value_error("a table of k-gram scores has a wrong length");
    scores.push_back({length, values.data()});
  }
  const KGramLayout layout{
      order,        n_symbols,         view(candidate_ptr), view(candidates), {contexts.data(), contexts.size()},
      view(tokens), view(sequence_ptr)};
  std::vector<double> best(sequence_ptr.size() - 1);
  std::vector<std::int32_t> symbols(tokens.size());
  without_gil([&] { k_gram_search(layout, scores, view(gold), threads, best.data(), symbols.data()); });
  return std::make_tuple(to_numpy(std::move(best)), to_numpy(std::move(symbols)));
}

}  // namespace

void bind_k_grams(nb::module_& m) {
  m.def("k_gram_search", &search, nb::arg("order"), nb::arg("n_symbols"), nb::arg("candidate_ptr"),
        nb::arg("candidates"), nb::arg("contexts"), nb::arg("tokens"), nb::arg("sequence_ptr"), nb::arg("tables"),
        nb::arg("gold"), nb::arg("threads"), "The best outputs of sequences by scores of k-grams.");
}
