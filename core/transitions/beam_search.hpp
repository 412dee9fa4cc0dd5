// Beam search through a transition system: of each layer only the best states are kept (paper 003, Section 2.1.2).
//
// The b best of all (state, action) pairs are chosen first, and then b states are made. States lie in one arena, layer
// after layer, with the index of the state each was reached from. Memory is kept from search to search.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "interruption.hpp"
#include "transitions/system.hpp"

namespace margent {

template <TransitionSystem S>
class BeamSearch {
  static constexpr bool is_layered = requires(S& system) { system.n_layers(); };
  static constexpr bool merges_moves = S::recombination == Recombination::moves;
  static constexpr bool merges_states = S::recombination == Recombination::states;
  static constexpr bool is_sorted = !requires { requires !S::sorted; };
  static constexpr bool asks_again = requires { requires S::may_ask_again; };

 public:
  using Item = BeamItem<S>;
  using Move = typename S::Move;
  using State = typename S::State;
  using Path = std::vector<const Item*>;

  // beam: how many states are kept in each layer; 0: all. recombine: paths to the same state are one, the best of them;
  // of equals the first. Of equal scores, what was proposed first goes first, unless the system says otherwise. The
  // last layer, where its number is known, keeps all. O(layers beam actions) scores, O(layers beam) states.
  void run(S& system, std::int64_t beam, bool recombine = true) {
    begin(system, recombine);
    for (int layer = 0; !is_last(layer); ++layer) {
      check_interruption(static_cast<std::int64_t>(64 * this->layer(layer).size() + 32 * candidates_.size()));
      layer_ = layer;
      n_moves_ = 0;
      const std::int64_t width = is_last(layer + 1) ? 0 : beam;
      forget_candidates(enough(width));
      system.expand(layer, this->layer(layer), *this);
      if constexpr (!is_layered) {
        if (n_moves_ == 0 && candidates_.size() == this->layer(layer).size()) return;  // all are answers
      }
      layer_begin_ = items_.size();
      if constexpr (S::synchronous) {
        choose(candidates_, layer + 1, width);
        if (asks_again && limit_below_ > lowest && static_cast<std::int64_t>(items_.size() - layer_begin_) < width) {
          forget_candidates(unlimited);
          system.expand(layer, this->layer(layer), *this);
          choose(candidates_, layer + 1, width);  // what is kept already comes first, and is known
        }
      } else {
        choose(pending_[layer + 1], layer + 1, width);
      }
      begins_.push_back(items_.size());
    }
  }

  // The states of a layer, best first unless the system asks for less. Layer 0 is the start, the last one has the
  // answers.
  int n_layers() const { return static_cast<int>(begins_.size()) - 1; }
  std::span<const Item> layer(int layer) const {
    return std::span<const Item>(items_).subspan(begins_[layer], begins_[layer + 1] - begins_[layer]);
  }
  std::span<const Item> last() const { return layer(n_layers() - 1); }
  // The items from the first action to this one.
  void trace(const Item& item, Path& path) const {
    path.clear();
    for (const Item* at = &item; at->parent >= 0; at = &items_[at->parent]) path.push_back(at);
    std::reverse(path.begin(), path.end());
  }
  // The state that an item was reached from.
  const State& before(const Item& item) const { return items_[item.parent].state; }

  // For `expand`: an action of the item-th state of the layer. What scores -inf, or is not a number, is impossible.
  void operator()(int layer, std::size_t item, double score, const Move& move) {
    if (!(score > -std::numeric_limits<double>::infinity())) return;
    const auto parent = static_cast<std::int32_t>(begins_[layer_] + item);
    if constexpr (S::synchronous) {
      ++n_moves_;
      if (score >= limit_below_) add({score, parent, n_proposed_++, {}, move});
    } else {
      const auto order = static_cast<std::int32_t>(candidates_.size());
      std::int32_t* bucket = nullptr;
      if constexpr (merges_moves) {
        if (recombine_) {
          bucket = &this->bucket(system_->signature(items_[parent].state, move) + static_cast<std::uint64_t>(layer));
          if (merge(*bucket, layer, parent, score, move)) return;
        }
      }
      candidates_.push_back({score, parent, order, {layer, bucket ? *bucket : -1}, move});
      if (bucket) *bucket = order;
      pending_[layer].push_back(order);
    }
  }

  // For `expand`: the item-th state is an answer.
  void stay(std::size_t item)
    requires(!is_layered)
  {
    const auto index = static_cast<std::int32_t>(begins_[layer_] + item);
    add({items_[index].score, ~index, n_proposed_++, {}, Move{}});
  }

 private:
  static_assert(is_layered || S::synchronous, "states that skip layers need to know how many there are");
  static_assert(!merges_moves || !S::synchronous, "a synchronous system recombines states, or what it proposes");
  static constexpr std::size_t n_buckets = 1 << 12;
  static constexpr double lowest = -std::numeric_limits<double>::infinity();
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  static constexpr std::int64_t most_limited = 1 << 20;

  struct Nothing {};
  struct Place {
    std::int32_t layer, link;  // link: the candidate before it in its bucket
  };
  struct Candidate {
    double score;
    std::int32_t parent, order;  // parent: ~index of the item itself, for a state that stays
    [[no_unique_address]] std::conditional_t<S::synchronous, Nothing, Place> place;
    Move move;
  };

  // Of a layer, some more candidates than states are enough, as few of them lead to the same state; what is below them
  // need not be remembered, and if they turn out to be too few the system is asked again. Only where it says that it
  // can be.
  static std::size_t enough(std::int64_t width) {
    if (width < 1 || width >= most_limited) return unlimited;
    return width == 1 ? 1 : 2 * static_cast<std::size_t>(width) + 6;
  }
  void forget_candidates(std::size_t most) {
    if constexpr (S::synchronous) candidates_.clear();
    n_proposed_ = 0;
    limit_below_ = lowest;
    most_ = asks_again ? most : unlimited;
  }
  void add(const Candidate& candidate) {
    if (most_ == 1 && !candidates_.empty()) {
      if (better(candidate, candidates_[0])) candidates_[0] = candidate;
      limit_below_ = candidates_[0].score;
      return;
    }
    candidates_.push_back(candidate);
    if (candidates_.size() / 4 < most_) return;
    const auto last = candidates_.begin() + static_cast<std::ptrdiff_t>(most_);
    std::nth_element(candidates_.begin(), last - 1, candidates_.end(),
                     [this](const Candidate& a, const Candidate& b) { return better(a, b); });
    candidates_.erase(last, candidates_.end());
    limit_below_ = candidates_.back().score;
  }
  bool better(const Candidate& a, const Candidate& b) const {
    if (a.score != b.score) return a.score > b.score;
    if constexpr (requires { system_->prefers(a.move, b.move); })
      return system_->prefers(a.move, b.move);
    else
      return a.order < b.order;
  }

  bool is_last(int layer) const { return is_layered && layer + 1 == layers_; }
  const Candidate& candidate(const Candidate& of) const { return of; }
  const Candidate& candidate(std::int32_t number) const { return candidates_[number]; }
  std::int32_t& bucket(std::uint64_t signature) { return buckets_[(signature ^ (signature >> 32)) & (n_buckets - 1)]; }

  void begin(S& system, bool recombine) {
    system_ = &system;
    recombine_ = recombine;
    items_.clear();
    candidates_.clear();
    begins_.assign(1, 0);
    if constexpr (is_layered) layers_ = system.n_layers();
    if constexpr (!S::synchronous) {
      if (pending_.size() < static_cast<std::size_t>(layers_)) pending_.resize(layers_);
      for (int layer = 0; layer < layers_; ++layer) pending_[layer].clear();
    }
    if constexpr (merges_moves || merges_states) {
      if (recombine) buckets_.assign(n_buckets, -1);
      links_.clear();
    }
    system.start([this](double score, State state) { items_.push_back({score, -1, Move{}, std::move(state)}); });
    if constexpr (merges_states)
      for (std::size_t i = 0; i < items_.size(); ++i) links_.push_back({0, -1});
    begins_.push_back(items_.size());
  }

  // Whether a candidate for the same state is known; the better of the two stays, where the first one stood, or what
  // the system makes of them.
  bool merge(std::int32_t known, int layer, std::int32_t parent, double score, const Move& move)
    requires(merges_moves)
  {
    for (; known >= 0; known = candidates_[known].place.link) {
      Candidate& other = candidates_[known];
      if (other.place.layer != layer ||
          !system_->same(items_[other.parent].state, other.move, items_[parent].state, move))
        continue;
      bool replaces = score > other.score;
      if constexpr (requires { system_->merge(layer, other.score, other.move, score, move); })
        replaces = system_->merge(layer, other.score, other.move, score, move);
      else
        other.score = std::max(other.score, score);
      if (replaces) other.parent = parent, other.move = move;
      return true;
    }
    return false;
  }

  // The best candidates of a layer become its items.
  template <class List>
  void choose(List& list, int layer, std::int64_t beam) {
    if constexpr (requires(const Move& move) { system_->keeps(layer, 0.0, move); })
      std::erase_if(
          list, [&](const auto& each) { return !system_->keeps(layer, candidate(each).score, candidate(each).move); });
    const auto better = [this](const auto& x, const auto& y) { return this->better(candidate(x), candidate(y)); };
    const auto size = static_cast<std::int64_t>(list.size());
    const std::int64_t wanted = beam > 0 ? std::min(beam, size) : size;
    if (merges_states && recombine_) {  // from a heap, as nobody knows how many it takes until enough are different
      const auto worse = [&](const auto& x, const auto& y) { return better(y, x); };
      std::make_heap(list.begin(), list.end(), worse);
      for (auto end = list.end(); end != list.begin(); --end) {
        if (static_cast<std::int64_t>(items_.size() - layer_begin_) == wanted) break;
        std::pop_heap(list.begin(), end, worse);
        keep(candidate(*(end - 1)), layer);
      }
    } else {
      if constexpr (is_sorted)
        std::partial_sort(list.begin(), list.begin() + wanted, list.end(), better);
      else if (wanted < size)
        std::nth_element(list.begin(), list.begin() + wanted, list.end(), better);
      for (std::int64_t i = 0; i < wanted; ++i) keep(candidate(list[i]), layer);
    }
  }

  void keep(const Candidate& chosen, int layer) {
    const bool stays = chosen.parent < 0;
    State state = stays ? items_[~chosen.parent].state : system_->step(layer, items_[chosen.parent].state, chosen.move);
    if constexpr (merges_states) {
      if (recombine_) {
        const std::uint64_t signature = system_->signature(state);
        std::int32_t& bucket = this->bucket(signature);
        for (std::int32_t i = bucket; i >= static_cast<std::int32_t>(layer_begin_); i = links_[i].second)
          if (links_[i].first == signature) return;
        links_.push_back({signature, bucket});
        bucket = static_cast<std::int32_t>(items_.size());
      }
    }
    if (stays)
      items_.push_back({chosen.score, items_[~chosen.parent].parent, items_[~chosen.parent].move, std::move(state)});
    else
      items_.push_back({chosen.score, chosen.parent, chosen.move, std::move(state)});
  }

  S* system_ = nullptr;
  bool recombine_ = true;
  int layer_ = 0, layers_ = 0;
  std::size_t n_moves_ = 0, layer_begin_ = 0, most_ = unlimited;
  std::int32_t n_proposed_ = 0;
  double limit_below_ = lowest;  // what scores less need not be remembered
  std::vector<Item> items_;
  std::vector<std::size_t> begins_;
  std::vector<Candidate> candidates_;  // of the next layer where the system is synchronous, otherwise of all
  std::vector<std::vector<std::int32_t>> pending_;             // [layer]: its candidates
  std::vector<std::int32_t> buckets_;                          // the newest candidate or item of each
  std::vector<std::pair<std::uint64_t, std::int32_t>> links_;  // of items: signature, the item before it in its bucket
};

}  // namespace margent
