// A process beside this one that answers calls: a copy of this process as it is when it starts, so
// that what both know then needs no explanation, and shared memory for what is said afterwards. A
// crash or an endless loop of its own stays there.
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
  // What the companion does with a call; runs in the companion alone.
  using Answer = std::function<Bytes(std::span<const std::byte> call)>;

  // Forks. Other threads of this process do not exist in the companion.
  static Result<std::unique_ptr<Companion>> start(Answer answer, std::size_t capacity);
  ~Companion();  // ends the process
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  // One call at a time. Waits at most `limit` seconds; on failure the process has been ended, and
  // every later call fails too.
  Result<std::span<const std::byte>> call(std::span<const std::byte> bytes, double limit);
  bool took_too_long() const { return took_too_long_; }  // and was ended for it

 private:
  struct Shared;
  Companion() = default;
  [[noreturn]] static void serve(Shared& shared, const Answer& answer, int parent);
  void end();

  Shared* shared_ = nullptr;
  std::size_t mapped_ = 0;
  int process_ = -1;
  std::string ended_;  // how, if it has
  bool took_too_long_ = false;
};

}  // namespace volvox::platform
