// Many worlds of lone robots whose motors swing, moved together: on a GPU where there is one and a world is of the kind
// that it can move (native/lone.h), by their engines where not. Either way each world has the bits that its engine
// alone would give it: its state, its hash and its snapshot are those of the engine, before and after a call. All
// functions are to be called from one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/base/time.h"
#include "volvox/physics/cuda/device.h"
#include "volvox/physics/engine.h"
#include "volvox/physics/motor_wave.h"

namespace volvox::physics {

class RobotBatch {
 public:
  struct Member {
    Engine* engine = nullptr;       // must outlive the batch; no two members have the same
    std::vector<MotorWave> motors;  // by joint index
  };
  // `device`: null, all go by their engines. `threads` may be null; the engines have none of their own.
  RobotBatch(std::vector<Member> members, std::shared_ptr<const cuda::Device> device, ThreadPool* threads);

  std::size_t size() const { return members_.size(); }

  // Moves all through `count` ticks from tick `first` on, each up to its first tick that fails. Says how it went with
  // each.
  std::vector<StepStatus> advance(const TickLength& tick, std::int64_t first, std::int64_t count);

  // Of the last call: ticks of members that the device did; and why others did not go there, with how many there were.
  std::int64_t ticks_on_device() const { return ticks_on_device_; }
  const std::map<std::string, std::int64_t>& left_to_engines() const { return left_; }

 private:
  struct Group;
  Result<void> add_to_groups(std::size_t member, std::vector<Group>& groups);
  std::vector<Group> groups();
  Result<void> run_on_device(Group& group, const TickLength& tick, std::int64_t first, std::int64_t count,
                             std::vector<cuda::DeviceEnd>& ends);
  void move_on_device(Group& group, const TickLength& tick, std::int64_t first, std::int64_t count);

  std::vector<Member> members_;
  std::shared_ptr<const cuda::Device> device_;
  ThreadPool* threads_;
  std::vector<std::int64_t> done_;  // by member: ticks of this call
  std::int64_t ticks_on_device_ = 0;
  std::map<std::string, std::int64_t> left_;
};

}  // namespace volvox::physics
