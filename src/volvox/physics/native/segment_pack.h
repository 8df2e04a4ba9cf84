// Segments of one pattern side by side in lanes, of one tree (long_tree.h). From the first substep of a tick to its end
// their state is kept here: bodies are written in every substep, joints and drives at the end of the tick.
//
// Lanes may be empty: they do what the first that is taken does, so that what a pack answers does not depend on its
// width, or on which lanes are taken.
// SI units, world frame. A pack is one thread's business.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "volvox/physics/native/island.h"
#include "volvox/physics/native/segment.h"

namespace volvox::physics::native {

class SegmentPack {
 public:
  static constexpr int most_lanes = 8;

  explicit SegmentPack(std::shared_ptr<const SegmentPattern> pattern) : pattern_(std::move(pattern)) {}
  virtual ~SegmentPack() = default;
  SegmentPack(const SegmentPack&) = delete;
  SegmentPack& operator=(const SegmentPack&) = delete;
  // Of 1, 4 or 8 lanes.
  static std::unique_ptr<SegmentPack> make(std::shared_ptr<const SegmentPattern> pattern, int lanes);
  // As many as the registers of this machine hold.
  static int lanes_of_machine();

  virtual int lanes() const = 0;
  int taken() const { return taken_; }
  std::size_t room() const { return pattern_->places.size() * static_cast<std::size_t>(lanes()); }
  const std::shared_ptr<const SegmentPattern>& pattern() const { return pattern_; }
  // The segment of a lane, or the one that an empty lane repeats.
  Segment& shown(int lane) const { return *shown_[static_cast<std::size_t>(lane)]; }
  Segment* owner(int lane) const { return owners_[static_cast<std::size_t>(lane)]; }

  // Into any lane that is empty; out of its lane. Then prepare(), once, before anything else.
  void take(Segment& segment);
  void drop(Segment& segment);
  void prepare();

  virtual SegmentAnswer run(SegmentStage stage, const SegmentOrder& order) = 0;
  // `ground`: what a tree hangs on whose root has a joint.
  virtual void load_state(const World& world, double step) = 0;
  virtual void load_above(const World& world, const Support<double>& ground) = 0;
  virtual void load_drags(std::span<const V3<double>> drags, std::span<const std::size_t> first) = 0;
  virtual void load_latches(World& world, double step) = 0;
  virtual void load_coordinates() = 0;
  virtual void add_pushes(const World& world) = 0;
  virtual void commit_bodies(World& world) const = 0;
  virtual void commit_joints(World& world) const = 0;
  // `tensions`: by node of the tree; `first`: of a segment, by its order.
  virtual void read_tensions(std::span<double> tensions, std::span<const std::size_t> first) const = 0;

  // Where a segment meets the rest of the tree.
  struct Seen {
    SixBySix d, phi, g;
    Spatial<double> z;
    double c[6];
  };
  virtual void see(int lane, Seen& seen) const = 0;
  virtual void put_end(int lane, const S6<double>& d, const Spatial<double>& z) = 0;
  virtual void put_fresh(int lane, const Spatial<double>& v) = 0;
  virtual void put_change(int lane, const Spatial<double>& v) = 0;
  virtual void put_passed(int lane, const Spatial<double>& z) = 0;
  virtual Spatial<double> end_change(int lane) const = 0;
  virtual Spatial<double> passed(int lane) const = 0;
  virtual V3<double> reach(int lane) const = 0;
  virtual Spatial<double> predicted(int lane, int node) const = 0;
  virtual void joint_factor(int lane, int node, JointFactor& out) const = 0;

  bool stale = true;  // what the tree saw of it is not what it would see
  int visits = 0;     // while lanes are shared out: how many of its segments belong to the tree

 protected:
  virtual void load_shapes(int lane, const Segment& segment) = 0;

  std::shared_ptr<const SegmentPattern> pattern_;
  std::array<Segment*, most_lanes> owners_{}, shown_{};  // by lane; null: an empty one, nothing is loaded
  int taken_ = 0;
};

}  // namespace volvox::physics::native
