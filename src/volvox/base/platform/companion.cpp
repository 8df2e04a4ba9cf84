#include "volvox/base/platform/companion.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "volvox/base/index.h"
#include "volvox/base/platform/real_time.h"

namespace volvox::platform {

Result<std::unique_ptr<Companion>> Companion::start(Answer answer, std::size_t capacity, std::uint64_t memory) {
  const auto failed = [](const char* what) {
    return Error(fmt::format("{}: {}", what, std::strerror(errno)), "run it without --isolate");
  };
  std::unique_ptr<Companion> companion(new Companion);
  void* mapped = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return failed("no shared memory");
  companion->shared_ = {static_cast<std::byte*>(mapped), capacity};
  int ends[2];
  // A socket and not semaphores in the shared memory: garbage in those makes the C library abort this process.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return failed("no socket");
  companion->socket_ = ends[0];
  const std::span<std::byte> shared = companion->shared_;
  auto started = GuardedProcess::start([&]() -> int { serve(shared, ends[1], answer); }, {.memory_bytes = memory},
                                       std::vector{ends[1]});
  close(ends[1]);
  if (!started.ok()) return started.error();
  companion->process_ = std::move(*started);
  return companion;
}

void Companion::serve(std::span<std::byte> shared, int socket, const Answer& answer) {
  for (;;) {
    Notice notice;
    const ssize_t got = recv(socket, &notice, sizeof notice, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof notice) _exit(0);  // the run has ended
    const Bytes bytes = answer(shared.first(notice.size));
    if (bytes.size() > shared.size()) _exit(3);
    if (!bytes.empty()) std::memcpy(shared.data(), bytes.data(), bytes.size());
    notice.size = bytes.size();
    while (send(socket, &notice, sizeof notice, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
  }
}

Companion::~Companion() {
  process_.reset();
  if (socket_ >= 0) close(socket_);
  if (!shared_.empty()) munmap(shared_.data(), shared_.size());
}

Error Companion::failed(const std::string& how) {
  process_.reset();
  ended_ = how;
  return Error(how, "");
}

Result<std::span<const std::byte>> Companion::call(std::span<const std::byte> bytes, double limit) {
  if (!process_) return Error(ended_, "");
  if (bytes.size() > shared_.size())
    return failed(fmt::format("got a call of {} bytes, but accepts at most {}", bytes.size(), shared_.size()));
  if (!bytes.empty()) std::memcpy(shared_.data(), bytes.data(), bytes.size());
  Notice notice{++calls_, bytes.size()};
  const std::int64_t deadline = monotonic_ns() + truncated<std::int64_t>(limit * 1e9);
  send(socket_, &notice, sizeof notice, MSG_NOSIGNAL | MSG_DONTWAIT);  // if it has ended, poll says so
  for (bool connected = true;;) {
    pollfd waiting[2] = {{connected ? socket_ : -1, POLLIN, 0}, {process_->descriptor(), POLLIN, 0}};
    const std::int64_t left = std::max<std::int64_t>(deadline - monotonic_ns(), 0);
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    const int ready = ppoll(waiting, 2, &timeout, nullptr);
    if (ready < 0 && errno == EINTR) continue;
    took_too_long_ = ready == 0;
    if (took_too_long_) return failed(fmt::format("did not answer within {:g} s", limit));
    const ssize_t got = waiting[0].revents == 0 ? -1 : recv(socket_, &notice, sizeof notice, MSG_DONTWAIT);
    if (got == sizeof notice) break;
    if (got > 0) return failed("gave a malformed answer");
    if (got == 0) connected = false;  // a crash closes the socket a little before its end is reported
    if (process_->poll_end()) {
      const std::string how = process_->failure();
      return failed(how.empty() ? "ended" : how.starts_with("exit") ? "ended with " + how : how);
    }
  }
  if (notice.number != calls_ || notice.size > shared_.size()) return failed("gave a malformed answer");
  answer_.assign(shared_.begin(), shared_.begin() + notice.size);
  return std::span<const std::byte>(answer_);
}

}  // namespace volvox::platform
