#include "volvox/world/start_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/model/module_model.h"
#include "volvox/physics/joint_friction.h"
#include "volvox/physics/overlap.h"
#include "volvox/world/latches.h"

namespace volvox::world {
namespace {

constexpr double bearable_overlap = 1e-3;  // m; what rests sinks in by a tenth of that
constexpr std::size_t most_named = 3;

// The same bodies and joints as the engine's, as far as touching goes.
physics::System joined_links(const World& world) {
  physics::System system({});
  std::vector<physics::BodyId> bodies;
  for (std::uint32_t l = 0; l < world.links(); ++l) {
    const std::uint32_t placement = world.placement_of_link(l);
    const model::ModuleModel& module = world.module_model(placement);
    physics::BodyDesc body;
    body.motion = module.fixed_in_place ? physics::Motion::fixed
                  : module.driven       ? physics::Motion::kinematic
                                        : physics::Motion::dynamic;
    body.pose = world.link_pose(l);
    body.inertial = world.link_model(l).inertial;
    body.geometry = world.link_model(l).geometry;
    body.owner = placement + 1;
    body.quiet = !module.self_collide;
    bodies.push_back(system.add(body));
  }
  const auto join = [&](std::uint32_t a, std::uint32_t b, physics::JointType type) {
    VOLVOX_ASSERT(a < bodies.size() && b < bodies.size() && a != b);
    physics::JointDesc joint;
    joint.type = type;
    joint.a = bodies[a], joint.b = bodies[b];
    system.add(joint);
  };
  for (std::uint32_t p = 0; p < world.placements(); ++p) {
    for (const model::Joint& joint : world.module_model(p).joints) {
      if (joint.parent < 0) continue;
      const std::uint32_t first = world.part(p).first_link;
      join(first + joint.parent, first + joint.child,
           joint.type == model::JointType::fixed ? physics::JointType::fixed : physics::JointType::ball);
    }
  }
  for (const model::Connection& c : world.model().connections) {
    const auto link = [&](int placement, int dock) {
      const std::uint32_t p = placement;
      VOLVOX_ASSERT(p < world.placements() && dock >= 0 && dock < std::ssize(world.module_model(p).docks));
      return world.part(p).first_link + world.module_model(p).docks[dock].link;
    };
    join(link(c.a, c.dock_a), link(c.b, c.dock_b), physics::JointType::fixed);
  }
  return system;
}

std::string overlap_warning(const World& world) {
  const physics::System system = joined_links(world);
  const std::vector<physics::Overlap> found = physics::find_overlaps(system, bearable_overlap);
  if (found.empty()) return {};
  std::string named;
  for (std::size_t i = 0; i < std::min(most_named, found.size()); ++i) {
    const auto name = [&](physics::BodyId id) { return world.body_name(world.body(id.index)); };
    named += fmt::format("{}'{}' and '{}' by {:.3g} mm", i == 0 ? "" : ", ", name(found[i].a), name(found[i].b),
                         found[i].depth * 1e3);
  }
  return fmt::format(
      "{} of bodies overlap{} at the start: {}{}; they will be pushed apart, and many in one place are slow: place "
      "them "
      "apart, or dock them",
      found.size() == 1 ? "a pair" : fmt::format("{} pairs", found.size()), found.size() == 1 ? "s" : "", named,
      found.size() > most_named ? ", ..." : "");
}

std::string inertia_warning(const World& world) {
  std::size_t count = 0;
  std::string first;
  for (std::uint32_t l = 0; l < world.links(); ++l) {
    const model::Link& link = world.link_model(l);
    const model::ModuleModel& module = world.module_model(world.placement_of_link(l));
    if (module.fixed_in_place || module.driven) continue;
    physics::BodyDesc body;
    body.mass = link.mass;
    body.inertial = link.inertial;
    body.geometry = link.geometry;
    const Vec3 least = physics::least_moments(body);
    for (int i = 0; i < 3; ++i) {
      if (link.moments[i] >= least[i]) continue;
      if (count++ == 0)
        first = fmt::format(
            "'{}' has a moment of inertia of {:.3g} kg m^2, far too small for {:.3g} kg and its size: at "
            "least {:.3g} is taken",
            world.body_name(world.body(l)), link.moments[i], link.mass, least[i]);
      break;
    }
  }
  if (count == 0) return {};
  return fmt::format("{}{}; correct <inertia>", first,
                     count == 1 ? "" : fmt::format(" (and so of {} more bodies)", count - 1));
}

struct FlushJoints {
  std::string first;     // "'block.rail'"; empty: there is none
  std::size_t more = 0;  // others
};
FlushJoints flush_joints(const World& world) {
  FlushJoints found;
  for (std::uint32_t p = 0; p < world.placements(); ++p)
    for (const model::Joint& joint : world.module_model(p).joints) {
      if (!joint.flush) continue;
      if (found.first.empty()) found.first = fmt::format("'{}.{}'", world.name(p), joint.name);
      else ++found.more;
    }
  return found;
}

// Of a dock whose jaws hold along x by friction alone; empty: there is none.
std::string jaws_without_teeth(const World& world) {
  if (world.latches() == nullptr) return {};
  for (std::uint32_t p = 0; p < world.placements(); ++p)
    for (const model::Dock& dock : world.module_model(p).docks)
      if (dock.latch && !dock.latch->form) return fmt::format("'{}.{}'", world.name(p), dock.name);
  return {};
}

}  // namespace

std::vector<std::string> left_out(const World& world, const physics::EngineInfo* before) {
  const physics::EngineInfo& engine = world.engine_info();
  std::vector<std::string> lines;
  if (!engine.moves) return lines;
  const auto cannot = [&](const char* what) {
    const auto lacks = [what](const physics::EngineInfo& info) {
      return std::find(info.cannot.begin(), info.cannot.end(), what) != info.cannot.end();
    };
    return lacks(engine) && !(before != nullptr && before->moves && lacks(*before));
  };
  if (const FlushJoints joints = flush_joints(world); !joints.first.empty() && cannot(physics::friction_by_load))
    lines.push_back(fmt::format(
        "the flush faces of {}{} rub by their preload alone here: the engine '{}' cannot follow their load; use native "
        "for that (decision 0073)",
        joints.first, joints.more == 0 ? "" : fmt::format(" and of {} more joints", joints.more), engine.name));
  if (const std::string dock = jaws_without_teeth(world); !dock.empty() && cannot(physics::sliding_jaws))
    lines.push_back(
        fmt::format("the jaws of {} hold by friction, and what slides in them does so without its right load in the "
                    "engine '{}'; use native or bullet for that (decision 0072)",
                    dock, engine.name));
  return lines;
}

std::vector<std::string> start_warnings(const World& world) {
  std::vector<std::string> warnings = left_out(world);
  if (!world.engine_info().moves) return warnings;
  for (std::string warning : {inertia_warning(world), overlap_warning(world)})
    if (!warning.empty()) warnings.push_back(std::move(warning));
  return warnings;
}

}  // namespace volvox::world
