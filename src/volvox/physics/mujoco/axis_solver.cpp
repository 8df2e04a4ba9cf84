#include "volvox/physics/mujoco/axis_solver.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/base/math.h"

namespace volvox::physics::mujoco {
namespace {

constexpr int most_sweeps = 200;
constexpr double converged = 1e-10;  // m/s or rad/s

}  // namespace

// Trees are independent: one solve with the mass matrix gives the response to one dof of each tree.
void AxisSolver::read_response(const mjModel* model, mjData* data, const std::vector<AxisRow>& rows) {
  trees_.clear();
  place_.resize(rows.size());
  int last_root = -1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int root = model->body_rootid[model->dof_bodyid[rows[i].dof]];
    if (trees_.empty() || root != last_root) trees_.push_back({i, 0, {}, {}});
    last_root = root;
    Tree& tree = trees_.back();
    ++tree.count;
    if (tree.dofs.empty() || tree.dofs.back() != rows[i].dof) tree.dofs.push_back(rows[i].dof);
    place_[i] = narrow<int>(tree.dofs.size()) - 1;
  }
  std::size_t most = 0;
  for (Tree& tree : trees_) {
    most = std::max(most, tree.dofs.size());
    tree.response.assign(tree.dofs.size() * tree.dofs.size(), 0);
  }
  const std::size_t size = model->nv;
  unit_.assign(size, 0), answer_.assign(size, 0);
  for (std::size_t k = 0; k < most; ++k) {
    std::fill(unit_.begin(), unit_.end(), 0);
    for (const Tree& tree : trees_) {
      if (k < tree.dofs.size()) unit_[tree.dofs[k]] = 1;
    }
    mj_solveM(model, data, answer_.data(), unit_.data(), 1);
    for (Tree& tree : trees_) {
      const std::size_t n = tree.dofs.size();
      for (std::size_t i = 0; k < n && i < n; ++i) tree.response[i * n + k] = answer_[tree.dofs[i]];
    }
  }
}

// Rows are sorted by dof, so the rows of a tree are contiguous.
void AxisSolver::solve(const mjModel* model, mjData* data, double step, const std::vector<double>& velocity,
                       std::vector<AxisRow>& rows) {
  if (rows.empty()) return;
  read_response(model, data, rows);
  std::vector<double> speed;
  for (const Tree& tree : trees_) {
    const std::size_t n = tree.dofs.size();
    speed.resize(n);
    for (std::size_t i = 0; i < n; ++i) speed[i] = velocity[tree.dofs[i]];
    const auto push = [&](std::size_t at, double force) {
      for (std::size_t i = 0; i < n; ++i) speed[i] += step * tree.response[i * n + at] * force;
    };
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      double change = 0;
      for (std::size_t r = tree.first; r < tree.first + tree.count; ++r) {
        AxisRow& row = rows[r];
        const std::size_t at = place_[r];
        const double answer = step * tree.response[at * n + at];
        const double wanted = row.force + (row.target - speed[at] - row.softness * row.force) / (answer + row.softness);
        const double force = clamp(wanted, row.lower, row.upper);
        change = std::max(change, std::fabs(force - row.force) * answer);
        push(at, force - row.force);
        data->qfrc_applied[row.dof] += force - row.force;
        row.force = force;
      }
      if (change < converged) break;
    }
  }
}

}  // namespace volvox::physics::mujoco
