#include "volvox/physics/native/segments.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "volvox/base/check.h"
#include "volvox/physics/native/latch.h"

namespace volvox::physics::native {

// The structure of a segment. Equal: they can go side by side.
struct SegmentPattern {
  std::vector<SegmentPlace> places;
  int end = -1;
  bool hangs = true;
  int dofs = 0, slots = 1;
  friend bool operator==(const SegmentPattern&, const SegmentPattern&) = default;
};

namespace {

// So many segments are wanted, or a multiple of it, and at most so many bodies in each.
constexpr int lanes_wanted = 8, most_bodies = 64;
// A pattern with fewer segments does not fill lanes. Trees are cut if so great a share of their nodes is in patterns
// that do: with fewer, what segments cost (they are factored twice) is more than what lanes gain.
constexpr int fewest_alike = 4;
constexpr double share_alike = 0.75;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

SegmentPattern pattern_of(const std::vector<NodeShape>& shapes, const Segment& segment, bool hangs) {
  SegmentPattern pattern;
  const int count = segment.last - segment.first;
  pattern.places.resize(at(count));
  pattern.end = segment.end - segment.first;
  pattern.hangs = hangs;
  for (int i = 0; i < count; ++i) {
    const NodeShape& shape = shapes[at(segment.first + i)];
    SegmentPlace& place = pattern.places[at(i)];
    place.parent = i == 0 ? -1 : shape.parent - segment.first;
    place.type = shape.type, place.flipped = shape.flipped;
    place.first_dof = shape.first_dof - shapes[at(segment.first)].first_dof, place.dofs = shape.dofs;
    pattern.dofs += shape.dofs;
    if (i > 0) pattern.places[at(place.parent)].parts = true;
  }
  // While a child is worked on, its siblings behind it have added up: it needs a slot of its own, unless it is the
  // last.
  std::vector<std::uint8_t> seen(at(count), 0);
  for (int i = count; i-- > 1;) {
    const std::size_t parent = at(pattern.places[at(i)].parent);
    pattern.places[at(i)].opens = !seen[parent];
    seen[parent] = 1;
  }
  for (int i = 1; i < count; ++i) {
    SegmentPlace& place = pattern.places[at(i)];
    place.slot = pattern.places[at(place.parent)].slot + (place.opens ? 0 : 1);
    pattern.slots = std::max(pattern.slots, place.slot + 1);
  }
  for (int i = pattern.end; i >= 0; i = pattern.places[at(i)].parent) pattern.places[at(i)].on_way = true;
  return pattern;
}

// Groups of segments that are alike, in the order of their first ones.
std::vector<std::pair<SegmentPattern, std::vector<int>>> alike(const std::vector<NodeShape>& shapes,
                                                               const std::vector<Segment>& segments, bool free) {
  std::vector<std::pair<SegmentPattern, std::vector<int>>> groups;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    SegmentPattern pattern = pattern_of(shapes, segments[i], i > 0 || !free);
    const auto found =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == pattern; });
    if (found != groups.end()) found->second.push_back(static_cast<int>(i));
    else groups.push_back({std::move(pattern), {static_cast<int>(i)}});
  }
  return groups;
}

using Matrix = double[6][6];

VOLVOX_KERNEL void to_array(const Spatial<double>& v, double (&out)[6]) {
  out[0] = v.a.x, out[1] = v.a.y, out[2] = v.a.z, out[3] = v.l.x, out[4] = v.l.y, out[5] = v.l.z;
}
VOLVOX_KERNEL Spatial<double> to_spatial(const double (&v)[6]) { return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}}; }
VOLVOX_KERNEL void to_matrix(const S6<double>& d, Matrix& m) {
  const Matrix full = {
      {d.a.xx, d.a.xy, d.a.xz, d.b.r0.x, d.b.r0.y, d.b.r0.z}, {d.a.xy, d.a.yy, d.a.yz, d.b.r1.x, d.b.r1.y, d.b.r1.z},
      {d.a.xz, d.a.yz, d.a.zz, d.b.r2.x, d.b.r2.y, d.b.r2.z}, {d.b.r0.x, d.b.r1.x, d.b.r2.x, d.c.xx, d.c.xy, d.c.xz},
      {d.b.r0.y, d.b.r1.y, d.b.r2.y, d.c.xy, d.c.yy, d.c.yz}, {d.b.r0.z, d.b.r1.z, d.b.r2.z, d.c.xz, d.c.yz, d.c.zz}};
  std::copy(&full[0][0], &full[0][0] + 36, &m[0][0]);
}
VOLVOX_KERNEL S6<double> to_inertia(const Matrix& m) {
  return {{m[0][0], m[1][0], m[2][0], m[1][1], m[2][1], m[2][2]},
          {{m[3][0], m[4][0], m[5][0]}, {m[3][1], m[4][1], m[5][1]}, {m[3][2], m[4][2], m[5][2]}},
          {m[3][3], m[4][3], m[5][3], m[4][4], m[5][4], m[5][5]}};
}
Spatial<double> times(const Matrix& m, const Spatial<double>& v) {
  double in[6], out[6];
  to_array(v, in);
  for (int i = 0; i < 6; ++i) {
    out[i] = m[i][0] * in[0];
    for (int k = 1; k < 6; ++k) out[i] += m[i][k] * in[k];
  }
  return to_spatial(out);
}

// Lower Cholesky factor of a matrix that may be singular: directions without any response get no column.
VOLVOX_KERNEL void factor_response(const Matrix& g, Matrix& l) {
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < 6; ++i) l[i][j] = 0;
    double pivot = g[j][j];
    for (int k = 0; k < j; ++k) pivot -= l[j][k] * l[j][k];
    if (!(pivot > 1e-14 * g[j][j])) continue;
    const double root = std::sqrt(pivot), scale = 1 / root;
    l[j][j] = root;
    for (int i = j + 1; i < 6; ++i) {
      double s = g[i][j];
      for (int k = 0; k < j; ++k) s -= l[i][k] * l[j][k];
      l[i][j] = s * scale;
    }
  }
}

// x := R^-1 x for each column, R lower with its diagonal inverted.
VOLVOX_KERNEL void solve_lower(const Matrix& r, Matrix& x) {
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < i; ++k) {
      for (int j = 0; j < 6; ++j) x[i][j] -= r[i][k] * x[k][j];
    }
    for (int j = 0; j < 6; ++j) x[i][j] *= r[i][i];
  }
}

}  // namespace

std::vector<Segment> cut_into_segments(const std::vector<NodeShape>& shapes) {
  // Long trees have segments of one length, so that a dock that opens leaves most of their packs as they are.
  const int count = static_cast<int>(shapes.size());
  const int target = std::clamp(count / lanes_wanted, 2, most_bodies - 1);
  const int small = target / 8;  // subtrees up to this size are taken in
  std::vector<int> sizes(shapes.size(), 1);
  for (std::size_t i = shapes.size(); i-- > 1;) sizes[at(shapes[i].parent)] += sizes[i];
  std::vector<Segment> segments;
  std::vector<std::pair<int, int>> open{{0, -1}};  // first node, segment above
  while (!open.empty()) {
    const auto [first, above] = open.back();
    open.pop_back();
    // The root's segment has a pattern of its own, so it is as short as can be.
    const int enough = above < 0 ? 1 : target, most = above < 0 ? target : 2 * target;
    Segment segment{first, first, first, above};
    for (int node = first;;) {
      const int behind = node + sizes[at(node)];
      int large = node + 1, second = behind, last = node;
      while (large < behind && sizes[at(large)] <= small) last = large, large += sizes[at(large)];
      if (large < behind) second = large + sizes[at(large)];
      segment.end = node, segment.last = large;
      if (large == behind) {  // nothing large hangs on it: the way goes on to the last leaf
        if (last == node) break;
        node = last;
        segment.last = behind;
        continue;
      }
      const int taken = large - first;
      const bool before_dock = shapes[at(large)].type == JointType::dock;
      if (second < behind || (taken >= enough && (before_dock || taken >= most))) {
        const std::size_t place = open.size();
        for (int child = large; child < behind; child += sizes[at(child)])
          open.insert(open.begin() + static_cast<std::ptrdiff_t>(place), {child, static_cast<int>(segments.size())});
        break;
      }
      node = large;
    }
    segments.push_back(segment);
  }
  std::size_t nodes_alike = 0;
  for (const auto& [pattern, members] : alike(shapes, segments, true)) {
    if (members.size() >= fewest_alike) nodes_alike += pattern.places.size() * members.size();
  }
  if (static_cast<double>(nodes_alike) < share_alike * static_cast<double>(shapes.size())) segments.clear();
  return segments;
}

// Segments side by side, of any width.
class SegmentPack {
 public:
  explicit SegmentPack(SegmentPattern pattern) : pattern_(std::move(pattern)) {}
  virtual ~SegmentPack() = default;
  SegmentPack(const SegmentPack&) = delete;
  SegmentPack& operator=(const SegmentPack&) = delete;

  // Lanes that nobody needs do what the first one does: what a pack answers must not depend on its width.
  virtual int lanes() const = 0;
  int lanes_used() const { return static_cast<int>(segments_.size()); }
  std::size_t bodies() const { return pattern_.places.size() * static_cast<std::size_t>(lanes()); }
  const SegmentPattern& pattern() const { return pattern_; }
  // Other segments of the same pattern, from now on.
  void begin(std::vector<Segment> segments, std::vector<int> numbers, const TreeNodes& tree) {
    segments_ = std::move(segments), numbers_ = std::move(numbers);
    stale = true;
    load_shapes(tree);
  }
  int segment(int lane) const { return numbers_[at(lane < lanes_used() ? lane : 0)]; }  // among the tree's

  virtual SegmentAnswer run(SegmentStage stage, const SegmentOrder& order) = 0;
  virtual void load_state(const World& world, const TreeNodes& tree, double step) = 0;
  virtual void load_above(const World& world, const TreeNodes& tree, const Support<double>& ground) = 0;
  virtual void load_drags(std::span<const V3<double>> drags) = 0;
  virtual void load_latches(World& world, const TreeNodes& tree, double step) = 0;
  virtual void load_coordinates(std::span<const double> coordinates, std::span<const std::size_t> where,
                                const TreeNodes& tree) = 0;
  virtual void add_pushes(const World& world, const TreeNodes& tree) = 0;
  virtual void commit_bodies(World& world, const TreeNodes& tree) const = 0;
  virtual void commit_joints(World& world, const TreeNodes& tree) const = 0;
  virtual void commit_tensions(World& world, const TreeNodes& tree) const = 0;

  // Where a segment meets the rest of the tree.
  struct Seen {
    Matrix d, phi, g;
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
  virtual void joint_factor(int lane, int node, const NodeShape& shape, JointFactor& out) const = 0;

  bool stale = true;  // what the tree saw of it is not what it would see

 protected:
  virtual void load_shapes(const TreeNodes& tree) = 0;

  SegmentPattern pattern_;
  std::vector<Segment> segments_;  // by lane
  std::vector<int> numbers_;
};

namespace {

using native::put;

template <class T>
void put(Spatial<T>& all, int lane, const Spatial<double>& v) {
  put(all.a.x, lane, v.a.x), put(all.a.y, lane, v.a.y), put(all.a.z, lane, v.a.z);
  put(all.l.x, lane, v.l.x), put(all.l.y, lane, v.l.y), put(all.l.z, lane, v.l.z);
}
template <class T>
Spatial<double> take_spatial(const Spatial<T>& all, int lane) {
  return {{take(all.a.x, lane), take(all.a.y, lane), take(all.a.z, lane)},
          {take(all.l.x, lane), take(all.l.y, lane), take(all.l.z, lane)}};
}
template <class T>
void put(S3<T>& all, int lane, const S3<double>& v) {
  put(all.xx, lane, v.xx), put(all.xy, lane, v.xy), put(all.xz, lane, v.xz);
  put(all.yy, lane, v.yy), put(all.yz, lane, v.yz), put(all.zz, lane, v.zz);
}
template <class T>
S3<double> take_symmetric(const S3<T>& all, int lane) {
  return {take(all.xx, lane), take(all.xy, lane), take(all.xz, lane),
          take(all.yy, lane), take(all.yz, lane), take(all.zz, lane)};
}
template <class T>
void put(V3<T>& all, int lane, const V3<double>& v) {
  put(all.x, lane, v.x), put(all.y, lane, v.y), put(all.z, lane, v.z);
}
template <class T>
V3<double> take_vector(const V3<T>& all, int lane) {
  return {take(all.x, lane), take(all.y, lane), take(all.z, lane)};
}

template <class T>
class LanePack final : public SegmentPack {
 public:
  explicit LanePack(SegmentPattern pattern) : SegmentPack(std::move(pattern)) {
    const std::size_t count = pattern_.places.size(), dofs = at(pattern_.dofs);
    shapes_.resize(count), nodes_.resize(count), loads_.resize(count), dofs_.resize(dofs), drives_.resize(dofs);
    ends_.resize(1), sums_.resize(at(pattern_.slots));
    held_.reserve(count), drag_.reserve(count);
  }

  void load_shapes(const TreeNodes& tree) override {
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      for_lanes([&](int lane, const Segment& segment) {
        const NodeShape& from = tree.shapes[at(segment.first) + i];
        SegmentShape<T>& to = shapes_[i];
        put(to.mass, lane, from.mass), put(to.moments, lane, from.moments);
        put(to.anchor_parent, lane, from.anchor_parent), put(to.anchor_child, lane, from.anchor_child);
        put(to.axis_parent, lane, from.axis_parent), put(to.axis_child, lane, from.axis_child);
        put(to.closed, lane, from.closed);
      });
    }
  }

  int lanes() const override { return lane_count<T>; }

  SegmentAnswer run(SegmentStage stage, const SegmentOrder& order) override {
    const bool drags = !held_.empty();
    const SegmentView<T> view{pattern_.places.data(),
                              static_cast<int>(pattern_.places.size()),
                              pattern_.end,
                              pattern_.hangs,
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
  void load_state(const World& world, const TreeNodes& tree, double step) override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const SegmentPlace& place = pattern_.places[i];
      SegmentNode<T>& n = nodes_[i];
      for_lanes([&](int lane, const Segment& segment) {
        const std::size_t node = at(segment.first) + i, index = at(tree.bodies[node]);
        const Body& body = world.bodies[index];
        const Wrench& force = world.system.forces[index];
        put(n.x, lane, body.position), put(n.q, lane, body.rotation);
        put(n.v.a, lane, body.angular), put(n.v.l, lane, body.linear), put(n.spin, lane, body.spin);
        put(n.outside.a, lane, force.torque * step), put(n.outside.l, lane, (body.weight + force.force) * step);
        for (int k = 0; k < place.dofs; ++k)
          load_drive(world, at(tree.joints[node]), at(k), at(place.first_dof + k), lane);
      });
      loads_[i] = SegmentLoad<T>{};
    }
  }

  void load_above(const World& world, const TreeNodes& tree, const Support<double>& ground) override {
    if (!pattern_.hangs) return;
    for_lanes([&](int lane, const Segment& segment) {
      const int parent = tree.shapes[at(segment.first)].parent;
      Support<T>& above = ends_[0].above;
      if (parent < 0) return put_support(above, lane, ground);
      const Body& body = world.bodies[at(tree.bodies[at(parent)])];
      put_support(above, lane,
                  {lane_of(body.position),
                   {body.rotation.w, body.rotation.x, body.rotation.y, body.rotation.z},
                   body.axes,
                   {lane_of(body.angular), lane_of(body.linear)}});
    });
  }

  void load_drags(std::span<const V3<double>> drags) override {
    held_.resize(drags.empty() ? 0 : nodes_.size()), drag_.resize(held_.size());
    for (std::size_t i = 0; i < drag_.size(); ++i)
      for_lanes([&](int lane, const Segment& segment) { put(drag_[i], lane, drags[at(segment.first) + i]); });
  }

  void load_latches(World& world, const TreeNodes& tree, double step) override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (pattern_.places[i].type != JointType::dock) continue;
      for (int lane = 0; lane < lanes_used(); ++lane) {
        const int joint = tree.joints[at(segments_[at(lane)].first) + i];
        if (joint < 0 || world.system.latches[at(joint)].closed()) continue;
        const double sign = pattern_.places[i].flipped ? -1 : 1;
        Spatial<double> beta = take_spatial(nodes_[i].beta, lane) * sign;
        load_latch(world, at(joint), step, take(nodes_[i].x, lane), beta);
        put(nodes_[i].beta, lane, beta * sign);
        for (int other = lanes_used(); lane == 0 && other < lane_count<T>; ++other)
          put(nodes_[i].beta, other, beta * sign);
      }
    }
  }

  void load_coordinates(std::span<const double> coordinates, std::span<const std::size_t> where,
                        const TreeNodes& tree) override {
    for (std::size_t k = 0; k < dofs_.size(); ++k) {
      for_lanes([&](int lane, const Segment& segment) {
        put(dofs_[k].coordinate, lane, coordinates[where[at(tree.shapes[at(segment.first)].first_dof) + k]]);
      });
    }
  }

  void add_pushes(const World& world, const TreeNodes& tree) override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for_lanes([&](int lane, const Segment& segment) {
        const Body& body = world.bodies[at(tree.bodies[at(segment.first) + i])];
        if (any_of(body.push)) put(nodes_[i].own, lane, take_spatial(nodes_[i].own, lane) + body.push);
      });
    }
  }

  void commit_bodies(World& world, const TreeNodes& tree) const override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const SegmentNode<T>& n = nodes_[i];
      for (int lane = 0; lane < lanes_used(); ++lane) {
        Body& body = world.bodies[at(tree.bodies[at(segments_[at(lane)].first) + i])];
        body.position = take(n.x, lane), body.rotation = take(n.q, lane);
        body.linear = take(n.v.l, lane), body.angular = take(n.v.a, lane), body.spin = take(n.spin, lane);
      }
    }
  }

  void commit_joints(World& world, const TreeNodes& tree) const override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const SegmentPlace& place = pattern_.places[i];
      const SegmentLoad<T>& load = loads_[i];
      for (int lane = 0; lane < lanes_used(); ++lane) {
        const int number = tree.joints[at(segments_[at(lane)].first) + i];
        if (number < 0) continue;
        const std::size_t joint = at(number);
        world.tensions[joint] = take(load.tension, lane);
        world.load_impulses[joint] = Wrench{take(load.load.l, lane), take(load.load.a, lane)};
        for (int k = 0; k < place.dofs; ++k) commit_drive(world, joint, at(k), at(place.first_dof + k), lane);
        if (place.dofs != 1) continue;
        const SegmentDof<T>& dof = dofs_[at(place.first_dof)];
        world.motor_impulses[joint] = take(load.motor, lane);
        world.system.joints[joint].position = take(dof.position, lane);
        world.system.joints[joint].velocity = take(dof.velocity, lane);
      }
    }
  }

  void commit_tensions(World& world, const TreeNodes& tree) const override {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (int lane = 0; lane < lanes_used(); ++lane) {
        const int joint = tree.joints[at(segments_[at(lane)].first) + i];
        if (joint >= 0) world.tensions[at(joint)] = take(loads_[i].tension, lane);
      }
    }
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
      seen.c[i] = take(ends.c[i], lane);
      for (int j = 0; j <= i; ++j) seen.g[i][j] = seen.g[j][i] = take(ends.g[i][j], lane);
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

  void joint_factor(int lane, int node, const NodeShape& shape, JointFactor& out) const override {
    const V3<double> r = take_vector(nodes_[at(node)].r, lane);
    out.r[0] = r.x, out.r[1] = r.y, out.r[2] = r.z;
    for (int k = 0; k < shape.dofs; ++k) {
      const SegmentDof<T>& dof = dofs_[at(pattern_.places[at(node)].first_dof + k)];
      to_array(take_spatial(dof.s, lane), out.axes[k].s), to_array(take_spatial(dof.u, lane), out.axes[k].u);
      out.axes[k].root_inv = take(dof.root_inv, lane);
    }
  }

 private:
  static V3<double> lane_of(const Vec3& v) { return {v.x, v.y, v.z}; }
  static bool any_of(const Spatial<double>& z) {
    return z.a.x != 0 || z.a.y != 0 || z.a.z != 0 || z.l.x != 0 || z.l.y != 0 || z.l.z != 0;
  }
  template <class Visit>
  void for_lanes(const Visit& visit) const {
    for (int lane = 0; lane < lane_count<T>; ++lane) visit(lane, segments_[at(lane < lanes_used() ? lane : 0)]);
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
    to.slip = take(drives_[dof].slip, lane), to.limit = take(drives_[dof].limit, lane);
    to.cap = take(drives_[dof].cap, lane);
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

std::unique_ptr<SegmentPack> make_pack(const SegmentPattern& pattern, int lanes) {
  if (lanes == 1) return std::make_unique<LanePack<double>>(pattern);
  if (lanes == 4) return std::make_unique<LanePack<FourLanes>>(pattern);
  return std::make_unique<LanePack<EightLanes>>(pattern);
}

std::size_t lanes_of_machine() { return isa() == Isa::avx512 ? 8 : isa() == Isa::avx2 ? 4 : 1; }

// What the body above feels of a segment with something hanging on its end, and how the end then moves. With
// G = L L^T, I + L^T D_e L = R R^T, X = R^-1 L^T D_e and K = L R^-T:
//   D_e (I + G D_e)^-1 = D_e - X^T X,   (I + G D_e)^-1 = I - K X,   (I + G D_e)^-1 G = K K^T
VOLVOX_FOR_EACH_ISA(void, join,
                    (const SegmentPack::Seen& seen, const S6<double>& end_d, const Spatial<double>& end_z,
                     S6<double>& d, Spatial<double>& z, Matrix& phi, Matrix& k, Spatial<double>& c),
                    (seen, end_d, end_z, d, z, phi, k, c)) {
  Matrix l, load, r, x;
  factor_response(seen.g, l);
  to_matrix(end_d, load);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      double sum = 0;
      for (int m = i; m < 6; ++m) sum += l[m][i] * load[m][j];
      x[i][j] = sum;
    }
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = i == j ? 1 : 0;
      for (int m = j; m < 6; ++m) sum += x[i][m] * l[m][j];
      for (int m = 0; m < j; ++m) sum -= r[i][m] * r[j][m];
      r[i][j] = i == j ? 1 / std::sqrt(sum) : sum * r[j][j];
    }
  }
  solve_lower(r, x);
  Matrix turned;  // K^T
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) turned[i][j] = l[j][i];
  }
  solve_lower(r, turned);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      k[i][j] = turned[j][i];
      for (int m = 0; m < 6; ++m) load[i][j] -= x[m][i] * x[m][j];
    }
  }
  // What it does without any motion above; what is passed on then.
  double y[6], in[6], f[6], xy[6], out[6];
  to_array(end_z, in);
  for (int i = 0; i < 6; ++i) {
    y[i] = seen.c[i];
    for (int m = 0; m < 6; ++m) y[i] += seen.g[i][m] * in[m];
  }
  to_array(seen.z, out);
  for (int i = 0; i < 6; ++i) {
    f[i] = in[i], xy[i] = 0;
    for (int m = 0; m < 6; ++m) f[i] -= load[i][m] * y[m], xy[i] += x[i][m] * y[m];
  }
  Matrix moved, pushed;  // X Phi; (D_e - X^T X) Phi
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      double a = 0, b = 0;
      for (int m = 0; m < 6; ++m) a += x[i][m] * seen.phi[m][j], b += load[i][m] * seen.phi[m][j];
      moved[i][j] = a, pushed[i][j] = b;
    }
  }
  double end_c[6];
  Matrix whole;
  for (int i = 0; i < 6; ++i) {
    end_c[i] = y[i];
    for (int m = 0; m < 6; ++m) out[i] += seen.phi[m][i] * f[m], end_c[i] -= k[i][m] * xy[m];
    for (int j = 0; j < 6; ++j) {
      double a = seen.phi[i][j], b = seen.d[i][j];
      for (int m = 0; m < 6; ++m) a -= k[i][m] * moved[m][j], b += seen.phi[m][i] * pushed[m][j];
      phi[i][j] = a, whole[i][j] = b;
    }
  }
  d = to_inertia(whole), z = to_spatial(out), c = to_spatial(end_c);
}

}  // namespace

SegmentAnswer run_segments(const SegmentView<double>& view, SegmentStage stage, const SegmentOrder& order) {
  return SegmentStep<double>(view, order).run(stage);
}

SegmentPool::SegmentPool() = default;
SegmentPool::~SegmentPool() = default;

void SegmentPool::give(Segments&& segments) {
  for (std::unique_ptr<SegmentPack>& pack : segments.packs_) packs_.push_back(std::move(pack));
  segments.packs_.clear();
}

// The latest are the likeliest to fit.
void SegmentPool::drop(std::size_t bodies) {
  std::size_t room = 0, kept = 0;
  while (kept < packs_.size() && room + packs_[packs_.size() - 1 - kept]->bodies() <= bodies)
    room += packs_[packs_.size() - 1 - kept++]->bodies();
  packs_.erase(packs_.begin(), packs_.end() - static_cast<std::ptrdiff_t>(kept));
}

// Old or new.
std::unique_ptr<SegmentPack> Segments::find_pack(const SegmentPattern& pattern, int lanes, SegmentPool* pool) {
  if (pool) {
    for (std::size_t i = pool->packs_.size(); i-- > 0;) {
      if (pool->packs_[i]->lanes() != lanes || !(pool->packs_[i]->pattern() == pattern)) continue;
      std::unique_ptr<SegmentPack> found = std::move(pool->packs_[i]);
      pool->packs_.erase(pool->packs_.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
  }
  return make_pack(pattern, lanes);
}

Segments::Segments(const TreeNodes& tree, std::vector<Segment> segments, SegmentPool* pool, std::size_t most_lanes)
    : segments_(std::move(segments)), joined_(segments_.size()), lanes_(segments_.size()), free_(tree.joints[0] < 0) {
  VOLVOX_ASSERT(!segments_.empty() && segments_[0].first == 0 &&
                segments_.back().last == static_cast<int>(tree.shapes.size()));
  segment_of_.resize(tree.shapes.size());
  for (std::size_t i = 0; i < segments_.size(); ++i)
    std::fill(segment_of_.begin() + segments_[i].first, segment_of_.begin() + segments_[i].last, static_cast<int>(i));
  for (const auto& [pattern, members] : alike(tree.shapes, segments_, free_)) {
    const std::size_t side_by_side = members.size() < 3 ? 1 : std::min(lanes_of_machine(), most_lanes);
    for (std::size_t first = 0; first < members.size(); first += side_by_side) {
      const std::size_t last = std::min(members.size(), first + side_by_side);
      std::vector<int> numbers(members.begin() + static_cast<std::ptrdiff_t>(first),
                               members.begin() + static_cast<std::ptrdiff_t>(last));
      std::vector<Segment> own;
      for (const int number : numbers) {
        lanes_[at(number)] = {static_cast<int>(packs_.size()), static_cast<int>(own.size())};
        own.push_back(segments_[at(number)]);
      }
      side_by_side_.push_back(numbers);
      packs_.push_back(find_pack(pattern, numbers.size() == 1 ? 1 : static_cast<int>(side_by_side), pool));
      packs_.back()->begin(std::move(own), std::move(numbers), tree);
    }
  }
}

Segments::~Segments() = default;

template <class Visit>
void Segments::for_packs(ThreadPool* threads, const Visit& visit) const {
  parallel_for(threads, packs_.size(), 1, [&](std::size_t i) { visit(*packs_[i]); });
}

void Segments::predict(World& world, const TreeNodes& tree, const Support<double>& ground,
                       std::span<const V3<double>> drags, double step, ThreadPool* threads) {
  ground_velocity_ = ground.v;
  const bool first = tick_ != world.tick;
  tick_ = world.tick;
  SegmentOrder order;
  order.step = step;
  std::atomic<bool> walled = false;
  for_packs(threads, [&](SegmentPack& pack) {
    if (first) pack.load_state(world, tree, step);
    pack.load_above(world, tree, ground);
    pack.load_drags(drags);
    if (pack.run(SegmentStage::load, order).walled) walled = true;
    pack.add_pushes(world, tree);
    pack.load_latches(world, tree, step);
    pack.run(SegmentStage::condense, order);
    pack.stale = false;
  });
  bool changed = false;
  if (walled) {
    solve(false, DrivePass::first, threads, changed);
    for_packs(threads, [&](SegmentPack& pack) {
      pack.run(SegmentStage::know_walls, {});
      pack.stale = true;
    });
  }
  for (int pass = 0; pass < most_passes; ++pass) {
    const bool last = pass + 1 == most_passes;
    solve(!last, last ? DrivePass::last : pass_after(pass), threads, changed);
    if (!changed) break;
  }
}

void Segments::predict_again(ThreadPool* threads) {
  for_packs(threads, [](SegmentPack& pack) {
    pack.run(SegmentStage::correct, {});
    pack.stale = true;
  });
  bool changed = false;
  solve(false, DrivePass::first, threads, changed);
}

void Segments::solve(bool settle, DrivePass pass, ThreadPool* threads, bool& changed) {
  for_packs(threads, [](SegmentPack& pack) {
    if (pack.stale) pack.run(SegmentStage::condense, {});
    pack.stale = false;
  });
  put_together();
  SegmentOrder order;
  order.settle = settle, order.pass = pass;
  std::atomic<bool> any = false;
  for_packs(threads, [&](SegmentPack& pack) {
    for (int lane = 0; lane < pack.lanes(); ++lane) {
      const std::size_t i = at(pack.segment(lane));
      pack.put_end(lane, joined_[i].end_d, joined_[i].end_z);
      const int above = segments_[i].above;
      pack.put_fresh(lane, above >= 0 ? joined_[at(above)].end_fresh : root_fresh_);
    }
    pack.stale = pack.run(SegmentStage::solve, order).changed;
    if (pack.stale) any = true;
  });
  changed = any;
}

// From the leaves to the root, then back.
void Segments::put_together() {
  for (Joined& joined : joined_) joined.end_d = {}, joined.end_z = {};
  for (std::size_t i = segments_.size(); i-- > 0;) {
    Joined& joined = joined_[i];
    VOLVOX_ASSERT(segments_[i].above < static_cast<int>(i));  // what hangs on it is there before it
    SegmentPack::Seen seen;
    packs_[at(lanes_[i].pack)]->see(lanes_[i].lane, seen);
    join(seen, joined.end_d, joined.end_z, joined.d, joined.z, joined.phi, joined.k, joined.c);
    if (segments_[i].above < 0) continue;
    Joined& above = joined_[at(segments_[i].above)];
    above.end_d = above.end_d + joined.d, above.end_z = above.end_z + joined.z;
  }
  root_fresh_ = ground_velocity_;
  if (free_) {
    root_ = inverse_factor(joined_[0].d);
    root_fresh_ = native::solve(root_, joined_[0].z);
  }
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const int above = segments_[i].above;
    joined_[i].end_fresh =
        times(joined_[i].phi, above >= 0 ? joined_[at(above)].end_fresh : root_fresh_) + joined_[i].c;
  }
}

Verdict Segments::take_up(std::span<const double> coordinates, std::span<const std::size_t> where,
                          const TreeNodes& tree, ThreadPool* threads) {
  for_packs(threads, [&](SegmentPack& pack) {
    pack.load_coordinates(coordinates, where, tree);
    pack.run(SegmentStage::sum_change, {});
  });
  const Spatial<double> root = free_ ? times_inverse_transposed(root_, coordinates.data()) : Spatial<double>{};
  const auto change_above = [&](std::size_t i) {
    return segments_[i].above >= 0 ? joined_[at(segments_[i].above)].end_change : root;
  };
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    joined_[i].end_change =
        times(joined_[i].phi, change_above(i)) + packs_[at(lanes_[i].pack)]->end_change(lanes_[i].lane);
  }
  std::atomic<Verdict> worst = Verdict::holds;
  for_packs(threads, [&](SegmentPack& pack) {
    for (int lane = 0; lane < pack.lanes(); ++lane) pack.put_change(lane, change_above(at(pack.segment(lane))));
    raise_to(worst, pack.run(SegmentStage::take_up, {}).verdict);
  });
  return worst;
}

void Segments::finish(World& world, const TreeNodes& tree, double step, const Vec3& fall, ThreadPool* threads) {
  for_packs(threads, [&](SegmentPack& pack) {
    pack.add_pushes(world, tree);
    pack.run(SegmentStage::sum_passed, {});
  });
  for (Joined& joined : joined_) joined.end_passed = {};
  for (std::size_t i = segments_.size(); i-- > 1;) {
    const SegmentPack& pack = *packs_[at(lanes_[i].pack)];
    Spatial<double>& above = joined_[at(segments_[i].above)].end_passed;
    above = above + pack.passed(lanes_[i].lane) + impulse_to_parent(joined_[i].end_passed, pack.reach(lanes_[i].lane));
  }
  SegmentOrder order;
  order.step = step, order.fall = fall;
  std::atomic<double> most = 0;
  for_packs(threads, [&](SegmentPack& pack) {
    for (int lane = 0; lane < pack.lanes(); ++lane) pack.put_passed(lane, joined_[at(pack.segment(lane))].end_passed);
    raise_to(most, pack.run(SegmentStage::finish, order).most_tension);
    pack.commit_bodies(world, tree);
  });
  most_tension_ = most;
}

void Segments::commit_joints(World& world, const TreeNodes& tree, ThreadPool* threads) const {
  if (tick_ != world.tick) return;
  for_packs(threads, [&](const SegmentPack& pack) { pack.commit_joints(world, tree); });
}

void Segments::commit_tensions(World& world, const TreeNodes& tree, ThreadPool* threads) const {
  for_packs(threads, [&](const SegmentPack& pack) { pack.commit_tensions(world, tree); });
}

Spatial<double> Segments::predicted(int node) const {
  const std::size_t i = at(segment_of(node));
  return packs_[at(lanes_[i].pack)]->predicted(lanes_[i].lane, node - segments_[i].first);
}

void Segments::joint_factor(int node, const NodeShape& shape, JointFactor& out) const {
  const std::size_t i = at(segment_of(node));
  packs_[at(lanes_[i].pack)]->joint_factor(lanes_[i].lane, node - segments_[i].first, shape, out);
}

// Of an end: phi W phi^T + K K^T, with W that of the body above.
void Segments::find_responses() {
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      root_response_[i][j] = 0;
      for (int k = std::max(i, j); free_ && k < 6; ++k) root_response_[i][j] += root_.e[k][i] * root_.e[k][j];
    }
  }
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    Joined& joined = joined_[s];
    const Matrix& above = response_above(static_cast<int>(s));
    Matrix carried;
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) {
        double sum = joined.phi[i][0] * above[0][j];
        for (int k = 1; k < 6; ++k) sum += joined.phi[i][k] * above[k][j];
        carried[i][j] = sum;
      }
    }
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (int k = 0; k < 6; ++k) sum += carried[i][k] * joined.phi[j][k] + joined.k[i][k] * joined.k[j][k];
        joined.response[i][j] = joined.response[j][i] = sum;
      }
    }
  }
}

const double (&Segments::response_above(int segment) const)[6][6] {
  const int above = segments_[at(segment)].above;
  return above >= 0 ? joined_[at(above)].response : root_response_;
}

}  // namespace volvox::physics::native
