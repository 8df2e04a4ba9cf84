#include "volvox/rays/mesh_rays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/base/isa.h"
#include "volvox/rays/ray_shapes.h"

namespace volvox::rays {
namespace {

// The error of single precision near the mesh, relative to the mesh's radius: a few roundings of 2^-24. Boxes are
// larger by this, so that no ray misses a box that it should enter.
constexpr double blur = 4e-6;
constexpr int deepest = 40;  // levels of a tree
constexpr std::uint32_t nowhere = ~0u;

using Node = MeshRays::Node;
using Quad = MeshRays::Quad;
using Floats = float __attribute__((vector_size(16)));

VOLVOX_KERNEL Floats all_four(float value) { return Floats{} + value; }
VOLVOX_KERNEL Floats lower(const Floats& a, const Floats& b) { return a < b ? a : b; }
VOLVOX_KERNEL Floats higher(const Floats& a, const Floats& b) { return a > b ? a : b; }

// One bit for each i with a[i] <= b[i].
VOLVOX_KERNEL unsigned not_above(const Floats& a, const Floats& b) {
  const auto lanes = a <= b;
#if defined(__SSE__)
  return __builtin_ia32_movmskps(reinterpret_cast<Floats>(lanes));
#else
  unsigned bits = 0;
  for (int i = 0; i < 4; ++i) bits |= lanes[i] != 0 ? 1u << i : 0u;
  return bits;
#endif
}

// The traversal of the tree by one ray: its next node and the stack of nodes to visit later.
struct Walk {
  struct Waiting {
    float distance;  // to its box
    std::uint32_t place;
  };

  Walk() {}  // begin() sets what is used; the stack is not initialised
  void begin(const MeshRays::LocalRay& exact, MeshHit& hit, std::uint32_t root, const Vec3& from, double skipped_length,
             double margin) {
    for (int i = 0; i < 3; ++i) {
      auto direction = to_float(exact.direction[i]);
      // Parallel to a side of the box: avoids infinities, and stays within the blur of the line.
      if (std::fabs(direction) < 1e-18f) direction = direction < 0 ? -1e-18f : 1e-18f;
      origin[i] = all_four(to_float(from[i]));
      inverse[i] = all_four(1 / direction);
      near_side[i] = direction < 0 ? 1 : 0;
    }
    ray = &exact, best = &hit;
    place = root, waiting = 0;
    skipped = skipped_length, slack = margin;
    shorten(exact.range);
  }
  // A little farther than the range, so that other triangles at the same distance are still tested.
  VOLVOX_KERNEL void shorten(double to) { range = to, reach = to_float(to - skipped + slack); }

  Floats origin[3], inverse[3];  // of the direction; the same four times
  int near_side[3];              // of a box, as the ray comes
  float reach;                   // boxes farther than this are skipped
  std::uint32_t place;
  int waiting;
  double range, skipped, slack;  // to the best hit; how far ahead of the origin the walk begins
  const MeshRays::LocalRay* ray;
  MeshHit* best;
  Waiting stack[3 * (deepest + 2)];  // the nearest on top
};

// Goes to the nearest child that the ray enters and pushes the others.
VOLVOX_KERNEL void enter(Walk& walk, const Node& node) {
  VOLVOX_ASSERT(walk.waiting <= 3 * (deepest + 1));
  Floats near[3], far[3];
  for (int axis = 0; axis < 3; ++axis) {
    const auto* sides = reinterpret_cast<const Floats*>(node.sides[axis]);
    near[axis] = (sides[walk.near_side[axis]] - walk.origin[axis]) * walk.inverse[axis];
    far[axis] = (sides[1 - walk.near_side[axis]] - walk.origin[axis]) * walk.inverse[axis];
  }
  const Floats begin = higher(higher(near[0], near[1]), higher(near[2], Floats{}));
  const Floats end = lower(lower(far[0], far[1]), lower(far[2], all_four(walk.reach)));
  unsigned children = not_above(begin, end);
  if (children == 0) {
    walk.place = nowhere;
    return;
  }
  const auto take = [&]() __attribute__((always_inline)) {
    const int i = __builtin_ctz(children);
    children &= children - 1;
    return Walk::Waiting{begin[i], node.child[i]};
  };
  Walk::Waiting nearest = take();
  const int bottom = walk.waiting;
  while (children != 0) {
    Walk::Waiting other = take();
    if (other.distance < nearest.distance) std::swap(other, nearest);
    int k = walk.waiting++;
    for (; k > bottom && walk.stack[k - 1].distance < other.distance; --k) walk.stack[k] = walk.stack[k - 1];
    walk.stack[k] = other;
  }
  walk.place = nearest.place;
}

// The nearest triangle of a quad that the ray hits, by meet_triangle on four lanes; of several at the same distance the
// first. An infinite distance: none.
struct Nearest {
  double distance;
  int place;
};
VOLVOX_KERNEL Nearest nearest_of(const Quad& quad, const Vec3& o, const Vec3& d) {
  using Four = double __attribute__((vector_size(32)));
  const Four* a = reinterpret_cast<const Four*>(quad.a);
  const Four* ab = reinterpret_cast<const Four*>(quad.ab);
  const Four* ac = reinterpret_cast<const Four*>(quad.ac);
  const Four px = d.y * ac[2] - d.z * ac[1], py = d.z * ac[0] - d.x * ac[2], pz = d.x * ac[1] - d.y * ac[0];
  const Four sx = o.x - a[0], sy = o.y - a[1], sz = o.z - a[2];
  const Four qx = sy * ab[2] - sz * ab[1], qy = sz * ab[0] - sx * ab[2], qz = sx * ab[1] - sy * ab[0];
  const Four determinant = ab[0] * px + ab[1] * py + ab[2] * pz;
  const Four inverse = 1.0 / determinant;
  const Four u = (sx * px + sy * py + sz * pz) * inverse, v = (d.x * qx + d.y * qy + d.z * qz) * inverse;
  const Four t = (ac[0] * qx + ac[1] * qy + ac[2] * qz) * inverse;
  constexpr double slack = TriangleMeeting::slack;
  const auto inside = (u >= -slack) & (v >= -slack) & (u + v <= 1 + slack) & (t >= 0.0);
  const Four none = Four{} + std::numeric_limits<double>::infinity();
  const Four met = inside ? t : none;
  Nearest nearest{met[0], 0};
  for (int i = 1; i < 4; ++i)
    if (met[i] < nearest.distance) nearest = {met[i], i};
  return nearest;
}

VOLVOX_KERNEL void try_triangles(Walk& walk, const Quad& quad) {
  walk.place = nowhere;
  const Nearest nearest = nearest_of(quad, walk.ray->origin, walk.ray->direction);
  if (nearest.distance > walk.range || nearest.distance == std::numeric_limits<double>::infinity()) return;
  const int i = nearest.place;
  const std::uint32_t triangle = quad.triangle[i];
  if (nearest.distance == walk.range && walk.best->distance >= 0 && walk.best->triangle <= triangle) return;
  *walk.best = {nearest.distance, triangle,
                cross({quad.ab[0][i], quad.ab[1][i], quad.ab[2][i]}, {quad.ac[0][i], quad.ac[1][i], quad.ac[2][i]})};
  walk.shorten(nearest.distance);
}

// Pops the next node within reach; false: there is none.
VOLVOX_KERNEL bool come_back(Walk& walk) {
  while (walk.waiting > 0) {
    const Walk::Waiting next = walk.stack[--walk.waiting];
    walk.place = next.place;
    if (next.distance <= walk.reach) return true;
  }
  return false;
}

VOLVOX_KERNEL void fetch_early(const void* begin, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(begin) + i);
}

// Every ray takes one step in turn, so that memory for its next step is fetched while the other rays take theirs: on a
// million triangles this halves the time.
VOLVOX_FOR_EACH_ISA(void, walk_in_turn, (Walk * walks, int count, const Node* nodes, const Quad* quads),
                    (walks, count, nodes, quads)) {
  Walk* going[MeshRays::packet];
  for (int i = 0; i < count; ++i) going[i] = walks + i;
  for (int i = 0; count > 0; i = i + 1 < count ? i + 1 : 0) {
    Walk& walk = *going[i];
    if ((walk.place & MeshRays::quad_bit) != 0) try_triangles(walk, quads[walk.place & ~MeshRays::quad_bit]);
    else enter(walk, nodes[walk.place]);
    if (walk.place == nowhere && !come_back(walk)) going[i] = going[--count];
    else if ((walk.place & MeshRays::quad_bit) != 0)
      fetch_early(&quads[walk.place & ~MeshRays::quad_bit], sizeof(Quad));
    else fetch_early(&nodes[walk.place], sizeof(Node));
  }
}

// Embree's builder passes nodes as pointers, and null means failure: the pointer is the index plus one.
void* as_pointer(std::uint32_t place) { return reinterpret_cast<void*>(std::uintptr_t{place} + 1); }
std::uint32_t as_place(const void* pointer) {
  return narrow<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pointer) - 1);
}

}  // namespace

MeshRays::MeshRays(RTCDevice device, model::Mesh mesh) : mesh_(std::move(mesh)) {
  model::Bounds all;
  for (const Vec3& v : mesh_->vertices) all.add(v);
  centre_ = all.empty() ? Vec3{} : (all.low + all.high) * 0.5;
  for (const Vec3& v : mesh_->vertices) radius_ = std::max(radius_, length(v - centre_));
  if (!mesh_->triangles.empty()) build(device);
}

void MeshRays::build(RTCDevice device) {
  const std::size_t triangles = mesh_->triangles.size();
  std::vector<RTCBuildPrimitive> boxes(triangles);
  const double margin = blur * radius_;
  const auto box_triangles = [&] {
    for (std::size_t t = 0; t < triangles; ++t) {
      model::Bounds box;
      for (const std::uint32_t corner : mesh_->triangles[t]) box.add(mesh_->vertices[corner] - centre_);
      boxes[t] = {to_float(box.low.x - margin),  to_float(box.low.y - margin),
                  to_float(box.low.z - margin),  0,
                  to_float(box.high.x + margin), to_float(box.high.y + margin),
                  to_float(box.high.z + margin), narrow<unsigned>(t)};
    }
    nodes_.clear(), quads_.clear();
  };
  nodes_.reserve(triangles / 6 + 1), quads_.reserve(triangles / 2 + 1);

  RTCBuildArguments arguments = rtcDefaultBuildArguments();
  arguments.maxBranchingFactor = 4;
  arguments.maxDepth = deepest;
  arguments.sahBlockSize = arguments.maxLeafSize = 4;
  arguments.primitives = boxes.data();
  arguments.primitiveCount = arguments.primitiveArrayCapacity = triangles;
  arguments.userPtr = this;
  arguments.createNode = [](RTCThreadLocalAllocator, unsigned, void* mesh) {
    std::vector<Node>& nodes = static_cast<MeshRays*>(mesh)->nodes_;
    Node node{};
    constexpr float infinite = std::numeric_limits<float>::infinity();
    for (auto& axis : node.sides)
      for (int i = 0; i < 4; ++i)
        axis[0][i] = infinite, axis[1][i] = -infinite;  // no ray enters a box of a missing child
    nodes.push_back(node);
    return as_pointer(narrow<std::uint32_t>(nodes.size() - 1));
  };
  arguments.setNodeBounds = [](void* place, const RTCBounds** bounds, unsigned count, void* mesh) {
    Node& node = static_cast<MeshRays*>(mesh)->nodes_[as_place(place)];
    for (unsigned i = 0; i < count; ++i) {
      node.sides[0][0][i] = bounds[i]->lower_x, node.sides[0][1][i] = bounds[i]->upper_x;
      node.sides[1][0][i] = bounds[i]->lower_y, node.sides[1][1][i] = bounds[i]->upper_y;
      node.sides[2][0][i] = bounds[i]->lower_z, node.sides[2][1][i] = bounds[i]->upper_z;
    }
  };
  arguments.setNodeChildren = [](void* place, void** children, unsigned count, void* mesh) {
    Node& node = static_cast<MeshRays*>(mesh)->nodes_[as_place(place)];
    for (unsigned i = 0; i < count; ++i) node.child[i] = as_place(children[i]);
  };
  arguments.createLeaf = [](RTCThreadLocalAllocator, const RTCBuildPrimitive* leaf, std::size_t count, void* mesh) {
    std::uint32_t numbers[4];
    for (std::size_t i = 0; i < count; ++i) numbers[i] = leaf[i].primID;
    std::sort(numbers, numbers + count);  // of equal distances the lowest number wins
    return as_pointer(static_cast<MeshRays*>(mesh)->add_quad({numbers, count}) | quad_bit);
  };
  // Medium quality first; if triangles are so uneven that this tree becomes too deep, low quality, which is balanced.
  const void* root = nullptr;
  for (const RTCBuildQuality quality : {RTC_BUILD_QUALITY_MEDIUM, RTC_BUILD_QUALITY_LOW}) {
    if (root != nullptr) break;
    box_triangles();
    arguments.buildQuality = quality;
    arguments.bvh = rtcNewBVH(device);
    root = rtcBuildBVH(&arguments);
    rtcReleaseBVH(arguments.bvh);
  }
  VOLVOX_CHECK(root != nullptr, "Embree sorts any triangles");
  root_ = as_place(root);
}

std::uint32_t MeshRays::add_quad(std::span<const std::uint32_t> triangles) {
  VOLVOX_ASSERT(!triangles.empty() && triangles.size() <= 4);
  Quad& quad = quads_.emplace_back();
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint32_t number = triangles[i < triangles.size() ? i : 0];  // fewer than four: the first fills up
    const auto& [j, k, l] = mesh_->triangles[number];
    const Vec3 a = mesh_->vertices[j], ab = mesh_->vertices[k] - a, ac = mesh_->vertices[l] - a;
    for (int axis = 0; axis < 3; ++axis)
      quad.a[axis][i] = a[axis], quad.ab[axis][i] = ab[axis], quad.ac[axis][i] = ac[axis];
    quad.triangle[i] = number;
  }
  return narrow<std::uint32_t>(quads_.size() - 1);
}

void MeshRays::cast(const LocalRay* rays, MeshHit* hits, int count) const {
  VOLVOX_ASSERT(count >= 0 && count <= packet);
  Walk walks[packet];
  int walking = 0;
  for (int i = 0; i < count; ++i) {
    hits[i] = {};
    if (quads_.empty()) continue;
    // A ray from far away starts near the mesh, where floats are precise enough.
    const Vec3 away = rays[i].origin - centre_;
    const double skipped = std::max(0.0, length(away) - 2 * radius_);
    walks[walking].begin(rays[i], hits[i], root_, away + rays[i].direction * skipped, skipped, blur * radius_);
    if (walks[walking].reach >= 0) ++walking;
  }
  walk_in_turn(walks, walking, nodes_.data(), quads_.data());
}

}  // namespace volvox::rays
