// An island with loops: rings, sheets and lattices of docks, or a body that hangs on the
// world twice. Joints are stiff springs and dampers instead of exact constraints, so that what
// is over-determined has one answer, and the loads share themselves out:
//
//   (M + sum J^T K J) v = z + sum J^T (K beta + drives)
//
// solved by a sparse factor L L^T, whose Y = L^-1 J^T contacts use as they use a tree's.
// SI units, world frame. Islands share nothing that changes, so that threads solve several at once.
#pragma once

#include <span>
#include <vector>

#include "volvox/physics/native/island.h"
#include "volvox/physics/native/sparse_factor.h"
#include "volvox/physics/native/tree_kernel.h"

namespace volvox::physics::native {

class Loop final : public Island {
 public:
  // Bodies and joints by index, sorted.
  Loop(const World& world, std::vector<int> bodies, std::vector<int> joints);

  void predict(World& world, double step, ThreadPool* threads) override;
  Vec3 predicted_velocity(int node, const Vec3& arm) const override;
  void whiten(std::span<const int> nodes, ThreadPool* threads) override;
  void clear_coordinates() override;
  std::span<const double> coordinates() const override { return coordinates_; }
  NodeRows node_rows(int node, bool whole) const override;
  RowSpan span(int node) override;
  void write_rows(int node, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add, bool whole,
                  double* rows) const override;
  void add_cross_terms(int part_a, const double* rows_a, int part_b, const double* rows_b, double (&gram)[6]) override;
  Verdict take_up(World& world, ThreadPool* threads) override;
  void predict_again(World& world, ThreadPool* threads) override;
  void finish(World& world, double step, ThreadPool* threads) override;

 private:
  struct Link {
    int joint = -1;
    int a = -1, b = -1;   // nodes; -1: ground
    NodeShape shape;      // b as the child of a
    Node<double> motion;  // of b against a: r and beta, and where b is
    Dof<double> dofs[3];
    Block6 stiffness;        // K, for b's motion against a at b's centre of mass
    Spatial<double> drive;   // K beta and what the drives push
    Spatial<double> ground;  // the velocity that ground would give b, if a is ground
  };

  void add_link(const World& world, int joint);
  void choose_stiffness();
  void load(World& world, double step);
  void load_link(World& world, Link& link, double step);
  void tell_drives(World& world, double step);
  void solve_and_settle(World& world);
  void load_stiffness(const World& world, Link& link);
  void assemble();
  void solve(World& world);
  bool settle_drives(World& world, DrivePass pass);
  Spatial<double> velocity(int node) const;
  Spatial<double> relative_velocity(const Link& link) const;
  double axis_speed(const Link& link, int dof, const Spatial<double>& relative) const;
  Spatial<double> passed_impulse(const Link& link) const;
  Support<double> support(const World& world, const Link& link) const;

  std::vector<Link> links_;
  std::vector<Node<double>>
      nodes_;  // state and outside impulses; the new velocity in `fresh`, what contacts change it by in `passed`
  std::vector<NodeShape> shapes_;  // mass and moments
  SparseFactor factor_;
  double linear_stiffness_ = 0, angular_stiffness_ = 0;

  std::vector<Vec6> x_;
  std::vector<double> rows_;            // six rows of every touched node
  std::vector<std::size_t> first_row_;  // by node
  std::vector<double> coordinates_;
  bool touched_ = false;
};

}  // namespace volvox::physics::native
