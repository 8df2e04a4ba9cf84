#include "volvox/base/platform/companion.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "volvox/base/platform/child_process.h"

namespace volvox::platform {
namespace {

using Bytes = Companion::Bytes;

Bytes bytes_of(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Companion, AnswersCalls) {
  auto companion =
      Companion::start([](std::span<const std::byte> call) { return bytes_of(text_of(call) + "!"); }, 1 << 16);
  ASSERT_TRUE(companion.ok());
  for (int i = 0; i < 100; ++i) {
    const auto answer = (*companion)->call(bytes_of(std::to_string(i)), 10);
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(text_of(*answer), std::to_string(i) + "!");
  }
  EXPECT_FALSE((*companion)->call(Bytes(1 << 17), 10).ok()) << "more than the shared memory holds";
}

// Finds the shared memory as a plugin with a stray pointer would: by the bytes of the call.
std::span<std::byte> shared_memory_of(std::span<const std::byte> call) {
  return {const_cast<std::byte*>(call.data()), 4096};
}

TEST(Companion, GarbageInTheSharedMemoryIsOnlyAnAnswer) {
  for (int pattern = 0; pattern < 256; pattern += 5) {
    auto companion = Companion::start(
        [pattern](std::span<const std::byte> call) {
          std::memset(shared_memory_of(call).data(), pattern, 4096);
          if (text_of(call).size() == 1) raise(SIGKILL);
          return bytes_of("answer");
        },
        1 << 16);
    ASSERT_TRUE(companion.ok());
    const auto answer = (*companion)->call(bytes_of("some call"), 10);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(text_of(*answer), "answer");
    EXPECT_FALSE((*companion)->call(bytes_of("1"), 10).ok());
  }
}

// Sends `size` bytes of garbage over every socket that it has.
void send_garbage(std::size_t size) {
  const std::vector<char> garbage(size, '\xff');
  for (int descriptor = 3; descriptor < 64; ++descriptor) send(descriptor, garbage.data(), size, MSG_NOSIGNAL);
}

TEST(Companion, AForgedNoticeIsMalformed) {
  for (const std::size_t size : {1u, 8u, 16u, 100u}) {
    auto companion = Companion::start(
        [size](std::span<const std::byte>) {
          send_garbage(size);
          return bytes_of("late");
        },
        1 << 16);
    ASSERT_TRUE(companion.ok());
    const auto answer = (*companion)->call(bytes_of("call"), 10);
    ASSERT_FALSE(answer.ok());
    EXPECT_NE(answer.error().text().find("malformed"), std::string::npos) << answer.error().text();
  }
}

bool is_alive(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return status >> number >> name >> state && state != "Z";
}

// A process that has left its group and its session, as a daemon does.
pid_t start_daemon() {
  const pid_t child = fork();
  if (child != 0) return child;
  setsid();
  if (fork() != 0) pause();
  for (;;) pause();
}

TEST(Companion, WhatItHasStartedEndsWithIt) {
  pid_t daemon = 0;
  {
    auto companion =
        Companion::start([](std::span<const std::byte>) { return bytes_of(std::to_string(start_daemon())); }, 1 << 16);
    ASSERT_TRUE(companion.ok());
    const auto answer = (*companion)->call(bytes_of("call"), 10);
    ASSERT_TRUE(answer.ok());
    daemon = std::stoi(text_of(*answer));
    EXPECT_TRUE(is_alive(daemon));
  }
  EXPECT_FALSE(is_alive(daemon));
}

TEST(Companion, ACrashIsToldWithItsSignal) {
  auto companion = Companion::start(
      [](std::span<const std::byte>) -> Bytes {
        start_daemon();  // keeps the socket open
        raise(SIGSEGV);
        return {};
      },
      1 << 16);
  ASSERT_TRUE(companion.ok());
  const auto answer = (*companion)->call(bytes_of("call"), 20);
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().text().find("signal 11"), std::string::npos) << answer.error().text();
  EXPECT_FALSE((*companion)->took_too_long());
}

TEST(Companion, MemoryHasALimit) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer needs more addresses than any limit";
#endif
  auto companion = Companion::start(
      [](std::span<const std::byte>) -> Bytes {
        try {
          return bytes_of(std::to_string(std::vector<char>(std::size_t{1} << 30, 1).back()));
        } catch (const std::bad_alloc&) {
          return bytes_of("no memory");
        }
      },
      1 << 16, std::uint64_t{100} << 20);
  ASSERT_TRUE(companion.ok());
  const auto answer = (*companion)->call(bytes_of("call"), 20);
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(text_of(*answer), "no memory");
}

TEST(ChildProcess, WhatItLeavesBehindDoesNotHoldItsOutput) {
  const ChildOutcome outcome = run_in_child([] { return std::to_string(start_daemon()); }, 20);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_FALSE(is_alive(std::stoi(outcome.text)));
}

TEST(ChildProcess, OneThatClosesItsOutputAndGoesOnIsEnded) {
  const ChildOutcome outcome = run_in_child(
      []() -> std::string {
        for (int descriptor = 3; descriptor < 64; ++descriptor) close(descriptor);
        for (;;) pause();
      },
      0.2);
  EXPECT_NE(outcome.failure.find("did not end"), std::string::npos) << outcome.failure;
}

TEST(ChildProcess, LimitsHold) {
  const ProcessLimits limits{.memory_bytes = std::uint64_t{100} << 20, .cpu_seconds = 1, .opens_files = false};
  const auto failure = [&](const std::function<std::string()>& work) {
    return run_in_child(work, 60, nullptr, limits).failure;
  };
  EXPECT_EQ(failure([] { return std::string("x"); }), "");
  EXPECT_NE(failure([] { return std::string(std::size_t{1} << 30, 'x'); }), "");
  EXPECT_NE(failure([]() -> std::string {
              for (volatile bool forever = true; forever;) {}
              return {};
            }).find("signal"),
            std::string::npos);
  EXPECT_EQ(run_in_child([] { return std::string(std::ifstream("/proc/self/stat") ? "open" : "closed"); }, 60, nullptr,
                         limits)
                .text,
            "closed");
}

}  // namespace
}  // namespace volvox::platform
