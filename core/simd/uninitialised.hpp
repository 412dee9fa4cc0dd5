// Vectors whose new entries are not set: several threads fill them, so that none waits for one to write zeros first.
// Large ones are in huge pages where the system offers them, since threads wait for each other at each new page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace margent {

template <class T>
struct UninitialisedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UninitialisedAllocator<U>;
  };
  using std::allocator<T>::allocator;
#if defined(__linux__)
  static constexpr std::size_t huge_page = std::size_t(1) << 21;
  static bool is_large(std::size_t n) { return n >= 2 * huge_page / sizeof(T); }
  T* allocate(std::size_t n) {
    if (!is_large(n)) return std::allocator<T>::allocate(n);
    if (n > (SIZE_MAX - huge_page) / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = (n * sizeof(T) + huge_page - 1) / huge_page * huge_page;
    void* const place = std::aligned_alloc(huge_page, bytes);
    if (!place) throw std::bad_alloc();
    madvise(place, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(place);
  }
  void deallocate(T* place, std::size_t n) {
    if (is_large(n))
      std::free(place);
    else
      std::allocator<T>::deallocate(place, n);
  }
#endif
  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Values>
  void construct(U* place, Values&&... values) {
    ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
  }
};

template <class T>
using UninitialisedVector = std::vector<T, UninitialisedAllocator<T>>;

}  // namespace margent
