// What is measured, saved and kept of a world between substeps.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "volvox/base/index.h"
#include "volvox/particles/particle_world.h"

namespace volvox::particles {
namespace {

Vec3 wide(const Point& p) { return {p.x, p.y, p.z}; }

// As bytes: these types have no padding.
template <class T>
void archive_bytes(Archive& ar, std::vector<T>& array, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);
  if (ar.loading() && ar.remaining() / sizeof(T) < count) {
    ar.fail("the snapshot ends too early");
    return;
  }
  ar.raw(array.data(), count * sizeof(T));
}

std::size_t archive_count(Archive& ar, std::size_t count) {
  std::uint64_t n = count;
  ar("count", n);
  if (ar.loading() && n > ar.remaining()) {
    ar.fail("the snapshot announces more particles than it contains");
    n = 0;
  }
  return n;
}

// The place of a number in a list, whose size is a multiple of eight; the list's size if it is not in it.
std::size_t place_in(std::span<const std::uint32_t> list, std::uint32_t number) {
  typedef std::uint32_t Numbers __attribute__((vector_size(32), aligned(4), may_alias));
  for (std::size_t k = 0; k < list.size(); k += lanes) {
    const LaneMask same = *reinterpret_cast<const Numbers*>(list.data() + k) == number;
    if (const unsigned bits = bits_of(same); bits != 0) return k + static_cast<std::size_t>(std::countr_zero(bits));
  }
  return list.size();
}

double mean_excess(std::span<const float> densities) {
  double error = 0;
  for (const float d : densities) error += d > 1 ? d - 1.0 : 0.0;
  return error / real(densities.size());
}

}  // namespace

// Copies the touches out of the lists of neighbours. Lists name particles by their places, which the next sorting
// changes; the copies name them by their ids.
void ParticleWorld::keep_touches() {
  if (solid_.count == 0) return;
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < solid_.count; ++i) {
    solid_.touch_first[i] = total;
    total += solid_.touch_count[i];
  }
  solid_.touch_id.resize(total);
  solid_.touch_shift.resize(total);
  for_blocks(options_.threads, solid_.count, [&](std::size_t begin, std::size_t end, std::size_t b) {
    const Touches::Block& block = touches_.blocks[b];
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t first = solid_of_solid_.first[i];
      const auto list = solid_of_solid_.of(i);
      std::uint32_t kept = solid_.touch_first[i];
      const std::uint32_t last = kept + solid_.touch_count[i];
      for (std::size_t k = 0; kept < last && k < list.size(); k += lanes) {
        for (unsigned left = block.shifted[(first + k) / lanes]; left != 0; left &= left - 1) {
          const std::size_t n = k + static_cast<std::size_t>(std::countr_zero(left)), entry = first + n;
          solid_.touch_id[kept] = solid_.id[list[n]];
          solid_.touch_shift[kept++] = {block.x[entry], block.y[entry], block.z[entry]};
        }
      }
      VOLVOX_ASSERT(kept == last);
    }
  });
  VOLVOX_ASSERT(touches_are_sound());
}

// Arrays have an entry for each, ids and places are each other's inverse, and masses and radii make sense.
bool ParticleWorld::solids_are_sound() const {
  if (solid_.position.size() != solid_.count + 1 || solid_.velocity.size() != solid_.count + 1) return false;
  if (solid_.id.size() != solid_.count || solid_.touch_count.size() != solid_.count) return false;
  for (std::size_t i = 0; i < solid_.count; ++i) {
    if (solid_.id[i] >= solid_.index.size() || solid_.index[solid_.id[i]] != i) return false;
    if (!(solid_.position[i].w >= 0 && solid_.velocity[i].w > 0)) return false;
  }
  return true;
}

// The touches of each solid begin where those of the solid before it end, and name other solids that exist.
bool ParticleWorld::touches_are_sound() const {
  std::size_t next = 0;
  for (std::size_t i = 0; i < solid_.count; ++i) {
    if (solid_.touch_first[i] != next) return false;
    next += solid_.touch_count[i];
    if (next > solid_.touch_id.size()) return false;
    for (std::size_t t = solid_.touch_first[i]; t < next; ++t)
      if (solid_.touch_id[t] == solid_.id[i] || solid_.index[solid_.touch_id[t]] == ~0u) return false;
  }
  return next == solid_.touch_id.size() && next == solid_.touch_shift.size();
}

void ParticleWorld::keep_lists_touches() {
  if (listed_ && !touches_kept_) keep_touches();
  touches_kept_ = true;
}

void ParticleWorld::end_tick() {
  if (tick_on_device_ && device_ != nullptr && device_->begins) {
    // The tick was begun on the device, but no part of it was made there. All that the beginning of a tick does is to
    // take out what has left the world, so the processor does it.
    fetch();
    device_->begins = device_->loaded = tick_on_device_ = false;
    (void)drain();  // positions that are no numbers are an error of the next tick
  }
  if (device_ != nullptr) device_->in_tick = false;
  keep_lists_touches();
}

void ParticleWorld::restore_touches() {
  touches_.blocks.resize(blocks_of(solid_.count));
  for_blocks(options_.threads, solid_.count, [&](std::size_t begin, std::size_t end, std::size_t b) {
    Touches::Block& block = touches_.blocks[b];
    const std::size_t entries = solid_of_solid_.blocks[b].size();
    for (auto* array : {&block.x, &block.y, &block.z}) array->resize(entries);
    block.shifted.assign(entries / lanes, 0);
    for (std::size_t i = begin; i < end; ++i) {
      const auto list = solid_of_solid_.of(i);
      for (std::uint32_t t = solid_.touch_first[i]; t < solid_.touch_first[i] + solid_.touch_count[i]; ++t) {
        const std::size_t found = place_in(list, solid_.index[solid_.touch_id[t]]);
        if (found == list.size()) continue;
        const std::size_t entry = solid_of_solid_.first[i] + found, eight = entry / lanes * lanes;
        std::uint8_t& bits = block.shifted[entry / lanes];
        if (bits == 0)
          for (auto* array : {&block.x, &block.y, &block.z}) store(array->data() + eight, Lanes{});
        bits = static_cast<std::uint8_t>(bits | 1u << entry % lanes);
        const Vector& shift = solid_.touch_shift[t];
        block.x[entry] = shift.x, block.y[entry] = shift.y, block.z[entry] = shift.z;
      }
    }
  });
}

double ParticleWorld::density_error() const {
  std::vector<float> density;
  if (on_device() && last_substep_ > 0) {
    const std::lock_guard lock(fetching_);
    if (!device_->densities(density).ok()) {
      density.clear();
      fetch();
    }
  }
  if (density.empty() && (fluid_.count == 0 || !listed_)) return 0;
  if (!density.empty()) return mean_excess(density);
  density.resize(fluid_.count);
  for_blocks(options_.threads, fluid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    find_densities(numbers_, fluid_, fluid_of_fluid_, solid_of_fluid_, {solid_.position.data(), solid_.velocity.data()},
                   {views_.data(), views_.size(), nullptr}, density.data(), begin, end);
  });
  return mean_excess(density);
}

std::vector<double> ParticleWorld::pressures() const {
  fetch();
  std::vector<double> found(fluid_.count);
  if (last_substep_ <= 0) return found;
  for (std::size_t i = 0; i < fluid_.count; ++i)
    found[i] = fluid_.seen[i].w * options_.fluid.density * numbers_.pressure / (last_substep_ * last_substep_);
  return found;
}

Vec3 ParticleWorld::momentum() const {
  fetch();
  Vec3 total;
  for (const Point& v : fluid_velocities()) total += wide(v) * numbers_.mass;
  for (std::size_t i = 0; i < solid_.count; ++i)
    if (solid_.position[i].w > 0) total += wide(solid_.velocity[i]) / solid_.position[i].w;
  return total;
}

double ParticleWorld::energy() const {
  fetch();
  double total = 0;
  const auto add = [&](const Point& p, const Point& v, double mass) {
    total += mass * (0.5 * length_squared(wide(v)) - dot(options_.gravity, wide(p)));
  };
  for (std::size_t i = 0; i < fluid_.count; ++i) add(fluid_.position[i], fluid_.velocity[i], numbers_.mass);
  for (std::size_t i = 0; i < solid_.count; ++i) {
    if (solid_.position[i].w == 0) continue;
    const double mass = 1.0 / solid_.position[i].w, r = solid_.velocity[i].w;
    add(solid_.position[i], solid_.velocity[i], mass);
    total += 0.2 * mass * r * r * length_squared(wide(solid_.spin[i]));
  }
  return total;
}

std::size_t ParticleWorld::memory_bytes() const {
  const auto lists = [](const Neighbours& n) {
    std::size_t bytes = n.first.capacity() * 8;
    for (const auto& block : n.blocks) bytes += block.capacity() * 4;
    return bytes;
  };
  std::size_t bytes = lists(fluid_of_fluid_) + lists(solid_of_fluid_) + lists(fluid_of_solid_);
  bytes += 4 * lists(solid_of_solid_) + points_.capacity() * sizeof(Point);
  bytes += fluid_.count * (5 * sizeof(Point) + 4) + solid_.count * (7 * sizeof(Point) + 60);
  bytes += (sorted_fluid_.first.capacity() + sorted_solid_.first.capacity()) * 4 + (fluid_.count + solid_.count) * 24;
  return bytes;
}

void ParticleWorld::archive_fluid(Archive& ar) {
  ar.section("particles", "fluid");
  const std::size_t count = archive_count(ar, fluid_.count);
  if (ar.loading()) fluid_.resize(count);
  archive_bytes(ar, fluid_.position, count);
  archive_bytes(ar, fluid_.velocity, count);
  archive_bytes(ar, fluid_.id, count);
  ar("next", fluid_.next_id);
}

// What changes when an emitter adds solids: the world that loads a snapshot may have fewer solids than the snapshot, or
// more. Points of cloth exist from the start; a snapshot without ids for all of them is refused.
void ParticleWorld::archive_added(Archive& ar) {
  std::uint64_t ids = solid_.index.size();
  ar("ids", ids), ar("largest", largest_radius_), ar("smallest", smallest_grain_);
  if (!ar.loading()) return;
  std::uint64_t least = 0;
  for (const ThreadGroup& group : groups_)
    for (const ThreadBlock& block : group.blocks)
      for (const std::uint32_t id : block.points)
        if (id != ~0u) least = std::max<std::uint64_t>(least, std::uint64_t{id} + 1);
  if (ids < least || ids > solid_.index.size() + ar.remaining() || !(largest_radius_ >= 0 && largest_radius_ < 1e4f) ||
      !(smallest_grain_ >= 0 && smallest_grain_ <= largest_radius_))
    return ar.fail("the snapshot has other or damaged particles");
  solid_.index.resize(ids, ~0u);
}

void ParticleWorld::archive_solids(Archive& ar) {
  ar.section("particles", "solids");
  const std::size_t count = archive_count(ar, solid_.count);
  if (!ar.hashing()) archive_added(ar);
  if (ar.loading()) solid_.resize(count);
  archive_bytes(ar, solid_.position, count);
  archive_bytes(ar, solid_.velocity, count);
  archive_bytes(ar, solid_.spin, count);
  archive_bytes(ar, solid_.id, count);
  archive_bytes(ar, solid_.on_shapes, count);
  ar("grain", solid_.grain);
  ar("first", solid_.touch_first), ar("touches", solid_.touch_count), ar("others", solid_.touch_id);
  const std::size_t touches = archive_count(ar, solid_.touch_shift.size());
  if (ar.loading()) solid_.touch_shift.resize(touches);
  archive_bytes(ar, solid_.touch_shift, touches);
  for (ThreadGroup& group : groups_) group.archive(ar);
  if (!ar.loading() || !ar.ok()) return;
  // Numbers of a damaged snapshot must not lead outside of the arrays.
  bool sound = solid_.grain.size() == count && solid_.touch_first.size() == count &&
               solid_.touch_count.size() == count && solid_.touch_id.size() == touches;
  std::fill(solid_.index.begin(), solid_.index.end(), ~0u);
  for (std::size_t i = 0; i < count && sound; ++i) {
    sound = solid_.id[i] < solid_.index.size() && solid_.index[solid_.id[i]] == ~0u &&
            std::size_t{solid_.touch_first[i]} + solid_.touch_count[i] <= touches;
    if (sound) solid_.index[solid_.id[i]] = static_cast<std::uint32_t>(i);
  }
  for (const std::uint32_t id : solid_.touch_id) sound = sound && id < solid_.index.size();
  if (sound) return;
  ar.fail("the snapshot has other or damaged particles");
}

void ParticleWorld::archive(Archive& ar) {
  fetch();
  if (ar.loading() && device_ != nullptr) device_->loaded = false;
  if (!ar.loading()) keep_lists_touches();
  archive_fluid(ar);
  archive_solids(ar);
  ar.section("particles", "shapes");
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    ar("pose", shapes_[s].pose), ar("velocity", shapes_[s].velocity), ar("impulse", impulses_[s]);
  }
  ar("drained", drained_), ar("torn", torn_);
  if (!ar.loading()) return;
  listed_ = false;
  last_substep_ = 0;  // there are no pressures before the next step
  if (!ar.ok()) {
    fluid_.resize(0);
    solid_.touch_id.clear(), solid_.touch_shift.clear();
    solid_.resize(0);
    std::fill(solid_.index.begin(), solid_.index.end(), ~0u);
  }
}

std::uint64_t ParticleWorld::hash() {
  HashArchive ar;
  archive(ar);
  return ar.value();
}

}  // namespace volvox::particles
