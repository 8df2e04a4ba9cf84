#include "volvox/physics/device_worlds.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/guarded.h"
#include "volvox/base/index.h"
#include "volvox/physics/native/native_engine.h"
#include "volvox/physics/system.h"

namespace volvox::physics {

using native::LoneEnd;
using native::LoneKind;
using native::LoneWorld;

namespace {

// Ticks for which a world stays with its engine: after the device refused a tick of it, and where it is of a kind that
// the device does not move. To look again costs as much as some ticks.
constexpr int rest_after_tick = 8, rest_of_kind = 64;
// The device's whole state is fetched every so many ticks, so that no more need be made again where it fails.
constexpr std::size_t most_logged = 32;

}  // namespace

// Worlds of one kind on the device, each in a slot.
struct DeviceWorlds::Group {
  Group(LoneKind k, cuda::RobotsOnDevice robots, std::size_t count)
      : kind(std::move(k)),
        device(std::move(robots)),
        watch(native::watched_words(kind.layout())),
        width(narrow<std::size_t>(kind.layout().all_words())),
        order_width(narrow<std::size_t>(cuda::order_words(kind.layout().nodes))),
        worlds(count),
        words(count * width),
        orders(count * order_width),
        lengths(count),
        watched(count * watch.size()),
        ends(count) {}

  LoneKind kind;
  cuda::RobotsOnDevice device;
  std::vector<int> watch;
  std::size_t width, order_width;
  std::vector<World*> worlds;  // by slot; null: nobody
  std::vector<double> words;   // of all, when `log` began
  // Of the tick.
  std::vector<double> orders;
  std::vector<Time> lengths;  // zero: it stays
  std::vector<double> watched;
  std::vector<cuda::DeviceEnd> ends;
  int asked = 0;  // worlds that came home, since then
  // What was told since `words`.
  struct Logged {
    std::vector<double> orders;
    std::vector<Time> lengths;
  };
  std::vector<Logged> log;

  bool empty() const {
    return std::ranges::all_of(worlds, [](const World* world) { return world == nullptr; });
  }
  bool told() const {
    return std::ranges::any_of(lengths, [](Time length) { return length > Time{}; });
  }
  std::span<double> words_of(std::size_t slot) { return std::span(words).subspan(slot * width, width); }
  std::span<double> orders_of(std::size_t slot) { return std::span(orders).subspan(slot * order_width, order_width); }
  std::span<const double> watched_of(std::size_t slot) const {
    return std::span(watched).subspan(slot * watch.size(), watch.size());
  }
  std::size_t joint(std::size_t node) const { return narrow<std::size_t>(kind.pattern().links[node].joint_index); }
  Result<void> save_all() {
    std::vector<double> now(words.size());
    if (Result<void> saved = device.save(0, now, ends); !saved.ok()) return saved;
    words = std::move(now);
    log.clear();
    return {};
  }
};

struct DeviceWorlds::Candidate {
  World* world = nullptr;
  LoneKind kind;
  std::unique_ptr<LoneWorld> lone;  // null: it is refused
  std::vector<double> words;
};

DeviceWorlds::DeviceWorlds(std::size_t count, std::shared_ptr<const cuda::Device> device, ThreadPool* threads)
    : device_(std::move(device)), threads_(threads), worlds_(count) {}

DeviceWorlds::~DeviceWorlds() {
  for (World& world : worlds_) come_home(world, true);
}

void DeviceWorlds::advance(std::span<const Tick> ticks, std::span<StepStatus> statuses) {
  VOLVOX_CHECK(ticks.size() == statuses.size(), "a status for each tick");
  {
    const std::lock_guard lock(mutex_);  // not while threads finish, which take it themselves
    join(ticks);
    tell(ticks);
    move_groups();
  }
  parallel_for(threads_, ticks.size(), 1, [&](std::size_t k) { statuses[k] = finish(ticks[k]); });
  const std::lock_guard lock(mutex_);
  for (const Tick& tick : ticks) {
    const World& world = worlds_[tick.world];
    if (world.moved) ++ticks_on_device_;
    else ++left_[failure_.empty() ? world.why : failure_];
  }
}

DeviceWorlds::Account DeviceWorlds::account() const {
  const std::lock_guard lock(mutex_);
  return {ticks_on_device_, left_, failure_};
}

void DeviceWorlds::refuse(World& world, std::string why, int rest) {
  world.why = std::move(why);
  world.rest = rest;
}

// Who can goes to the device, and who no longer can comes back.
void DeviceWorlds::join(std::span<const Tick> ticks) {
  std::vector<World*> tried;
  for (const Tick& tick : ticks) {
    World& world = worlds_[tick.world];
    world.moved = false;
    if (world.group != nullptr) {
      VOLVOX_ASSERT(world.engine == tick.engine);
      if (failure_.empty() && world.lone->only_motors_act()) continue;
      come_home(world, true);
      refuse(world, "forces from outside act on it, or what it is told is not a number", 0);
      continue;
    }
    if (world.engine != tick.engine) world.rest = 0;
    world.engine = tick.engine;
    if (world.rest > 0) --world.rest;
    else if (failure_.empty()) tried.push_back(&world);
  }
  std::vector<Candidate> candidates = examine(tried);
  std::erase_if(candidates, [](const Candidate& one) { return !one.lone; });
  if (!candidates.empty()) place(candidates);
}

std::vector<DeviceWorlds::Candidate> DeviceWorlds::examine(std::span<World* const> worlds) {
  std::vector<Candidate> candidates(worlds.size());
  parallel_for(threads_, worlds.size(), 16, [&](std::size_t i) {
    Candidate& one = candidates[i];
    one.world = worlds[i];
    const auto refused = [&](const Error& error) {
      refuse(*one.world, error.diagnostics().front().what, rest_of_kind);
    };
    Result<LoneWorld> lone = LoneWorld::of(*one.world->engine);
    if (!lone.ok()) return refused(lone.error());
    if (!lone->only_motors_act()) return refuse(*one.world, "forces from outside act on it", 0);
    Result<LoneKind> kind = lone->kind();  // not earlier: it is built anew
    if (!kind.ok()) return refused(kind.error());
    one.words.resize(narrow<std::size_t>(kind->layout().all_words()));
    if (Result<void> read = lone->read(kind->layout(), one.words); !read.ok()) return refused(read.error());
    one.kind = std::move(*kind), one.lone = std::make_unique<LoneWorld>(*lone);
  });
  return candidates;
}

// Into free slots of groups of their kind; for the rest of a kind a group is founded. Those for which the device has no
// room stay with their engines.
void DeviceWorlds::place(std::vector<Candidate>& candidates) {
  std::erase_if(groups_, [](const auto& group) { return group->empty(); });
  std::vector<std::vector<Candidate*>> kinds;
  for (Candidate& one : candidates) {
    const auto same = [&](const std::vector<Candidate*>& kind) { return kind.front()->kind.same_as(one.kind); };
    auto kind = std::ranges::find_if(kinds, same);
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), std::vector<Candidate*>{});
    kind->push_back(&one);
  }
  for (const std::vector<Candidate*>& kind : kinds) {
    std::size_t placed = 0;
    Result<void> done;
    for (const auto& group : groups_)
      if (done.ok() && group->kind.same_as(kind.front()->kind)) done = fill(*group, kind, placed);
    if (done.ok() && placed < kind.size()) {
      done = found(std::span(kind).subspan(placed));
      if (done.ok()) placed = kind.size();
    }
    for (; placed < kind.size(); ++placed) refuse(*kind[placed]->world, done.error().text(), rest_of_kind);
  }
}

Result<void> DeviceWorlds::fill(Group& group, std::span<Candidate* const> kind, std::size_t& placed) {
  const std::vector<MotorWave> no_waves(group.kind.pattern().links.size() - 1);
  for (std::size_t slot = 0; slot < group.worlds.size() && placed < kind.size(); ++slot) {
    if (group.worlds[slot] != nullptr) continue;
    if (Result<void> loaded = group.device.load(slot, kind[placed]->words, no_waves); !loaded.ok()) return loaded;
    std::ranges::copy(kind[placed]->words, group.words_of(slot).begin());
    for (Group::Logged& tick : group.log) tick.lengths[slot] = Time{};  // they were another's
    take(group, slot, *kind[placed++]);
  }
  return {};
}

Result<void> DeviceWorlds::found(std::span<Candidate* const> kind) {
  auto robots = cuda::RobotsOnDevice::create(device_, kind.front()->kind.pattern(), kind.size());
  if (!robots.ok()) return robots.error();
  auto group = std::make_unique<Group>(std::move(kind.front()->kind), std::move(*robots), kind.size());
  for (std::size_t slot = 0; slot < kind.size(); ++slot)
    std::ranges::copy(kind[slot]->words, group->words_of(slot).begin());
  const std::vector<MotorWave> no_waves(kind.size() * (group->kind.pattern().links.size() - 1));
  if (Result<void> loaded = group->device.load(0, group->words, no_waves); !loaded.ok()) return loaded;
  if (Result<void> watching = group->device.watch(group->watch); !watching.ok()) return watching;
  for (std::size_t slot = 0; slot < kind.size(); ++slot) take(*group, slot, *kind[slot]);
  groups_.push_back(std::move(group));
  return {};
}

void DeviceWorlds::take(Group& group, std::size_t slot, Candidate& candidate) {
  World& world = *candidate.world;
  world.group = &group, world.slot = slot, world.lone = std::move(candidate.lone), world.behind = false;
  group.worlds[slot] = &world;
  native_set_away(*world.engine, [this, &world](bool changes) { come_home(world, changes); });
}

void DeviceWorlds::tell(std::span<const Tick> ticks) {
  for (const auto& group : groups_) {
    std::ranges::fill(group->lengths, Time{});
    for (std::size_t slot = 0; slot < group->worlds.size(); ++slot) group->orders[slot * group->order_width] = 0;
  }
  parallel_for(threads_, ticks.size(), 64, [&](std::size_t k) {
    const World& world = worlds_[ticks[k].world];
    if (world.group == nullptr) return;
    Group& group = *world.group;
    const Time length = ticks[k].end - ticks[k].begin;
    if (!(length > Time{})) return;
    group.lengths[world.slot] = length;
    struct Writer {
      double* word;
      void operator()(double x) { *word++ = x; }
    } out{group.orders_of(world.slot).data()};
    const native::LonePattern& pattern = group.kind.pattern();
    out(length.seconds()), out(real(substep_count(length.seconds(), pattern.max_substep)));
    for (std::size_t node = 1; node < pattern.links.size(); ++node) {
      MotorCommand command = world.engine->motors()[group.joint(node)];
      native::archive_command(out, command);
    }
  });
}

void DeviceWorlds::move_groups() {
  for (const auto& group : groups_) {
    if (!failure_.empty() || !group->told()) continue;
    if (const Result<void> moved = move(*group); !moved.ok()) failure_ = moved.error().text();
  }
}

Result<void> DeviceWorlds::move(Group& group) {
  group.asked = 0;
  if (group.log.size() >= most_logged)
    if (Result<void> saved = group.save_all(); !saved.ok()) return saved;
  if (Result<void> moved = group.device.tick(group.orders, group.watched, group.ends); !moved.ok()) return moved;
  for (std::size_t slot = 0; slot < group.worlds.size(); ++slot) {
    if (!(group.lengths[slot] > Time{})) continue;
    World& world = *group.worlds[slot];
    world.moved = group.ends[slot].end == LoneEnd::moved;
    if (world.moved) world.behind = true;
    else
      group.lengths[slot] = Time{},
      refuse(world, std::string("a robot ") + name(group.ends[slot].end), rest_after_tick);
  }
  group.log.push_back({group.orders, group.lengths});
  return {};
}

StepStatus DeviceWorlds::finish(const Tick& tick) {
  World& world = worlds_[tick.world];
  if (world.moved) {
    world.lone->write_watched(world.group->kind, world.group->watched_of(world.slot));
    return {};
  }
  come_home(world, true);
  return guarded({}, [&] { return tick.engine->advance(tick.begin, tick.end); });
}

// From here on the engine has everything; with `changes`, the device nothing.
void DeviceWorlds::come_home(World& world, bool changes) {
  const std::lock_guard lock(mutex_);
  if (world.group == nullptr) return;
  if (world.behind) {
    Result<void> caught_up = failure_.empty() ? catch_up(world) : Error("the device has failed", "");
    if (!caught_up.ok()) {
      if (failure_.empty()) failure_ = caught_up.error().text();
      return replay(world);
    }
  }
  if (changes) leave(world);
}

// Where many are asked after a tick, all are fetched at once.
Result<void> DeviceWorlds::catch_up(World& world) {
  constexpr int few = 8;
  Group& group = *world.group;
  std::vector<double> own(group.width);
  if (group.log.empty()) {
    std::ranges::copy(group.words_of(world.slot), own.begin());
  } else if (group.asked++ < few) {
    cuda::DeviceEnd end;
    if (Result<void> saved = group.device.save(world.slot, own, {&end, 1}); !saved.ok()) return saved;
  } else {
    if (Result<void> saved = group.save_all(); !saved.ok()) return saved;
    std::ranges::copy(group.words_of(world.slot), own.begin());
  }
  world.lone->write(group.kind, own, true, false);
  world.behind = false;
  return {};
}

// The device has lost what it knew: the engine makes the same ticks once more.
void DeviceWorlds::replay(World& world) {
  Group& group = *world.group;
  Engine& engine = *world.engine;
  native_set_away(engine, {});
  world.lone->write(group.kind, group.words_of(world.slot), true, false);
  const std::vector<MotorCommand> now(engine.motors().begin(), engine.motors().end());
  for (const Group::Logged& tick : group.log) {
    if (!(tick.lengths[world.slot] > Time{})) continue;
    struct Reader {
      const double* word;
      void operator()(double& x) { x = *word++; }
    } in{tick.orders.data() + world.slot * group.order_width + cuda::order_head};
    for (std::size_t node = 1; node < group.kind.pattern().links.size(); ++node)
      native::archive_command(in, engine.motors()[group.joint(node)]);
    const StepStatus status = engine.advance(Time{}, tick.lengths[world.slot]);
    VOLVOX_ASSERT(status.ok());
  }
  std::ranges::copy(now, engine.motors().begin());
  leave(world);
}

void DeviceWorlds::leave(World& world) {
  native_set_away(*world.engine, {});
  world.group->worlds[world.slot] = nullptr;
  world.group = nullptr, world.behind = false;
  world.lone.reset();
}

}  // namespace volvox::physics
