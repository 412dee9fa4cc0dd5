#include "parsing/parsing.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "parallel.hpp"

namespace margent {
namespace {

template <class Work>
auto with_transitions(ParsingTransitions transitions, Work work) {
  switch (transitions) {
    case ParsingTransitions::arc_standard:
      return work(ArcStandard{});
    case ParsingTransitions::arc_hybrid:
      return work(ArcHybrid{});
    case ParsingTransitions::arc_eager:
      return work(ArcEager{});
    default:
      return work(SwapStandard{});
  }
}

template <class T>
class Parser {
 public:
  using System = ParsingSystem<T, const FrozenRows>;

  Parser(const ParsingSetup& setup, const FrozenRows& table)
      : actions_(*setup.actions), table_(table),
        system_(setup.treebank, *setup.templates, *setup.actions, setup.options) {}

  void parse(std::int64_t sentence, std::int64_t beam, int k, std::vector<FoundTree>& out) {
    system_.turn_to(sentence, {&table_});
    system_.tell_trees(k > 1);
    search_.run(system_, beam);
    std::unordered_set<std::uint64_t> known;
    for (const auto& item : search_.last()) {
      if (static_cast<int>(out.size()) == k) break;
      if (k > 1 && !known.insert(item.state.tree).second) continue;
      out.push_back(tree(item));
    }
  }
  ExplainedTree explain(std::int64_t beam) {
    system_.turn_to(0, {&table_}, 0);
    system_.force(true);
    search_.run(system_, beam);
    ExplainedTree out;
    if (search_.last().empty()) return out;
    out.found = true;
    out.score = search_.last()[0].score;
    search_.trace(search_.last()[0], path_);
    for (std::size_t step = 0; step < path_.size(); ++step) list(step, out.features);
    return out;
  }

 private:
  FoundTree tree(const BeamItem<System>& item) {
    FoundTree out{item.score, std::vector<std::int32_t>(system_.n_words()),
                  std::vector<std::int32_t>(system_.n_words())};
    search_.trace(item, path_);
    for (const auto* passed : path_) {
      const MadeArc arc = system_.arc(search_.before(*passed), passed->move);
      if (!arc.made()) continue;
      out.heads[arc.word - 1] = arc.head;
      out.labels[arc.word - 1] = actions_[passed->move.action].label;
    }
    return out;
  }
  void list(std::size_t step, std::vector<TreeFeature>& out) {
    const std::int32_t action = path_[step]->move.action;
    const ParserTemplates& templates = system_.scorer().templates();
    system_.scorer().features(
        search_.before(*path_[step]).configuration, system_.nodes(), [&](std::size_t t, std::uint64_t key) {
          const std::int32_t row = table_.find(key);
          if (row == FrozenRows::missing) return;
          scores_.assign(table_.width(), 0.0f);
          table_.add(row, scores_.data());
          if (scores_[action] == 0) return;
          TreeFeature feature{
              static_cast<std::int32_t>(step), action, static_cast<std::int32_t>(t), scores_[action], {}};
          for (const std::int32_t term : templates.terms_of(t))
            feature.values.push_back(system_.scorer().values()[term]);
          out.push_back(std::move(feature));
        });
  }

  const ParserActions& actions_;
  const FrozenRows& table_;
  System system_;
  BeamSearch<System> search_;
  typename BeamSearch<System>::Path path_;
  std::vector<float> scores_;
};

// Follows the first action that keeps the tree in reach.
template <class T>
std::vector<std::int32_t> way_to(const ParsingSetup& setup, std::int64_t sentence) {
  GoldTree gold;
  gold.set(setup.treebank, sentence);
  const std::int32_t n = gold.n_words();
  WordNodes nodes;
  nodes.clear();
  std::vector<Transition> plan;
  if constexpr (!T::known_length) plan = swap_oracle(gold, setup.options.lazy_swaps);
  std::vector<std::int32_t> path;
  for (Configuration c; c.depth > 0 || !c.buffer_empty(n);) {
    check_interruption(1 << 7);
    const auto keeps = [&](Transition transition) {
      if constexpr (T::known_length)
        return T::keeps(transition, c, nodes, gold);
      else
        return path.size() < plan.size() && plan[path.size()] == transition;
    };
    std::int32_t chosen = -1;
    for (const Transition transition : {Transition::left, Transition::right, Transition::finish, Transition::swap,
                                        Transition::reduce, Transition::shift}) {
      if (chosen >= 0 || std::find(T::transitions.begin(), T::transitions.end(), transition) == T::transitions.end() ||
          !T::legal(transition, c, nodes, n) || !keeps(transition))
        continue;
      const MadeArc arc = T::arc(transition, c, nodes);
      for (const std::int32_t action : setup.actions->of(transition))
        if (chosen < 0 && (!arc.made() || gold.is_right(arc.word, arc.head, (*setup.actions)[action].label)))
          chosen = action;
    }
    if (chosen < 0) return {};
    path.push_back(chosen);
    c = T::apply((*setup.actions)[chosen].transition, (*setup.actions)[chosen].label, c, nodes);
  }
  return path;
}

}  // namespace

std::vector<std::vector<FoundTree>> parse(ParsingTransitions transitions, const ParsingSetup& setup,
                                          const FrozenRows& table, std::int64_t beam, int k, int threads) {
  std::vector<std::vector<FoundTree>> out(setup.treebank.size);
  with_transitions(transitions, [&](auto kind) {
    std::vector<std::unique_ptr<Parser<decltype(kind)>>> parsers(workers(setup.treebank.size, threads));
    parallel(setup.treebank.size, threads, [&](std::size_t thread, std::int64_t sentence) {
      if (!parsers[thread]) parsers[thread] = std::make_unique<Parser<decltype(kind)>>(setup, table);
      parsers[thread]->parse(sentence, beam, k, out[sentence]);
    });
  });
  return out;
}

ExplainedTree explain(ParsingTransitions transitions, const ParsingSetup& setup, const FrozenRows& table,
                      std::int64_t beam) {
  return with_transitions(transitions, [&](auto kind) { return Parser<decltype(kind)>(setup, table).explain(beam); });
}

bool complete(ParsingTransitions transitions, const ParserActions& actions) {
  return with_transitions(transitions, [&](auto kind) {
    return std::ranges::none_of(kind.transitions, [&](Transition t) { return actions.of(t).empty(); });
  });
}

std::vector<std::vector<std::int32_t>> right_actions(ParsingTransitions transitions, const ParsingSetup& setup) {
  std::vector<std::vector<std::int32_t>> out(setup.treebank.size);
  with_transitions(transitions, [&](auto kind) {
    parallel(setup.treebank.size, 1, [&](std::size_t, std::int64_t s) { out[s] = way_to<decltype(kind)>(setup, s); });
  });
  return out;
}

std::vector<std::pair<std::int32_t, double>> dynamic_costs(ParsingTransitions transitions, const ParsingSetup& setup,
                                                           const std::vector<std::int32_t>& taken) {
  GoldTree gold;
  gold.set(setup.treebank, 0);
  return with_transitions(transitions, [&](auto kind) {
    using T = decltype(kind);
    WordNodes nodes;
    nodes.clear();
    Configuration c;
    for (const std::int32_t action : taken) {
      const auto [transition, label] = (*setup.actions)[action];
      if (!T::legal(transition, c, nodes, gold.n_words())) throw std::invalid_argument("an action that is not legal");
      c = T::apply(transition, label, c, nodes);
    }
    std::vector<std::pair<std::int32_t, double>> out;
    for (std::int32_t action = 0; action < setup.actions->size(); ++action) {
      const auto [transition, label] = (*setup.actions)[action];
      if (!T::legal(transition, c, nodes, gold.n_words())) continue;
      double cost = -1;
      if constexpr (requires { T::cost(transition, c, nodes, gold); }) {
        const MadeArc arc = T::arc(transition, c, nodes);
        cost = T::cost(transition, c, nodes, gold);
        if (arc.made() && gold.may_hang(arc.word, arc.head))
          cost += gold.cost(arc.word, arc.head, label, setup.options.costs);
      }
      out.push_back({action, cost});
    }
    return out;
  });
}

}  // namespace margent
