#include "cosegments/cosegment_search.hpp"

#include <algorithm>
#include <cmath>

#include "forest/semiring.hpp"
#include "parallel.hpp"

namespace margent {
namespace {

std::uint64_t spoken_after(std::uint64_t phonemes, std::int32_t phoneme) {
  return mix(phonemes * 31 + static_cast<std::uint64_t>(phoneme) + 1);
}

}  // namespace

void RightAnswers::set(const CosegmentUnits& units, const SpellingPairs& pairs, std::int64_t first, std::int64_t last) {
  n_ = static_cast<std::size_t>(last - first);
  if (lattices_.size() < n_) lattices_.resize(n_), prefixes_.resize(n_);
  for (std::size_t p = 0; p < n_; ++p) {
    const Symbols spoken = pairs.pronunciation(first + static_cast<std::int64_t>(p));
    build_lattice(units, pairs.word(first), spoken, lattices_[p]);
    prefixes_[p].assign(1, 0);
    for (const std::int32_t phoneme : spoken) prefixes_[p].push_back(spoken_after(prefixes_[p].back(), phoneme));
  }
}

template <class Real>
CosegmentSearch<Real>::CosegmentSearch(const CosegmentUnits& units, const CosegmentSearchOptions& options)
    : units_(units), options_(options), buckets_(1 << 12), seen_(units.size() + 2, 0), scored_(units.size(), 0),
      unit_scores_(units.size()), outlooks_(1 << 10), seen_ahead_(units.size() + 2, 0) {
  if (units.letter_counts().empty() || units.letter_counts().front() > 0) options_.insertions = 0;
  rounds_ = options_.insertions + 1;
}

template <class Real>
void CosegmentSearch<Real>::run(const GramModel& model, const CosegmentWeights<Real>& weights, Symbols word,
                                const RightAnswers* right, double cost) {
  model_ = &model;
  weights_ = weights;
  word_ = word;
  right_ = right;
  cost_ = cost;
  forced_ = false;
  n_ = static_cast<std::int32_t>(word.size());
  best_.assign(n_ + 1, log_zero);
  search();
}

template <class Real>
void CosegmentSearch<Real>::run_forced(const CosegmentSearch& free) {
  model_ = free.model_;
  weights_ = free.weights_;
  word_ = free.word_;
  right_ = free.right_;
  cost_ = 0;
  forced_ = true;
  n_ = free.n_;
  best_ = free.best_;
  search();
}

template <class Real>
void CosegmentSearch<Real>::search() {
  items_.clear();
  ++words_;
  const std::size_t n_layers = static_cast<std::size_t>(n_ + 1) * rounds_ + 1;
  if (layers_.size() < n_layers) layers_.resize(n_layers);
  for (std::size_t layer = 0; layer < n_layers; ++layer) layers_[layer].clear();
  std::fill(buckets_.begin(), buckets_.end(), -1);
  const bool possible = right_ == nullptr || right_->holds(0, 0, 0);
  if (!forced_ || possible) push({possible ? 0 : cost_, 0, 0, 0, {}, model_->start(), -1, -1, 0, 0, -1, possible});
  for (std::int32_t i = 0; i <= n_; ++i) {
    ++place_;
    for (std::int32_t g = 0; g < rounds_; ++g) {
      const std::int32_t layer = i * rounds_ + g;
      if (options_.threshold > 0)
        std::erase_if(layers_[layer], [&](std::int32_t h) { return items_[h].joint < best_[i] - options_.threshold; });
      keep(layers_[layer], options_.beam);
      for (std::size_t q = 0; q < layers_[layer].size(); ++q) {
        const std::int32_t h = layers_[layer][q];
        for (const std::int32_t count : units_.letter_counts()) {
          if (count == 0 && g + 1 < rounds_) expand(h, i, layer + 1, {});
          if (count > 0 && i + count <= n_) expand(h, i, (i + count) * rounds_, word_.subspan(i, count));
        }
        if (i == n_) end(h);
      }
    }
  }
  keep(layers_[n_layers - 1], 0);
}

// The best of a layer, as many as `beam` says, in their order; of equals the one found first.
template <class Real>
void CosegmentSearch<Real>::keep(std::vector<std::int32_t>& layer, std::int64_t beam) {
  const auto size = static_cast<std::int64_t>(layer.size());
  const auto kept = static_cast<std::ptrdiff_t>(beam > 0 ? std::min(beam, size) : size);
  std::partial_sort(layer.begin(), layer.begin() + kept, layer.end(), [&](std::int32_t a, std::int32_t b) {
    return items_[a].score > items_[b].score || (items_[a].score == items_[b].score && a < b);
  });
  layer.resize(kept);
}

template <class Real>
void CosegmentSearch<Real>::expand(std::int32_t from, std::int32_t at, std::int32_t layer, Symbols letters) {
  const std::int32_t context = items_[from].context;
  if (forced_) {
    ++round_;
    right_->units_after(at, items_[from].spoken, items_[from].phonemes, [&](std::int32_t unit) {
      if (units_.letters(unit).size() != letters.size() || seen_[unit] == round_) return;
      seen_[unit] = round_;
      std::int32_t next = 0;
      const double log_p = model_->step(context, unit, &next);
      add(from, at, layer, unit, log_p, next);
    });
    return;
  }
  const auto [first, last] = units_.group(letters);
  if (first == last) return;
  model_->steps(context, first, last, seen_.data(), ++round_,
                [&](std::int32_t unit, double log_p, std::int32_t next) { add(from, at, layer, unit, log_p, next); });
}

template <class Real>
double CosegmentSearch<Real>::of_unit(std::int32_t at, std::int32_t unit) {
  if (scored_[unit] != place_) {
    scored_[unit] = place_;
    double sum = 0;
    CosegmentFeatures(units_, word_, weights_.bits).of_unit(at, unit, [&](std::int32_t f) { sum += weights_.kept[f]; });
    unit_scores_[unit] = sum;
  }
  return unit_scores_[unit];
}

// Of units without letters that may come first it knows nothing. 0 where no unit has the next letter.
template <class Real>
double CosegmentSearch<Real>::outlook(std::int32_t position, std::int32_t context) {
  const std::uint64_t place = (words_ << 24) | static_cast<std::uint32_t>(position & 0xFFFFFF);
  Outlook& known = outlooks_[static_cast<std::size_t>(context) & (outlooks_.size() - 1)];
  if (known.place == place && known.context == context) return known.value;
  double sum = 0;
  if (position == n_) {
    std::int32_t next = 0;
    sum = std::exp(model_->step(context, units_.end(), &next));
  }
  for (const std::int32_t count : units_.letter_counts()) {
    if (count == 0 || position + count > n_) continue;
    const auto [first, last] = units_.group(word_.subspan(position, count));
    if (first < last)
      model_->steps(context, first, last, seen_ahead_.data(), ++round_ahead_,
                    [&](std::int32_t, double log_p, std::int32_t) { sum += std::exp(log_p); });
  }
  known = {place, context, sum > 0 ? std::log(sum) : 0};
  return known.value;
}

template <class Real>
void CosegmentSearch<Real>::add(std::int32_t from, std::int32_t at, std::int32_t layer, std::int32_t unit, double log_p,
                                std::int32_t next) {
  const Item& source = items_[from];
  const std::int32_t position = layer / rounds_;
  if (log_p == log_zero) return;
  // The next letter cannot make it more likely, and its probability takes long to find.
  const double least = options_.threshold > 0 ? best_[position] - options_.threshold : log_zero;
  if (source.joint - source.outlook + log_p < least) return;
  const double ahead = outlook(position, next), gained = log_p + ahead - source.outlook, joint = source.joint + gained;
  if (joint < least) return;
  best_[position] = std::max(best_[position], joint);
  Item item{source.score, joint,         ahead, source.phonemes, source.history, next, from, unit,
            layer,        source.spoken, -1,    source.right};
  for (const std::int32_t phoneme : units_.phonemes(unit)) item.phonemes = spoken_after(item.phonemes, phoneme);
  item.spoken += static_cast<std::int32_t>(units_.phonemes(unit).size());
  double sum = weights_.kept[0] * gained + of_unit(at, unit);
  CosegmentFeatures(units_, word_, weights_.bits).of_grams(at, unit, item.history, [&](std::int32_t f) {
    sum += weights_.kept[f];
  });
  item.score += weights_.scale * sum;
  if (item.right && right_ && !forced_ && !right_->holds(position, item.spoken, item.phonemes)) {
    item.right = false;
    item.score += cost_;
  }
  push(item);
}

template <class Real>
void CosegmentSearch<Real>::push(const Item& item) {
  const std::uint64_t place = (static_cast<std::uint64_t>(item.layer) << 32) | static_cast<std::uint32_t>(item.context);
  std::int32_t& bucket = buckets_[mix(mix(place) ^ item.phonemes) & (buckets_.size() - 1)];
  for (std::int32_t h = options_.merge ? bucket : -1; h >= 0; h = items_[h].link) {
    Item& known = items_[h];
    if (known.layer != item.layer || known.context != item.context || known.phonemes != item.phonemes ||
        known.history.units != item.history.units)
      continue;
    if (item.score > known.score) {
      const std::int32_t link = known.link;
      known = item;
      known.link = link;
    }
    return;
  }
  const auto h = static_cast<std::int32_t>(items_.size());
  items_.push_back(item);
  items_.back().link = bucket;
  bucket = h;
  layers_[item.layer].push_back(h);
}

template <class Real>
void CosegmentSearch<Real>::end(std::int32_t from) {
  Item item = items_[from];
  std::int32_t next = 0;
  const double log_p = model_->step(item.context, units_.end(), &next);
  const bool right = right_ == nullptr || right_->ends(n_, item.spoken, item.phonemes);
  if (log_p == log_zero || (forced_ && !right)) return;
  double sum = weights_.kept[0] * (log_p - item.outlook);
  CosegmentFeatures(units_, word_, weights_.bits).of_end(item.history, [&](std::int32_t f) {
    sum += weights_.kept[f];
  });
  item.score += weights_.scale * sum;
  item.joint += log_p - item.outlook;
  item.back = from;
  item.unit = units_.end();
  item.layer = (n_ + 1) * rounds_;
  if (item.right && !right) {
    item.right = false;
    item.score += cost_;
  }
  layers_[item.layer].push_back(static_cast<std::int32_t>(items_.size()));
  items_.push_back(item);
}

template <class Real>
void CosegmentSearch<Real>::trace(std::int32_t item, std::vector<std::int32_t>& units) const {
  units.clear();
  for (std::int32_t h = item; items_[h].back >= 0; h = items_[h].back)
    if (items_[h].unit != units_.end()) units.push_back(items_[h].unit);
  std::reverse(units.begin(), units.end());
}

template class CosegmentSearch<float>;
template class CosegmentSearch<double>;

void search_words(const CosegmentUnits& units, const GramModel& model, const CosegmentWeights<float>& weights,
                  const SpellingPairs& words, const CosegmentSearchOptions& options, int k, int threads,
                  std::vector<std::vector<Transcription>>& out) {
  threads = workers(words.size, threads);
  std::vector<CosegmentSearch<float>> searches(threads, CosegmentSearch<float>(units, options));
  out.resize(words.size);
  parallel(words.size, threads, [&](std::size_t q, std::int64_t s) {
    CosegmentSearch<float>& search = searches[q];
    search.run(model, weights, words.word(s));
    std::vector<std::uint64_t> known;
    for (const std::int32_t h : search.step(search.n_steps())) {
      if (static_cast<int>(known.size()) == k) break;
      if (std::find(known.begin(), known.end(), search.item(h).phonemes) != known.end()) continue;
      known.push_back(search.item(h).phonemes);
      Transcription t;
      t.score = search.item(h).score;
      search.trace(h, t.units);
      for (const std::int32_t unit : t.units)
        t.phonemes.insert(t.phonemes.end(), units.phonemes(unit).begin(), units.phonemes(unit).end());
      out[s].push_back(std::move(t));
    }
  });
}

}  // namespace margent
