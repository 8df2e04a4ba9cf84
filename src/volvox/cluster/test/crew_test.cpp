#include "volvox/cluster/crew.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "volvox/base/text.h"

namespace volvox::cluster {
namespace {
namespace fs = std::filesystem;

class CrewTest : public testing::Test {
 protected:
  CrewTest() { fs::create_directories(folder_); }
  ~CrewTest() override { fs::remove_all(folder_); }

  // Gives out pieces 0 to count - 1, again if they are lost; what came of each, and how often.
  static std::multimap<std::size_t, Finished> all(Crew& crew, std::size_t count,
                                                  const std::function<void()>& meanwhile = {}) {
    std::multimap<std::size_t, Finished> found;
    std::vector<std::size_t> waiting;
    for (std::size_t i = count; i-- > 0;) waiting.push_back(i);
    while (found.size() < count) {
      while (crew.has_room() && !waiting.empty()) {
        EXPECT_TRUE(crew.start(waiting.back(), std::to_string(waiting.back())).ok());
        waiting.pop_back();
      }
      for (Finished& one : crew.wait(0.05)) {
        if (one.lost) waiting.push_back(one.piece);
        else found.emplace(one.piece, std::move(one));
      }
      if (meanwhile) meanwhile();
    }
    return found;
  }

  // Another rank as a process. A rank of its own has no parent to die with, so it is told to end.
  pid_t rank(int number, int size, const Work& work, const std::string& identity = "same") {
    const pid_t process = fork();
    if (process != 0) return process;
    auto ranks = join_by_files({number, size, "job"}, folder_, 2);
    const std::atomic<bool> stop = false;
    const auto served = serve(**ranks, work, 1, identity, stop);
    _exit(!served.ok() ? 3 : *served ? 0 : 1);
  }

  fs::path folder_ = fs::temp_directory_path() / ("volvox_crew_" + std::to_string(getpid()));
};

int status_of(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string squared(const std::string& order) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return std::to_string(std::stoi(order) * std::stoi(order));
}

TEST_F(CrewTest, ProcessesOfItsOwnDoEachPieceOnce) {
  Crew crew(squared, 2, nullptr, "same");
  const auto found = all(crew, 20);
  for (std::size_t i = 0; i < 20; ++i) {
    ASSERT_EQ(found.count(i), 1u);
    EXPECT_EQ(found.find(i)->second.text, std::to_string(i * i));
  }
}

TEST_F(CrewTest, APieceThatCrashesIsToldApart) {
  Crew crew([](const std::string& order) { return order == "3" ? (std::abort(), "") : squared(order); }, 2, nullptr,
            "same");
  const auto found = all(crew, 6);
  EXPECT_NE(found.find(3)->second.failure.find("crashed"), std::string::npos) << found.find(3)->second.failure;
  EXPECT_EQ(found.find(4)->second.text, "16");
}

TEST_F(CrewTest, RanksShareTheWorkAndLeaveAtTheEnd) {
  const pid_t one = rank(1, 3, squared), two = rank(2, 3, squared);
  {
    auto ranks = join_by_files({0, 3, "job"}, folder_, 2);
    ASSERT_TRUE(ranks.ok());
    Crew crew(squared, 1, ranks->get(), "same");
    const auto found = all(crew, 300);
    for (std::size_t i = 0; i < 300; ++i) {
      ASSERT_EQ(found.count(i), 1u);
      EXPECT_EQ(found.find(i)->second.text, std::to_string(i * i));
    }
    for (const std::int64_t done : crew.done_by_rank()) EXPECT_GT(done, 0);
    say_over(**ranks);
  }
  EXPECT_EQ(status_of(one), 0);
  EXPECT_EQ(status_of(two), 0);
}

// Somebody else's files among the letters of a folder that many can write.
TEST_F(CrewTest, StrangeLettersAreNotBelieved) {
  const pid_t one = rank(1, 3, squared);
  {
    auto ranks = join_by_files({0, 3, "job"}, folder_, 2);
    ASSERT_TRUE(ranks.ok());
    Crew crew(squared, 1, ranks->get(), "same");
    int number = 0;
    const auto strange = [&] {
      if (++number > 3) return;
      for (const char* to : {"to_0", "to_1"}) {
        const fs::path box = folder_ / "job" / to;
        for (const char* from : {"000002.9", "000099.9", "-00001.9", "word", "99999999999999999999"})
          for (const char* text : {"done", "done x 1\n7", "failed x 18446744073709551616\n", "order", "hello",
                                   "leave me", "\xff\xfe\x1b[2J", "\n\n\n", " "})
            (void)write_file(box / (std::string(from) + std::to_string(number) + text[0]), text);
        std::error_code error;
        fs::create_directories(box / "000002.folder", error);
      }
    };
    const auto found = all(crew, 100, strange);
    for (std::size_t i = 0; i < 100; ++i) {
      ASSERT_EQ(found.count(i), 1u);
      EXPECT_EQ(found.find(i)->second.text, std::to_string(i * i));
    }
    say_over(**ranks);
  }
  EXPECT_EQ(status_of(one), 0);
}

TEST_F(CrewTest, ARankThatIsKilledOrStoppedIsReplaced) {
  std::vector<pid_t> others = {rank(1, 3, squared), rank(2, 3, squared)};
  auto ranks = join_by_files({0, 3, "job"}, folder_, 2);
  ASSERT_TRUE(ranks.ok());
  Crew crew(squared, 1, ranks->get(), "same");
  std::vector<std::string> news;
  int step = 0;
  const auto found = all(crew, 500, [&] {
    for (const std::string& one : crew.news()) news.push_back(one);
    if (step == 0 && crew.done_by_rank()[1] > 3) kill(others[0], SIGKILL), step = 1;
    if (step == 1 && crew.done_by_rank()[2] > 20) kill(others[1], SIGSTOP), step = 2;
    if (step == 2 && news.size() >= 2) kill(others[1], SIGCONT), others.push_back(rank(1, 3, squared)), step = 3;
  });
  EXPECT_EQ(step, 3) << "both were missed, and came back";
  for (std::size_t i = 0; i < 500; ++i) {
    ASSERT_EQ(found.count(i), 1u) << i;
    EXPECT_EQ(found.find(i)->second.text, std::to_string(i * i));
  }
  crew.abandon();
  say_over(**ranks);
  EXPECT_EQ(status_of(others[0]), -1);
  EXPECT_EQ(status_of(others[1]), 0);
  EXPECT_EQ(status_of(others[2]), 0);
}

TEST_F(CrewTest, ARankOfSomethingElseIsRefused) {
  const pid_t other = rank(1, 2, squared, "other");
  auto ranks = join_by_files({0, 2, "job"}, folder_, 2);
  Crew crew(squared, 1, ranks->get(), "same");
  std::vector<std::string> news;
  const auto found = all(crew, 200, [&] {
    for (const std::string& one : crew.news()) news.push_back(one);
  });
  EXPECT_EQ(status_of(other), 3);
  EXPECT_EQ(crew.done_by_rank()[1], 0);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_NE(news[0].find("rank 1 was started with other arguments"), std::string::npos);
}

// Rank 0 may be stopped and started again: only say_over() ends the others.
TEST_F(CrewTest, TheOthersWaitForAnotherRank0) {
  const pid_t other = rank(1, 2, squared);
  for (int life = 0; life < 2; ++life) {
    auto ranks = join_by_files({0, 2, "job"}, folder_, 2);
    Crew crew(squared, 0, ranks->get(), "same");
    const auto found = all(crew, 3);
    EXPECT_EQ(crew.done_by_rank()[1], 3) << life;
    if (life == 1) say_over(**ranks);
  }
  EXPECT_EQ(status_of(other), 0);
}

// The other rank is idle and says again and again that it has no order: the order is lost, the rank is not.
TEST_F(CrewTest, AnOrderThatGetsLostComesBack) {
  auto ranks = join_by_files({0, 2, "job"}, folder_, 60), other = join_by_files({1, 2, "job"}, folder_, 60);
  Crew crew(squared, 0, ranks->get(), "same");
  const auto greet = [&](int received) {
    EXPECT_TRUE((*other)->send(0, "hello same life 1 " + std::to_string(received)).ok());
    return crew.wait(0.01);
  };
  greet(0);
  ASSERT_TRUE(crew.has_room());
  ASSERT_TRUE(crew.start(7, "7").ok());
  EXPECT_TRUE(greet(0).empty()) << "the order is on its way";
  EXPECT_TRUE(greet(0).empty()) << "the order is on its way";
  std::vector<Finished> found;
  for (int i = 0; i < 20 && found.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    found = greet(0);
  }
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].lost);
  EXPECT_EQ(found[0].piece, 7u);
  EXPECT_TRUE(crew.has_room()) << "it can be given out again";
}

// A file system that stalls: the name is there, the content is not.
TEST_F(CrewTest, ALetterThatCannotBeReadYetIsReadLater) {
  auto ranks = join_by_files({0, 2, "job"}, folder_, 60);
  const fs::path letter = folder_ / "job" / "to_0" / "000001.1.1", content = folder_ / "content";
  fs::create_symlink(content, letter);
  EXPECT_FALSE((*ranks)->receive().has_value());
  EXPECT_TRUE(fs::is_symlink(letter)) << "it was thrown away";
  ASSERT_TRUE(write_file(content, "").ok());
  EXPECT_FALSE((*ranks)->receive().has_value());
  ASSERT_TRUE(write_file(content, "leave").ok());
  const auto found = (*ranks)->receive();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->text, "leave");
  EXPECT_FALSE(fs::is_symlink(letter));
}

TEST(Place, ComesFromTheEnvironment) {
  const std::map<std::string, std::string> array = {{"SLURM_ARRAY_TASK_ID", "14"},
                                                    {"SLURM_ARRAY_TASK_MIN", "10"},
                                                    {"SLURM_ARRAY_TASK_MAX", "16"},
                                                    {"SLURM_ARRAY_TASK_STEP", "2"},
                                                    {"SLURM_ARRAY_JOB_ID", "77"}};
  for (const auto& [name, value] : array) setenv(name.c_str(), value.c_str(), 1);
  const auto place = place_in_slurm();
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->rank, 2);
  EXPECT_EQ(place->size, 4);
  EXPECT_EQ(place->job, "77");
  // Most arrays run something else in each task: nobody is made a rank who has not asked for it.
  const auto alone = join("auto", "");
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(*alone, nullptr);
  EXPECT_FALSE(join("slurm", "").ok()) << "it needs a folder";
  for (const auto& [name, value] : array) unsetenv(name.c_str());
  setenv("OMPI_COMM_WORLD_RANK", "1", 1), setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_EQ(place_in_mpi()->rank, 1);
  setenv("OMPI_COMM_WORLD_RANK", "9", 1);
  EXPECT_FALSE(place_in_mpi().has_value());
  unsetenv("OMPI_COMM_WORLD_RANK"), unsetenv("OMPI_COMM_WORLD_SIZE");
  EXPECT_FALSE(join("mpi", "").ok());
  EXPECT_FALSE(join("pigeons", "").ok());
}

}  // namespace
}  // namespace volvox::cluster
