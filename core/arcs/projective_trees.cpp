#include "arcs/projective_trees.hpp"

#include <algorithm>
#include <cmath>

#include "forest/forest.hpp"
#include "interruption.hpp"

namespace margent {

namespace {

constexpr std::int64_t of_a_span = 512;  // operations, for it has some ways to be put together

double part(const double* scores, std::int64_t i) { return scores && i >= 0 ? scores[i] : 0.0; }

double common(const PartScores& scores, std::int32_t arc, std::int64_t grandparent) {
  return arc < 0 ? 0.0 : scores.arcs[arc] + part(scores.grandparents, grandparent);
}

// Spans that no tree has stay at -inf.
double* start(const ProjectiveChart& chart, ProjectiveWorkspace& work) {
  work.values.assign(static_cast<std::size_t>(chart.size()), log_zero);
  double* values = work.values.data();
  chart.each_empty([&](std::int32_t span) { values[span] = 0; });
  return values;
}

}  // namespace

double projective_best(const ProjectiveChart& chart, const PartScores& scores, ProjectiveWorkspace& work, Tree& tree) {
  double* values = start(chart, work);
  work.back.assign(2 * static_cast<std::size_t>(chart.size()), -1);
  std::int32_t* back = work.back.data();
  chart.walk<true>([&](std::int32_t span, std::int32_t arc, std::int64_t grandparent, auto terms) {
    check_interruption(of_a_span);
    const double base = common(scores, arc, grandparent);
    if (base == log_zero) return;
    double best = log_zero;
    std::int32_t left = -1, right = -1;
    terms([&](std::int32_t x, std::int32_t y, std::int64_t sibling) {
      const double value = values[x] + (y < 0 ? 0.0 : values[y]) + part(scores.siblings, sibling);
      if (value > best) {
        best = value;
        left = x;
        right = y;
      }
    });
    values[span] = best + base;
    back[2 * static_cast<std::size_t>(span)] = left;
    back[2 * static_cast<std::size_t>(span) + 1] = right;
  });
  tree.clear();
  const double score = values[chart.goal()];
  if (score == log_zero) return score;
  tree.assign(static_cast<std::size_t>(chart.arcs().n_words()), -1);
  std::vector<std::int32_t> open{chart.goal()};
  while (!open.empty()) {
    const std::int32_t span = open.back();
    open.pop_back();
    if (const std::int32_t arc = chart.linked_arc(span); arc >= 0)
      tree[static_cast<std::size_t>(chart.arcs().modifier(arc)) - 1] = arc;
    for (const std::size_t side : {0u, 1u})
      if (const std::int32_t next = back[2 * static_cast<std::size_t>(span) + side]; next >= 0) open.push_back(next);
  }
  return score;
}

double projective_log_partition(const ProjectiveChart& chart, const PartScores& scores, ProjectiveWorkspace& work) {
  double* values = start(chart, work);
  std::vector<double>& each = work.terms;
  chart.walk<true>([&](std::int32_t span, std::int32_t arc, std::int64_t grandparent, auto terms) {
    check_interruption(of_a_span);
    const double base = common(scores, arc, grandparent);
    if (base == log_zero) return;
    each.clear();
    double top = log_zero;
    terms([&](std::int32_t x, std::int32_t y, std::int64_t sibling) {
      const double value = values[x] + (y < 0 ? 0.0 : values[y]) + part(scores.siblings, sibling);
      if (value == log_zero) return;
      each.push_back(value);
      top = std::max(top, value);
    });
    if (each.size() <= 1) {
      values[span] = top + base;
      return;
    }
    double sum = 0;
    for (const double value : each) sum += std::exp(value - top);
    values[span] = base + top + std::log(sum);
  });
  return values[chart.goal()];
}

PartMarginals projective_marginals(const ProjectiveChart& chart, const PartScores& scores, ProjectiveWorkspace& work) {
  PartMarginals out;
  const ArcSet& arcs = chart.arcs();
  out.log_partition = projective_log_partition(chart, scores, work);
  out.arcs.assign(static_cast<std::size_t>(arcs.size()), 0.0);
  if (scores.siblings) out.siblings.assign(static_cast<std::size_t>(arcs.n_siblings()), 0.0);
  if (scores.grandparents) out.grandparents.assign(static_cast<std::size_t>(arcs.n_grandparents()), 0.0);
  if (out.log_partition == log_zero) return out;
  const double* values = work.values.data();
  work.flows.assign(work.values.size(), 0.0);
  std::vector<double>& each = work.terms;
  double* flows = work.flows.data();
  flows[chart.goal()] = 1;
  chart.walk<false>([&](std::int32_t span, std::int32_t arc, std::int64_t grandparent, auto terms) {
    check_interruption(of_a_span);
    const double flow = flows[span];
    if (flow == 0) return;
    if (arc >= 0) {
      out.arcs[static_cast<std::size_t>(arc)] += flow;
      if (scores.grandparents && grandparent >= 0) out.grandparents[static_cast<std::size_t>(grandparent)] += flow;
    }
    // The shares of terms sum up to one whatever rounding did to the values of spans: with large scores nothing may
    // become more probable than it can be.
    double top = log_zero, sum = 0;
    const auto value_of = [&](std::int32_t x, std::int32_t y, std::int64_t sibling) {
      return values[x] + (y < 0 ? 0.0 : values[y]) + part(scores.siblings, sibling);
    };
    each.clear();
    terms([&](std::int32_t x, std::int32_t y, std::int64_t sibling) {
      each.push_back(value_of(x, y, sibling));
      top = std::max(top, each.back());
    });
    if (top == log_zero) return;
    for (double& value : each) sum += value = std::exp(value - top);
    const double* weight = each.data();
    terms([&](std::int32_t x, std::int32_t y, std::int64_t sibling) {
      const double share = flow * (*weight++ / sum);
      if (share == 0) return;
      flows[x] += share;
      if (y >= 0) flows[y] += share;
      if (scores.siblings && sibling >= 0) out.siblings[static_cast<std::size_t>(sibling)] += share;
    });
  });
  return out;
}

}  // namespace margent
