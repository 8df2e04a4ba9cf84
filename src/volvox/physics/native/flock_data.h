// Trees side by side, as the kernels of a substep see them: plain arrays of somebody else, so that the same text is
// compiled for the processor (flock.h owns the arrays) and for GPUs (../cuda).
#pragma once

#include <cstddef>
#include <cstdint>

#include "volvox/physics/native/drive.h"
#include "volvox/physics/native/spatial.h"
#include "volvox/physics/native/tree_kernel.h"

namespace volvox::physics::native {

// An array of somebody else. (The functions of std::span are not inlined for certain: see kernel_surroundings.h.)
template <class E>
struct Row {
  E* first = nullptr;
  std::size_t count = 0;
  VOLVOX_KERNEL E& operator[](std::size_t i) const { return first[i]; }
  VOLVOX_KERNEL E* begin() const { return first; }
  VOLVOX_KERNEL E* end() const { return first + count; }
  VOLVOX_KERNEL E* data() const { return first; }
  VOLVOX_KERNEL std::size_t size() const { return count; }
};

// What adds up from substep to substep is Exact: taken out of the lanes and put into them again, it is as it was, so
// that it does not matter where a tree is stopped on its way. (The rest is T wherever it comes from.)
template <class T>
struct FlockBody {
  alignas(lane_alignment<T>) V3<Exact<T>> x;
  Q4<Exact<T>> q;
  Spatial<Exact<T>> v;
  V3<Exact<T>> spin;
  V3<T> weight;
  Spatial<T> outside;  // impulse of a substep from outside, weight and all
  Spatial<T> seen;     // the velocity at the last detection
  V3<T> axle;          // of its shape
  T swing;             // the same: see Shape
  T shaped;            // 1; 0: it has no shape, and touches nothing
};

template <class T>
struct FlockJoint {
  alignas(lane_alignment<T>) Exact<T> position;
  T velocity, tension;
  T motor;          // impulse since the start of the tick
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
  V3<T> on_a;                       // in the body's frame
  V3<Exact<T>> on_b;                // in the world
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

// What all trees of a pattern share: see TreeColumns.
struct FlockPlan {
  Row<const NodeShape> shapes;
  Row<const int> columns;
  Row<const std::size_t> first;
  Row<const int> own;
  int total = 0, most = 0;
  double safe_pull = 0;
  VOLVOX_KERNEL int count(std::size_t node) const { return static_cast<int>(first[node + 1] - first[node]); }
};

template <class T>
struct FlockView {
  FlockPlan plan;
  alignas(sizeof(T)) MaskOf<T> used{};
  Row<FlockBody<T>> bodies;       // by node
  Row<FlockJoint<T>> joints;      // by node
  Row<Drive<T>> drives;           // by dof
  Row<FlockContact<T>> contacts;  // by node
};

// The contacts that take part in a substep; `all` has room for every one.
template <class T>
struct ActiveContacts {
  FlockContact<T>** all = nullptr;
  std::size_t count = 0;
  VOLVOX_KERNEL void clear() { count = 0; }
  VOLVOX_KERNEL void push_back(FlockContact<T>* c) { all[count++] = c; }
  VOLVOX_KERNEL bool empty() const { return count == 0; }
  VOLVOX_KERNEL FlockContact<T>** begin() const { return all; }
  VOLVOX_KERNEL FlockContact<T>** end() const { return all + count; }
};

// Room for the flock that a thread works at.
template <class T>
struct FlockRoomView {
  Row<Node<T>> nodes;
  Row<Dof<T>> dofs;
  InverseFactor<T>& root;
  Row<T> y, rows, coordinates;
  Row<T> touches;          // by node: contacts that take part
  Row<MaskOf<T>> carried;  // by node: one of them has an impulse from the last substep
  Row<Spatial<T>> push;    // by node
  ActiveContacts<T> active;
  Row<std::uint8_t> wanted;  // by node: on the way from the root to a contact
  void* alone = nullptr;     // SweepRows of a tree alone, see FlockStep
};

}  // namespace volvox::physics::native
