// Pairs of words and pronunciations as Python hands them over, and answers about them as it gets them back.
#pragma once
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "cosegments/cosegments.hpp"
#include "cosegments/gram_model.hpp"
#include "cosegments/transcription.hpp"
#include "examples.hpp"

inline void check_symbols(const Ids& ids, const char* what) {
  for (std::size_t i = 0; i < ids.shape(0); ++i)
    if (ids.data()[i] < 0) throw nb::value_error(what);
}

// Keeps the arrays alive that the pairs look into.
class BoundPairs {
 public:
  BoundPairs(Ptr letter_ptr, Ids letters, Ptr phoneme_ptr, Ids phonemes)
      : letter_ptr_(letter_ptr), phoneme_ptr_(phoneme_ptr), letters_(letters), phonemes_(phonemes) {
    check_ptr(letter_ptr, n_entries(letters), "letters");
    check_ptr(phoneme_ptr, n_entries(phonemes), "phonemes");
    if (letter_ptr.shape(0) != phoneme_ptr.shape(0)) throw nb::value_error("as many words as pronunciations");
    check_symbols(letters, "letters must not be negative");
    check_symbols(phonemes, "phonemes must not be negative");
    for (std::size_t s = 0; s + 1 < letter_ptr.shape(0); ++s) {
      const auto cells = static_cast<double>(letter_ptr.data()[s + 1] - letter_ptr.data()[s] + 1) *
                         static_cast<double>(phoneme_ptr.data()[s + 1] - phoneme_ptr.data()[s] + 1);
      if (cells > 1e8) throw nb::value_error("a word and its pronunciation are too long together");
    }
  }
  margent::SpellingPairs view() const {
    return {n_entries(letter_ptr_) - 1, letter_ptr_.data(), phoneme_ptr_.data(), letters_.data(), phonemes_.data()};
  }

 private:
  Ptr letter_ptr_, phoneme_ptr_;
  Ids letters_, phonemes_;
};

// Lists of lists as one array and the row starts of it.
template <class Rows>
auto flat(const Rows& rows) {
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> values;
  for (const auto& row : rows) {
    values.insert(values.end(), row.begin(), row.end());
    ptr.push_back(static_cast<std::int64_t>(values.size()));
  }
  return std::make_tuple(to_numpy(std::move(ptr)), to_numpy(std::move(values)));
}

// (counts, scores, phoneme rows, graphone rows): counts[s] answers for word s, one after the other.
inline auto listed(std::vector<std::vector<margent::Transcription>>&& found) {
  std::vector<std::int32_t> counts;
  std::vector<double> scores;
  std::vector<std::vector<std::int32_t>> phonemes, paths;
  for (std::vector<margent::Transcription>& list : found) {
    counts.push_back(static_cast<std::int32_t>(list.size()));
    for (margent::Transcription& t : list) {
      scores.push_back(t.score);
      phonemes.push_back(std::move(t.phonemes));
      paths.push_back(std::move(t.graphones));
    }
  }
  return std::make_tuple(to_numpy(std::move(counts)), to_numpy(std::move(scores)), flat(phonemes), flat(paths));
}

inline void check_model(const margent::Graphones& graphones, const margent::GramModel& model) {
  if (model.n_graphones() != graphones.size()) throw nb::value_error("grams of other graphones");
}

// The bits of hashed features that 2^bits + 1 weights are for.
inline int checked_bits(std::size_t n_weights) {
  const int bits = static_cast<int>(std::bit_width(n_weights)) - 1;
  if (bits < 1 || bits > 30 || (std::size_t{1} << bits) + 1 != n_weights) throw nb::value_error("2^bits + 1 weights");
  return bits;
}
