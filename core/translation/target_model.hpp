// A language model of target words.
#pragma once
#include <cstdint>
#include <span>

#include "translation/boundary_model.hpp"

namespace margent {

// `words`: of each target word its number in the model, or BoundaryModel::unknown; `unknown`: what these are taken for.
// Target words beyond are words of the source sentence that pass through.
struct TargetModel {
  const BoundaryModel* model = nullptr;
  std::span<const std::int32_t> words;
  std::int32_t unknown = BoundaryModel::unknown;

  bool is_unknown(std::int32_t target) const {
    return static_cast<std::size_t>(target) >= words.size() ||
           words[static_cast<std::size_t>(target)] == BoundaryModel::unknown;
  }
  std::int32_t word(std::int32_t target) const {
    return is_unknown(target) ? unknown : words[static_cast<std::size_t>(target)];
  }
  BoundaryModel::Part part() const { return BoundaryModel::Part(*model); }
};

}  // namespace margent
