#include "volvox/base/platform/companion.h"

#include <fmt/format.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "volvox/base/index.h"
#include "volvox/base/platform/real_time.h"

namespace volvox::platform {
namespace {

// Waits until the semaphore is posted; false if `moment` has come before.
bool wait_until_ns(sem_t& semaphore, std::int64_t moment) {
  const timespec at{moment / 1'000'000'000, moment % 1'000'000'000};
  while (sem_clockwait(&semaphore, CLOCK_MONOTONIC, &at) != 0)
    if (errno != EINTR) return false;
  return true;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("crashed (signal {}, {})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with exit status {}", WEXITSTATUS(status));
}

}  // namespace

struct Companion::Shared {
  sem_t called, answered;
  std::size_t capacity = 0, size = 0;
  std::byte data[1];  // capacity of them

  std::span<const std::byte> content() const { return {data, size}; }
  bool put(std::span<const std::byte> bytes) {
    if (bytes.size() > capacity) return false;
    std::memcpy(data, bytes.data(), bytes.size());
    size = bytes.size();
    return true;
  }
};

Result<std::unique_ptr<Companion>> Companion::start(Answer answer, std::size_t capacity) {
  std::unique_ptr<Companion> companion(new Companion);
  companion->mapped_ = sizeof(Shared) + capacity;
  void* memory =
      mmap(nullptr, companion->mapped_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return Error(fmt::format("no shared memory: {}", std::strerror(errno)), "run it without --isolate");
  companion->shared_ = new (memory) Shared;
  companion->shared_->capacity = capacity;
  sem_init(&companion->shared_->called, 1, 0);
  sem_init(&companion->shared_->answered, 1, 0);
  std::fflush(nullptr);
  const pid_t parent = getpid();
  companion->process_ = fork();
  if (companion->process_ < 0)
    return Error(fmt::format("no new process: {}", std::strerror(errno)), "run it without --isolate");
  if (companion->process_ == 0) serve(*companion->shared_, answer, parent);
  return companion;
}

void Companion::serve(Shared& shared, const Answer& answer, int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // it is killed when its parent ends for any reason
  if (getppid() != parent) _exit(1);
  // The parent handles Ctrl-C and kills the companion. The handlers of the parent must not run here after a crash.
  for (const int parents : {SIGINT, SIGHUP}) signal(parents, SIG_IGN);
  for (const int deadly : {SIGTERM, SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) signal(deadly, SIG_DFL);
  for (;;) {
    while (sem_wait(&shared.called) != 0) {}
    if (!shared.put(answer(shared.content()))) _exit(3);
    sem_post(&shared.answered);
  }
}

void Companion::end() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {}
  process_ = -1;
}

Companion::~Companion() {
  end();
  if (shared_ != nullptr) munmap(shared_, mapped_);
}

Result<std::span<const std::byte>> Companion::call(std::span<const std::byte> bytes, double limit) {
  constexpr std::int64_t check_interval_ns = 20'000'000;
  const auto failed = [&](const std::string& how) {
    end();
    ended_ = how;
    return Error(how, "");
  };
  if (process_ <= 0) return Error(ended_, "");
  if (!shared_->put(bytes))
    return failed(fmt::format("got a call of {} bytes, but accepts at most {}", bytes.size(), shared_->capacity));
  const std::int64_t deadline = monotonic_ns() + truncated<std::int64_t>(limit * 1e9);
  sem_post(&shared_->called);
  for (std::int64_t now = monotonic_ns();; now = monotonic_ns()) {
    if (wait_until_ns(shared_->answered, std::min(deadline, now + check_interval_ns))) return shared_->content();
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) == process_) {
      process_ = -1;
      return failed(how_it_ended(status));
    }
    took_too_long_ = monotonic_ns() >= deadline;
    if (took_too_long_) return failed(fmt::format("did not answer within {:g} s", limit));
  }
}

}  // namespace volvox::platform
