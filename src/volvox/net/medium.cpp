#include "volvox/net/medium.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "volvox/base/cell_grid.h"
#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/base/isa.h"
#include "volvox/base/platform/memory.h"

namespace volvox::net {
namespace {

// The hot loops. The compiler vectorizes them; the results have the same bits without vectorization.
// The arrays must not overlap.
VOLVOX_FOR_EACH_ISA(void, squared_distances,
                    (const Vec3& from, const Vec3* __restrict place, double* __restrict squared, std::size_t count),
                    (from, place, squared, count)) {
  const double* coordinate = &place->x;
  for (std::size_t i = 0; i < count; ++i) {
    const double dx = coordinate[3 * i] - from.x, dy = coordinate[3 * i + 1] - from.y,
                 dz = coordinate[3 * i + 2] - from.z;
    squared[i] = dx * dx + dy * dy + dz * dz;
  }
}

VOLVOX_FOR_EACH_ISA(void, to_power,
                    (const double* __restrict gain, const double* __restrict squared, double cull_squared, double scale,
                     LinkPower* __restrict power, std::size_t count),
                    (gain, squared, cull_squared, scale, power, count)) {
  constexpr double most = real(largest_link_power);
  // In vectors by hand: compilers make a branch of the second choice, and a third of the radios is out of range.
  using Four = double __attribute__((vector_size(32)));
  using FourFloats = float __attribute__((vector_size(16)));
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Four units, distance;
    std::memcpy(&units, gain + i, sizeof units);
    std::memcpy(&distance, squared + i, sizeof distance);
    units *= scale;
    const Four capped = units < most ? units : Four{} + most;
    const FourFloats powers = __builtin_convertvector(distance <= cull_squared ? capped : Four{}, FourFloats);
    std::memcpy(power + i, &powers, sizeof powers);
  }
  for (; i < count; ++i) {
    const double units = gain[i] * scale;
    const double capped = units < most ? units : most;
    power[i] = to_link_power(squared[i] <= cull_squared ? capped : 0.0);
  }
}

struct Tally {
  std::int64_t hits = 0, heard = 0;
};

VOLVOX_FOR_EACH_ISA(Tally, add_powers,
                    (const LinkPower* __restrict power, PowerUnits* __restrict sum, const float* __restrict limit,
                     LinkPower least_decodable, LinkPower least_noise, std::size_t count),
                    (power, sum, limit, least_decodable, least_noise, count)) {
  Tally tally;
  for (std::size_t i = 0; i < count; ++i) {
    const PowerUnits total = sum[i] + in_units(power[i]);
    sum[i] = total;
    tally.hits += (to_link_power(total) >= limit[i]) | (power[i] >= least_decodable);
    tally.heard += power[i] >= least_noise;
  }
  return tally;
}

VOLVOX_FOR_EACH_ISA(std::int64_t, remove_powers,
                    (const LinkPower* __restrict power, PowerUnits* __restrict sum,
                     const std::uint8_t* __restrict awaits_quiet, PowerUnits carrier, std::size_t count),
                    (power, sum, awaits_quiet, carrier, count)) {
  std::int64_t hits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const PowerUnits total = sum[i] - in_units(power[i]);
    sum[i] = total;
    hits += (total < carrier) & awaits_quiet[i];
  }
  return hits;
}

// Runs are too short for the hardware prefetcher, so they are prefetched by software.
template <class T>
void prefetch(const std::vector<T>& values, Links::Run run) {
  constexpr std::size_t a_line = 64 / sizeof(T);
  constexpr std::size_t enough = 64;  // from there on the hardware prefetcher works
  const std::size_t end = run.begin + std::min<std::size_t>(run.count, enough);
  for (std::size_t i = run.begin; i < end; i += a_line) __builtin_prefetch(&values[i]);
}

// In place, along the cycles of the permutation: a second copy of a million radios would determine the
// peak memory of a flood.
template <class T>
void permute(std::vector<T>& values, const std::vector<std::uint32_t>& old_slot) {
  std::vector<bool> done(values.size());
  for (std::uint32_t first = 0; first < values.size(); ++first) {
    if (done[first]) continue;
    const T displaced = values[first];
    std::uint32_t slot = first;
    for (; old_slot[slot] != first; slot = old_slot[slot]) {
      values[slot] = values[old_slot[slot]];
      done[slot] = true;
    }
    values[slot] = displaced;
    done[slot] = true;
  }
}

}  // namespace

// The receivers of several runs, one after another; small enough for the L1 cache.
struct Medium::Block {
  static constexpr std::uint32_t capacity = 256;
  std::vector<Links::Run> runs;
  std::uint32_t count = 0;  // of receivers
  alignas(64) double x[capacity], y[capacity], z[capacity], antenna_gain[capacity];
  alignas(64) double squared[capacity], gain[capacity];
  std::uint32_t radio[capacity];
  void clear() { runs.clear(), count = 0; }
};

Medium::Medium(const MediumOptions& options, std::unique_ptr<Propagation> propagation)
    : options_(options), propagation_(std::move(propagation)), block_(std::make_unique<Block>()) {
  distance_only_ = propagation_->depends_on_distance_only();
  adds_noise_ = propagation_->added_noise_w(1, 1e12) > 0;  // most models add none
  if (options_.cull_radius == 0) unsorted_ = false;        // exact: one run over all slots, in any order
}
Medium::~Medium() = default;

void Medium::reserve(std::size_t radios) {
  slot_of_.reserve(radios);
  position_.reserve(radios), radio_.reserve(radios), sum_.reserve(radios), limit_.reserve(radios);
  awaits_quiet_.reserve(radios);
  platform::prefer_huge_pages(position_), platform::prefer_huge_pages(radio_);
  platform::prefer_huge_pages(sum_), platform::prefer_huge_pages(limit_);
}

bool Medium::update_unit(const RadioOptions& options) {
  constexpr double least_units_of_noise = 64;
  strongest_w_ = std::max(strongest_w_, options.power_w * options.antenna_gain);
  highest_gain_ = std::max(highest_gain_, options.antenna_gain);
  least_noise_w_ = std::min(least_noise_w_, thermal_noise_w(options.bandwidth_hz, options.noise_factor));
  if (used_) return false;
  double unit = 1;
  while (strongest_w_ * highest_gain_ * units_per_watt > unit * real(largest_link_power) &&
         least_noise_w_ * units_per_watt >= 2 * unit * least_units_of_noise)
    unit *= 2;
  return std::exchange(unit_, unit) != unit;
}

void Medium::forget_thresholds() {
  least_decodable_ = least_noise_ = to_link_power(never_above);
  highest_carrier_ = 0;
}

void Medium::regard(const RadioOptions& options) {
  least_decodable_ = std::min(least_decodable_, to_link_power(threshold(options.receive_threshold_w)));
  least_noise_ = std::min(least_noise_, to_link_power(threshold(watt(noise(options)))));
  highest_carrier_ = std::max(highest_carrier_, units(options.carrier_threshold_w, never_above));
}

void Medium::add(std::uint32_t radio, const RadioOptions& options, const Vec3& position) {
  VOLVOX_ASSERT(!has(radio) && options.antenna_gain > 0);
  VOLVOX_ASSERT(position_.size() == radio_.size() && sum_.size() == radio_.size() && limit_.size() == radio_.size());
  const std::uint32_t slot = narrow<std::uint32_t>(size());  // after the sorted slots until the next sort
  slot_of_.resize(radio + 1, nothing);
  slot_of_[radio] = slot;
  position_.push_back(position);
  radio_.push_back(radio);
  sum_.push_back(noise(options));
  limit_.push_back(to_link_power(never_above));
  awaits_quiet_.push_back(0);
  regard(options);
  if (slot == 0) antenna_gain_ = options.antenna_gain;
  if (options.antenna_gain != antenna_gain_ && antenna_gain_at_.empty()) antenna_gain_at_.assign(slot, antenna_gain_);
  if (!antenna_gain_at_.empty()) antenna_gain_at_.push_back(options.antenna_gain);
  unsorted_ = options_.cull_radius > 0;
}

Vec3 Medium::position(std::uint32_t radio) const { return position_[slot_of_[radio]]; }

void Medium::move(std::uint32_t radio, const Vec3& to) {
  VOLVOX_ASSERT(has(radio));
  VOLVOX_ASSERT(finite(to));
  const std::uint32_t slot = slot_of_[radio];
  if (options_.cull_radius > 0 && !unsorted_) {
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis)
      inside = inside && to[axis] >= origin_[axis] && to[axis] < origin_[axis] + cell_size_[axis] * cells_[axis];
    if (!inside || cell_of(to) != cell_of(position(radio))) unsorted_ = true;
  }
  position_[slot] = to;
}

PowerUnits Medium::added_noise(std::uint32_t sender, std::uint32_t receiver, double bandwidth_hz) const {
  if (!adds_noise_) return 0;
  return units(propagation_->added_noise_w(length(position(receiver) - position(sender)), bandwidth_hz));
}

void Medium::watch(std::uint32_t radio, PowerUnits limit, bool awaits_quiet) {
  VOLVOX_ASSERT(has(radio));
  VOLVOX_ASSERT(limit >= 0);
  const std::uint32_t slot = slot_of_[radio];
  limit_[slot] = to_link_power(limit);
  awaits_quiet_[slot] = awaits_quiet ? 1 : 0;
}

// --- transmissions -----------------------------------------------------------------------

void Medium::start(const Emission& emission, Links& links, std::vector<Hit>& hits) {
  VOLVOX_ASSERT(!unsorted_);
  const Vec3 from = position(emission.radio);
  links.clear();
  // Slightly more than the radius, so that rounding does not omit a cell; to_power compares exactly.
  find_runs(from, options_.cull_radius * (1 + 1e-9), links.runs);
  std::uint32_t total = 0;
  for (const Links::Run& run : links.runs) total += run.count;
  if (links.power.capacity() < total) links.power.reserve(total + total / 16);  // little more than needed
  if (links.power.size() < total) links.power.resize(total);
  links.updates = total - 1;  // all except the sender
  heard_weakly_ = 0;
  used_ = true;

  for (const Links::Run& run : links.runs) prefetch(position_, run);
  // Gathers runs until a block is full, then processes it; a long run fills several blocks.
  LinkPower* power = links.power.data();
  const auto work = [&] {
    arriving_power(emission, from, power);
    for (const Links::Run run : block_->runs) add(run, power, hits), power += run.count;
    block_->clear();
  };
  for (std::size_t k = 0; k < links.runs.size(); ++k) {
    prefetch(sum_, links.runs[k]), prefetch(limit_, links.runs[k]);
    for (std::uint32_t done = 0; done < links.runs[k].count;) {
      const std::uint32_t count = std::min(links.runs[k].count - done, Block::capacity - block_->count);
      gather({links.runs[k].begin + done, count}, from);
      done += count;
      if (block_->count == Block::capacity) work();
    }
  }
  work();
}

void Medium::gather(Links::Run run, const Vec3& from) {
  VOLVOX_ASSERT(run.begin + run.count <= size());
  VOLVOX_ASSERT(block_->count + run.count <= Block::capacity);
  Block& block = *block_;
  const std::uint32_t begin = block.count;
  squared_distances(from, &position_[run.begin], block.squared + begin, run.count);
  if (!distance_only_) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const Vec3& place = position_[run.begin + i];
      block.x[begin + i] = place.x, block.y[begin + i] = place.y, block.z[begin + i] = place.z;
    }
    std::copy_n(radio_.data() + run.begin, run.count, block.radio + begin);
  }
  if (!antenna_gain_at_.empty())
    std::copy_n(antenna_gain_at_.data() + run.begin, run.count, block.antenna_gain + begin);
  block.runs.push_back(run);
  block.count += run.count;
}

void Medium::arriving_power(const Emission& emission, const Vec3& from, LinkPower* power) {
  Block& block = *block_;
  const double cull_squared =
      options_.cull_radius > 0 ? options_.cull_radius * options_.cull_radius : std::numeric_limits<double>::infinity();
  const double scale = emission.power_w * units_per_watt / unit_ * (antenna_gain_at_.empty() ? antenna_gain_ : 1.0);
  propagation_->gains(
      {from, emission.radio, emission.frame, block.x, block.y, block.z, block.squared, block.radio, block.count},
      block.gain);
  if (!antenna_gain_at_.empty())
    for (std::uint32_t i = 0; i < block.count; ++i) block.gain[i] *= block.antenna_gain[i];
  to_power(block.gain, block.squared, cull_squared, scale, power, block.count);
  // A radio does not receive its own transmission.
  const std::uint32_t own = slot_of_[emission.radio];
  for (const Links::Run run : block.runs) {
    if (own >= run.begin && own < run.begin + run.count) power[own - run.begin] = 0;
    power += run.count;
  }
}

void Medium::add(Links::Run run, const LinkPower* power, std::vector<Hit>& hits) {
  VOLVOX_ASSERT(run.begin + run.count <= size());
  const Tally tally =
      add_powers(power, &sum_[run.begin], &limit_[run.begin], least_decodable_, least_noise_, run.count);
  heard_weakly_ += tally.heard;
  if (tally.hits == 0) return;
  for (std::uint32_t i = 0; i < run.count; ++i) {
    const bool decodable = power[i] >= least_decodable_;
    heard_weakly_ -= decodable && power[i] >= least_noise_;
    if (decodable || reached_limit(run.begin + i)) hits.push_back({run.begin + i, in_units(power[i])});
  }
}

void Medium::stop(const Links& links, std::vector<std::uint32_t>& hits) {
  VOLVOX_ASSERT(links.runs.empty() || links.radios.empty());
  const LinkPower* power = links.power.data();
  for (std::size_t i = 0; i < links.radios.size(); ++i) {
    const std::uint32_t slot = slot_of_[links.radios[i]];
    sum_[slot] -= in_units(power[i]);
    VOLVOX_ASSERT(sum_[slot] >= 0);
    if (awaits_quiet_[slot] != 0 && sum_at(slot) < highest_carrier_) hits.push_back(links.radios[i]);
  }
  for (const Links::Run& run : links.runs) prefetch(sum_, run), prefetch(awaits_quiet_, run);
  for (const Links::Run& run : links.runs) {
    const std::int64_t quiet =
        remove_powers(power, &sum_[run.begin], &awaits_quiet_[run.begin], highest_carrier_, run.count);
    VOLVOX_ASSERT(*std::min_element(&sum_[run.begin], &sum_[run.begin] + run.count) >= 0);
    power += run.count;
    if (quiet == 0) continue;
    for (std::uint32_t slot = run.begin; slot < run.begin + run.count; ++slot)
      if (awaits_quiet_[slot] != 0 && sum_at(slot) < highest_carrier_) hits.push_back(radio_at(slot));
  }
}

// --- cells -------------------------------------------------------------------------------

int Medium::cell_coordinate(double position, int axis) const {
  const double cell = (position - origin_[axis]) / cell_size_[axis];
  return cell <= 0 ? 0 : cell >= cells_[axis] - 1 ? cells_[axis] - 1 : truncated<int>(cell);
}

std::uint32_t Medium::cell_of(const Vec3& p) const {
  return (cell_coordinate(p.z, 2) * cells_[1] + cell_coordinate(p.y, 1)) * cells_[0] + cell_coordinate(p.x, 0);
}

void Medium::choose_cells() {
  Vec3 low = position_[0], high = low;
  for (const Vec3& p : position_) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  // Narrow rows follow the edge of the disc closely, but in 3-D there would be many of them, and each costs
  // cache misses. Narrow cells along a row cost nothing. The number of cells is bounded by the number of
  // radios, even if a few radios are far away.
  origin_ = low;
  const bool flat = high.z - low.z <= options_.cull_radius;
  const double width = options_.cull_radius / (flat ? 4 : 3);
  cell_size_ = {options_.cull_radius / 8, width, width};
  const double most = 2.0 * real(size()) + 64;
  for (;;) {
    double count = 1;
    for (int axis = 0; axis < 3; ++axis) count *= std::floor((high[axis] - low[axis]) / cell_size_[axis]) + 1;
    if (count <= most) break;
    cell_size_ = 1.5 * cell_size_;
  }
  for (int axis = 0; axis < 3; ++axis)
    cells_[axis] = truncated<int>(std::floor((high[axis] - low[axis]) / cell_size_[axis])) + 1;
}

void Medium::sort() {
  VOLVOX_ASSERT(radio_.size() == position_.size());
  unsorted_ = false;
  if (options_.cull_radius == 0 || size() == 0) return;
  choose_cells();
  // Counting sort; within a cell, radios are in the order of their indices.
  cell_begin_.assign(cells_[0] * cells_[1] * cells_[2] + 1, 0);
  for (const Vec3& place : position_) ++cell_begin_[cell_of(place) + 1];
  std::partial_sum(cell_begin_.begin(), cell_begin_.end(), cell_begin_.begin());
  std::vector<std::uint32_t> old_slot(size());
  {
    std::vector<std::uint32_t> next(cell_begin_.begin(), cell_begin_.end() - 1);
    for (std::uint32_t radio = 0; radio < slot_of_.size(); ++radio)
      if (has(radio)) old_slot[next[cell_of(position(radio))]++] = slot_of_[radio];
  }
  permute(position_, old_slot);
  permute(radio_, old_slot);
  permute(sum_, old_slot);
  permute(limit_, old_slot);
  permute(awaits_quiet_, old_slot);
  if (!antenna_gain_at_.empty()) permute(antenna_gain_at_, old_slot);
  for (std::uint32_t slot = 0; slot < size(); ++slot) slot_of_[radio_at(slot)] = slot;
}

void Medium::find_runs(const Vec3& from, double radius, std::vector<Links::Run>& runs) const {
  if (options_.cull_radius == 0) {
    runs.push_back({0, narrow<std::uint32_t>(size())});
    return;
  }
  const auto gap_squared = [&](int cell, int axis) {
    const double low = origin_[axis] + cell * cell_size_[axis], high = low + cell_size_[axis];
    const double gap = std::max({0.0, low - from[axis], from[axis] - high});
    return gap * gap;
  };
  const int y_begin = cell_coordinate(from.y - radius, 1), y_end = cell_coordinate(from.y + radius, 1);
  const int z_begin = cell_coordinate(from.z - radius, 2), z_end = cell_coordinate(from.z + radius, 2);
  // First the cells, then their slots: the table of cells is fetched for all rows at the same time.
  const std::size_t first = runs.size();
  for (int cz = z_begin; cz <= z_end; ++cz) {
    const double rest_of_plane = radius * radius - gap_squared(cz, 2);
    for (int cy = y_begin; cy <= y_end; ++cy) {
      const double rest = rest_of_plane - gap_squared(cy, 1);
      if (rest < 0) continue;
      const double half = std::sqrt(rest) * (1 + 1e-9);
      const std::uint32_t row = (cz * cells_[1] + cy) * cells_[0];
      const std::uint32_t begin = row + cell_coordinate(from.x - half, 0);
      const std::uint32_t end = row + cell_coordinate(from.x + half, 0) + 1;
      __builtin_prefetch(&cell_begin_[begin]), __builtin_prefetch(&cell_begin_[end]);
      runs.push_back({begin, end});
    }
  }
  std::size_t kept = first;
  for (std::size_t k = first; k < runs.size(); ++k) {
    const std::uint32_t begin = cell_begin_[runs[k].begin], end = cell_begin_[runs[k].count];
    if (end > begin) runs[kept++] = {begin, end - begin};
  }
  runs.resize(kept);
}

std::size_t Medium::crowded(double distance) const {
  if (!(distance > 0) || size() == 0) return 0;
  if (options_.cull_radius > 0 && !unsorted_) return crowded_by_cells(distance);
  const CellGrid grid(position_, distance);
  std::size_t count = 0;
  for (std::uint32_t slot = 0; slot < size(); ++slot)
    count += grid.any_near(position_[slot], distance, [&](std::uint32_t other, double squared) {
      return other != slot && squared < distance * distance;
    });
  return count;
}

// The same with the cells of the medium, without a copy of a million positions.
std::size_t Medium::crowded_by_cells(double distance) const {
  std::vector<Links::Run> runs;
  std::size_t count = 0;
  for (std::uint32_t slot = 0; slot < size(); ++slot) {
    const Vec3 here = position_[slot];
    runs.clear();
    find_runs(here, distance * (1 + 1e-9), runs);
    const auto near = [&](std::uint32_t other) {
      return other != slot && length_squared(position_[other] - here) < distance * distance;
    };
    const auto has_near = [&](Links::Run run) {
      for (std::uint32_t other = run.begin; other < run.begin + run.count; ++other)
        if (near(other)) return true;
      return false;
    };
    count += std::any_of(runs.begin(), runs.end(), has_near);
  }
  return count;
}

// --- snapshots and reordering ------------------------------------------------------------

std::vector<std::pair<std::uint32_t, PowerUnits>> Medium::list(const Links& links) const {
  std::vector<std::pair<std::uint32_t, PowerUnits>> result;
  const LinkPower* power = links.power.data();
  for (const std::uint32_t radio : links.radios) result.push_back({radio, in_units(*power++)});
  for (const Links::Run& run : links.runs)
    for (std::uint32_t slot = run.begin; slot < run.begin + run.count; ++slot, ++power)
      if (in_units(*power) != 0) result.push_back({radio_at(slot), in_units(*power)});
  std::sort(result.begin(), result.end());
  return result;
}

void Medium::scatter(Links& links) const {
  if (links.runs.empty()) return;
  const auto entries = list(links);
  links.runs.clear(), links.radios.clear(), links.power.clear();
  for (const auto& [radio, power] : entries) {
    links.radios.push_back(radio);
    links.power.push_back(to_link_power(power));
  }
}

void Medium::adopt(Links& links, const std::vector<std::pair<std::uint32_t, PowerUnits>>& list) {
  links.runs.clear(), links.radios.clear(), links.power.clear();
  for (const auto& [radio, power] : list) {
    links.radios.push_back(radio);
    links.power.push_back(to_link_power(power));
    sum_[slot_of_[radio]] += power;
  }
}

}  // namespace volvox::net
