// The inner loops of the sums over all labellings of an order-1 chain, in single precision with scaling.
//
// Where kernels.hpp adds scores and takes maxima, these multiply exponentials and add. Every position is divided by its
// own sum, so that numbers stay near 1 however long the sequence. A row is `width` numbers long, as in kernels.hpp.
#pragma once

namespace margent {

// exp(scores - largest) of a chain: transitions [n][width] and their transpose, start and end [width]. Padding is zero.
struct ExpChain {
  const float *transitions, *transposed, *start, *end;
};

struct SumKernels {
  // scores[t][j] = exp(scores[t][j] - tops[t]) with tops[t] the largest of row t; 0 where that is below e^-87.
  void (*exp_rows)(int length, int n, int width, float* scores, float* tops);

  // alpha[t] = (alpha[t-1] . transitions) * emissions[t] / norms[t], the sum of each row being 1.
  void (*forward)(int length, int n, int width, const ExpChain& chain, const float* emissions, float* alpha,
                  float* norms);

  // beta of the same scaling: the sum over j of alpha[t][j] * beta[t][j] is 1; `total` is the sum over j of
  // alpha[length-1][j] * end[j]. Returns the largest beta[t][j] / norms[t]: what is lost where a product underflows has
  // at most this times the smallest float as its probability. beta has length + 1 rows, the last one for scratch.
  float (*backward)(int length, int n, int width, const ExpChain& chain, const float* emissions, const float* norms,
                    float total, float* beta);

  // nodes[t][j] += factor * alpha[t][j] * beta[t][j] and, with w = factor * emissions[t] * beta[t] / norms[t],
  // pairs[i][j] += alpha[t-1][i] * w[j] for t > 0: times exp(transitions), the expected counts of transitions.
  void (*expectations)(int length, int n, int width, const float* emissions, const float* norms, const float* alpha,
                       const float* beta, float factor, float* nodes, float* pairs);
};

// The kernels for this machine. Both sets give the same numbers, to the bit.
const SumKernels& sum_kernels();

}  // namespace margent
