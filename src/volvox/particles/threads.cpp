#include "volvox/particles/threads.h"

#include <algorithm>
#include <bit>

#include "volvox/base/index.h"

namespace volvox::particles {
namespace {

struct alignas(32) Solving {
  Lanes nx, ny, nz, share, pull;  // direction, and the two numbers of the elimination
};

struct PullJob {
  const std::uint32_t* index;
  float* rest;
  std::uint32_t segments;
  float compliance, strength, longest, inverse_dt2;
  Point *at, *move;
  Solving* solving;
};

VOLVOX_KERNEL void shift(const PullJob& job, std::uint32_t place, const Lanes& x, const Lanes& y, const Lanes& z) {
  const std::uint32_t* index = job.index + place * lanes;
  for (int k = 0; k < lanes; ++k) {
    Point &at = job.at[index[k]], &move = job.move[index[k]];
    if (at.w == 0) continue;  // pinned, or nobody
    at.x += x[k], at.y += y[k], at.z += z[k];
    move.x += x[k], move.y += y[k], move.z += z[k];
  }
}

// With the pull t of each segment, (w_k + w_k+1 + a) t_k - w_k (n_k-1 . n_k) t_k-1 - w_k+1 (n_k . n_k+1) t_k+1 =
// length - rest: elimination forward, then back.
VOLVOX_FOR_EACH_ISA(std::uint32_t, pull_block, (const PullJob& job), (job)) {
  PointLanes a, b;
  gather(a, job.at, job.index);
  Lanes before_x = {}, before_y = {}, before_z = {}, before_share = {}, before_pull = {};
  std::uint32_t torn = 0;
  for (std::uint32_t k = 0; k < job.segments; ++k) {
    gather(b, job.at, job.index + (k + 1) * lanes);
    const Lanes ex = b.x - a.x, ey = b.y - a.y, ez = b.z - a.z;
    const Lanes length = square_root(ex * ex + ey * ey + ez * ez);
    Lanes rest = load(job.rest + k * lanes);
    if (job.longest > 0) {
      const LaneMask tears = (rest >= 0) & (length > job.longest * rest);
      torn += static_cast<std::uint32_t>(std::popcount(bits_of(tears)));
      rest = tears ? all_lanes(-1) : rest;
      store(job.rest + k * lanes, rest);
    }
    const LaneMask holds = (rest >= 0) & (length > 0) & (a.w + b.w > 0);
    const Lanes inverse = holds ? 1 / length : Lanes{};
    Solving& s = job.solving[k];
    s.nx = ex * inverse, s.ny = ey * inverse, s.nz = ez * inverse;
    const Lanes couple = -a.w * (s.nx * before_x + s.ny * before_y + s.nz * before_z);
    // The share of the segment before is its coupling to this one, over its pivot.
    const Lanes share_before = couple * before_share;
    const Lanes pivot = holds ? a.w + b.w + job.compliance - couple * share_before : all_lanes(1);
    const Lanes over = 1 / pivot;
    s.share = share_before;
    s.pull = holds ? (length - rest - couple * before_pull) * over : Lanes{};
    before_x = s.nx, before_y = s.ny, before_z = s.nz, before_share = over, before_pull = s.pull;
    a = b;
  }
  Lanes pull = {}, after_x = {}, after_y = {}, after_z = {}, share_after = {};
  for (std::uint32_t k = job.segments; k-- > 0;) {
    Solving& s = job.solving[k];
    pull = s.pull - share_after * pull;
    share_after = s.share;
    const Lanes px = s.nx * pull, py = s.ny * pull, pz = s.nz * pull;
    PointLanes end;
    gather(end, job.at, job.index + (k + 1) * lanes);
    shift(job, k + 1, end.w * (after_x - px), end.w * (after_y - py), end.w * (after_z - pz));
    after_x = px, after_y = py, after_z = pz;
    if (job.strength > 0) {
      for (int lane = 0; lane < lanes; ++lane) {
        if (!(pull[lane] * job.inverse_dt2 > job.strength)) continue;
        job.rest[k * lanes + lane] = -1;
        ++torn;
      }
    }
  }
  gather(a, job.at, job.index);
  shift(job, 0, a.w * after_x, a.w * after_y, a.w * after_z);
  return torn;
}

}  // namespace

void ThreadGroup::add(std::span<const std::vector<std::uint32_t>> threads, float length) {
  for (std::size_t begin = 0; begin < threads.size(); begin += lanes) {
    const std::size_t end = std::min(begin + lanes, threads.size());
    ThreadBlock block;
    for (std::size_t t = begin; t < end; ++t)
      block.segments = std::max(block.segments, narrow<std::uint32_t>(threads[t].size()) - 1);
    block.points.assign((block.segments + 1) * lanes, ~0u);
    block.rest.assign(block.segments * lanes, -1);
    for (std::size_t t = begin; t < end; ++t) {
      for (std::size_t k = 0; k < threads[t].size(); ++k) block.points[k * lanes + t - begin] = threads[t][k];
      for (std::size_t k = 0; k + 1 < threads[t].size(); ++k) block.rest[k * lanes + t - begin] = length;
    }
    if (block.segments > 0) blocks.push_back(std::move(block));
  }
}

void ThreadGroup::archive(Archive& ar) {
  for (ThreadBlock& block : blocks) {
    const std::size_t size = block.rest.size();
    ar("rest", block.rest);
    if (block.rest.size() != size) {
      ar.fail("the snapshot has other cloth");
      block.rest.assign(size, -1);
    }
  }
}

void find_points(ThreadGroup& group, const SolidArrays& solid) {
  for (ThreadBlock& block : group.blocks) {
    block.index.resize(block.points.size());
    for (std::size_t k = 0; k < block.points.size(); ++k) {
      const std::uint32_t id = block.points[k], index = id == ~0u ? ~0u : solid.index[id];
      block.index[k] = index == ~0u ? static_cast<std::uint32_t>(solid.count) : index;
      if (id == ~0u || index != ~0u) continue;
      if (k < block.rest.size()) block.rest[k] = -1;
      if (k >= lanes) block.rest[k - lanes] = -1;
    }
  }
}

std::uint32_t pull(const ThreadGroup& group, ThreadBlock& block, float dt, Point* at, Point* move) {
  thread_local std::vector<Solving> solving;
  if (solving.size() < block.segments) solving.resize(block.segments);
  const float inverse_dt2 = 1 / (dt * dt);
  return pull_block({block.index.data(), block.rest.data(), block.segments, group.compliance * inverse_dt2,
                     group.strength, group.longest, inverse_dt2, at, move, solving.data()});
}

}  // namespace volvox::particles
