#include "cosegments/transcription.hpp"

#include <algorithm>
#include <cmath>

#include "forest/semiring.hpp"
#include "parallel.hpp"

namespace margent {

Transcriber::Transcriber(const Graphones& graphones, const GramModel& model, const TranscriptionOptions& options)
    : graphones_(graphones), model_(model), options_(options), by_phonemes_(options.sum_alignments || options.k > 1),
      buckets_(1 << 12), seen_(graphones.size() + 2, 0) {
  if (graphones.letter_counts().empty() || graphones.letter_counts().front() > 0) options_.insertions = 0;
}

void Transcriber::add(std::int32_t layer, std::int32_t context, std::uint64_t phonemes, double score, double best,
                      std::int32_t back, std::int32_t graphone) {
  const std::uint64_t key =
      mix(mix((static_cast<std::uint64_t>(layer) << 32) | static_cast<std::uint32_t>(context)) ^ phonemes);
  std::int32_t& bucket = buckets_[key & (buckets_.size() - 1)];
  // The newest layers are first in a bucket: hypotheses of older ones cannot be meant.
  for (std::int32_t h = bucket; h >= 0; h = hypotheses_[h].link) {
    Hypothesis& known = hypotheses_[h];
    if (known.context != context || known.phonemes != phonemes || known.layer != layer) continue;
    known.score = options_.sum_alignments ? log_plus(known.score, score) : std::max(known.score, score);
    if (best > known.best) {
      known.best = best;
      known.back = back;
      known.graphone = graphone;
    }
    best_[layer] = std::max(best_[layer], known.score);
    return;
  }
  const auto h = static_cast<std::int32_t>(hypotheses_.size());
  hypotheses_.push_back({context, back, graphone, bucket, layer, phonemes, score, best});
  bucket = h;
  layers_[layer].push_back(h);
  best_[layer] = std::max(best_[layer], score);
}

void Transcriber::expand(std::int32_t from, std::int32_t layer, Symbols letters) {
  const auto [first, last] = graphones_.group(letters);
  if (first == last) return;
  const Hypothesis source = hypotheses_[from];
  model_.steps(source.context, first, last, seen_.data(), ++round_,
               [&](std::int32_t graphone, double score, std::int32_t next) {
                 if (options_.threshold > 0 && source.score + score < best_[layer] - options_.threshold) return;
                 std::uint64_t phonemes = source.phonemes;
                 if (by_phonemes_)
                   for (const std::int32_t phoneme : graphones_.phonemes(graphone))
                     phonemes = mix(phonemes * 31 + static_cast<std::uint64_t>(phoneme) + 1);
                 add(layer, next, phonemes, source.score + score, source.best + score, from, graphone);
               });
}

void Transcriber::run(Symbols word, std::vector<Transcription>& out) {
  out.clear();
  const auto n = static_cast<std::int32_t>(word.size());
  const std::int32_t rounds =
      options_.insertions + 1;  // layer i * rounds + g: i letters done, then g graphones without letters
  hypotheses_.clear();
  if (layers_.size() < static_cast<std::size_t>((n + 1) * rounds)) layers_.resize((n + 1) * rounds);
  for (std::int32_t layer = 0; layer < (n + 1) * rounds; ++layer) layers_[layer].clear();
  best_.assign((n + 1) * rounds, log_zero);
  std::fill(buckets_.begin(), buckets_.end(), -1);
  ends_.clear();
  add(0, model_.start(), 0, 0, 0, -1, -1);
  for (std::int32_t i = 0; i <= n; ++i) {
    double best = log_zero;
    for (std::int32_t g = 0; g < rounds; ++g) {
      const std::int32_t layer = i * rounds + g;
      std::vector<std::int32_t>& here = layers_[layer];
      best = std::max(best, best_[layer]);
      if (options_.threshold > 0)
        std::erase_if(here, [&](std::int32_t h) { return hypotheses_[h].score < best - options_.threshold; });
      if (options_.beam > 0 && static_cast<std::int64_t>(here.size()) > options_.beam) {
        std::nth_element(here.begin(), here.begin() + options_.beam, here.end(), [&](std::int32_t a, std::int32_t b) {
          return hypotheses_[a].score > hypotheses_[b].score || (hypotheses_[a].score == hypotheses_[b].score && a < b);
        });
        here.resize(options_.beam);
      }
      for (std::size_t q = 0; q < here.size(); ++q) {
        const std::int32_t h = here[q];
        check_interruption(1 << 10);
        for (const std::int32_t count : graphones_.letter_counts()) {
          if (count == 0) {
            if (g + 1 < rounds) {
              best_[layer + 1] = std::max(best_[layer + 1], best - 1e-9);
              expand(h, layer + 1, {});
            }
          } else if (i + count <= n) {
            expand(h, (i + count) * rounds, word.subspan(i, count));
          }
        }
        if (i == n) {
          std::int32_t next = 0;
          const double score = model_.step(hypotheses_[h].context, graphones_.end(), &next);
          if (score > log_zero) ends_.emplace_back(score, h);
        }
      }
    }
  }
  finish(out);
}

// Puts together what has the same phonemes. Of equal scores the one found first comes first.
void Transcriber::finish(std::vector<Transcription>& out) {
  struct Found {
    std::uint64_t phonemes;
    double score, best;
    std::int32_t hypothesis;
  };
  std::vector<Found> found;
  for (const auto& [score, h] : ends_) {
    const Hypothesis& last = hypotheses_[h];
    const double sum = last.score + score, best = last.best + score;
    Found* known = nullptr;
    if (by_phonemes_)
      for (Found& f : found)
        if (f.phonemes == last.phonemes) known = &f;
    if (!known) {
      found.push_back({last.phonemes, sum, best, h});
      continue;
    }
    known->score = options_.sum_alignments ? log_plus(known->score, sum) : std::max(known->score, sum);
    if (best > known->best) {
      known->best = best;
      known->hypothesis = h;
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.score > b.score; });
  if (found.size() > static_cast<std::size_t>(options_.k)) found.resize(options_.k);
  for (const Found& f : found) {
    Transcription t;
    t.score = f.score;
    for (std::int32_t h = f.hypothesis; hypotheses_[h].back >= 0; h = hypotheses_[h].back)
      t.graphones.push_back(hypotheses_[h].graphone);
    std::reverse(t.graphones.begin(), t.graphones.end());
    for (const std::int32_t graphone : t.graphones)
      t.phonemes.insert(t.phonemes.end(), graphones_.phonemes(graphone).begin(), graphones_.phonemes(graphone).end());
    out.push_back(std::move(t));
  }
}

void transcribe(const Graphones& graphones, const GramModel& model, const SpellingPairs& words,
                const TranscriptionOptions& options, int threads, std::vector<std::vector<Transcription>>& out) {
  threads = workers(words.size, threads);
  std::vector<Transcriber> searches;
  for (int q = 0; q < threads; ++q) searches.emplace_back(graphones, model, options);
  out.resize(words.size);
  parallel(words.size, threads, [&](std::size_t q, std::int64_t s) { searches[q].run(words.word(s), out[s]); });
}

}  // namespace margent
