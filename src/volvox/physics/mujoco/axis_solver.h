// Motors, friction, damping and limits of the free axes of trees. MuJoCo's own are explicit
// (actuators) or soft (friction loss, limits); these act as engine.h says: each row is
//   force = clamp((target - velocity at the end of the substep) / softness, lower, upper),
// all rows of a tree solved together through its inverse mass matrix.
// Belongs to one World and its thread; keeps buffers only. Rows are solved in their order: deterministic.
#pragma once

#include <mujoco/mujoco.h>

#include <vector>

namespace volvox::physics::mujoco {

struct AxisRow {
  int dof = 0;
  double target = 0, softness = 0;
  double lower = -1e300, upper = 1e300;
  double force = 0;  // in: the force that acts already; out: the solution
};

class AxisSolver {
 public:
  // Solves for the forces of the rows and adds their change to qfrc_applied. `velocity`: by dof, at the end of the
  // substep with the forces that act already.
  void solve(const mjModel* model, mjData* data, double step, const std::vector<double>& velocity,
             std::vector<AxisRow>& rows);

 private:
  void read_response(const mjModel* model, mjData* data, const std::vector<AxisRow>& rows);

  struct Tree {
    std::size_t first = 0, count = 0;  // of its rows
    std::vector<int> dofs;             // that its rows act on
    std::vector<double> response;      // dofs x dofs of the inverse mass matrix
  };
  std::vector<Tree> trees_;
  std::vector<int> place_;  // by row: which of its tree's dofs
  std::vector<double> unit_, answer_;
};

}  // namespace volvox::physics::mujoco
