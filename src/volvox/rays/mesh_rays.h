// Casts rays against one triangle mesh. Embree builds the tree of bounding boxes once, with up to four triangles in a
// leaf; the traversal is here, several rays in turn, and tests triangles in double precision. The result depends
// neither on the boxes nor on the processor nor on which rays share a packet: it is the nearest triangle, and of two at
// the same distance the one with the lower number. (Embree's own triangle test is in single precision: at the edge of
// an obstacle one processor may miss what another hits.) Internal to rays/; docs/decisions/0080 has the reasons and the
// figures.
// Lengths in m. Shares the mesh, and never changes once it is made: several threads cast at once.
#pragma once

#include <embree3/rtcore.h>

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/model/shape.h"

namespace volvox::rays {

class MeshRays {
 public:
  static constexpr int packet = 8;

  MeshRays(RTCDevice device, model::Mesh mesh);

  // Rays with one origin, side by side, in the mesh's frame; directions are unit vectors. All lanes have a value; only
  // those of the first `count` are cast.
  struct Rays {
    Vec3 origin;
    double direction[3][packet], range[packet];
    int count;
  };
  struct Hits {
    double distance[packet];  // negative: nothing
    std::uint32_t triangle[packet];
    double normal[3][packet];  // not of unit length; out of the front (counter-clockwise) side
  };
  // Finds the nearest hit of each ray within its range, from both sides.
  void cast(const Rays& rays, Hits& hits) const;

  // Four triangles side by side: corner a, and the edges to b and c.
  struct alignas(32) Quad {
    double a[3][4], ab[3][4], ac[3][4];
    std::uint32_t triangle[4];
  };
  // The boxes of up to four children, two cache lines: their low and high sides by axis, from the
  // mesh's centre. A child is the index of a node, or of a quad if `quad_bit` is set.
  struct alignas(64) Node {
    float sides[3][2][4];
    std::uint32_t child[4];
  };
  static constexpr std::uint32_t quad_bit = 1u << 31;

  struct Tree {
    std::vector<Node> nodes;
    std::vector<Quad> quads;
    std::uint32_t root = 0;  // a node or a quad
    Vec3 centre;             // the origin of the boxes: floats are most precise near zero
    double radius = 0;
  };

 private:
  void build(RTCDevice device);
  std::uint32_t add_quad(std::span<const std::uint32_t> triangles);  // sorted; returns the index

  model::Mesh mesh_;
  Tree tree_;
};

}  // namespace volvox::rays
