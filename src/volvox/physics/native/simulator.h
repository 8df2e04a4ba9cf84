// The step: what happens in one tick, phase by phase.
// SI units, world frame. Called by one thread, which shares the work out to the pool's: the bits are the same at any
// number of them.
#pragma once

#include <memory>
#include <vector>

#include "volvox/physics/native/contact_solver.h"
#include "volvox/physics/native/detector.h"
#include "volvox/physics/native/flock.h"
#include "volvox/physics/native/topology.h"

namespace volvox::physics::native {

class Simulator {
 public:
  // All contacts are looked for at the start of a tick, and in long ticks again after so many substeps: who looks far
  // ahead finds pairs that never meet, and is surprised more often. A tick of 1/60 s has four of the default ones.
  static constexpr int most_between_looks = 8;

  Simulator(System& system, double max_substep, Precision precision, ThreadPool* threads)
      : world_{system, {}, {}, {}, {}, {}, {}, 0},
        max_substep_(max_substep),
        threads_(threads),
        detector_(work_),
        contacts_(work_),
        planes_(precision),
        flocks_(work_, precision) {}

  void add_body(std::size_t index);
  void remove_body(std::size_t index);
  void add_joint(std::size_t index);
  void before_joint_removed(std::size_t index);
  void place_body(std::size_t index);

  StepStatus advance(double tick);

  void read_contacts(std::vector<Contact>& out) const;  // of the last substep
  const Work& work() const { return work_; }
  double collision_s() const { return collision_s_; }  // by the wall, of all looks so far
  void archive(Archive& ar);
  // Takes over the state of the system, as another engine left it: all are awake, and no contact is remembered.
  void begin_from_system();

 private:
  friend class LoneWorld;  // takes the whole state out, and puts it back

  // The phases of advance(), in their order.
  void begin_tick(double step);
  int substeps(double step, int now, int count, double tick, bool begins);
  void end_tick(double tick);
  void book_joint(std::size_t joint, double tick);

  // The phases of substeps().
  void detect_contacts(double step, int now, int count, const Flocks::EndOfTick& end);
  void detect_contacts_of_alarmed(double step, int now, double time_left, const Flocks::EndOfTick& end);
  void detect_hasty_contacts(double step);
  int advance_groups(double step, int substeps, int left);
  void advance_groups(double step);
  void move_kinematic_bodies(double step);

  template <class Work>
  void for_each(std::size_t count, const Work& work);
  void raise_alarms(double time_left);
  void take_over_joints();
  bool driven_stiffly(std::size_t body) const;
  StepStatus problem_with_contacts() const;
  bool sound(const ContactPoint& contact) const;
  bool joint_awake(std::size_t joint) const;
  void touch_joint(std::size_t index);
  void wake(std::size_t body);
  void wake_all();
  void wake_touching(std::size_t body);
  void wake_commanded();
  void write_out_plane_contacts();
  void list_bodies();

  Work work_;
  World world_;
  double max_substep_;
  double step_ = 1;  // s, the last substep's length
  ThreadPool* threads_;
  ShapeCache shape_cache_;
  std::vector<std::shared_ptr<const Shape>> shapes_;  // by body index; null: touches nothing
  Topology topology_;
  Detector detector_;
  ContactSolver contacts_;
  PlaneContacts planes_;
  Flocks flocks_;
  std::vector<Twist> seen_;             // velocities when their contacts were last looked for, by body
  std::vector<std::uint8_t> alarmed_;   // by body: hit so hard since that it may get where nobody looked
  bool alarm_ = false;                  // anybody is
  std::vector<Flocks::Judged> judged_;  // by body, of the flocks that were just committed
  std::vector<int> near_;               // bodies that an alarmed one may reach
  bool bodies_changed_ = true;          // since these were listed
  std::vector<std::size_t> kinematic_;  // bodies that are moved from outside
  std::vector<std::uint8_t> moves_;     // by body: it does, freely or from outside
  Vec3 weighed_;                        // the gravity of Body::weight
  // By body and by joint: what the end of the tick does has been done.
  std::vector<std::uint8_t> body_ended_, joint_ended_;
  std::vector<MotorCommand> commands_;  // of the last tick, by joint index
  Vec3 gravity_;                        // of the last tick
  double collision_s_ = 0;              // no part of the state
};

}  // namespace volvox::physics::native
