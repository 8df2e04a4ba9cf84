#include "volvox/net/medium.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "volvox/net/vector_clones.h"

namespace volvox::net {
namespace {

constexpr std::size_t block_size = 64;

// The hot loops. Pointers never overlap; plain loops that the compiler turns into vector
// instructions, and that give the same bits if it does not.
VOLVOX_VECTOR_CLONES
void squared_distances(const Vec3& from, const double* __restrict x, const double* __restrict y,
                       const double* __restrict z, double* __restrict squared, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const double dx = x[i] - from.x, dy = y[i] - from.y, dz = z[i] - from.z;
    squared[i] = dx * dx + dy * dy + dz * dz;
  }
}

VOLVOX_VECTOR_CLONES
void to_power(const double* __restrict gain, const double* __restrict squared, double cull_squared, double scale,
              PowerUnits* __restrict power, std::size_t count) {
  constexpr double most = static_cast<double>(largest_link_power);
  for (std::size_t i = 0; i < count; ++i) {
    const double units = gain[i] * scale;
    const double capped = units < most ? units : most;
    power[i] = static_cast<PowerUnits>(squared[i] <= cull_squared ? capped : 0.0);
  }
}

struct Tally {
  std::int64_t hits = 0, heard = 0;
};

VOLVOX_VECTOR_CLONES
Tally add_powers(const PowerUnits* __restrict power, PowerUnits* __restrict sum, const PowerUnits* __restrict up,
                 PowerUnits least_decodable, PowerUnits least_noise, std::size_t count) {
  Tally tally;
  for (std::size_t i = 0; i < count; ++i) {
    const PowerUnits total = sum[i] + power[i];
    sum[i] = total;
    tally.hits += (total >= up[i]) | (power[i] >= least_decodable);
    tally.heard += power[i] >= least_noise;
  }
  return tally;
}

VOLVOX_VECTOR_CLONES
std::int64_t remove_powers(const PowerUnits* __restrict power, PowerUnits* __restrict sum,
                           const PowerUnits* __restrict down, std::size_t count) {
  std::int64_t hits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const PowerUnits total = sum[i] - power[i];
    sum[i] = total;
    hits += total < down[i];
  }
  return hits;
}

// Short runs far apart are too short for the processor to guess: ask for the next one early.
template <class T>
void prefetch(const std::vector<T>& values, Links::Run run) {
  constexpr std::size_t a_line = 64 / sizeof(T);
  const std::size_t end = run.begin + std::min<std::size_t>(run.count, block_size);
  for (std::size_t i = run.begin; i < end; i += a_line) fetch_early(&values[i]);
}

template <class T>
void permute(std::vector<T>& values, const std::vector<std::uint32_t>& old_slot, std::vector<T>& scratch) {
  scratch.resize(values.size());
  for (std::size_t slot = 0; slot < values.size(); ++slot) scratch[slot] = values[old_slot[slot]];
  values.swap(scratch);
}

}  // namespace

Medium::Medium(const MediumOptions& options, std::unique_ptr<Propagation> propagation)
    : options_(options), propagation_(std::move(propagation)) {
  adds_noise_ = propagation_->added_noise_w(1, 1e12) > 0;  // most models add none: asked once
  if (options_.cull_radius == 0) unsorted_ = false;  // exact: one run over all, in any order
}

void Medium::reserve(std::size_t radios) {
  slot_of_.reserve(radios), radio_at_.reserve(radios);
  x_.reserve(radios), y_.reserve(radios), z_.reserve(radios);
  sum_.reserve(radios), up_.reserve(radios), down_.reserve(radios);
}

void Medium::add(std::uint32_t radio, const RadioOptions& options, const Vec3& position) {
  const std::uint32_t slot = static_cast<std::uint32_t>(size());  // behind the sorted ones until the next sort
  const PowerUnits noise = to_units(thermal_noise_w(options.bandwidth_hz, options.noise_factor));
  slot_of_.resize(radio + 1, nothing);
  slot_of_[radio] = slot;
  radio_at_.push_back(radio);
  x_.push_back(position.x), y_.push_back(position.y), z_.push_back(position.z);
  sum_.push_back(noise), up_.push_back(never_above), down_.push_back(never_below);
  least_decodable_ = std::min(least_decodable_, std::max<PowerUnits>(1, to_units(options.receive_threshold_w)));
  least_noise_ = std::min(least_noise_, std::max<PowerUnits>(1, noise));
  if (slot == 0) antenna_gain_ = options.antenna_gain;
  if (options.antenna_gain != antenna_gain_ && antenna_gain_at_.empty()) antenna_gain_at_.assign(slot, antenna_gain_);
  if (!antenna_gain_at_.empty()) antenna_gain_at_.push_back(options.antenna_gain);
  unsorted_ = options_.cull_radius > 0;
}

Vec3 Medium::position(std::uint32_t radio) const {
  const std::uint32_t slot = slot_of_[radio];
  return {x_[slot], y_[slot], z_[slot]};
}

void Medium::move(std::uint32_t radio, const Vec3& to) {
  const std::uint32_t slot = slot_of_[radio];
  if (options_.cull_radius > 0 && !unsorted_) {
    const bool inside = to.x >= origin_.x && to.y >= origin_.y && to.z >= origin_.z &&
                        to.x < origin_.x + cell_size_ * cells_[0] && to.y < origin_.y + cell_size_ * cells_[1] &&
                        to.z < origin_.z + cell_size_ * cells_[2];
    if (!inside || cell_of(to) != cell_of(position(radio))) unsorted_ = true;
  }
  x_[slot] = to.x, y_[slot] = to.y, z_[slot] = to.z;
}

PowerUnits Medium::added_noise(std::uint32_t sender, std::uint32_t receiver, double bandwidth_hz) const {
  if (!adds_noise_) return 0;
  return to_units(propagation_->added_noise_w(length(position(receiver) - position(sender)), bandwidth_hz));
}

void Medium::watch(std::uint32_t radio, PowerUnits up, PowerUnits down) {
  const std::uint32_t slot = slot_of_[radio];
  up_[slot] = up;
  down_[slot] = down;
}

// --- transmissions -----------------------------------------------------------------------

void Medium::start(const Emission& emission, Links& links, std::vector<Hit>& hits) {
  VOLVOX_ASSERT(!unsorted_);
  const Vec3 from = position(emission.radio);
  links.clear();
  find_runs(from, links.runs);
  std::size_t total = 0;
  for (const Links::Run& run : links.runs) total += run.count;
  links.power.resize(total);
  links.updates = total - 1;  // all but the sender itself
  heard_weakly_ = 0;
  PowerUnits* power = links.power.data();
  for (std::size_t k = 0; k < links.runs.size(); ++k) {
    if (k + 1 < links.runs.size()) {
      const Links::Run next = links.runs[k + 1];
      for (const auto* values : {&x_, &y_, &z_}) prefetch(*values, next);
      for (const auto* values : {&sum_, &up_}) prefetch(*values, next);
    }
    start_run(emission, from, links.runs[k], power, hits);
    power += links.runs[k].count;
  }
}

void Medium::start_run(const Emission& emission, const Vec3& from, Links::Run run, PowerUnits* power,
                       std::vector<Hit>& hits) {
  alignas(64) double squared[block_size];
  alignas(64) double gain[block_size];
  const double cull_squared = options_.cull_radius > 0 ? options_.cull_radius * options_.cull_radius
                                                       : std::numeric_limits<double>::infinity();
  const double scale = emission.power_w * units_per_watt * (antenna_gain_at_.empty() ? antenna_gain_ : 1.0);
  const std::uint32_t own_slot = slot_of_[emission.radio];
  for (std::uint32_t done = 0; done < run.count; done += block_size, power += block_size) {
    const std::uint32_t slot = run.begin + done;
    const std::size_t count = std::min<std::size_t>(block_size, run.count - done);
    squared_distances(from, &x_[slot], &y_[slot], &z_[slot], squared, count);
    propagation_->gains(
        {from, emission.radio, emission.frame, &x_[slot], &y_[slot], &z_[slot], squared, &radio_at_[slot], count},
        gain);
    if (!antenna_gain_at_.empty())
      for (std::size_t i = 0; i < count; ++i) gain[i] *= antenna_gain_at_[slot + i];
    to_power(gain, squared, cull_squared, scale, power, count);
    if (own_slot - slot < count) power[own_slot - slot] = 0;
    const Tally tally = add_powers(power, &sum_[slot], &up_[slot], least_decodable_, least_noise_, count);
    heard_weakly_ += static_cast<std::uint64_t>(tally.heard);
    if (tally.hits == 0) continue;
    for (std::size_t i = 0; i < count; ++i) {
      const bool decodable = power[i] >= least_decodable_;
      heard_weakly_ -= decodable && power[i] >= least_noise_;
      if (decodable || sum_[slot + i] >= up_[slot + i])
        hits.push_back({slot + static_cast<std::uint32_t>(i), power[i]});
    }
  }
}

void Medium::stop(const Links& links, std::vector<std::uint32_t>& hits) {
  const PowerUnits* power = links.power.data();
  for (std::size_t i = 0; i < links.radios.size(); ++i) {
    const std::uint32_t slot = slot_of_[links.radios[i]];
    sum_[slot] -= power[i];
    if (sum_[slot] < down_[slot]) hits.push_back(links.radios[i]);
  }
  for (std::size_t k = 0; k < links.runs.size(); ++k) {
    const Links::Run run = links.runs[k];
    if (k + 1 < links.runs.size())
      for (const auto* values : {&sum_, &down_}) prefetch(*values, links.runs[k + 1]);
    for (std::uint32_t done = 0; done < run.count; done += block_size, power += block_size) {
      const std::uint32_t slot = run.begin + done;
      const std::size_t count = std::min<std::size_t>(block_size, run.count - done);
      if (remove_powers(power, &sum_[slot], &down_[slot], count) == 0) continue;
      for (std::size_t i = 0; i < count; ++i)
        if (sum_[slot + i] < down_[slot + i]) hits.push_back(radio_at_[slot + i]);
    }
    if (const std::uint32_t rest = run.count % block_size; rest != 0) power -= block_size - rest;
  }
}

// --- cells -------------------------------------------------------------------------------

int Medium::cell_coordinate(double position, int axis) const {
  const double cell = std::floor((position - origin_[axis]) / cell_size_);
  return cell <= 0 ? 0 : cell >= cells_[axis] - 1 ? cells_[axis] - 1 : static_cast<int>(cell);
}

std::uint32_t Medium::cell_of(const Vec3& p) const {
  return static_cast<std::uint32_t>((cell_coordinate(p.z, 2) * cells_[1] + cell_coordinate(p.y, 1)) * cells_[0] +
                                    cell_coordinate(p.x, 0));
}

void Medium::choose_cells() {
  Vec3 low{x_[0], y_[0], z_[0]}, high = low;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    low = {std::min(low.x, x_[i]), std::min(low.y, y_[i]), std::min(low.z, z_[i])};
    high = {std::max(high.x, x_[i]), std::max(high.y, y_[i]), std::max(high.z, z_[i])};
  }
  // A quarter of the radius wastes little around the edge; the cells must not outnumber the
  // radios by much, however far apart a few of them are.
  origin_ = low;
  cell_size_ = options_.cull_radius / 4;
  const double most = 2.0 * static_cast<double>(x_.size()) + 64;
  for (;;) {
    double count = 1;
    for (int axis = 0; axis < 3; ++axis) count *= std::floor((high[axis] - low[axis]) / cell_size_) + 1;
    if (count <= most) break;
    cell_size_ *= 1.5;
  }
  for (int axis = 0; axis < 3; ++axis)
    cells_[axis] = static_cast<int>(std::floor((high[axis] - low[axis]) / cell_size_)) + 1;
}

void Medium::sort() {
  unsorted_ = false;
  if (options_.cull_radius == 0 || size() == 0) return;
  choose_cells();
  // Counting sort, radios in order within a cell.
  cell_begin_.assign(static_cast<std::size_t>(cells_[0]) * cells_[1] * cells_[2] + 1, 0);
  for (std::size_t slot = 0; slot < size(); ++slot) ++cell_begin_[cell_of({x_[slot], y_[slot], z_[slot]}) + 1];
  std::partial_sum(cell_begin_.begin(), cell_begin_.end(), cell_begin_.begin());
  std::vector<std::uint32_t> old_slot(size());
  {
    std::vector<std::uint32_t> next(cell_begin_.begin(), cell_begin_.end() - 1);
    for (std::uint32_t radio = 0; radio < slot_of_.size(); ++radio)
      if (has(radio)) old_slot[next[cell_of(position(radio))]++] = slot_of_[radio];
  }
  std::vector<double> doubles;
  for (auto* values : {&x_, &y_, &z_}) permute(*values, old_slot, doubles);
  if (!antenna_gain_at_.empty()) permute(antenna_gain_at_, old_slot, doubles);
  doubles = {};
  std::vector<PowerUnits> units;
  for (auto* values : {&sum_, &up_, &down_}) permute(*values, old_slot, units);
  units = {};
  std::vector<std::uint32_t> indices;
  permute(radio_at_, old_slot, indices);
  for (std::uint32_t slot = 0; slot < size(); ++slot) slot_of_[radio_at_[slot]] = slot;
}

void Medium::find_runs(const Vec3& from, std::vector<Links::Run>& runs) const {
  if (options_.cull_radius == 0) {
    runs.push_back({0, static_cast<std::uint32_t>(size())});
    return;
  }
  // A little more than the radius, so that rounding cannot hide a cell; the loop over the
  // slots decides exactly.
  const double radius = options_.cull_radius * (1 + 1e-9);
  const auto gap = [&](int cell, int axis) {
    const double low = origin_[axis] + cell * cell_size_, high = low + cell_size_;
    return std::max({0.0, low - from[axis], from[axis] - high});
  };
  const int z_end = cell_coordinate(from.z + radius, 2), y_end = cell_coordinate(from.y + radius, 1);
  for (int cz = cell_coordinate(from.z - radius, 2); cz <= z_end; ++cz) {
    for (int cy = cell_coordinate(from.y - radius, 1); cy <= y_end; ++cy) {
      const double gap_y = gap(cy, 1), gap_z = gap(cz, 2);
      const double rest = radius * radius - gap_y * gap_y - gap_z * gap_z;
      if (rest < 0) continue;
      const double half = std::sqrt(rest) * (1 + 1e-9);
      const int row = (cz * cells_[1] + cy) * cells_[0];
      const std::uint32_t begin = cell_begin_[static_cast<std::size_t>(row + cell_coordinate(from.x - half, 0))];
      const std::uint32_t end = cell_begin_[static_cast<std::size_t>(row + cell_coordinate(from.x + half, 0)) + 1];
      if (end > begin) runs.push_back({begin, end - begin});
    }
  }
}

std::size_t Medium::crowded(double distance) const {
  if (!(distance > 0)) return 0;
  // Sorted into cells of that size: only the 27 cells around a radio can hold one that is near.
  using Cell = std::array<double, 3>;
  std::vector<std::pair<Cell, std::uint32_t>> cells(size());
  for (std::uint32_t slot = 0; slot < size(); ++slot)
    cells[slot] = {{std::floor(x_[slot] / distance), std::floor(y_[slot] / distance), std::floor(z_[slot] / distance)},
                   slot};
  std::sort(cells.begin(), cells.end());
  const auto near = [&](std::uint32_t a, std::uint32_t b) {
    const Vec3 gap{x_[a] - x_[b], y_[a] - y_[b], z_[a] - z_[b]};
    return a != b && length_squared(gap) < distance * distance;
  };
  const auto has_neighbor = [&](const std::pair<Cell, std::uint32_t>& entry) {
    const auto& [cell, slot] = entry;
    for (int row = 0; row < 9; ++row) {
      const Cell first{cell[0] + row / 3 - 1, cell[1] + row % 3 - 1, cell[2] - 1};
      auto it = std::lower_bound(cells.begin(), cells.end(), std::pair{first, 0u});
      for (; it != cells.end() && it->first[0] == first[0] && it->first[1] == first[1] && it->first[2] <= cell[2] + 1;
           ++it)
        if (near(slot, it->second)) return true;
    }
    return false;
  };
  return static_cast<std::size_t>(std::count_if(cells.begin(), cells.end(), has_neighbor));
}

// --- snapshots and new orders ------------------------------------------------------------

std::vector<std::pair<std::uint32_t, PowerUnits>> Medium::list(const Links& links) const {
  std::vector<std::pair<std::uint32_t, PowerUnits>> result;
  const PowerUnits* power = links.power.data();
  for (const std::uint32_t radio : links.radios) result.push_back({radio, *power++});
  for (const Links::Run& run : links.runs)
    for (std::uint32_t slot = run.begin; slot < run.begin + run.count; ++slot, ++power)
      if (*power != 0) result.push_back({radio_at_[slot], *power});
  std::sort(result.begin(), result.end());
  return result;
}

void Medium::scatter(Links& links) const {
  if (links.runs.empty()) return;
  const auto entries = list(links);
  links.runs.clear(), links.radios.clear(), links.power.clear();
  for (const auto& [radio, power] : entries) {
    links.radios.push_back(radio);
    links.power.push_back(power);
  }
}

void Medium::adopt(Links& links, const std::vector<std::pair<std::uint32_t, PowerUnits>>& list) {
  links.runs.clear(), links.radios.clear(), links.power.clear();
  for (const auto& [radio, power] : list) {
    links.radios.push_back(radio);
    links.power.push_back(power);
    sum_[slot_of_[radio]] += power;
  }
}

}  // namespace volvox::net
