// Bindings of the likelihood of an oracle's examples, and of the arithmetic of its minimisation.
#include "learning/likelihood.hpp"

#include <string>

#include "bindings.hpp"
#include "learning/inverse_hessian.hpp"
#include "simd/uninitialised.hpp"

using namespace margent;

namespace {

void check_parameters(const Likelihood& likelihood, const Doubles& parameters) {
  if (n_entries(parameters) != likelihood.n_parameters())
    throw nb::value_error(("expected " + std::to_string(likelihood.n_parameters()) + " parameters").c_str());
}

}  // namespace

void bind_likelihood(nb::module_& m) {
  nb::class_<Likelihood>(m, "Likelihood",
                         "Minus the log-likelihood of an oracle's examples, as a function of its weights.")
      .def("__len__", &Likelihood::size)
      .def_prop_ro("n_parameters", &Likelihood::n_parameters)
      .def_prop_ro("threads", &Likelihood::threads)
      .def_prop_ro("widens", &Likelihood::widens)
      .def("parameters",
           [](const Likelihood& self) {
             std::vector<double> out(self.n_parameters());
             self.get(out.data());
             return to_numpy(std::move(out));
           })
      .def(
          "set_parameters",
          [](Likelihood& self, Doubles parameters) {
            check_parameters(self, parameters);
            without_gil([&] { self.set(parameters.data()); });
          },
          nb::arg("parameters"))
      .def(
          "grow",
          [](Likelihood& self) {
            const WithoutGil released;
            return self.grow();
          },
          "Searches anew for what it sums over; whether anything has changed.")
      .def(
          "evaluate",
          [](Likelihood& self, Doubles parameters) {
            check_parameters(self, parameters);
            std::vector<double> gradient(self.n_parameters());
            double value;
            without_gil([&] {
              self.set(parameters.data());
              value = self.evaluate(gradient.data());
            });
            return std::make_tuple(value, to_numpy(std::move(gradient)));
          },
          nb::arg("parameters"), "(negative log-likelihood, its gradient)")
      .def(
          "value",
          [](Likelihood& self, std::optional<Numbers> examples) {
            if (examples) check_examples(*examples, self.size());
            const WithoutGil released;
            if (examples) return self.value(examples->data(), n_entries(*examples));
            return self.evaluate(nullptr);
          },
          nb::arg("examples").none() = nb::none(), "The negative log-likelihood of some examples, or of all.")
      .def(
          "descend",
          [](Likelihood& self, Numbers examples, double eta, double decay, double first) {
            check_examples(examples, self.size());
            const WithoutGil released;
            return self.descend(examples.data(), n_entries(examples), eta, decay, first);
          },
          nb::arg("examples"), nb::arg("eta"), nb::arg("decay"), nb::arg("first"));

  m.def(
      "dot",
      [](Doubles a, Doubles b, int threads) {
        if (a.shape(0) != b.shape(0)) throw nb::value_error("vectors of different length");
        return without_gil([&] { return dot(a.data(), b.data(), n_entries(a), threads); });
      },
      nb::arg("a"), nb::arg("b"), nb::arg("threads") = 1,
      "The inner product, the same to the bit for any number of threads.");

  const auto check = [](const InverseHessian& self, const Doubles& a) {
    if (n_entries(a) != self.n()) throw nb::value_error("a vector of the wrong length");
  };
  nb::class_<InverseHessian>(m, "InverseHessian", "The inverse second derivatives that L-BFGS remembers.")
      .def(nb::init<std::int64_t, int, int>(), nb::arg("n"), nb::arg("memory"), nb::arg("threads"))
      .def("__len__", &InverseHessian::size)
      .def("clear", &InverseHessian::clear)
      .def(
          "add",
          [check](InverseHessian& self, Doubles from, Doubles to, Doubles gradient_from, Doubles gradient_to) {
            for (const Doubles& a : {from, to, gradient_from, gradient_to}) check(self, a);
            const WithoutGil released;
            self.add(from.data(), to.data(), gradient_from.data(), gradient_to.data());
          },
          nb::arg("before"), nb::arg("after"), nb::arg("gradient_before"), nb::arg("gradient_after"))
      .def(
          "times",
          [check](InverseHessian& self, Doubles vector) {
            check(self, vector);
            UninitialisedVector<double> out(vector.shape(0));
            without_gil([&] { self.times(vector.data(), out.data()); });
            return to_numpy(std::move(out));
          },
          nb::arg("vector"));
}
