#include "volvox/physics/robot_batch.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/physics/native/lone.h"
#include "volvox/physics/system.h"

namespace volvox::physics {

using native::LoneEnd;
using native::LoneKind;
using native::LoneWorld;

// Members of one kind that can go to a device.
struct RobotBatch::Group {
  LoneKind kind;
  std::vector<std::size_t> members;
  std::vector<LoneWorld> worlds;
  std::vector<double> words;  // of all, one behind the other
};

RobotBatch::RobotBatch(std::vector<Member> members, std::shared_ptr<const cuda::Device> device, ThreadPool* threads)
    : members_(std::move(members)), device_(std::move(device)), threads_(threads) {
  for (const Member& member : members_)
    VOLVOX_CHECK(member.motors.size() == member.engine->motors().size(), "a wave for each joint");
}

Result<void> RobotBatch::add_to_groups(std::size_t member, std::vector<Group>& groups) {
  Result<LoneWorld> world = LoneWorld::of(*members_[member].engine);
  if (!world.ok()) return world.error();
  Result<LoneKind> kind = world->kind();
  if (!kind.ok()) return kind.error();
  std::vector<double> words(static_cast<std::size_t>(kind->layout().all_words()));
  if (Result<void> read = world->read(kind->layout(), words); !read.ok()) return read;
  auto group = std::ranges::find_if(groups, [&](const Group& other) { return other.kind.same_as(*kind); });
  if (group == groups.end()) group = groups.insert(groups.end(), Group{std::move(*kind), {}, {}, {}});
  group->members.push_back(member), group->worlds.push_back(*world);
  group->words.insert(group->words.end(), words.begin(), words.end());
  return {};
}

std::vector<RobotBatch::Group> RobotBatch::groups() {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (const Result<void> added = add_to_groups(i, groups); !added.ok()) ++left_[added.error().text()];
  return groups;
}

Result<void> RobotBatch::run_on_device(Group& group, const TickLength& tick, std::int64_t first, std::int64_t count,
                                       std::vector<cuda::DeviceEnd>& ends) {
  const native::LonePattern& pattern = group.kind.pattern();
  std::vector<MotorWave> waves;
  for (const std::size_t member : group.members)
    for (std::size_t node = 1; node < pattern.links.size(); ++node)
      waves.push_back(members_[member].motors[static_cast<std::size_t>(pattern.links[node].joint_index)]);
  std::vector<cuda::DeviceTick> ticks;
  for (std::int64_t k = first; k < first + count; ++k) {
    const double length = (tick.start_of(k + 1) - tick.start_of(k)).seconds();
    ticks.push_back({tick.start_of(k).seconds(), length, substep_count(length, pattern.max_substep)});
  }
  ends.resize(group.members.size());
  Result<cuda::RobotsOnDevice> there = cuda::RobotsOnDevice::create(device_, pattern, group.members.size());
  if (!there.ok()) return there.error();
  if (Result<void> loaded = there->load(0, group.words, waves); !loaded.ok()) return loaded;
  if (Result<void> moved = there->step(ticks); !moved.ok()) return moved;
  return there->save(0, group.words, ends);
}

void RobotBatch::move_on_device(Group& group, const TickLength& tick, std::int64_t first, std::int64_t count) {
  const std::size_t robots = group.members.size(), width = group.words.size() / robots;
  std::vector<cuda::DeviceEnd> ends;
  if (const Result<void> went = run_on_device(group, tick, first, count, ends); !went.ok()) {
    left_[went.error().text()] += static_cast<std::int64_t>(robots);
    return;
  }
  for (std::size_t i = 0; i < robots; ++i) {
    const bool all = ends[i].end == LoneEnd::moved;
    if (!all) ++left_[std::string("a robot ") + native::name(ends[i].end)];
    done_[group.members[i]] = ends[i].ticks;
    ticks_on_device_ += ends[i].ticks;
    if (ends[i].ticks > 0) group.worlds[i].write(group.kind, std::span(group.words).subspan(i * width, width), all);
  }
}

std::vector<StepStatus> RobotBatch::advance(const TickLength& tick, std::int64_t first, std::int64_t count) {
  ticks_on_device_ = 0;
  left_.clear();
  done_.assign(members_.size(), 0);
  if (device_ != nullptr && count > 0)
    for (Group& group : groups()) move_on_device(group, tick, first, count);
  std::vector<StepStatus> statuses(members_.size());
  parallel_for(threads_, members_.size(), 1, [&](std::size_t i) {
    const Member& member = members_[i];
    for (std::int64_t k = first + done_[i]; k < first + count && statuses[i].ok(); ++k) {
      const Time begin = tick.start_of(k);
      for (std::size_t joint = 0; joint < member.motors.size(); ++joint)
        member.engine->motors()[joint] = member.motors[joint].at(begin.seconds());
      statuses[i] = member.engine->advance(begin, tick.start_of(k + 1));
    }
  });
  return statuses;
}

}  // namespace volvox::physics
