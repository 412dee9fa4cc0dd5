// The likelihood of the right answers as a function of the weights: what a learner of it may see.
#pragma once
#include <cstdint>

namespace margent {

// Over which answers sums run, and which weights are parameters.
struct LikelihoodOptions {
  bool all_pairs = false;        // any feature with any label, seen in the data or not
  bool all_transitions = false;  // any label after any history
  bool boundaries = true;        // start and end of a sequence have weights
  int beam = 0;                  // sums over what survives a beam of so many states, and the known labels; 0: over all
  bool best_completion = false;  // where several answers are right, the best of them counts, not all together
};

// Minus the log-likelihood of all examples, each times its weight. The weights live in an oracle.
class Likelihood {
 public:
  Likelihood() = default;
  Likelihood(const Likelihood&) = delete;
  virtual ~Likelihood() = default;
  virtual std::int64_t size() const = 0;
  virtual std::int64_t n_parameters() const = 0;
  virtual int threads() const = 0;
  virtual void get(double* parameters) const = 0;
  virtual void set(const double* parameters) = 0;
  // Where the sums run over what a search finds: searches by the present weights; whether it is another function now.
  virtual bool grow() { return false; }
  // Whether there may be more parameters after that.
  virtual bool widens() const { return false; }
  // The sum at the present weights; the gradient [n_parameters] unless null. The same to the bit for any number of
  // threads.
  virtual double evaluate(double* gradient) = 0;
  // The sum over the examples with these numbers.
  virtual double value(const std::int64_t* numbers, std::int64_t n) = 0;
  // Stochastic gradient descent on (sum + l2 |w|^2) / size, example by example: w -= eta_t * (gradient + decay * w)
  // with decay = 2 l2 / size and eta_t = eta / (1 + decay * eta * t), t counting from `first`. Returns the sum over the
  // examples, each before its step. The decay is a common factor of all weights, multiplied in at the end. No step
  // makes the weights shrink by more than a factor of 1e-3, however large eta_t * decay; with decay = 0 eta_t stays
  // eta.
  virtual double descend(const std::int64_t* numbers, std::int64_t n, double eta, double decay, double first) = 0;
};

}  // namespace margent
