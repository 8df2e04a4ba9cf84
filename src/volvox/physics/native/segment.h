// A segment: a piece of a long tree that the rest of the tree hangs on at one body at most, its end (long_tree.h). It
// stays where it is, in memory and in its lane, while modules dock elsewhere in the tree.
// SI units, world frame. A segment is one thread's business while its tree is solved.
#pragma once

#include <memory>
#include <vector>

#include "volvox/physics/native/segment_kernel.h"
#include "volvox/physics/native/whitened.h"

namespace volvox::physics::native {

// The structure of a segment. Segments of one pattern, that is, of the same object, can go side by side.
struct SegmentPattern {
  std::vector<SegmentPlace> places;
  int end = 0;  // a node
  int dofs = 0, slots = 1;
  friend bool operator==(const SegmentPattern&, const SegmentPattern&) = default;
};
SegmentPattern pattern_of(const std::vector<NodeShape>& shapes, int end);

using SixBySix = double[6][6];

// What hangs on the end of a segment, and how it then moves.
struct Joined {
  S6<double> d{}, end_d{};  // felt by the body above; hanging on the end
  Spatial<double> z{}, end_z{};
  SixBySix phi = {}, k = {};  // v_end = phi v_above + c; its response with the body above at rest is k k^T
  Spatial<double> c{};
  Spatial<double> end_fresh{}, end_change{}, end_passed{};
  SixBySix response = {};  // of the end
};

class SegmentPack;

struct Segment {
  // A body that hangs on it by a joint, or that it hangs on.
  struct Link {
    int joint = -1, body = -1;
    friend bool operator==(const Link&, const Link&) = default;
  };

  // What it is, by node in depth-first order. The first node has the joint to the body above; parents and dofs are
  // counted within the segment. A free root has no joint: it is held by a dock to a body without mass.
  std::vector<int> bodies, joints;
  std::vector<NodeShape> shapes;
  int end = 0;              // the node that other segments hang on
  int above_body = -1;      // -1: the ground, or nothing
  std::vector<Link> below;  // what hangs on the end, in the order of the tree
  std::shared_ptr<const SegmentPattern> pattern;
  int least_body = 0;
  double safe_pull = 0;   // see LongTree::find_safe_pull: of all nodes but the end
  double end_arm = 0;     // of the joints of the segment at its end
  int island = -1;        // what its bodies were told
  bool gathered = false;  // while islands are found

  // Where it is.
  int order = -1;      // among the segments of its tree
  int above = -1;      // the segment that it hangs on; -1: none
  int first_part = 0;  // of the tree
  SegmentPack* pack = nullptr;
  int lane = -1;

  // While it is solved.
  Joined joined;
  Whitened whitened;

  int count() const { return static_cast<int>(bodies.size()); }
  Link first() const { return {joints[0], bodies[0]}; }
};

}  // namespace volvox::physics::native
