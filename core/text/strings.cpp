#include "text/strings.hpp"

#include <random>

namespace margent {

const HashSecret& HashSecret::of_process() {
  static const HashSecret secret = [] {
    std::random_device device;
    const auto draw = [&] { return (static_cast<std::uint64_t>(device()) << 32 | device()) | 1; };
    return HashSecret{draw(), draw()};
  }();
  return secret;
}

}  // namespace margent
