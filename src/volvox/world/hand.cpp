#include "volvox/world/hand.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"

namespace volvox::world {
namespace {

constexpr double grip_distance = 0.01;        // m
constexpr double lead = 0.01;                 // m, before itself, where it wants to be while it goes to a link
constexpr double turn_speed = 1;              // rad/s
constexpr double near = 0.01, aligned = 0.1;  // m, rad, of its aim when it has arrived
// Light, so that what it takes hold of does not feel it; much lighter, and engines that iterate lose the load on its
// way.
constexpr double mass = 0.1, moment = 1e-4;       // kg, kg m^2, of each of its parts
constexpr double rise_time = 0.02;                // s, of its motors: kd / kp
constexpr double give = 0.002, give_turn = 0.02;  // m, rad: it is so far away when its motors do all they can
constexpr const char* axis_names[] = {"x", "y", "z", "yaw", "pitch", "roll"};

double smooth(double x) { return x * x * (3 - 2 * x); }

Quat rotation_of(double yaw, double pitch, double roll) {
  return Quat::axis_angle({0, 0, 1}, yaw) * Quat::axis_angle({0, 1, 0}, pitch) * Quat::axis_angle({1, 0, 0}, roll);
}

// The same direction, by the shortest way.
double nearest_turn(double to, double from) { return from + std::remainder(to - from, 2 * pi); }

}  // namespace

model::ModuleModel hand_model(double force, double torque) {
  VOLVOX_ASSERT(force > 0 && torque > 0);
  // z of a joint's frame is its axis.
  const Quat along[] = {Quat::axis_angle({0, 1, 0}, pi / 2), Quat::axis_angle({1, 0, 0}, -pi / 2), Quat{}};
  model::ModuleModel hand;
  hand.name = "hand";
  for (int k = 0; k < 6; ++k) {
    const bool slides = k < 3;
    model::Link part;
    part.name = axis_names[k];
    part.mass = mass;
    part.moments = {moment, moment, moment};
    part.geometry = std::make_shared<model::Geometry>();
    part.gravity = false;
    hand.links.push_back(std::move(part));
    model::Joint joint;
    joint.name = axis_names[k];
    joint.type = slides ? model::JointType::prismatic : model::JointType::revolute;
    joint.parent = k - 1;
    joint.child = k;
    joint.parent_frame.rotation = joint.child_frame.rotation = along[slides ? k : 5 - k];
    joint.effort = slides ? force : torque;
    joint.velocity = slides ? 1 : 3;
    const double kp = joint.effort / (slides ? give : give_turn);
    joint.motor = model::Motor{kp, kp * rise_time};
    hand.joints.push_back(std::move(joint));
  }
  return hand;
}

void Hand::reach(World& world, LinkIndex link) {
  VOLVOX_ASSERT(link < world.links());
  let_go(world);
  link_ = link;
}

void Hand::let_go(World& world) {
  if (!holds()) {
    link_ = nobody;
    return;
  }
  world.release(joint_);
  joint_ = {};
  link_ = nobody;
  there_ = false;
  // Where it is, upright, so that its hinges are far from where two of them turn about the same axis.
  from_ = to_ = wanted();
  to_[4] = to_[5] = 0;
  part_ = 0;
  time_ = std::max({std::fabs(from_[4]), std::fabs(from_[5]), 0.05}) / turn_speed;
}

void Hand::carry(const Pose& to, double speed) {
  VOLVOX_ASSERT(holds() && finite(to) && speed > 0);
  const Pose aim = to * held_at_.inverse();
  const Vec3 ahead = aim.rotation * Vec3{1, 0, 0};
  from_ = wanted();
  const double yaw = nearest_turn(volvox::atan2(ahead.y, ahead.x), from_[3]);
  const double pitch = volvox::atan2(-ahead.z, length(ahead.x, ahead.y));
  const Quat rolled = rotation_of(yaw, pitch, 0).conjugate() * aim.rotation;
  const double roll = nearest_turn(2 * volvox::atan2(rolled.x, rolled.w), from_[5]);
  to_ = {aim.position.x, aim.position.y, aim.position.z, yaw, pitch, roll};
  const double way = length(Vec3{to_[0] - from_[0], to_[1] - from_[1], to_[2] - from_[2]});
  double turn = 0;
  for (int k = 3; k < 6; ++k) turn = std::max(turn, std::fabs(to_[k] - from_[k]));
  part_ = 0;
  time_ = std::max({way / speed, turn / turn_speed, 0.05});
  there_ = false;
}

Hand::Axes Hand::wanted() const {
  Axes at;
  for (int k = 0; k < 6; ++k) at[k] = from_[k] + (to_[k] - from_[k]) * smooth(part_);
  return at;
}

// Follows the link, and takes hold of it.
void Hand::chase(World& world, LinkIndex palm, const Axes& at) {
  const Vec3 here{at[0], at[1], at[2]};
  const Pose link = world.link_pose(link_);
  const Vec3 way = link.position - here;
  if (length(way) < grip_distance) {
    joint_ = world.grip(palm, link_);
    held_at_ = world.link_pose(palm).inverse() * link;
    from_ = to_ = at;  // what moves comes to rest here as fast as the hand's force can do it
    part_ = 1;
    return;
  }
  const Vec3 next = here + way * std::min(1.0, lead / length(way));
  from_[0] = to_[0] = next.x, from_[1] = to_[1] = next.y, from_[2] = to_[2] = next.z;
}

void Hand::move(World& world, PlacementIndex hand, double dt) {
  VOLVOX_ASSERT(hand < world.placements() && dt > 0);
  const Part& part = world.part(hand);
  Axes at;
  for (JointIndex k = 0; k < 6; ++k) at[k] = world.joint_state(part.first_joint + k).position;
  part_ = std::min(1.0, part_ + dt / time_);
  if (link_ == nobody && part_ >= 1) return;  // it keeps still
  if (!holds() && link_ != nobody) chase(world, part.first_link + 5, at);
  const Axes aim = wanted();
  double off = 0, turned = 0;
  for (JointIndex k = 0; k < 6; ++k) {
    world.command(part.first_joint + k, physics::Control::position, aim[k]);
    (k < 3 ? off : turned) = std::max(k < 3 ? off : turned, std::fabs(aim[k] - at[k]));
  }
  there_ = part_ >= 1 && off < near && turned < aligned;
}

}  // namespace volvox::world
