#include "cosegments/reranking.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace margent {

CandidateFeatures candidate_features(const AlignedCandidates& candidates, int bits, int threads) {
  constexpr std::int64_t chunk = 1024;
  const std::int64_t n_chunks = (candidates.n_words + chunk - 1) / chunk;
  std::vector<std::vector<CountedFeatures>> found(n_chunks);
  parallel(n_chunks, threads, [&](std::size_t, std::int64_t part) {
    std::vector<CountedFeatures> lists;
    for (std::int64_t s = part * chunk; s < std::min(candidates.n_words, (part + 1) * chunk); ++s) {
      const std::int64_t begin = candidates.candidate_ptr[s], end = candidates.candidate_ptr[s + 1];
      lists.resize(end - begin);
      for (std::int64_t c = begin; c < end; ++c)
        cosegment_features(candidates.inventory, candidates.word(s), candidates.alignment(c), bits, lists[c - begin]);
      remove_common(lists);
      for (CountedFeatures& list : lists) found[part].push_back(list);
    }
  });
  CandidateFeatures out;
  std::size_t c = 0;
  for (const auto& part : found)
    for (const CountedFeatures& list : part) {
      out.ids.push_back(0);
      out.values.push_back(static_cast<float>(candidates.scores[c++]));
      for (const auto& [id, value] : list) {
        out.ids.push_back(id);
        out.values.push_back(value);
      }
      out.ptr.push_back(static_cast<std::int64_t>(out.ids.size()));
    }
  return out;
}

std::vector<double> candidate_scores(const AlignedCandidates& candidates, const float* weights, int bits, int threads) {
  std::vector<double> out(candidates.candidate_ptr[candidates.n_words]);
  parallel(candidates.n_words, threads, [&](std::size_t, std::int64_t s) {
    thread_local CountedFeatures list;
    for (std::int64_t c = candidates.candidate_ptr[s]; c < candidates.candidate_ptr[s + 1]; ++c) {
      cosegment_features(candidates.inventory, candidates.word(s), candidates.alignment(c), bits, list);
      double sum = weights[0] * candidates.scores[c];
      for (const auto& [id, value] : list) sum += weights[id] * value;
      out[c] = sum;
    }
  });
  return out;
}

}  // namespace margent
