#include "volvox/base/platform/child_process.h"

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
#include <cstring>
#include <exception>

#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"

namespace volvox::platform {
namespace {

[[noreturn]] void run_child(const std::function<std::string()>& work, int pipe, pid_t parent) {
  // The child is killed when its parent ends for any reason.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // The child inherits the handlers of its parent, and a terminal sends Ctrl-C and hangups to both.
  for (const int parents : {SIGINT, SIGHUP}) signal(parents, SIG_IGN);
  signal(SIGTERM, SIG_DFL);
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
    done += std::max<ssize_t>(written, 0);
  }
  _exit(status);  // does not flush the parent's buffers or run its destructors
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::function<std::string()>& work) {
  const auto failed = [] {
    return Error(fmt::format("no new process can be started: {}", std::strerror(errno)),
                 "run fewer processes at the same time");
  };
  int ends[2];
  if (pipe(ends) != 0) return failed();
  std::fflush(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) {
    const Error error = failed();
    close(ends[0]), close(ends[1]);
    return error;
  }
  if (child == 0) {
    close(ends[0]);
    run_child(work, ends[1], parent);
  }
  close(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  std::unique_ptr<ChildProcess> process(new ChildProcess);
  process->process_ = child;
  process->pipe_ = ends[0];
  return process;
}

ChildProcess::~ChildProcess() { end("was not needed any more"); }

bool ChildProcess::poll() {
  while (!ended_) {
    char buffer[4096];
    const ssize_t count = read(pipe_, buffer, sizeof buffer);
    if (count > 0) {
      outcome_.text.append(buffer, count);
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      reap({});
    } else if (errno == EAGAIN) {
      break;
    }
  }
  return ended_;
}

void ChildProcess::end(const std::string& why) {
  if (poll()) return;
  kill(process_, SIGKILL);
  reap(why);
}

void ChildProcess::reap(const std::string& why) {
  close(pipe_);
  int status = 0;
  rusage usage{};
  while (wait4(process_, &status, 0, &usage) < 0 && errno == EINTR) {}
  ended_ = true;
  outcome_.peak_memory_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  if (!why.empty()) outcome_.failure = why;
  else if (WIFSIGNALED(status))
    outcome_.failure = fmt::format("crashed (signal {}, {})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    outcome_.failure = outcome_.text.empty() ? fmt::format("exit status {}", WEXITSTATUS(status)) : outcome_.text;
}

void ChildProcess::wait_for_any(const std::vector<const ChildProcess*>& children, double seconds) {
  std::vector<pollfd> waiting;
  for (const ChildProcess* child : children) {
    if (child->ended_) return;
    waiting.push_back({child->pipe_, POLLIN, 0});
  }
  ::poll(waiting.data(), waiting.size(), truncated<int>(std::clamp(seconds, 0.0, 3600.0) * 1e3) + 1);
}

ChildOutcome run_in_child(const std::function<std::string()>& work, double limit, const std::atomic<bool>* stop) {
  const double end = monotonic_seconds() + limit;
  auto child = ChildProcess::start(work);
  if (!child.ok()) return {.text = {}, .failure = child.error().diagnostics().front().what};
  const auto stopped = [&] { return stop != nullptr && *stop; };
  // A signal just before the wait does not end it, so each wait is a second at most.
  while (!(*child)->poll() && !stopped() && monotonic_seconds() < end)
    ChildProcess::wait_for_any({child->get()}, std::min(end - monotonic_seconds(), stop != nullptr ? 1.0 : limit));
  (*child)->end(stopped() ? "was stopped" : fmt::format("did not end within {:.0f} s", limit));
  return (*child)->outcome();
}

}  // namespace volvox::platform
