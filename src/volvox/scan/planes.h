// The planes that a cloud lies on. The first half of the method PF (seed 002): from random places,
// clusters of points that a plane fits; clusters on the same plane merged. Beyond the seed, a cluster
// grows as far as its plane goes, and places are drawn until every flat one is explained: the seed
// drew a fixed number, and missed two walls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/base/random.h"

namespace volvox::scan {

// Sums over points, from which a plane is fitted; sums of two sets are the sum of both.
struct Moments {
  double count = 0;
  Vec3 sum;
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;

  void add(const Vec3& p) {
    count += 1;
    sum += p;
    xx += p.x * p.x, yy += p.y * p.y, zz += p.z * p.z;
    xy += p.x * p.y, xz += p.x * p.z, yz += p.y * p.z;
  }
  void add(const Moments& other) {
    count += other.count;
    sum += other.sum;
    xx += other.xx, yy += other.yy, zz += other.zz, xy += other.xy, xz += other.xz, yz += other.yz;
  }
  Vec3 mean() const { return sum / count; }
};

struct FittedPlane {
  Vec3 normal;        // of length 1
  double offset = 0;  // dot(normal, p) of the points on it
  double rms = 0;     // distance of the points from it, unbiased
  double spread = 0;  // the smaller of their two deviations along it

  double distance(const Vec3& p) const { return dot(normal, p) - offset; }
};
// At least three points.
FittedPlane fit_plane(const Moments& moments);

struct PlaneOptions {
  std::uint64_t seed = 1;
  double noise = 0;  // of the points across the surface, m; 0: estimated
};

struct PlaneSet {
  double cell = 0;     // m: what counts as near
  double noise = 0;    // m: as estimated
  double density = 0;  // points a square metre
  std::vector<FittedPlane> planes;
  std::vector<std::int32_t> label;  // a point's plane, or -1
};

PlaneSet find_planes(std::span<const Vec3> points, const PlaneOptions& options);

// The edge length of cubes that hold so many points of the surface, on average.
double cell_for(std::span<const Vec3> points, double points_a_cell);

}  // namespace volvox::scan
