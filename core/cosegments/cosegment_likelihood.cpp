#include "cosegments/cosegment_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "forest/semiring.hpp"
#include "parallel.hpp"

namespace margent {

std::unique_ptr<Likelihood> CosegmentOracle::likelihood(const LikelihoodOptions& options, int threads) {
  return std::make_unique<CosegmentLikelihood>(*this, options.beam, options.best_completion, threads);
}

CosegmentLikelihood::CosegmentLikelihood(CosegmentOracle& oracle, std::int64_t beam, bool best_completion, int threads)
    : FlatLikelihood(oracle, threads), oracle_(oracle), beam_(beam), best_completion_(best_completion),
      listed_(oracle.size()) {
  const CosegmentSystem<double>& system = oracle.system();
  for (int q = 0; q < workers(oracle.size(), threads); ++q)
    searchers_.push_back(
        {{system.graphones(), system.bits(), system.options(), &oracle.examples()}, {}, {}, {}, {}, {}});
}

bool CosegmentLikelihood::grow(Searcher& searcher, std::int64_t i) {
  searcher.system.turn_to(i, oracle_.search_weights(), 0);
  Alignments& listed = listed_[i];
  const std::size_t before = listed.size();
  for (const bool forced : {false, true}) {
    searcher.system.force(forced);
    searcher.search.run(searcher.system, beam_, false);
    std::int64_t n = 0;
    for (const auto& item : searcher.search.last()) {
      if (beam_ > 0 && n++ == beam_) break;
      trace_graphones(searcher.system.graphones(), searcher.search, item, searcher.alignment);
      find_path(word(i), searcher.alignment, listed, searcher.path);
      std::size_t c = 0;
      while (c < listed.size() && !std::ranges::equal(listed.alignment(c), searcher.path)) ++c;
      if (c < listed.size()) continue;
      listed.path.insert(listed.path.end(), searcher.path.begin(), searcher.path.end());
      listed.ends.push_back(static_cast<std::int32_t>(listed.path.size()));
      listed.joint.push_back(item.state.joint);
      listed.right.push_back(item.state.right);
    }
  }
  return listed.size() > before;
}

bool CosegmentLikelihood::grow() {
  constexpr std::int64_t block = 512;
  std::vector<char> grown(size(), 0);
  for (std::int64_t begin = 0; begin < size(); begin += block) {
    parallel(std::min(block, size() - begin), static_cast<int>(searchers_.size()),
             [&](std::size_t thread, std::int64_t k) { grown[begin + k] = grow(searchers_[thread], begin + k); });
  }
  const auto has_right = [](const Alignments& listed) {
    return std::ranges::find(listed.right, 1) != listed.right.end();
  };
  if (size() > 0 && std::ranges::none_of(listed_, has_right))
    throw std::invalid_argument("no word has a right pronunciation within reach of the search: try a larger threshold");
  return std::ranges::find(grown, 1) != grown.end();
}

void CosegmentLikelihood::find_path(Symbols word, Symbols alignment, Alignments& listed,
                                    std::vector<std::int32_t>& path) const {
  path.clear();
  CosegmentFeatures(oracle_.graphones(), word, oracle_.system().bits()).parts(alignment, [&](const Cosegment& part) {
    const auto known = std::ranges::find(listed.places, part);
    path.push_back(static_cast<std::int32_t>(known - listed.places.begin()));
    if (known == listed.places.end()) listed.places.push_back(part);
  });
}

// 0 where nothing right is listed.
double CosegmentLikelihood::example(std::size_t thread, std::int64_t i, SparseVector* gradient) {
  const Alignments& listed = listed_[i];
  const FlatWeights<double> weights = oracle_.search_weights();
  const CosegmentFeatures features(oracle_.graphones(), word(i), oracle_.system().bits());
  auto& of_alignments = searchers_[thread].of_alignments;
  auto& of_places = searchers_[thread].of_places;
  of_places.assign(listed.places.size(), 0.0);
  for (std::size_t p = 0; p < listed.places.size(); ++p)
    features.of_part(listed.places[p], [&](std::int32_t feature) { of_places[p] += weights.kept[feature]; });
  of_alignments.resize(listed.size());
  double all = log_zero, right = log_zero;
  std::size_t best = 0;
  for (std::size_t c = 0; c < listed.size(); ++c) {
    double sum = weights.kept[0] * listed.joint[c];
    for (const std::int32_t p : listed.alignment(c)) sum += of_places[p];
    of_alignments[c] = weights.scale * sum;
    all = log_plus(all, of_alignments[c]);
    if (!listed.right[c]) continue;
    if (right == log_zero || of_alignments[c] > of_alignments[best]) best = c;
    right = best_completion_ ? of_alignments[best] : log_plus(right, of_alignments[c]);
  }
  if (right == log_zero) return 0;
  if (!gradient) return all - right;
  of_places.assign(listed.places.size(), 0.0);
  double joint = 0;
  for (std::size_t c = 0; c < listed.size(); ++c) {
    double share = std::exp(of_alignments[c] - all);
    if (best_completion_ ? c == best : listed.right[c]) share -= std::exp(of_alignments[c] - right);
    joint += share * listed.joint[c];
    for (const std::int32_t p : listed.alignment(c)) of_places[p] += share;
  }
  gradient->push_back({0, joint});
  for (std::size_t p = 0; p < listed.places.size(); ++p)
    features.of_part(listed.places[p], [&](std::int32_t feature) { gradient->push_back({feature, of_places[p]}); });
  return all - right;
}

}  // namespace margent
