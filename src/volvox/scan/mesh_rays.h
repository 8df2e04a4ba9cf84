// Rays against one triangle mesh: Embree sorts boxes around four triangles each and finds those
// that a ray may pass; the triangles are then tried in our own double arithmetic. Which boxes are
// looked at depends on the processor and on how rays are packed together; which triangle is hit,
// and where, does not: the nearest, of two at one distance the first. (Embree's own triangles are
// single precision: at the rim of an obstacle another processor may miss what this one hits.)
// Internal to scan/.
#pragma once

#include <embree3/rtcore.h>

#include <array>
#include <cstdint>
#include <vector>

#include "volvox/model/shape.h"

namespace volvox::scan {

struct MeshHit {
  double distance = -1;  // negative: nothing
  std::uint32_t triangle = 0;
  Vec3 normal;  // not of unit length; out of the front (counter-clockwise) side
};

class MeshRays {
 public:
  static constexpr int packet = 8;

  MeshRays(RTCDevice device, model::Mesh mesh);
  ~MeshRays();
  MeshRays(const MeshRays&) = delete;
  MeshRays& operator=(const MeshRays&) = delete;

  // Rays in the mesh's frame, up to `packet` at once; directions are unit vectors. The nearest hit
  // of each no farther than its range, from both sides.
  struct LocalRay {
    Vec3 origin, direction;
    double range = 0;
  };
  void cast(const LocalRay* rays, MeshHit* hits, int count) const;

  // Four triangles side by side: corner a, and the edges to b and c.
  struct alignas(32) Quad {
    double a[3][4], ab[3][4], ac[3][4];
    std::uint32_t triangle[4];
  };

 private:
  void sort_into_quads(std::uint32_t* begin, std::uint32_t* end, const std::vector<Vec3>& middles);
  void add_quad(std::uint32_t* begin, std::uint32_t* end);
  RTCBounds box(const Quad& quad) const;
  static void hit_quad(const RTCIntersectFunctionNArguments* args);

  model::Mesh mesh_;
  RTCScene scene_ = nullptr;
  std::vector<Quad> quads_;
  Vec3 centre_;  // Embree's coordinates count from here: floats are finest near zero
  double radius_ = 0;
};

}  // namespace volvox::scan
