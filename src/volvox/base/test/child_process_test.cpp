#include "volvox/base/platform/child_process.h"

#include "volvox/base/platform/file_lock.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <unistd.h>

namespace volvox::platform {
namespace {

TEST(ChildProcess, ReturnsWhatTheWorkSays) {
  const std::string large(300000, 'x');  // more than a pipe holds
  const ChildOutcome outcome = run_in_child([&] { return large; }, 20);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(outcome.text, large);
  EXPECT_GT(outcome.peak_memory_bytes, 0);
}

TEST(ChildProcess, ACrashIsReportedAndNotOurs) {
  const ChildOutcome outcome = run_in_child(
      []() -> std::string {
        std::raise(SIGKILL);
        return {};
      },
      20);
  EXPECT_NE(outcome.failure.find("signal 9"), std::string::npos) << outcome.failure;
}

TEST(ChildProcess, AnExceptionIsReported) {
  EXPECT_EQ(run_in_child([]() -> std::string { throw std::runtime_error("no room"); }, 20).failure, "no room");
}

TEST(ChildProcess, OneThatHangsIsEnded) {
  const ChildOutcome outcome = run_in_child(
      []() -> std::string {
        for (;;) pause();
      },
      0.2);
  EXPECT_NE(outcome.failure.find("did not end"), std::string::npos) << outcome.failure;
}

TEST(ChildProcess, OneThatIsNotWantedAnyMoreIsEnded) {
  const std::atomic<bool> stop = true;
  EXPECT_EQ(run_in_child(
                []() -> std::string {
                  for (;;) pause();
                },
                1e3, &stop)
                .failure,
            "was stopped");
}

TEST(ChildProcess, MemoryIsItsOwn) {
  const auto peak_of = [](std::size_t bytes) {
    return run_in_child([&] { return std::string(1, std::vector<char>(bytes, 1).back()); }, 20).peak_memory_bytes;
  };
  const std::int64_t large = peak_of(200u << 20), small = peak_of(1u << 20);
  EXPECT_GT(large - small, std::int64_t{150} << 20);
}

TEST(ChildProcess, CanBeLookedAtAndEnded) {
  auto sleeper = ChildProcess::start([]() -> std::string {
    for (;;) pause();
  });
  auto talker = ChildProcess::start([] { return std::string("done"); });
  ASSERT_TRUE(sleeper.ok() && talker.ok());
  while (!(*talker)->poll()) ChildProcess::wait_for_any({sleeper->get(), talker->get()}, 20);
  EXPECT_EQ((*talker)->outcome().text, "done");
  EXPECT_FALSE((*sleeper)->poll());
  (*sleeper)->end("enough");
  EXPECT_TRUE((*sleeper)->poll());
  EXPECT_EQ((*sleeper)->outcome().failure, "enough");
}

TEST(FileLock, HoldsOneAtATime) {
  const std::string file = testing::TempDir() + "lock";
  std::ofstream(file).flush();
  {
    const auto first = FileLock::take(file, 0);
    EXPECT_TRUE(first.ok());
    EXPECT_FALSE(FileLock::take(file, 0).ok());
  }
  EXPECT_TRUE(FileLock::take(file, 0).ok());
  EXPECT_FALSE(FileLock::take(file + " that is not there", 0).ok());
}

}  // namespace
}  // namespace volvox::platform
