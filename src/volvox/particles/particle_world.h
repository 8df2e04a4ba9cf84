// Water, grains and cloth in one solver: positions are predicted, corrected and turned into velocities, in substeps of
// at most 1/480 s with one correction each (docs/decisions/0060). SI units.
//
// Deterministic: the same calls give the same bits at any number of threads, on every instruction set, and after a
// snapshot. Particles move in memory; ids do not change. Spans hold until the next call that is not const.
//
// Threads: one caller at a time; const functions may run side by side. With a device, the first call that reads
// particles fetches them into the world's own arrays, while others wait; the state does not change by that. The world
// owns its particles and shapes, shares fields, terrains and the device, and uses the thread pool of its options, which
// must outlive it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/check.h"
#include "volvox/base/math.h"
#include "volvox/base/result.h"
#include "volvox/base/thread_pool.h"
#include "volvox/particles/device.h"
#include "volvox/particles/fluid.h"
#include "volvox/particles/neighbours.h"
#include "volvox/particles/shapes.h"
#include "volvox/particles/solids.h"
#include "volvox/particles/threads.h"

namespace volvox::particles {

struct WorldOptions {
  Vec3 gravity{0, 0, -9.81};
  // What leaves this box is drained: removed and counted.
  Vec3 low{-100, -100, -100}, high{100, 100, 100};
  double max_substep = 1.0 / 480;  // s; a tick is divided into the fewest equal substeps that are not longer
  // Contacts are as stiff as a substep allows. The lowest grains of a heap of so many layers (of the smallest grains)
  // shall overlap by at most 2 % of their diameter, which may need shorter substeps. 0: whatever max_substep brings.
  double heap_layers = 20;
  FluidDesc fluid{};              // one fluid a world
  double rolling_resistance = 0;  // of grains: the torque that it takes to roll, over normal force and radius
  double air_drag = 0;            // of grains and cloth: the part of its velocity that one loses in a second
  ThreadPool* threads = nullptr;  // may be null
  std::shared_ptr<const Device> device = nullptr;  // null: the processor. Where it fails, the processor goes on
  std::size_t least_on_device = 0;                 // with fewer particles when a tick begins, the processor moves them
  struct Drain {
    Pose pose;       // of the middle of a box
    Vec3 half_size;  // m
  };
  std::vector<Drain> drains{};  // what is in one of these boxes at the beginning of a tick is drained, too
};

struct GrainDesc {
  double radius = 0.01;   // m
  double density = 2500;  // kg/m^3
  double friction = 0.5;  // with others: the geometric mean of both
};

// A rectangle of points, `columns` along the first edge and `rows` along the second.
struct ClothDesc {
  Vec3 corner{}, along_columns{1, 0, 0}, along_rows{0, 1, 0};  // corner and edges, m
  int columns = 2, rows = 1;                                   // points; 1: a rope
  double density = 0.3;                                        // kg/m^2; of a rope kg/m
  double friction = 0.4;
  double thickness = 0;          // m; 0: what the distance of its points allows
  double stretch = 1e5;          // stiffness of a thread between two points, N per part of its length
  double shear = 1e3, bend = 1;  // the same of diagonals, and from a point to the next but one
  double strength = 0;           // N at which a thread tears between two points; 0: never
};

using ShapeIndex = std::uint32_t;

// Whether so many particles would fit into memory and numbers.
Result<void> check_memory(std::size_t particles, std::size_t bytes_each);

class ParticleWorld {
 public:
  static Result<std::unique_ptr<ParticleWorld>> create(const WorldOptions& options);

  // All or none of them are added. Errors: bad numbers, points outside the world, too little memory.
  Result<void> add_fluid(std::span<const Vec3> positions, const Vec3& velocity = {});
  // On a grid of the fluid's spacing, half of it away from the faces.
  Result<void> add_fluid_box(const Vec3& low, const Vec3& high);
  Result<void> add_grains(const GrainDesc& desc, std::span<const Vec3> positions, const Vec3& velocity = {});
  // Returns the id of its first point; the others follow, row by row.
  Result<std::uint32_t> add_cloth(const ClothDesc& desc);
  void pin(std::uint32_t solid);                          // a grain or point that stays where it is
  void place(std::uint32_t solid, const Vec3& position);  // moves one that is pinned
  Result<ShapeIndex> add_shape(const ShapeDesc& desc);

  std::size_t shape_count() const { return shapes_.size(); }
  const ShapeDesc& shape(ShapeIndex index) const { return shapes_[checked(index)]; }
  // Error: not a number; the shape stays as it was.
  Result<void> set_shape(ShapeIndex index, const Pose& pose, const Twist& velocity);
  // What the particles gave a shape in the last step: impulse (N s) and its moment about the middle (N m s).
  const Wrench& impulse(ShapeIndex index) const { return impulses_[checked(index)]; }

  // Brings the state to the device before the first step, if there is one and there are particles enough for it.
  // Returns whether the state is on the device.
  bool prepare();
  // One tick of `duration` seconds. Error: a position is no longer a number; the world is then of no use.
  Result<void> step(double duration);
  // The same in parts: lists of neighbours that still hold are used on. `impulse` is then that of the last part.
  Result<void> begin_tick();
  Result<void> advance(double duration);
  void end_tick();  // archive() then only reads, and starts no loops of the thread pool

  // In the order of memory, which changes.
  std::span<const Point> fluid_positions() const { return fetch(), std::span(fluid_.position.data(), fluid_.count); }
  std::span<const Point> fluid_velocities() const { return fetch(), std::span(fluid_.velocity.data(), fluid_.count); }
  std::span<const std::uint32_t> fluid_ids() const { return fetch(), fluid_.id; }
  // Of solids, w: 1 / mass; radius; friction.
  std::span<const Point> solid_positions() const { return fetch(), std::span(solid_.position.data(), solid_.count); }
  std::span<const Point> solid_velocities() const { return fetch(), std::span(solid_.velocity.data(), solid_.count); }
  std::span<const std::uint32_t> solid_ids() const { return fetch(), solid_.id; }
  std::size_t index_of_solid(std::uint32_t id) const { return fetch(), solid_.index[id]; }
  // Of the fluid after the last step: by how much particles are denser than at rest, in the mean, as a part of that
  // density (particles at a surface, which are less dense, count as 0); and the pressure at each particle in the last
  // substep, Pa.
  double density_error() const;
  std::vector<double> pressures() const;

  std::uint64_t drained() const { return drained_; }
  std::uint64_t lists_made() const { return lists_made_; }  // of neighbours, since it was created; no part of the state
  std::uint64_t torn() const { return torn_; }              // threads between two points
  Vec3 momentum() const;                                    // of the particles, kg m/s
  double energy() const;                                    // kinetic and in gravity, of the particles, J
  std::size_t memory_bytes() const;
  bool on_device() const { return device_ != nullptr && device_->loaded; }
  const std::string& device_note() const { return device_note_; }  // why the device was left; empty if it was not

  // Snapshot: the world must have been built by the same calls.
  void archive(Archive& ar);
  std::uint64_t hash();

 private:
  explicit ParticleWorld(const WorldOptions& options);
  Result<void> check_places(std::span<const Vec3> positions, const Vec3& velocity) const;
  Result<void> add_solids(const GrainDesc& desc, std::span<const Vec3> positions, const Vec3& velocity);

  ShapeIndex checked(ShapeIndex index) const {
    VOLVOX_CHECK(index < shapes_.size(), "no such shape");
    return index;
  }

  struct Substeps {
    int count, a_diffusion;
    double dt;
  };
  Result<Substeps> divide(double duration) const;
  double longest_of_grains() const;
  int substeps_a_list(double dt) const;  // of the fluid
  double fluid_skin() const;
  Result<void> not_a_number() const;

  void begin_change();
  bool wants_device() const {
    return device_ != nullptr && !device_failed_ && fluid_.count + solid_.count >= options_.least_on_device;
  }
  void begin_on_device();
  Result<void> advance_on_device(double duration);
  Result<void> step_on_device(const Substeps& substeps);
  DeviceSettings device_settings();
  void fetch() const;  // brings the particles from the device into the arrays
  void take_back();
  void settle();
  Result<void> make_again(const std::string& failure);
  void leave_device(const std::string& why);
  void drop_failed_device();

  // The phases of a substep, in their order.
  Result<void> drain();
  void sort_and_list();
  void diffuse(float duration, float dt);
  void predict(float dt);
  void find_corrections(float dt);  // of what was predicted
  void correct(float dt);
  void pull_threads(float dt);
  void finish(float dt);

  ShapesView shapes_view() { return {views_.data(), views_.size(), partial_.data()}; }
  SolidsView solids_view() const { return {solid_.at.data(), solid_.move.data()}; }
  void carry_shapes(double dt);
  void push_shapes(double dt);
  void archive_added(Archive& ar);
  void archive_fluid(Archive& ar);
  void archive_solids(Archive& ar);
  void list_solids();
  SkinRule skin_rule() const;
  float wet_reach() const;
  void find_drift();
  bool lists_end(double age, double dt);
  // For asserts.
  bool solids_are_sound() const;
  bool touches_are_sound() const;
  void keep_touches();
  void keep_lists_touches();
  void restore_touches();

  WorldOptions options_;
  FluidNumbers numbers_;
  FluidArrays fluid_;
  SolidArrays solid_;
  std::vector<ThreadGroup> groups_;
  std::vector<ShapeDesc> shapes_;
  std::vector<Wrench> impulses_;
  std::uint64_t drained_ = 0, torn_ = 0;
  float largest_radius_ = 0, smallest_grain_ = 0;  // m; 0: there are none

  // Working memory, which is no part of the state.
  Cells cells_;
  SortedPoints sorted_fluid_, sorted_solid_;
  Neighbours fluid_of_fluid_, solid_of_fluid_, fluid_of_solid_, solid_of_solid_;
  std::vector<Vector> listed_at_;  // where solids were when the lists were made, and how fast their mean was
  Vector drift_;
  float skin_now_ = 0;        // the largest
  std::vector<float> skins_;  // how far each may stray before the lists end, m
  Touches touches_;           // by entry of solid_of_solid_
  std::vector<ShapeView> views_;
  std::vector<ShapePart> partial_;  // by block and shape
  std::vector<Point> points_;
  double last_substep_ = 0;  // s
  std::uint64_t lists_made_ = 0;
  int list_substeps_ = 0;      // since the lists were made
  bool touches_kept_ = false;  // by keep_touches, since they last changed
  bool listed_ = false;        // the lists are those of the particles as they lie in memory
  std::unique_ptr<DeviceSide> device_;
  mutable std::recursive_mutex fetching_;
  bool tick_on_device_ = false;  // that goes on
  bool device_failed_ = false, making_again_ = false;
  std::vector<DrainView> drains_;
  std::string device_note_;
};

}  // namespace volvox::particles
