// How work that takes long is stopped, wherever it is: loops look up from time to time, and an exception ends them.
//
// Who starts native work makes an Interruption on its stack, with a function that is asked every 100 ms whether to go
// on and throws where not: the bindings ask Python for signals. Loops say by check_interruption what they have done
// since they said it last, which costs a subtraction as a rule. Threads that help (parallel.hpp) look at the same
// Interruption and stop when its owner does. Where there is none, nothing is ever stopped.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>

namespace margent {

// Ends the work of a thread that helps, where the thread it helps was stopped.
class Interrupted final : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

class Interruption {
 public:
  using Watch = void (*)();  // throws to stop the work; called by the thread that made the Interruption, and no other

  explicit Interruption(Watch watch);
  Interruption() = default;  // of work that is done by threads that Help alone, until somebody says stop()
  ~Interruption();
  Interruption(const Interruption&) = delete;

  // Of the work that this thread does now; null where it cannot be stopped.
  static Interruption* current();
  // Asks now, whatever was done; for a thread that waits.
  static void ask();
  // Ends all that is a part of it, wherever that looks up next; from any thread.
  void stop() { stopped_.store(true, std::memory_order_relaxed); }

  // Makes this thread a helper with the work of another, from here to the end of the block.
  class Help {
   public:
    explicit Help(Interruption* work);
    ~Help();
    Help(const Help&) = delete;

   private:
    Interruption* before_;
    bool owned_before_;
  };

 private:
  friend void check_interruption(std::int64_t);
  void look(bool owner, bool at_once);
  bool stopped() const;

  Watch watch_ = nullptr;          // none: of no thread
  Interruption* outer_ = nullptr;  // that this is a part of: Python code that native work calls may begin native work
  bool owned_outer_ = false;
  std::int64_t asked_ = 0;  // when, in nanoseconds
  std::atomic<bool> stopped_{false};
};

// Says that about so many simple operations, of a nanosecond or less, were done since the last call by this thread.
void check_interruption(std::int64_t operations);

}  // namespace margent
