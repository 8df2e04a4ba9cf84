#include "volvox/lattice/work_shares.h"

#include <gtest/gtest.h>

#include <numeric>

#include "volvox/base/thread_pool.h"

namespace volvox::lattice {
namespace {

TEST(WorkShares, EveryChunkIsTakenOnceByAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    WorkShares shares;
    for (const std::size_t chunks : {0, 1, 2, 7, 1000}) {
      const std::size_t workers = static_cast<std::size_t>(threads);
      std::vector<std::atomic<int>> taken(chunks), joined(workers);
      shares.cut(chunks, workers);
      parallel_for(&pool, workers, 1, [&](std::size_t) {
        const std::size_t worker = shares.join();
        ++joined[worker];
        while (const auto chunk = shares.next(worker)) ++taken[*chunk];
      });
      for (const auto& count : taken) EXPECT_EQ(count, 1);
      for (const auto& count : joined) EXPECT_EQ(count, 1);
    }
  }
}

TEST(WorkShares, EachTakesItsOwnPartFirstAndThenTheEndOfAnothers) {
  WorkShares shares;
  shares.cut(10, 2);
  EXPECT_EQ(shares.next(1), 5u);
  EXPECT_EQ(shares.next(1), 6u);
  for (const std::size_t expected : {0, 1, 2, 3, 4, 9, 8, 7}) EXPECT_EQ(shares.next(0), expected);
  EXPECT_EQ(shares.next(0), std::nullopt);
  EXPECT_EQ(shares.next(1), std::nullopt);
}

TEST(WorkShares, AThreadGetsItsShareOfTheLastTimeAgain) {
  WorkShares shares;
  shares.cut(4, 3);
  std::size_t other = 0;
  const std::size_t own = shares.join();
  std::thread([&] { other = shares.join(); }).join();
  EXPECT_NE(own, other);
  for (int tick = 0; tick < 3; ++tick) {
    shares.cut(4, 3);
    EXPECT_EQ(shares.join(), own);
  }
}

}  // namespace
}  // namespace volvox::lattice
