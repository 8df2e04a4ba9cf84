#include "volvox/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace volvox {
namespace {

TEST(ThreadPool, EveryIterationRunsOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (const std::size_t count : {0u, 1u, 7u, 1000u}) {
      std::vector<int> touched(count);
      for (int repeat = 0; repeat < 50; ++repeat) parallel_for(&pool, count, 1, [&](std::size_t i) { ++touched[i]; });
      for (const int t : touched) ASSERT_EQ(t, 50);
    }
  }
}

TEST(ThreadPool, NoThreadsAreTheCallers) {
  std::vector<int> touched(10);
  parallel_for(nullptr, touched.size(), 1, [&](std::size_t i) { ++touched[i]; });
  for (const int t : touched) EXPECT_EQ(t, 1);
}

TEST(ThreadPool, SmallLoopsStayOnTheCaller) {
  ThreadPool pool(4);
  const auto caller = std::this_thread::get_id();
  parallel_for(&pool, 10, 100, [&](std::size_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST(ThreadPool, AnExceptionReachesTheCaller) {
  ThreadPool pool(3);
  std::atomic<int> done = 0;
  const auto fail_at_two = [&](std::size_t i) {
    if (i == 2) throw std::runtime_error("two");
    ++done;
  };
  EXPECT_THROW(parallel_for(&pool, 3, 1, fail_at_two), std::runtime_error);
  EXPECT_EQ(done, 2);
  parallel_for(&pool, 3, 1, [&](std::size_t) { ++done; });
  EXPECT_EQ(done, 5);
}

}  // namespace
}  // namespace volvox
