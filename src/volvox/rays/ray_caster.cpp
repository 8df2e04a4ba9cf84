#include "volvox/rays/ray_caster.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/base/isa.h"
#include "volvox/rays/mesh_rays.h"
#include "volvox/rays/ray_shapes.h"

namespace volvox::rays {
namespace {

constexpr int packet = MeshRays::packet;
// A height field of more triangles than this gets no tree; rays traverse its cells instead.
constexpr std::size_t most_field_triangles = 1'000'000;
// So many parts are cheaper to test one by one than by a tree.
constexpr std::size_t few_parts = 2;

model::Mesh triangles_of(const model::HeightFieldData& field) {
  auto mesh = std::make_shared<model::MeshData>();
  const double cell_x = field.size_x / (field.columns - 1), cell_y = field.size_y / (field.rows - 1);
  for (std::uint32_t row = 0; row < field.rows; ++row)
    for (std::uint32_t column = 0; column < field.columns; ++column)
      mesh->vertices.push_back({column * cell_x - field.size_x / 2, row * cell_y - field.size_y / 2,
                                field.heights[std::size_t{row} * field.columns + column]});
  for (std::uint32_t row = 0; row + 1 < field.rows; ++row)
    for (std::uint32_t column = 0; column + 1 < field.columns; ++column) {
      const std::uint32_t a = row * field.columns + column, b = a + 1, c = b + field.columns, d = a + field.columns;
      mesh->triangles.push_back({a, b, c});
      mesh->triangles.push_back({a, c, d});
    }
  return mesh;
}

// The margin covers the rounding of rays to single precision.
RTCBounds outer(const model::Bounds& box) {
  double margin = 0;
  for (int i = 0; i < 3; ++i) margin = std::max({margin, std::fabs(box.low[i]), std::fabs(box.high[i])});
  margin = 1e-4 + 1e-6 * margin;
  RTCBounds out{};
  out.lower_x = to_float(box.low.x - margin), out.upper_x = to_float(box.high.x + margin);
  out.lower_y = to_float(box.low.y - margin), out.upper_y = to_float(box.high.y + margin);
  out.lower_z = to_float(box.low.z - margin), out.upper_z = to_float(box.high.z + margin);
  return out;
}

using Four = double __attribute__((vector_size(32)));

// The rays `numbers`, which have one origin, in the frame of a part: the same operations as turn(), and so the same
// bits.
VOLVOX_FOR_EACH_ISA(void, into_frame,
                    (const Vec3& origin, const Vec3* axes, const Ray* rays, const double* ranges,
                     const unsigned* numbers, int count, MeshRays::Rays& local),
                    (origin, axes, rays, ranges, numbers, count, local)) {
  const Vec3 away = rays[numbers[0]].origin - origin;
  local.origin = {dot(axes[0], away), dot(axes[1], away), dot(axes[2], away)};
  // Vectors are put together from four rays each: arrays that are written one number at a time and then read as vectors
  // would make the processor wait.
  for (int half = 0; half < packet; half += 4) {
    const auto of = [&](int i) -> const Vec3& { return rays[numbers[half + i < count ? half + i : 0]].direction; };
    const Vec3 &a = of(0), &b = of(1), &c = of(2), &d = of(3);
    const Four x{a.x, b.x, c.x, d.x}, y{a.y, b.y, c.y, d.y}, z{a.z, b.z, c.z, d.z};
    for (int k = 0; k < 3; ++k) {
      const Four direction = axes[k].x * x + axes[k].y * y + axes[k].z * z;
      std::memcpy(local.direction[k] + half, &direction, sizeof direction);
    }
  }
  for (int i = 0; i < packet; ++i) local.range[i] = ranges[numbers[i < count ? i : 0]];
  local.count = count;
}

// Turns the normals into the world, with unit length.
VOLVOX_FOR_EACH_ISA(void, out_of_frame, (const Vec3* axes, MeshRays::Hits& hits), (axes, hits)) {
  alignas(32) double unit[3][packet], lengths[packet];
  for (int i = 0; i < packet; ++i) {
    const double x = hits.normal[0][i], y = hits.normal[1][i], z = hits.normal[2][i];
    lengths[i] = std::sqrt(x * x + y * y + z * z);
  }
  // By hand, because compilers do not vectorize the choice.
  for (int half = 0; half < packet; half += 4) {
    Four length;
    std::memcpy(&length, lengths + half, sizeof length);
    length = length > 0.0 ? length : Four{} + 1.0;
    for (int k = 0; k < 3; ++k) {
      Four normal;
      std::memcpy(&normal, hits.normal[k] + half, sizeof normal);
      normal /= length;
      std::memcpy(unit[k] + half, &normal, sizeof normal);
    }
  }
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < packet; ++i)
      hits.normal[k][i] = axes[0][k] * unit[0][i] + axes[1][k] * unit[1][i] + axes[2][k] * unit[2][i];
}

}  // namespace

struct RayCaster::State {
  // A collider of a body.
  struct Part {
    std::uint32_t body = 0, collider = 0;
    const MeshRays* mesh = nullptr;  // null: in closed form
    Vec3 origin, axes[3];            // of the mesh's frame, or of the body's, in the world
    RTCBounds box{};

    Vec3 turn(const Vec3& v) const { return {dot(axes[0], v), dot(axes[1], v), dot(axes[2], v)}; }
    Vec3 turn_back(const Vec3& v) const { return axes[0] * v.x + axes[1] * v.y + axes[2] * v.z; }
  };
  // The parts in one tree of bounding boxes.
  struct Tree {
    explicit Tree(const State& owner) : state(owner) {}
    const State& state;
    std::vector<Part> parts;
    RTCScene boxes = nullptr;
    RTCGeometry geometry = nullptr;
    std::atomic<bool> changed{false};  // several threads may place bodies
  };
  // A packet being cast: the exact rays and their best hits so far, by Embree's ray id.
  struct Flight {
    RTCIntersectContext context;  // must be first: Embree passes its address to the callback
    const Ray* rays = nullptr;
    Hit* hits = nullptr;
    double* ranges = nullptr;
  };

  State() : device(rtcNewDevice(fmt::format("threads=1,isa={}", name(isa())).c_str())), still(*this), moving(*this) {
    VOLVOX_CHECK(device != nullptr, "Embree has no device");
  }
  ~State() {
    for (Tree* tree : {&still, &moving}) {
      if (tree->geometry != nullptr) rtcReleaseGeometry(tree->geometry);
      if (tree->boxes != nullptr) rtcReleaseScene(tree->boxes);
    }
    meshes.clear();
    rtcReleaseDevice(device);
  }

  const MeshRays* mesh_of(const model::Shape& shape);
  void put(Part& part) const;
  void sort(Tree& tree, RTCBuildQuality quality);
  void cast(const Ray* rays, Hit* hits, int count) const;
  void cast_planes(Flight& flight, int count) const;
  bool better(const Flight& flight, unsigned ray, double distance, std::uint32_t body) const {
    const Hit& best = flight.hits[ray];
    return distance < flight.ranges[ray] || (distance == flight.ranges[ray] && (!best.hit() || body < best.body));
  }
  void meet(const Part& part, Flight& flight, const unsigned* numbers, int count, bool* nearer) const;
  void meet_all(const Tree& tree, Flight& flight, int count) const;
  static void hit_part(const RTCIntersectFunctionNArguments* args);

  RTCDevice device;
  std::vector<Body> bodies;
  std::vector<std::shared_ptr<const RayGeometry>> shapes;                            // by body
  std::map<const model::Geometry*, std::shared_ptr<const RayGeometry>> shape_cache;  // for look-up only
  std::map<const void*, std::unique_ptr<MeshRays>> meshes;                           // the same
  Tree still, moving;
  std::vector<std::vector<std::uint32_t>> parts_of;  // by body: places in its tree
  std::vector<Part> planes;                          // they have no box
  std::uint64_t version = 0;
};

const MeshRays* RayCaster::State::mesh_of(const model::Shape& shape) {
  const void* key = nullptr;
  if (const auto* mesh = std::get_if<model::Mesh>(&shape)) key = mesh->get();
  if (const auto* field = std::get_if<model::HeightField>(&shape))
    if (std::size_t{2} * ((*field)->columns - 1) * ((*field)->rows - 1) <= most_field_triangles) key = field->get();
  if (key == nullptr) return nullptr;
  std::unique_ptr<MeshRays>& rays = meshes[key];
  if (!rays) {
    const auto* mesh = std::get_if<model::Mesh>(&shape);
    rays = std::make_unique<MeshRays>(device,
                                      mesh != nullptr ? *mesh : triangles_of(*std::get<model::HeightField>(shape)));
  }
  return rays.get();
}

// Computes the frame and the box of a part from the pose of its body.
void RayCaster::State::put(Part& part) const {
  VOLVOX_ASSERT(part.body < bodies.size());
  const Body& body = bodies[part.body];
  const model::Collider& collider = body.geometry->colliders[part.collider];
  const Pose place = body.pose * collider.pose;
  const Pose& frame = part.mesh != nullptr ? place : body.pose;
  part.origin = frame.position;
  for (int i = 0; i < 3; ++i)
    part.axes[i] = frame.rotation * Vec3{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
  part.box = outer(model::bounds(collider.shape, place));
}

void RayCaster::State::sort(Tree& tree, RTCBuildQuality quality) {
  if (!tree.changed) return;
  tree.changed = false;
  if (tree.boxes == nullptr) {
    tree.boxes = rtcNewScene(device);
    rtcSetSceneFlags(tree.boxes,
                     &tree == &moving ? RTC_SCENE_FLAG_ROBUST | RTC_SCENE_FLAG_DYNAMIC : RTC_SCENE_FLAG_ROBUST);
    rtcSetSceneBuildQuality(tree.boxes, quality);
    tree.geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryBuildQuality(tree.geometry, quality);
    rtcSetGeometryUserData(tree.geometry, &tree);
    rtcSetGeometryBoundsFunction(
        tree.geometry,
        [](const RTCBoundsFunctionArguments* args) {
          *args->bounds_o = static_cast<const Tree*>(args->geometryUserPtr)->parts[args->primID].box;
        },
        nullptr);
    rtcSetGeometryIntersectFunction(tree.geometry, hit_part);
    rtcAttachGeometry(tree.boxes, tree.geometry);
  }
  rtcSetGeometryUserPrimitiveCount(tree.geometry, narrow<unsigned>(tree.parts.size()));
  rtcCommitGeometry(tree.geometry);
  rtcCommitScene(tree.boxes);
}

// Casts some rays of a packet against one part; `nearer` tells which of them hit it nearer than anything before.
void RayCaster::State::meet(const Part& part, Flight& flight, const unsigned* numbers, int count, bool* nearer) const {
  std::fill(nearer, nearer + count, false);
  const auto keep = [&](int i, const Hit& hit) {
    nearer[i] = true;
    flight.hits[numbers[i]] = hit;
    flight.ranges[numbers[i]] = hit.distance;
  };
  if (part.mesh == nullptr) {
    for (int i = 0; i < count; ++i) {
      const Ray& ray = flight.rays[numbers[i]];
      const ShapeHit found = shapes[part.body]->cast(part.collider, part.turn(ray.origin - part.origin),
                                                     part.turn(ray.direction), flight.ranges[numbers[i]]);
      if (found.distance >= 0 && better(flight, numbers[i], found.distance, part.body))
        keep(i, {found.distance, part.body, 0, part.turn_back(found.normal)});
    }
    return;
  }
  MeshRays::Rays local;
  MeshRays::Hits found;
  into_frame(part.origin, part.axes, flight.rays, flight.ranges, numbers, count, local);
  part.mesh->cast(local, found);
  out_of_frame(part.axes, found);
  for (int i = 0; i < count; ++i) {
    if (found.distance[i] < 0 || !better(flight, numbers[i], found.distance[i], part.body)) continue;
    const Vec3 normal{found.normal[0][i], found.normal[1][i], found.normal[2][i]};
    const bool front = dot(normal, flight.rays[numbers[i]].direction) <= 0;
    keep(i, {found.distance[i], part.body, found.triangle[i], front ? normal : -normal});
  }
}

// Embree's callback: some rays of a packet enter the box of a part.
void RayCaster::State::hit_part(const RTCIntersectFunctionNArguments* args) {
  const Tree& tree = *static_cast<const Tree*>(args->geometryUserPtr);
  const Part& part = tree.parts[args->primID];
  Flight& flight = *reinterpret_cast<Flight*>(args->context);
  RTCRayN* rays = RTCRayHitN_RayN(args->rayhit, args->N);
  RTCHitN* embree_hits = RTCRayHitN_HitN(args->rayhit, args->N);
  const std::uint32_t owner = tree.state.bodies[part.body].owner;

  unsigned lanes[packet], numbers[packet];
  bool nearer[packet];
  int count = 0;
  for (unsigned lane = 0; lane < args->N; ++lane) {
    if (args->valid[lane] == 0) continue;
    const unsigned number = RTCRayN_id(rays, args->N, lane);
    if (owner != 0 && owner == flight.rays[number].ignore_owner) continue;
    lanes[count] = lane, numbers[count++] = number;
  }
  if (count == 0) return;
  tree.state.meet(part, flight, numbers, count, nearer);
  for (int i = 0; i < count; ++i) {
    if (!nearer[i]) continue;
    // A little more, so that other parts at the same distance are still tested.
    RTCRayN_tfar(rays, args->N, lanes[i]) =
        std::min(RTCRayN_tfar(rays, args->N, lanes[i]), to_float(flight.ranges[numbers[i]] * (1 + 1e-6) + 1e-6));
    RTCHitN_geomID(embree_hits, args->N, lanes[i]) = args->geomID;
  }
}

void RayCaster::State::cast_planes(Flight& flight, int count) const {
  for (const Part& part : planes) {
    const std::uint32_t owner = bodies[part.body].owner;
    for (int i = 0; i < count; ++i) {
      const Ray& ray = flight.rays[i];
      if (owner != 0 && owner == ray.ignore_owner) continue;
      const ShapeHit found = shapes[part.body]->cast(part.collider, part.turn(ray.origin - part.origin),
                                                     part.turn(ray.direction), flight.ranges[i]);
      if (found.distance < 0 || !better(flight, i, found.distance, part.body)) continue;
      flight.hits[i] = {found.distance, part.body, 0, part.turn_back(found.normal)};
      flight.ranges[i] = found.distance;
    }
  }
}

namespace {

// Embree ends the program at a ray that is not a number or too far away for single precision. Such a ray meets nothing.
bool can_be_cast(const Ray& ray) {
  constexpr double farthest = 1e15;  // m
  constexpr double squared = farthest * farthest;
  return length_squared(ray.origin) < squared && length_squared(ray.direction) < squared;  // false: not a number
}

}  // namespace

// Without Embree, for a few parts.
void RayCaster::State::meet_all(const Tree& tree, Flight& flight, int count) const {
  for (const Part& part : tree.parts) {
    const std::uint32_t owner = bodies[part.body].owner;
    unsigned numbers[packet];
    bool nearer[packet];
    int some = 0;
    for (int i = 0; i < count; ++i)
      if ((owner == 0 || owner != flight.rays[i].ignore_owner) && can_be_cast(flight.rays[i])) numbers[some++] = i;
    if (some > 0) meet(part, flight, numbers, some, nearer);
  }
}

void RayCaster::State::cast(const Ray* rays, Hit* hits, int count) const {
  double ranges[packet];
  Flight flight{{}, rays, hits, ranges};
  rtcInitIntersectContext(&flight.context);
  for (int i = 0; i < count; ++i) hits[i] = {}, ranges[i] = rays[i].range;
  cast_planes(flight, count);
  for (const Tree* tree : {&still, &moving}) {
    if (tree->parts.size() <= few_parts) {
      meet_all(*tree, flight, count);
      continue;
    }
    if (count == 1) {
      if (!can_be_cast(*rays)) continue;
      RTCRayHit query;
      query.ray = {to_float(rays->origin.x),
                   to_float(rays->origin.y),
                   to_float(rays->origin.z),
                   0,
                   to_float(rays->direction.x),
                   to_float(rays->direction.y),
                   to_float(rays->direction.z),
                   0,
                   to_float(ranges[0] * (1 + 1e-6) + 1e-6),
                   0xffffffffu,
                   0,
                   0};
      query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
      rtcIntersect1(tree->boxes, &flight.context, &query);
      continue;
    }
    alignas(32) int valid[packet];
    RTCRayHit8 query;
    for (int i = 0; i < packet; ++i) {
      const int k = i < count ? i : 0;
      valid[i] = i < count && can_be_cast(rays[i]) ? -1 : 0;
      query.ray.org_x[i] = to_float(rays[k].origin.x);
      query.ray.org_y[i] = to_float(rays[k].origin.y);
      query.ray.org_z[i] = to_float(rays[k].origin.z);
      query.ray.dir_x[i] = to_float(rays[k].direction.x);
      query.ray.dir_y[i] = to_float(rays[k].direction.y);
      query.ray.dir_z[i] = to_float(rays[k].direction.z);
      query.ray.tnear[i] = 0;
      query.ray.tfar[i] = to_float(ranges[k] * (1 + 1e-6) + 1e-6);
      query.ray.time[i] = 0;
      query.ray.mask[i] = 0xffffffffu;
      query.ray.id[i] = k;
      query.ray.flags[i] = 0;
      query.hit.geomID[i] = RTC_INVALID_GEOMETRY_ID;
    }
    rtcIntersect8(valid, tree->boxes, &flight.context, &query);
  }
}

RayCaster::RayCaster() : state_(std::make_unique<State>()) {}
RayCaster::~RayCaster() = default;

RayCaster::RayCaster(model::Mesh mesh) : RayCaster() {
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"mesh", std::move(mesh), {}, {}});
  add({geometry, {}, 0, false});
  update();
}

std::uint32_t RayCaster::add(const Body& body) {
  VOLVOX_ASSERT(finite(body.pose));
  VOLVOX_ASSERT(state_->shapes.size() == state_->bodies.size() && state_->parts_of.size() == state_->bodies.size());
  State& s = *state_;
  const auto number = narrow<std::uint32_t>(s.bodies.size());
  s.bodies.push_back(body);
  s.shapes.emplace_back();
  s.parts_of.emplace_back();
  if (!body.geometry) return number;
  auto& shapes = s.shape_cache[body.geometry.get()];
  if (!shapes) shapes = std::make_shared<RayGeometry>(body.geometry);
  s.shapes[number] = shapes;
  State::Tree& tree = body.moves ? s.moving : s.still;
  for (std::uint32_t c = 0; c < body.geometry->colliders.size(); ++c) {
    State::Part part{number, c, s.mesh_of(body.geometry->colliders[c].shape), {}, {}, {}};
    const bool plane = std::holds_alternative<model::Plane>(body.geometry->colliders[c].shape);
    if (!plane) s.parts_of[number].push_back(narrow<std::uint32_t>(tree.parts.size()));
    s.put(part);
    (plane ? s.planes : tree.parts).push_back(part);
  }
  tree.changed = true;
  return number;
}

void RayCaster::place(std::uint32_t body, const Pose& pose) {
  VOLVOX_ASSERT(body < state_->bodies.size());
  VOLVOX_ASSERT(finite(pose));
  State& s = *state_;
  if (s.bodies[body].pose == pose) return;
  s.bodies[body].pose = pose;
  State::Tree& tree = s.bodies[body].moves ? s.moving : s.still;
  for (const std::uint32_t part : s.parts_of[body]) s.put(tree.parts[part]);
  for (State::Part& plane : s.planes)
    if (plane.body == body) s.put(plane);
  if (s.bodies[body].geometry) tree.changed = true;
}

std::uint64_t RayCaster::version() const { return state_->version; }

void RayCaster::update() {
  if (state_->still.changed || state_->moving.changed) ++state_->version;
  state_->sort(state_->still, RTC_BUILD_QUALITY_MEDIUM);
  state_->sort(state_->moving, RTC_BUILD_QUALITY_LOW);
}

// Neighbouring rays of one sensor share a packet: they enter much the same boxes.
void RayCaster::cast(std::span<const Ray> rays, std::span<Hit> hits, ThreadPool* threads) const {
  VOLVOX_CHECK(rays.size() == hits.size(), "every ray has a hit");
  VOLVOX_CHECK(!state_->still.changed && !state_->moving.changed, "update() comes before cast()");
  std::vector<std::uint32_t> first;
  first.reserve(rays.size() / packet + 2);
  for (std::size_t i = 0; i < rays.size(); ++i)
    if (i == 0 || i - first.back() == packet || !(rays[i].origin == rays[i - 1].origin))
      first.push_back(narrow<std::uint32_t>(i));
  first.push_back(narrow<std::uint32_t>(rays.size()));
  parallel_for(threads, first.size() - 1, 64, [&](std::size_t p) {
    state_->cast(&rays[first[p]], &hits[first[p]], narrow<int>(first[p + 1] - first[p]));
  });
}

}  // namespace volvox::rays
