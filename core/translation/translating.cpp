#include "translation/translating.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "parallel.hpp"

namespace margent {

namespace {

// What a thread needs.
class Translator {
 public:
  Translator(const TranslationSetup& setup, const FrozenRows& weights)
      : weights_(weights), search_(setup), features_(setup) {}

  std::vector<Translation> translations(std::int64_t i, const TranslationQuery& query) {
    std::vector<Translation> out;
    const std::int32_t root = run(i, query.pop_limit);
    if (root == not_found) return out;
    if (query.k == 1) {
      edges_.clear();
      search_.grown().trace(root, edges_);
      out.push_back(of_edges(search_.grown().node(root).score));
      return out;
    }
    const PackedForest forest = packed(search_.grown(), root);
    // Different derivations of the same words are many: more are asked for until there are enough translations.
    for (std::int64_t n = query.k;; n *= 4) {
      const Derivations found = k_best(forest.view(), n);
      out.clear();
      for (std::size_t j = 0; j < found.size() && static_cast<std::int64_t>(out.size()) < query.k; ++j) {
        edges_.clear();
        for (const std::int32_t e : found[j]) edges_.push_back(forest.edge[static_cast<std::size_t>(e)]);
        Translation next = of_edges(found.scores[j]);
        const auto same = [&](const Translation& other) { return other.words == next.words; };
        if (!query.distinct || std::ranges::none_of(out, same)) out.push_back(std::move(next));
      }
      if (static_cast<std::int64_t>(out.size()) == query.k || static_cast<std::int64_t>(found.size()) < n ||
          n >= TranslationQuery::most_derivations)
        return out;
    }
  }

  TranslationForest forest(std::int64_t i, std::int64_t pop_limit) {
    TranslationForest out;
    const std::int32_t root = run(i, pop_limit);
    if (root == not_found) return out;
    out.forest = packed(search_.grown(), root);
    for (const std::int32_t e : out.forest.edge) out.steps.push_back(step(e));
    for (const std::int32_t node : out.forest.node) out.cells.push_back(search_.cell_of(node));
    return out;
  }

 private:
  std::int32_t run(std::int64_t i, std::int64_t pop_limit) {
    features_.turn_to(i, {&weights_, 1});
    search_.states().turn_to(i, features_.dense_weight(feature_language_model));
    search_.run(i, features_, pop_limit);
    return search_.root();
  }
  DerivationStep step(std::int32_t e) const {
    const auto& edge = search_.grown().edge(e);
    std::array<const LanguageStates::State*, most_tails> tails{};
    for (std::size_t t = 0; t < static_cast<std::size_t>(edge.n_tails); ++t)
      tails[t] = &search_.grown().node(edge.tails[t]).state;
    DerivationStep out{search_.option(e).use, edge.n_tails};
    out.use.log_probability = search_.states().extended(search_.option(e), tails).first;
    return out;
  }
  // Of edges_.
  Translation of_edges(double score) const {
    Translation out;
    out.score = score;
    search_.yield(edges_, out.words);
    for (const std::int32_t e : edges_) out.steps.push_back(step(e));
    return out;
  }

  const FrozenRows& weights_;
  TranslationSearch<LanguageStates> search_;
  RuleFeatures<FrozenRows> features_;
  std::vector<std::int32_t> edges_;
};

template <class Answer, class Ask>
std::vector<Answer> of_each(const TranslationSetup& setup, const FrozenRows& weights, int threads, Ask ask) {
  std::vector<Answer> out(static_cast<std::size_t>(setup.sentences.size));
  std::vector<std::unique_ptr<Translator>> made(static_cast<std::size_t>(workers(setup.sentences.size, threads)));
  parallel(setup.sentences.size, threads, [&](std::size_t q, std::int64_t i) {
    if (!made[q]) made[q] = std::make_unique<Translator>(setup, weights);
    out[static_cast<std::size_t>(i)] = ask(*made[q], i);
  });
  return out;
}

}  // namespace

std::vector<std::vector<Translation>> translate(const TranslationSetup& setup, const FrozenRows& weights,
                                                const TranslationQuery& query, int threads) {
  return of_each<std::vector<Translation>>(setup, weights, threads, [&](Translator& translator, std::int64_t i) {
    return translator.translations(i, query);
  });
}

std::vector<TranslationForest> translation_forests(const TranslationSetup& setup, const FrozenRows& weights,
                                                   std::int64_t pop_limit, int threads) {
  return of_each<TranslationForest>(
      setup, weights, threads, [&](Translator& translator, std::int64_t i) { return translator.forest(i, pop_limit); });
}

DenseFeatures dense_features(const TranslationSetup& setup, std::int64_t sentence,
                             const std::vector<DerivationStep>& steps) {
  static const HashedRows none(1);
  RuleFeatures<HashedRows> features(setup);
  features.turn_to(sentence, {&none, 0});
  DenseFeatures out{};
  for (const DerivationStep& step : steps)
    features.each_dense(step.use, [&](std::int32_t k, double value) { out[static_cast<std::size_t>(k)] += value; });
  return out;
}

std::vector<StepFeature> explain_steps(const TranslationSetup& setup, const FrozenRows& weights, std::int64_t sentence,
                                       const std::vector<DerivationStep>& steps) {
  RuleFeatures<FrozenRows> features(setup);
  features.turn_to(sentence, {&weights, 1});
  std::vector<StepFeature> out;
  std::vector<std::uint64_t> keys;
  std::vector<std::int32_t> templates;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto number = static_cast<std::int32_t>(s);
    const RuleUse& use = steps[s].use;
    features.each_dense(use, [&](std::int32_t k, double value) {
      out.push_back({number, -1, k, features.dense_weight(static_cast<DenseFeature>(k)), value});
    });
    if (!features.has_sparse(use)) continue;
    keys.clear();
    templates.clear();
    setup.templates->keys(setup, sentence, use, keys, &templates);
    for (std::size_t k = 0; k < keys.size(); ++k)
      if (const double weight = features.weight(keys[k]); weight != 0)
        out.push_back({number, templates[k], -1, weight, 1});
  }
  return out;
}

}  // namespace margent
