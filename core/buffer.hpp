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
#endif

namespace margent {

template <class T>
class Buffer {
 public:
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
    if (n > size_) std::memset(static_cast<void*>(data_ + size_), 0, (n - size_) * sizeof(T));
    size_ = n;
  }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t huge_page = std::size_t(1) << 21;

  void allocate(std::size_t n) {
    if (n > SIZE_MAX / sizeof(T) - huge_page) throw std::bad_alloc();
    std::size_t bytes = n * sizeof(T);
    const std::size_t align = bytes >= 2 * huge_page ? huge_page : alignment;
    bytes = (bytes + align - 1) / align * align;
    if (bytes == 0) bytes = align;
#if defined(_WIN32)
    data_ = static_cast<T*>(_aligned_malloc(bytes, align));
#else
    data_ = static_cast<T*>(std::aligned_alloc(align, bytes));
#endif
    if (!data_) throw std::bad_alloc();
#if defined(__linux__)
    if (align == huge_page) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    capacity_ = bytes / sizeof(T);
  }
  void release() {
#if defined(_WIN32)
    _aligned_free(data_);
#else
    std::free(data_);
#endif
    data_ = nullptr;
    capacity_ = size_ = 0;
  }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace margent
