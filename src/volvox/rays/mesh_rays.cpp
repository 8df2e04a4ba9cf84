#include "volvox/rays/mesh_rays.h"

#include <algorithm>
#include <cmath>
#include <cstring>
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

// Eight rays side by side: one for each lane.
using Lanes = float __attribute__((vector_size(32)));
constexpr float infinite = std::numeric_limits<float>::infinity();

VOLVOX_KERNEL unsigned not_above(const Lanes& a, const Lanes& b) {
  const Floats low_a = __builtin_shufflevector(a, a, 0, 1, 2, 3), high_a = __builtin_shufflevector(a, a, 4, 5, 6, 7);
  const Floats low_b = __builtin_shufflevector(b, b, 0, 1, 2, 3), high_b = __builtin_shufflevector(b, b, 4, 5, 6, 7);
  return not_above(low_a, low_b) | not_above(high_a, high_b) << 4;
}

// In halves, as they were written.
VOLVOX_KERNEL void load(Lanes& lanes, const float* values) {
  Floats halves[2];
  std::memcpy(halves, values, sizeof halves);
  lanes = __builtin_shufflevector(halves[0], halves[1], 0, 1, 2, 3, 4, 5, 6, 7);
}

// The traversal of the tree by eight rays together: a node is visited if any of them enters its box.
struct Packet {
  struct Waiting {
    Lanes distance;  // of each ray to the box; infinite: it does not enter
    std::uint32_t place;

    // One by one: GCC 12 copies the whole in pieces, and the next load of the distances would wait for all of them.
    VOLVOX_KERNEL void set(const Waiting& other) { distance = other.distance, place = other.place; }
  };

  Packet() {}  // begin() sets what is used; the stack is not initialised
  VOLVOX_KERNEL void begin(const MeshRays::Rays& exact, MeshRays::Hits& found, const Vec3& centre, double radius);
  VOLVOX_KERNEL void shorten(int lane, double to) { range[lane] = to, reach[lane] = to_float(to - skipped + slack); }

  Lanes origin[3], inverse[3];     // of the direction
  Lanes reach;                     // boxes farther than this are skipped; negative: no such ray
  double range[MeshRays::packet];  // to the best hit
  double skipped, slack;           // how far ahead of the origin the walk begins
  bool mixed;                      // directions have different signs, so not all rays come to a box from the same sides
  int near_side[3];                // of a box, as the rays come, unless mixed
  const MeshRays::Rays* rays;
  MeshRays::Hits* hits;
  int waiting;
  Waiting stack[3 * (deepest + 2) + 1];  // the nearest on top
};

// The traversal of the tree by one ray: its next node and the stack of nodes to visit later.
struct Walk {
  struct Waiting {
    float distance;  // to its box
    std::uint32_t place;
  };

  Walk() {}  // begin() sets what is used; the stack is not initialised
  // Goes on alone from `begin`, and later to what waits for this ray in the packet.
  VOLVOX_KERNEL void begin(const Packet& packet, int lane, std::uint32_t begin) {
    for (int i = 0; i < 3; ++i) {
      origin[i] = all_four(packet.origin[i][lane]);
      inverse[i] = all_four(packet.inverse[i][lane]);
      near_side[i] = packet.inverse[i][lane] < 0 ? 1 : 0;
    }
    rays = packet.rays, hits = packet.hits, number = lane;
    range = packet.range[lane], skipped = packet.skipped, slack = packet.slack;
    reach = packet.reach[lane];
    place = begin, waiting = 0;
    for (int k = 0; k < packet.waiting; ++k)
      if (const Packet::Waiting& other = packet.stack[k]; other.distance[lane] <= reach)
        stack[waiting++] = {other.distance[lane], other.place};
  }
  // A little farther than the range, so that other triangles at the same distance are still tested.
  VOLVOX_KERNEL void shorten(double to) { range = to, reach = to_float(to - skipped + slack); }

  Floats origin[3], inverse[3];  // of the direction; the same four times
  int near_side[3];              // of a box, as the ray comes
  float reach;                   // boxes farther than this are skipped
  std::uint32_t place;
  int waiting;
  double range, skipped, slack;  // to the best hit; how far ahead of the origin the walk begins
  const MeshRays::Rays* rays;
  MeshRays::Hits* hits;
  int number;                        // of the ray
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

using Four = double __attribute__((vector_size(32)));

VOLVOX_KERNEL unsigned not_above(const Four& a, const Four& b) {
  const auto lanes = a <= b;
#if defined(__SSE2__)
  using Two = double __attribute__((vector_size(16)));
  const auto low = __builtin_shufflevector(lanes, lanes, 0, 1), high = __builtin_shufflevector(lanes, lanes, 2, 3);
  return __builtin_ia32_movmskpd(reinterpret_cast<Two>(low)) | __builtin_ia32_movmskpd(reinterpret_cast<Two>(high))
                                                                   << 2;
#else
  unsigned bits = 0;
  for (int i = 0; i < 4; ++i) bits |= lanes[i] != 0 ? 1u << i : 0u;
  return bits;
#endif
}

// What meet_triangle computes from the origin of a ray alone, for four triangles: rays with the same origin share it.
struct FromOrigin {
  Four s[3], q[3], t;

  VOLVOX_KERNEL FromOrigin(const Quad& quad, const Vec3& origin) {
    const Four* a = reinterpret_cast<const Four*>(quad.a);
    const Four* ab = reinterpret_cast<const Four*>(quad.ab);
    const Four* ac = reinterpret_cast<const Four*>(quad.ac);
    s[0] = origin.x - a[0], s[1] = origin.y - a[1], s[2] = origin.z - a[2];
    q[0] = s[1] * ab[2] - s[2] * ab[1], q[1] = s[2] * ab[0] - s[0] * ab[2], q[2] = s[0] * ab[1] - s[1] * ab[0];
    t = ac[0] * q[0] + ac[1] * q[1] + ac[2] * q[2];
  }
};

// The nearest triangle of a quad that the ray hits, by meet_triangle on four lanes; of several at the same distance the
// first. An infinite distance: none.
struct Nearest {
  double distance;
  int place;
};
VOLVOX_KERNEL Nearest nearest_of(const Quad& quad, const FromOrigin& from, const MeshRays::Rays& rays, int ray) {
  const Vec3 d{rays.direction[0][ray], rays.direction[1][ray], rays.direction[2][ray]};
  const Four* ab = reinterpret_cast<const Four*>(quad.ab);
  const Four* ac = reinterpret_cast<const Four*>(quad.ac);
  const Four px = d.y * ac[2] - d.z * ac[1], py = d.z * ac[0] - d.x * ac[2], pz = d.x * ac[1] - d.y * ac[0];
  const Four determinant = ab[0] * px + ab[1] * py + ab[2] * pz;
  const Four inverse = 1.0 / determinant;
  const Four u = (from.s[0] * px + from.s[1] * py + from.s[2] * pz) * inverse;
  const Four v = (d.x * from.q[0] + d.y * from.q[1] + d.z * from.q[2]) * inverse, t = from.t * inverse;
  constexpr double slack = TriangleMeeting::slack;
  const auto inside = (u >= -slack) & (v >= -slack) & (u + v <= 1 + slack) & (t >= 0.0);
  const Four none = Four{} + std::numeric_limits<double>::infinity();
  const Four met = inside ? t : none;
  using Order = long __attribute__((vector_size(32)));
  const Four halves = __builtin_shuffle(met, Order{2, 3, 0, 1});
  const Four least = met < halves ? met : halves;
  const Four other = __builtin_shuffle(least, Order{1, 0, 3, 2});
  const Four nearest = least < other ? least : other;
  return {nearest[0], __builtin_ctz(not_above(met, nearest))};
}

// Whether this is a better hit of the ray than the best one so far, which is at `range`.
VOLVOX_KERNEL bool keep(const Nearest& nearest, const Quad& quad, int ray, double range, MeshRays::Hits& hits) {
  if (nearest.distance > range || nearest.distance == std::numeric_limits<double>::infinity()) return false;
  const int i = nearest.place;
  const std::uint32_t triangle = quad.triangle[i];
  if (nearest.distance == range && hits.distance[ray] >= 0 && hits.triangle[ray] <= triangle) return false;
  hits.distance[ray] = nearest.distance, hits.triangle[ray] = triangle;
  const Vec3 normal =
      cross({quad.ab[0][i], quad.ab[1][i], quad.ab[2][i]}, {quad.ac[0][i], quad.ac[1][i], quad.ac[2][i]});
  for (int axis = 0; axis < 3; ++axis) hits.normal[axis][ray] = normal[axis];
  return true;
}

VOLVOX_KERNEL void try_triangles(Walk& walk, const Quad& quad) {
  walk.place = nowhere;
  const FromOrigin from(quad, walk.rays->origin);
  const Nearest nearest = nearest_of(quad, from, *walk.rays, walk.number);
  if (keep(nearest, quad, walk.number, walk.range, *walk.hits)) walk.shorten(walk.hits->distance[walk.number]);
}

VOLVOX_KERNEL void fetch_early(std::uint32_t place, const Node* nodes, const Quad* quads) {
  const bool quad = (place & MeshRays::quad_bit) != 0;
  const char* begin = quad ? reinterpret_cast<const char*>(&quads[place & ~MeshRays::quad_bit])
                           : reinterpret_cast<const char*>(&nodes[place]);
  for (std::size_t i = 0; i < (quad ? sizeof(Quad) : sizeof(Node)); i += 64) __builtin_prefetch(begin + i);
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
    else fetch_early(walk.place, nodes, quads);
  }
}

VOLVOX_KERNEL void Packet::begin(const MeshRays::Rays& exact, MeshRays::Hits& found, const Vec3& centre,
                                 double radius) {
  rays = &exact, hits = &found, slack = blur * radius;
  // Arrays are filled first, because compilers do not vectorize loops over the elements of a vector.
  constexpr int all = MeshRays::packet;
  float from[3][all], inverted[3][all], until[all];
  // Rays from far away start near the mesh, where floats are precise enough.
  const Vec3 away = exact.origin - centre;
  skipped = std::max(0.0, length(away) - 2 * radius);
  for (int axis = 0; axis < 3; ++axis)
    for (int i = 0; i < all; ++i) {
      from[axis][i] = to_float(away[axis] + exact.direction[axis][i] * skipped);
      const float direction = to_float(exact.direction[axis][i]);
      // Parallel to a side of the box: avoids infinities, and stays within the blur of the line.
      const float least = direction < 0 ? -1e-18f : 1e-18f;
      inverted[axis][i] = 1 / (std::fabs(direction) < 1e-18f ? least : direction);
    }
  mixed = false;
  for (int axis = 0; axis < 3; ++axis) {
    near_side[axis] = inverted[axis][0] < 0 ? 1 : 0;
    for (int i = 1; i < all; ++i) mixed |= (inverted[axis][i] < 0) != (inverted[axis][0] < 0);
  }
  // A little farther than the range, so that other triangles at the same distance are still tested.
  for (int i = 0; i < all; ++i) {
    range[i] = exact.range[i];
    until[i] = i < exact.count ? to_float(range[i] - skipped + slack) : -1.0f;
    found.distance[i] = -1;
    found.normal[0][i] = found.normal[1][i] = found.normal[2][i] = 0;
  }
  for (int axis = 0; axis < 3; ++axis) {
    load(origin[axis], from[axis]);
    load(inverse[axis], inverted[axis]);
  }
  load(reach, until);
}

// Pushes the children that any ray of the packet enters, the one that is nearest for ray `guide` last.
template <bool mixed>
VOLVOX_KERNEL void enter(Packet& packet, const Node& node, int guide, const MeshRays::Tree& tree) {
  VOLVOX_ASSERT(packet.waiting <= 3 * (deepest + 1));
  const int bottom = packet.waiting;
  for (int i = 0; i < 4; ++i) {
    if (node.sides[0][0][i] > node.sides[0][1][i]) break;  // no more children
    Lanes begin = Lanes{}, end = packet.reach;
    for (int axis = 0; axis < 3; ++axis) {
      const int side = packet.near_side[axis];
      Lanes near = (node.sides[axis][side][i] - packet.origin[axis]) * packet.inverse[axis];
      Lanes far = (node.sides[axis][1 - side][i] - packet.origin[axis]) * packet.inverse[axis];
      if (mixed) {
        const Lanes other = near;
        near = near < far ? near : far, far = far > other ? far : other;
      }
      begin = near > begin ? near : begin;
      end = far < end ? far : end;
    }
    if (not_above(begin, end) == 0) continue;
    const Packet::Waiting other{begin <= end ? begin : Lanes{} + infinite, node.child[i]};
    fetch_early(other.place, tree.nodes.data(), tree.quads.data());
    int k = packet.waiting++;
    for (; k > bottom && packet.stack[k - 1].distance[guide] < other.distance[guide]; --k)
      packet.stack[k].set(packet.stack[k - 1]);
    packet.stack[k].set(other);
  }
}

// All rays first, and then what was hit: without branches between them, several rays are computed at the same time.
VOLVOX_KERNEL void try_triangles(Packet& packet, const Quad& quad, unsigned rays) {
  Nearest nearest[MeshRays::packet];
  const FromOrigin from(quad, packet.rays->origin);
  for (unsigned left = rays; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    nearest[lane] = nearest_of(quad, from, *packet.rays, lane);
  }
  for (; rays != 0; rays &= rays - 1) {
    const int lane = __builtin_ctz(rays);
    if (keep(nearest[lane], quad, lane, packet.range[lane], *packet.hits))
      packet.shorten(lane, packet.hits->distance[lane]);
  }
}

// The rays go down the tree together as long as more than a few of them enter a node. A few leave the packet and are
// put into `alone`; returns how many. In a large tree they leave early, since rays that walk in turn do not wait for
// memory; with SSE2 at once, because eight lanes are slow there.
VOLVOX_FOR_EACH_ISA(int, walk_together,
                    (const MeshRays::Rays& exact, MeshRays::Hits& hits, const MeshRays::Tree& tree, Walk* alone),
                    (exact, hits, tree, alone)) {
  Packet packet;
  packet.begin(exact, hits, tree.centre, tree.radius);
  const int few = isa() == Isa::sse2 ? MeshRays::packet : tree.quads.size() < 50'000 ? 1 : 4;
  int left = 0;
  packet.stack[0] = {Lanes{}, tree.root};
  packet.waiting = 1;
  while (packet.waiting > 0) {
    const Packet::Waiting& top = packet.stack[--packet.waiting];
    const std::uint32_t place = top.place;
    unsigned rays = not_above(top.distance, packet.reach);
    if (rays == 0) continue;
    const int first = __builtin_ctz(rays);
    if (__builtin_popcount(rays) <= few) {
      for (; rays != 0; rays &= rays - 1) {
        const int lane = __builtin_ctz(rays);
        alone[left++].begin(packet, lane, place);
        packet.reach[lane] = -1;
      }
    } else if ((place & MeshRays::quad_bit) == 0) {
      if (packet.mixed) enter<true>(packet, tree.nodes[place], first, tree);
      else enter<false>(packet, tree.nodes[place], first, tree);
    } else {
      const Quad& quad = tree.quads[place & ~MeshRays::quad_bit];
      try_triangles(packet, quad, rays);
    }
  }
  return left;
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
  tree_.centre = all.empty() ? Vec3{} : (all.low + all.high) * 0.5;
  for (const Vec3& v : mesh_->vertices) tree_.radius = std::max(tree_.radius, length(v - tree_.centre));
  if (!mesh_->triangles.empty()) build(device);
}

void MeshRays::build(RTCDevice device) {
  const std::size_t triangles = mesh_->triangles.size();
  std::vector<RTCBuildPrimitive> boxes(triangles);
  const double margin = blur * tree_.radius;
  const auto box_triangles = [&] {
    for (std::size_t t = 0; t < triangles; ++t) {
      model::Bounds box;
      for (const std::uint32_t corner : mesh_->triangles[t]) box.add(mesh_->vertices[corner] - tree_.centre);
      boxes[t] = {to_float(box.low.x - margin),  to_float(box.low.y - margin),
                  to_float(box.low.z - margin),  0,
                  to_float(box.high.x + margin), to_float(box.high.y + margin),
                  to_float(box.high.z + margin), narrow<unsigned>(t)};
    }
    tree_.nodes.clear(), tree_.quads.clear();
  };
  tree_.nodes.reserve(triangles / 6 + 1), tree_.quads.reserve(triangles / 2 + 1);

  RTCBuildArguments arguments = rtcDefaultBuildArguments();
  arguments.maxBranchingFactor = 4;
  arguments.maxDepth = deepest;
  arguments.sahBlockSize = arguments.maxLeafSize = 4;
  arguments.primitives = boxes.data();
  arguments.primitiveCount = arguments.primitiveArrayCapacity = triangles;
  arguments.userPtr = this;
  arguments.createNode = [](RTCThreadLocalAllocator, unsigned, void* mesh) {
    std::vector<Node>& nodes = static_cast<MeshRays*>(mesh)->tree_.nodes;
    Node node{};
    for (auto& axis : node.sides)
      for (int i = 0; i < 4; ++i)
        axis[0][i] = infinite, axis[1][i] = -infinite;  // no ray enters a box of a missing child
    nodes.push_back(node);
    return as_pointer(narrow<std::uint32_t>(nodes.size() - 1));
  };
  arguments.setNodeBounds = [](void* place, const RTCBounds** bounds, unsigned count, void* mesh) {
    Node& node = static_cast<MeshRays*>(mesh)->tree_.nodes[as_place(place)];
    for (unsigned i = 0; i < count; ++i) {
      node.sides[0][0][i] = bounds[i]->lower_x, node.sides[0][1][i] = bounds[i]->upper_x;
      node.sides[1][0][i] = bounds[i]->lower_y, node.sides[1][1][i] = bounds[i]->upper_y;
      node.sides[2][0][i] = bounds[i]->lower_z, node.sides[2][1][i] = bounds[i]->upper_z;
    }
  };
  arguments.setNodeChildren = [](void* place, void** children, unsigned count, void* mesh) {
    Node& node = static_cast<MeshRays*>(mesh)->tree_.nodes[as_place(place)];
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
  tree_.root = as_place(root);
}

std::uint32_t MeshRays::add_quad(std::span<const std::uint32_t> triangles) {
  VOLVOX_ASSERT(!triangles.empty() && triangles.size() <= 4);
  Quad& quad = tree_.quads.emplace_back();
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint32_t number = triangles[i < triangles.size() ? i : 0];  // fewer than four: the first fills up
    const auto& [j, k, l] = mesh_->triangles[number];
    const Vec3 a = mesh_->vertices[j], ab = mesh_->vertices[k] - a, ac = mesh_->vertices[l] - a;
    for (int axis = 0; axis < 3; ++axis)
      quad.a[axis][i] = a[axis], quad.ab[axis][i] = ab[axis], quad.ac[axis][i] = ac[axis];
    quad.triangle[i] = number;
  }
  return narrow<std::uint32_t>(tree_.quads.size() - 1);
}

void MeshRays::cast(const Rays& rays, Hits& hits) const {
  VOLVOX_ASSERT(rays.count > 0 && rays.count <= packet);
  if (tree_.quads.empty()) {
    std::fill(hits.distance, hits.distance + packet, -1);
    for (auto& axis : hits.normal) std::fill(axis, axis + packet, 0);
    return;
  }
  Walk alone[packet];
  const int left = walk_together(rays, hits, tree_, alone);
  walk_in_turn(alone, left, tree_.nodes.data(), tree_.quads.data());
}

}  // namespace volvox::rays
