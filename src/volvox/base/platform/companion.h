// A forked process that answers calls over shared memory. It starts as a copy of this process, so that the state
// at that time need not be transferred. Its crashes and endless loops do not affect this process, nor does what it
// writes into the shared memory: that holds bytes alone, and an answer is copied before it is read.
// Used by one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/platform/guarded_process.h"
#include "volvox/base/result.h"

namespace volvox::platform {

class Companion {
 public:
  using Bytes = std::vector<std::byte>;
  // Computes the answer to a call; runs only in the companion.
  using Answer = std::function<Bytes(std::span<const std::byte> call)>;

  // Forks. The companion has no other threads and no open files but standard input, output and error. `capacity`: the
  // largest call or answer in bytes; `memory`: what it may allocate, in bytes (0: no limit).
  static Result<std::unique_ptr<Companion>> start(Answer answer, std::size_t capacity, std::uint64_t memory = 0);
  ~Companion();  // ends the process, and all that it has started
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  // Waits for the answer, at most `limit` seconds. After a failure the companion is killed and every later call
  // fails, too. The answer is valid until the next call.
  Result<std::span<const std::byte>> call(std::span<const std::byte> bytes, double limit);
  bool took_too_long() const { return took_too_long_; }  // and was killed

 private:
  // What goes through the socket; the bytes themselves are in the shared memory.
  struct Notice {
    std::uint64_t number = 0;  // of the call
    std::uint64_t size = 0;    // of its bytes, or of those of the answer
  };
  Companion() = default;
  [[noreturn]] static void serve(std::span<std::byte> shared, int socket, const Answer& answer);
  Error failed(const std::string& how);

  std::span<std::byte> shared_;
  int socket_ = -1;
  std::unique_ptr<GuardedProcess> process_;
  std::uint64_t calls_ = 0;
  Bytes answer_;
  std::string ended_;  // how it ended, if it has
  bool took_too_long_ = false;
};

}  // namespace volvox::platform
