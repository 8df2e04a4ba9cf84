// File descriptors: the handles of open files and sockets, of which a process has only so many.
// A descriptor stays its owner's. Any thread may call these.
#pragma once

#include <filesystem>

namespace volvox::platform {

// Programs that this process starts do not inherit the descriptor.
void close_on_exec(int descriptor);

// Whether three quarters of this process's descriptors are in use, judged by the number of the newest: the system gives
// the lowest free number. Who serves strangers stops here, and leaves the rest to the files of the run.
bool few_descriptors_left(int newest);

// A standard stream that the parent has closed stays closed for whoever uses it, but its number is taken: the first
// file that a program opens would get it, and what is printed would be written into that file. To be called first.
void keep_standard_streams();

// Keeps a named pipe open for writing, so that to open it once more does not wait for somebody who reads it.
class HeldPipe {
 public:
  explicit HeldPipe(const std::filesystem::path& pipe);
  ~HeldPipe();
  HeldPipe(const HeldPipe&) = delete;
  HeldPipe& operator=(const HeldPipe&) = delete;
  bool is_read() const { return descriptor_ >= 0; }  // false: nobody reads it, or it cannot be written

 private:
  int descriptor_;
};

}  // namespace volvox::platform
