#include "volvox/physics/population.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/physics/native/lone.h"
#include "volvox/physics/system.h"

namespace volvox::physics {

using native::LoneEnd;
using native::LoneKind;
using native::LoneLayout;
using native::LoneWorld;

// Members of one kind.
struct Population::Group {
  LoneKind kind;
  std::vector<std::size_t> members;
  std::vector<LoneWorld> worlds;
};

std::vector<Population::Group> Population::groups() {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Result<LoneWorld> world = LoneWorld::of(*members_[i].engine);
    if (!world.ok()) {
      ++left_[world.error().text()];
      continue;
    }
    Result<LoneKind> kind = world->kind();
    if (!kind.ok()) {
      ++left_[kind.error().text()];
      continue;
    }
    auto group = std::ranges::find_if(groups, [&](const Group& other) { return other.kind.same_as(*kind); });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{std::move(*kind), {}, {}});
    group->members.push_back(i), group->worlds.push_back(*world);
  }
  return groups;
}

void Population::move_on_device(Group& group, const TickLength& tick, std::int64_t first, std::int64_t count) {
  const LoneLayout layout = group.kind.layout();
  const std::size_t width = static_cast<std::size_t>(layout.all_words()), robots = group.members.size();
  const auto leave = [&](const Error& error) { left_[error.text()] += static_cast<std::int64_t>(robots); };
  std::vector<double> words(robots * width);
  std::vector<MotorWave> waves;
  const auto own = [&](std::size_t i) { return std::span(words).subspan(i * width, width); };
  for (std::size_t i = 0; i < robots; ++i) {
    if (const Result<void> read = group.worlds[i].read(layout, own(i)); !read.ok()) return leave(read.error());
    for (int node = 1; node < layout.nodes; ++node) {
      const auto joint =
          static_cast<std::size_t>(group.kind.pattern().links[static_cast<std::size_t>(node)].joint_index);
      waves.push_back(members_[group.members[i]].motors[joint]);
    }
  }
  std::vector<cuda::DeviceTick> ticks;
  for (std::int64_t k = first; k < first + count; ++k) {
    const double length = (tick.start_of(k + 1) - tick.start_of(k)).seconds();
    ticks.push_back({tick.start_of(k).seconds(), length, substep_count(length, group.kind.pattern().max_substep)});
  }
  std::vector<cuda::DeviceEnd> ends(robots);
  Result<cuda::RobotsOnDevice> there = cuda::RobotsOnDevice::create(device_, group.kind.pattern(), robots);
  if (!there.ok()) return leave(there.error());
  for (const Result<void>& went : {there->load(0, words, waves), there->step(ticks), there->save(0, words, ends)})
    if (!went.ok()) return leave(went.error());
  for (std::size_t i = 0; i < robots; ++i) {
    const std::size_t member = group.members[i];
    const bool all = ends[i].end == LoneEnd::moved;
    if (!all) ++left_[std::string("a robot ") + native::name(ends[i].end)];
    done_[member] = ends[i].ticks;
    ticks_on_device_ += ends[i].ticks;
    if (ends[i].ticks > 0) group.worlds[i].write(group.kind, own(i), all);
  }
}

std::vector<StepStatus> Population::advance(const TickLength& tick, std::int64_t first, std::int64_t count) {
  ticks_on_device_ = 0;
  left_.clear();
  done_.assign(members_.size(), 0);
  if (device_ != nullptr && count > 0)
    for (Group& group : groups()) move_on_device(group, tick, first, count);
  std::vector<StepStatus> statuses(members_.size());
  parallel_for(threads_, members_.size(), 1, [&](std::size_t i) {
    const Member& member = members_[i];
    VOLVOX_ASSERT(member.motors.size() == member.engine->motors().size());
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
