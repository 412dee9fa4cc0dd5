// Sums over spanning trees by elimination: see spanning_trees.hpp.
#include <algorithm>
#include <cmath>

#include "arcs/spanning_trees.hpp"
#include "forest/semiring.hpp"
#include "interruption.hpp"

namespace margent {

namespace {

// Weights as they are.
struct Plain {
  static double from_log(double score) { return std::exp(score); }
  static double to_log(double value) { return std::log(value); }
  static double plus(double a, double b) { return a + b; }
  static double times(double a, double b) { return a * b; }
  static double over(double a, double b) { return a / b; }
  static double ratio(double a, double b) { return a / b; }
  static constexpr double zero = 0;
};

// Their logarithms.
struct Logarithms {
  static double from_log(double score) { return score; }
  static double to_log(double value) { return value; }
  static double plus(double a, double b) { return log_plus(a, b); }
  static double times(double a, double b) { return log_times(a, b); }
  static double over(double a, double b) { return a == log_zero ? log_zero : a - b; }
  static double ratio(double a, double b) { return std::exp(a - b); }
  static constexpr double zero = log_zero;
};

template <class Numbers>
class Elimination {
 public:
  // weights [n][n] by head and modifier, 0 the root.
  Elimination(std::vector<double> weights, int n, bool single_root, bool keep)
      : a_(std::move(weights)), n_(n), single_root_(single_root), keep_(keep) {}

  // log Z of these weights.
  double eliminate() {
    std::vector<int> left;  // words that are still there
    for (int m = 1; m < n_; ++m) left.push_back(m);
    double sum = 0;
    while (left.size() > (single_root_ ? 1u : 0u)) {
      // The last word that has a head: a word without can only be the root's, and is left for the end.
      std::size_t place = left.size();
      double d = Numbers::zero;
      while (place > 0 && d == Numbers::zero) {
        --place;
        d = single_root_ ? Numbers::zero : at(0, left[place]);
        for (const int h : left)
          if (h != left[place]) d = Numbers::plus(d, at(h, left[place]));
      }
      if (d == Numbers::zero) return log_zero;
      const int k = left[place];
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
      sum += Numbers::to_log(d);
      Stage stage{k, {0}, {}, {}};
      stage.rows.insert(stage.rows.end(), left.begin(), left.end());
      for (const int i : stage.rows) stage.heads.push_back(i == 0 && single_root_ ? 0.0 : Numbers::ratio(at(i, k), d));
      for (const int i : stage.rows) {
        check_interruption(static_cast<std::int64_t>(16 * left.size()));
        const double through = Numbers::over(at(i, k), d);
        for (const int j : left) {
          if (i == j) {
            if (keep_) stage.detours.push_back(0);
            continue;
          }
          const double detour = Numbers::times(through, at(k, j));
          const double whole = Numbers::plus(at(i, j), detour);
          if (keep_) stage.detours.push_back(detour == Numbers::zero ? 0.0 : Numbers::ratio(detour, whole));
          at(i, j) = whole;
        }
      }
      if (keep_) stages_.push_back(std::move(stage));
    }
    if (!single_root_ || left.empty()) return sum;
    last_ = left[0];
    return at(0, last_) == Numbers::zero ? log_zero : sum + Numbers::to_log(at(0, last_));
  }

  // [n][n] the probability of each arc. What is here at first is a d log Z / d a for the weights that are left at the
  // end; stage by stage, arcs that were added up share it in proportion, and d(k) gets what remains to make the
  // probabilities of the heads of k add up to 1.
  std::vector<double> probabilities() const {
    std::vector<double> p(static_cast<std::size_t>(n_) * n_, 0.0);
    const auto of = [&](int h, int m) -> double& { return p[static_cast<std::size_t>(h) * n_ + m]; };
    if (single_root_ && n_ > 1) of(0, last_) = 1;
    for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
      const int k = stage->word;
      double all = 0;
      const double* detour = stage->detours.data();
      for (const int i : stage->rows) {
        check_interruption(static_cast<std::int64_t>(4 * stage->rows.size()));
        double through = 0;
        for (const int j : stage->rows) {
          if (j == 0) continue;
          const double moved = of(i, j) * *detour++;
          of(i, j) -= moved;
          of(k, j) += moved;
          through += moved;
        }
        of(i, k) = through;
        all += through;
      }
      for (std::size_t r = 0; r < stage->rows.size(); ++r) of(stage->rows[r], k) += stage->heads[r] * (1 - all);
    }
    for (double& each : p) each = std::clamp(each, 0.0, 1.0);  // rounding
    return p;
  }

 private:
  struct Stage {
    int word;
    std::vector<int> rows;        // the root and the words that were left
    std::vector<double> heads;    // a(i, k) / d(k) of these, where a(i, k) is part of d(k)
    std::vector<double> detours;  // [row][word left]: the share of a(i, k) a(k, j) / d(k) in the new a(i, j)
  };
  double& at(int h, int m) { return a_[static_cast<std::size_t>(h) * n_ + m]; }

  std::vector<double> a_;
  int n_;
  bool single_root_, keep_;
  int last_ = 0;
  std::vector<Stage> stages_;
};

template <class Numbers>
PartMarginals sums(const ArcSet& arcs, std::vector<double> logs, double shift, bool single_root, bool marginals) {
  const int n = arcs.n_nodes();
  for (double& each : logs) each = Numbers::from_log(each);
  Elimination<Numbers> elimination(std::move(logs), n, single_root, marginals);
  PartMarginals out;
  out.log_partition = elimination.eliminate();
  if (out.log_partition > log_zero) out.log_partition += shift;
  if (!marginals) return out;
  out.arcs.assign(static_cast<std::size_t>(arcs.size()), 0.0);
  if (out.log_partition == log_zero) return out;
  const std::vector<double> p = elimination.probabilities();
  for (std::int32_t a = 0; a < arcs.size(); ++a)
    out.arcs[a] = p[static_cast<std::size_t>(arcs.head(a)) * n + arcs.modifier(a)];
  return out;
}

}  // namespace

PartMarginals spanning_sums(const ArcSet& arcs, const double* scores, bool single_root, bool marginals) {
  const std::size_t n = static_cast<std::size_t>(arcs.n_nodes());
  std::vector<double> logs(n * n, log_zero);
  double shift = 0, range = 0;
  for (int m = 1; m < arcs.n_nodes(); ++m) {
    double top = log_zero;  // of each word's arcs the best weighs 1
    for (const std::int32_t a : arcs.inward(m)) top = std::max(top, scores[a]);
    if (top == log_zero) top = 0;
    shift += top;
    for (const std::int32_t a : arcs.inward(m)) {
      logs[arcs.head(a) * n + m] = scores[a] - top;
      if (scores[a] > log_zero) range = std::max(range, top - scores[a]);
    }
  }
  // No product of a weight for each word leaves the range of a double.
  const bool plain = range * arcs.n_words() < 650;
  return plain ? sums<Plain>(arcs, std::move(logs), shift, single_root, marginals)
               : sums<Logarithms>(arcs, std::move(logs), shift, single_root, marginals);
}

}  // namespace margent
