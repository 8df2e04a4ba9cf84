// Rays against one triangle mesh: Embree sorts boxes around up to four triangles each into a tree
// once; rays walk down the tree here, several in turn, and try the triangles in double arithmetic.
// Boxes only save work: which triangle is hit, and where, does not depend on them, nor on the
// processor or on how rays are packed together. It is the nearest, of two at one distance the first.
// (Embree's own triangles are single precision: at the rim of an obstacle another processor may
// miss what this one hits.) Internal to rays/; docs/decisions/0080 has the reasons and the figures.
#pragma once

#include <embree3/rtcore.h>

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/model/shape.h"

namespace volvox::rays {

struct MeshHit {
  double distance = -1;  // negative: nothing
  std::uint32_t triangle = 0;
  Vec3 normal;  // not of unit length; out of the front (counter-clockwise) side
};

class MeshRays {
 public:
  static constexpr int packet = 8;

  MeshRays(RTCDevice device, model::Mesh mesh);

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
  // The boxes of up to four children, two cache lines: their low and high sides by axis, from the
  // mesh's centre. A child is the place of a node, or of a quad where `quad_bit` is set.
  struct alignas(64) Node {
    float sides[3][2][4];
    std::uint32_t child[4];
  };
  static constexpr std::uint32_t quad_bit = 1u << 31;

 private:
  void build(RTCDevice device);
  std::uint32_t add_quad(std::span<const std::uint32_t> triangles);  // in order; its place

  model::Mesh mesh_;
  std::vector<Node> nodes_;
  std::vector<Quad> quads_;
  std::uint32_t root_ = 0;  // a node or a quad
  Vec3 centre_;             // boxes count from here: floats are finest near zero
  double radius_ = 0;
};

}  // namespace volvox::rays
