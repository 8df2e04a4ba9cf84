#include "volvox/base/platform/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"

namespace volvox::platform {
namespace {

constexpr std::size_t max_text = std::size_t{1} << 30;  // bytes

// Runs the work in the child, and sends what it returns.
int run_child(const std::function<std::string()>& work, int pipe) {
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
  return status;
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::function<std::string()>& work,
                                                          const ProcessLimits& limits) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Error(fmt::format("no new process can be started: {}", std::strerror(errno)),
                 "run fewer processes at the same time");
  std::optional<std::vector<int>> keep;
  if (!limits.opens_files) keep = {ends[1]};
  auto started = GuardedProcess::start(
      [&] {
        close(ends[0]);
        return run_child(work, ends[1]);
      },
      limits, keep);
  close(ends[1]);
  if (!started.ok()) {
    close(ends[0]);
    return started.error();
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  std::unique_ptr<ChildProcess> process(new ChildProcess);
  process->process_ = std::move(*started);
  process->pipe_ = ends[0];
  return process;
}

ChildProcess::~ChildProcess() { end("was not needed any more"); }

bool ChildProcess::poll() {
  while (!ended_) {
    // It may close its output and go on, so the end of the output is not its end.
    if (said_all_ && !process_->poll_end()) break;
    if (said_all_) {
      reap({});
      break;
    }
    char buffer[65536];
    const ssize_t count = read(pipe_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) said_all_ = true;
    else outcome_.text.append(buffer, count);
    if (outcome_.text.size() > max_text) reap(fmt::format("wrote more than {} MB", max_text >> 20));
  }
  return ended_;
}

void ChildProcess::end(const std::string& why) {
  if (!poll()) reap(why);
}

// It has ended, or is ended if `why` says so.
void ChildProcess::reap(const std::string& why) {
  close(pipe_);
  process_->end();
  ended_ = true;
  outcome_.peak_memory_bytes = process_->peak_memory_bytes();
  const std::string& failure = process_->failure();
  if (!why.empty()) outcome_.failure = why;
  else if (failure.starts_with("exit status") && !outcome_.text.empty()) outcome_.failure = outcome_.text;
  else outcome_.failure = failure;
}

void ChildProcess::wait_for_any(const std::vector<const ChildProcess*>& children, double seconds) {
  std::vector<pollfd> waiting;
  for (const ChildProcess* child : children) {
    if (child->ended_) return;
    waiting.push_back({child->said_all_ ? child->process_->descriptor() : child->pipe_, POLLIN, 0});
  }
  ::poll(waiting.data(), waiting.size(), truncated<int>(std::clamp(seconds, 0.0, 3600.0) * 1e3) + 1);
}

ChildOutcome run_in_child(const std::function<std::string()>& work, double limit, const std::atomic<bool>* stop,
                          const ProcessLimits& limits) {
  const double end = monotonic_seconds() + limit;
  auto child = ChildProcess::start(work, limits);
  if (!child.ok()) return {.text = {}, .failure = child.error().diagnostics().front().what};
  const auto stopped = [&] { return stop != nullptr && *stop; };
  // A signal just before the wait does not end it, so each wait is a second at most.
  while (!(*child)->poll() && !stopped() && monotonic_seconds() < end)
    ChildProcess::wait_for_any({child->get()}, std::min(end - monotonic_seconds(), stop != nullptr ? 1.0 : limit));
  (*child)->end(stopped() ? "was stopped" : fmt::format("did not end within {:.0f} s", limit));
  return (*child)->outcome();
}

}  // namespace volvox::platform
