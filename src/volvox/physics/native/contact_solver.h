// Contacts of all islands: an exact Gauss-Seidel sweep in whitened coordinates. Each island
// keeps the sum a of what its contacts did to it; a contact's velocity is then
//   v = v0 + y_A.a_A + y_B.a_B        (y: its rows in the islands' coordinates)
// and an impulse d adds y d to a. Neither adhesion nor a breach of the friction cone can
// remain: every impulse is projected when it is made.
#pragma once

#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/contact.h"
#include "volvox/physics/native/island.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {

using Islands = std::vector<std::unique_ptr<Island>>;  // null: a free slot

class ContactSolver {
 public:
  // A group of contacts is swept until it settles, but no more often than its size allows;
  // the largest may be swept this often.
  static constexpr std::size_t fewest_sweeps = 8;

  std::vector<ContactPoint>& points() { return points_; }
  const std::vector<ContactPoint>& points() const { return points_; }

  // 1. Geometry at the present poses; Body::push becomes the sum of the last impulses.
  void refresh(World& world, double step, ThreadPool* threads);
  // 2. After the islands have predicted their velocities: rows, and the order of the sweep.
  void prepare(World& world, Islands& islands, double step, ThreadPool* threads);
  // 3. Solves; Body::push becomes the change of the impulses.
  void solve(World& world, Islands& islands, ThreadPool* threads);

 private:
  struct Active {
    int point;
    int island_a, node_a, island_b, node_b;  // b: -1 where it is not solved for
    int group = 0;
    int part_a = 0, part_b = 0;
    bool one_part = true;  // no island on either side is cut into parts
  };

  void refresh_point(const World& world, ContactPoint& c, double step) const;
  void collect_active(const World& world);
  void group_islands(std::size_t islands);
  int root_of(int island);
  void whiten_touched(Islands& islands, ThreadPool* threads);
  void lay_out_rows(Islands& islands);
  void fill(const World& world, Islands& islands, std::size_t index, double step);
  void set_target(ContactPoint& c, double predicted, double step) const;
  void sweep_group(Islands& islands, std::size_t group);
  double solve_one(Islands& islands, std::size_t index);

  std::vector<ContactPoint> points_;
  std::vector<Active> active_;                 // in the order of the sweep
  std::vector<RowContact> hot_;                // the same contacts, as the sweep wants them
  std::vector<std::size_t> group_first_;       // contacts of independent groups of islands
  std::vector<int> group_islands_;             // how many islands each group has
  std::vector<int> parent_, members_;          // union-find over islands
  std::vector<std::vector<int>> touched_;      // by island: nodes with contacts
  std::vector<int> touched_islands_;
  std::vector<double> rows_;
  std::vector<Vec3> before_;
  double step_ = 0;
};

}  // namespace volvox::physics::native
