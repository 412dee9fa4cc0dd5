// Beam search through a chain: at each position only the best states go on (paper 003, Section 2.1.2).
//
// A state is what later scores can depend on: the last k labels. Ways that reach the same state are one, the better of
// them; so an unlimited beam is Viterbi's search, and answers the same, ties included.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "chain/chain.hpp"

namespace margent {

template <class Real>
class ChainBeam {
 public:
  struct Item {
    double score;
    std::int64_t state;
    std::int32_t parent;  // at the position before
  };

  // Goes through a sequence that is not empty with up to `width` states at each position. O(n width L).
  void search(const ChainScores<Real>& scores, int width);

  // What survived at a position, best first. At position n: whole labellings, with what it scores to end so.
  std::span<const Item> at(int position) const {
    return std::span<const Item>(items_).subspan(begins_[position], begins_[position + 1] - begins_[position]);
  }
  bool holds(int position, std::int64_t state) const;
  // A labelling as the beam would have it, item by item: its scores and states at all positions, and with the end.
  static void follow(const ChainScores<Real>& scores, const std::int32_t* labels, std::vector<Item>& way);
  // The labels of an item up to its position, as many as it has.
  void trace(int position, std::size_t item, std::int32_t* labels) const;

 private:
  void first_position(const ChainScores<Real>& scores);
  void extend(const ChainScores<Real>& scores, int position);
  void end(const ChainScores<Real>& scores);
  void keep(int width);

  ChainShape shape_{1, 1};
  int length_ = 0;
  std::vector<Item> items_, candidates_;
  std::vector<std::size_t> begins_;
  std::vector<std::int32_t> order_, from_;
  std::vector<double> best_;
};

}  // namespace margent
