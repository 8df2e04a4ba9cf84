// Bodies that joints and docks connect, solved together and directly. Two kinds: a Tree (by
// the articulated recursion) and a Loop (by a sparse factor). Contacts see both in the same
// way: through whitened coordinates, in which the response of any two of its bodies to
// impulses is a plain product, W_ij = Y_i Y_j^T.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/body.h"
#include "volvox/physics/native/drive.h"
#include "volvox/physics/native/tree_kernel.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {

// A joint as it lies between two principal frames.
struct JointFrames {
  Pose a, b;  // frame_a in a's principal frame (or the world's), frame_b in b's
};

// The world as islands see it, for one substep.
struct World {
  System& system;
  std::vector<Body> bodies;                          // by body index
  std::vector<JointFrames> frames;                   // by joint index
  std::vector<std::array<Drive<double>, 3>> drives;  // by joint index: motors and friction
  std::vector<double> tensions;                      // by joint index: the force it passed on in the last substep
  std::vector<Wrench> load_impulses;                 // by joint index, of the tick so far, in a's principal axes
  std::vector<double> motor_impulses;                // by joint index, of the tick so far
  std::uint64_t tick = 0;                            // counts them
};

JointFrames joint_frames(const World& world, std::size_t joint);
// A body as a node without a joint; one that hangs on another, or on the ground, by a joint. The rest (its parent, its
// first dof) is up to who lays the nodes out.
NodeShape body_shape(const World& world, int body);
NodeShape node_shape(const World& world, int body, int joint);
// Where a body is, by its principal frame; the world's if there is none.
Pose support_pose(const World& world, BodyId id);

// What a root with a joint hangs on.
struct Ground {
  BodyId body;  // invalid: the world
  Support<double> state{{0, 0, 0}, {1, 0, 0, 0}, rotation_matrix(Q4<double>{1, 0, 0, 0}), {}};
  void load(const World& world);
};

// One side of a contact: three rows (along the normal and the two tangents) in the whitened
// coordinates of a part of an island.
struct RowSpan {
  double* coordinates = nullptr;  // the accumulator a of the part
  int width = 0;                  // a multiple of row_block
  int part = 0;                   // which part of the island
  const int* blocks = nullptr;    // which blocks of the coordinates the rows are for; null: the first ones
};

// Six rows, those of a node's angular and linear velocity, `stride` apart; of each some blocks; null: the first ones.
struct NodeRows {
  const double* rows = nullptr;
  int stride = 0;
  const int* blocks = nullptr;
};

class Island {
 public:
  explicit Island(std::vector<int> bodies) : bodies_(std::move(bodies)) {}
  virtual ~Island() = default;

  // Body indices; the order is the island's own.
  const std::vector<int>& bodies() const { return bodies_; }
  // Whether it hangs on the world, or on what stands or is moved from outside: a hand holds it, or it is bolted down.
  bool anchored() const { return anchored_; }

  // What follows may be shared out to the threads, if there are any.
  // Velocities at the end of the substep, with the contact impulses in Body::push.
  virtual void predict(World& world, double step, ThreadPool* threads) = 0;
  virtual Vec3 predicted_velocity(int node, const Vec3& arm) const = 0;

  // Coordinates become zero.
  virtual void clear_coordinates() = 0;
  // All of them, of an island of one part.
  virtual std::span<const double> coordinates() const = 0;
  // How many of them rows may use, of an island of one part: those behind are zero in all rows.
  virtual int used_columns() const { return static_cast<int>(coordinates().size()); }
  // What the rows of a node follow from that was made ready, of an island of one part: how coordinates change its
  // velocity. `whole`: see write_rows().
  virtual NodeRows node_rows(int node, bool whole) const = 0;
  // Makes ready for contacts on the given nodes (some perhaps more than once).
  virtual void whiten(std::span<const int> nodes, ThreadPool* threads) = 0;
  virtual RowSpan span(int node) = 0;
  // Of rows that add up those of this node and of another one of its part.
  virtual RowSpan whole_span(int node) { return span(node); }
  // Sets three rows that lie one behind the other (span(), or whole_span() of a node) to
  // sign * e_r.(Yv + Yw x arm) of a node, or adds it to them.
  virtual void write_rows(int node, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add, bool whole,
                          double* rows) const = 0;

  // Long trees are cut into parts; a contact may work on the current part only.
  virtual void move_to(int /*part*/) {}
  virtual int parts() const { return 1; }
  virtual int part_above(int /*part*/) const { return -1; }
  // 2 x the product of rows of two parts of this island, for the six entries of a 3x3 matrix.
  virtual void add_cross_terms(int /*part_a*/, const double* /*rows_a*/, int /*part_b*/, const double* /*rows_b*/,
                               double (&/*gram*/)[6]) {}

  // What the coordinates change the velocities by; finish() takes it in. Unless all drives do
  // what was expected, they were corrected, and the island must be predicted again.
  virtual Verdict take_up(World& world, ThreadPool* threads) = 0;
  // As predict(), in the same substep, with drives corrected by take_up().
  virtual void predict_again(World& world, ThreadPool* threads) = 0;

  // Moves the bodies, books loads and motors. Body::push is by now what the contacts gave in
  // the end.
  virtual void finish(World& world, double step, ThreadPool* threads) = 0;
  // The end of a tick: what it kept to itself of joints and drives is written to the world.
  virtual void commit_joints(World& /*world*/, ThreadPool* /*threads*/) const {}

 protected:
  // Where a body is, how it moves, and what acts on it from outside in a substep.
  static void load_state(const World& world, int body, double step, Node<double>& node);
  // What bodies that nothing holds fall less in a substep than their velocity at its end says, a h^2 / 2: they keep to
  // their parabolas. (What is held rests where its velocity is zero.)
  Vec3 outer_fall(const World& world, double step) const;
  // Moves a body by its new velocity.
  static void advance(Body& body, const Spatial<double>& velocity, const S3<double>& inertia, double step,
                      const Vec3& fall);
  // A joint's body a: where it is, and where on it the joint is.
  struct Holder {
    const V3<double>& x;
    const M3<double>& axes;
    const Vec3& anchor;
  };
  // Books what a joint passed on to its body b, an impulse at a point.
  static void book_load(World& world, int joint, const Spatial<double>& passed, const V3<double>& at, const Holder& a,
                        double step);

  std::vector<int> bodies_;
  bool anchored_ = false;
};

}  // namespace volvox::physics::native
