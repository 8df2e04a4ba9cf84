#include "volvox/mind/range_sensors.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/exchange/particle_sight.h"
#include "volvox/mind/typed_sensor.h"

namespace volvox::mind {
namespace {

Vec3 towards(double bearing, double elevation) {
  const double level = volvox::cos(elevation);
  return {level * volvox::cos(bearing), level * volvox::sin(bearing), volvox::sin(elevation)};
}

// A fan of rays from right to left in the xy plane of the mount, or several such rows, the lowest first.
class Fan {
 public:
  Fan(const Parameters& p, int rays, double field_of_view, double max_range)
      : rays_(narrow<int>(p.integer("rays", rays, 1, 100'000))),
        rows_(narrow<int>(p.integer("rows", 1, 1, std::max<std::int64_t>(1, 100'000 / std::max(1, rays_))))),
        field_of_view_(p.number("field_of_view", field_of_view, 0, 2 * pi)),
        vertical_field_of_view_(p.number("vertical_field_of_view", 0, 0, pi)),
        max_range_(p.number("max_range", max_range, 1e-6, 1e6)) {}

  int rays() const { return rays_; }  // of a row
  int rows() const { return rows_; }
  double max_range() const { return max_range_; }
  double field_of_view() const { return field_of_view_; }
  double bearing(int ray) const { return spread(field_of_view_, ray, rays_); }
  double elevation(int row) const { return spread(vertical_field_of_view_, row, rows_); }
  double step() const { return rays_ == 1 ? 0 : field_of_view_ / (rays_ - 1); }
  std::vector<Vec3> directions() const {
    std::vector<Vec3> result;
    for (int row = 0; row < rows_; ++row)
      for (int ray = 0; ray < rays_; ++ray) result.push_back(towards(bearing(ray), elevation(row)));
    return result;
  }

 private:
  static double spread(double angle, int i, int count) {
    VOLVOX_ASSERT(i >= 0 && i < count);
    return count == 1 ? 0 : angle * (real(i) / (count - 1) - 0.5);
  }
  int rays_, rows_;
  double field_of_view_, vertical_field_of_view_, max_range_;
};

Fan range_fan(const Parameters& p) { return {p, 1, 0, 2}; }
Fan laser_fan(const Parameters& p) { return {p, 181, pi, 8}; }
double laser_min_range(const Parameters& p) { return p.number("min_range", 0, 0, 1e6); }

// Rings of rays about x that fill a cone evenly: one in the middle, then six more in each ring.
std::vector<Vec3> cone(double opening, int rings) {
  std::vector<Vec3> result{{1, 0, 0}};
  for (int ring = 1; ring <= rings; ++ring) {
    const double angle = 0.5 * opening * ring / rings;
    for (int i = 0; i < 6 * ring; ++i) {
      const double around = 2 * pi * i / (6 * ring);
      result.push_back(
          {volvox::cos(angle), volvox::sin(angle) * volvox::cos(around), volvox::sin(angle) * volvox::sin(around)});
    }
  }
  return result;
}

// A sensor that looks along fixed directions from its mount.
template <class T>
class RaySensor : public MountedSensor<T> {
 public:
  RaySensor(const model::Sensor& sensor, double range) : MountedSensor<T>(sensor), range_(range) {}
  bool casts_rays() const override { return true; }
  void rays(const SenseContext& c, std::vector<Ray>& out) const override {
    const Pose mount = this->mount(c);
    for (const Vec3& direction : directions_)
      out.push_back({mount.position, mount.rotation * direction, range_, c.module + 1});
  }

 protected:
  std::vector<Vec3> directions_;
  double range_;
};

// Distances in m, one for each ray; max_range if nothing is hit.
class RangeSensor final : public RaySensor<std::vector<double>> {
 public:
  RangeSensor(const model::Sensor& sensor, const Parameters& p) : RangeSensor(sensor, range_fan(p)) {}
  void measure(const SenseContext& c, std::vector<double>& reading) const override {
    reading.resize(directions_.size());
    VOLVOX_ASSERT(c.hits.size() == directions_.size());
    for (std::size_t i = 0; i < reading.size(); ++i) reading[i] = c.hits[i].hit() ? c.hits[i].distance : range_;
  }

 private:
  RangeSensor(const model::Sensor& sensor, const Fan& fan) : RaySensor(sensor, fan.max_range()) {
    directions_ = fan.directions();
  }
};

// A laser rangefinder with a diverging beam, modelled by seven rays of equal weight. If they hit objects at different
// distances, the reading mixes them (mixed pixels, Godbaz et al. 2008): it is the mean of all hits within `blend`
// behind the nearest, so it can lie between two objects, where nothing is.
class Laser final : public RaySensor<std::vector<double>> {
 public:
  Laser(const model::Sensor& sensor, const Parameters& p)
      : Laser(sensor, laser_fan(p), laser_min_range(p), p.number("divergence", 0, 0, 0.5),
              p.number("blend", 0.5, 0, 1e6)) {}
  void measure(const SenseContext& c, std::vector<double>& reading) const override {
    reading.resize(directions_.size() / spots_);
    VOLVOX_ASSERT(c.hits.size() == directions_.size() && directions_.size() % spots_ == 0);
    for (std::size_t i = 0; i < reading.size(); ++i)
      reading[i] = std::max(min_range_, of_beam(c.hits.subspan(i * spots_, spots_)));
  }

 private:
  static constexpr std::size_t spots_of_a_beam = 7;
  // The centres of seven parts of equal area of a disc: one in the middle, six around it.
  static constexpr double ring = 0.76;

  Laser(const model::Sensor& sensor, const Fan& fan, double min_range, double divergence, double blend)
      : RaySensor(sensor, fan.max_range()),
        min_range_(min_range),
        blend_(blend),
        spots_(divergence > 0 ? spots_of_a_beam : 1) {
    for (int row = 0; row < fan.rows(); ++row)
      for (int ray = 0; ray < fan.rays(); ++ray) {
        const double bearing = fan.bearing(ray), elevation = fan.elevation(row);
        directions_.push_back(towards(bearing, elevation));
        for (std::size_t i = 1; i < spots_; ++i) {
          const double off = ring * divergence / 2, around = 2 * pi * real(i) / 6;
          directions_.push_back(towards(bearing + off * volvox::cos(around), elevation + off * volvox::sin(around)));
        }
      }
  }
  double of_beam(std::span<const RayHit> hits) const {
    VOLVOX_ASSERT(hits.size() == spots_);
    double nearest = range_;
    for (const RayHit& hit : hits)
      if (hit.hit()) nearest = std::min(nearest, hit.distance);
    double sum = 0;
    int count = 0;
    for (const RayHit& hit : hits)
      if (hit.hit() && hit.distance <= nearest + blend_) sum += hit.distance, ++count;
    return count == 0 ? range_ : sum / count;
  }

  double min_range_, blend_;
  std::size_t spots_;
};

// Infrared: the reflection of each ray falls with the square of the distance and with the cosine of the angle of
// incidence (a matt surface). It is 1 at `full_range` and nearer.
class ProximitySensor final : public RaySensor<Proximity> {
 public:
  ProximitySensor(const model::Sensor& sensor, const Parameters& p)
      : RaySensor(sensor, p.number("max_range", 0.3, 1e-6, 1e6)), full_range_(p.number("full_range", 0.01, 1e-6, 1e6)) {
    directions_ = cone(p.number("cone", radians(30), 0, pi), narrow<int>(p.integer("rings", 2, 0, 50)));
  }
  void measure(const SenseContext& c, Proximity& reading) const override {
    reading = {false, range_, 0};
    VOLVOX_ASSERT(c.hits.size() == directions_.size());
    const Quat turned = mount(c).rotation;
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      const RayHit& hit = c.hits[i];
      if (!hit.hit()) continue;
      reading.seen = true;
      reading.distance = std::min(reading.distance, hit.distance);
      const double fall = full_range_ / std::max(hit.distance, full_range_);
      reading.strength +=
          std::max(0.0, -dot(hit.normal, turned * directions_[i])) * fall * fall / real(directions_.size());
    }
  }

 private:
  double full_range_;
};

// Sonar: the distance (m) of the nearest object in its cone; max_range if there is no echo. A surface that is hit at
// more than `largest_incidence` reflects the sound away from the sensor.
class Sonar final : public RaySensor<double> {
 public:
  Sonar(const model::Sensor& sensor, const Parameters& p)
      : RaySensor(sensor, p.number("max_range", 3, 1e-6, 1e6)),
        min_range_(p.number("min_range", 0, 0, 1e6)),
        least_cosine_(volvox::cos(p.number("largest_incidence", pi / 2, 0, pi / 2))) {
    directions_ = cone(p.number("cone", radians(30), 0, pi), narrow<int>(p.integer("rings", 4, 0, 50)));
  }
  void measure(const SenseContext& c, double& reading) const override {
    reading = range_;
    VOLVOX_ASSERT(c.hits.size() == directions_.size());
    const Quat turned = mount(c).rotation;
    for (std::size_t i = 0; i < directions_.size(); ++i)
      if (c.hits[i].hit() && -dot(c.hits[i].normal, turned * directions_[i]) >= least_cosine_ - 1e-12)
        reading = std::min(reading, c.hits[i].distance);
    reading = std::max(reading, min_range_);
  }

 private:
  double min_range_, least_cosine_;
};

// An abstract sensor, as seed 000 requires: the features of the nearest object instead of distances.
class ObstacleSensor final : public RaySensor<Obstacle> {
 public:
  ObstacleSensor(const model::Sensor& sensor, const Parameters& p) : ObstacleSensor(sensor, Fan(p, 31, pi / 2, 2)) {}
  void measure(const SenseContext& c, Obstacle& reading) const override {
    reading = {};
    int nearest = -1;
    VOLVOX_ASSERT(std::ssize(c.hits) >= fan_.rays());
    for (int i = 0; i < fan_.rays(); ++i)
      if (c.hits[i].hit() && (nearest < 0 || c.hits[i].distance < c.hits[nearest].distance)) nearest = i;
    if (nearest < 0) return;
    // All particles are one thing.
    const auto thing_of = [&](int i) {
      return exchange::is_particle(c.world, c.hits[i]) ? world::PlacementIndex(c.world.placements())
                                                       : c.world.placement_of_link(c.hits[i].body);
    };
    const world::PlacementIndex thing = thing_of(nearest);
    const auto sees_it = [&](int i) { return c.hits[i].hit() && thing_of(i) == thing; };
    int right = nearest, left = nearest;
    while (right > 0 && sees_it(right - 1)) --right;
    while (left + 1 < fan_.rays() && sees_it(left + 1)) ++left;
    reading.seen = true;
    reading.distance = c.hits[nearest].distance;
    reading.bearing = fan_.bearing(nearest);
    reading.width = fan_.bearing(left) - fan_.bearing(right) + fan_.step();
    const bool particles = thing == c.world.placements();
    reading.moves = particles || !c.world.module_model(thing).fixed_in_place;
    reading.is_module = !particles && c.world.model().placements[thing].is_module();
  }

 private:
  ObstacleSensor(const model::Sensor& sensor, const Fan& fan) : RaySensor(sensor, fan.max_range()), fan_(fan) {
    directions_ = fan.directions();
  }
  Fan fan_;
};

template <class S>
SensorFactory with_parameters() {
  return [](const model::Sensor& sensor, const Parameters& p) -> std::unique_ptr<Sensor> {
    return std::make_unique<S>(sensor, p);
  };
}

}  // namespace

std::optional<ScanGeometry> scan_geometry(const model::Sensor& sensor) {
  if (sensor.type != "range" && sensor.type != "laser") return std::nullopt;
  const Parameters parameters(sensor.parameters, "sensor");
  const bool laser = sensor.type == "laser";
  const Fan fan = laser ? laser_fan(parameters) : range_fan(parameters);
  return ScanGeometry{fan.rows(), fan.field_of_view(), laser ? laser_min_range(parameters) : 0, fan.max_range()};
}

void add_range_sensors(SensorRegistry& registry) {
  registry.add("range", with_parameters<RangeSensor>(),
               "distances by rays: max_range, rays, field_of_view, rows, vertical_field_of_view");
  registry.add("laser", with_parameters<Laser>(),
               "a laser rangefinder, distances in m: rays, field_of_view, rows, vertical_field_of_view, min_range, "
               "max_range; divergence, blend (mixed pixels)");
  registry.add("proximity", with_parameters<ProximitySensor>(),
               "infrared, Proximity: max_range, full_range, cone, rings");
  registry.add("sonar", with_parameters<Sonar>(),
               "the nearest echo in m: min_range, max_range, cone, rings, largest_incidence");
  registry.add("obstacle", with_parameters<ObstacleSensor>(),
               "the features of the nearest obstacle: max_range, rays, field_of_view");
}

}  // namespace volvox::mind
