#include "volvox/particles/particle_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/base/platform/available_memory.h"
#include "volvox/particles/solid_kernels.h"

namespace volvox::particles {
namespace {

// Lists of the fluid hold for this time. A pair that comes nearer by more than the skin in it is seen late, by this
// time at most: what it lacks is the flat end of the kernel. Solids would be thrown apart by that: their lists end
// before one has crossed its skin.
constexpr double time_of_list = 0.01;   // s: two lists a tick of 1/60 s
constexpr double skin_of_fluid = 0.05;  // of the support
// Solids, of the largest radius: what one at rest has, and at most; a fast one has enough for a tick, so
// that a heap that collapses is listed twice a tick, and not in every substep.
constexpr float least_skin = 0.05f, most_skin = 1.2f;
constexpr float time_of_skin = 1.0f / 60;  // s
// How much of a diameter grains may overlap under a heap. More lets them slide: their friction holds by a shift that is
// as soft, and heaps flow out (docs/decisions/0060).
constexpr double overlap_of_heap = 0.02;

// Groups cross each other: what one processor has just moved along the rows, another would fetch to move it along the
// columns, which takes longer than a small cloth takes as a whole.
constexpr std::size_t blocks_worth_a_thread = 32;

bool list_of_fluid_ends(double age, double dt) { return age + dt > time_of_list * (1 + 1e-6); }

Vec3 wide(const Point& p) { return {p.x, p.y, p.z}; }
Vec3 wide(const Vector& v) { return {v.x, v.y, v.z}; }
Point narrow_point(const Vec3& v, float w) { return {to_float(v.x), to_float(v.y), to_float(v.z), w}; }

bool within(const Vec3& p, const Vec3& low, const Vec3& high) {
  return p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z;
}

// The box around points; who is no number is nowhere.
struct Bounds {
  Vector low{1e30f, 1e30f, 1e30f}, high{-1e30f, -1e30f, -1e30f};

  void widen(const Vector& least, const Vector& most) {
    low = {smaller(least.x, low.x), smaller(least.y, low.y), smaller(least.z, low.z)};
    high = {larger(most.x, high.x), larger(most.y, high.y), larger(most.z, high.z)};
  }
  void widen(std::span<const Point> points) {
    for (const Point& p : points) widen(xyz(p), xyz(p));
  }
};
Bounds bounds_of(std::span<const Point> points, ThreadPool* threads) {
  std::vector<Bounds> blocks(blocks_of(points.size()));
  for_blocks(threads, points.size(), [&](std::size_t begin, std::size_t end, std::size_t block) {
    blocks[block].widen(points.subspan(begin, end - begin));
  });
  Bounds all;
  for (const Bounds& block : blocks) all.widen(block.low, block.high);
  return all;
}

}  // namespace

ParticleWorld::ParticleWorld(const WorldOptions& options) : options_(options), numbers_(numbers_of(options.fluid)) {
  fluid_.resize(0);
  solid_.resize(0);
  if (options.device != nullptr) device_ = std::make_unique<DeviceSide>(options.device);
  for (const WorldOptions::Drain& drain : options.drains) drains_.push_back({drain.pose.inverse(), drain.half_size});
}

Result<std::unique_ptr<ParticleWorld>> ParticleWorld::create(const WorldOptions& options) {
  if (const auto sound = check(options.fluid); !sound.ok()) return sound.error();
  if (!finite(options.gravity)) return Error("gravity is not a number", "give it in m/s^2");
  const Vec3 size = options.high - options.low;
  // Floats tell points apart to 1e-7 of their distance from the origin.
  const bool sound = finite(options.low) && finite(options.high) && size.x > 0 && size.y > 0 && size.z > 0 &&
                     std::max(length(options.low), length(options.high)) <= 1e5;
  if (!sound) return Error("the world is no box, or reaches farther than 100 km", "set `low` below `high`, in m");
  if (!(options.max_substep > 0 && options.max_substep <= 1))
    return Error(fmt::format("the longest substep is {}", options.max_substep), "give s, above 0 and up to 1");
  if (!(options.rolling_resistance >= 0 && options.rolling_resistance <= 1))
    return Error(fmt::format("the rolling resistance is {}", options.rolling_resistance), "give 0 to 1");
  if (!(options.heap_layers >= 0 && options.heap_layers <= 1e4))
    return Error(fmt::format("heaps have {} layers", options.heap_layers), "give 0 to 10000");
  if (!(options.air_drag >= 0 && options.air_drag <= 1e6))
    return Error(fmt::format("the drag of air is {}", options.air_drag), "give 1/s, 0 or more");
  return std::unique_ptr<ParticleWorld>(new ParticleWorld(options));
}

Result<void> check_memory(std::size_t particles, std::size_t bytes_each) {
  const double need = real(particles) * real(bytes_each), have = real(platform::available_memory_bytes());
  if (particles > 1'000'000'000)
    return Error(fmt::format("{} particles are more than can be numbered", particles), "use fewer particles");
  if (need <= have) return {};
  return Error(fmt::format("{} particles need about {:.1f} GB of memory, and {:.1f} GB are there", particles,
                           need / 1e9, have / 1e9),
               "use fewer particles, or free some memory");
}

Result<void> ParticleWorld::check_places(std::span<const Vec3> positions, const Vec3& velocity) const {
  if (!finite(velocity)) return Error("the velocity of particles is not a number", "give it in m/s");
  for (const Vec3& p : positions)
    if (!finite(p) || !within(p, options_.low, options_.high))
      return Error(fmt::format("a particle at {:.4g} {:.4g} {:.4g} is outside the world", p.x, p.y, p.z),
                   "place it within the world's bounds, or make these wider");
  return {};
}

// Somebody adds, pins or places particles: the device's state will be an old one.
void ParticleWorld::begin_change() {
  fetch();
  keep_lists_touches();
  if (device_ != nullptr) device_->loaded = false;
  listed_ = false;
}

Result<void> ParticleWorld::add_fluid(std::span<const Vec3> positions, const Vec3& velocity) {
  if (auto room = check_memory(positions.size(), 600); !room.ok()) return room;
  if (auto places = check_places(positions, velocity); !places.ok()) return places;
  begin_change();
  std::size_t i = fluid_.count;
  fluid_.resize(fluid_.count + positions.size());
  for (const Vec3& p : positions) {
    fluid_.position[i] = narrow_point(p, 0);
    fluid_.velocity[i] = narrow_point(velocity, 0);
    fluid_.id[i++] = fluid_.next_id++;
  }
  return {};
}

Result<void> ParticleWorld::add_fluid_box(const Vec3& low, const Vec3& high) {
  const double dx = options_.fluid.spacing;
  const auto number = [&](double length) { return std::floor(length / dx + 1e-6); };
  const Vec3 n{number(high.x - low.x), number(high.y - low.y), number(high.z - low.z)};
  if (!(n.x >= 1 && n.y >= 1 && n.z >= 1))
    return Error("a box of fluid is thinner than one particle", "make it wider, or the spacing smaller");
  if (n.x * n.y * n.z > 2e9) return Error("a box of fluid has too many particles", "use a larger spacing");
  if (auto room = check_memory(truncated<std::size_t>(n.x * n.y * n.z), 600 + sizeof(Vec3)); !room.ok()) return room;
  std::vector<Vec3> positions;
  positions.reserve(truncated<std::size_t>(n.x * n.y * n.z));
  for (int z = 0; z < n.z; ++z)
    for (int y = 0; y < n.y; ++y)
      for (int x = 0; x < n.x; ++x) positions.push_back(low + Vec3{x + 0.5, y + 0.5, z + 0.5} * dx);
  return add_fluid(positions);
}

Result<void> ParticleWorld::add_grains(const GrainDesc& desc, std::span<const Vec3> positions, const Vec3& velocity) {
  if (auto added = add_solids(desc, positions, velocity); !added.ok()) return added;
  const float radius = to_float(desc.radius);
  if (!positions.empty()) smallest_grain_ = smallest_grain_ > 0 ? std::min(smallest_grain_, radius) : radius;
  return {};
}

Result<void> ParticleWorld::add_solids(const GrainDesc& desc, std::span<const Vec3> positions, const Vec3& velocity) {
  const auto bad = [](const char* name, double value, const char* fix) {
    return Error(fmt::format("grains: the {} is {}", name, value), fix);
  };
  if (!(std::isfinite(desc.radius) && desc.radius >= 1e-5 && desc.radius <= 1e3))
    return bad("radius", desc.radius, "give m, from 1e-5 to 1000");
  if (!(desc.density >= 1e-3 && desc.density <= 1e6))
    return bad("density", desc.density, "give kg/m^3, from 0.001 to 1e6");
  if (!(std::isfinite(desc.friction) && desc.friction >= 0)) return bad("friction", desc.friction, "give 0 or more");
  if (auto room = check_memory(positions.size(), 800); !room.ok()) return room;
  if (auto places = check_places(positions, velocity); !places.ok()) return places;
  begin_change();
  std::size_t i = solid_.count;
  solid_.resize(solid_.count + positions.size());
  const float radius = to_float(desc.radius);
  const double mass = 4 * pi / 3 * desc.radius * desc.radius * desc.radius * desc.density;
  for (const Vec3& p : positions) {
    solid_.position[i] = narrow_point(p, to_float(1 / mass));
    solid_.velocity[i] = narrow_point(velocity, radius);
    solid_.spin[i] = {0, 0, 0, to_float(desc.friction)};
    solid_.grain[i] = 1;
    solid_.id[i] = narrow<std::uint32_t>(solid_.index.size());
    solid_.index.push_back(static_cast<std::uint32_t>(i++));
  }
  largest_radius_ = std::max(largest_radius_, radius);
  return {};
}

void ParticleWorld::pin(std::uint32_t solid) {
  VOLVOX_CHECK(solid < solid_.index.size(), "no such particle");
  begin_change();
  if (solid_.index[solid] == ~0u) return;
  const std::size_t i = solid_.index[solid];
  solid_.position[i].w = 0;
  solid_.velocity[i] = {0, 0, 0, solid_.velocity[i].w};
}

void ParticleWorld::place(std::uint32_t solid, const Vec3& position) {
  VOLVOX_CHECK(solid < solid_.index.size(), "no such particle");
  begin_change();
  const std::uint32_t i = solid_.index[solid];
  if (i != ~0u && solid_.position[i].w == 0) solid_.position[i] = narrow_point(position, 0);
}

Result<ShapeIndex> ParticleWorld::add_shape(const ShapeDesc& desc) {
  if (const auto sound = check(desc); !sound.ok()) return sound.error();
  shapes_.push_back(desc);
  impulses_.push_back({});
  return narrow<ShapeIndex>(shapes_.size() - 1);
}

Result<void> ParticleWorld::set_shape(ShapeIndex index, const Pose& pose, const Twist& velocity) {
  ShapeDesc moved = shape(index);
  moved.pose = pose;
  moved.velocity = velocity;
  if (auto sound = check(moved); !sound.ok()) return sound;
  shapes_[index] = moved;
  return {};
}

// Two grains correct `contact_stiffness` of their overlap together in a substep, so that a layer weighs on the next by
// 2 g dt^2 / stiffness.
double ParticleWorld::longest_of_grains() const {
  const double g = length(options_.gravity), diameter = 2.0 * smallest_grain_;
  if (smallest_grain_ == 0 || g * options_.heap_layers == 0) return 1e300;
  return std::sqrt(overlap_of_heap * diameter * contact_stiffness / (2 * g * options_.heap_layers));
}

Result<ParticleWorld::Substeps> ParticleWorld::divide(double duration) const {
  if (!(std::isfinite(duration) && duration > 0)) return Error("a step must last for more than 0 s", "give it in s");
  const double longest =
      std::min({options_.max_substep, numbers_.longest_diffusion, numbers_.longest_ripple, longest_of_grains()});
  if (duration / longest > 1e5)
    return Error(fmt::format("a step of {} s would take {:.0f} substeps", duration, duration / longest),
                 "use a smaller viscosity or surface tension, or a larger spacing");
  const int count = truncated(std::ceil(duration / longest - 1e-9));
  // Thin fluids, such as water at this scale, need it once a tick.
  const int a_diffusion = numbers_.cohesion == 0 && duration <= numbers_.longest_diffusion ? count : 1;
  return Substeps{count, a_diffusion, duration / count};
}

Result<void> ParticleWorld::step(double duration) {
  if (auto begun = begin_tick(); !begun.ok()) return begun;
  auto done = advance(duration);
  if (device_ != nullptr) device_->in_tick = false;
  return done;
}

// Lists are made anew at every tick, because a restored world has none.
Result<void> ParticleWorld::begin_tick() {
  drop_failed_device();
  end_tick();
  tick_on_device_ = false;
  if (on_device() || wants_device()) begin_on_device();
  if (tick_on_device_) return {};
  keep_lists_touches();  // a device that has just failed left its ticks to the processor
  listed_ = false;
  return drain();
}

Result<void> ParticleWorld::advance(double duration) {
  if (tick_on_device_) return advance_on_device(duration);
  const auto divided = divide(duration);
  if (!divided.ok()) return divided.error();
  const auto [substeps, substeps_a_diffusion, dt] = *divided;
  const float short_dt = to_float(dt);
  last_substep_ = dt;
  for (Wrench& impulse : impulses_) impulse = {};
  touches_kept_ = false;
  for (int substep = 0; substep < substeps; ++substep) {
    if (!listed_ || lists_end(list_substeps_ * dt, dt)) {
      if (listed_) keep_touches();
      sort_and_list();
      list_substeps_ = 0;
    }
    carry_shapes(dt);
    if (substep % substeps_a_diffusion == 0) diffuse(short_dt * to_float(substeps_a_diffusion), short_dt);
    predict(short_dt);
    find_corrections(short_dt);
    correct(short_dt);
    pull_threads(short_dt);
    finish(short_dt);
    VOLVOX_ASSERT(partial_.size() == blocks_of(std::max(fluid_.count, solid_.count)) * shapes_.size());
    push_shapes(dt);
    ++list_substeps_;
  }
  return {};
}

int ParticleWorld::substeps_a_list(double dt) const {
  int substeps = 1;
  while (!list_of_fluid_ends(substeps * dt, dt)) ++substeps;
  return substeps;
}

// Whether lists of this age, in s, do not hold for another substep.
bool ParticleWorld::lists_end(double age, double dt) {
  if (fluid_.count > 0 && list_of_fluid_ends(age, dt)) return true;
  const float next = to_float(dt), until = to_float(age + dt);
  std::atomic<bool> one{false};  // whoever finds it
  for_blocks(options_.threads, solid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    bool any = false;
    for (std::size_t i = begin; i < end; ++i)
      any |= strays(solid_.position[i], solid_.velocity[i], listed_at_[i], drift_, skins_[i], until, next);
    if (any) one = true;
  });
  return one;
}

Result<void> ParticleWorld::not_a_number() const {
  return Error("the position of a particle is no longer a number", "use shorter substeps (`max_substep`)");
}

// What is outside goes; the others keep their order.
Result<void> ParticleWorld::drain() {
  std::vector<std::uint32_t> stay;
  const auto in_drain = [&](const Vec3& p) {
    return std::any_of(drains_.begin(), drains_.end(), [&](const DrainView& drain) { return has(drain, p); });
  };
  const auto leave = [&](std::span<const Point> points) {
    stay.clear();
    for (std::size_t i = 0; i < points.size(); ++i)
      if (within(wide(points[i]), options_.low, options_.high) && !in_drain(wide(points[i])))
        stay.push_back(static_cast<std::uint32_t>(i));
    drained_ += points.size() - stay.size();
    return stay.size() < points.size();
  };
  const auto sound = [](std::span<const Point> points) {
    return std::all_of(points.begin(), points.end(), [](const Point& p) { return finite(wide(p)); });
  };
  if (!sound(fluid_positions()) || !sound(solid_positions())) return not_a_number();
  if (leave(fluid_positions())) fluid_.reorder(stay, options_.threads);
  if (leave(solid_positions())) {
    std::fill(solid_.index.begin(), solid_.index.end(), ~0u);
    solid_.reorder(stay, options_.threads);
  }
  return {};
}

void ParticleWorld::sort_and_list() {
  Bounds bounds = bounds_of(fluid_positions(), options_.threads);
  const Bounds solids = bounds_of(solid_positions(), options_.threads);
  bounds.widen(solids.low, solids.high);
  Vec3 low = wide(bounds.low), high = wide(bounds.high);
  // What has left the world within this tick is drained at the next.
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = clamp(low[axis], options_.low[axis], options_.high[axis]);
    high[axis] = clamp(high[axis], low[axis], options_.high[axis]);
  }
  const float support = numbers_.support, skin = to_float(fluid_skin());
  find_drift();
  const double size = size_of_cells(fluid_.count > 0, solid_.count > 0, support + skin, largest_radius_, skin_now_);
  cells_ = Cells::over(low, high, size, fluid_.count + solid_.count);

  ThreadPool* threads = options_.threads;
  sorted_fluid_.sort(cells_, fluid_positions(), threads);
  fluid_.reorder(sorted_fluid_.order, threads);
  const float reach[1] = {support / 2};
  sorted_fluid_.fill(fluid_positions(), reach, threads);
  fluid_of_fluid_.find(cells_, sorted_fluid_, sorted_fluid_, skin, static_cast<std::uint32_t>(fluid_.count), threads);
  if (solid_.count > 0) list_solids();
  else solid_of_fluid_ = fluid_of_solid_ = solid_of_solid_ = {};
  listed_ = true;
  ++lists_made_;
  VOLVOX_ASSERT(solids_are_sound());
}

// How far fluid and solids see each other, besides half a support and a radius.
float ParticleWorld::wet_reach() const { return numbers_.support * to_float(0.5 + skin_of_fluid); }

double ParticleWorld::fluid_skin() const { return skin_of_fluid * numbers_.support; }

SkinRule ParticleWorld::skin_rule() const {
  // What one that falls gains on others in that time.
  const float fall = 0.5f * to_float(length(options_.gravity)) * time_of_skin * time_of_skin;
  const float most = most_skin * largest_radius_;
  return {std::min(most, least_skin * largest_radius_ + fall), most, time_of_skin};
}

// The mean velocity of solids, and what skin the one needs that differs most.
void ParticleWorld::find_drift() {
  if (solid_.count == 0) return;
  std::atomic<std::int64_t> x{0}, y{0}, z{0};  // sums of integers: their order does not matter
  for_blocks(options_.threads, solid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::int64_t sum[3] = {};
    for (std::size_t i = begin; i < end; ++i) {
      const Point& v = solid_.velocity[i];
      sum[0] += drift_units(v.x), sum[1] += drift_units(v.y), sum[2] += drift_units(v.z);
    }
    x += sum[0], y += sum[1], z += sum[2];
  });
  drift_ = {drift_of(x, solid_.count), drift_of(y, solid_.count), drift_of(z, solid_.count)};
  const Bounds velocities = bounds_of(solid_velocities(), options_.threads);
  skin_now_ = largest_skin(skin_rule(), velocities.low, velocities.high, drift_);
}

void ParticleWorld::list_solids() {
  ThreadPool* threads = options_.threads;
  sorted_solid_.sort(cells_, solid_positions(), threads);
  solid_.reorder(sorted_solid_.order, threads);
  const SkinRule rule = skin_rule();
  std::vector<float> reach(solid_.count);
  listed_at_.resize(solid_.count);
  skins_.resize(solid_.count);
  for_blocks(threads, solid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      listed_at_[i] = xyz(solid_.position[i]);
      skins_[i] = skin_of(rule, solid_.velocity[i], drift_);
      reach[i] = solid_.velocity[i].w + skins_[i];
    }
  });
  sorted_solid_.fill(solid_positions(), reach, threads);
  const auto nobody = static_cast<std::uint32_t>(solid_.count);
  solid_of_solid_.find(cells_, sorted_solid_, sorted_solid_, 0, nobody, threads);
  restore_touches();
  for (ThreadGroup& group : groups_)
    parallel_for(threads, group.blocks.size(), 1, [&](std::size_t b) { find_points(group.blocks[b], solid_); });
  if (fluid_.count == 0) {
    solid_of_fluid_ = fluid_of_solid_ = {};
    return;
  }
  for (std::size_t i = 0; i < solid_.count; ++i) sorted_solid_.reach[i] = solid_.velocity[i].w;
  const float wet = wet_reach();
  solid_of_fluid_.find(cells_, sorted_fluid_, sorted_solid_, wet, nobody, threads);
  fluid_of_solid_.find(cells_, sorted_solid_, sorted_fluid_, wet, static_cast<std::uint32_t>(fluid_.count), threads);
}

void ParticleWorld::diffuse(float duration, float dt) {
  if (fluid_.count == 0 || (numbers_.viscous == 0 && numbers_.cohesion == 0)) return;
  points_.resize(fluid_.count + 1);
  for_blocks(options_.threads, fluid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    diffuse_velocities(numbers_, fluid_, fluid_of_fluid_, shapes_view(), duration, dt, points_.data(), begin, end);
  });
  points_[fluid_.count] = {};
  fluid_.velocity.swap(points_);
}

void ParticleWorld::predict(float dt) {
  const Vector g{to_float(options_.gravity.x) * dt, to_float(options_.gravity.y) * dt,
                 to_float(options_.gravity.z) * dt};
  const float slowed = dt / (1 + to_float(options_.air_drag) * dt);
  for_blocks(options_.threads, fluid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i)
      particles::advance(fluid_.position[i], fluid_.velocity[i], g, dt, fluid_.at[i], fluid_.move[i]);
  });
  for_blocks(options_.threads, solid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i)
      advance_solid(solid_.position[i], solid_.velocity[i], g, slowed, solid_.at[i], solid_.move[i]);
  });
}

void ParticleWorld::find_corrections(float dt) {
  for_blocks(options_.threads, fluid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    find_multipliers(numbers_, fluid_, fluid_of_fluid_, solid_of_fluid_, solids_view(), shapes_view(), begin, end);
  });
  for_blocks(options_.threads, solid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    touch_solids(solid_, solid_of_solid_, touches_, largest_radius_, dt, begin, end);
    if (fluid_.count > 0)
      push_solids(numbers_, fluid_, fluid_of_solid_, solids_view(), dt, solid_.push.data(), begin, end);
  });
}

void ParticleWorld::correct(float dt) {
  for_blocks(options_.threads, fluid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    correct_density(numbers_, fluid_, fluid_of_fluid_, solid_of_fluid_, solids_view(), shapes_view(), dt, begin, end);
  });
  if (groups_.empty()) return;  // finish() does it
  for_blocks(options_.threads, solid_.count,
             [&](std::size_t begin, std::size_t end, std::size_t) { apply_pushes(solid_, begin, end); });
}

void ParticleWorld::pull_threads(float dt) {
  if (solid_.count == 0) return;  // all drained: nobody looked up where the points are
  for (ThreadGroup& group : groups_) {
    std::atomic<std::uint64_t> torn{0};  // a sum of integers: its order does not matter
    parallel_for(options_.threads, group.blocks.size(), blocks_worth_a_thread, [&](std::size_t b) {
      torn += pull(group, group.blocks[b], dt, solid_.at.data(), solid_.move.data());
    });
    torn_ += torn;
  }
}

void ParticleWorld::finish(float dt) {
  const float per_s = 1 / dt;
  for_blocks(options_.threads, fluid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i)
      land(fluid_.at[i], fluid_.move[i], per_s, fluid_.position[i], fluid_.velocity[i]);
  });
  for_blocks(options_.threads, solid_.count, [&](std::size_t begin, std::size_t end, std::size_t) {
    touch_shapes(solid_, shapes_view(), to_float(options_.rolling_resistance), dt, groups_.empty(), begin, end);
    for (std::size_t i = begin; i < end; ++i)
      land(solid_.at[i], solid_.move[i], per_s, solid_.position[i], solid_.velocity[i]);
  });
}

// Shapes go ahead by their velocities, as particles are predicted.
void ParticleWorld::carry_shapes(double dt) {
  views_.resize(shapes_.size());
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    ShapeDesc& shape = shapes_[s];
    if (shape.mass > 0 && shape.gravity) shape.velocity.linear += options_.gravity * dt;
    shape.pose.position += shape.velocity.linear * dt;
    shape.pose.rotation = normalized(from_rotation_vector(shape.velocity.angular * dt) * shape.pose.rotation);
    views_[s] = view_of(shape);
  }
  partial_.assign(blocks_of(std::max(fluid_.count, solid_.count)) * shapes_.size(), {});
}

// What the blocks gave, in their order.
void ParticleWorld::push_shapes(double dt) {
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    Vec3 push, turn;
    for (std::size_t p = s; p < partial_.size(); p += shapes_.size()) {
      push += Vec3{partial_[p].push[0], partial_[p].push[1], partial_[p].push[2]};
      turn += Vec3{partial_[p].turn[0], partial_[p].turn[1], partial_[p].turn[2]};
    }
    push = push / dt, turn = turn / dt;
    ShapeDesc& shape = shapes_[s];
    if (shape.kind == ShapeKind::field || shape.offset != Pose{}) {  // moments are about the centre of mass
      const ShapeView& view = views_[s];
      turn += cross(Vec3{view.center[0], view.center[1], view.center[2]} - shape.pose.position, push);
    }
    impulses_[s] += {push, turn};
    if (shape.mass <= 0) continue;
    const Vec3 change = push / shape.mass;
    const Vec3 local = shape.pose.rotation.conjugate() * turn;
    const Vec3 spun =
        shape.pose.rotation * Vec3{local.x / shape.moments.x, local.y / shape.moments.y, local.z / shape.moments.z};
    shape.velocity.linear += change;
    shape.velocity.angular += spun;
    shape.pose.position += change * dt;
    shape.pose.rotation = normalized(from_rotation_vector(spun * dt) * shape.pose.rotation);
  }
}

}  // namespace volvox::particles
