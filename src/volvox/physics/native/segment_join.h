// Segments of a tree put together by blocks of six numbers (long_tree.h).
// World frame. Functions of their arguments, for any thread.
#pragma once

#include <algorithm>

#include "volvox/physics/native/segment_pack.h"

namespace volvox::physics::native {

inline void to_array(const Spatial<double>& v, double (&out)[6]) {
  out[0] = v.a.x, out[1] = v.a.y, out[2] = v.a.z, out[3] = v.l.x, out[4] = v.l.y, out[5] = v.l.z;
}
inline Spatial<double> to_spatial(const double (&v)[6]) { return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}}; }
inline void to_matrix(const S6<double>& d, SixBySix& m) {
  const SixBySix full = {
      {d.a.xx, d.a.xy, d.a.xz, d.b.r0.x, d.b.r0.y, d.b.r0.z}, {d.a.xy, d.a.yy, d.a.yz, d.b.r1.x, d.b.r1.y, d.b.r1.z},
      {d.a.xz, d.a.yz, d.a.zz, d.b.r2.x, d.b.r2.y, d.b.r2.z}, {d.b.r0.x, d.b.r1.x, d.b.r2.x, d.c.xx, d.c.xy, d.c.xz},
      {d.b.r0.y, d.b.r1.y, d.b.r2.y, d.c.xy, d.c.yy, d.c.yz}, {d.b.r0.z, d.b.r1.z, d.b.r2.z, d.c.xz, d.c.yz, d.c.zz}};
  std::copy(&full[0][0], &full[0][0] + 36, &m[0][0]);
}
Spatial<double> times(const SixBySix& m, const Spatial<double>& v);

// What the body above feels of a segment with something hanging on its end, and how the end then moves: fills d, z,
// phi, k and c of `joined` from its end_d and end_z.
void join(const SegmentPack::Seen& seen, Joined& joined);
// The response of the end, from that of the body above: phi W phi^T + K K^T.
void respond(Joined& joined, const SixBySix& above);

}  // namespace volvox::physics::native
