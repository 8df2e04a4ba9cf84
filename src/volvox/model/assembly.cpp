// Derives poses from connections, starting at the placements that have a pose.
#include <fmt/format.h>

#include <deque>
#include <set>
#include <utility>

#include "volvox/base/index.h"
#include "volvox/base/union_find.h"
#include "volvox/model/world_model.h"

namespace volvox::model {
namespace {

constexpr std::size_t max_reported = 10;  // of one kind; further ones are only counted

std::string dock_name(const WorldModel& world, int placement, int dock) {
  const Placement& p = world.placements[placement];
  return p.name + "." + p.model->docks[dock].name;
}

std::string_view gender_name(Gender gender) {
  return gender == Gender::male ? "male" : gender == Gender::female ? "female" : "both";
}

// Adds diagnostics, at most `max_reported` of one kind.
class Reporter {
 public:
  explicit Reporter(Error& error) : error_(error) {}
  ~Reporter() {
    if (count_ > max_reported) {
      error_.add(
          {{}, 0, fmt::format("... and {} more of this kind", count_ - max_reported), "correct the first ones first"});
    }
  }
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  void add(Diagnostic diagnostic) {
    if (++count_ <= max_reported) error_.add(std::move(diagnostic));
  }

 private:
  Error& error_;
  std::size_t count_ = 0;
};

const Dock& dock_of(const WorldModel& world, int placement, int dock) {
  VOLVOX_ASSERT(placement >= 0 && placement < std::ssize(world.placements));
  return world.placements[placement].model->docks[dock];
}

void check_pair(const WorldModel& world, const Connection& c, Reporter& report) {
  const std::string a = dock_name(world, c.a, c.dock_a), b = dock_name(world, c.b, c.dock_b);
  const auto complain = [&](std::string what, std::string fix) {
    report.add({c.file, c.line, std::move(what), std::move(fix)});
  };
  if (c.a == c.b) return complain(fmt::format("{} is connected to its own module ({})", a, b), "connect two modules");
  const Dock& dock_a = dock_of(world, c.a, c.dock_a);
  const Dock& dock_b = dock_of(world, c.b, c.dock_b);
  if (dock_a.kind != dock_b.kind) {
    complain(fmt::format("{} (kind \"{}\") does not fit {} (kind \"{}\")", a, dock_a.kind, b, dock_b.kind),
             "connect docks of one kind, or give both the same kind=");
  } else if (dock_a.symmetry != dock_b.symmetry) {
    complain(fmt::format("{} has symmetry {}, {} has {}", a, dock_a.symmetry, b, dock_b.symmetry),
             "docks of one kind need one symmetry=");
  } else if (!fit(dock_a, dock_b)) {
    complain(fmt::format("{} and {} are both {}", a, b, gender_name(dock_a.gender)),
             "connect a male dock to a female one (gender=\"both\" fits either)");
  } else if (c.turn != 0 && std::abs(c.turn) >= dock_a.symmetry) {
    complain(fmt::format("{} to {}: turn {} of a dock with symmetry {}", a, b, c.turn, dock_a.symmetry),
             fmt::format("give turn a value from 0 to {}", std::max(0, dock_a.symmetry - 1)));
  }
}

void check_connections(const WorldModel& world, Error& error) {
  Reporter report(error);
  std::set<std::pair<int, int>> used;
  for (const Connection& c : world.connections) {
    check_pair(world, c, report);
    for (const auto& [placement, dock] : {std::pair{c.a, c.dock_a}, std::pair{c.b, c.dock_b}}) {
      if (used.emplace(placement, dock).second) continue;
      report.add({c.file, c.line, fmt::format("{} is connected twice", dock_name(world, placement, dock)),
                  "a dock engages one other dock; connect another one, or leave this connection out"});
    }
  }
}

void check_placements(const WorldModel& world, Error& error) {
  Reporter report(error);
  for (const Placement& p : world.placements) {
    if (!finite(p.pose) || !finite(p.velocity)) {
      report.add({p.file, p.line, fmt::format("the pose or the velocity of {} is not a number", p.name),
                  "give finite numbers"});
    }
  }
}

Pose dock_in_module(const Placement& placement, int dock_index) {
  VOLVOX_ASSERT(dock_index >= 0 && dock_index < std::ssize(placement.model->docks));
  const Dock& dock = placement.model->docks[dock_index];
  if (placement.positions.empty()) return placement.model->links[dock.link].pose * dock.pose;
  return forward_kinematics(*placement.model, placement.positions)[dock.link] * dock.pose;
}

// The pose of module b that follows from the pose of module a.
Pose pose_of_b(const WorldModel& world, const Connection& c) {
  const Placement& a = world.placements[c.a];
  const Placement& b = world.placements[c.b];
  Pose pose = a.pose * dock_in_module(a, c.dock_a) * engaged_dock(dock_of(world, c.a, c.dock_a).symmetry, c.turn) *
              dock_in_module(b, c.dock_b).inverse();
  pose.rotation = normalized(pose.rotation);
  return pose;
}

Connection reversed(const Connection& c) {
  // An engaged pair is its own inverse, so the turn stays.
  return {c.b, c.dock_b, c.a, c.dock_a, c.turn, c.file, c.line};
}

// Separates the connections that place a module from those that only close a loop: a connection closes
// a loop if earlier connections already join its ends. So an error is reported at the last connection of
// a loop, where its author will look for it.
class SpanningForest {
 public:
  explicit SpanningForest(const WorldModel& world) : joined_(world.placements.size() + 1) {
    // All that has a pose stands on one ground.
    const auto ground = narrow<std::uint32_t>(world.placements.size());
    for (std::uint32_t i = 0; i < ground; ++i) {
      if (world.placements[i].posed) joined_.join(i, ground);
    }
  }
  bool join(int a, int b) { return joined_.join(narrow<std::uint32_t>(a), narrow<std::uint32_t>(b)); }

 private:
  UnionFind joined_;
};

// Breadth-first, in the order of placements and connections, so that rounding errors are reproducible.
void spread_poses(WorldModel& world) {
  SpanningForest forest(world);
  std::vector<std::vector<std::uint32_t>> touching(world.placements.size());
  for (std::uint32_t i = 0; i < world.connections.size(); ++i) {
    const Connection& c = world.connections[i];
    if (!forest.join(c.a, c.b)) continue;
    touching[c.a].push_back(i);
    touching[c.b].push_back(i);
  }
  std::deque<int> frontier;
  for (int i = 0; i < std::ssize(world.placements); ++i) {
    if (world.placements[i].posed) frontier.push_back(i);
  }
  while (!frontier.empty()) {
    const int from = frontier.front();
    frontier.pop_front();
    for (const std::uint32_t index : touching[from]) {
      const Connection& found = world.connections[index];
      const Connection c = found.a == from ? found : reversed(found);
      Placement& next = world.placements[c.b];
      if (next.posed) continue;
      next.pose = pose_of_b(world, c);
      next.posed = true;
      frontier.push_back(c.b);
    }
  }
}

void check_posed(const WorldModel& world, Error& error) {
  Reporter report(error);
  for (const Placement& p : world.placements) {
    if (p.posed) continue;
    report.add({p.file, p.line,
                fmt::format("{} has no pose, and no connection leads to it from a module that has one", p.name),
                "give it pose=\"x y z roll pitch yaw\", or connect one of its docks"});
  }
}

void check_loops(const WorldModel& world, Error& error) {
  Reporter report(error);
  for (const Connection& c : world.connections) {
    const Pose& actual = world.placements[c.b].pose;
    const Pose dock = dock_in_module(world.placements[c.b], c.dock_b);
    // Compared at the dock, because the tolerances are about the gap there.
    const Pose off = (pose_of_b(world, c) * dock).inverse() * (actual * dock);
    const double distance = length(off.position), turned = angle(off.rotation);
    if (distance <= connection_tolerance_m && turned <= connection_tolerance_rad) continue;
    report.add(
        {c.file, c.line,
         fmt::format("the connection of {} to {} does not close: the docks are {:.1f} mm and {:.1f} degrees apart",
                     dock_name(world, c.a, c.dock_a), dock_name(world, c.b, c.dock_b), distance * 1e3, degrees(turned)),
         "change the joint positions, the turns or the poses around this loop, or leave this connection out"});
  }
}

}  // namespace

Result<void> resolve_connections(WorldModel& world) {
  Error error;
  check_placements(world, error);
  check_connections(world, error);
  if (!error.empty()) return error;
  spread_poses(world);
  check_posed(world, error);
  if (!error.empty()) return error;
  check_loops(world, error);
  if (!error.empty()) return error;
  return {};
}

}  // namespace volvox::model
