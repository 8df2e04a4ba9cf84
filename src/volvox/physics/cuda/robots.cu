// Lone robots on a GPU: a thread a robot, a launch a tick. The state stays there, word by word: the same word of robots
// that are neighbours lies side by side.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "volvox/physics/cuda/device_api.h"

namespace volvox::physics::cuda {
namespace {

using native::LoneEnd;
using native::LoneLayout;
using native::LonePattern;
using native::Row;

// One block on each multiprocessor takes one batch of robots after the other. More threads at once had less: what they
// work with is thrown out of the caches (docs/benchmarks.md).
constexpr unsigned most_threads = 512;
constexpr std::size_t message_size = 256;
constexpr std::size_t staged_robots = 16384;
constexpr int wave_words = 10;

struct Failure : std::exception {
  explicit Failure(cudaError_t error) : text(cudaGetErrorString(error)) {}
  const char* what() const noexcept override { return text.c_str(); }
  std::string text;
};
void check(cudaError_t error) {
  if (error != cudaSuccess) throw Failure(error);
}

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t count) : count_(count) {
    if (count > 0) check(cudaMalloc(&data_, count * sizeof(T)));
  }
  Buffer(const T* from, std::size_t count) : Buffer(count) {
    if (count > 0) check(cudaMemcpy(data_, from, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_), std::swap(count_, other.count_);
    return *this;
  }
  T* data() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// A pattern whose tables lie one behind another, so that they can be moved as a whole: pointers count from their begin.
class Tables {
 public:
  explicit Tables(const LonePattern& from) : pattern_(from) {
    pack(pattern_.plan.shapes), pack(pattern_.plan.columns), pack(pattern_.plan.first), pack(pattern_.plan.own);
    pack(pattern_.grounds), pack(pattern_.planes);
    std::vector<native::LoneLink> links(from.links.begin(), from.links.end());
    for (native::LoneLink& link : links) {
      native::LoneShape& shape = link.shape;
      pack(shape.x), pack(shape.y), pack(shape.z), pack(shape.radius);
      pack(shape.convex), pack(shape.point), pack(shape.convexes);
    }
    pattern_.links = {links.data(), links.size()};
    pack(pattern_.links);
  }
  const LonePattern& pattern() const { return pattern_; }
  const std::vector<double>& words() const { return words_; }

 private:
  template <class E>
  void pack(Row<const E>& row) {
    const std::size_t first = words_.size();
    words_.resize(first + (row.size() * sizeof(E) + sizeof(double) - 1) / sizeof(double));
    if (row.size() > 0) std::memcpy(words_.data() + first, row.data(), row.size() * sizeof(E));
    row.first = reinterpret_cast<const E*>(first * sizeof(double));
  }
  LonePattern pattern_;
  std::vector<double> words_;
};

template <class E>
__device__ void place(Row<const E>& row, const double* tables) {
  row.first =
      reinterpret_cast<const E*>(reinterpret_cast<const char*>(tables) + reinterpret_cast<std::size_t>(row.first));
}

// The tables of a block of robots, near them: what robots work with would throw them out of the cache all the time.
// All threads of the block call it; `room` is in shared memory.
__device__ LonePattern near_tables(LonePattern pattern, const double* tables, std::size_t words, double* room) {
  for (std::size_t i = threadIdx.x; i < words; i += blockDim.x) room[i] = tables[i];
  __syncthreads();
  place(pattern.links, room);
  if (threadIdx.x < pattern.links.size()) {
    native::LoneShape& shape = const_cast<native::LoneLink&>(pattern.links[threadIdx.x]).shape;
    place(shape.x, room), place(shape.y, room), place(shape.z, room), place(shape.radius, room);
    place(shape.convex, room), place(shape.point, room), place(shape.convexes, room);
  }
  __syncthreads();
  place(pattern.plan.shapes, room), place(pattern.plan.columns, room), place(pattern.plan.first, room);
  place(pattern.plan.own, room), place(pattern.grounds, room), place(pattern.planes, room);
  return pattern;
}

struct DeviceWords {
  double* first;
  std::size_t stride;
  __device__ double& word(int i) const { return first[static_cast<std::size_t>(i) * stride]; }
};

struct Robots {
  LonePattern pattern;  // see Tables
  const double* tables;
  std::size_t table_words;
  std::size_t count, stride;
  double *words, *waves;
  const double* orders;  // by columns; null: motors swing
  DeviceEnd* ends;
  const unsigned* order;  // of robots in the grid
  std::uint8_t* effort;   // of the last tick, by robot: 0 is most
  void* sweep_rows;       // for each thread of the grid
};

// Robots in the order of their effort in the last tick, which hardly changes from tick to tick, so that those of a warp
// have as much to do, and those who take longest begin first. A counting sort: no robot knows of another, so their
// order within a bin does not matter.
constexpr unsigned bins = 256;
VOLVOX_ALSO_ON_GPU inline std::uint8_t bin_of(int solves) {
  const int way = solves < 128 ? solves : solves < 128 + 127 * 16 ? 128 + (solves - 128) / 16 : 255;
  return static_cast<std::uint8_t>(255 - way);
}
__global__ void count_efforts(const std::uint8_t* effort, std::size_t count, unsigned* sizes) {
  __shared__ unsigned own[bins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (std::size_t i = std::size_t{blockIdx.x} * bins + threadIdx.x; i < count; i += std::size_t{gridDim.x} * bins)
    atomicAdd(&own[effort[i]], 1);
  __syncthreads();
  atomicAdd(&sizes[threadIdx.x], own[threadIdx.x]);
}
__global__ void sum_efforts(unsigned* sizes) {
  unsigned sum = 0;
  for (unsigned i = 0; i < bins; ++i) {
    const unsigned size = sizes[i];
    sizes[i] = sum, sum += size;
  }
}
__global__ void order_by_effort(const std::uint8_t* effort, std::size_t count, unsigned* firsts, unsigned* order) {
  __shared__ unsigned own[bins], first[bins];
  own[threadIdx.x] = 0;
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * bins + threadIdx.x;
  const unsigned bin = i < count ? effort[i] : 0, place = i < count ? atomicAdd(&own[bin], 1) : 0;
  __syncthreads();
  if (own[threadIdx.x] > 0) first[threadIdx.x] = atomicAdd(&firsts[threadIdx.x], own[threadIdx.x]);
  __syncthreads();
  if (i < count) order[first[bin] + place] = static_cast<unsigned>(i);
}

__device__ MotorWave wave_of(const Robots& all, std::size_t robot, int node) {
  const double* word = all.waves + static_cast<std::size_t>(wave_words * (node - 1)) * all.stride + robot;
  const auto next = [&] {
    const double value = *word;
    word += all.stride;
    return value;
  };
  MotorWave wave;
  wave.command.control = static_cast<Control>(static_cast<int>(next()));
  wave.command.target = next(), wave.command.kp = next(), wave.command.kd = next();
  wave.command.max_velocity = next(), wave.command.max_torque = next();
  wave.amplitude = next(), wave.frequency = next(), wave.phase = next(), wave.stop = next();
  return wave;
}

// Reads the orders of a robot one after the other.
struct Orders {
  const double* word;
  std::size_t stride;
  __device__ void operator()(double& x) { x = *word, word += stride; }
};

template <class Room>
__device__ void tick_robot(const Robots& all, const LonePattern& pattern, std::size_t robot, DeviceTick tick,
                           bool publish, Room& room) {
  if (all.ends[robot].end != LoneEnd::moved) return;
  MotorCommand commands[Room::nodes_room];
  if (all.orders != nullptr) {
    Orders orders{all.orders + robot, all.stride};
    double substeps;
    orders(tick.length), orders(substeps);
    if (!(tick.length > 0)) return;
    tick.substeps = static_cast<int>(substeps);
    for (int i = 1; i < pattern.nodes(); ++i) native::archive_command(orders, commands[i]);
  } else {
    for (int i = 1; i < pattern.nodes(); ++i) commands[i] = wave_of(all, robot, i).at(tick.time);
  }
  native::LoneTick<Room, DeviceWords> work(pattern, room, {all.words + robot, all.stride});
  const LoneEnd end = work.run([&](int node) { return commands[node]; }, tick.length, tick.substeps, publish);
  all.effort[robot] = bin_of(work.effort());
  if (end == LoneEnd::moved) ++all.ends[robot].ticks;
  else all.ends[robot].end = end;
}

template <class Room>
__global__ void __launch_bounds__(most_threads, 1) tick_robots(Robots all, DeviceTick tick, bool publish) {
  extern __shared__ double shared_tables[];
  const LonePattern pattern = near_tables(all.pattern, all.tables, all.table_words, shared_tables);
  Room room;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  room.sweep_rows = static_cast<typename Room::Rows*>(all.sweep_rows) + thread * Room::contacts_room;
  for (std::size_t place = thread; place < all.count; place += std::size_t{gridDim.x} * blockDim.x)
    tick_robot(all, pattern, all.order[place], tick, publish, room);
}

// Between rows a robot, as the processor has them, and columns a robot, as these kernels read them.
__global__ void to_columns(const double* rows, double* columns, std::size_t words, std::size_t count, std::size_t first,
                           std::size_t stride) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < words * count) columns[i / count * stride + first + i % count] = rows[i % count * words + i / count];
}
__global__ void to_rows(double* rows, const double* columns, std::size_t words, std::size_t count, std::size_t first,
                        std::size_t stride) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < words * count) rows[i % count * words + i / count] = columns[i / count * stride + first + i % count];
}

// A row of some words for each robot.
__global__ void gather(double* rows, const double* columns, const int* which, std::size_t words, std::size_t count,
                       std::size_t stride) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < words * count) rows[i % count * words + i / count] = columns[which[i / count] * stride + i % count];
}

unsigned multiprocessors() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  return static_cast<unsigned>(properties.multiProcessorCount);
}

unsigned blocks_for(std::size_t count, unsigned size) { return static_cast<unsigned>((count + size - 1) / size); }

// Few robots are spread over all multiprocessors.
unsigned threads_for(std::size_t count) {
  const std::size_t warps = (count + 32 * multiprocessors() - 1) / (32 * multiprocessors());
  return static_cast<unsigned>(std::clamp<std::size_t>(32 * warps, 32, most_threads));
}

using SmallRoom = native::LoneRoom<4, 3, 16>;
using LargeRoom = native::LoneRoom<native::lone_most_nodes, native::lone_most_dofs, native::lone_most_contacts>;

}  // namespace

struct DeviceRobots {
  DeviceRobots(const LonePattern& from, std::size_t robots)
      : packed(from),
        tables(packed.words().data(), packed.words().size()),
        layout(layout_of(from)),
        count(robots),
        stride((robots + 31) / 32 * 32),
        words(stride * static_cast<std::size_t>(layout.all_words())),
        waves(stride * static_cast<std::size_t>(wave_words * (layout.nodes - 1))),
        ends(stride),
        effort(stride),
        order(stride),
        sizes(bins),
        small(SmallRoom::holds(layout)),
        threads(threads_for(robots)),
        blocks(std::min(blocks_for(robots, threads), multiprocessors())),
        sweep_rows(std::size_t{blocks} * threads *
                   (small ? SmallRoom::contacts_room * sizeof(SmallRoom::Rows)
                          : LargeRoom::contacts_room * sizeof(LargeRoom::Rows))) {
    check(cudaMemset(ends.data(), 0, stride * sizeof(DeviceEnd)));
    check(cudaMemset(effort.data(), 0, stride));
    const auto bytes = static_cast<int>(shared_bytes());
    if (small) check(cudaFuncSetAttribute(tick_robots<SmallRoom>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    else check(cudaFuncSetAttribute(tick_robots<LargeRoom>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  }

  std::size_t shared_bytes() const { return tables.size() * sizeof(double); }
  Robots view() const {
    Robots all{packed.pattern(), tables.data(), tables.size(), count, stride, words.data(), waves.data()};
    all.orders = nullptr;
    all.ends = ends.data(), all.order = order.data(), all.effort = effort.data(), all.sweep_rows = sweep_rows.data();
    return all;
  }

  void sort() {
    check(cudaMemsetAsync(sizes.data(), 0, bins * sizeof(unsigned)));
    count_efforts<<<std::min(264u, blocks_for(count, bins)), bins>>>(effort.data(), count, sizes.data());
    sum_efforts<<<1, 1>>>(sizes.data());
    order_by_effort<<<blocks_for(count, bins), bins>>>(effort.data(), count, sizes.data(), order.data());
  }

  void launch(const Robots& robots, const DeviceTick& tick, bool publish) {
    sort();
    if (small) tick_robots<SmallRoom><<<blocks, threads, shared_bytes()>>>(robots, tick, publish);
    else tick_robots<LargeRoom><<<blocks, threads, shared_bytes()>>>(robots, tick, publish);
    check(cudaGetLastError());
  }

  void move_in(const double* from, Buffer<double>& columns, std::size_t width, std::size_t first, std::size_t many) {
    if (width == 0) return;
    for (std::size_t done = 0; done < many; done += staged_robots) {
      const std::size_t now = std::min(staged_robots, many - done);
      const Buffer<double> rows(from + done * width, now * width);
      to_columns<<<blocks_for(now * width, 256), 256>>>(rows.data(), columns.data(), width, now, first + done, stride);
      check(cudaGetLastError());
      check(cudaDeviceSynchronize());
    }
  }

  void load(std::size_t first, std::size_t many, const double* from, const MotorWave* told) {
    move_in(from, words, static_cast<std::size_t>(layout.all_words()), first, many);
    std::vector<double> numbers;
    numbers.reserve(many * static_cast<std::size_t>(wave_words * (layout.nodes - 1)));
    for (std::size_t i = 0; i < many * static_cast<std::size_t>(layout.nodes - 1); ++i) {
      const MotorCommand& c = told[i].command;
      for (const double x : {static_cast<double>(static_cast<int>(c.control)), c.target, c.kp, c.kd, c.max_velocity,
                             c.max_torque, told[i].amplitude, told[i].frequency, told[i].phase, told[i].stop})
        numbers.push_back(x);
    }
    move_in(numbers.data(), waves, static_cast<std::size_t>(wave_words * (layout.nodes - 1)), first, many);
    check(cudaMemset(ends.data() + first, 0, many * sizeof(DeviceEnd)));
  }

  // Work is launched; seconds are counted until it is done.
  template <class Work>
  static void timed(double& seconds, const Work& work) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    check(cudaEventRecord(begin));
    work();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    seconds += 1e-3 * ms;
    cudaEventDestroy(begin), cudaEventDestroy(end);
  }

  void step(const DeviceTick* ticks, std::size_t many, double& seconds) {
    timed(seconds, [&] {
      for (std::size_t i = 0; i < many; ++i) launch(view(), ticks[i], i + 1 == many);
    });
  }

  void watch(const int* which, std::size_t many) {
    watched = Buffer<int>(which, many);
    watched_rows = Buffer<double>(many * count);
    const std::size_t width = static_cast<std::size_t>(order_words(layout.nodes));
    order_rows = Buffer<double>(width * count), orders = Buffer<double>(width * stride);
  }

  void tick(const double* told, double* seen, DeviceEnd* became, double& seconds) {
    const std::size_t width = static_cast<std::size_t>(order_words(layout.nodes)), many = watched.size();
    check(cudaMemcpy(order_rows.data(), told, width * count * sizeof(double), cudaMemcpyHostToDevice));
    timed(seconds, [&] {
      to_columns<<<blocks_for(count * width, 256), 256>>>(order_rows.data(), orders.data(), width, count, 0, stride);
      Robots robots = view();
      robots.orders = orders.data();
      launch(robots, {}, true);
      gather<<<blocks_for(count * many, 256), 256>>>(watched_rows.data(), words.data(), watched.data(), many, count,
                                                     stride);
      check(cudaGetLastError());
    });
    check(cudaMemcpy(seen, watched_rows.data(), many * count * sizeof(double), cudaMemcpyDeviceToHost));
    check(cudaMemcpy(became, ends.data(), count * sizeof(DeviceEnd), cudaMemcpyDeviceToHost));
  }

  void save(std::size_t first, std::size_t many, double* to, DeviceEnd* became) const {
    const std::size_t width = static_cast<std::size_t>(layout.all_words());
    for (std::size_t done = 0; done < many; done += staged_robots) {
      const std::size_t now = std::min(staged_robots, many - done);
      const Buffer<double> rows(now * width);
      to_rows<<<blocks_for(now * width, 256), 256>>>(rows.data(), words.data(), width, now, first + done, stride);
      check(cudaGetLastError());
      check(cudaMemcpy(to + done * width, rows.data(), now * width * sizeof(double), cudaMemcpyDeviceToHost));
    }
    check(cudaMemcpy(became, ends.data() + first, many * sizeof(DeviceEnd), cudaMemcpyDeviceToHost));
  }

  Tables packed;
  Buffer<double> tables;
  LoneLayout layout;
  std::size_t count, stride;
  Buffer<double> words, waves;
  Buffer<int> watched;
  Buffer<double> watched_rows, order_rows, orders;
  Buffer<DeviceEnd> ends;
  Buffer<std::uint8_t> effort;
  Buffer<unsigned> order, sizes;
  bool small;
  unsigned threads, blocks;
  Buffer<char> sweep_rows;
};

namespace {

// Nothing is thrown out of the library.
template <class Work>
DeviceAnswer guarded(char* message, const Work& work) {
  try {
    work();
    return DeviceAnswer::done;
  } catch (const std::exception& error) {
    std::snprintf(message, message_size, "%s", error.what());
    (void)cudaGetLastError();  // so that the next call does not meet it again
    return DeviceAnswer::failed;
  }
}

DeviceRobots* create(const LonePattern* pattern, std::size_t count, char* message) {
  DeviceRobots* made = nullptr;
  (void)guarded(message, [&] {
    if (!LargeRoom::holds(layout_of(*pattern)))
      throw std::length_error("its kernels have no room for a robot with so many links, axes or contacts");
    made = new DeviceRobots(*pattern, count);
  });
  return made;
}
void destroy(DeviceRobots* robots) { delete robots; }
DeviceAnswer load(DeviceRobots* robots, std::size_t first, std::size_t count, const double* words,
                  const MotorWave* waves, char* message) {
  return guarded(message, [&] { robots->load(first, count, words, waves); });
}
DeviceAnswer step(DeviceRobots* robots, const DeviceTick* ticks, std::size_t count, double* seconds, char* message) {
  return guarded(message, [&] { robots->step(ticks, count, *seconds); });
}
DeviceAnswer watch(DeviceRobots* robots, const int* words, std::size_t count, char* message) {
  return guarded(message, [&] { robots->watch(words, count); });
}
DeviceAnswer tick(DeviceRobots* robots, const double* orders, double* watched, DeviceEnd* ends, double* seconds,
                  char* message) {
  return guarded(message, [&] { robots->tick(orders, watched, ends, *seconds); });
}
DeviceAnswer save(DeviceRobots* robots, std::size_t first, std::size_t count, double* words, DeviceEnd* ends,
                  char* message) {
  return guarded(message, [&] { robots->save(first, count, words, ends); });
}
DeviceAnswer name(char* message) {
  return guarded(message, [&] {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0));
    std::snprintf(message, message_size, "%s", properties.name);
  });
}

constexpr DeviceApi api = {device_api_version,
                           sizeof(LonePattern),
                           sizeof(native::LoneLink),
                           sizeof(MotorWave),
                           create,
                           destroy,
                           load,
                           step,
                           watch,
                           tick,
                           save,
                           name};

}  // namespace
}  // namespace volvox::physics::cuda

extern "C" __attribute__((visibility("default"))) const volvox::physics::cuda::DeviceApi* volvox_robots_device() {
  return &volvox::physics::cuda::api;
}
