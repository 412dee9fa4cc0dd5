#include "cosegments/transcription.hpp"

#include "interruption.hpp"
#include "parallel.hpp"

namespace margent {

TranscriptionSystem::TranscriptionSystem(const Graphones& graphones, const GramModel& model,
                                         const TranscriptionOptions& options)
    : graphones_(graphones), model_(model), options_(options), by_phonemes_(options.sum_alignments || options.k > 1),
      rounds_(possible_insertions(graphones, options.insertions) + 1), seen_(graphones.size() + 2, 0) {}

template <class Propose>
void TranscriptionSystem::expand(int layer, std::span<const Item> items, Propose& propose) {
  const std::int32_t i = layer / rounds_, g = layer % rounds_, n = static_cast<std::int32_t>(word_.size());
  const bool may_insert = g + 1 < rounds_;
  if (may_insert && !items.empty()) best_[layer + 1] = best_of_position_ - 1e-9;
  for (std::size_t q = 0; q < items.size(); ++q) {
    check_interruption(1 << 10);
    for (const std::int32_t count : graphones_.letter_counts()) {
      if (count == 0 && may_insert) extend(items[q], q, layer + 1, {}, propose);
      if (count > 0 && i + count <= n) extend(items[q], q, (i + count) * rounds_, word_.subspan(i, count), propose);
    }
    if (i < n) continue;
    std::int32_t next = 0;
    const double log_p = model_.step(items[q].state.context, graphones_.end(), &next);
    // Pronunciations that end alike are one, whatever came before.
    const Move move{items[q].move.best + log_p, items[q].move.phonemes, graphones_.end(), 0};
    propose(n_layers() - 1, q, items[q].score + log_p, move);
  }
  best_of_position_ = may_insert ? std::max(best_of_position_, best_[layer + 1]) : best_[layer + 1];
}

template <class Propose>
void TranscriptionSystem::extend(const Item& from, std::size_t item, int layer, Symbols letters, Propose& propose) {
  const auto [first, last] = graphones_.group(letters);
  if (first == last) return;
  model_.steps(from.state.context, first, last, seen_.data(), ++round_,
               [&](std::int32_t graphone, double log_p, std::int32_t next) {
                 const double score = from.score + log_p;
                 if (options_.threshold > 0 && score < best_[layer] - options_.threshold) return;
                 std::uint64_t phonemes = from.move.phonemes;
                 if (by_phonemes_)
                   for (const std::int32_t phoneme : graphones_.phonemes(graphone))
                     phonemes = spoken_after(phonemes, phoneme);
                 best_[layer] = std::max(best_[layer], score);
                 propose(layer, item, score, {from.move.best + log_p, phonemes, graphone, next});
               });
}

void transcribe(const Graphones& graphones, const GramModel& model, const SpellingPairs& words,
                const TranscriptionOptions& options, int threads, std::vector<std::vector<Transcription>>& out) {
  using Search = BeamSearch<TranscriptionSystem>;
  threads = workers(words.size, threads);
  std::vector<TranscriptionSystem> systems(threads, TranscriptionSystem(graphones, model, options));
  std::vector<Search> searches(threads);
  out.resize(words.size);
  parallel(words.size, threads, [&](std::size_t q, std::int64_t s) {
    systems[q].turn_to(words.word(s));
    searches[q].run(systems[q], options.beam);
    std::vector<const Search::Item*> found;
    for (const auto& item : searches[q].last()) found.push_back(&item);
    std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->score > b->score; });
    if (found.size() > static_cast<std::size_t>(options.k)) found.resize(options.k);
    for (const auto* item : found) out[s].push_back(transcription_of(graphones, searches[q], *item));
  });
}

}  // namespace margent
