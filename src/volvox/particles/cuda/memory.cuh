// Memory of the GPU, and errors of its calls.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace volvox::particles::cuda {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw Failure(std::string(what) + ": " + cudaGetErrorString(error));
}

template <class T>
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // What it held is lost when it must grow. Returns whether it moved.
  bool reserve(std::size_t size) {
    if (size <= size_) return false;
    cudaFree(data_);
    data_ = nullptr, size_ = 0;
    check(cudaMalloc(&data_, size * sizeof(T)), "memory of the GPU");
    size_ = size;
    return true;
  }
  T* get() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Memory of the computer from which the GPU copies by itself.
template <class T>
class Pinned {
 public:
  Pinned() = default;
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  bool reserve(std::size_t size) {
    if (size <= size_) return false;
    cudaFreeHost(data_);
    data_ = nullptr, size_ = 0;
    check(cudaMallocHost(&data_, size * sizeof(T)), "memory that the GPU can copy from");
    size_ = size;
    return true;
  }
  T* get() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

inline unsigned blocks_for(std::size_t count, unsigned size) {
  return static_cast<unsigned>(count == 0 ? 1 : (count + size - 1) / size);
}

}  // namespace volvox::particles::cuda
