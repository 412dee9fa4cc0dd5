// Memory for kernels: 64-byte aligned, growing, in huge pages where the system offers them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#elif defined(_WIN32)
#include <malloc.h>
#endif

namespace margent {

template <class T>
class Buffer {
 public:
  using value_type = T;
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { release(); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

  // Room for n values; what was there is lost when the buffer has to move.
  T* need(std::size_t n) {
    if (n > capacity_) {
      release();
      allocate(n + n / 2);
    }
    size_ = n;
    zeroed_ = false;
    return data_;
  }

  // n values, the first ones kept, the new ones zero.
  void grow(std::size_t n) {
    if (n > capacity_) {
      Buffer larger;
      larger.allocate(n);
      if (size_) std::memcpy(larger.data_, data_, size_ * sizeof(T));
      larger.size_ = size_;
      swap(larger);
    }
    if (n > size_ && !zeroed_) std::memset(static_cast<void*>(data_ + size_), 0, (n - size_) * sizeof(T));
    if (n < size_) zeroed_ = false;
    size_ = n;
  }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t huge_page = std::size_t(1) << 21;

  // Leaves the memory zeroed where that is free: fresh pages of the system are.
  void allocate(std::size_t n) {
    if (n > SIZE_MAX / sizeof(T) - 2 * huge_page) throw std::bad_alloc();
    std::size_t bytes = (n * sizeof(T) + alignment - 1) / alignment * alignment;
    if (bytes == 0) bytes = alignment;
#if defined(__linux__)
    if (bytes >= 2 * huge_page) {
      mapped_bytes_ = bytes + huge_page;
      mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mapped_ == MAP_FAILED) {
        mapped_ = nullptr;
        throw std::bad_alloc();
      }
      const std::uintptr_t start = (reinterpret_cast<std::uintptr_t>(mapped_) + huge_page - 1) / huge_page * huge_page;
      data_ = reinterpret_cast<T*>(start);
      madvise(data_, bytes, MADV_HUGEPAGE);
      zeroed_ = true;
      capacity_ = bytes / sizeof(T);
      return;
    }
#endif
#if defined(_WIN32)
    data_ = static_cast<T*>(_aligned_malloc(bytes, alignment));
#else
    data_ = static_cast<T*>(std::aligned_alloc(alignment, bytes));
#endif
    if (!data_) throw std::bad_alloc();
    capacity_ = bytes / sizeof(T);
  }
  void release() {
#if defined(__linux__)
    if (mapped_) {
      munmap(mapped_, mapped_bytes_);
      data_ = nullptr;
      mapped_ = nullptr;
    }
#endif
#if defined(_WIN32)
    _aligned_free(data_);
#else
    std::free(data_);
#endif
    data_ = nullptr;
    capacity_ = size_ = 0;
    zeroed_ = false;
  }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(zeroed_, other.zeroed_);
    std::swap(mapped_, other.mapped_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
  }
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
  bool zeroed_ = false;     // everything past size_ is zero
  void* mapped_ = nullptr;  // where the system's pages begin, if they are mapped
  std::size_t mapped_bytes_ = 0;
};

}  // namespace margent
