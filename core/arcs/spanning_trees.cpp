#include "arcs/spanning_trees.hpp"

#include <algorithm>
#include <compare>
#include <queue>

#include "forest/semiring.hpp"
#include "interruption.hpp"

namespace margent {

namespace {

// Ordered by rank, then by score. An arc that is not allowed has a rank so low that no other arcs make up for it.
struct Weight {
  std::int64_t rank = 0;
  double score = 0;
  Weight operator-(const Weight& other) const { return {rank - other.rank, score - other.score}; }
  bool operator>(const Weight& other) const { return rank != other.rank ? rank > other.rank : score > other.score; }
};
constexpr std::int64_t forbidden_rank = -(std::int64_t{1} << 32);

// A weight between two nodes, and the arc of the sentence that it is the weight of.
struct Entry {
  Weight weight;
  std::int32_t head, modifier;
};

// Edmonds' branching over a dense matrix: a path of best incoming arcs grows backwards from any word; where it meets
// itself, the cycle becomes one node, whose incoming arcs are worth what they gain over the arc of the cycle they
// replace. A contraction of c nodes takes O(c n), so all of them O(n^2).
class Branching {
 public:
  // weight(h, m) for all heads h and words m; heads [n_words] gets the best tree. Returns its rank.
  template <class WeightOf>
  std::int64_t search(int n_words, WeightOf weight, std::vector<std::int32_t>& heads) {
    n_ = n_words + 1;
    entries_.resize(static_cast<std::size_t>(n_) * n_);
    for (int m = 1; m < n_; ++m)
      for (int h = 0; h < n_; ++h)
        if (h != m) at(m, h) = {weight(h, m), h, m};
    // Node numbers: words, then contracted ones. A contracted node lives in the row of one of its members.
    node_.resize(n_);
    for (int v = 0; v < n_; ++v) node_[v] = v;
    parent_.assign(n_, -1);
    chosen_.assign(n_, {});
    active_.assign(n_, 1);
    done_.assign(n_, 0);
    done_[0] = 1;
    contract();
    heads.assign(static_cast<std::size_t>(n_words), -1);
    expand(heads);
    std::int64_t rank = 0;
    for (int m = 1; m < n_; ++m) rank += weight(heads[m - 1], m).rank;
    return rank;
  }

 private:
  Entry& at(int to, int from) { return entries_[static_cast<std::size_t>(to) * n_ + from]; }

  void contract() {
    std::vector<int> path;
    std::vector<char> on_path(n_, 0);
    for (int start = 1; start < n_; ++start) {
      if (done_[start] || !active_[start]) continue;
      path.assign(1, start);
      on_path[start] = 1;
      while (!path.empty()) {
        check_interruption(4 * n_);
        const int v = path.back();
        int u = -1;
        for (int x = 0; x < n_; ++x)
          if (active_[x] && x != v && (u < 0 || at(v, x).weight > at(v, u).weight)) u = x;
        chosen_[node_[v]] = at(v, u);
        if (done_[u]) {
          for (const int x : path) done_[x] = 1, on_path[x] = 0;
          path.clear();
        } else if (!on_path[u]) {
          path.push_back(u);
          on_path[u] = 1;
        } else {
          merge(path, on_path, u);
        }
      }
    }
  }

  // The cycle from u to the end of the path becomes one node, in the row of u.
  void merge(std::vector<int>& path, std::vector<char>& on_path, int u) {
    const auto first = std::find(path.begin(), path.end(), u);
    const std::int32_t merged = static_cast<std::int32_t>(parent_.size());
    parent_.push_back(-1);
    chosen_.push_back({});
    for (auto c = first; c != path.end(); ++c) {
      parent_[node_[*c]] = merged;
      const Weight replaced = chosen_[node_[*c]].weight;
      for (int x = 0; x < n_; ++x)
        if (active_[x] && x != *c) at(*c, x).weight = at(*c, x).weight - replaced;
    }
    for (auto c = first + 1; c != path.end(); ++c) {
      check_interruption(8 * n_);
      active_[*c] = on_path[*c] = 0;
      for (int x = 0; x < n_; ++x) {
        if (!active_[x] || x == u) continue;
        if (at(*c, x).weight > at(u, x).weight) at(u, x) = at(*c, x);
        if (x > 0 && at(x, *c).weight > at(x, u).weight) at(x, u) = at(x, *c);
      }
    }
    node_[u] = merged;
    path.erase(first + 1, path.end());
  }

  // From the last contracted node to the first: the arc into a node enters one of its members, the others keep theirs.
  void expand(std::vector<std::int32_t>& heads) {
    std::vector<Entry> entering = chosen_;
    for (std::int32_t node = static_cast<std::int32_t>(parent_.size()) - 1; node >= n_; --node) {
      std::int32_t member = entering[node].modifier;
      while (parent_[member] != node) member = parent_[member];
      entering[member] = entering[node];
    }
    for (int m = 1; m < n_; ++m) heads[m - 1] = entering[m].head;
  }

  int n_ = 0;
  std::vector<Entry> entries_;  // [n][n], row the node that is entered
  std::vector<std::int32_t> node_, parent_;
  std::vector<Entry> chosen_;  // by node: the best arc into it
  std::vector<char> active_, done_;
};

Weight arc_weight(int head, double score, bool single_root) {
  return {score == log_zero ? forbidden_rank : head == 0 && single_root ? -1 : 0, score == log_zero ? 0.0 : score};
}

std::int64_t wanted_rank(int n_words, bool single_root) { return single_root && n_words > 0 ? -1 : 0; }

// Scores [n][n] by head and modifier.
std::vector<double> dense(const ArcSet& arcs, const double* scores) {
  const std::size_t n = static_cast<std::size_t>(arcs.n_nodes());
  std::vector<double> out(n * n, log_zero);
  for (std::int32_t a = 0; a < arcs.size(); ++a) out[arcs.head(a) * n + arcs.modifier(a)] = scores[a];
  return out;
}

}  // namespace

double spanning_best(const ArcSet& arcs, const double* scores, bool single_root, Tree& tree) {
  const int n_words = arcs.n_words();
  const std::size_t n = static_cast<std::size_t>(n_words) + 1;
  const std::vector<double> matrix = dense(arcs, scores);
  std::vector<std::int32_t> heads;
  Branching branching;
  const auto weight = [&](int h, int m) { return arc_weight(h, matrix[h * n + m], single_root); };
  tree.clear();
  if (branching.search(n_words, weight, heads) != wanted_rank(n_words, single_root)) return log_zero;
  find_tree(arcs, heads.data(), tree);
  double sum = 0;
  for (const std::int32_t arc : tree) sum += scores[arc];
  return sum;
}

namespace {

// The trees that have the first words of one that was found, and differ from it and some others at the next word.
struct Share {
  ScoredTree best;
  int first_free = 0;                // words before this one keep their arcs and labels
  std::vector<std::int64_t> banned;  // arc * labels + label that this word may not have
  bool operator<(const Share& other) const { return best.score < other.best.score; }
};

class SpanningRanking {
 public:
  SpanningRanking(const ArcSet& arcs, const double* scores, const ArcLabels& labels, bool single_root)
      : arcs_(arcs), labels_(labels), n_labels_(labels.scores ? labels.n_labels : 1), single_root_(single_root),
        matrix_(static_cast<std::size_t>(arcs.n_nodes()) * arcs.n_nodes()),
        row_(labels.scores ? labels.scores : scores) {}

  std::vector<ScoredTree> ranked(std::int64_t k) {
    std::vector<ScoredTree> found;
    std::priority_queue<Share> open;
    Share all;
    if (solve(all, {})) open.push(std::move(all));
    while (!open.empty() && static_cast<std::int64_t>(found.size()) < k) {
      Share share = open.top();
      open.pop();
      const Tree tree = share.best.arcs;
      const std::vector<std::int32_t> labels = share.best.labels;
      found.push_back(share.best);
      if (static_cast<std::int64_t>(found.size()) == k) break;
      for (int i = share.first_free; i < arcs_.n_words(); ++i) {
        check_interruption(std::int64_t{64} * arcs_.size());
        Share part;
        part.first_free = i;
        if (i == share.first_free) part.banned = share.banned;
        part.banned.push_back(std::int64_t{tree[i]} * n_labels_ + (labels.empty() ? 0 : labels[i]));
        part.best.labels = labels;
        if (solve(part, tree)) open.push(std::move(part));
      }
    }
    return found;
  }

 private:
  // The best tree of a share; labels of fixed words are in share.best.labels. Whether there is one.
  bool solve(Share& share, const Tree& fixed) {
    const std::size_t n = static_cast<std::size_t>(arcs_.n_nodes());
    std::fill(matrix_.begin(), matrix_.end(), log_zero);
    for (std::int32_t a = 0; a < arcs_.size(); ++a) {
      const int word = arcs_.modifier(a) - 1;
      if (word < share.first_free && fixed[word] != a) continue;
      matrix_[arcs_.head(a) * n + word + 1] = at(a, label(share, word, a));
    }
    std::vector<std::int32_t> heads;
    const auto weight = [&](int h, int m) { return arc_weight(h, matrix_[h * n + m], single_root_); };
    if (branching_.search(arcs_.n_words(), weight, heads) != wanted_rank(arcs_.n_words(), single_root_)) return false;
    find_tree(arcs_, heads.data(), share.best.arcs);
    std::vector<std::int32_t> chosen;
    share.best.score = 0;
    for (int word = 0; word < arcs_.n_words(); ++word) {
      const std::int32_t arc = share.best.arcs[word];
      chosen.push_back(label(share, word, arc));
      share.best.score += at(arc, chosen.back());
    }
    if (labels_.scores) share.best.labels = std::move(chosen);
    return true;
  }

  double at(std::int32_t arc, std::int32_t label) const {
    return label < 0 ? log_zero : row_[static_cast<std::size_t>(arc) * n_labels_ + label];
  }

  // The best label that an arc may have within a share; -1: none.
  std::int32_t label(const Share& share, int word, std::int32_t arc) const {
    if (word < share.first_free) return labels_.scores ? share.best.labels[word] : 0;
    std::int32_t best = -1;
    for (int l = 0; l < n_labels_; ++l) {
      const std::int64_t number = std::int64_t{arc} * n_labels_ + l;
      if (word == share.first_free && std::find(share.banned.begin(), share.banned.end(), number) != share.banned.end())
        continue;
      if (best < 0 || at(arc, l) > at(arc, best)) best = l;
    }
    return best;
  }

  const ArcSet& arcs_;
  ArcLabels labels_;
  int n_labels_;
  bool single_root_;
  std::vector<double> matrix_;
  const double* row_;
  Branching branching_;
};

}  // namespace

std::vector<ScoredTree> spanning_k_best(const ArcSet& arcs, const double* scores, const ArcLabels& labels,
                                        bool single_root, std::int64_t k) {
  return SpanningRanking(arcs, scores, labels, single_root).ranked(k);
}

}  // namespace margent
