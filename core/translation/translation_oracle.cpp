#include "translation/translation_oracle.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "forest/forest.hpp"
#include "parallel.hpp"
#include "translation/sentence_bleu.hpp"

namespace margent {

namespace {

// A partial derivation.
struct Derivation {
  std::vector<RuleUse> uses;
  std::vector<std::int32_t> words;
  double score = 0;
};

// Adds to the score of a use what its words cost that are in no reference.
class CostlyFeatures {
 public:
  CostlyFeatures(const RuleFeatures<HashedRows>& features, const TranslationSetup& setup, const References& references,
                 double cost)
      : features_(features), setup_(setup), cost_(cost) {
    for (std::int32_t r = 0; r < references.size(); ++r)
      known_.insert(known_.end(), references[r].begin(), references[r].end());
    std::ranges::sort(known_);
  }
  double score(const RuleUse& use) const {
    return features_.score(use) + (cost_ != 0 ? cost_ * static_cast<double>(foreign(use)) : 0.0);
  }
  bool is_allowed(std::int32_t node, std::int32_t rule) const { return features_.is_allowed(node, rule); }
  std::int64_t foreign(std::span<const std::int32_t> words) const {
    return std::ranges::count_if(words,
                                 [&](std::int32_t w) { return w >= 0 && !std::ranges::binary_search(known_, w); });
  }

 private:
  std::int64_t foreign(const RuleUse& use) const {
    if (use.rule >= 0) return foreign(setup_.table.target(use.rule));
    const std::int32_t passing = setup_.n_targets() + use.begin;
    return use.rule == pass_through ? foreign(std::span<const std::int32_t>(&passing, 1)) : 0;
  }
  const RuleFeatures<HashedRows>& features_;
  const TranslationSetup& setup_;
  double cost_;
  std::vector<std::int32_t> known_;
};

}  // namespace

// What a thread needs to answer.
class TranslationOracle::Worker {
 public:
  explicit Worker(const TranslationTraining& training)
      : training_(training), search_(training.setup), features_(training.setup) {
    features_.set_dense_step(training.dense_step);
  }

  Answer answer(std::int64_t i, const RightForest* right, TableWeights<const HashedRows> weights,
                const Question& question) {
    Answer out;
    if (!training_.weights.empty()) out.reply.weight = training_.weights[static_cast<std::size_t>(i)];
    if (right && right->empty()) return out;
    features_.turn_to(i, weights);
    const References references = training_.references.of(i);
    const CostlyFeatures costly(features_, training_.setup, references, question.cost);
    search_.states().turn_to(i, features_.dense_weight(feature_language_model));
    search_.run(i, costly, training_.pop_limit);
    const std::int32_t root = search_.root();
    if (root == not_found) return out;
    if (training_.update == TranslationUpdate::local) {
      towards_better(references, root, costly, question, out);
      return out;
    }
    Derivation best = derivation(root, costly, question.cost);
    const bool is_right = is_reference(best.words, references);
    score_right(*right);
    const std::int32_t right_root = right->forest.n_nodes() - 1;
    std::int32_t node = right_root;
    std::vector<Derivation> wrong;
    if (is_right) {
      wrong.push_back(std::move(best));
    } else if (training_.update != TranslationUpdate::max_violation) {
      if (training_.update == TranslationUpdate::standard ||
          best.score + cost_of(best, costly, question.cost) >= right_score(right_root))
        wrong = wrong_ones({right->cells[static_cast<std::size_t>(right_root)]}, *right, references, costly, question);
    } else {
      node = most_violated(*right, references, costly, question, wrong);
    }
    if (wrong.empty() || node == not_found) return out;
    const Derivation gold = right_derivation(*right, node, references);
    out.reply.gold_score = gold.score;
    out.reply.n_positions = static_cast<std::int64_t>(gold.words.size()) + 1;
    out.length = right->cells[static_cast<std::size_t>(node)].end - right->cells[static_cast<std::size_t>(node)].begin;
    for (const Derivation& rival : wrong) {
      const std::int64_t errors = is_right ? 0 : 1 + costly.foreign(rival.words);
      out.reply.rivals.push_back({rival.score, static_cast<double>(errors), errors});
      difference(gold, rival, out);
    }
    return out;
  }

 private:
  static double cost_of(const Derivation& one, const CostlyFeatures& costly, double cost) {
    return cost == 0 ? 0.0 : cost * static_cast<double>(costly.foreign(one.words));
  }
  static bool is_reference(const std::vector<std::int32_t>& words, const References& references) {
    for (std::int32_t r = 0; r < references.size(); ++r)
      if (std::ranges::equal(words, references[r])) return true;
    return false;
  }

  // The best derivation of a node of the search.
  Derivation derivation(std::int32_t node, const CostlyFeatures& costly, double cost) {
    edges_.clear();
    search_.grown().trace(node, edges_);
    return of_edges(edges_, search_.grown().node(node).score, costly, cost);
  }
  // `score`: with costs.
  Derivation of_edges(std::span<const std::int32_t> edges, double score, const CostlyFeatures& costly, double cost) {
    Derivation out;
    for (const std::int32_t e : edges) out.uses.push_back(use_of(e));
    search_.yield(edges, out.words);
    out.score = score - cost_of(out, costly, cost);
    return out;
  }
  RuleUse use_of(std::int32_t e) const {
    const auto& edge = search_.grown().edge(e);
    const RuleOption& option = search_.option(e);
    std::array<const LanguageStates::State*, most_tails> tails{};
    for (std::size_t t = 0; t < static_cast<std::size_t>(edge.n_tails); ++t)
      tails[t] = &search_.grown().node(edge.tails[t]).state;
    RuleUse use = option.use;
    use.log_probability = search_.states().extended(option, tails).first;
    return use;
  }

  // Inside scores of right derivations: best_.
  void score_right(const RightForest& right) {
    scores_.clear();
    for (const RuleUse& use : right.uses) scores_.push_back(features_.score(use));
    const PackedForest& f = right.forest;
    const Forest view(f.n_nodes() - 1, f.tail_ptr, f.tails, f.incoming_ptr, f.incoming, scores_);
    best_ = inside(view, Best{});
  }
  double right_score(std::int32_t node) const { return best_[static_cast<std::size_t>(node)].score; }
  Derivation right_derivation(const RightForest& right, std::int32_t node, const References& references) const {
    Derivation out;
    out.score = right_score(node);
    std::vector<std::int32_t> stack{node};
    while (!stack.empty()) {
      const std::int32_t edge = best_[static_cast<std::size_t>(stack.back())].edge;
      stack.pop_back();
      out.uses.push_back(right.uses[static_cast<std::size_t>(edge)]);
      for (auto t = right.forest.tail_ptr[static_cast<std::size_t>(edge)];
           t < right.forest.tail_ptr[static_cast<std::size_t>(edge) + 1]; ++t)
        stack.push_back(right.forest.tails[static_cast<std::size_t>(t)]);
    }
    const auto words = said(right, node, references);
    out.words.assign(words.begin(), words.end());
    return out;
  }
  // The words of a right node. That of the whole stands for all references: the best of its sentences does.
  std::span<const std::int32_t> said(const RightForest& right, std::int32_t node, const References& references) const {
    if (right.cells[static_cast<std::size_t>(node)].symbol == TranslationCell::whole) {
      const std::int32_t edge = best_[static_cast<std::size_t>(node)].edge;
      node = right.forest.tails[static_cast<std::size_t>(right.forest.tail_ptr[static_cast<std::size_t>(edge)])];
    }
    const auto& state = right.states[static_cast<std::size_t>(node)];
    return references[state.reference].subspan(static_cast<std::size_t>(state.begin),
                                               static_cast<std::size_t>(state.end - state.begin));
  }

  // Up to k wrong partial derivations of a cell of the search, best first: the best ones of its nodes, or for the whole
  // those of different translations. What a right node of the cell says is not wrong.
  std::vector<Derivation> wrong_ones(const TranslationCell& cell, const RightForest& right,
                                     const References& references, const CostlyFeatures& costly,
                                     const Question& question) {
    std::vector<Derivation> out;
    const auto is_right = [&](const Derivation& one) {
      if (cell.symbol == TranslationCell::whole) return is_reference(one.words, references);
      for (std::size_t v = 0; v < right.cells.size(); ++v)
        if (right.cells[v] == cell &&
            std::ranges::equal(said(right, static_cast<std::int32_t>(v), references), one.words))
          return true;
      return false;
    };
    const auto full = [&] { return static_cast<int>(out.size()) >= std::max(question.k, 1); };
    if (cell.symbol == TranslationCell::whole) {
      const std::int32_t root = search_.root();
      Derivation first = derivation(root, costly, question.cost);
      if (!is_right(first)) out.push_back(std::move(first));
      if (full()) return out;
      for (Derivation& one : k_best_at(root, std::max<std::int64_t>(16, 4 * question.k), costly, question.cost)) {
        if (is_right(one)) continue;
        if (std::ranges::any_of(out, [&](const Derivation& other) { return other.words == one.words; })) continue;
        out.push_back(std::move(one));
        if (full()) break;
      }
      return out;
    }
    const std::int32_t number = number_of(cell);
    if (number == not_found) return out;
    for (const std::int32_t node : search_.grown().cell(number)) {
      Derivation one = derivation(node, costly, question.cost);
      if (is_right(one)) continue;
      out.push_back(std::move(one));
      if (full()) break;
    }
    return out;
  }
  std::vector<Derivation> k_best_at(std::int32_t root, std::int64_t k, const CostlyFeatures& costly, double cost) {
    const PackedForest forest = packed(search_.grown(), root);
    const Derivations found = k_best(forest.view(), k);
    std::vector<Derivation> out;
    for (std::size_t j = 0; j < found.size(); ++j) {
      edges_.clear();
      for (const std::int32_t e : found[j]) edges_.push_back(forest.edge[static_cast<std::size_t>(e)]);
      out.push_back(of_edges(edges_, found.scores[j], costly, cost));
    }
    return out;
  }
  std::int32_t number_of(const TranslationCell& cell) const {
    const auto cells = search_.cells();
    const auto found = std::ranges::find(cells, cell);
    return found == cells.end() ? not_found : static_cast<std::int32_t>(found - cells.begin());
  }

  // N* = argmax over right nodes N of w . Phi(d-_N) - w . Phi(d+_N), with `wrong` the derivations d-; not_found where
  // no wrong one is ahead. Of the right nodes of a cell the best counts.
  std::int32_t most_violated(const RightForest& right, const References& references, const CostlyFeatures& costly,
                             const Question& question, std::vector<Derivation>& wrong) {
    compared_.clear();
    if (training_.follows_answer)
      follow(right);
    else
      for (std::int32_t v = 0; v < right.forest.n_nodes(); ++v) compare(right, v);
    const Question one{1, question.cost, false};
    std::int32_t chosen = not_found;
    double most = 0;
    for (const std::int32_t v : compared_) {
      const auto& cell = right.cells[static_cast<std::size_t>(v)];
      const std::int32_t number = number_of(cell);
      if (number == not_found) continue;
      // Nothing of the cell is ahead by more than its best.
      const auto nodes = search_.grown().cell(number);
      if (nodes.empty() || search_.grown().node(nodes.front()).score - right_score(v) < most) continue;
      const auto found = wrong_ones(cell, right, references, costly, one);
      if (found.empty()) continue;
      const double ahead = found.front().score + cost_of(found.front(), costly, question.cost) - right_score(v);
      if (ahead >= most) most = ahead, chosen = v;
    }
    if (chosen != not_found)
      wrong = wrong_ones(right.cells[static_cast<std::size_t>(chosen)], right, references, costly, question);
    return chosen;
  }

  // Of the right nodes of a cell the best is compared.
  void compare(const RightForest& right, std::int32_t v) {
    const auto& cell = right.cells[static_cast<std::size_t>(v)];
    const auto same = [&](std::int32_t other) { return right.cells[static_cast<std::size_t>(other)] == cell; };
    const auto found = std::ranges::find_if(compared_, same);
    if (found == compared_.end())
      compared_.push_back(v);
    else if (right_score(v) > right_score(*found))
      *found = v;
  }
  // The nodes of the best right derivation, smaller ones before those that are made of them.
  void follow(const RightForest& right) {
    compared_.push_back(right.forest.n_nodes() - 1);
    for (std::size_t i = 0; i < compared_.size(); ++i) {
      const auto edge = static_cast<std::size_t>(best_[static_cast<std::size_t>(compared_[i])].edge);
      for (auto t = right.forest.tail_ptr[edge]; t < right.forest.tail_ptr[edge + 1]; ++t)
        compared_.push_back(right.forest.tails[static_cast<std::size_t>(t)]);
    }
    std::ranges::sort(compared_);
  }

  // The local update: of the k best derivations, that with the best BLEU against the best one.
  void towards_better(const References& references, std::int32_t root, const CostlyFeatures& costly,
                      const Question& question, Answer& out) {
    const std::vector<Derivation> found = k_best_at(root, training_.k_best, costly, question.cost);
    std::size_t better = 0;
    double most = -1, first = 0;
    for (std::size_t j = 0; j < found.size(); ++j) {
      const double bleu = sentence_bleu(found[j].words, references);
      if (j == 0) first = bleu;
      if (bleu > most) most = bleu, better = j;
    }
    const bool wrong = most > first;
    out.reply.gold_score = found[better].score;
    out.reply.n_positions = static_cast<std::int64_t>(found[better].words.size()) + 1;
    out.length = search_.cells().back().end;
    const std::int64_t errors = wrong ? 1 + costly.foreign(found[0].words) : 0;
    out.reply.rivals.push_back({found[0].score, static_cast<double>(errors), errors});
    difference(found[better], found[0], out);
  }

  void difference(const Derivation& gold, const Derivation& rival, Answer& out) {
    for (const RuleUse& use : gold.uses) features_.collect(use, 1);
    for (const RuleUse& use : rival.uses) features_.collect(use, -1);
    SparseVector& delta = out.deltas.emplace_back();
    features_.hand_over(delta);
    normalize(delta);
  }

  const TranslationTraining& training_;
  TranslationSearch<LanguageStates> search_;
  RuleFeatures<HashedRows> features_;
  std::vector<double> scores_;
  std::vector<Best::Value> best_;
  std::vector<std::int32_t> edges_, compared_;
};

TranslationOracle::TranslationOracle(TranslationTraining training, const std::vector<RightForest>* right)
    : RowOracle(1), training_(std::move(training)), right_(right) {}

TranslationOracle::~TranslationOracle() = default;

void TranslationOracle::plan(const std::int64_t* examples, std::int64_t n) {
  plan_.assign(examples, examples + n);
  planned_ = 0;
  prepared_.clear();
}

std::vector<TranslationOracle::Answer> TranslationOracle::answers(const std::int64_t* examples, std::int64_t n,
                                                                  const Question& question) {
  std::vector<Answer> out(static_cast<std::size_t>(n));
  workers_.resize(std::max(workers_.size(), static_cast<std::size_t>(workers(n, training_.threads))));
  const TableWeights<const HashedRows> weights{&rows(), clock().scale};
  parallel(n, training_.threads, [&](std::size_t q, std::int64_t j) {
    if (!workers_[q]) workers_[q] = std::make_unique<Worker>(training_);
    const std::int64_t i = training_.examples[static_cast<std::size_t>(examples[j])];
    const RightForest* right =
        training_.update == TranslationUpdate::local ? nullptr : &(*right_)[static_cast<std::size_t>(i)];
    out[static_cast<std::size_t>(j)] = workers_[q]->answer(i, right, weights, question);
  });
  return out;
}

void TranslationOracle::ask(std::int64_t example, const Question& question, Reply& answer) {
  Answer answered;
  if (planned_ < plan_.size() && plan_[planned_] == example) {
    if (prepared_.empty()) {
      const auto left = static_cast<std::int64_t>(plan_.size() - planned_);
      prepared_ = answers(&plan_[planned_], std::min(left, std::max<std::int64_t>(training_.batch, 1)), question);
      std::ranges::reverse(prepared_);
    }
    answered = std::move(prepared_.back());
    prepared_.pop_back();
    ++planned_;
  } else {
    answered = std::move(answers(&example, 1, question).front());
  }
  answer = answered.reply;
  deltas_ = std::move(answered.deltas);
  for (std::size_t j = 0; j < deltas_.size(); ++j) {
    for (auto& [index, value] : deltas_[j]) index = this->row_of(RuleFeatures<HashedRows>::as_key(index));
    normalize(deltas_[j]);
    // Within a batch the weights may have moved since.
    if (training_.batch > 1) answer.rivals[j].score = answer.gold_score - this->score(deltas_[j]);
  }
  if (!answer.rivals.empty() && answer.rivals.front().errors > 0) {
    if (update_lengths_.size() <= static_cast<std::size_t>(answered.length))
      update_lengths_.resize(static_cast<std::size_t>(answered.length) + 1, 0);
    ++update_lengths_[static_cast<std::size_t>(answered.length)];
  }
}

}  // namespace margent
