// A system as a MuJoCo model, advanced by substeps. The topology of a MuJoCo model is fixed: after bodies, joints or
// docks were added or removed, a new model is made before the next substep, with the same poses, and with velocities
// that conserve momentum.
// Owns model and data of MuJoCo; the system must outlive it. One thread; SI units. Deterministic.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>
#include <vector>

#include "volvox/physics/mujoco/axis_solver.h"
#include "volvox/physics/mujoco/mjcf.h"
#include "volvox/physics/sweep.h"

namespace volvox::physics::mujoco {

class World {
 public:
  World(System& system, const Sweep& sweep) : system_(system), sweep_(sweep) {}

  void change_topology() { model_.reset(); }
  void change_state() { placed_ = false; }
  // The rest is in the system; a new model is made from it.
  void archive(Archive& ar);

  void begin_tick();
  // Updates poses and velocities of the system, and in the last substep its contacts. Not ok: MuJoCo refused the model
  // or reported an error, or a number is not finite.
  StepStatus substep(double step, bool last);
  void end_tick(double tick);

 private:
  static constexpr std::size_t row_slots = 8;  // motor, limit, three of friction, three of damping
  struct FreeModel {
    void operator()(mjModel* m) const { mj_deleteModel(m); }
  };
  struct FreeData {
    void operator()(mjData* d) const { mj_deleteData(d); }
  };
  struct Axis {
    std::size_t joint;
    int dof, place, dofs;  // place: in qpos
  };
  struct Collider {
    std::size_t body, index;
  };

  StepStatus advance(double step, bool last);
  StepStatus build();
  bool ran_out_of_room() const;
  void index_model();
  void fill_fields();
  void place_bodies();
  void project_velocities();

  void apply_forces();
  void apply(std::size_t body, const Vec3& force, const Vec3& torque, const Vec3& point);
  void pull_docks(double step);
  void pull_dock(std::size_t joint, double step);
  void edit_contacts();
  void set_rows(double step);
  void add_axis_rows(const Axis& axis, double step);
  void add_motor_row(AxisRow row, std::size_t joint, double step);
  void add_limit_row(AxisRow row, std::size_t joint, double step);
  void add_row(AxisRow row, std::size_t joint, int slot);
  void solve_forces(double step);
  void integrate(double step);
  void turn_free_body(std::size_t body, const Quat& before, double step);
  bool free_and_alone(std::size_t body) const;
  int dof_of(std::size_t body) const { return model_->body_dofadr[id(body)]; }
  double* free_place(std::size_t body) { return data_->qpos + model_->jnt_qposadr[model_->body_jntadr[id(body)]]; }
  void read_bodies();
  struct Momentum {
    Vec3 linear, angular;  // angular about the world's origin
  };
  Momentum momentum_of(const std::vector<std::size_t>& tree) const;
  Momentum pushed(const std::vector<std::size_t>& tree) const;
  bool floats(const std::vector<std::size_t>& tree) const;
  void keep_momentum(const std::vector<std::size_t>& tree, const Momentum& wanted);
  void read_loads(double step);
  Wrench load_of_tree_joint(std::size_t body) const;
  void read_contacts();
  int id(std::size_t body) const { return body_ids_[body]; }
  Pose frame_pose(std::size_t body) const;

  System& system_;
  const Sweep& sweep_;
  std::unique_ptr<mjModel, FreeModel> model_;
  std::unique_ptr<mjData, FreeData> data_;
  std::unique_ptr<Forest> forest_;
  bool placed_ = false;
  std::uint64_t room_ = 0;                       // for contacts: MuJoCo's memory grows with its square
  std::vector<int> body_ids_;                    // MuJoCo's, by body index; 0: none
  std::vector<Collider> colliders_;              // by MuJoCo's geom
  std::vector<Axis> axes_;                       // sorted by dof
  std::vector<std::vector<std::size_t>> trees_;  // free trees of several bodies; roots first
  AxisSolver solver_;
  std::vector<AxisRow> rows_;
  std::vector<int> row_of_motor_;  // by joint index; -1: none
  std::vector<double> kept_;       // forces of the rows of the last substep, by row_slots * joint + slot
  std::vector<int> slots_;         // by row
  std::vector<double> velocity_;
  std::vector<Wrench> pulls_;  // by joint index: on b at frame_a's origin, world axes
  std::vector<Wrench> loads_;  // times substep, of the tick so far
  std::vector<double> motor_impulses_;
};

}  // namespace volvox::physics::mujoco
