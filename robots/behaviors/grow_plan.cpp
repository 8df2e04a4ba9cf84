#include "grow_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "segments.h"
#include "volvox/base/index.h"

namespace volvox::robots {
namespace {

// m: half the width of a module is 0.042.
constexpr double apart = 0.09;        // between the axes of parts that are not neighbours
constexpr double folded = 0.1;        // between the far ends of parts with one part between them
constexpr double beside_base = 0.08;  // from its axis
constexpr double before_base = 0.045;
constexpr double body = 0.126;  // from a module's tail joint to its front dock
constexpr int attempts = 80, samples = 16;
constexpr double smallest_start = 0.008;  // m, gap at the start of an approach
constexpr double near_goal = 0.002;       // m
constexpr double most_askew = 0.5;        // rad, at the start of an aligned approach

std::vector<Vec3> corners_of(const model::Chain& chain, const Posture& posture) {
  std::vector<Vec3> corners;
  for (const Pose& frame : chain.frames(posture))
    if (corners.empty() || length(frame.position - corners.back()) > 1e-6) corners.push_back(frame.position);
  return corners;
}

bool off_itself(const std::vector<Vec3>& c) {
  for (std::size_t i = 0; i + 3 < c.size(); ++i) {
    if (segment_distance(c[i], c[i], c[i + 2], c[i + 3]) < folded) return false;
    if (segment_distance(c[i + 3], c[i + 3], c[i], c[i + 1]) < folded) return false;
    for (std::size_t j = i + 3; j + 1 < c.size(); ++j)
      if (segment_distance(c[i], c[i + 1], c[j], c[j + 1]) < apart) return false;
  }
  return true;
}

bool off_base(const std::vector<Vec3>& c) {
  const auto inside = [](const Vec3& p) { return p.x < before_base && std::fabs(p.y) < beside_base; };
  for (std::size_t i = 1; i < c.size(); ++i)
    if (inside(c[i]) || (i > 1 && inside(0.5 * (c[i] + c[i - 1])))) return false;
  return true;
}

bool off_module(const std::vector<Vec3>& c, const SeenModule& module, double gap) {
  const Vec3 head = module.tail - module.facing * body;
  for (std::size_t i = 0; i + 1 < c.size(); ++i) {
    const bool last = i + 2 == c.size();
    const double least = last ? 0.042 + 0.7 * std::min(gap, 0.045) : apart;
    if (segment_distance(c[i], c[i + 1], module.tail, head) < least) return false;
  }
  return true;
}

struct Surroundings {
  const model::Chain& chain;
  const SeenModule* module;  // null: none is known
  double gap;
  bool clear(const Posture& posture) const {
    const std::vector<Vec3> corners = corners_of(chain, posture);
    return off_itself(corners) && off_base(corners) && (module == nullptr || off_module(corners, *module, gap));
  }
  bool clear(const Posture& from, const Posture& to) const {
    Posture at(from.size());
    for (int i = 1; i <= samples; ++i) {
      for (std::size_t k = 0; k < at.size(); ++k) at[k] = from[k] + (to[k] - from[k]) * i / samples;
      if (!clear(at)) return false;
    }
    return true;
  }
};

// Whether the dock of the module sees the tip, so that it can turn towards it.
bool seen_by(const SeenModule& module, const Pose& tip, double tail_length) {
  const Vec3 way = tip.position - (module.tail + module.facing * tail_length);
  return dot(way, module.facing) > 0.25 * length(way) && dot(tip.rotation * Vec3{1, 0, 0}, module.facing) < -0.4;
}

double travel(const Posture& from, const Posture& to) {
  double most = 0;
  for (std::size_t k = 0; k < from.size(); ++k) most = std::max(most, std::fabs(to[k] - from[k]));
  return most;
}

// m, from the shoulder to the farthest corner.
double extent(const model::Chain& chain, const Posture& posture) {
  const std::vector<Vec3> corners = corners_of(chain, posture);
  double farthest = 0;
  for (const Vec3& corner : corners) farthest = std::max(farthest, length(corner - corners.front()));
  return farthest;
}

// Straight in joint space, or with the shoulder turned last or first; empty if each of them touches something. Where
// the arm stands may touch already, so it need not be clear.
std::vector<Posture> find_way(const Surroundings& around, const Posture& from, const Posture& to) {
  if (!around.clear(to)) return {};
  if (around.clear(from, to)) return {to};
  Posture shoulder_last = to, shoulder_first = from;
  shoulder_last[0] = from[0];
  shoulder_first[0] = to[0];
  for (const Posture& between : {shoulder_last, shoulder_first})
    if (around.clear(from, between) && around.clear(between, to)) return {between, to};
  return {};
}

}  // namespace

Pose facing_pose(const model::Chain& chain, const Posture& now, const SeenModule& module) {
  const Quat rotation = chain.tip(now).rotation;
  const Vec3 ahead = rotation * Vec3{1, 0, 0};
  const double turn = volvox::atan2(-module.facing.y, -module.facing.x) - volvox::atan2(ahead.y, ahead.x);
  return {module.tail, Quat::axis_angle({0, 0, 1}, turn) * rotation};
}

std::optional<Approach> find_approach(const GrowPlan& plan, const GrowPlan::Reach& reach, const Posture& now,
                                      const SeenModule& module, bool aligned, RandomStream& random) {
  std::optional<Approach> best;
  double least = std::numeric_limits<double>::infinity();
  const model::ReachOptions options{
      .position_tolerance = 1e-3, .angle_tolerance = 0.05, .radian_weight = aligned ? 0.05 : 0, .iterations = 60};
  for (int attempt = 0; attempt <= attempts; ++attempt) {
    const Posture start = attempt == 0 ? now : reach.dock.random_positions(random);
    for (int step = 0; step < std::ssize(plan.gaps) && plan.gaps[step] >= smallest_start; ++step) {
      const model::Chain& chain = reach.approach[step];
      const model::Reach found = model::reach(chain, facing_pose(chain, start, module), start, options);
      if (found.distance > near_goal || (aligned && found.angle > most_askew)) continue;
      const Surroundings around{reach.dock, &module, plan.gaps[step]};
      std::vector<Posture> way = find_way(around, now, found.positions);
      if (way.empty()) continue;
      const bool seen = seen_by(module, reach.dock.tip(found.positions), plan.tail_length);
      const double cost = travel(now, found.positions) + (aligned ? 2 * found.angle : 0) +
                          20 * (plan.gaps[0] - plan.gaps[step]) + (seen ? 0 : 10);
      if (cost < least) least = cost, best = Approach{step, std::move(way)};
      break;
    }
  }
  return best;
}

std::vector<Posture> find_view(const GrowPlan::Reach& reach, const Posture& now, double azimuth, RandomStream& random) {
  std::vector<Posture> best;
  double least = std::numeric_limits<double>::infinity();
  const Surroundings around{reach.dock, nullptr, 0};
  for (int attempt = 0; attempt < 10 * attempts; ++attempt) {
    const Posture posture = reach.dock.random_positions(random);
    const Vec3 ahead = reach.dock.tip(posture).rotation * Vec3{1, 0, 0};
    const double aside = 1 - volvox::cos(volvox::atan2(ahead.y, ahead.x) - azimuth);
    const double cost = extent(reach.dock, posture) + 0.05 * aside + 0.01 * travel(now, posture);
    if (cost >= least) continue;
    std::vector<Posture> way = find_way(around, now, posture);
    if (!way.empty()) least = cost, best = std::move(way);
  }
  return best;
}

}  // namespace volvox::robots
