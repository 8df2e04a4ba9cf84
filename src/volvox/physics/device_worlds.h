// Worlds that a device moves tick by tick, while what they are told and who looks at them is here: minds of a
// population (sim::Population). Of each world only commands go there and what the arrays of an engine show comes back;
// the rest stays on the device until somebody asks the engine for it, or changes what it moves (native_set_away). A
// world that the device cannot move is moved by its engine, with the same bits, and so are all where the device fails.
// All functions are to be called from one thread, and no engine by another meanwhile except those that are not in the
// call: their worlds may be asked. Between two calls, engines as they allow. Engines may be destroyed before this, or
// after.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/cuda/device.h"
#include "volvox/physics/engine.h"
#include "volvox/physics/native/lone.h"

namespace volvox::physics {

class DeviceWorlds {
 public:
  // `threads` may be null; engines must have none of their own.
  DeviceWorlds(std::size_t count, std::shared_ptr<const cuda::Device> device, ThreadPool* threads);
  ~DeviceWorlds();  // the engines have everything again
  DeviceWorlds(const DeviceWorlds&) = delete;
  DeviceWorlds& operator=(const DeviceWorlds&) = delete;

  // A tick of a world: as Engine::advance(). A world may come with another engine than before.
  struct Tick {
    std::size_t world = 0;
    Engine* engine = nullptr;
    Time begin, end;
  };
  // No two for one world. statuses[k] is that of ticks[k]; an exception of an engine is the failure of its world.
  void advance(std::span<const Tick> ticks, std::span<StepStatus> statuses);

  // Since it was made: ticks of worlds that the device did; why others were left to their engines, with how many ticks
  // there were; and what is wrong with the device, which is then not asked again. Empty: nothing.
  struct Account {
    std::int64_t ticks = 0;
    std::map<std::string, std::int64_t> left;
    std::string failure;
  };
  Account account() const;  // from any thread, also while it advances

 private:
  struct Group;
  struct World {
    Engine* engine = nullptr;
    std::unique_ptr<native::LoneWorld> lone;  // while it is in a group
    Group* group = nullptr;
    std::size_t slot = 0;
    bool behind = false;  // the engine is: the device has made ticks since
    bool moved = false;   // by the device, in this tick
    int rest = 0;         // ticks for which it is not tried again
    std::string why;      // it was refused
  };
  struct Candidate;

  // The parts of advance(), in their order.
  void join(std::span<const Tick> ticks);
  void tell(std::span<const Tick> ticks);
  void move_groups();
  StepStatus finish(const Tick& tick);

  void refuse(World& world, std::string why, int rest);
  std::vector<Candidate> examine(std::span<World* const> worlds);
  void place(std::vector<Candidate>& candidates);
  Result<void> fill(Group& group, std::span<Candidate* const> kind, std::size_t& placed);
  Result<void> found(std::span<Candidate* const> kind);
  void take(Group& group, std::size_t slot, Candidate& candidate);
  Result<void> move(Group& group);

  void come_home(World& world, bool changes);
  Result<void> catch_up(World& world);
  void replay(World& world);
  void leave(World& world);

  std::shared_ptr<const cuda::Device> device_;
  ThreadPool* threads_;
  std::vector<World> worlds_;
  std::vector<std::unique_ptr<Group>> groups_;
  // Of the device and of what is known of it, for engines that are asked by other threads.
  mutable std::recursive_mutex mutex_;
  std::int64_t ticks_on_device_ = 0;
  std::map<std::string, std::int64_t> left_;
  std::string failure_;
};

}  // namespace volvox::physics
