// Finds planes in a cloud, the first half of the method PF of seed 002: clusters of points on a plane grow from
// random places; clusters in the same plane are merged. In contrast to seed 002, a cluster grows to the end of its
// plane, and growth starts at every flat place that is not yet explained: seed 002 used a fixed number of starts and
// missed two walls. Metres; the same seed gives the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/base/random.h"

namespace volvox::scan {

// Sums over points for fitting a plane; the moments of a union of sets are the sum of their moments.
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
  Vec3 normal;        // unit length
  double offset = 0;  // dot(normal, p) for points p of the plane, m
  double rms = 0;     // distance of the points from the plane, m, unbiased
  double spread = 0;  // the smaller of the two standard deviations of the points within the plane, m

  double distance(const Vec3& p) const { return dot(normal, p) - offset; }
};
// At least three points.
FittedPlane fit_plane(const Moments& moments);

struct PlaneOptions {
  std::uint64_t seed = 1;
  double noise = 0;  // standard deviation perpendicular to the surface, m; 0: estimated
};

struct PlaneSet {
  double cell = 0;     // m: edge length of the grid
  double noise = 0;    // m: estimated
  double density = 0;  // points per square metre
  std::vector<FittedPlane> planes;
  std::vector<std::int32_t> label;    // the plane of each point, or -1
  std::vector<std::int32_t> first{};  // the cluster of each point before they were merged, or -1 (seed 002, figure 5a)
};

PlaneSet find_planes(std::span<const Vec3> points, const PlaneOptions& options);

// The edge length of cubic cells whose occupied cells contain this number of points on average.
double cell_for(std::span<const Vec3> points, double points_a_cell);

}  // namespace volvox::scan
