// Small trees that touch nothing but what stands still, moved from one detection to the next
// on their own: nobody else can matter to them meanwhile. Trees of one pattern go side by
// side, a lane each; one that is left over goes through the same code alone, with the same
// bits. The method is that of Tree and ContactSolver, but that a motor which contacts overload is
// capped in the next substep, not solved again: against the ground alone nothing jams for long.
#pragma once

#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/contact_solver.h"
#include "volvox/physics/native/detector.h"
#include "volvox/physics/native/shape.h"
#include "volvox/physics/native/tree.h"

namespace volvox::physics::native {

template <class T>
struct FlockBody {
  alignas(sizeof(T)) V3<T> x;
  Q4<T> q;
  Spatial<T> v;
  V3<T> spin;
  V3<T> weight;
  Spatial<T> outside;  // impulse of a substep from outside, weight and all
  Spatial<T> seen;     // the velocity at the last detection
  V3<T> axle;          // of its shape
  T swing;             // the same: see Shape
};

template <class T>
struct FlockJoint {
  alignas(sizeof(T)) T position;
  T velocity, tension;
  T motor;          // impulse since the last detection
  Spatial<T> load;  // the same, in the principal axes of the joint's body a
};

template <class T>
struct FlockContact {
  using Mask = MaskOf<T>;
  int node = 0;                     // of all lanes
  bool steady = true;               // no lane's normal moves
  bool rolls = false;               // some lane's point is on a wheel
  alignas(sizeof(T)) Mask there{};  // which lanes have a contact here
  Mask turns{};                     // the normal is fixed to the tree's body
  Mask centres{};                   // the normal follows the two points
  V3<T> on_a, on_b;                 // in the body's frame, in the world
  V3<T> normal;
  T radius, radius_a, friction, restitution;
  T rim;
  V3<T> outward;  // in the world
  V3<T> impulse;  // in world axes
  T rebound;

  // Of the substep.
  Mask active{}, guessed{}, bounces{};
  T separation, approach, next_rebound;
  V3<T> frame[3], arm;
  // Of the sweep: see RowContact.
  T along[3], free[3];
  T target, keep, normal_gain, tangent_gain, gram[6];
  T* rows = nullptr;  // three, one behind the other
};

template <class T>
struct Flock {
  std::vector<FlockMember> members;  // at most as many as there are lanes
  alignas(sizeof(T)) MaskOf<T> used{};
  LaneVector<FlockBody<T>> bodies;       // by node
  LaneVector<FlockJoint<T>> joints;      // by node
  LaneVector<Drive<T>> drives;           // by dof
  LaneVector<FlockContact<T>> contacts;  // by node
  int moved = 0;                         // substeps since load()

  const Tree& pattern() const { return *members.front().tree; }
};

class Flocks {
 public:
  // After ContactSolver::regroup: takes the groups that can go on their own.
  void gather(const World& world, const Islands& islands, ContactSolver& contacts, const Detector& detector);
  // Moves the flocks by as many substeps; fewer if somebody is hit so hard that contacts must
  // be looked for again. Nothing is written to the world: it can be run anew with fewer.
  int run(const World& world, const std::vector<ContactPoint>& points,
          std::span<const std::shared_ptr<const Shape>> shapes, std::span<const Twist> seen, double step, int substeps,
          double time_left, ThreadPool* threads);
  // Writes the state after so many substeps, no more than run() said.
  void commit(World& world, std::vector<ContactPoint>& points, std::span<const std::shared_ptr<const Shape>> shapes,
              std::span<const Twist> seen, double step, int substeps, ThreadPool* threads);

 private:
  template <class Visit>
  void for_all(ThreadPool* threads, const Visit& visit);

  // Flocks of so many lanes; those past `count` were needed before, and keep their memory.
  template <class T>
  struct Fleet {
    LaneVector<Flock<T>> flocks;
    std::size_t count = 0;

    void add(std::span<const FlockMember> members);
    int least_moved(int substeps) const;
  };

  std::vector<FlockMember> members_;  // sorted by pattern
  Fleet<EightLanes> eights_;          // of trees side by side, one of these two is used: see lanes.h
  Fleet<FourLanes> fours_;
  Fleet<double> singles_;
};

}  // namespace volvox::physics::native
