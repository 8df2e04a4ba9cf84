#include "volvox/base/platform/child_process.h"

#include "volvox/base/platform/folder_lock.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/base/test/temporary_folder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <unistd.h>

namespace volvox::platform {
namespace {

TEST(ChildProcess, ReturnsWhatTheWorkSays) {
  const std::string large(300000, 'x');  // more than a pipe holds
  const ChildOutcome outcome = run_in_child([&] { return std::string(large); }, 20);
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

TEST(FolderLock, HoldsOneProcessAtATimeAndNamesIt) {
  const TemporaryFolder made;
  const std::filesystem::path& folder = made.path();
  const auto elsewhere = [&] {
    return run_in_child(
               [&] {
                 const auto taken = FolderLock::take(folder);
                 return taken.ok() ? std::string("taken") : taken.error().text();
               },
               20)
        .text;
  };
  {
    const auto held = FolderLock::take(folder);
    ASSERT_TRUE(held.ok()) << held.error().text();
    EXPECT_NE(elsewhere().find("process " + std::to_string(getpid()) + " "), std::string::npos) << elsewhere();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "nothing is left behind";
  // The file that a killed process left.
  std::ofstream(folder / FolderLock::file_name) << "12345\n";
  EXPECT_EQ(elsewhere(), "taken");
  EXPECT_FALSE(FolderLock::take(folder / "that is not there").ok());
}

// A child that outlives the holder must not keep the folder.
TEST(FolderLock, IsNotInherited) {
  const TemporaryFolder made;
  const std::filesystem::path& folder = made.path();
  std::unique_ptr<ChildProcess> child;
  {
    const auto held = FolderLock::take(folder);
    ASSERT_TRUE(held.ok());
    auto sleeper = ChildProcess::start([]() -> std::string {
      for (;;) pause();
    });
    ASSERT_TRUE(sleeper.ok());
    child = std::move(*sleeper);
  }
  EXPECT_EQ(run_in_child([&] { return std::string(FolderLock::take(folder).ok() ? "taken" : "held"); }, 20).text,
            "taken");
  child->end("enough");
}

// Each in a process of its own, because signals go to processes.
TEST(StopOnSignal, TheFirstIsARequestAndTheSecondTheEnd) {
  const auto after = [](std::vector<int> signals) {
    const ChildOutcome outcome = run_in_child(
        [&] {
          if (std::freopen("/dev/null", "w", stderr) == nullptr) return std::string("nothing is null");
          signal(SIGHUP, SIG_DFL);
          const StopOnSignal stop;
          for (const int which : signals) raise(which);
          return std::string(stop.requested() ? "requested" : "not requested");
        },
        20);
    return outcome.failure.empty() ? outcome.text : "ended";
  };
  EXPECT_EQ(after({}), "not requested");
  for (const int first : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(after({first}), "requested");
    EXPECT_EQ(after({first, SIGHUP}), "requested") << "a closed terminal sends several";
    for (const int second : {SIGINT, SIGTERM}) EXPECT_EQ(after({first, second}), "ended");
  }
}

TEST(StopOnSignal, NohupHolds) {
  const ChildOutcome outcome = run_in_child(
      [] {
        signal(SIGHUP, SIG_IGN);
        const StopOnSignal stop;
        raise(SIGHUP);
        return std::string(stop.requested() ? "requested" : "ignored");
      },
      20);
  EXPECT_EQ(outcome.text, "ignored");
}

}  // namespace
}  // namespace volvox::platform
