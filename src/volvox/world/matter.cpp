#include "volvox/world/matter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/world/matter_shapes.h"
#include "volvox/world/world.h"

namespace volvox::world {
namespace {

constexpr int widest_opening = 500;  // particles from the middle of an emitter

using particles::Point;
using particles::ShapeDesc;
using particles::ShapeView;

Vec3 wide(const Point& p) { return {p.x, p.y, p.z}; }
Point narrow_point(const Vec3& p) { return {to_float(p.x), to_float(p.y), to_float(p.z), 0}; }

// The particle size by which shapes are sampled, and the distance from which on particles notice them.
struct Sizes {
  double least = 1e9, reach = 0;
};
Sizes sizes_of(const model::Matter& matter) {
  Sizes sizes;
  const auto add = [&](double size, double reach) {
    sizes.least = std::min(sizes.least, size);
    sizes.reach = std::max(sizes.reach, reach);
  };
  if (matter.fluid) add(matter.fluid->spacing, 1.4 * matter.fluid->spacing);
  for (const model::Debris& debris : matter.debris) add(2 * debris.radius_of(0), 2.5 * debris.largest());
  for (const model::Cloth& cloth : matter.cloths) {
    const double apart =
        std::min(cloth.width / std::max(1u, cloth.columns - 1), cloth.rows > 1 ? cloth.height / (cloth.rows - 1) : 1e9);
    const double thick = cloth.thickness > 0 ? cloth.thickness : apart;
    add(thick, 1.5 * thick);
  }
  return sizes;
}

// An emitted particle moves at most half its width in a substep. A faster one could pass a thin wall, or be pressed
// through it by those that follow.
double longest_substep(const model::Matter& matter) {
  double longest = matter.max_substep;
  const auto add = [&](const auto& source, double way) {
    for (const model::Emitter& emitter : source.emitters) longest = std::min(longest, way / emitter.speed);
    for (const model::Volume& volume : source.volumes)
      longest = std::min(longest, way / std::max(1e-9, length(volume.velocity)));
  };
  if (matter.fluid) add(*matter.fluid, 0.5 * matter.fluid->spacing);
  for (const model::Debris& debris : matter.debris) add(debris, debris.radius_of(0));
  return longest;
}

// The bounds of the particles' world in the frame of a link.
model::Bounds bounds_in(const Pose& link, const model::Matter& matter) {
  model::Bounds bounds;
  const Pose inverse = link.inverse();
  for (int corner = 0; corner < 8; ++corner)
    bounds.add(inverse * Vec3{corner & 1 ? matter.high.x : matter.low.x, corner & 2 ? matter.high.y : matter.low.y,
                              corner & 4 ? matter.high.z : matter.low.z});
  return bounds;
}

// Grains exactly above each other would never fall to a side. So each is moved off its grid point, along each axis, by
// up to this part of its radius.
constexpr double off_grid = 0.01;
Vec3 somewhere(RandomStream& random, double radius) {
  const double x = random.uniform(-off_grid, off_grid), y = random.uniform(-off_grid, off_grid);
  return Vec3{x, y, random.uniform(-off_grid, off_grid)} * radius;
}

bool has_mesh(const model::Link& link) {
  return std::any_of(link.geometry->colliders.begin(), link.geometry->colliders.end(),
                     [](const model::Collider& c) { return std::holds_alternative<model::Mesh>(c.shape); });
}

}  // namespace

Diagnostic Matter::at(int line, const std::string& what, const std::string& fix) const {
  return {description_->file, line, what, fix};
}

// The particles' errors have no file and line.
Error Matter::at(int line, const Error& error) const {
  Error placed;
  for (const Diagnostic& d : error.diagnostics()) placed.add(d.file.empty() ? at(line, d.what, d.fix) : d);
  return placed;
}

Result<std::unique_ptr<Matter>> Matter::create(const World& world, std::shared_ptr<const model::Matter> description,
                                               ThreadPool* threads) {
  std::unique_ptr<Matter> matter(new Matter);
  matter->description_ = std::move(description);
  matter->gravity_ = world.model().gravity;
  const model::Matter& d = *matter->description_;
  particles::WorldOptions options;
  options.gravity = world.model().gravity;
  options.low = d.low, options.high = d.high;
  options.max_substep = longest_substep(d);
  options.heap_layers = d.heap_layers;
  options.rolling_resistance = d.rolling_resistance;
  options.air_drag = d.air_drag;
  options.threads = threads;
  const char* wanted = std::getenv("VOLVOX_DEVICE");
  const auto device = particles::choose_device(wanted == nullptr || *wanted == 0 ? "auto" : wanted);
  if (!device.ok()) return device.error();
  options.device = device->device, options.least_on_device = device->least;
  matter->note_ = device->note;
  if (d.fluid) options.fluid = {d.fluid->spacing, d.fluid->density, d.fluid->viscosity, d.fluid->surface_tension};
  for (const model::Drain& drain : d.drains) options.drains.push_back({drain.pose, 0.5 * drain.size});
  auto made = particles::ParticleWorld::create(options);
  if (!made.ok()) return matter->at(d.fluid ? d.fluid->line : 0, made.error());
  matter->particles_ = std::move(*made);
  for (const auto add : {&Matter::add_links, &Matter::add_sources})
    if (auto added = (matter.get()->*add)(world); !added.ok()) return added.error();
  for (const auto add : {&Matter::add_fluid, &Matter::add_debris, &Matter::add_cloths})
    if (auto added = (matter.get()->*add)(); !added.ok()) return added.error();
  matter->particles_->prepare();
  return matter;
}

Result<void> Matter::add_links(const World& world) {
  const Sizes sizes = sizes_of(*description_);
  MatterShapes shapes(sizes.least / 3, sizes.reach);
  for (LinkIndex l = 0; l < world.links(); ++l) {
    first_shape_.push_back(narrow<std::uint32_t>(shapes_.size()));
    const model::Link& link = world.link_model(l);
    const PlacementIndex placement = world.placement_of_link(l);
    const model::ModuleModel& module = world.module_model(placement);
    const Pose pose = world.link_pose(l);
    const model::Bounds near = bounds_in(pose, *description_);
    const bool part = module.fixed_in_place && has_mesh(link);
    auto made = part ? shapes.of(link, near.low, near.high) : shapes.of(link, everywhere_low, everywhere_high);
    if (!made.ok()) {
      const model::Placement& from = world.model().placements[placement];
      Error error(Diagnostic{from.file, from.line,
                             fmt::format("particles cannot touch '{}.{}'", world.name(placement), link.name), ""});
      error.add(made.error());
      return error;
    }
    Body body;
    body.link = l;
    body.pushed = !module.fixed_in_place && !module.driven && world.engine_info().moves;
    // Velocities are those of the centre of mass; what stands still may have none.
    body.centre = module.fixed_in_place ? Pose{} : link.inertial;
    for (ShapeDesc& shape : *made) {
      shape.offset = body.centre.inverse() * shape.offset;
      shape.pose = pose * body.centre;
      shape.velocity = world.link_velocity(l);
      if (body.pushed) shape.mass = link.mass, shape.moments = link.moments, shape.gravity = link.gravity;
      const auto added = particles_->add_shape(shape);
      if (!added.ok()) return added.error();
      body.shape = *added;
      bodies_.push_back(body);
      shapes_.push_back(*added);
    }
  }
  first_shape_.push_back(narrow<std::uint32_t>(shapes_.size()));
  impulses_.resize(world.links());
  return {};
}

std::span<const particles::ShapeIndex> Matter::shapes_of(LinkIndex link) const {
  return {shapes_.data() + first_shape_[link], first_shape_[link + 1] - first_shape_[link]};
}

// Places in a volume on a grid, but for those that are nearer to a body than `clear`.
Result<std::vector<Vec3>> Matter::fill(const model::Volume& volume, double pitch, double clear,
                                       const std::function<Vec3()>& off) const {
  Vec3 low = -0.5 * volume.size, high = 0.5 * volume.size;
  ShapeDesc inside;
  if (volume.mesh) {
    auto part = solid_of(*volume.mesh, {});
    if (!part.ok()) return at(volume.line, part.error());
    auto field = particles::make_field(std::span(&*part, 1), 0.5 * pitch, pitch);
    if (!field.ok()) return at(volume.line, field.error());
    if (*field == nullptr) return at(volume.line, "the mesh has no volume", "give one that has");
    inside.kind = particles::ShapeKind::field;
    inside.field = *field;
    low = (*field)->low, high = (*field)->high;
  }
  const Vec3 size = high - low;
  double cells = 1;
  std::int64_t n[3];
  for (int k = 0; k < 3; ++k) {
    const double count = std::floor(size[k] / pitch + 1e-6);
    cells *= count;
    if (count < 1)
      return at(volume.line,
                fmt::format("a volume of {:.3g} x {:.3g} x {:.3g} m is thinner than one particle of {:.3g} m", size.x,
                            size.y, size.z, pitch),
                "make it wider, or the particles smaller");
    if (cells > 1e9)
      return at(volume.line, "a volume has more than 1e9 particles", "make it smaller, or the particles larger");
    n[k] = truncated<std::int64_t>(count);
  }
  if (auto room = particles::check_memory(truncated<std::size_t>(cells), 600 + sizeof(Vec3)); !room.ok())
    return at(volume.line, room.error());
  std::vector<particles::ShapeView> views;
  for (particles::ShapeIndex s = 0; s < shapes_.size(); ++s) views.push_back(view_of(particles_->shape(s)));
  const particles::ShapeView within = volume.mesh ? view_of(inside) : particles::ShapeView{};
  std::vector<Vec3> places;
  std::vector<Vec3> candidates;
  std::vector<Point> points;
  const auto take = [&] {
    std::vector<bool> free(points.size(), true);
    for (const particles::NearShape& near : particles::find_near(views, points, to_float(clear)))
      near.for_points([&](std::size_t k) {
        if (distance_to(views[near.shape], xyz(points[k])).distance < clear) free[k] = false;
      });
    for (std::size_t k = 0; k < points.size(); ++k)
      if (free[k]) places.push_back(candidates[k]);
    candidates.clear(), points.clear();
  };
  for (std::int64_t z = 0; z < n[2]; ++z)
    for (std::int64_t y = 0; y < n[1]; ++y)
      for (std::int64_t x = 0; x < n[0]; ++x) {
        const Vec3 local = low + Vec3{real(x) + 0.5, real(y) + 0.5, real(z) + 0.5} * pitch;
        if (volume.mesh && distance_to(within, xyz(narrow_point(local))).distance > -0.45 * pitch) continue;
        candidates.push_back(volume.pose * local + off());
        points.push_back(narrow_point(candidates.back()));
        if (points.size() == particles::block_size) take();
      }
  if (!points.empty()) take();
  if (places.empty())
    return at(volume.line, "a volume has no room for a particle: bodies fill it", "move it, or make it larger");
  return places;
}

Result<void> Matter::add_fluid() {
  if (!description_->fluid) return {};
  const model::Fluid& fluid = *description_->fluid;
  for (const model::Volume& volume : fluid.volumes) {
    auto places = fill(volume, fluid.spacing, 0.45 * fluid.spacing, [] { return Vec3{}; });
    if (!places.ok()) return places.error();
    if (auto added = particles_->add_fluid(*places, volume.velocity); !added.ok())
      return at(volume.line, added.error());
  }
  most_fluid_ = narrow<std::uint32_t>(particles_->fluid_positions().size());
  for (const Source& source : sources_)
    if (source.debris < 0) most_fluid_ += source.emitter->most;
  return {};
}

Result<void> Matter::add_debris() {
  for (std::size_t d = 0; d < description_->debris.size(); ++d) {
    const model::Debris& debris = description_->debris[d];
    RandomStream random(debris.seed, d, "radii of debris"), places_off(debris.seed, d, "places of debris");
    for (const model::Volume& volume : debris.volumes) {
      auto places = fill(volume, 2.02 * debris.largest(), 0.95 * debris.largest(),
                         [&] { return somewhere(places_off, debris.radius); });
      if (!places.ok()) return places.error();
      std::vector<Vec3> by_size[model::Debris::sizes];
      for (const Vec3& place : *places) by_size[random.below(model::Debris::sizes)].push_back(place);
      ranges_.push_back({most_solids_, narrow<std::uint32_t>(d)});
      for (int size = 0; size < model::Debris::sizes; ++size) {
        const particles::GrainDesc grain{debris.radius_of(size), debris.density, debris.friction};
        if (auto added = particles_->add_grains(grain, by_size[size], volume.velocity); !added.ok())
          return at(volume.line, added.error());
      }
      most_solids_ += narrow<std::uint32_t>(places->size());
    }
  }
  return {};
}

Result<void> Matter::add_cloths() {
  for (std::size_t c = 0; c < description_->cloths.size(); ++c) {
    const model::Cloth& cloth = description_->cloths[c];
    particles::ClothDesc desc;
    desc.corner = cloth.pose.position;
    desc.along_columns = cloth.pose.rotation * Vec3{cloth.width, 0, 0};
    desc.along_rows = cloth.pose.rotation * Vec3{0, cloth.height, 0};
    desc.columns = narrow<int>(cloth.columns), desc.rows = narrow<int>(cloth.rows);
    desc.density = cloth.density, desc.friction = cloth.friction, desc.thickness = cloth.thickness;
    desc.stretch = cloth.stretch, desc.shear = cloth.shear, desc.bend = cloth.bend, desc.strength = cloth.strength;
    const auto first = particles_->add_cloth(desc);
    if (!first.ok()) return at(cloth.line, first.error());
    ranges_.push_back({*first, narrow<std::uint32_t>(description_->debris.size() + c)});
    most_solids_ = *first + cloth.columns * cloth.rows;
    using Pins = model::Cloth::Pins;
    for (std::uint32_t row = 0; row < cloth.rows; ++row)
      for (std::uint32_t column = 0; column < cloth.columns; ++column) {
        const bool side = column == 0 || column + 1 == cloth.columns, end = row == 0 || row + 1 == cloth.rows;
        const bool held = (cloth.pins == Pins::corners && side && end) ||
                          (cloth.pins == Pins::edges && (side || end)) || (cloth.pins == Pins::first_row && row == 0) ||
                          (cloth.pins == Pins::last_row && row + 1 == cloth.rows) ||
                          (cloth.pins == Pins::first_column && column == 0);
        if (held) particles_->pin(*first + row * cloth.columns + column);
      }
  }
  first_emitted_ = most_solids_;
  for (const Source& source : sources_)
    if (source.debris >= 0) most_solids_ += source.emitter->most;
  return {};
}

Result<void> Matter::add_sources(const World& world) {
  std::uint64_t emitted = 0;  // at most, by all
  const auto add = [&](const model::Emitter& emitter, int debris, double pitch) -> Result<void> {
    const std::uint64_t seed = debris < 0 ? 0 : description_->debris[debris].seed;
    Source source{&emitter, debris, pitch, seed + sources_.size()};
    if (!(emitter.radius / pitch <= widest_opening))
      return at(emitter.line, fmt::format("the emitter is more than {} particles wide", 2 * widest_opening),
                "make its radius smaller, or the particles larger");
    const int wide = truncated(emitter.radius / pitch);
    for (int y = -wide; y <= wide; ++y)
      for (int z = -wide; z <= wide; ++z)
        if (length(y * pitch, z * pitch) <= emitter.radius) source.opening.push_back({0, y * pitch, z * pitch});
    for (const Vec3& point : source.opening) {
      const Vec3 p = emitter.pose * point;
      for (int axis = 0; axis < 3; ++axis)
        if (!(p[axis] >= description_->low[axis] && p[axis] <= description_->high[axis]))
          return at(emitter.line,
                    fmt::format("the emitter reaches out of the world at ({:.4g}, {:.4g}, {:.4g}) m", p.x, p.y, p.z),
                    "move it inwards, or widen the bounds of <volvox:particles>");
    }
    for (const Body& body : bodies_)
      for (const Vec3& point : source.opening) {
        const Vec3 p = emitter.pose * point;
        if (distance_to(view_of(particles_->shape(body.shape)), xyz(narrow_point(p))).distance > 0.45 * pitch) continue;
        return at(
            emitter.line,
            fmt::format("the emitter reaches into '{}' at ({:.4g}, {:.4g}, {:.4g}) m",
                        world.body_name(world.body(body.link)), p.x, p.y, p.z),
            fmt::format("keep it half a particle ({:.3g} m) away from it, or make its radius smaller", pitch / 2));
      }
    emitted += emitter.most;
    if (auto room = particles::check_memory(emitted, 800); !room.ok()) return at(emitter.line, room.error());
    sources_.push_back(std::move(source));
    return {};
  };
  if (description_->fluid)
    for (const model::Emitter& emitter : description_->fluid->emitters)
      if (auto added = add(emitter, -1, description_->fluid->spacing); !added.ok()) return added;
  for (std::size_t d = 0; d < description_->debris.size(); ++d)
    for (const model::Emitter& emitter : description_->debris[d].emitters)
      if (auto added = add(emitter, narrow<int>(d), 2.02 * description_->debris[d].largest()); !added.ok())
        return added;
  return {};
}

std::uint32_t Matter::kind_of_solid(std::uint32_t solid) const {
  if (solid >= first_emitted_)
    return solid - first_emitted_ < emitted_kinds_.size() ? emitted_kinds_[solid - first_emitted_] : 0;
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), solid,
                                      [](std::uint32_t s, const SolidRange& range) { return s < range.first; });
  return after == ranges_.begin() ? 0 : std::prev(after)->kind;
}

std::uint64_t Matter::emitted() const {
  std::uint64_t sum = 0;
  for (const Source& source : sources_) sum += source.made;
  return sum;
}

// Whether a particle could have come straight from the opening to `ahead` of it: no body and no edge of the world is in
// its way.
bool Matter::is_free(const Source& source, const Vec3& point, double ahead, std::span<const ShapeView> near) const {
  const int steps = truncated(std::ceil(2 * ahead / source.pitch)) + 1;
  for (int k = 0; k <= steps; ++k) {
    const Vec3 p = source.emitter->pose * (point + Vec3{ahead * k / steps, 0, 0});
    for (int axis = 0; axis < 3; ++axis)
      if (!(p[axis] >= description_->low[axis] && p[axis] <= description_->high[axis])) return false;
    for (const ShapeView& shape : near)
      if (distance_to(shape, xyz(narrow_point(p))).distance <= 0.45 * source.pitch) return false;
  }
  return true;
}

// The layers that have left the opening by now, each at the distance that it has moved. A particle is not made inside
// or behind a body or outside the world, and a grain not where another one is: they would be thrown apart.
Result<void> Matter::emit(Source& source, double time) {
  const model::Emitter& emitter = *source.emitter;
  const double every = source.pitch / emitter.speed;
  std::vector<Vec3> places;
  std::vector<ShapeView> near;
  const double reach =
      emitter.radius + emitter.speed * (time - (emitter.start + real(source.layers) * every)) + source.pitch;
  if (reach > 0)
    for (const Body& body : bodies_) {
      const ShapeView shape = view_of(particles_->shape(body.shape));
      if (least_distance(shape, xyz(narrow_point(emitter.pose.position))) < reach) near.push_back(shape);
    }
  while (source.made + places.size() < emitter.most) {
    const double left = emitter.start + real(source.layers) * every;
    if (left > time || left > emitter.stop) break;
    ++source.layers;
    RandomStream random(source.seed, source.layers, "places of what is emitted");
    const double ahead = emitter.speed * (time - left);
    for (const Vec3& middle : source.opening) {
      const Vec3 point = middle + somewhere(random, source.pitch / 2);
      if (source.made + places.size() < emitter.most && is_free(source, point, ahead, near))
        places.push_back(emitter.pose * (point + Vec3{ahead, 0, 0}));
    }
  }
  if (places.empty()) return {};
  const Vec3 velocity = emitter.pose.rotation * Vec3{emitter.speed, 0, 0};
  if (source.debris < 0) {
    source.made += places.size();
    return particles_->add_fluid(places, velocity);
  }
  const model::Debris& debris = description_->debris[source.debris];
  std::erase_if(places, [&](const Vec3& place) {
    const auto points = particles_->solid_positions();
    return std::any_of(points.begin(), points.end(),
                       [&](const Point& p) { return length_squared(wide(p) - place) < source.pitch * source.pitch; });
  });
  RandomStream random(debris.seed, source.layers, "radii of emitted debris");
  for (const Vec3& place : places) {
    const auto size = narrow<int>(random.below(model::Debris::sizes));
    const particles::GrainDesc grain{debris.radius_of(size), debris.density, debris.friction};
    if (auto added = particles_->add_grains(grain, std::span(&place, 1), velocity); !added.ok()) return added;
    ++source.made;
    emitted_kinds_.push_back(narrow<std::uint32_t>(source.debris));
  }
  return {};
}

StepStatus Matter::begin_tick(Time begin) {
  std::fill(impulses_.begin(), impulses_.end(), Wrench{});
  for (Source& source : sources_)
    if (auto made = emit(source, begin.seconds()); !made.ok())
      return {.what = "particles: " + made.error().text(), .who = {}};
  if (auto begun = particles_->begin_tick(); !begun.ok()) return {.what = "particles: " + begun.error().text()};
  return {};
}

StepStatus Matter::advance(World& world, double step) {
  for (const Body& body : bodies_) {
    const Pose pose = world.link_pose(body.link) * body.centre;
    if (auto set = particles_->set_shape(body.shape, pose, world.link_velocity(body.link)); !set.ok())
      return {.what = "particles: " + set.error().text(), .who = world.body_name(world.body(body.link))};
  }
  if (auto moved = particles_->advance(step); !moved.ok()) return {.what = "particles: " + moved.error().text()};
  for (const Body& body : bodies_) {
    impulses_[body.link] += particles_->impulse(body.shape);
    if (body.pushed) world.push(body.link, particles_->impulse(body.shape) * (1 / step));
  }
  return {};
}

void Matter::archive(Archive& ar) {
  particles_->archive(ar);
  ar.section("particles", "emitters");
  ar("kinds", emitted_kinds_);
  ar("impulses", impulses_);
  if (ar.loading() && impulses_.size() + 1 != first_shape_.size()) {
    ar.fail("it has impulses for other links");
    impulses_.assign(first_shape_.size() - 1, {});
  }
  for (Source& source : sources_) {
    ar("layers", source.layers), ar("made", source.made);
    if (ar.loading() && source.made > source.emitter->most) ar.fail("an emitter has made more than it may");
  }
}

}  // namespace volvox::world
