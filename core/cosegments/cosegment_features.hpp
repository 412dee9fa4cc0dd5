// Features of a word aligned by graphones: graphones in their letter windows, grams of graphones, grams of phonemes.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "cosegments/cosegments.hpp"

namespace margent {

// A feature and how often it occurs.
using CountedFeatures = std::vector<std::pair<std::int32_t, float>>;

// What the features of a graphone can see of those before it, as numbers from 2 on; 1 before the first.
struct CosegmentHistory {
  std::array<std::uint32_t, 2> graphones{1, 1};       // the last two
  std::array<std::uint32_t, 4> phonemes{1, 1, 1, 1};  // the last four

  bool operator==(const CosegmentHistory&) const = default;
};

// A part of an alignment: a graphone where it begins, after what its features can see; graphones.end(): the end of the
// word.
struct Cosegment {
  std::int32_t at, graphone;
  CosegmentHistory before;

  bool operator==(const Cosegment&) const = default;
};

// Finds the features of one graphone after the other. visit(id) is called with each: a hash from 1 to 2^bits. Number 0
// is left for the score of another model.
class CosegmentFeatures {
 public:
  CosegmentFeatures(const Graphones& graphones, Symbols word, int bits)
      : graphones_(graphones), word_(word), mask_((std::uint64_t{1} << bits) - 1) {}

  // Those of a graphone that begins at a letter, alone and in its letter windows: they do not depend on other
  // graphones.
  template <class Visit>
  void of_graphone(std::int32_t at, std::int32_t graphone, Visit visit) const {
    const auto size = static_cast<std::int32_t>(graphones_.letters(graphone).size());
    for (std::size_t w = 0; w < windows.size(); ++w) {
      std::uint64_t key = mix(static_cast<std::uint64_t>(graphone) + 2 + (static_cast<std::uint64_t>(w + 1) << 40));
      for (std::int32_t i = at - windows[w].first; i < at; ++i) key = mix(key * 31 + letter(i));
      for (std::int32_t i = at + size; i < at + size + windows[w].second; ++i) key = mix(key * 37 + letter(i));
      visit(id(key));
    }
  }

  // Those of a graphone and its phonemes together with what is before it; the history goes on with it.
  template <class Visit>
  void of_grams(std::int32_t at, std::int32_t graphone, CosegmentHistory& history, Visit visit) const {
    const std::int32_t next = at + static_cast<std::int32_t>(graphones_.letters(graphone).size());
    const auto number = static_cast<std::uint32_t>(graphone) + 2;
    const std::uint64_t pair = mix(mix(number + 0x200000000ull) * 31 + history.graphones[0]);
    visit(id(pair));
    visit(id(mix(pair * 31 + history.graphones[1])));
    visit(id(mix(pair * 37 + letter(next))));
    history.graphones = {number, history.graphones[0]};
    for (const std::int32_t phoneme : graphones_.phonemes(graphone))
      speak(static_cast<std::uint32_t>(phoneme) + 2, next, history, visit);
  }

  // Those of the end of the word.
  template <class Visit>
  void of_end(CosegmentHistory& history, Visit visit) const {
    speak(0, static_cast<std::int32_t>(word_.size()), history, visit);
  }

  // All those of a part.
  template <class Visit>
  void of_part(const Cosegment& part, Visit visit) const {
    CosegmentHistory history = part.before;
    if (part.graphone == graphones_.end()) return of_end(history, visit);
    of_graphone(part.at, part.graphone, visit);
    of_grams(part.at, part.graphone, history, visit);
  }

  // Calls visit(part) for the parts of a whole alignment, in order, with the end.
  template <class Visit>
  void parts(Symbols alignment, Visit visit) const {
    Cosegment part{0, 0, {}};
    for (const std::int32_t graphone : alignment) {
      part.graphone = graphone;
      visit(std::as_const(part));
      of_grams(part.at, graphone, part.before, [](std::int32_t) {});
      part.at += static_cast<std::int32_t>(graphones_.letters(graphone).size());
    }
    part.graphone = graphones_.end();
    visit(std::as_const(part));
  }

 private:
  // Letters to the left and to the right of a graphone that are seen together with it.
  static constexpr std::array<std::pair<int, int>, 16> windows{{{0, 0},
                                                                {1, 0},
                                                                {0, 1},
                                                                {1, 1},
                                                                {2, 0},
                                                                {0, 2},
                                                                {2, 1},
                                                                {1, 2},
                                                                {2, 2},
                                                                {3, 0},
                                                                {0, 3},
                                                                {3, 1},
                                                                {1, 3},
                                                                {3, 3},
                                                                {4, 0},
                                                                {0, 4}}};

  std::int32_t id(std::uint64_t key) const { return static_cast<std::int32_t>((mix(key) & mask_) + 1); }
  std::uint64_t letter(std::int32_t i) const {
    return static_cast<std::uint64_t>(i < 0 || i >= static_cast<std::int32_t>(word_.size()) ? 1 : word_[i] + 2);
  }
  template <class Visit>
  void speak(std::uint32_t phoneme, std::int32_t next, CosegmentHistory& history, Visit visit) const {
    auto& spoken = history.phonemes;
    std::uint64_t key = mix(phoneme + 0x100000000ull);
    for (std::size_t j = 0; j < spoken.size(); ++j) {
      key = mix(key * 31 + spoken[j]);
      visit(id(key + j));
      if (j < 2) visit(id(mix(key ^ 0x5555) * 31 + letter(next)));
    }
    for (std::size_t j = spoken.size() - 1; j > 0; --j) spoken[j] = spoken[j - 1];
    spoken[0] = phoneme;
  }

  const Graphones& graphones_;
  Symbols word_;
  std::uint64_t mask_;
};

// The features of a whole alignment, sorted, each once.
void cosegment_features(const Graphones& graphones, Symbols word, Symbols alignment, int bits, CountedFeatures& out);

// Takes away what all of several lists have in common.
void remove_common(std::vector<CountedFeatures>& lists);

}  // namespace margent
