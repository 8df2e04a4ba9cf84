#include "volvox/cluster/exchange.h"

#include <gtest/gtest.h>

#include "thread_ranks.h"

namespace volvox::cluster {
namespace {

TEST(Exchange, EveryRankGetsWhatEachHadForIt) {
  for (const int size : {1, 2, 3, 5}) {
    ThreadRanks(size).run([&](Exchange& ranks) {
      for (int round = 0; round < 50; ++round) {
        std::vector<std::string> letters;
        for (int to = 0; to < size; ++to)
          letters.push_back(std::to_string(100 * ranks.rank() + to) + std::string(round, '.'));
        const auto got = ranks.swap("round", letters);
        for (int from = 0; from < size; ++from)
          EXPECT_EQ(got[static_cast<std::size_t>(from)],
                    std::to_string(100 * from + ranks.rank()) + std::string(round, '.'));
        EXPECT_EQ(ranks.sum("sum", static_cast<std::uint64_t>(ranks.rank())), std::uint64_t(size * (size - 1) / 2));
      }
      EXPECT_FALSE(ranks.failure());
      EXPECT_FALSE(ranks.stops());
      return true;
    });
  }
}

TEST(Exchange, ARankThatIsElsewhereIsAnErrorAndStaysOne) {
  ThreadRanks(2).run([](Exchange& ranks) {
    (void)ranks.sum("tick", 1);
    (void)ranks.sum(ranks.rank() == 0 ? "tick" : "end", 1);
    EXPECT_TRUE(ranks.failure());
    EXPECT_NE(ranks.failure()->text().find("rank " + std::to_string(1 - ranks.rank()) + " is at"), std::string::npos)
        << ranks.failure()->text();
    EXPECT_EQ(ranks.sum("tick", 7), 7u);  // does not wait for ever
    return true;
  });
}

TEST(Exchange, ARankThatCannotGoOnTellsTheOthersWhy) {
  ThreadRanks(3).run([](Exchange& ranks) {
    (void)ranks.sum("tick", 1);
    if (ranks.rank() == 2) {
      ranks.fail("its disk is full");
      return true;
    }
    (void)ranks.sum("tick", 1);
    EXPECT_TRUE(ranks.failure());
    EXPECT_NE(ranks.failure()->text().find("rank 2 cannot go on: its disk is full"), std::string::npos);
    EXPECT_FALSE(ranks.somebody_died());
    return true;
  });
}

TEST(Exchange, ARankThatDiesIsNamed) {
  ThreadRanks(3).run([](Exchange& ranks) {
    (void)ranks.sum("tick", 1);
    if (ranks.rank() == 1) return false;
    (void)ranks.sum("tick", 1);
    EXPECT_TRUE(ranks.failure() && ranks.somebody_died());
    EXPECT_NE(ranks.failure()->text().find("rank 1 does not answer any more"), std::string::npos);
    EXPECT_NE(ranks.failure()->text().find("--restore"), std::string::npos);
    return true;
  });
}

TEST(Exchange, AllLearnInTheSameExchangeThatOneWasAskedToStop) {
  class Two final : public Ranks {
   public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    Result<void> send(int, const std::string&) override { return {}; }
    std::optional<Letter> receive() override { return std::nullopt; }
    bool is_lost(int) override { return false; }
    bool rank_0_may_come_back() const override { return false; }
    double longest_pause() const override { return 0; }
  } alone;
  std::atomic<bool> asked = false;
  Exchange one(alone, &asked);
  (void)one.sum("tick", 1);
  EXPECT_FALSE(one.stops());
  asked = true;
  (void)one.sum("tick", 1);
  EXPECT_TRUE(one.stops());
}

}  // namespace
}  // namespace volvox::cluster
