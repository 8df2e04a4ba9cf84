// Another program that runs in parallel and reads what this process writes to it. Used by one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::platform {

class ChildProgram {
 public:
  // Searches PATH for the program and starts it without a shell. Its standard output is discarded; its
  // standard error is kept.
  static Result<std::unique_ptr<ChildProgram>> start(const std::vector<std::string>& arguments);
  // Waits for it to end.
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  // Writes to its standard input and waits until it has read. False if it has closed its input.
  bool write(std::span<const std::byte> bytes);
  // Closes its standard input, waits for its end and returns its exit status (128 + the signal if it was
  // killed by one). Can be called again.
  int finish();
  // The first 4 kB of its standard error. Call it after finish().
  std::string error_output() const;

 private:
  ChildProgram() = default;

  int process_ = -1;
  int input_ = -1;
  int errors_ = -1;
  std::optional<int> status_;
};

// Processor time of all child processes that have ended and were waited for.
double ended_children_cpu_seconds();

}  // namespace volvox::platform
