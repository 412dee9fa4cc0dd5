// Which prefix is learned from where beam search goes wrong (Huang, Fayong and Guo 2012; paper 003, Fig. 3.2).
#pragma once

namespace margent {

enum class BeamUpdate {
  standard,       // the whole answer, even where it scores less than the right one that the beam has lost
  early,          // up to where the right answer falls out of the beam
  max_violation,  // up to where the best in the beam is furthest ahead of the right one
  skip,           // the whole answer, and only where it scores no less than the right one
};

// Is called with the steps of a search, from the first to the last. The whole answer is chosen where it is right.
// Before the whole, early and max-violation choose only where the best in the beam is wrong and not behind the right
// one; there is such a step wherever the whole is wrong and the search drops nothing but what is behind.
class PrefixChoice {
 public:
  explicit PrefixChoice(BeamUpdate update) : update_(update) {}

  // right: of the best in the beam. lost: nothing in the beam is right. ahead: by how much the best in the beam scores
  // more than what is right.
  void see(int step, bool last, bool right, bool lost, double ahead) {
    if (right || (last && update_ == BeamUpdate::standard)) {
      if (last) whole_ = step;
      return;
    }
    if (!(ahead >= 0)) return;
    if (last && update_ == BeamUpdate::skip) whole_ = step;
    if (early_ < 0 && (lost || last)) early_ = step;
    if (ahead >= violation_) violation_ = ahead, most_violated_ = step;
  }

  // The step to learn from, or -1.
  int chosen() const {
    if (whole_ >= 0) return whole_;
    return update_ == BeamUpdate::early ? early_ : update_ == BeamUpdate::max_violation ? most_violated_ : -1;
  }

 private:
  BeamUpdate update_;
  int whole_ = -1, early_ = -1, most_violated_ = -1;
  double violation_ = 0;
};

}  // namespace margent
