#include "volvox/particles/cuda/threads.cuh"

#include "volvox/particles/thread_kernels.h"

namespace volvox::particles::cuda {
namespace {

constexpr unsigned threads = 64;

// A point of a thread; one that is drained, or was never there, is far away and has no mass that could move.
struct Knot {
  std::uint32_t index;
  bool drained;
  Point at;
};
__device__ Knot knot(const ThreadView& t, std::uint32_t id) {
  const std::uint32_t index = id == ~0u ? ~0u : t.index[id];
  return {index, id != ~0u && index == ~0u, index == ~0u ? Point{-1e15f, -1e15f, -1e15f, 0} : t.at[index]};
}

__device__ void shift(const ThreadView& t, const Knot& k, float x, float y, float z) {
  if (k.at.w == 0) return;
  Point move = t.move[k.index];
  move.x += x, move.y += y, move.z += z;
  t.move[k.index] = move;
  t.at[k.index] = {k.at.x + x, k.at.y + y, k.at.z + z, k.at.w};
}

__global__ void pull(ThreadView t, std::uint32_t first, std::uint32_t last, SubstepView s) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, number = first + thread / lanes,
                      lane = thread % lanes;
  if (number >= last || s.is_void(*t.control) || t.control->count[solid_set] == 0) return;
  const DeviceThreads b = t.blocks[number];
  const std::uint32_t* points = t.points + b.first_point + lane;
  float* rests = t.rest + b.first_rest + lane;
  Eliminated<float>* solving = static_cast<Eliminated<float>*>(t.solving) + b.first_rest + lane;
  const float inverse_dt2 = 1 / (s.dt * s.dt), compliance = b.compliance * inverse_dt2;
  std::uint32_t torn = 0;
  Knot a = knot(t, points[0]);
  Eliminated<float> before = {};
  for (std::uint32_t k = 0; k < b.segments; ++k) {
    const Knot next = knot(t, points[(k + 1) * lanes]);
    const float ex = next.at.x - a.at.x, ey = next.at.y - a.at.y, ez = next.at.z - a.at.z;
    const float length = square_root(ex * ex + ey * ey + ez * ez);
    float rest = rests[k * lanes];
    if (a.drained || next.drained) rests[k * lanes] = rest = -1;
    if (b.longest > 0 && rest >= 0 && length > b.longest * rest) {
      ++torn;
      rests[k * lanes] = rest = -1;
    }
    solving[k * lanes] = eliminate(a.at, next.at, length, rest, compliance, before);
    a = next;
  }
  Pulled<float> after = {};
  for (std::uint32_t k = b.segments; k-- > 0;) {
    const EndMove<float> move = pull_back(solving[k * lanes], after);
    const Knot end = knot(t, points[(k + 1) * lanes]);
    shift(t, end, end.at.w * move.x, end.at.w * move.y, end.at.w * move.z);
    if (b.strength > 0 && after.pull * inverse_dt2 > b.strength) {
      rests[k * lanes] = -1;
      ++torn;
    }
  }
  a = knot(t, points[0]);
  shift(t, a, a.at.w * after.x, a.at.w * after.y, a.at.w * after.z);
  if (torn > 0) atomicAdd(&t.control->torn, torn);
}

}  // namespace

std::size_t solving_bytes(std::size_t rests) { return rests * sizeof(Eliminated<float>); }

void pull_threads(const ThreadView& t, std::uint32_t first, std::uint32_t last, const SubstepView& substep,
                  cudaStream_t stream) {
  if (last > first) pull<<<blocks_for((last - first) * lanes, threads), threads, 0, stream>>>(t, first, last, substep);
}

}  // namespace volvox::particles::cuda
