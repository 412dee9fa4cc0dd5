// An oracle whose weights can be listed as one vector of parameters: what a likelihood is a function of.
#pragma once
#include <cstdint>
#include <vector>

#include "learning/oracle.hpp"

namespace margent {

class ParameterOracle : public Oracle {
 public:
  // How many parameters there are. Their numbers may be others than the indices of weights in sparse vectors.
  virtual std::int64_t n_features() const = 0;
  // The weights as they are, or their averages: a copy.
  virtual std::vector<double> weights(bool average) const = 0;
  // Starts from given weights, as many as there are; averages start anew.
  virtual void start_from(const double* weights) = 0;
  // Takes those out of a normalized vector that are not weights yet, and remembers them.
  virtual void drop_unknown(SparseVector& vector) = 0;
  // Makes weights of all that was met so far.
  virtual void grow_to_met() = 0;
  // Indices of weights, in a vector without unknown ones, become numbers of parameters.
  virtual void to_parameters(SparseVector&) const {}
};

}  // namespace margent
