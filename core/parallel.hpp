// A loop over independent tasks by several threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "interruption.hpp"

namespace margent {

// How many of the threads have something to do.
inline int workers(std::int64_t n_tasks, int threads) {
  return static_cast<int>(std::clamp<std::int64_t>(n_tasks, 1, std::max(threads, 1)));
}

// Calls task(thread, i) for every i < n_tasks, thread < threads saying who works: for memory of its own. Which thread
// does what is left to chance, so results must not depend on it. The calling thread is one of them, so that the work is
// done even where the system gives no more threads; it waits for the others and asks meanwhile whether to go on. After
// a task that throws no other is begun, and the exception of the first thread that has one goes on.
template <class Task>
void parallel(std::int64_t n_tasks, int threads, Task task) {
  constexpr std::int64_t of_a_task = 1 << 8;  // operations, at least
  const std::size_t n_threads = static_cast<std::size_t>(workers(n_tasks, threads));
  std::atomic<std::int64_t> next{0};
  std::vector<std::exception_ptr> failures(n_threads);
  const auto guarded = [&](std::size_t q, auto work) {
    try {
      work();
    } catch (...) {
      if (!failures[q]) failures[q] = std::current_exception();
      next.store(n_tasks);
    }
  };
  const auto run = [&](std::size_t q) {
    guarded(q, [&] {
      for (std::int64_t i; (i = next.fetch_add(1)) < n_tasks;) {
        check_interruption(of_a_task);
        task(q, i);
      }
    });
  };
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t n_working = 0;
  Interruption* const work = Interruption::current();
  const auto help = [&](std::size_t q) {
    {
      const Interruption::Help helping(work);
      run(q);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    --n_working;
    ended.notify_one();
  };
  std::vector<std::thread> pool;
  pool.reserve(n_threads - 1);
  try {
    for (std::size_t q = 1; q < n_threads; ++q) {
      {
        const std::lock_guard<std::mutex> lock(mutex);
        ++n_working;
      }
      pool.emplace_back(help, q);
    }
  } catch (const std::exception&) {  // no more threads, or no memory for them
    const std::lock_guard<std::mutex> lock(mutex);
    --n_working;
  }
  run(0);
  std::unique_lock<std::mutex> lock(mutex);
  while (!ended.wait_for(lock, std::chrono::milliseconds(100), [&] { return n_working == 0; })) {
    lock.unlock();
    guarded(0, Interruption::ask);
    lock.lock();
  }
  lock.unlock();
  for (std::thread& t : pool) t.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace margent
