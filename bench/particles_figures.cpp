// Compares water, rubble and cloth with closed forms and measurements, and draws the figures of docs/particles:
//
//   build/release/bin/particles_figures FOLDER [PART]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/base/text.h"
#include "volvox/particles/particle_world.h"
#include "volvox/report/chart.h"

using namespace volvox;
using namespace volvox::particles;

namespace {

constexpr double tick = 1.0 / 60, g = 9.81;
constexpr const char *blue = "#0072b2", *black = "#000000";

// Throw what is wrong: the program ends.
template <class T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().text());
  return std::move(*result);
}
void must(const Result<void>& result) {
  if (!result.ok()) throw std::runtime_error(result.error().text());
}

void run(ParticleWorld& world, double seconds) {
  for (int k = 0; k < seconds / tick - 1e-6; ++k) must(world.step(tick));
}
void add_tank(ParticleWorld& world, const Vec3& low, const Vec3& high) {
  ShapeDesc tank{.kind = ShapeKind::tank, .half_size = (high - low) / 2};
  tank.pose.position = (low + high) / 2;
  must(world.add_shape(tank));
}

struct Line {
  double slope = 0, start = 0;
};
Line line_through(const std::vector<report::Point>& points) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const report::Point& p : points) n += 1, x += p.x, y += p.y, xx += p.x * p.x, xy += p.x * p.y;
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  return {slope, (y - slope * x) / n};
}

report::Curve measured(std::vector<report::Point> points, bool lines = false) {
  return {.label = "Volvox",
          .points = std::move(points),
          .color = blue,
          .join = lines ? report::Join::lines : report::Join::nothing,
          .marks = true};
}
report::Curve expected(const std::string& label, std::vector<report::Point> points) {
  return {.label = label, .points = std::move(points), .color = black, .dashed = true};
}

class Figures {
 public:
  explicit Figures(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }
  void draw(const std::string& part) {
    const std::pair<const char*, void (Figures::*)()> parts[] = {{"hydrostatics", &Figures::hydrostatics},
                                                                 {"archimedes", &Figures::archimedes},
                                                                 {"stokes", &Figures::stokes},
                                                                 {"torricelli", &Figures::torricelli},
                                                                 {"dam", &Figures::dam},
                                                                 {"repose", &Figures::repose},
                                                                 {"beverloo", &Figures::beverloo},
                                                                 {"catenary", &Figures::catenary}};
    for (const auto& [name, work] : parts)
      if (part.empty() || part == name) (this->*work)();
  }

 private:
  void save(const std::string& name, const std::string& title, const report::Axis& x, const report::Axis& y,
            std::vector<report::Curve> curves, const std::string& note) {
    const report::Chart chart{title, {{"", x, y, std::move(curves)}}, note};
    must(write_file(folder_ / (name + ".svg"), svg(chart)));
    fmt::print("{}: {}\n", name, note);
    std::fflush(stdout);
  }

  void hydrostatics() {
    WorldOptions options;
    options.fluid = {.spacing = 0.04, .viscosity = 20};
    options.max_substep = 1.0 / 960;
    auto world = must(ParticleWorld::create(options));
    add_tank(*world, {0, 0, 0}, {0.6, 0.6, 2});
    must(world->add_fluid_box({0, 0, 0}, {0.6, 0.6, 0.8}));
    run(*world, 2);
    std::vector<report::Point> points, within;
    for (int k = 0; k < 10; ++k) {
      run(*world, tick);
      const auto pressure = world->pressures();
      for (std::size_t i = 0; i < pressure.size(); ++i) {
        const Point p = world->fluid_positions()[i];
        if (std::min(p.x, p.y) < 0.1 || std::max(p.x, p.y) > 0.5) continue;
        if (k == 9) points.push_back({p.z, pressure[i]});
        if (p.z > 0.1 && p.z < 0.7) within.push_back({p.z, pressure[i]});
      }
    }
    const Line line = line_through(within);
    save("hydrostatics", "Pressure in a pool at rest", {.label = "height (m)", .from = 0},
         {.label = "pressure (Pa)", .from = 0},
         {measured(points), expected("rho g (h - z)", {{0, 9810 * 0.8}, {0.8, 0}})},
         fmt::format("slope {:.1f} Pa/m, by the closed form -9810: ratio {:.4f}", line.slope, line.slope / -9810));
  }

  // What a floating box displaces, over what it weighs: with the level where the pressure beside it would be 0, and
  // with the level that follows from the amount of fluid, which at rest is a little denser, and comes 0.018 spacings
  // nearer to walls than half a spacing.
  struct Displaced {
    double by_pressure = 0, by_amount = 0;
  };
  static Displaced displaced_by_box(int width, double density, double start) {
    constexpr double dx = 0.05, nearer = 0.018 * dx;
    const double half = width * dx / 2, side = (width + 12) * dx, filled = (width + 6) * dx;
    WorldOptions options;
    options.fluid = {.spacing = dx, .viscosity = 0.5};
    options.max_substep = 1.0 / 960;
    auto world = must(ParticleWorld::create(options));
    add_tank(*world, {0, 0, 0}, {side, side, 3});
    must(world->add_fluid_box({0, 0, 0}, {side, side, filled}));
    ShapeDesc body{.kind = ShapeKind::box, .half_size = Vec3{1, 1, 1} * half};
    body.mass = density * volume(body);
    body.moments = Vec3{1, 1, 1} * (100 * body.mass * half * half);  // it would not lie flat at all densities
    body.pose = {{side / 2, side / 2, filled + half + start * dx}, Quat::axis_angle({0, 0, 1}, start)};
    const ShapeIndex index = must(world->add_shape(body));
    run(*world, 5);
    double z = 0, denser = 0;
    std::vector<report::Point> beside;
    for (int k = 0; k < 60; ++k) {
      run(*world, tick);
      const Vec3 middle = world->shape(index).pose.position;
      z += middle.z / 60;
      denser += world->density_error() / 60;
      const auto pressure = world->pressures();
      for (std::size_t i = 0; i < pressure.size(); ++i) {
        const Point p = world->fluid_positions()[i];
        const double out = std::max(std::fabs(p.x - middle.x), std::fabs(p.y - middle.y));
        if (out > 1.2 * half + 2 * dx && out < side / 2 - 2 * dx && p.z > 2 * dx && p.z < filled - 2 * dx)
          beside.push_back({p.z, pressure[i]});
      }
    }
    const Line line = line_through(beside);
    const auto under = [&](double level) { return 4 * half * half * clamp(level - (z - half), 0, 2 * half); };
    const double fluid = real(world->fluid_positions().size()) * dx * dx * dx / (1 + denser);
    double level = filled;
    for (int k = 0; k < 60; ++k) level = (fluid + under(level)) / ((side + 2 * nearer) * (side + 2 * nearer)) - nearer;
    return {under(-line.start / line.slope) * 1000 / body.mass, under(level) * 1000 / body.mass};
  }

  void archimedes() {
    std::vector<report::Curve> curves;
    std::string note = "weight displaced, by pressure and by amount";
    const std::pair<int, const char*> widths[] = {{4, "#d55e00"}, {8, blue}};
    for (const auto& [width, color] : widths) {
      report::Curve curve = measured({});
      curve.label = fmt::format("{} particles wide", width), curve.color = color;
      note += fmt::format("; {} wide:", width);
      for (const double density : {200.0, 350.0, 500.0, 650.0, 800.0}) {
        Displaced mean;
        for (const double start : {0.4, 0.6, 0.8}) {
          const Displaced one = displaced_by_box(width, density, start);
          mean.by_pressure += one.by_pressure / 3, mean.by_amount += one.by_amount / 3;
        }
        curve.points.push_back({density, mean.by_pressure * density / 1000});
        note += fmt::format(" {:.3f} {:.3f}", mean.by_pressure, mean.by_amount);
      }
      curves.push_back(std::move(curve));
    }
    curves.push_back(expected("its weight", {{0, 0}, {1000, 1}}));
    save("archimedes", "How deep a box floats", {.label = "density of the box (kg/m^3)", .from = 0, .to = 1000},
         {.label = "part below the level", .from = 0, .to = 1}, std::move(curves), note);
  }

  // A steel ball in a square shaft of a very viscous fluid, four spacings in radius. Walls brake it by 1 / (1 - 1.903 r
  // / a) (a: half the width; Happel and Bart 1974).
  void stokes() {
    const double r = 0.1, a = 0.5, viscosity = 300, dx = 0.025, density = 8000, height = 1.1;
    WorldOptions options;
    options.fluid = {.spacing = dx, .viscosity = viscosity};
    auto world = must(ParticleWorld::create(options));
    add_tank(*world, {-a, -a, 0}, {a, a, 3});
    ShapeDesc ball{.kind = ShapeKind::sphere, .radius = r, .mass = 4 * pi / 3 * r * r * r * density};
    ball.moments = Vec3{1, 1, 1} * (0.4 * ball.mass * r * r);
    ball.pose.position = {0, 0, 0.85};
    const double free = 2.0 / 9 * (density - 1000) * g * r * r / viscosity, slowed = free * (1 - 1.903 * r / a);
    ball.velocity.linear.z = -slowed;  // the ball needs 0.06 s, the fluid between it and the walls ten times that
    const ShapeIndex index = must(world->add_shape(ball));
    std::vector<Vec3> places;
    for (int i = 0; i < 40 * 40 * 44; ++i) {
      const Vec3 p{-a + (i % 40 + 0.5) * dx, -a + (i / 40 % 40 + 0.5) * dx, (i / 1600 + 0.5) * dx};
      if (p.z < height && length(p - ball.pose.position) > r + 0.3 * dx) places.push_back(p);
    }
    must(world->add_fluid(places));
    std::vector<report::Point> points;
    double mean = 0;
    for (int k = 1; k <= 48; ++k) {
      run(*world, tick);
      points.push_back({k * tick, -world->shape(index).velocity.linear.z});
      if (k > 36) mean += points.back().y / 12;
    }
    save("stokes", "A steel ball in a viscous fluid", {.label = "time (s)", .from = 0},
         {.label = "speed (m/s)", .from = 0},
         {measured(points, true), expected("Stokes, in a shaft", {{0, slowed}, {0.8, slowed}})},
         fmt::format("{:.3f} m/s after 0.6 s, by Stokes in a shaft {:.3f}: ratio {:.3f}", mean, slowed, mean / slowed));
  }

  void torricelli() {
    WorldOptions options;
    options.fluid.spacing = 0.05;
    options.low = {-2, -2, -2};
    auto world = must(ParticleWorld::create(options));
    add_tank(*world, {0, 0, -10}, {1, 1, 10});
    for (int k = 0; k < 4; ++k) {
      ShapeDesc box{.kind = ShapeKind::box, .half_size = k < 2 ? Vec3{0.175, 0.5, 0.2} : Vec3{0.15, 0.175, 0.2}};
      box.pose.position = {k == 0 ? 0.175 : k == 1 ? 0.825 : 0.5, k == 2 ? 0.175 : k == 3 ? 0.825 : 0.5, -0.2};
      must(world->add_shape(box));
    }
    must(world->add_fluid_box({0, 0, 0}, {1, 1, 1}));
    run(*world, 0.4);
    std::vector<report::Point> points, line;
    double ratios = 0;
    for (int k = 0; k < 30; ++k) {
      run(*world, tick);
      double above = 0, speed = 0;
      int count = 0;
      for (std::size_t i = 0; i < world->fluid_positions().size(); ++i) {
        const Point p = world->fluid_positions()[i], v = world->fluid_velocities()[i];
        if (p.z > 0) above += 0.05 * 0.05 * 0.05;
        else if (p.z < -0.3 && p.z > -0.4) speed += length(Vec3{v.x, v.y, v.z}), ++count;
      }
      if (count == 0) continue;
      points.push_back({above + 0.35, speed / count});
      line.push_back({above + 0.35, std::sqrt(2 * g * (above + 0.35))});
      ratios += points.back().y / line.back().y;
    }
    save("torricelli", "Out of a hole in the floor", {.label = "level above the jet (m)"},
         {.label = "speed (m/s)", .from = 0}, {measured(points), expected("sqrt(2 g h)", line)},
         fmt::format("mean ratio {:.3f}", ratios / real(points.size())));
  }

  void dam() {
    WorldOptions options;
    options.fluid.spacing = 0.05;
    auto world = must(ParticleWorld::create(options));
    add_tank(*world, {0, 0, 0}, {6, 0.4, 3});
    const double a = 0.6;
    must(world->add_fluid_box({0, 0, 0}, {a, 0.4, 2 * a}));
    std::vector<report::Point> points;
    for (int k = 1; k <= 34; ++k) {
      run(*world, tick);
      std::vector<float> x;
      for (const Point& p : world->fluid_positions()) x.push_back(p.x);
      std::nth_element(x.begin(), x.begin() + 16, x.end(), std::greater<>());
      points.push_back({k * tick * std::sqrt(2 * g / a), x[16] / a});
    }
    save("dam", "The front of a breaking dam", {.label = "time over sqrt(a / 2 g)", .from = 0},
         {.label = "front over a", .from = 0},
         {measured(points, true),
          expected("Martin and Moyce 1952",
                   {{0.84, 1.22}, {1.43, 1.67}, {1.83, 2.11}, {2.20, 2.56}, {2.51, 3.00}, {2.98, 3.67}})},
         "a column of the width a and twice that height");
  }

  // Grains of two sizes that fell into a bin with a rough floor (grains that are pinned). Its front is taken away: what
  // slides over the edge is drained, and what stays is a wedge. Its slope, in degrees.
  static double slope_of_heap(double friction, double rolling, std::uint64_t seed) {
    WorldOptions options;
    options.rolling_resistance = rolling;
    options.low = {-1, -1, -0.3};
    auto world = must(ParticleWorld::create(options));
    ShapeDesc tank{.kind = ShapeKind::tank, .half_size = {2, 0.045, 2}, .friction = 0};
    tank.pose.position = {2, 0, 1};
    must(world->add_shape(tank));
    ShapeDesc gate{.kind = ShapeKind::box, .half_size = {0.05, 0.2, 1}, .friction = 0};
    gate.pose.position = {0.35, 0, 0.8};
    const ShapeIndex front = must(world->add_shape(gate));
    RandomStream random(seed, 0, "grains");
    const auto some = [&](double most) { return random.uniform(-most, most); };
    std::vector<Vec3> floor, large, small;
    for (int i = 0; i < 15 * 4; ++i) floor.push_back({0.01 + i / 4 * 0.02, -0.033 + i % 4 * 0.022, -0.01 + some(4e-3)});
    for (int i = 0; i < 40 * 11 * 3; ++i) {
      const Vec3 place{0.0125 + i / 3 % 11 * 0.026, -0.028 + i % 3 * 0.028, 0.017 + i / 33 * 0.026};
      const double x = some(2.5e-3), y = some(4e-3), z = some(2.5e-3);
      (random.chance(0.5) ? large : small).push_back(place + Vec3{x, y, z});
    }
    must(world->add_grains({0.01, 2500, friction}, floor));
    for (std::uint32_t id = 0; id < floor.size(); ++id) world->pin(id);
    must(world->add_grains({0.01, 2500, friction}, large));
    must(world->add_grains({0.008, 2500, friction}, small));
    run(*world, 1);
    must(world->set_shape(front, {{5, 0, 0}, {}}, {}));
    run(*world, 4);
    // Heights by how much there is, packed to 0.6.
    std::vector<report::Point> heights;
    for (int k = 0; k < 6; ++k) heights.push_back({0.05 * k + 0.025, 0});
    for (std::size_t i = 0; i < world->solid_positions().size(); ++i) {
      const Point p = world->solid_positions()[i];
      const double r = world->solid_velocities()[i].w;
      if (p.w > 0 && p.x < 0.3f && p.z > 0)
        heights[truncated<std::size_t>(p.x / 0.05)].y += 4 * pi / 3 * r * r * r / (0.05 * 0.09 * 0.6);
    }
    return degrees(std::atan(-line_through(heights).slope));
  }

  void repose() {
    std::vector<report::Curve> curves;
    std::string note = "degrees";
    const std::pair<double, const char*> rollings[] = {{0, "#56b4e9"}, {0.1, blue}, {0.3, "#d55e00"}};
    for (const auto& [rolling, color] : rollings) {
      report::Curve curve = measured({}, true);
      curve.label = fmt::format("rolling resistance {}", rolling), curve.color = color;
      note += fmt::format("; {}:", rolling);
      for (const double friction : {0.1, 0.2, 0.4, 0.6, 0.8}) {
        double mean = 0;
        for (const std::uint64_t seed : {1, 2, 3}) mean += slope_of_heap(friction, rolling, seed) / 3;
        curve.points.push_back({friction, mean});
        note += fmt::format(" {:.1f}", mean);
      }
      curves.push_back(curve);
    }
    curves.push_back(expected("atan(friction)", {}));
    for (int i = 0; i <= 16; ++i) curves.back().points.push_back({0.05 * i, degrees(std::atan(0.05 * i))});
    save("repose", "Slope of a heap that has come to rest", {.label = "friction of the grains", .from = 0},
         {.label = "slope (degrees)", .from = 0}, std::move(curves), note);
  }

  // Grains through a round hole: Beverloo's law, W ~ (D - k d)^2.5, so W^0.4 is a line.
  void beverloo() {
    std::vector<report::Point> points, logs;
    const double d = 0.012, k = 1.4;
    for (const double width : {0.07, 0.09, 0.11, 0.13}) {
      WorldOptions options;
      options.low = {-0.3, -0.3, -0.5};
      options.high = {0.3, 0.3, 3};
      auto world = must(ParticleWorld::create(options));
      add_tank(*world, {-0.14, -0.14, -5}, {0.14, 0.14, 5});
      // A floor of 32 wedges around the hole: boxes whose inner face is a chord of it.
      for (int i = 0; i < 32; ++i) {
        const double angle = 2 * pi * i / 32;
        ShapeDesc wedge{.kind = ShapeKind::box, .half_size = {0.1, 0.05, 0.02}, .friction = 0.5};
        wedge.pose = {Vec3{std::cos(angle), std::sin(angle), 0} * (width / 2 + 0.1) - Vec3{0, 0, 0.02},
                      Quat::axis_angle({0, 0, 1}, angle)};
        must(world->add_shape(wedge));
      }
      std::vector<Vec3> places;
      for (int z = 0; z < 40; ++z)
        for (int y = 0; y < 20; ++y)
          for (int x = 0; x < 20; ++x) places.push_back({-0.13 + 0.0135 * x, -0.13 + 0.0135 * y, 0.01 + 0.0135 * z});
      must(world->add_grains({d / 2, 2500, 0.5}, places));
      const auto through = [&] {
        int count = 0;
        for (const Point& p : world->solid_positions()) count += p.z < -0.05;
        return count + narrow<int>(world->drained());
      };
      run(*world, 0.6);
      const int before = through();
      run(*world, 1);
      const double rate = through() - before;
      points.push_back({width - k * d, std::exp(0.4 * std::log(rate))});
      logs.push_back({std::log(width - k * d), std::log(rate)});
    }
    const double exponent = line_through(logs).slope;
    const Line line = line_through(points);
    save("beverloo", "Grains through a round hole", {.label = "width of the hole less 1.4 diameters (m)", .from = 0},
         {.label = "(grains/s)^0.4", .from = 0},
         {measured(points), expected("line", {{0, line.start}, {0.12, line.start + 0.12 * line.slope}})},
         fmt::format("exponent {:.2f}, by Beverloo 2.5", exponent));
  }

  void catenary() {
    WorldOptions options;
    options.air_drag = 3;
    auto world = must(ParticleWorld::create(options));
    ClothDesc rope{.along_columns = {2, 0, 0}, .columns = 41, .rows = 1, .density = 0.5};
    rope.bend = 0, rope.stretch = 1e6, rope.thickness = 0.01;
    must(world->add_cloth(rope));
    world->pin(0), world->pin(40);
    for (int k = 1; k <= 80; ++k) {
      world->place(40, {2 - 0.01 * k, 0, 0});
      run(*world, tick);
    }
    run(*world, 6);
    double c = 0.4;
    for (int k = 0; k < 100; ++k)
      c -= (2 * c * std::sinh(0.6 / c) - 2) / (2 * std::sinh(0.6 / c) - 1.2 / c * std::cosh(0.6 / c));
    std::vector<report::Point> points, curve;
    double worst = 0;
    for (std::uint32_t id = 0; id <= 40; ++id) {
      const Point p = world->solid_positions()[world->index_of_solid(id)];
      const double z = c * (std::cosh((p.x - 0.6) / c) - std::cosh(0.6 / c));
      points.push_back({p.x, p.z}), curve.push_back({p.x, z});
      worst = std::max(worst, std::fabs(p.z - z));
    }
    const double sag = c * (std::cosh(0.6 / c) - 1);
    save("catenary", "A rope between two pins", {.label = "x (m)"}, {.label = "z (m)"},
         {measured(points), expected("catenary", curve)},
         fmt::format("off by at most {:.2f} % of the sag", 100 * worst / sag));
  }

  std::filesystem::path folder_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: particles_figures FOLDER [PART]\n");
    return 2;
  }
  try {
    Figures(argv[1]).draw(argc > 2 ? argv[2] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
