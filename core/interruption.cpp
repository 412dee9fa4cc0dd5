#include "interruption.hpp"

#include <chrono>

namespace margent {

namespace {

// Operations between two looks at the clock, and nanoseconds between two questions.
constexpr std::int64_t operations_between = 1 << 17;
constexpr std::int64_t pause = 100'000'000;

// What this thread works on, and how much it may do before it looks up.
struct Here {
  Interruption* work = nullptr;
  bool owner = false;
  std::int64_t left = 0;
};
thread_local constinit Here here;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Interruption::Interruption(Watch watch) : watch_(watch), outer_(here.work), owned_outer_(here.owner), asked_(now()) {
  here.work = this;
  here.owner = true;
}

Interruption::~Interruption() {
  if (!watch_) return;
  here.work = outer_;
  here.owner = owned_outer_;
}

Interruption* Interruption::current() { return here.work; }

void Interruption::ask() {
  if (here.work) here.work->look(here.owner, true);
}

bool Interruption::stopped() const { return stopped_.load(std::memory_order_relaxed) || (outer_ && outer_->stopped()); }

void Interruption::look(bool owner, bool at_once) {
  if (stopped()) throw Interrupted();
  if (!owner) return;
  const std::int64_t time = now();
  if (!at_once && time - asked_ < pause) return;
  asked_ = time;
  try {
    watch_();
  } catch (...) {
    stop();
    throw;
  }
}

Interruption::Help::Help(Interruption* work) : before_(here.work), owned_before_(here.owner) {
  here.work = work;
  here.owner = false;
}

Interruption::Help::~Help() {
  here.work = before_;
  here.owner = owned_before_;
}

void check_interruption(std::int64_t operations) {
  if ((here.left -= operations) >= 0) return;
  here.left = operations_between;
  if (here.work) here.work->look(here.owner, false);
}

}  // namespace margent
