#include "volvox/base/platform/child_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "volvox/base/platform/clock.h"

namespace volvox::platform {
namespace {

[[noreturn]] void be_the_child(const std::function<std::string()>& work, int pipe, pid_t parent) {
  // It ends with its parent, however that ends.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  std::string text;
  int status = 0;
  try {
    text = work();
  } catch (const std::exception& error) {
    text = error.what();
    status = 1;
  }
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(pipe, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) break;
    done += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
  _exit(status);  // neither the parent's buffers nor its destructors
}

// Reads until the other end is closed. False if that takes longer than the limit.
bool read_all(int pipe, double limit, std::string& text) {
  const double end = monotonic_seconds() + limit;
  for (;;) {
    const double left = end - monotonic_seconds();
    if (left <= 0) return false;
    pollfd waiting{pipe, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min(left, 3600.0) * 1e3) + 1) <= 0) continue;
    char buffer[4096];
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace

ChildOutcome run_in_child(const std::function<std::string()>& work, double limit) {
  ChildOutcome outcome;
  int ends[2];
  if (pipe(ends) != 0) {
    outcome.failure = fmt::format("no pipe to a new process: {}", std::strerror(errno));
    return outcome;
  }
  std::fflush(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) {
    outcome.failure = fmt::format("no new process: {}", std::strerror(errno));
    close(ends[0]), close(ends[1]);
    return outcome;
  }
  if (child == 0) {
    close(ends[0]);
    be_the_child(work, ends[1], parent);
  }
  close(ends[1]);
  const bool ended = read_all(ends[0], limit, outcome.text);
  close(ends[0]);
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  outcome.peak_memory_bytes = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  if (!ended) outcome.failure = fmt::format("did not end within {:.0f} s", limit);
  else if (WIFSIGNALED(status)) outcome.failure = fmt::format("crashed (signal {}, {})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0) outcome.failure = outcome.text.empty() ? fmt::format("exit status {}", WEXITSTATUS(status)) : outcome.text;
  return outcome;
}

}  // namespace volvox::platform
