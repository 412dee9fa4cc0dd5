// Work that several threads of Python share: where one of them is interrupted, the native code of all ends.
#include "interruption.hpp"

#include <utility>

#include "bindings.hpp"

using namespace margent;

namespace {

class SharedWork {
 public:
  nb::object run(const nb::callable& work, const nb::object& argument) {
    const Interruption::Help helping(&interruption_);
    return work(argument);
  }
  void stop() { interruption_.stop(); }

 private:
  Interruption interruption_;
};

}  // namespace

void bind_interruption(nb::module_& m) {
  nb::class_<SharedWork>(
      m, "SharedWork", "What threads of Python do together. Signals reach the main thread alone; it stops the others.")
      .def(nb::init<>())
      .def("run", &SharedWork::run, nb::arg("work"), nb::arg("argument").none(),
           "Calls work(argument) as a part of this: after stop() its native code raises RuntimeError.")
      .def("stop", &SharedWork::stop);
}
