#include "volvox/sim/population.h"

#include <gtest/gtest.h>

#include <fstream>

#include "volvox/base/test/temporary_folder.h"
#include "volvox/physics/system.h"
#include "volvox/physics/test/processor_device.h"
#include "worlds.h"

namespace volvox::sim {
namespace {

struct PopulationTest : testing::Test {
  TemporaryFolder folder;
  Stage stage;

  PopulationTest() { std::ofstream(folder / "world.sdf") << chain_world; }
  std::shared_ptr<sim::Run> prepare(std::uint64_t seed, int modules = 2,
                                    std::optional<physics::Precision> precision = {}) {
    RunOptions options;
    options.settings = {{"count", std::to_string(modules)}};
    options.precision = precision;
    options.experiment = (folder / "world.sdf").string();
    options.duration = 1;
    options.seed = seed;
    auto run = sim::Run::prepare(options, stage.library, stage.log);
    if (!run.ok()) throw std::runtime_error(run.error().text());
    return std::move(*run);
  }
  std::vector<std::uint64_t> hashes(int threads, std::size_t runs, std::int64_t ticks) {
    std::vector<std::shared_ptr<sim::Run>> all;
    for (std::size_t i = 0; i < runs; ++i) all.push_back(prepare(i + 1));
    Population population(all, threads);
    for (const StepStatus& status : population.step(ticks)) EXPECT_TRUE(status.ok()) << status.text();
    std::vector<std::uint64_t> found;
    for (const auto& run : all) found.push_back(run->simulation().hash());
    return found;
  }
};

// A world has the same bits alone and among others, at any number of threads.
TEST_F(PopulationTest, WorldsAreTheSameAloneAndTogether) {
  constexpr std::size_t runs = 7;
  constexpr std::int64_t ticks = 30;
  std::vector<std::uint64_t> alone;
  for (std::size_t i = 0; i < runs; ++i) {
    const auto run = prepare(i + 1);
    for (std::int64_t tick = 0; tick < ticks; ++tick) ASSERT_TRUE(run->step().ok());
    alone.push_back(run->simulation().hash());
  }
  EXPECT_NE(alone[0], alone[1]);
  for (const int threads : {1, 2, 5}) EXPECT_EQ(hashes(threads, runs, ticks), alone) << threads;
}

TEST_F(PopulationTest, StepsOnlyThoseThatAreNamed) {
  const std::vector<std::shared_ptr<sim::Run>> all = {prepare(1), prepare(2), prepare(3)};
  Population population(all, 2);
  const std::vector<std::size_t> which = {2, 0};
  std::vector<StepStatus> statuses(2);
  population.step(5, which, statuses);
  EXPECT_EQ(all[0]->simulation().tick(), 5);
  EXPECT_EQ(all[1]->simulation().tick(), 0);
  EXPECT_EQ(all[2]->simulation().tick(), 5);
}

TEST_F(PopulationTest, OneThatFailsDoesNotStopTheOthers) {
  const std::vector<std::shared_ptr<sim::Run>> all = {prepare(1), prepare(2)};
  all[0]->simulation().add_script(
      [](Simulation& simulation) {
        if (simulation.tick() == 3) throw std::runtime_error("enough");
      },
      "a script");
  Population population(all, 2);
  const std::vector<StepStatus> statuses = population.step(10);
  EXPECT_NE(statuses[0].text().find("enough"), std::string::npos) << statuses[0].text();
  EXPECT_TRUE(statuses[1].ok());
  EXPECT_EQ(all[0]->simulation().tick(), 3);
  EXPECT_EQ(all[1]->simulation().tick(), 10);
  // And is left alone as long as its status says so.
  std::vector<StepStatus> again = statuses;
  population.step(1, std::vector<std::size_t>{0, 1}, again);
  EXPECT_EQ(all[0]->simulation().tick(), 3);
  EXPECT_EQ(all[1]->simulation().tick(), 11);
}

using physics::cuda::Device;
using physics::cuda::DeviceAnswer;
using physics::cuda::DeviceApi;

// Worlds on the kernels of a device, beside the same worlds alone.
struct DevicePopulationTest : PopulationTest {
  std::vector<std::shared_ptr<sim::Run>> alone, together;
  std::unique_ptr<Population> population;

  // One module: the device moves it. Two: they may touch each other, part and dock.
  void make(const DeviceApi& api, int worlds, int threads, int modules = 1) {
    for (int i = 0; i < worlds; ++i)
      for (auto* runs : {&alone, &together})
        runs->push_back(prepare(static_cast<std::uint64_t>(i) + 1, modules, physics::Precision::double_));
    population = std::make_unique<Population>(together, threads, Device::of(api));
  }
  void step(int ticks) {
    for (const auto& run : alone)
      for (int tick = 0; tick < ticks; ++tick) ASSERT_TRUE(run->step().ok());
    for (const StepStatus& status : population->step(ticks)) ASSERT_TRUE(status.ok()) << status.text();
  }
  void compare() {
    for (std::size_t i = 0; i < alone.size(); ++i)
      ASSERT_EQ(alone[i]->simulation().hash(), together[i]->simulation().hash())
          << "world " << i << " at tick " << alone[i]->simulation().tick();
  }
};

TEST_F(DevicePopulationTest, WorldsHaveTheSameBitsOnADevice) {
  static const DeviceApi api = physics::cuda::processor_api();
  make(api, 20, 2);
  for (const int ticks : {1, 2, 40, 77}) step(ticks), compare();
  EXPECT_GT(population->on_device().ticks, 20 * 120 * 9 / 10);
  EXPECT_EQ(population->on_device().failure, "");
}

TEST_F(DevicePopulationTest, WorldsThatDockAndPartAreLeftToTheirEnginesByName) {
  static const DeviceApi api = physics::cuda::processor_api();
  make(api, 4, 1, 2);
  for (const int ticks : {30, 60}) step(ticks), compare();
  const Population::OnDevice on_device = population->on_device();
  std::int64_t left = 0;
  for (const auto& [why, count] : on_device.left) left += count;
  EXPECT_EQ(left + on_device.ticks, 4 * 90);
  EXPECT_FALSE(on_device.left.empty());
}

using OnAGpu = DevicePopulationTest;
TEST_F(OnAGpu, WorldsHaveTheSameBits) {
  const auto device = Device::find();
  if (!device.ok()) GTEST_SKIP() << "not tested, because there is no GPU here: " << device.error().text();
  make((*device)->api(), 20, 4);
  population = std::make_unique<Population>(together, 4, *device);
  for (const int ticks : {1, 2, 40, 77}) step(ticks), compare();
  EXPECT_GT(population->on_device().ticks, 20 * 120 * 9 / 10);
  EXPECT_EQ(population->on_device().failure, "");
}

// What is asked and changed from outside meanwhile.
TEST_F(DevicePopulationTest, WorldsAreAskedAndChangedBetweenTicks) {
  static const DeviceApi api = physics::cuda::processor_api();
  make(api, 12, 2);
  step(30);
  std::vector<physics::Contact> ours, theirs;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    alone[i]->simulation().world().contacts(ours), together[i]->simulation().world().contacts(theirs);
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t c = 0; c < ours.size(); ++c) EXPECT_EQ(ours[c].force, theirs[c].force);
  }
  step(3);
  for (auto* runs : {&alone, &together}) {
    world::World& pushed = (*runs)[0]->simulation().world();
    pushed.push(0, {{0, 0, 5}, {}});
    world::World& moved = (*runs)[1]->simulation().world();
    Pose lifted = moved.link_pose(0);
    lifted.position.z += 0.3;
    moved.place_link(0, lifted, {});
    (void)(*runs)[2]->simulation().world().grip(0, 1);
    const auto snapshot = (*runs)[3]->snapshot();
    ASSERT_TRUE(snapshot.ok());
    for (int tick = 0; tick < 5; ++tick) (void)(*runs)[3]->simulation().step();
    ASSERT_TRUE((*runs)[3]->restore(*snapshot).ok());
    ASSERT_TRUE((*runs)[4]->simulation().change_engine("bullet", stage.library.engines).ok());
  }
  step(1), step(20), compare();
  const Population::OnDevice on_device = population->on_device();
  const auto left = [&](const std::string& part) {
    return std::ranges::any_of(on_device.left,
                               [&](const auto& why) { return why.first.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(left("forces from outside"));
  EXPECT_TRUE(left("engine 'bullet' has no such kernels"));
}

// After so many calls nothing is done any more, as where a GPU is full or lost.
template <int calls>
DeviceApi failing_api() {
  static int ticks = 0;
  ticks = 0;
  DeviceApi api = physics::cuda::processor_api();
  api.tick = [](physics::cuda::DeviceRobots* r, const double* orders, double* watched, physics::cuda::DeviceEnd* ends,
                double* seconds, char* message) {
    static const DeviceApi plain = physics::cuda::processor_api();
    if (++ticks <= calls) return plain.tick(r, orders, watched, ends, seconds, message);
    std::ranges::fill(r->words, std::nan(""));
    std::strcpy(message, "it is gone");
    return DeviceAnswer::failed;
  };
  api.save = [](physics::cuda::DeviceRobots* r, std::size_t first, std::size_t count, double* words,
                physics::cuda::DeviceEnd* ends, char* message) {
    static const DeviceApi plain = physics::cuda::processor_api();
    if (ticks <= calls) return plain.save(r, first, count, words, ends, message);
    std::strcpy(message, "it is gone");
    return DeviceAnswer::failed;
  };
  return api;
}

TEST_F(DevicePopulationTest, EnginesGoOnWhereTheDeviceFails) {
  static const DeviceApi api = failing_api<45>();
  make(api, 6, 2);
  step(40), compare();
  step(40), compare();
  const Population::OnDevice on_device = population->on_device();
  EXPECT_GT(on_device.ticks, 6 * 40 * 9 / 10);
  EXPECT_NE(on_device.failure.find("it is gone"), std::string::npos) << on_device.failure;
  EXPECT_GE(on_device.left.at(on_device.failure), 6 * 35);
  EXPECT_LT(on_device.ticks, 6 * 46);
}

TEST_F(DevicePopulationTest, EnginesGoOnWhereTheDeviceIsFull) {
  static DeviceApi api = physics::cuda::processor_api();
  api.create = [](const physics::native::LonePattern*, std::size_t, char* message) -> physics::cuda::DeviceRobots* {
    std::strcpy(message, "out of memory");
    return nullptr;
  };
  make(api, 3, 1);
  step(10), compare();
  EXPECT_EQ(population->on_device().ticks, 0);
  ASSERT_EQ(population->on_device().left.size(), 1u);
  EXPECT_NE(population->on_device().left.begin()->first.find("out of memory"), std::string::npos);
}

// An engine as of a plugin, that fails by an exception.
class Stumbles final : public physics::SystemEngine {
 public:
  explicit Stumbles(const Vec3& gravity) : SystemEngine(gravity) {}
  Result<physics::BodyId> add_body(const physics::BodyDesc& desc) override { return system_.add(desc); }
  void remove_body(physics::BodyId id) override { system_.remove(id); }
  physics::JointId add_joint(const physics::JointDesc& desc) override { return system_.add(desc); }
  void remove_joint(physics::JointId id) override { system_.remove(id); }
  void set_body(physics::BodyId, const Pose&, const Twist&) override {}
  void set_gravity(const Vec3&) override {}
  StepStatus advance(Time begin, Time) override {
    if (begin.seconds() > 0.1) throw std::runtime_error("it stumbled");
    return {};
  }
  void archive(Archive& ar) override { system_.archive(ar); }
  bool archive_common(Archive& ar) override { return system_.archive(ar), true; }

 private:
  void read_contacts(std::vector<physics::Contact>& out) const override { out.clear(); }
};

TEST_F(DevicePopulationTest, AnExceptionOfAnEngineIsTheFailureOfItsWorldAlone) {
  static const DeviceApi api = physics::cuda::processor_api();
  stage.library.engines.add(
      "stumbles", [](const physics::EngineSettings& settings) { return std::make_unique<Stumbles>(settings.gravity); });
  make(api, 3, 2);
  ASSERT_TRUE(together[1]->simulation().change_engine("stumbles", stage.library.engines).ok());
  constexpr int ticks = 30;
  const std::vector<StepStatus> statuses = population->step(ticks);
  EXPECT_NE(statuses[1].text().find("it stumbled"), std::string::npos) << statuses[1].text();
  EXPECT_EQ(together[1]->report().status, "failed");
  for (const std::size_t i : {0, 2}) {
    EXPECT_TRUE(statuses[i].ok()) << statuses[i].text();
    for (int tick = 0; tick < ticks; ++tick) ASSERT_TRUE(alone[i]->step().ok());
    EXPECT_EQ(alone[i]->simulation().hash(), together[i]->simulation().hash()) << i;
  }
}

TEST_F(DevicePopulationTest, AnEngineThatGoesBeforeThePopulationLeavesTheOthersAlone) {
  static const DeviceApi api = physics::cuda::processor_api();
  make(api, 3, 1);
  step(10);
  // Its engine goes, and another comes, which takes its state.
  for (auto* runs : {&alone, &together})
    ASSERT_TRUE((*runs)[1]->simulation().change_engine("native", stage.library.engines).ok());
  step(5), compare();
  population.reset();  // and of the others while they are on the device
  compare();
}

// In place: back to an earlier tick, forth to a later one, and the samples go with it.
TEST_F(PopulationTest, RunsAreRestoredInPlace) {
  const std::shared_ptr<sim::Run> run = prepare(4);
  const auto step = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) ASSERT_TRUE(run->step().ok());
  };
  step(10);
  const auto early = run->snapshot();
  ASSERT_TRUE(early.ok());
  step(20);
  const std::uint64_t later = run->simulation().hash();
  const auto late = run->snapshot();
  ASSERT_TRUE(late.ok());
  ASSERT_TRUE(run->restore(*early).ok());
  EXPECT_EQ(run->simulation().tick(), 10);
  EXPECT_LE(run->report().history.back().time, run->simulation().now().seconds() + 1e-9);
  step(20);
  EXPECT_EQ(run->simulation().hash(), later);
  ASSERT_TRUE(run->restore(*early).ok());
  ASSERT_TRUE(run->restore(*late).ok());
  EXPECT_EQ(run->simulation().hash(), later);
  for (std::size_t i = 1; i < run->report().history.size(); ++i)
    EXPECT_LT(run->report().history[i - 1].time, run->report().history[i].time);
}

// Fails in every module from a time on, until somebody says that it need not.
class Fails final : public mind::Behavior {
 public:
  explicit Fails(const bool& spared) : spared_(spared) {}
  void step(mind::Agent& agent) override {
    if (agent.time() > 0.1 && !spared_) throw std::runtime_error("enough");
  }
  VOLVOX_STATE()

 private:
  const bool& spared_;
};

TEST_F(PopulationTest, ARunThatFailedGoesOnFromASnapshot) {
  bool spared = false;
  stage.library.minds.behaviors.add("busy", [&spared] { return std::make_unique<Fails>(spared); });
  const std::shared_ptr<sim::Run> run = prepare(1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run->step().ok());
  const auto snapshot = run->snapshot();
  ASSERT_TRUE(snapshot.ok());
  StepStatus status;
  for (int i = 0; i < 10 && status.ok(); ++i) status = run->step();
  EXPECT_NE(status.text().find("module 'm0'"), std::string::npos) << status.text();
  EXPECT_EQ(run->report().status, "failed");
  ASSERT_TRUE(run->restore(*snapshot).ok());
  EXPECT_EQ(run->report().status, "done");
  spared = true;
  for (int i = 0; i < 10; ++i) {
    status = run->step();
    ASSERT_TRUE(status.ok()) << status.text();  // and not of what another module did in the tick that failed
  }
}

TEST_F(PopulationTest, ASnapshotThatIsRefusedChangesNothing) {
  const std::shared_ptr<sim::Run> run = prepare(4), other = prepare(5);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(run->step().ok() && other->step().ok());
  const std::uint64_t before = run->simulation().hash();
  const auto foreign = other->snapshot();
  ASSERT_TRUE(foreign.ok());
  EXPECT_FALSE(run->restore(*foreign).ok());
  auto damaged = *run->snapshot();
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_FALSE(run->restore(damaged).ok());
  EXPECT_FALSE(run->restore("").ok());
  EXPECT_EQ(run->simulation().hash(), before);
}

}  // namespace
}  // namespace volvox::sim
