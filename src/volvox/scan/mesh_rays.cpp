#include "volvox/scan/mesh_rays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "volvox/model/ray_shapes.h"

// Compiled twice, as in net/: AVX2 where the processor has it. Never fused, so the bits are the same.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VOLVOX_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define VOLVOX_CLONES
#endif

namespace volvox::scan {
namespace {

// What single precision may do to a ray near the mesh, as a part of the mesh's radius: a few
// roundings of 2^-24. Boxes are larger by this, so that none is passed by that should not be.
constexpr double blur = 4e-6;

// A packet on its way: the exact rays and the best hits so far, by Embree's ray id.
struct Flight {
  RTCIntersectContext context;  // first: Embree hands back its address
  const MeshRays::LocalRay* rays;
  MeshHit* hits;
  double* ranges;  // to the best hit
  double* skipped; // how far ahead of the origin Embree's ray begins
};

// The nearest of a quad's triangles on the ray's way, by model::meet_triangle in lockstep; the first
// of those at one distance. Infinitely far: none.
struct Nearest {
  double distance;
  int place;
};
VOLVOX_CLONES
Nearest nearest_of(const MeshRays::Quad& quad, const Vec3& o, const Vec3& d) {
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
  constexpr double slack = model::TriangleMeeting::slack;
  const auto inside = (u >= -slack) & (v >= -slack) & (u + v <= 1 + slack) & (t >= 0.0);
  const Four none = Four{} + std::numeric_limits<double>::infinity();
  const Four met = inside ? t : none;
  Nearest nearest{met[0], 0};
  for (int i = 1; i < 4; ++i)
    if (met[i] < nearest.distance) nearest = {met[i], i};
  return nearest;
}

}  // namespace

MeshRays::MeshRays(RTCDevice device, model::Mesh mesh) : mesh_(std::move(mesh)) {
  model::Bounds all;
  for (const Vec3& v : mesh_->vertices) all.add(v);
  centre_ = all.empty() ? Vec3{} : (all.low + all.high) * 0.5;
  for (const Vec3& v : mesh_->vertices) radius_ = std::max(radius_, length(v - centre_));

  std::vector<Vec3> middles;
  for (const auto& [i, j, k] : mesh_->triangles) middles.push_back(mesh_->vertices[i] + mesh_->vertices[j] + mesh_->vertices[k]);
  std::vector<std::uint32_t> order(middles.size());
  std::iota(order.begin(), order.end(), 0u);
  quads_.reserve(order.size() / 4 + 1);
  sort_into_quads(order.data(), order.data() + order.size(), middles);

  scene_ = rtcNewScene(device);
  rtcSetSceneFlags(scene_, RTC_SCENE_FLAG_ROBUST);
  rtcSetSceneBuildQuality(scene_, RTC_BUILD_QUALITY_MEDIUM);
  RTCGeometry boxes = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
  rtcSetGeometryUserPrimitiveCount(boxes, static_cast<unsigned>(quads_.size()));
  rtcSetGeometryUserData(boxes, this);
  rtcSetGeometryBoundsFunction(boxes, [](const RTCBoundsFunctionArguments* args) {
    const auto& rays = *static_cast<const MeshRays*>(args->geometryUserPtr);
    *args->bounds_o = rays.box(rays.quads_[args->primID]);
  }, nullptr);
  rtcSetGeometryIntersectFunction(boxes, hit_quad);
  rtcCommitGeometry(boxes);
  rtcAttachGeometry(scene_, boxes);
  rtcReleaseGeometry(boxes);
  rtcCommitScene(scene_);
}

MeshRays::~MeshRays() { rtcReleaseScene(scene_); }

// Halves the triangles along the longest side of the box of their middles until four are left.
void MeshRays::sort_into_quads(std::uint32_t* begin, std::uint32_t* end, const std::vector<Vec3>& middles) {
  const auto count = end - begin;
  if (count == 0) return;
  if (count <= 4) return add_quad(begin, end);
  model::Bounds spread;
  for (const std::uint32_t* t = begin; t != end; ++t) spread.add(middles[*t]);
  const Vec3 size = spread.high - spread.low;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  std::uint32_t* half = begin + (count / 2 + 3) / 4 * 4;
  std::nth_element(begin, half, end, [&](std::uint32_t s, std::uint32_t t) {
    return middles[s][axis] != middles[t][axis] ? middles[s][axis] < middles[t][axis] : s < t;
  });
  sort_into_quads(begin, half, middles);
  sort_into_quads(half, end, middles);
}

void MeshRays::add_quad(std::uint32_t* begin, std::uint32_t* end) {
  std::sort(begin, end);  // so that the first is the one with the lowest number
  Quad& quad = quads_.emplace_back();
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t number = begin + i < end ? begin[i] : *begin;  // the first again, where there are fewer
    const auto& [j, k, l] = mesh_->triangles[number];
    const Vec3 a = mesh_->vertices[j], ab = mesh_->vertices[k] - a, ac = mesh_->vertices[l] - a;
    for (int axis = 0; axis < 3; ++axis) quad.a[axis][i] = a[axis], quad.ab[axis][i] = ab[axis], quad.ac[axis][i] = ac[axis];
    quad.triangle[i] = number;
  }
}

RTCBounds MeshRays::box(const Quad& quad) const {
  model::Bounds bounds;
  for (const std::uint32_t triangle : quad.triangle)
    for (const std::uint32_t corner : mesh_->triangles[triangle]) bounds.add(mesh_->vertices[corner] - centre_);
  const double margin = blur * radius_;
  RTCBounds out{};
  out.lower_x = static_cast<float>(bounds.low.x - margin), out.upper_x = static_cast<float>(bounds.high.x + margin);
  out.lower_y = static_cast<float>(bounds.low.y - margin), out.upper_y = static_cast<float>(bounds.high.y + margin);
  out.lower_z = static_cast<float>(bounds.low.z - margin), out.upper_z = static_cast<float>(bounds.high.z + margin);
  return out;
}

// Embree: some rays of a packet may pass this box.
void MeshRays::hit_quad(const RTCIntersectFunctionNArguments* args) {
  const auto& mesh = *static_cast<const MeshRays*>(args->geometryUserPtr);
  const Quad& quad = mesh.quads_[args->primID];
  Flight& flight = *reinterpret_cast<Flight*>(args->context);
  RTCRayN* rays = RTCRayHitN_RayN(args->rayhit, args->N);
  for (unsigned lane = 0; lane < args->N; ++lane) {
    if (args->valid[lane] == 0) continue;
    const unsigned number = RTCRayN_id(rays, args->N, lane);
    const Nearest nearest = nearest_of(quad, flight.rays[number].origin, flight.rays[number].direction);
    MeshHit& best = flight.hits[number];
    double& range = flight.ranges[number];
    if (nearest.distance > range || nearest.distance == std::numeric_limits<double>::infinity()) continue;
    const std::uint32_t triangle = quad.triangle[nearest.place];
    if (nearest.distance == range && best.distance >= 0 && best.triangle <= triangle) continue;
    const int i = nearest.place;
    best = {nearest.distance, triangle,
            cross({quad.ab[0][i], quad.ab[1][i], quad.ab[2][i]}, {quad.ac[0][i], quad.ac[1][i], quad.ac[2][i]})};
    range = nearest.distance;
    // A little more, so that what lies at the same distance is still looked at.
    RTCRayN_tfar(rays, args->N, lane) = static_cast<float>(range - flight.skipped[number] + blur * mesh.radius_);
  }
}

void MeshRays::cast(const LocalRay* rays, MeshHit* hits, int count) const {
  double ranges[packet], skipped[packet];
  Flight flight{{}, rays, hits, ranges, skipped};
  rtcInitIntersectContext(&flight.context);
  Vec3 from[packet];
  for (int i = 0; i < count; ++i) {
    hits[i] = {};
    ranges[i] = rays[i].range;
    // From far away, Embree's ray begins near the mesh, where floats are fine enough.
    const Vec3 away = rays[i].origin - centre_;
    skipped[i] = std::max(0.0, length(away) - 2 * radius_);
    from[i] = away + rays[i].direction * skipped[i];
  }
  if (count == 1) {
    RTCRayHit query;
    query.ray = {static_cast<float>(from->x), static_cast<float>(from->y), static_cast<float>(from->z), 0,
                 static_cast<float>(rays->direction.x), static_cast<float>(rays->direction.y), static_cast<float>(rays->direction.z), 0,
                 static_cast<float>(ranges[0] - skipped[0] + blur * radius_), 0xffffffffu, 0, 0};
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    if (query.ray.tfar >= 0) rtcIntersect1(scene_, &flight.context, &query);
    return;
  }
  alignas(32) int valid[packet];
  RTCRayHit8 query;
  for (int i = 0; i < packet; ++i) {
    const int k = i < count ? i : 0;
    query.ray.org_x[i] = static_cast<float>(from[k].x);
    query.ray.org_y[i] = static_cast<float>(from[k].y);
    query.ray.org_z[i] = static_cast<float>(from[k].z);
    query.ray.dir_x[i] = static_cast<float>(rays[k].direction.x);
    query.ray.dir_y[i] = static_cast<float>(rays[k].direction.y);
    query.ray.dir_z[i] = static_cast<float>(rays[k].direction.z);
    query.ray.tnear[i] = 0;
    query.ray.tfar[i] = static_cast<float>(ranges[k] - skipped[k] + blur * radius_);
    query.ray.time[i] = 0;
    query.ray.mask[i] = 0xffffffffu;
    query.ray.id[i] = static_cast<unsigned>(k);
    query.ray.flags[i] = 0;
    query.hit.geomID[i] = RTC_INVALID_GEOMETRY_ID;
    valid[i] = i < count && query.ray.tfar[i] >= 0 ? -1 : 0;
  }
  rtcIntersect8(valid, scene_, &flight.context, &query);
}

}  // namespace volvox::scan
