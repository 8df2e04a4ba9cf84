// A forked process that answers calls over shared memory. It starts as a copy of this process, so that the state
// at that time need not be transferred. Its crashes and endless loops do not affect this process.
// Used by one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::platform {

class Companion {
 public:
  using Bytes = std::vector<std::byte>;
  // Computes the answer to a call; runs only in the companion.
  using Answer = std::function<Bytes(std::span<const std::byte> call)>;

  // Forks. The companion has no other threads. `capacity`: the largest call or answer in bytes.
  static Result<std::unique_ptr<Companion>> start(Answer answer, std::size_t capacity);
  ~Companion();  // ends the process
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  // Waits for the answer, at most `limit` seconds. After a failure the companion is killed and every later call
  // fails, too. The answer is valid until the next call.
  Result<std::span<const std::byte>> call(std::span<const std::byte> bytes, double limit);
  bool took_too_long() const { return took_too_long_; }  // and was killed

 private:
  struct Shared;
  Companion() = default;
  [[noreturn]] static void serve(Shared& shared, const Answer& answer, int parent);
  void end();

  Shared* shared_ = nullptr;
  std::size_t mapped_ = 0;
  int process_ = -1;
  std::string ended_;  // how it ended, if it has
  bool took_too_long_ = false;
};

}  // namespace volvox::platform
