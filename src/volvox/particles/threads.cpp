#include "volvox/particles/threads.h"

#include <algorithm>
#include <bit>

#include "volvox/base/index.h"
#include "volvox/particles/thread_kernels.h"

namespace volvox::particles {
namespace {

struct alignas(32) Solving {  // GCC forgets the alignment of a type that is the argument of a template
  Eliminated<Lanes> segment;
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

VOLVOX_FOR_EACH_ISA(std::uint32_t, pull_block, (const PullJob& job), (job)) {
  PointLanes a, b;
  gather(a, job.at, job.index);
  Eliminated<Lanes> before = {};
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
    job.solving[k].segment = eliminate(a, b, length, rest, job.compliance, before);
    a = b;
  }
  Pulled<Lanes> after = {};
  for (std::uint32_t k = job.segments; k-- > 0;) {
    const EndMove<Lanes> move = pull_back(job.solving[k].segment, after);
    PointLanes end;
    gather(end, job.at, job.index + (k + 1) * lanes);
    shift(job, k + 1, end.w * move.x, end.w * move.y, end.w * move.z);
    if (job.strength > 0) {
      for (int lane = 0; lane < lanes; ++lane) {
        if (!(after.pull[lane] * job.inverse_dt2 > job.strength)) continue;
        job.rest[k * lanes + lane] = -1;
        ++torn;
      }
    }
  }
  gather(a, job.at, job.index);
  shift(job, 0, a.w * after.x, a.w * after.y, a.w * after.z);
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

void find_points(ThreadBlock& block, const SolidArrays& solid) {
  block.index.resize(block.points.size());
  for (std::size_t k = 0; k < block.points.size(); ++k) {
    const std::uint32_t id = block.points[k], index = id == ~0u ? ~0u : solid.index[id];
    block.index[k] = index == ~0u ? static_cast<std::uint32_t>(solid.count) : index;
    if (id == ~0u || index != ~0u) continue;
    if (k < block.rest.size()) block.rest[k] = -1;
    if (k >= lanes) block.rest[k - lanes] = -1;
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
