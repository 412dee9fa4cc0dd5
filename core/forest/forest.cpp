#include "forest/forest.hpp"

#include <utility>

#include "forest/forest_derivation.hpp"
#include "random.hpp"

namespace margent {

Derivations best(const Forest& forest) {
  const std::vector<Best::Value> values = inside(forest, Best{});
  Derivations found;
  if (values.back().score == log_zero) return found;
  found.scores.push_back(values.back().score);
  const auto open = [&](std::int32_t node, std::vector<std::int32_t>& stack) {
    const std::int32_t edge = values[static_cast<std::size_t>(node)].edge;
    const auto tails = forest.tails(edge);
    stack.insert(stack.end(), tails.begin(), tails.end());
    return edge;
  };
  append_derivation(forest.root(), open, found.edges);
  found.ptr.push_back(static_cast<std::int64_t>(found.edges.size()));
  return found;
}

namespace {

// The forest as a branching process: a derivation drawn with probability proportional to exp(score) takes, at each
// node it reaches, edge e with probability choice[e], whatever was chosen elsewhere.
struct Process {
  double log_partition;
  std::vector<double> choice;
};

Process process(const Forest& forest) {
  const std::vector<double> log_inside = inside(forest, Log{});
  Process result{log_inside.back(), std::vector<double>(static_cast<std::size_t>(forest.n_edges()), 0.0)};
  for (std::int32_t node = 0; node <= forest.root(); ++node) {
    check_interruption(static_cast<std::int64_t>(32 * forest.incoming(node).size()));
    const double log_total = log_inside[static_cast<std::size_t>(node)];
    if (!std::isfinite(log_total)) continue;
    double total = 0.0;
    for (const std::int32_t edge : forest.incoming(node))
      total += result.choice[static_cast<std::size_t>(edge)] =
          std::exp(edge_value<Log>(forest, Log{}, log_inside, edge) - log_total);
    // One up to rounding. Divided by, so that the rounding does not add up over a deep forest.
    for (const std::int32_t edge : forest.incoming(node)) result.choice[static_cast<std::size_t>(edge)] /= total;
  }
  return result;
}

}  // namespace

// The usual inside-outside formula, inside * outside / partition, computed from the root down as
//   uses(root) = 1,  uses(e) = uses(head(e)) * choice[e],  uses(v) = sum of uses(e) over the edges e with tail v,
// in which outside values, and the cancellation of large logarithms, do not occur.
Marginals marginals(const Forest& forest) {
  auto [log_partition, edge_uses] = process(forest);
  std::vector<double> node_uses(static_cast<std::size_t>(forest.root()) + 1, 0.0);
  node_uses.back() = 1.0;
  for (std::int32_t node = forest.root(); node >= 0; --node) {
    check_interruption(static_cast<std::int64_t>(8 * forest.incoming(node).size()));
    for (const std::int32_t edge : forest.incoming(node)) {
      const double uses = edge_uses[static_cast<std::size_t>(edge)] *= node_uses[static_cast<std::size_t>(node)];
      for (const std::int32_t tail : forest.tails(edge)) node_uses[static_cast<std::size_t>(tail)] += uses;
    }
  }
  return {log_partition, std::move(edge_uses)};
}

Derivations sample(const Forest& forest, std::int64_t n, std::uint64_t seed) {
  const Process drawn = process(forest);
  Derivations found;
  if (!std::isfinite(drawn.log_partition)) return found;
  Random random(seed);
  const auto open = [&](std::int32_t node, std::vector<std::int32_t>& stack) {
    double left = random.uniform();
    std::int32_t chosen = -1;
    for (const std::int32_t edge : forest.incoming(node)) {
      const double probability = drawn.choice[static_cast<std::size_t>(edge)];
      if (probability == 0.0) continue;
      chosen = edge;  // rounding may leave a little at the end: the last possible edge takes it
      left -= probability;
      if (left < 0.0) break;
    }
    const auto tails = forest.tails(chosen);
    stack.insert(stack.end(), tails.begin(), tails.end());
    return chosen;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    check_interruption(static_cast<std::int64_t>(16 * (found.edges.size() - found.ptr[i ? i - 1 : 0])));
    append_derivation(forest.root(), open, found.edges);
    double score = 0.0;
    for (std::size_t at = static_cast<std::size_t>(found.ptr.back()); at < found.edges.size(); ++at)
      score += forest.score(found.edges[at]);
    found.scores.push_back(score);
    found.ptr.push_back(static_cast<std::int64_t>(found.edges.size()));
  }
  return found;
}

}  // namespace margent
