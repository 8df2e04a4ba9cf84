#include "volvox/base/platform/guarded_process.h"

#include <fcntl.h>
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
#include <cstdlib>
#include <cstring>

#include "volvox/base/index.h"
#include "volvox/base/platform/available_memory.h"

namespace volvox::platform {
namespace {

struct EndReport {
  int status = 0;  // as of wait(2)
  std::int64_t peak_memory_bytes = 0;
};

void close_all_but(std::vector<int> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned first = 3;
  for (const int descriptor : keep) {
    const unsigned kept = descriptor;
    if (kept < first) continue;
    if (kept > first) close_range(first, kept - 1, 0);
    first = kept + 1;
  }
  close_range(first, ~0u, 0);
}

void set_limit(__rlimit_resource resource, std::uint64_t value) {
  rlimit limit{};
  getrlimit(resource, &limit);
  limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(value, limit.rlim_max);
  setrlimit(resource, &limit);
}

void set_limits(const ProcessLimits& limits) {
  set_limit(RLIMIT_CORE, 0);
  if (limits.memory_bytes > 0) set_limit(RLIMIT_AS, limits.memory_bytes + address_space_bytes());
  if (limits.cpu_seconds > 0) set_limit(RLIMIT_CPU, limits.cpu_seconds);
  if (!limits.opens_files) set_limit(RLIMIT_NOFILE, 0), set_limit(RLIMIT_FSIZE, 0);
}

[[noreturn]] void run_work(const std::function<int()>& work, const ProcessLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  // The handlers of the parent must not run here, neither after a crash nor after a signal to the group.
  for (const int parents : {SIGINT, SIGHUP}) signal(parents, SIG_IGN);
  for (const int deadly : {SIGTERM, SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) signal(deadly, SIG_DFL);
  set_limits(limits);
  int status = 1;
  try {
    status = work();
  } catch (...) {}
  _exit(status);  // does not flush the parent's buffers or run its destructors
}

// Kills all children of this process. Theirs become ours when they end, so this goes on until there are none.
void kill_children() {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/task/%d/children", getpid());
  for (;;) {
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    char text[4096] = "";
    const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (size <= 0) return;
    text[size] = 0;
    char* end = text;
    long child = std::strtol(text, &end, 10);
    while (child != 0) {
      // The last number may be cut off; it is read whole in the next round.
      if (*end == ' ') kill(narrow<pid_t>(child), SIGKILL);
      child = std::strtol(end, &end, 10);
    }
    waitpid(-1, nullptr, 0);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {}
  }
}

// The life of the warden: it waits until the work or the run ends, ends what is left, and reports. It calls only what
// may be called after a fork from a process with several threads.
[[noreturn]] void guard(pid_t worker, int report, const sigset_t& awaited) {
  int status = SIGKILL;
  rusage usage{};
  bool wanted = true, reaped = worker < 0;
  while (!reaped && wanted) {
    const pid_t ended = wait4(-1, &status, WNOHANG, &usage);
    reaped = ended == worker;
    if (ended <= 0) wanted = sigwaitinfo(&awaited, nullptr) != SIGTERM;
  }
  if (!reaped) {
    kill(worker, SIGKILL);
    while (wait4(worker, &status, 0, &usage) < 0 && errno == EINTR) {}
  }
  kill_children();
  const EndReport told{status, std::int64_t{usage.ru_maxrss} * 1024};
  while (write(report, &told, sizeof told) < 0 && errno == EINTR) {}
  _exit(0);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("crashed (signal {}, {})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace

Result<std::unique_ptr<GuardedProcess>> GuardedProcess::start(const std::function<int()>& work,
                                                              const ProcessLimits& limits,
                                                              const std::optional<std::vector<int>>& keep) {
  const auto failed = [] {
    return Error(fmt::format("no new process can be started: {}", std::strerror(errno)),
                 "run fewer processes at the same time");
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed();
  std::fflush(nullptr);
  const pid_t parent = getpid(), warden = fork();
  if (warden < 0) {
    const Error error = failed();
    close(ends[0]), close(ends[1]);
    return error;
  }
  if (warden == 0) {
    sigset_t awaited, before;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD), sigaddset(&awaited, SIGTERM);
    sigprocmask(SIG_BLOCK, &awaited, &before);
    for (const int parents : {SIGINT, SIGHUP}) signal(parents, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (getppid() != parent) _exit(1);
    close(ends[0]);
    const pid_t worker = fork();
    if (worker == 0) {
      close(ends[1]);
      if (keep) close_all_but(*keep);
      sigprocmask(SIG_SETMASK, &before, nullptr);
      run_work(work, limits);
    }
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      if (standard != ends[1]) close(standard);
    close_all_but({ends[1]});
    guard(worker, ends[1], awaited);
  }
  close(ends[1]);
  std::unique_ptr<GuardedProcess> process(new GuardedProcess);
  process->warden_ = warden;
  process->report_ = ends[0];
  return process;
}

GuardedProcess::~GuardedProcess() {
  end();
  if (report_ >= 0) close(report_);
}

bool GuardedProcess::poll_end() {
  pollfd waiting{report_, POLLIN, 0};
  if (!ended_ && poll(&waiting, 1, 0) > 0) take_report();
  return ended_;
}

void GuardedProcess::end() {
  if (ended_) return;
  kill(warden_, SIGTERM);
  // A warden that was stopped does not answer; then the work ends with it.
  pollfd waiting{report_, POLLIN, 0};
  int ready = 0;
  while ((ready = poll(&waiting, 1, 5000)) < 0 && errno == EINTR) {}
  if (ready == 0) kill(warden_, SIGKILL);
  take_report();
}

void GuardedProcess::take_report() {
  EndReport told;
  ssize_t size = 0;
  while ((size = read(report_, &told, sizeof told)) < 0 && errno == EINTR) {}
  int status = 0;
  while (waitpid(warden_, &status, 0) < 0 && errno == EINTR) {}
  ended_ = true;
  if (size != sizeof told) told.status = SIGKILL;
  failure_ = how_it_ended(told.status);
  peak_memory_bytes_ = told.peak_memory_bytes;
}

}  // namespace volvox::platform
