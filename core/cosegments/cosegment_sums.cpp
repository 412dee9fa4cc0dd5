#include "cosegments/cosegment_sums.hpp"

#include <algorithm>
#include <cmath>

#include "forest/semiring.hpp"
#include "parallel.hpp"

namespace margent {

std::int32_t CosegmentSums::state(std::int32_t cell, std::int32_t context, const State& from, std::int32_t graphone) {
  State wanted;
  wanted.cell = cell;
  wanted.context = context;
  wanted.graphones.fill(-1);
  std::uint64_t key = mix((static_cast<std::uint64_t>(cell) << 32) | static_cast<std::uint32_t>(context));
  if (history_ > 0) {
    wanted.graphones[0] = graphone;
    for (int h = 1; h < history_; ++h) wanted.graphones[h] = from.graphones[h - 1];
    for (int h = 0; h < history_; ++h) key = mix(key + static_cast<std::uint32_t>(wanted.graphones[h]));
  }
  std::int32_t& bucket = buckets_[key & (buckets_.size() - 1)];
  for (std::int32_t s = bucket; s >= 0; s = states_[s].link)
    if (states_[s].cell == cell && states_[s].context == context && states_[s].graphones == wanted.graphones) return s;
  wanted.link = bucket;
  wanted.in = wanted.out = log_zero;
  wanted.back = -1;
  bucket = static_cast<std::int32_t>(states_.size());
  std::int32_t& diagonal = diagonals_[cell / width_ + cell % width_];
  wanted.next_of_diagonal = diagonal;
  diagonal = bucket;
  states_.push_back(wanted);
  return bucket;
}

void CosegmentSums::reach(std::int32_t from, std::int32_t cell, std::int32_t graphone, double score,
                          std::int32_t context) {
  const State source = states_[from];
  const std::int32_t to = state(cell, context, source, graphone);
  State& target = states_[to];
  const double path = source.in + score;
  if (!best_)
    target.in = log_plus(target.in, path);
  else if (path > target.in) {
    target.in = path;
    target.back = static_cast<std::int32_t>(arcs_.size());
  }
  arcs_.push_back({from, to, graphone, score});
}

double CosegmentSums::run(const CosegmentLattice& lattice) {
  states_.clear();
  arcs_.clear();
  end_ = -1;
  total_ = log_zero;
  if (lattice.empty()) return total_;
  width_ = lattice.m + 1;
  const int n_diagonals = lattice.n + lattice.m + 1;
  diagonals_.assign(n_diagonals, -1);
  buckets_.assign(1 << 10, -1);
  State first{};
  first.graphones.fill(-1);
  first.graphones[0] = graphones_.start();
  first.context = model_.start();
  first.in = 0;
  first.out = log_zero;
  first.next_of_diagonal = first.link = first.back = -1;
  if (history_ == 0) first.graphones[0] = -1;
  states_.push_back(first);
  diagonals_[0] = 0;
  const std::int32_t last = lattice.cells() - 1;
  for (int d = 0; d < n_diagonals; ++d) {
    here_.clear();
    for (std::int32_t s = diagonals_[d]; s >= 0; s = states_[s].next_of_diagonal) here_.push_back(s);
    std::sort(here_.begin(), here_.end());
    if (beam_ > 0 && static_cast<std::int64_t>(here_.size()) > beam_) {
      std::nth_element(here_.begin(), here_.begin() + beam_, here_.end(), [&](std::int32_t a, std::int32_t b) {
        return states_[a].in > states_[b].in || (states_[a].in == states_[b].in && a < b);
      });
      here_.resize(beam_);
      std::sort(here_.begin(), here_.end());
    }
    for (const std::int32_t s : here_) {
      check_interruption(1 << 10);
      const std::int32_t cell = states_[s].cell, context = states_[s].context;
      std::int32_t next = 0;
      for (std::int32_t a = lattice.begin[cell]; a < lattice.begin[cell + 1]; ++a) {
        const double score = model_.step(context, lattice.arcs[a].graphone, &next);
        if (score > log_zero) reach(s, lattice.arcs[a].to, lattice.arcs[a].graphone, score, next);
      }
      if (cell != last) continue;
      const double score = model_.step(context, graphones_.end(), &next);
      if (score == log_zero) continue;
      const double path = states_[s].in + score;
      if (!best_ || path > total_) end_ = s;
      total_ = best_ ? std::max(total_, path) : log_plus(total_, path);
      arcs_.push_back({s, -1, graphones_.end(), score});
    }
  }
  return total_;
}

void CosegmentSums::expect(double prune_count, std::vector<ExpectedGram>& out) {
  if (total_ == log_zero) return;
  for (std::size_t a = arcs_.size(); a-- > 0;) {  // all arcs from a state come after all arcs to it
    check_interruption(64);
    const Arc& arc = arcs_[a];
    State& from = states_[arc.from];
    const double after = arc.score + (arc.to < 0 ? 0 : states_[arc.to].out);
    if (after == log_zero) continue;
    from.out = log_plus(from.out, after);
    const double count = std::exp(from.in + after - total_);
    if (!(count > 0) || count < prune_count) continue;
    ExpectedGram gram;
    int length = 0;
    for (int h = history_; h-- > 0;)
      if (from.graphones[h] >= 0) gram.graphones[length++] = from.graphones[h];
    gram.graphones[length++] = arc.graphone;
    gram.length = length;
    gram.count = count;
    out.push_back(gram);
  }
}

void CosegmentSums::best_graphones(std::vector<std::int32_t>& out) const {
  out.clear();
  if (end_ < 0) return;
  for (std::int32_t a = states_[end_].back; a >= 0; a = states_[arcs_[a].from].back) out.push_back(arcs_[a].graphone);
  std::reverse(out.begin(), out.end());
}

GramExpectation expect_grams(const Graphones& graphones, const GramModel& model, const SpellingPairs& pairs,
                             std::int64_t first, std::int64_t last, int order, std::int64_t beam, double prune_count,
                             int threads, GramCounts* counts) {
  constexpr std::int64_t chunk = 64;
  const std::int64_t n_chunks = (last - first + chunk - 1) / chunk;
  std::vector<std::vector<ExpectedGram>> grams(n_chunks);
  std::vector<GramExpectation> parts(n_chunks);
  threads = workers(n_chunks, threads);
  std::vector<CosegmentSums> sums;
  for (int q = 0; q < threads; ++q) sums.emplace_back(graphones, model, order - 1, beam);
  std::vector<CosegmentLattice> lattices(sums.size());
  parallel(n_chunks, threads, [&](std::size_t q, std::int64_t c) {
    for (std::int64_t s = first + c * chunk; s < std::min(last, first + (c + 1) * chunk); ++s) {
      build_lattice(graphones, pairs.word(s), pairs.pronunciation(s), lattices[q]);
      const double value = sums[q].run(lattices[q]);
      if (value == log_zero) {
        ++parts[c].impossible;
        continue;
      }
      parts[c].log_likelihood += value;
      if (counts) sums[q].expect(prune_count, grams[c]);
    }
  });
  GramExpectation all;
  for (std::int64_t c = 0; c < n_chunks; ++c) {
    all.log_likelihood += parts[c].log_likelihood;
    all.impossible += parts[c].impossible;
    for (const ExpectedGram& gram : grams[c])
      counts->add({gram.graphones.data(), static_cast<std::size_t>(gram.length)}, gram.count);
  }
  return all;
}

void align_pairs(const Graphones& graphones, const GramModel& model, const SpellingPairs& pairs, std::int64_t beam,
                 bool best, int threads, double* scores, std::vector<std::vector<std::int32_t>>* paths) {
  threads = workers(pairs.size, threads);
  std::vector<CosegmentSums> sums;
  for (int q = 0; q < threads; ++q) sums.emplace_back(graphones, model, 0, beam, best);
  std::vector<CosegmentLattice> lattices(sums.size());
  parallel(pairs.size, threads, [&](std::size_t q, std::int64_t s) {
    build_lattice(graphones, pairs.word(s), pairs.pronunciation(s), lattices[q]);
    scores[s] = sums[q].run(lattices[q]);
    if (paths) sums[q].best_graphones((*paths)[s]);
  });
}

}  // namespace margent
