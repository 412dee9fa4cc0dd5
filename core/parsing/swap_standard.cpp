#include "parsing/swap_standard.hpp"

#include <algorithm>
#include <utility>

#include "interruption.hpp"

namespace margent {
namespace {

// At which place each word stands where no arcs cross: first the dependents at its left, then the word, then those at
// its right, each with all below it.
std::vector<std::int32_t> projective_places(const GoldTree& gold) {
  std::vector<std::int32_t> places(gold.n_words() + 1, 0);
  std::int32_t place = 0;
  std::vector<std::pair<std::int32_t, bool>> stack{{0, false}};
  while (!stack.empty()) {
    const auto [word, visited] = stack.back();
    stack.pop_back();
    if (visited) {
      places[word] = place++;
      continue;
    }
    const auto below = gold.dependents(word);
    const auto middle = std::lower_bound(below.begin(), below.end(), word);
    for (auto it = below.end(); it != middle;) stack.push_back({*--it, false});
    stack.push_back({word, true});
    for (auto it = middle; it != below.begin();) stack.push_back({*--it, false});
  }
  return places;
}

// Which arc the two topmost words of a stack should have: left, right, or none (shift). Counts what words lack.
Transition arc_between(const GoldTree& gold, const std::vector<std::int32_t>& stack, std::vector<std::int32_t>& lacks) {
  const std::size_t n = stack.size();
  if (n < 2) return Transition::shift;
  const std::int32_t s0 = stack[n - 1], s1 = stack[n - 2];
  if (gold.head(s1) == s0 && lacks[s1] == 0) return Transition::left;
  if (gold.head(s0) == s1 && lacks[s0] == 0) return Transition::right;
  return Transition::shift;
}

void make_arc(Transition transition, const GoldTree& gold, std::vector<std::int32_t>& stack,
              std::vector<std::int32_t>& lacks) {
  const std::int32_t s0 = stack.back(), s1 = stack[stack.size() - 2];
  const std::int32_t word = transition == Transition::left ? s1 : s0;
  --lacks[gold.head(word)];
  stack.pop_back();
  stack.back() = transition == Transition::left ? s0 : s1;
}

std::vector<std::int32_t> dependents_to_come(const GoldTree& gold) {
  std::vector<std::int32_t> lacks(gold.n_words() + 1);
  for (std::int32_t word = 0; word <= gold.n_words(); ++word)
    lacks[word] = static_cast<std::int32_t>(gold.dependents(word).size());
  return lacks;
}

// The root of the largest part with each word that is built without swaps: the maximal projective components.
std::vector<std::int32_t> projective_components(const GoldTree& gold) {
  const std::int32_t n = gold.n_words();
  std::vector<std::int32_t> stack, lacks = dependents_to_come(gold), above(n + 1, 0);
  for (std::int32_t word = 1; word <= n; ++word) {
    stack.push_back(word);
    for (Transition t; (t = arc_between(gold, stack, lacks)) != Transition::shift;) {
      const std::int32_t dependent = t == Transition::left ? stack[stack.size() - 2] : stack.back();
      above[dependent] = gold.head(dependent);
      make_arc(t, gold, stack, lacks);
    }
  }
  std::vector<std::int32_t> roots(n + 1, 0), path;
  for (std::int32_t word = 1; word <= n; ++word) {
    path.clear();
    std::int32_t at = word;
    for (; above[at] != 0 && roots[at] == 0; at = above[at]) path.push_back(at);
    const std::int32_t root = roots[at] != 0 ? roots[at] : at;
    for (const std::int32_t passed : path) roots[passed] = root;
    roots[at] = root;
  }
  return roots;
}

}  // namespace

std::vector<Transition> swap_oracle(const GoldTree& gold, bool lazy) {
  const std::int32_t n = gold.n_words();
  const std::vector<std::int32_t> places = projective_places(gold);
  const std::vector<std::int32_t> components = lazy ? projective_components(gold) : std::vector<std::int32_t>{};
  std::vector<std::int32_t> stack, buffer, lacks = dependents_to_come(gold);
  for (std::int32_t word = n; word > 0; --word) buffer.push_back(word);
  std::vector<Transition> path;
  while (stack.size() > 1 || !buffer.empty()) {
    check_interruption(1 << 5);
    Transition transition = arc_between(gold, stack, lacks);
    const std::size_t depth = stack.size();
    if (transition == Transition::shift && depth >= 2 && places[stack[depth - 1]] < places[stack[depth - 2]]) {
      const bool waits = lazy && !buffer.empty() && components[stack.back()] == components[buffer.back()];
      if (!waits) transition = Transition::swap;
    }
    if (transition == Transition::shift && buffer.empty()) return {};  // this is no tree with one root
    path.push_back(transition);
    if (transition == Transition::shift) {
      stack.push_back(buffer.back());
      buffer.pop_back();
    } else if (transition == Transition::swap) {
      buffer.push_back(stack[depth - 2]);
      stack[depth - 2] = stack[depth - 1];
      stack.pop_back();
    } else {
      make_arc(transition, gold, stack, lacks);
    }
  }
  if (n > 0) path.push_back(Transition::finish);
  return path;
}

}  // namespace margent
