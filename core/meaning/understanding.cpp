#include "meaning/understanding.hpp"

#include <memory>
#include <stdexcept>
#include <unordered_set>

#include "parallel.hpp"

namespace margent {
namespace {

using System = QuestionSystem<const FrozenRows>;

}  // namespace

std::vector<std::vector<FoundMeaning>> understand(const QuestionSetup& setup, const FrozenRows& table,
                                                  std::int64_t beam, int k, int threads) {
  struct Worker {
    explicit Worker(const QuestionSetup& setup) : system(setup) {}
    System system;
    BeamSearch<System> search;
    BeamSearch<System>::Path path;
  };
  std::vector<std::vector<FoundMeaning>> out(setup.questions.size);
  std::vector<std::unique_ptr<Worker>> made(workers(setup.questions.size, threads));
  parallel(setup.questions.size, threads, [&](std::size_t thread, std::int64_t question) {
    if (!made[thread]) made[thread] = std::make_unique<Worker>(setup);
    auto& [system, search, path] = *made[thread];
    system.turn_to(question, {&table});
    search.run(system, beam);
    std::unordered_set<std::uint64_t> known;
    for (const auto& item : search.last()) {
      if (static_cast<int>(out[question].size()) == k) break;
      if (!item.state.finished || !known.insert(item.state.stack).second) continue;
      search.trace(item, path);
      FoundMeaning& found = out[question].emplace_back();
      found.score = item.score;
      for (const auto* passed : path) found.moves.push_back(passed->move);
    }
  });
  return out;
}

std::vector<MeaningFeature> explain_meaning(const QuestionSetup& setup, const FrozenRows& table,
                                            const std::vector<QuestionMove>& moves) {
  System system(setup);
  system.turn_to(0, {&table});
  std::vector<MeaningFeature> out;
  QuestionState state;
  for (std::size_t step = 0; step < moves.size(); ++step) {
    bool legal = false;
    system.features(state, moves[step], [&](std::size_t t, std::uint64_t key) {
      legal = true;
      const std::int32_t row = table.find(key);
      if (row == FrozenRows::missing) return;
      float weight = 0;
      table.add(row, &weight);
      MeaningFeature feature{static_cast<std::int32_t>(step), static_cast<std::int32_t>(t), weight, {}};
      for (const std::int32_t term : setup.templates->terms_of(t)) feature.values.push_back(system.values()[term]);
      out.push_back(std::move(feature));
    });
    if (!legal) throw std::invalid_argument("a derivation with an action that is not legal");
    state = system.step(0, state, moves[step]);
  }
  return out;
}

}  // namespace margent
