#include "volvox/model/kinematics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "volvox/base/check.h"

namespace volvox::model {
namespace {

Pose motion(const Chain::Joint& joint, double position) {
  const double moved = joint.backwards ? -position : position;
  return joint.revolute ? Pose{{}, Quat::axis_angle({0, 0, 1}, moved)} : Pose{{0, 0, moved}, {}};
}

// Appends the joints on the path from one link to another through the tree of joints; false if there is no path.
bool append_path(const ModuleModel& model, int from, int to, int came_by, std::vector<int>& way) {
  VOLVOX_ASSERT(from >= 0 && to >= 0 && std::max(from, to) < std::ssize(model.links));
  if (from == to) return true;
  for (int j = 0; j < std::ssize(model.joints); ++j) {
    const Joint& joint = model.joints[j];
    if (j == came_by || joint.parent < 0 || (joint.parent != from && joint.child != from)) continue;
    way.push_back(j);
    if (append_path(model, joint.parent == from ? joint.child : joint.parent, to, j, way)) return true;
    way.pop_back();
  }
  return false;
}

using Vector6 = std::array<double, 6>;
using Matrix6 = std::array<Vector6, 6>;

// Solves a x = b for a symmetric positive definite matrix, by Cholesky decomposition.
Vector6 solve(Matrix6 a, Vector6 b) {
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
  }
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = 6; i-- > 0;) {
    for (std::size_t k = i + 1; k < 6; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

struct Error6 {
  Vector6 weighted{};
  double distance = 0, angle = 0, squares = 0;
};

Error6 error_of(const Pose& target, const Pose& tip, double radian_weight) {
  const Vec3 way = target.position - tip.position;
  const Vec3 turn = rotation_vector(target.rotation * tip.rotation.conjugate());
  Error6 error{{way.x, way.y, way.z, turn.x * radian_weight, turn.y * radian_weight, turn.z * radian_weight},
               length(way),
               length(turn),
               0};
  for (const double e : error.weighted) error.squares += e * e;
  return error;
}

// One step of damped least squares: J^T (J J^T + damping^2 I)^-1 e.
std::vector<double> damped_step(const std::vector<Vector6>& columns, const Vector6& error, double damping) {
  VOLVOX_ASSERT(damping >= 0);
  Matrix6 a{};
  for (const Vector6& column : columns)
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j) a[i][j] += column[i] * column[j];
  for (std::size_t i = 0; i < 6; ++i) a[i][i] += damping * damping;
  const Vector6 pull = solve(a, error);
  std::vector<double> step(columns.size());
  for (std::size_t k = 0; k < step.size(); ++k)
    for (std::size_t i = 0; i < 6; ++i) step[k] += columns[k][i] * pull[i];
  return step;
}

// A step within the limits: a joint that would pass a limit stops there, and the other joints compensate.
std::vector<double> limited_step(const Chain& chain, const std::vector<double>& at, std::vector<Vector6> columns,
                                 Vector6 error, double damping) {
  std::vector<double> to = at;
  std::vector<char> stopped(at.size());
  for (std::size_t round = 0; round <= at.size(); ++round) {
    const std::vector<double> step = damped_step(columns, error, damping);
    bool all_within = true;
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (stopped[k]) continue;
      to[k] = clamp(at[k] + step[k], chain.joints()[k].lower, chain.joints()[k].upper);
      if (to[k] == at[k] + step[k]) continue;
      stopped[k] = 1;
      all_within = false;
      for (std::size_t i = 0; i < 6; ++i) error[i] -= columns[k][i] * (to[k] - at[k]);
      columns[k] = {};
    }
    if (all_within) break;
  }
  return to;
}

}  // namespace

Result<void> Chain::append(const ModuleModel& model, const std::string& entry, const std::string& exit, int turn) {
  const int in = model.dock_index(entry), out = model.dock_index(exit);
  if (in < 0 || out < 0)
    return Error(fmt::format("{} has no dock {}", model.name, in < 0 ? entry : exit), "name two docks of the module");
  const Dock &first = model.docks[in], &last = model.docks[out];
  std::vector<int> way;
  if (!append_path(model, first.link, last.link, -1, way))
    return Error(fmt::format("no joints of {} lead from dock {} to dock {}", model.name, entry, exit),
                 "name two docks that joints connect");

  Pose here = tip_;
  if (begun_) here = here * engaged_dock(symmetry_, turn);
  here = here * first.pose.inverse();
  int link = first.link;
  for (const int j : way) {
    const model::Joint& joint = model.joints[j];
    const bool backwards = joint.child == link;
    const Pose to = backwards ? joint.child_frame : joint.parent_frame;
    const Pose from = backwards ? joint.parent_frame : joint.child_frame;
    here = here * to;
    if (joint.type == JointType::revolute || joint.type == JointType::prismatic) {
      here.rotation = normalized(here.rotation);
      joints_.push_back({here, joint.type == JointType::revolute, joint.lower, joint.upper, backwards});
      here = {};
    }
    here = here * from.inverse();
    link = backwards ? joint.parent : joint.child;
  }
  tip_ = here * last.pose;
  tip_.rotation = normalized(tip_.rotation);
  symmetry_ = last.symmetry;
  begun_ = true;
  return {};
}

std::vector<Pose> Chain::frames(std::span<const double> positions) const {
  VOLVOX_CHECK(positions.size() == joints_.size(), "one position per joint");
  std::vector<Pose> frames;
  frames.reserve(joints_.size() + 1);
  Pose here;
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    here = here * joints_[k].before * motion(joints_[k], positions[k]);
    here.rotation = normalized(here.rotation);
    frames.push_back(here);
  }
  frames.push_back(here * tip_);
  return frames;
}

Pose Chain::tip(std::span<const double> positions) const { return frames(positions).back(); }

std::vector<Twist> Chain::jacobian(std::span<const double> positions) const {
  VOLVOX_ASSERT(positions.size() == joints_.size());
  const std::vector<Pose> at = frames(positions);
  std::vector<Twist> columns;
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    const Vec3 axis = at[k].rotation * Vec3{0, 0, joints_[k].backwards ? -1.0 : 1.0};
    columns.push_back(joints_[k].revolute ? Twist{cross(axis, at.back().position - at[k].position), axis}
                                          : Twist{axis, {}});
  }
  return columns;
}

std::vector<double> Chain::random_positions(RandomStream& random) const {
  std::vector<double> positions;
  for (const Joint& joint : joints_) {
    const double widest = joint.revolute ? pi : 1;
    positions.push_back(random.uniform(std::max(joint.lower, -widest), std::min(joint.upper, widest)));
  }
  return positions;
}

Reach reach(const Chain& chain, const Pose& target, std::vector<double> start, const ReachOptions& options) {
  VOLVOX_ASSERT(finite(target));
  VOLVOX_CHECK(start.size() == chain.size(), "one position a joint");
  Reach found;
  found.positions = std::move(start);
  Error6 error = error_of(target, chain.tip(found.positions), options.radian_weight);
  const auto within = [&] {
    return error.distance <= options.position_tolerance &&
           (options.radian_weight == 0 || error.angle <= options.angle_tolerance);
  };
  double damping = 0.05;  // m/rad, about a tenth of an arm's length
  for (; found.iterations < options.iterations && !within(); ++found.iterations) {
    std::vector<Vector6> columns;
    for (const Twist& c : chain.jacobian(found.positions)) {
      const Vec3 turn = c.angular * options.radian_weight;
      columns.push_back({c.linear.x, c.linear.y, c.linear.z, turn.x, turn.y, turn.z});
    }
    const std::vector<double> next = limited_step(chain, found.positions, columns, error.weighted, damping);
    const Error6 after = error_of(target, chain.tip(next), options.radian_weight);
    if (after.squares < error.squares) {
      found.positions = next;
      error = after;
      damping = std::max(1e-4, 0.5 * damping);
    } else {
      damping *= 4;
      if (damping > 1e3) break;  // no direction helps any more
    }
  }
  found.distance = error.distance;
  found.angle = error.angle;
  found.reached = within();
  return found;
}

}  // namespace volvox::model
