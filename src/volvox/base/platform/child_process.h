// Another program that runs beside this one and reads what we write to it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::platform {

class ChildProcess {
 public:
  // The program is looked for along PATH; no shell is in between. What it prints goes nowhere;
  // what it complains of is kept.
  static Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& arguments);
  // Waits for it to end.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // To its standard input; waits while it is busy. False: it reads no more.
  bool write(std::span<const std::byte> bytes);
  // Closes its standard input, waits for it to end, and gives its exit status (128 + the signal,
  // if one ended it). May be called again.
  int finish();
  // The first 4 kB of its standard error, once it has ended.
  std::string complaints() const;

 private:
  ChildProcess() = default;

  int process_ = -1;
  int input_ = -1;
  int errors_ = -1;
  std::optional<int> status_;
};

}  // namespace volvox::platform
