#include "volvox/physics/native/segment_pack.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/isa.h"
#include "volvox/physics/native/latch.h"
#include "volvox/physics/native/segment_join.h"

namespace volvox::physics::native {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

using native::put;

template <class T>
void put(Spatial<T>& all, int lane, const Spatial<double>& v) {
  put(all.a.x, lane, v.a.x), put(all.a.y, lane, v.a.y), put(all.a.z, lane, v.a.z);
  put(all.l.x, lane, v.l.x), put(all.l.y, lane, v.l.y), put(all.l.z, lane, v.l.z);
}
template <class T>
Spatial<double> take_spatial(const Spatial<T>& all, int lane) {
  return {{native::take(all.a.x, lane), native::take(all.a.y, lane), native::take(all.a.z, lane)},
          {native::take(all.l.x, lane), native::take(all.l.y, lane), native::take(all.l.z, lane)}};
}
template <class T>
void put(S3<T>& all, int lane, const S3<double>& v) {
  put(all.xx, lane, v.xx), put(all.xy, lane, v.xy), put(all.xz, lane, v.xz);
  put(all.yy, lane, v.yy), put(all.yz, lane, v.yz), put(all.zz, lane, v.zz);
}
template <class T>
S3<double> take_symmetric(const S3<T>& all, int lane) {
  return {native::take(all.xx, lane), native::take(all.xy, lane), native::take(all.xz, lane),
          native::take(all.yy, lane), native::take(all.yz, lane), native::take(all.zz, lane)};
}
template <class T>
void put(V3<T>& all, int lane, const V3<double>& v) {
  put(all.x, lane, v.x), put(all.y, lane, v.y), put(all.z, lane, v.z);
}
template <class T>
V3<double> take_vector(const V3<T>& all, int lane) {
  return {native::take(all.x, lane), native::take(all.y, lane), native::take(all.z, lane)};
}

template <class T>
class LanePack final : public SegmentPack {
 public:
  explicit LanePack(std::shared_ptr<const SegmentPattern> pattern) : SegmentPack(std::move(pattern)) {
    const std::size_t count = pattern_->places.size(), dofs = at(pattern_->dofs);
    shapes_.resize(count), nodes_.resize(count), loads_.resize(count), dofs_.resize(dofs), drives_.resize(dofs);
    ends_.resize(1), sums_.resize(at(pattern_->slots));
    held_.reserve(count), drag_.reserve(count);
  }

  void load_shapes(int lane, const Segment& segment) override {
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const NodeShape& from = segment.shapes[i];
      SegmentShape<T>& to = shapes_[i];
      put(to.mass, lane, from.mass), put(to.moments, lane, from.moments);
      put(to.anchor_parent, lane, from.anchor_parent), put(to.anchor_child, lane, from.anchor_child);
      put(to.axis_parent, lane, from.axis_parent), put(to.axis_child, lane, from.axis_child);
      put(to.closed, lane, from.closed);
    }
  }

  int lanes() const override { return lane_count<T>; }

  SegmentAnswer run(SegmentStage stage, const SegmentOrder& order) override {
    const bool drags = !held_.empty();
    const SegmentView<T> view{pattern_->places.data(),
                              static_cast<int>(pattern_->places.size()),
                              pattern_->end,
                              shapes_.data(),
                              nodes_.data(),
                              dofs_.data(),
                              drives_.data(),
                              loads_.data(),
                              drags ? held_.data() : nullptr,
                              drags ? drag_.data() : nullptr,
                              ends_.data(),
                              sums_.data()};
    return run_segments(view, stage, order);
  }

  // The start of a tick. Until its end the state is kept here.
  void load_state(const World& world, double step) override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const SegmentPlace& place = pattern_->places[i];
      SegmentNode<T>& n = nodes_[i];
      for_lanes([&](int lane, const Segment& segment) {
        const std::size_t index = at(segment.bodies[i]);
        const Body& body = world.bodies[index];
        const Wrench& force = world.system.forces[index];
        put(n.x, lane, body.position), put(n.q, lane, body.rotation);
        put(n.v.a, lane, body.angular), put(n.v.l, lane, body.linear), put(n.spin, lane, body.spin);
        put(n.outside.a, lane, force.torque * step), put(n.outside.l, lane, (body.weight + force.force) * step);
        for (int k = 0; k < place.dofs; ++k)
          load_drive(world, at(segment.joints[i]), at(k), at(place.first_dof + k), lane);
      });
      loads_[i] = SegmentLoad<T>{};
    }
  }

  void load_above(const World& world, const Support<double>& ground) override {
    for_lanes([&](int lane, const Segment& segment) {
      Support<T>& above = ends_[0].above;
      if (segment.above_body < 0 && segment.joints[0] >= 0) return put_support(above, lane, ground);
      // A free root hangs on something without mass that is where it is.
      const Body& body = world.bodies[at(segment.above_body < 0 ? segment.bodies[0] : segment.above_body)];
      put_support(above, lane,
                  {lane_of(body.position),
                   {body.rotation.w, body.rotation.x, body.rotation.y, body.rotation.z},
                   body.axes,
                   {lane_of(body.angular), lane_of(body.linear)}});
    });
  }

  void load_drags(std::span<const V3<double>> drags, std::span<const std::size_t> first) override {
    held_.resize(drags.empty() ? 0 : nodes_.size()), drag_.resize(held_.size());
    for (std::size_t i = 0; i < drag_.size(); ++i)
      for_lanes([&](int lane, const Segment& segment) { put(drag_[i], lane, drags[first[at(segment.order)] + i]); });
  }

  void load_latches(World& world, double step) override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (pattern_->places[i].type != JointType::dock) continue;
      const double sign = pattern_->places[i].flipped ? -1 : 1;
      for (int lane = 0; lane < lane_count<T>; ++lane) {
        Segment* const segment = owners_[at(lane)];
        if (!segment) continue;
        const int joint = segment->joints[i];
        Spatial<double> beta{};
        if (joint >= 0) {  // a free root's is none
          if (world.system.latches[at(joint)].closed()) continue;
          beta = take_spatial(nodes_[i].beta, lane) * sign;
          load_latch(world, at(joint), step, native::take(nodes_[i].x, lane), beta);
        }
        for (int like = 0; like < lane_count<T>; ++like)
          if (shown_[at(like)] == segment) put(nodes_[i].beta, like, beta * sign);
      }
    }
  }

  void load_coordinates() override {
    for (std::size_t k = 0; k < dofs_.size(); ++k) {
      for_lanes(
          [&](int lane, const Segment& segment) { put(dofs_[k].coordinate, lane, segment.whitened.coordinate(k)); });
    }
  }

  void add_pushes(const World& world) override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for_lanes([&](int lane, const Segment& segment) {
        const Body& body = world.bodies[at(segment.bodies[i])];
        if (any_of(body.push)) put(nodes_[i].own, lane, take_spatial(nodes_[i].own, lane) + body.push);
      });
    }
  }

  void commit_bodies(World& world) const override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const SegmentNode<T>& n = nodes_[i];
      for_owners([&](int lane, const Segment& segment) {
        Body& body = world.bodies[at(segment.bodies[i])];
        body.position = native::take(n.x, lane), body.rotation = native::take(n.q, lane);
        body.linear = native::take(n.v.l, lane), body.angular = native::take(n.v.a, lane),
        body.spin = native::take(n.spin, lane);
      });
    }
  }

  void commit_joints(World& world) const override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const SegmentPlace& place = pattern_->places[i];
      const SegmentLoad<T>& load = loads_[i];
      for_owners([&](int lane, const Segment& segment) {
        const int number = segment.joints[i];
        if (number < 0) return;
        const std::size_t joint = at(number);
        world.tensions[joint] = native::take(load.tension, lane);
        world.load_impulses[joint] = Wrench{native::take(load.load.l, lane), native::take(load.load.a, lane)};
        for (int k = 0; k < place.dofs; ++k) commit_drive(world, joint, at(k), at(place.first_dof + k), lane);
        if (place.dofs != 1) return;
        const SegmentDof<T>& dof = dofs_[at(place.first_dof)];
        world.motor_impulses[joint] = native::take(load.motor, lane);
        world.system.joints[joint].position = native::take(dof.position, lane);
        world.system.joints[joint].velocity = native::take(dof.velocity, lane);
      });
    }
  }

  void read_tensions(std::span<double> tensions, std::span<const std::size_t> first) const override {
    for_owners([&](int lane, const Segment& segment) {
      double* const out = tensions.data() + first[at(segment.order)];
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        out[i] = segment.joints[i] < 0 ? 0 : native::take(loads_[i].tension, lane);
    });
  }

  void see(int lane, Seen& seen) const override {
    const SegmentEnds<T>& ends = ends_[0];
    const auto b = [&](const V3<T>& row) { return take_vector(row, lane); };
    to_matrix({take_symmetric(ends.d.a, lane),
               {b(ends.d.b.r0), b(ends.d.b.r1), b(ends.d.b.r2)},
               take_symmetric(ends.d.c, lane)},
              seen.d);
    seen.z = take_spatial(ends.z, lane);
    for (int i = 0; i < 6; ++i) {
      to_array(take_spatial(ends.phi[i], lane), seen.phi[i]);
      seen.c[i] = native::take(ends.c[i], lane);
      for (int j = 0; j <= i; ++j) seen.g[i][j] = seen.g[j][i] = native::take(ends.g[i][j], lane);
    }
  }
  void put_end(int lane, const S6<double>& d, const Spatial<double>& z) override {
    const auto put_row = [&](V3<T>& row, const V3<double>& v) { put(row, lane, v); };
    put(ends_[0].end_d.a, lane, d.a), put(ends_[0].end_d.c, lane, d.c), put(ends_[0].end_z, lane, z);
    put_row(ends_[0].end_d.b.r0, d.b.r0), put_row(ends_[0].end_d.b.r1, d.b.r1), put_row(ends_[0].end_d.b.r2, d.b.r2);
  }
  void put_fresh(int lane, const Spatial<double>& v) override { put(ends_[0].above_fresh, lane, v); }
  void put_change(int lane, const Spatial<double>& v) override { put(ends_[0].above_change, lane, v); }
  void put_passed(int lane, const Spatial<double>& z) override { put(ends_[0].end_passed, lane, z); }
  Spatial<double> end_change(int lane) const override { return take_spatial(ends_[0].end_change, lane); }
  Spatial<double> passed(int lane) const override { return take_spatial(ends_[0].passed, lane); }
  V3<double> reach(int lane) const override { return take_vector(ends_[0].reach, lane); }
  Spatial<double> predicted(int lane, int node) const override { return take_spatial(nodes_[at(node)].fresh, lane); }

  void joint_factor(int lane, int node, JointFactor& out) const override {
    const V3<double> r = take_vector(nodes_[at(node)].r, lane);
    out.r[0] = r.x, out.r[1] = r.y, out.r[2] = r.z;
    const SegmentPlace& place = pattern_->places[at(node)];
    for (int k = 0; k < place.dofs; ++k) {
      const SegmentDof<T>& dof = dofs_[at(place.first_dof + k)];
      to_array(take_spatial(dof.s, lane), out.axes[k].s), to_array(take_spatial(dof.u, lane), out.axes[k].u);
      out.axes[k].root_inv = native::take(dof.root_inv, lane);
    }
  }

 private:
  static V3<double> lane_of(const Vec3& v) { return {v.x, v.y, v.z}; }
  static bool any_of(const Spatial<double>& z) {
    return z.a.x != 0 || z.a.y != 0 || z.a.z != 0 || z.l.x != 0 || z.l.y != 0 || z.l.z != 0;
  }
  template <class Visit>
  void for_lanes(const Visit& visit) const {
    for (int lane = 0; lane < lane_count<T>; ++lane) visit(lane, *shown_[at(lane)]);
  }
  template <class Visit>
  void for_owners(const Visit& visit) const {
    for (int lane = 0; lane < lane_count<T>; ++lane)
      if (owners_[at(lane)]) visit(lane, *owners_[at(lane)]);
  }
  static void put_support(Support<T>& to, int lane, const Support<double>& from) {
    put(to.x, lane, from.x);
    put(to.q.w, lane, from.q.w), put(to.q.x, lane, from.q.x), put(to.q.y, lane, from.q.y), put(to.q.z, lane, from.q.z);
    put(to.axes.r0, lane, from.axes.r0), put(to.axes.r1, lane, from.axes.r1), put(to.axes.r2, lane, from.axes.r2);
    put(to.v, lane, from.v);
  }
  void load_drive(const World& world, std::size_t joint, std::size_t k, std::size_t dof, int lane) {
    const Drive<double>& from = world.drives[joint][k];
    Drive<T>& to = drives_[dof];
    to.order(lane, from.given());
    put(to.slip, lane, from.slip), put(to.limit, lane, from.limit), put(to.cap, lane, from.cap);
    put(dofs_[dof].position, lane, world.system.joints[joint].position);
    put(dofs_[dof].velocity, lane, world.system.joints[joint].velocity);
  }
  void commit_drive(World& world, std::size_t joint, std::size_t k, std::size_t dof, int lane) const {
    Drive<double>& to = world.drives[joint][k];
    to.slip = native::take(drives_[dof].slip, lane), to.limit = native::take(drives_[dof].limit, lane);
    to.cap = native::take(drives_[dof].cap, lane);
  }

  LaneVector<SegmentShape<T>> shapes_;
  LaneVector<SegmentNode<T>> nodes_;
  LaneVector<SegmentLoad<T>> loads_;
  LaneVector<SegmentDof<T>> dofs_;
  LaneVector<Drive<T>> drives_;
  LaneVector<S3<T>> held_;
  LaneVector<V3<T>> drag_;
  LaneVector<SegmentEnds<T>> ends_;  // one
  LaneVector<SegmentSum<T>> sums_;
};

}  // namespace

SegmentAnswer run_segments(const SegmentView<double>& view, SegmentStage stage, const SegmentOrder& order) {
  return SegmentStep<double>(view, order).run(stage);
}

std::unique_ptr<SegmentPack> SegmentPack::make(std::shared_ptr<const SegmentPattern> pattern, int lanes) {
  if (lanes == 1) return std::make_unique<LanePack<double>>(std::move(pattern));
  if (lanes == 4) return std::make_unique<LanePack<FourLanes>>(std::move(pattern));
  VOLVOX_ASSERT(lanes == 8);
  return std::make_unique<LanePack<EightLanes>>(std::move(pattern));
}

int SegmentPack::lanes_of_machine() { return isa() == Isa::avx512 ? 8 : isa() == Isa::avx2 ? 4 : 1; }

void SegmentPack::take(Segment& segment) {
  VOLVOX_ASSERT(!segment.pack && taken_ < lanes() && segment.pattern == pattern_);
  int lane = 0;
  while (owners_[at(lane)]) ++lane;
  owners_[at(lane)] = &segment;
  segment.pack = this, segment.lane = lane;
  ++taken_;
}

void SegmentPack::drop(Segment& segment) {
  VOLVOX_ASSERT(segment.pack == this && owners_[at(segment.lane)] == &segment);
  owners_[at(segment.lane)] = nullptr;
  // Its memory may be another segment's by the next time.
  std::replace(shown_.begin(), shown_.end(), &segment, static_cast<Segment*>(nullptr));
  segment.pack = nullptr, segment.lane = -1;
  --taken_;
}

void SegmentPack::prepare() {
  VOLVOX_ASSERT(taken_ > 0);
  Segment* const first = *std::find_if(owners_.begin(), owners_.end(), [](const Segment* owner) { return owner; });
  for (int lane = 0; lane < lanes(); ++lane) {
    Segment* const wanted = owners_[at(lane)] ? owners_[at(lane)] : first;
    if (shown_[at(lane)] == wanted) continue;
    load_shapes(lane, *wanted);
    shown_[at(lane)] = wanted;
  }
  stale = true;
}

}  // namespace volvox::physics::native
