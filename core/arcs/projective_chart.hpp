// The chart of projective trees: which spans there are, and what each is made of. Written once, for the best tree, the
// sums over all, and the forest of the k best.
//
// Three kinds of spans, as in Eisner (1996) and McDonald and Pereira (2006). In the order `first`, of head h, modifier
// m and an end e to one side of h:
//
//   joined(i, j)  = sum over i <= r < j of  complete(i, r) * complete(j, r + 1)
//   linked(h, m)  = joined(h, m) * arc(h, m)
//   complete(h, e) = sum over modifiers m of h between h and e of  linked(h, m) * complete(m, e),   complete(h, h) = 1
//
// in the order `siblings`, where s is the modifier of h next to m on the way to h,
//
//   linked(h, m)  = arc(h, m) * (complete(m, next to h) * sibling(h, none, m)
//                                + sum over s of  linked(h, s) * joined(s, m) * sibling(h, s, m))
//
// and in the order `grandparents` every span with a head h knows the head g of h, too (model 1 of Koo and Collins 2010,
// whose parts (g, h, s, m) here are a sibling and a grandparent part):
//
//   linked(g, h, m)   = arc(h, m) * grandparent(g, h, m) * (... complete(h, m, next to h) ... linked(g, h, s) ...)
//   joined(h, s, m)   = sum over r of  complete(h, s, r) * complete(h, m, r + 1)
//   complete(g, h, e) = sum over m of  linked(g, h, m) * complete(h, m, e)
//
// Sums and products are those of a semiring. Each tree has one derivation. With one root, the root's only span is
// complete(0, n), and no arc of the root has a sibling. With A arcs over n words, of which d lead into a word:
// O(n^3) for the first two orders where all arcs are allowed, O(d A n) time and O(A n) memory for the third.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <vector>

#include "arcs/arc_set.hpp"

namespace margent {

enum class TreeOrder { first, siblings, grandparents };

class ProjectiveChart {
 public:
  // The arcs must outlive the chart.
  ProjectiveChart(const ArcSet& arcs, TreeOrder order, bool single_root)
      : arcs_(arcs), n_(arcs.n_nodes()), order_(order), single_root_(single_root),
        grand_(order == TreeOrder::grandparents) {
    const std::int64_t states = grand_ ? std::int64_t{arcs.size()} + 1 : n_;
    first_linked_ = states * n_;
    first_joined_ = first_linked_ + (grand_ ? arcs.n_grandparents() + arcs.outward(0, true).end : arcs.size());
    size_ = first_joined_ + (grand_ ? arcs.n_siblings() : std::int64_t{n_} * n_);
    if (size_ > std::numeric_limits<std::int32_t>::max())
      throw std::length_error("a sentence has too many spans: allow fewer arcs");
  }

  const ArcSet& arcs() const { return arcs_; }
  std::int64_t size() const { return size_; }
  // The span of all trees.
  std::int32_t goal() const { return complete(root_state(), n_ - 1); }
  // Of the spans complete(h, h), which are one.
  template <class Visit>
  void each_empty(Visit visit) const {
    for (std::int32_t q = 0; q < n_states(); ++q) visit(complete(q, head_of(q)));
  }

  // Calls visit(span, arc, grandparent, terms) for every other span, those that it is made of before it, or after it
  // with up = false. Arc and grandparent are the parts that all its terms have (-1: none); terms(add) calls
  // add(span, span, sibling) for each term: two spans and a part, the last two -1 where there are none.
  template <bool up, class Visit>
  void walk(Visit visit) const {
    const std::span<const std::int32_t> order = arcs_.by_length();
    std::size_t at = up ? 0 : order.size();
    for (int step = 1; step < n_; ++step) {
      const int length = up ? step : n_ - step;
      if constexpr (up) {
        if (!grand_) joins(length, visit);
        for (; at < order.size() && length_of(order[at]) == length; ++at) {
          if (grand_) sibling_joins(order[at], visit);
          links(order[at], visit);
        }
        completions(length, visit);
      } else {
        completions(length, visit);
        for (; at > 0 && length_of(order[at - 1]) == length; --at) {
          links(order[at - 1], visit);
          if (grand_) sibling_joins(order[at - 1], visit);
        }
        if (!grand_) joins(length, visit);
      }
    }
  }

  // The arc of a span that links a modifier; -1: another kind of span.
  std::int32_t linked_arc(std::int32_t span) const {
    if (span < first_linked_ || span >= first_joined_) return -1;
    if (!grand_) return static_cast<std::int32_t>(span - first_linked_);
    const std::int64_t place = span - first_linked_;
    if (place >= arcs_.n_grandparents())
      return arcs_.outward(0, true).begin + static_cast<std::int32_t>(place - arcs_.n_grandparents());
    std::int32_t low = 0, high = arcs_.size();  // the last arc whose parts begin at or before this place
    while (high - low > 1) {
      const std::int32_t middle = low + (high - low) / 2;
      (arcs_.grandparent(middle) <= place ? low : high) = middle;
    }
    return low;
  }

 private:
  // A state is a head, with the arc into it where the order wants that.
  std::int32_t n_states() const { return grand_ ? arcs_.size() + 1 : n_; }
  std::int32_t root_state() const { return grand_ ? arcs_.size() : 0; }
  std::int32_t head_of(std::int32_t q) const { return !grand_ ? q : q == arcs_.size() ? 0 : arcs_.modifier(q); }
  // Of the modifier of an arc.
  std::int32_t state(std::int32_t arc) const { return grand_ ? arc : arcs_.modifier(arc); }
  int length_of(std::int32_t arc) const { return std::abs(arcs_.head(arc) - arcs_.modifier(arc)); }

  std::int32_t complete(std::int32_t q, int e) const { return static_cast<std::int32_t>(std::int64_t{q} * n_ + e); }
  std::int32_t linked(std::int32_t q, std::int32_t arc) const {
    if (!grand_) return static_cast<std::int32_t>(first_linked_ + arc);
    if (q == arcs_.size()) return static_cast<std::int32_t>(first_linked_ + arcs_.n_grandparents() + arc);
    return static_cast<std::int32_t>(first_linked_ + arcs_.grandparent(arc, q));
  }
  std::int32_t joined(int i, int j) const {
    return static_cast<std::int32_t>(first_joined_ + std::int64_t{i} * n_ + j);
  }
  std::int32_t joined_siblings(std::int32_t arc, std::int32_t inner) const {
    return static_cast<std::int32_t>(first_joined_ + arcs_.sibling(arc, inner));
  }

  template <class Visit>
  void joins(int length, Visit& visit) const {
    const bool from_root = order_ == TreeOrder::first && !single_root_;
    for (int i = from_root ? 0 : 1; i + length < n_; ++i) {
      const int j = i + length;
      visit(joined(i, j), -1, std::int64_t{-1}, [&](auto add) {
        for (int r = i; r < j; ++r) add(complete(i, r), complete(j, r + 1), std::int64_t{-1});
      });
    }
  }

  template <class Visit>
  void sibling_joins(std::int32_t arc, Visit& visit) const {
    if (single_root_ && arcs_.head(arc) == 0) return;
    const ArcSet::Range inner = arcs_.inner(arc);
    const int m = arcs_.modifier(arc);
    for (std::int32_t b = inner.begin; b < inner.end; ++b) {
      const int s = arcs_.modifier(b);
      visit(joined_siblings(arc, b), -1, std::int64_t{-1}, [&](auto add) {
        if (s < m)
          for (int r = s; r < m; ++r) add(complete(b, r), complete(arc, r + 1), std::int64_t{-1});
        else
          for (int r = m; r < s; ++r) add(complete(arc, r), complete(b, r + 1), std::int64_t{-1});
      });
    }
  }

  template <class Visit>
  void links(std::int32_t arc, Visit& visit) const {
    const int h = arcs_.head(arc), m = arcs_.modifier(arc);
    const int inside = h < m ? h + 1 : h - 1;
    const auto link = [&](std::int32_t q, std::int64_t grandparent) {
      visit(linked(q, arc), arc, grandparent, [&](auto add) {
        if (order_ == TreeOrder::first) {
          if (h == 0 && single_root_)
            add(complete(q, 0), complete(state(arc), 1), std::int64_t{-1});
          else
            add(joined(h < m ? h : m, h < m ? m : h), -1, std::int64_t{-1});
          return;
        }
        add(complete(q, h), complete(state(arc), inside), arcs_.sibling(arc));
        if (h == 0 && single_root_) return;
        const ArcSet::Range inner = arcs_.inner(arc);
        for (std::int32_t b = inner.begin; b < inner.end; ++b) {
          const int s = arcs_.modifier(b);
          add(linked(q, b), grand_ ? joined_siblings(arc, b) : joined(s < m ? s : m, s < m ? m : s),
              arcs_.sibling(arc, b));
        }
      });
    };
    if (!grand_ || h == 0) return link(grand_ ? root_state() : h, -1);
    for (const std::int32_t above : arcs_.inward(h))
      if (!between(arcs_.head(above), h, m)) link(above, arcs_.grandparent(arc, above));
  }

  template <class Visit>
  void completions(int length, Visit& visit) const {
    for (std::int32_t q = 0; q < n_states(); ++q) {
      const int h = head_of(q);
      const bool is_root = q == root_state();
      for (const bool right : {true, false}) {
        const int e = right ? h + length : h - length;
        if (e < 1 || e >= n_ || (is_root && single_root_ && e != n_ - 1)) continue;
        if (grand_ && !is_root && between(arcs_.head(q), h, e)) continue;
        const ArcSet::Range arcs = arcs_.outward(h, right);
        visit(complete(q, e), -1, std::int64_t{-1}, [&](auto add) {
          for (std::int32_t a = arcs.begin; a < arcs.end; ++a) {
            const int m = arcs_.modifier(a);
            if (right ? m > e : m < e) break;
            add(linked(q, a), complete(state(a), e), std::int64_t{-1});
          }
        });
      }
    }
  }

  // Whether g, which is not h, is on the way from h to e, or e itself: no tree has its head among its own descendants.
  static bool between(int g, int h, int e) { return h < e ? h < g && g <= e : e <= g && g < h; }

  const ArcSet& arcs_;
  int n_;
  TreeOrder order_;
  bool single_root_, grand_;
  std::int64_t first_linked_, first_joined_, size_;
};

}  // namespace margent
