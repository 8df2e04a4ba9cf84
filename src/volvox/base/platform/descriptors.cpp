#include "volvox/base/platform/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace volvox::platform {

void close_on_exec(int descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

void keep_standard_streams() {
  // Open for the other direction: a program that prints is told that it cannot.
  for (int stream = 0; stream <= 2; ++stream)
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY) != stream) return;
}

bool few_descriptors_left(int newest) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  const rlim_t number = newest;
  return number >= limit.rlim_cur - limit.rlim_cur / 4;
}

HeldPipe::HeldPipe(const std::filesystem::path& pipe)
    : descriptor_(open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) {}

HeldPipe::~HeldPipe() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace volvox::platform
