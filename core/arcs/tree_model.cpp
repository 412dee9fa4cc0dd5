#include "arcs/tree_model.hpp"

#include <optional>

#include "parallel.hpp"

namespace margent {

struct TreeModel::Worker {
  Worker(const TreeModel& model, const TreeExamples& examples) : features(model.templates_, examples, model.bits_) {
    if (model.filter_) filter.emplace(*model.filter_);
    scores.kind = model.kind_;
  }
  TreeFeatures<float> features;
  std::optional<ArcFilter::Workspace> filter;
  std::vector<TypedArc> chosen;
  TypedArcs typed;
  LabelledScores scores;
  TreeWorkspace trees;
};

// Calls answer(worker, i) for each sentence that has words, its scores being those of all trees.
template <class Answer>
void TreeModel::each(const TreeExamples& examples, int threads, Answer answer) const {
  std::vector<std::optional<Worker>> known(static_cast<std::size_t>(workers(examples.size(), threads)));
  parallel(examples.size(), threads, [&](std::size_t thread, std::int64_t i) {
    const int n = examples.n_words(i);
    if (n == 0) return;
    if (!known[thread]) known[thread].emplace(*this, examples);
    Worker& worker = *known[thread];
    if (filter_)
      filter_->keep(examples.atoms_of(i), n, *worker.filter, worker.chosen);
    else
      all_arcs(n, n_labels_, worker.chosen);
    worker.typed.assign(n, worker.chosen);
    worker.features.turn_to(i, weights_, 1);
    worker.features.score(worker.typed, worker.scores);
    answer(worker, i);
  });
}

void TreeModel::best(const TreeExamples& examples, int threads, double* scores, std::int32_t* heads,
                     std::int32_t* labels) const {
  for (std::int64_t i = 0; i < examples.size(); ++i) scores[i] = 0;
  each(examples, threads, [&](Worker& worker, std::int64_t i) {
    const ScoredTree tree = worker.scores.best(worker.trees);
    scores[i] = tree.score;
    for (std::size_t w = 0; w < tree.arcs.size(); ++w) {
      heads[examples.ptr[i] + static_cast<std::int64_t>(w)] = worker.typed.arcs.head(tree.arcs[w]);
      labels[examples.ptr[i] + static_cast<std::int64_t>(w)] = worker.typed.labels[tree.arcs[w]];
    }
  });
}

std::vector<std::vector<HeadsAndLabels>> TreeModel::k_best(const TreeExamples& examples, std::int64_t k,
                                                           int threads) const {
  std::vector<std::vector<HeadsAndLabels>> out(static_cast<std::size_t>(examples.size()), {HeadsAndLabels{}});
  each(examples, threads, [&](Worker& worker, std::int64_t i) {
    auto& found = out[static_cast<std::size_t>(i)];
    found.clear();
    for (const ScoredTree& tree : worker.scores.k_best(k, worker.trees)) {
      found.push_back({tree.score, {}, {}});
      for (const std::int32_t arc : tree.arcs) {
        found.back().heads.push_back(worker.typed.arcs.head(arc));
        found.back().labels.push_back(worker.typed.labels[arc]);
      }
    }
  });
  return out;
}

ArcProbabilities TreeModel::marginals(const TreeExamples& examples, const std::int32_t* heads,
                                      const std::int32_t* labels, double factor, int threads) const {
  std::vector<std::int64_t> begin{0};  // of the heads of each sentence
  for (std::int64_t i = 0; i < examples.size(); ++i)
    begin.push_back(begin.back() + std::int64_t{examples.n_words(i)} * (examples.n_words(i) + 1));
  ArcProbabilities out;
  out.heads.assign(static_cast<std::size_t>(begin.back()), 0.0);
  out.labels.assign(static_cast<std::size_t>(examples.ptr.back() * n_labels_), 0.0);
  out.arcs.assign(static_cast<std::size_t>(examples.ptr.back()), 0.0);
  each(examples, threads, [&](Worker& worker, std::int64_t i) {
    LabelledScores& scores = worker.scores;
    for (std::vector<double>* each : {&scores.values, &scores.siblings, &scores.grandparents})
      for (double& score : *each) score *= factor;
    const LabelledMarginals found = scores.marginals(worker.trees);
    const int n = examples.n_words(i);
    for (std::int32_t a = 0; a < scores.arcs.size(); ++a) {
      const int h = scores.arcs.head(a), w = scores.arcs.modifier(a) - 1, l = worker.typed.labels[a];
      const std::int64_t word = examples.ptr[i] + w;
      const double p = found.parts.arcs[a];
      out.heads[begin[i] + std::int64_t{w} * (n + 1) + h] += p;
      out.labels[word * n_labels_ + l] += p;
      if (heads[word] == h && labels[word] == l) out.arcs[word] = p;
    }
  });
  return out;
}

std::vector<TreeContribution> TreeModel::contributions(const TreeExamples& examples, std::int64_t i,
                                                       const std::int32_t* heads, const std::int32_t* labels) const {
  std::vector<TreeContribution> out;
  Worker worker(*this, examples);
  worker.features.turn_to(i, weights_, 1);
  const std::int32_t n = examples.n_words(i);
  for (std::int32_t m = 1; m <= n; ++m) worker.chosen.push_back({heads[m - 1], m, labels[m - 1]});
  worker.typed.assign(n, worker.chosen);
  Tree tree;
  find_tree(worker.typed.arcs, heads, tree);
  each_part(worker.typed, tree, [&](const TreePart& part) {
    worker.features.each(part, [&](std::int64_t weight, std::int32_t number, std::int32_t value) {
      out.push_back({number, value, part, static_cast<double>(weights_[weight])});
    });
  });
  return out;
}

}  // namespace margent
