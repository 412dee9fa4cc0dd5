#include "cosegments/cosegment_search.hpp"

#include <algorithm>
#include <cmath>

#include "forest/semiring.hpp"
#include "parallel.hpp"

namespace margent {

void RightAnswers::set(const Graphones& graphones, const SpellingPairs& pairs, std::int64_t first, std::int64_t last) {
  n_ = static_cast<std::size_t>(last - first);
  if (lattices_.size() < n_) lattices_.resize(n_), prefixes_.resize(n_);
  for (std::size_t p = 0; p < n_; ++p) {
    const Symbols spoken = pairs.pronunciation(first + static_cast<std::int64_t>(p));
    build_lattice(graphones, pairs.word(first), spoken, lattices_[p]);
    prefixes_[p].assign(1, 0);
    for (const std::int32_t phoneme : spoken) prefixes_[p].push_back(spoken_after(prefixes_[p].back(), phoneme));
  }
}

template <class Real>
CosegmentSystem<Real>::CosegmentSystem(const Graphones& graphones, int bits, const CosegmentSearchOptions& options,
                                       const TranscriptionExamples* examples)
    : graphones_(graphones), bits_(bits), options_(options), examples_(examples), seen_(graphones.size() + 2, 0),
      scored_(graphones.size(), 0), graphone_scores_(graphones.size()), outlooks_(1 << 10),
      seen_ahead_(graphones.size() + 2, 0) {
  rounds_ = possible_insertions(graphones, options.insertions) + 1;
}

template <class Real>
void CosegmentSystem<Real>::begin(const GramModel& model, const FlatWeights<Real>& weights, Symbols word) {
  model_ = &model;
  weights_ = weights;
  word_ = word;
  n_ = static_cast<std::int32_t>(word.size());
  forced_ = false;
  ++words_;
}

template <class Real>
void CosegmentSystem<Real>::turn_to(const GramModel& model, const FlatWeights<Real>& weights, Symbols word) {
  begin(model, weights, word);
  supervised_ = false;
}

template <class Real>
void CosegmentSystem<Real>::turn_to(std::int64_t example, const FlatWeights<Real>& weights, double cost) {
  begin(*examples_->models[examples_->fold[example]], weights, examples_->word(example));
  right_.set(graphones_, examples_->pairs, examples_->example_ptr[example], examples_->example_ptr[example + 1]);
  supervised_ = true;
  cost_ = cost;
}

template <class Real>
template <class Propose>
void CosegmentSystem<Real>::expand(int layer, std::span<const Item> items, Propose& propose) {
  const std::int32_t i = layer / rounds_, g = layer % rounds_;
  if (g == 0) ++place_;
  for (std::size_t q = 0; q < items.size(); ++q) {
    for (const std::int32_t count : graphones_.letter_counts()) {
      if (count == 0 && g + 1 < rounds_) extend(items[q], q, layer + 1, {}, propose);
      if (count > 0 && i + count <= n_) extend(items[q], q, (i + count) * rounds_, word_.subspan(i, count), propose);
    }
    if (i == n_) end(items[q], q, propose);
  }
}

template <class Real>
template <class Propose>
void CosegmentSystem<Real>::extend(const Item& from, std::size_t item, int layer, Symbols letters, Propose& propose) {
  const State& state = from.state;
  if (forced_) {
    ++round_;
    right_.graphones_after(state.letters, state.spoken, state.phonemes, [&](std::int32_t graphone) {
      if (graphones_.letters(graphone).size() != letters.size() || seen_[graphone] == round_) return;
      seen_[graphone] = round_;
      std::int32_t next = 0;
      const double log_p = model_->step(state.context, graphone, &next);
      add(from, item, layer, graphone, log_p, next, propose);
    });
    return;
  }
  const auto [first, last] = graphones_.group(letters);
  if (first == last) return;
  model_->steps(state.context, first, last, seen_.data(), ++round_,
                [&](std::int32_t graphone, double log_p, std::int32_t next) {
                  add(from, item, layer, graphone, log_p, next, propose);
                });
}

template <class Real>
double CosegmentSystem<Real>::of_graphone(std::int32_t at, std::int32_t graphone) {
  if (scored_[graphone] != place_) {
    scored_[graphone] = place_;
    double sum = 0;
    features().of_graphone(at, graphone, [&](std::int32_t f) { sum += weights_.kept[f]; });
    graphone_scores_[graphone] = sum;
  }
  return graphone_scores_[graphone];
}

// Of graphones without letters that may come first it knows nothing. 0 where no graphone has the next letter.
template <class Real>
double CosegmentSystem<Real>::outlook(std::int32_t position, std::int32_t context) {
  const std::uint64_t place = (words_ << 24) | static_cast<std::uint32_t>(position & 0xFFFFFF);
  Outlook& known = outlooks_[static_cast<std::size_t>(context) & (outlooks_.size() - 1)];
  if (known.place == place && known.context == context) return known.value;
  double sum = 0;
  if (position == n_) {
    std::int32_t next = 0;
    sum = std::exp(model_->step(context, graphones_.end(), &next));
  }
  for (const std::int32_t count : graphones_.letter_counts()) {
    if (count == 0 || position + count > n_) continue;
    const auto [first, last] = graphones_.group(word_.subspan(position, count));
    if (first < last)
      model_->steps(context, first, last, seen_ahead_.data(), ++round_ahead_,
                    [&](std::int32_t, double log_p, std::int32_t) { sum += std::exp(log_p); });
  }
  known = {place, context, sum > 0 ? std::log(sum) : 0};
  return known.value;
}

template <class Real>
template <class Propose>
void CosegmentSystem<Real>::add(const Item& from, std::size_t item, int layer, std::int32_t graphone, double log_p,
                                std::int32_t next, Propose& propose) {
  const State& source = from.state;
  const std::int32_t position = layer / rounds_;
  if (log_p == log_zero) return;
  // The next letter cannot make it more likely, and its probability takes long to find.
  const double least = options_.threshold > 0 ? best_[position] - options_.threshold : log_zero;
  if (source.joint - source.outlook + log_p < least) return;
  const double ahead = outlook(position, next), gained = log_p + ahead - source.outlook, joint = source.joint + gained;
  if (joint < least) return;
  best_[position] = std::max(best_[position], joint);
  Move move{joint, ahead, source.phonemes, graphone, next, source.right};
  for (const std::int32_t phoneme : graphones_.phonemes(graphone)) move.phonemes = spoken_after(move.phonemes, phoneme);
  double sum = weights_.kept[0] * gained + of_graphone(source.letters, graphone);
  CosegmentHistory history = source.history;
  features().of_grams(source.letters, graphone, history, [&](std::int32_t f) { sum += weights_.kept[f]; });
  double score = from.score + weights_.scale * sum;
  const std::int32_t spoken = source.spoken + static_cast<std::int32_t>(graphones_.phonemes(graphone).size());
  if (move.right && supervised_ && !forced_ && !right_.holds(position, spoken, move.phonemes)) {
    move.right = false;
    score += cost_;
  }
  propose(layer, item, score, move);
}

template <class Real>
template <class Propose>
void CosegmentSystem<Real>::end(const Item& from, std::size_t item, Propose& propose) {
  const State& source = from.state;
  std::int32_t next = 0;
  const double log_p = model_->step(source.context, graphones_.end(), &next);
  const bool right = !supervised_ || right_.ends(n_, source.spoken, source.phonemes);
  if (log_p == log_zero || (forced_ && !right)) return;
  double sum = weights_.kept[0] * (log_p - source.outlook);
  CosegmentHistory history = source.history;
  features().of_end(history, [&](std::int32_t f) { sum += weights_.kept[f]; });
  double score = from.score + weights_.scale * sum;
  if (source.right && !right) score += cost_;
  propose(n_layers() - 1, item, score,
          {source.joint + (log_p - source.outlook), source.outlook, source.phonemes, graphones_.end(), source.context,
           source.right && right});
}

template <class Real>
auto CosegmentSystem<Real>::step(int layer, const State& from, const Move& move) const -> State {
  State to{move.joint,   move.outlook,    move.phonemes, from.history,
           move.context, layer / rounds_, from.spoken,   move.right};
  if (move.graphone == graphones_.end()) return to;
  to.spoken += static_cast<std::int32_t>(graphones_.phonemes(move.graphone).size());
  features().of_grams(from.letters, move.graphone, to.history, [](std::int32_t) {});
  return to;
}

template <class Real>
void CosegmentSystem<Real>::collect(const ActionInState<CosegmentSystem>& part, double amount) {
  features().of_part({part.state.letters, part.move.graphone, part.state.history},
                     [&](std::int32_t feature) { collected_.push_back({feature, amount}); });
}

template class CosegmentSystem<float>;
template void CosegmentSystem<float>::expand(int, std::span<const Item>, BeamSearch<CosegmentSystem>&);
template class CosegmentSystem<double>;
template void CosegmentSystem<double>::expand(int, std::span<const Item>, BeamSearch<CosegmentSystem>&);
template class BeamSearch<CosegmentSystem<float>>;
template class BeamSearch<CosegmentSystem<double>>;

void search_words(const Graphones& graphones, const GramModel& model, const FlatWeights<float>& weights, int bits,
                  const SpellingPairs& words, const CosegmentSearchOptions& options, int k, int threads,
                  std::vector<std::vector<Transcription>>& out) {
  threads = workers(words.size, threads);
  std::vector<CosegmentSystem<float>> systems(threads, CosegmentSystem<float>(graphones, bits, options));
  std::vector<CosegmentSearch<float>> searches(threads);
  out.resize(words.size);
  parallel(words.size, threads, [&](std::size_t q, std::int64_t s) {
    CosegmentSearch<float>& search = searches[q];
    systems[q].turn_to(model, weights, words.word(s));
    search.run(systems[q], options.beam);
    std::vector<std::uint64_t> known;
    for (const auto& item : search.last()) {
      if (static_cast<int>(known.size()) == k) break;
      if (std::find(known.begin(), known.end(), item.state.phonemes) != known.end()) continue;
      known.push_back(item.state.phonemes);
      out[s].push_back(transcription_of(graphones, search, item));
    }
  });
}

}  // namespace margent
