// An ODE world with the bodies, joints and contacts of a system, advanced by substeps. Where ODE is not exact enough we
// have our own code: free rotation that conserves angular momentum, restitution and friction by contact, and a stop for
// fast bodies before anything that they would pass through.
// Owns ODE's objects; system, shapes and sweep must outlive it. One thread; SI units, world frame.
#pragma once

#include <ode/ode.h>

#include <memory>
#include <vector>

#include "volvox/physics/ode/ode_contacts.h"
#include "volvox/physics/ode/ode_joint.h"
#include "volvox/physics/sweep.h"

namespace volvox::physics::ode {

// Iterations of QuickStep in a substep. More of them help long chains little, and cost in proportion.
constexpr int solver_iterations = 100;

class World {
 public:
  World(System& system, ShapeCache& shapes, const Sweep& sweep);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void add_body(std::size_t index);
  void remove_body(std::size_t index);
  void place_body(std::size_t index);
  void add_joint(std::size_t index);
  void remove_joint(std::size_t index) { joints_[index].reset(); }

  void begin_tick();
  // Updates poses and velocities of the system. False: a number is not finite.
  bool substep(double step);
  void end_tick(double tick);
  // Of the last substep.
  void read_contacts(std::vector<Contact>& out) const;
  double collision_s() const { return collision_s_; }  // by the wall, of all substeps so far

 private:
  void add_geoms(std::size_t index);
  void apply_forces();
  void add_contacts(double step);
  dContact contact_row(ContactCandidate& candidate, double step) const;
  double normal_speed(ContactCandidate& candidate, const Vec3& velocity, const Vec3& acceleration, double step) const;
  Vec3 outer_acceleration(std::size_t body) const;
  void find_held();
  void move_bodies(double step);
  Pose inertial(std::size_t index) const;

  System& system_;
  ShapeCache& shapes_;
  const Sweep& sweep_;
  bool started_;  // initialises ODE before any of its objects
  dWorldID world_;
  dSpaceID space_;
  dJointGroupID contact_joints_;
  std::vector<OdeBody> bodies_;  // by body index
  std::vector<std::vector<std::unique_ptr<ContactFinder::Mark>>> marks_;
  std::vector<std::unique_ptr<Joint>> joints_;  // by joint index
  std::vector<Pose> before_;                    // by body index, principal frames before the substep
  ContactFinder finder_;
  std::vector<ContactCandidate> contacts_;
  std::vector<dJointFeedback> reactions_;  // by contact
  std::vector<std::uint8_t> held_;         // by body index: a joint holds it, or a contact that does not bounce
  std::vector<Wrench> loads_;              // times substep, of the tick so far
  std::vector<double> motor_impulses_;
  double collision_s_ = 0;  // no part of the state
};

}  // namespace volvox::physics::ode
