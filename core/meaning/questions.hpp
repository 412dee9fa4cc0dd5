// Questions as a parser sees them: words with what each may mean, and which types of meanings go together.
#pragma once
#include <cstdint>
#include <span>

namespace margent {

// What native code knows of pieces of meanings, by number: of their type, and what features see of them.
struct Pieces {
  static constexpr int n_atoms = 5;  // piece, template, name, second name, constant; 0 where there is none

  std::int64_t size = 0;
  const std::int32_t* types = nullptr;  // [size]
  const std::int32_t* atoms = nullptr;  // [size, n_atoms]
  // Piece p has the names names[name_ptr[p]], ..., as often as they are in it.
  const std::int64_t* name_ptr = nullptr;
  const std::int32_t* names = nullptr;
};

// Question q has the words [sequence_ptr[q], sequence_ptr[q + 1]), the last of them a mark of its end. Word i may begin
// with the choices [choice_ptr[i], choice_ptr[i + 1]): a piece of meaning that `lengths` words stand for.
struct Questions {
  std::int64_t size = 0;
  std::int32_t n_atoms = 0;
  const std::int64_t* sequence_ptr = nullptr;
  const std::int32_t* atoms = nullptr;  // [words, n_atoms]
  const std::int64_t* choice_ptr = nullptr;
  const std::int32_t* lengths = nullptr;
  const std::int32_t* pieces = nullptr;
  const std::int32_t* evidence = nullptr;  // why it is a choice, for features; 0: no reason
  const float* priors = nullptr;           // what it scores before anything is learned
  const float* skips = nullptr;            // [words]: what it scores that a word says nothing
  const double* weights = nullptr;         // of questions; none: 1 each
  Pieces known;

  std::int32_t n_words(std::int64_t q) const {
    return static_cast<std::int32_t>(sequence_ptr[q + 1] - sequence_ptr[q]);
  }
  const std::int32_t* atoms_of(std::int64_t q) const { return atoms + sequence_ptr[q] * n_atoms; }
};

// Types by number (margent.meaning.TypeTable). -1: there is none.
struct TypeTables {
  std::int32_t size = 0;
  const std::int32_t* apply = nullptr;    // [size, size]: of a function applied to an argument
  const std::int32_t* combine = nullptr;  // [size, size]: of the `and` or `or` of two sets
  const std::uint8_t* answers = nullptr;  // [size]: whether a question may mean something of the type

  std::int32_t applied(std::int32_t function, std::int32_t argument) const {
    return apply[static_cast<std::int64_t>(function) * size + argument];
  }
  std::int32_t combined(std::int32_t first, std::int32_t second) const {
    return combine[static_cast<std::int64_t>(first) * size + second];
  }
};

}  // namespace margent
