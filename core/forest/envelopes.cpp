#include "forest/envelopes.hpp"

#include <algorithm>

#include "interruption.hpp"

namespace margent {

namespace {

// Where a line begins to be above another one of less slope.
double crossing(const Envelopes::Line& low, const Envelopes::Line& high) {
  return (low.intercept - high.intercept) / (high.slope - low.slope);
}

}  // namespace

std::int32_t Envelopes::remember(std::int32_t left, std::int32_t right, std::int32_t edge) const {
  histories_.push_back({left, right, edge});
  return static_cast<std::int32_t>(histories_.size()) - 1;
}

Envelopes::Value Envelopes::from_score(double score, std::int32_t edge) const {
  if (score == log_zero) return {};
  return {{slopes_[static_cast<std::size_t>(edge)], score, log_zero, remember(nothing, nothing, edge)}};
}

Envelopes::Value Envelopes::plus(const Value& a, const Value& b) const {
  if (a.empty()) return b;
  if (b.empty()) return a;
  check_interruption(static_cast<std::int64_t>(a.size() + b.size()) * 16);
  Value out;
  out.reserve(a.size() + b.size());
  for (auto p = a.begin(), q = b.begin(); p != a.end() || q != b.end();) {
    const bool first = q == b.end() || (p != a.end() && p->slope <= q->slope);
    Line line = first ? *p++ : *q++;
    line.from = log_zero;
    if (!out.empty() && out.back().slope == line.slope) {
      if (line.intercept <= out.back().intercept) continue;
      out.pop_back();
    }
    while (!out.empty()) {
      line.from = crossing(out.back(), line);
      if (line.from > out.back().from) break;
      out.pop_back();
      line.from = log_zero;
    }
    out.push_back(line);
  }
  return out;
}

Envelopes::Value Envelopes::times(const Value& a, const Value& b) const {
  if (a.empty() || b.empty()) return {};
  check_interruption(static_cast<std::int64_t>(a.size() + b.size()) * 16);
  Value out;
  out.reserve(a.size() + b.size());
  double from = log_zero;
  for (auto p = a.begin(), q = b.begin();;) {
    const std::int32_t history = p->history == nothing   ? q->history
                                 : q->history == nothing ? p->history
                                                         : remember(p->history, q->history, nothing);
    out.push_back({p->slope + q->slope, p->intercept + q->intercept, from, history});
    const double next_p = p + 1 != a.end() ? (p + 1)->from : -log_zero;
    const double next_q = q + 1 != b.end() ? (q + 1)->from : -log_zero;
    if (next_p == -log_zero && next_q == -log_zero) return out;
    from = std::min(next_p, next_q);
    if (next_p == from) ++p;
    if (next_q == from) ++q;
  }
}

void Envelopes::edges(const Line& line, std::vector<std::int32_t>& out) const {
  std::vector<std::int32_t> open;
  if (line.history != nothing) open.push_back(line.history);
  while (!open.empty()) {
    const History history = histories_[static_cast<std::size_t>(open.back())];
    open.pop_back();
    if (history.edge >= 0) {
      out.push_back(history.edge);
    } else {
      open.push_back(history.right);
      open.push_back(history.left);
    }
  }
}

BestAlong best_along(const Forest& forest, std::span<const double> slopes) {
  const Envelopes envelopes(slopes);
  BestAlong found;
  const auto values = inside(forest, envelopes);
  if (values.empty()) return found;
  for (const Envelopes::Line& line : values.back()) {
    found.from.push_back(line.from);
    envelopes.edges(line, found.edges);
    found.ptr.push_back(static_cast<std::int64_t>(found.edges.size()));
  }
  return found;
}

}  // namespace margent
