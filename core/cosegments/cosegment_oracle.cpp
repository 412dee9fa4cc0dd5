#include "cosegments/cosegment_oracle.hpp"

#include <algorithm>

namespace margent {

void CosegmentOracle::ask(std::int64_t example, const Question& question, Reply& answer) {
  answer.rivals.clear();
  answer.weight = 1;
  answer.n_positions = 0;
  deltas_.clear();
  const std::int64_t first = examples_.example_ptr[example], last = examples_.example_ptr[example + 1];
  const Symbols word = examples_.pairs.word(first);
  const GramModel& model = *examples_.models[examples_.fold[example]];
  right_.set(units_, examples_.pairs, first, last);
  search_.run(model, search_weights(), word, &right_, question.cost);
  gold_.run_forced(search_);
  const std::int32_t n_steps = search_.n_steps();
  if (gold_.step(n_steps).empty()) return;  // out of reach: there is nothing to move towards
  PrefixChoice choice(update_);
  for (std::int32_t t = 1; t <= n_steps; ++t) {
    const auto items = search_.step(t), right = gold_.step(t);
    if (items.empty() || right.empty()) continue;  // units of several letters may step over a letter
    const bool lost = std::none_of(items.begin(), items.end(), [&](std::int32_t h) { return search_.item(h).right; });
    choice.see(t, t == n_steps, search_.item(items[0]).right, lost,
               search_.item(items[0]).score - gold_.item(right[0]).score);
  }
  const int chosen = choice.chosen();
  if (chosen < 0) return;
  gold_item_ = gold_.step(chosen)[0];
  gold_.trace(gold_item_, gold_cut_);
  answer.n_positions = 1;
  answer.gold_score = gold_.item(gold_item_).score;
  std::vector<std::uint64_t> known;  // of what is said alike, only the best cut is a rival
  for (const std::int32_t h : search_.step(chosen)) {
    if (static_cast<int>(answer.rivals.size()) == question.k) break;
    const auto& item = search_.item(h);
    if (std::find(known.begin(), known.end(), item.phonemes) != known.end()) continue;
    known.push_back(item.phonemes);
    answer.rivals.push_back(
        {item.right ? item.score : item.score - question.cost, item.right ? 0.0 : 1.0, item.right ? 0 : 1});
    difference(word, h, chosen == n_steps, deltas_.emplace_back());
    if (item.right && question.stop_if_right && answer.rivals.size() == 1) break;
  }
}

void CosegmentOracle::difference(Symbols word, std::int32_t rival, bool whole, SparseVector& out) {
  search_.trace(rival, cut_);
  const std::size_t same =
      std::mismatch(cut_.begin(), cut_.end(), gold_cut_.begin(), gold_cut_.end()).first - cut_.begin();
  const CosegmentFeatures features(units_, word, bits_);
  out.push_back({0, gold_.item(gold_item_).joint - search_.item(rival).joint});
  features.of_cut(gold_cut_, whole, same, [&](std::int32_t feature) { out.push_back({feature, 1.0}); });
  features.of_cut(cut_, whole, same, [&](std::int32_t feature) { out.push_back({feature, -1.0}); });
  normalize(out);
}

}  // namespace margent
