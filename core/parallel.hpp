// A loop over independent tasks by several threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace margent {

// How many of the threads have something to do.
inline int workers(std::int64_t n_tasks, int threads) {
  return static_cast<int>(std::clamp<std::int64_t>(n_tasks, 1, std::max(threads, 1)));
}

// Calls task(thread, i) for every i < n_tasks, thread < threads saying who works: for memory of its own. Which thread
// does what is left to chance, so results must not depend on it. The calling thread is one of them, so that the work is
// done even where the system gives no more threads.
template <class Task>
void parallel(std::int64_t n_tasks, int threads, Task task) {
  const std::size_t n_threads = static_cast<std::size_t>(workers(n_tasks, threads));
  std::atomic<std::int64_t> next{0};
  std::vector<std::exception_ptr> failures(n_threads);
  const auto run = [&](std::size_t q) {
    try {
      for (std::int64_t i; (i = next.fetch_add(1)) < n_tasks;) task(q, i);
    } catch (...) {
      failures[q] = std::current_exception();
    }
  };
  std::vector<std::thread> pool;
  pool.reserve(n_threads - 1);
  try {
    for (std::size_t q = 1; q < n_threads; ++q) pool.emplace_back(run, q);
  } catch (const std::exception&) {  // no more threads, or no memory for them
  }
  run(0);
  for (std::thread& t : pool) t.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace margent
