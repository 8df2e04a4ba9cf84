// One scan of a laser rangefinder, 360 rays, in arenas of more and more triangles: table 3 of the Symbrion paper.
// Compared with Embree's own triangles in single precision on the same rays (one at a time, and in packets of eight).
// Embree solves a simpler problem: no moving bodies, no double precision, and hits may differ between processors.
// Scans are those of a driving robot, as a sensor makes them, and scattered ones with cold caches: Embree casts every
// other scan one ray at a time, the others in packets, so that it never casts a scan that it has just cast. Medians
// over many scans of this thread's processor time. `bench_rays [SCANS]`.
#include <embree3/rtcore.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/rays/ray_caster.h"

namespace {

using namespace volvox;

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return real(now.tv_sec) * 1e3 + real(now.tv_nsec) * 1e-6;
}

// A room of 4 x 3 x 1 m with uneven sides. Each of its six sides has `cells` squares per metre, or two triangles if
// that is 0.
model::Mesh room(int cells, RandomStream& random) {
  auto mesh = std::make_shared<model::MeshData>();
  const Vec3 size{4, 3, 1};
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {-0.5, 0.5}) {
      const int other = (axis + 1) % 3, third = (axis + 2) % 3;
      const int n = cells == 0 ? 1 : truncated(cells * size[other]),
                m = cells == 0 ? 1 : truncated(cells * size[third]);
      const auto first = narrow<std::uint32_t>(mesh->vertices.size());
      for (int j = 0; j <= m; ++j)
        for (int i = 0; i <= n; ++i) {
          Vec3 p;
          p[axis] = side * size[axis] + (i > 0 && i < n && j > 0 && j < m ? random.uniform(-0.005, 0.005) : 0);
          p[other] = (real(i) / n - 0.5) * size[other];
          p[third] = (real(j) / m - 0.5) * size[third];
          mesh->vertices.push_back(p);
        }
      for (int j = 0; j < m; ++j)
        for (int i = 0; i < n; ++i) {
          const std::uint32_t a = first + j * (n + 1) + i, b = a + 1, c = b + n + 1, d = c - 1;
          mesh->triangles.push_back({a, b, c});
          mesh->triangles.push_back({a, c, d});
        }
    }
  // Two boxes inside, like the obstacles in the paper's arena.
  for (int k = 0; k < 2; ++k)
    for (int axis = 0; axis < 3; ++axis)
      for (const double side : {-0.25, 0.25}) {
        const auto first = narrow<std::uint32_t>(mesh->vertices.size());
        for (int corner = 0; corner < 4; ++corner) {
          Vec3 p;
          p[axis] = side;
          p[(axis + 1) % 3] = corner == 1 || corner == 2 ? 0.25 : -0.25;
          p[(axis + 2) % 3] = corner >= 2 ? 0.25 : -0.25;
          mesh->vertices.push_back(p + Vec3{k == 0 ? -1.2 : 1.3, k == 0 ? 0.6 : -0.8, 0});
        }
        mesh->triangles.push_back({first, first + 1, first + 2});
        mesh->triangles.push_back({first, first + 2, first + 3});
      }
  return mesh;
}

// Embree alone.
class Peer {
 public:
  explicit Peer(const model::MeshData& mesh) : device_(rtcNewDevice("threads=1")), scene_(rtcNewScene(device_)) {
    RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    auto* v = static_cast<float*>(
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, mesh.vertices.size()));
    for (const Vec3& p : mesh.vertices)
      for (int i = 0; i < 3; ++i) *v++ = to_float(p[i]);
    auto* t = static_cast<std::uint32_t*>(
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, mesh.triangles.size()));
    for (const auto& triangle : mesh.triangles) t = std::copy(triangle.begin(), triangle.end(), t);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene_, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene_);
  }
  ~Peer() { rtcReleaseScene(scene_), rtcReleaseDevice(device_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void one_by_one(const std::vector<rays::Ray>& rays, std::vector<float>& distances) const {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    for (std::size_t i = 0; i < rays.size(); ++i) {
      const rays::Ray& r = rays[i];
      RTCRayHit query;
      query.ray = {to_float(r.origin.x),
                   to_float(r.origin.y),
                   to_float(r.origin.z),
                   0,
                   to_float(r.direction.x),
                   to_float(r.direction.y),
                   to_float(r.direction.z),
                   0,
                   to_float(r.range),
                   0xffffffffu,
                   0,
                   0};
      query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
      rtcIntersect1(scene_, &context, &query);
      distances[i] = query.ray.tfar;
    }
  }
  void by_eight(const std::vector<rays::Ray>& rays, std::vector<float>& distances) const {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    alignas(32) const int valid[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (std::size_t k = 0; k + 8 <= rays.size(); k += 8) {
      RTCRayHit8 query;
      for (std::size_t i = 0; i < 8; ++i) {
        const rays::Ray& r = rays[k + i];
        query.ray.org_x[i] = static_cast<float>(r.origin.x), query.ray.org_y[i] = static_cast<float>(r.origin.y),
        query.ray.org_z[i] = static_cast<float>(r.origin.z);
        query.ray.dir_x[i] = static_cast<float>(r.direction.x), query.ray.dir_y[i] = static_cast<float>(r.direction.y),
        query.ray.dir_z[i] = static_cast<float>(r.direction.z);
        query.ray.tnear[i] = 0, query.ray.tfar[i] = static_cast<float>(r.range), query.ray.time[i] = 0;
        query.ray.mask[i] = 0xffffffffu, query.ray.id[i] = 0, query.ray.flags[i] = 0;
        query.hit.geomID[i] = RTC_INVALID_GEOMETRY_ID;
      }
      rtcIntersect8(valid, scene_, &context, &query);
      for (std::size_t i = 0; i < 8; ++i) distances[k + i] = query.ray.tfar[i];
    }
  }

 private:
  RTCDevice device_;
  RTCScene scene_;
};

double quantile(std::vector<double>& times, double part) {
  std::sort(times.begin(), times.end());
  return times[truncated<std::size_t>(part * real(times.size() - 1))];
}

struct Goal {
  int cells;
  double paper_ms, goal_ms;
};

using Scan = std::vector<rays::Ray>;

Scan scan_from(const Vec3& place, const Quat& turn) {
  Scan rays;
  for (int i = 0; i < 360; ++i)
    rays.push_back({place, turn * Vec3{volvox::cos(radians(i)), volvox::sin(radians(i)), 0}, 8, 0});
  return rays;
}

// Scan k of a robot that drives in a circle at 1 m/s and scans 60 times per second.
Scan scan_on_circle(int k) {
  const double angle = k / 60.0 / 0.5;
  return scan_from({0.5 * volvox::cos(angle), 0.5 * volvox::sin(angle), 0.1}, Quat::axis_angle({0, 0, 1}, angle));
}
// A random place between the boxes and a random tilt, so that few triangles are still in the caches.
Scan scan_from_anywhere(RandomStream& random) {
  const Vec3 place{random.uniform(-0.9, 1), random.uniform(-0.5, 0.3), random.uniform(-0.4, 0.4)};
  return scan_from(place, Quat::axis_angle(normalized(Vec3{random.normal(), random.normal(), random.normal()}),
                                           random.uniform(0, pi)));
}

}  // namespace

int main(int argc, char** argv) {
  const int scans = argc > 1 ? std::max(2, std::atoi(argv[1])) : 2000;
  fmt::print("{:>10} {:>9} {:>10} {:>8} {:>14} {:>16} {:>12} {:>8}\n", "triangles", "scans", "median ms", "p95 ms",
             "Embree by one", "Embree by eight", "paper ms", "goal ms");
  for (const Goal& goal : {Goal{0, 3.5, 0.05}, Goal{7, 115, 0.05}, Goal{13, 333, 0.06}, Goal{113, 0, 0.1}}) {
    RandomStream random(1, 0, "room");
    const model::Mesh mesh = room(goal.cells, random);
    const rays::RayCaster caster(mesh);
    const Peer peer(*mesh);
    for (const bool drives : {true, false}) {
      std::vector<double> times, one_by_one, by_eight;
      std::vector<float> distances(360);
      std::vector<rays::Hit> hits(360);
      for (int k = 0; k < scans; ++k) {
        const Scan rays = drives ? scan_on_circle(k) : scan_from_anywhere(random);
        const double begin = cpu_ms();
        caster.cast(rays, hits);
        const double cast = cpu_ms();
        if (k % 2 == 0) peer.one_by_one(rays, distances);
        else peer.by_eight(rays, distances);
        (k % 2 == 0 ? one_by_one : by_eight).push_back(cpu_ms() - cast);
        times.push_back(cast - begin);
        for (const rays::Hit& hit : hits)
          if (!hit.hit()) return fmt::print("a ray left the room\n"), 1;
      }
      fmt::print("{:>10} {:>9} {:>10.4f} {:>8.4f} {:>14.4f} {:>16.4f} {:>12} {:>8}\n", mesh->triangles.size(),
                 drives ? "driving" : "scattered", quantile(times, 0.5), quantile(times, 0.95),
                 quantile(one_by_one, 0.5), quantile(by_eight, 0.5),
                 drives && goal.paper_ms > 0 ? fmt::format("{}", goal.paper_ms) : "-",
                 drives ? fmt::format("{}", goal.goal_ms) : "-");
    }
  }
}
