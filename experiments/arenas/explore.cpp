#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "pit.h"
#include "scout_pair.h"
#include "survey.h"
#include "volvox/base/index.h"
#include "volvox/mind/camera.h"
#include "volvox/scan/camera_view.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/files.h"
#include "volvox/scan/refine.h"
#include "volvox/scan/triangle_tree.h"

namespace volvox::experiments::arenas {
namespace {

constexpr const char* eye_name = "camera";
constexpr const char* ahead_name = "ahead";
constexpr double picture_every = 1, sweep_every = 0.1;  // s
constexpr Vec3 start_at{-1.75, 0.65, scout_clearance};  // it looks along x
constexpr double field_of_view = 1.4;                   // rad, of the camera
constexpr std::int32_t width = 64, height = 48;
constexpr std::size_t upright_rays = 720;
constexpr double near = 0.01;  // m, from the camera's centre to the start of its rays
const Pose camera_mount{{0.05, 0, 0.08}, Quat::axis_angle({0, 1, 0}, 0.35)};  // tilted down

// The colours differ in hue, so the light does not matter.
struct Part {
  const char* name;
  model::Color color;
};
constexpr Part parts[] = {
    {"floor", {0.75, 0.70, 0.60, 1}}, {"pit", {0.20, 0.35, 0.85, 1}}, {"walls", {0.85, 0.30, 0.20, 1}}};

std::size_t part_of(const scan::TriangleMesh& mesh, const scan::Triangle& triangle) {
  const Vec3 middle =
      (scan::corner(mesh, triangle, 0) + scan::corner(mesh, triangle, 1) + scan::corner(mesh, triangle, 2)) / 3;
  return middle.z < -1e-6 ? 1 : middle.z > 1e-6 ? 2 : 0;
}

// The camera pose when the picture was taken, from the rays of its pixels. The robot has moved since.
Pose camera_pose(std::span<const mind::Ray> pixels) {
  const mind::Ray &upper_left = pixels.front(), &upper_right = pixels[width - 1], &lower_right = pixels.back();
  const Vec3 ahead = normalized(upper_left.direction + lower_right.direction),
             left = normalized(upper_left.direction - upper_right.direction);
  return {upper_left.origin - upper_left.direction * (near / dot(upper_left.direction, ahead)),
          Quat::from_axes(ahead, cross(ahead, left))};
}

Vec3 chromaticity(double r, double g, double b) {
  const double sum = std::max(r + g + b, 1e-9);
  return {r / sum, g / sum, b / sum};
}

// On-line refinement: a pair of Scouts with an upright laser and a camera drives along the pit of the arena. The first
// laser points become a mesh, which is refined with the new points every few seconds. At the end the camera's pictures
// colour it.
class Explore final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{
        {"method", "gsrm", {}, {}, {"gsrm", "pf", "mixed"}, "how points become a mesh", 0},
        {"every", "3", 0.5, 100, {}, "seconds between two updates of the mesh", 0},
        {"noise", "0.007", 0, 0.1, {}, "standard deviation of a range, in m", 0},
        {"poses",
         "own",
         {},
         {},
         {"own", "true"},
         "where the robot takes its points to be seen from: as it locates itself, or as it is",
         0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment arenas/explore");
    const std::string method = parameters.text("method", "gsrm");
    every_ = parameters.number("every", 3);
    const double noise = parameters.number("noise", 0.007);
    own_ = parameters.text("poses", "own") == "own";
    survey_ = Survey({{start_at.x, start_at.y}, 0});
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    auto parsed = scan::parse_method(method);
    if (!parsed.ok()) return parsed.error();
    build_ = {.method = *parsed, .seed = setup.seed};
    next_ = every_;
    truth_ = simple_arena({});

    model::WorldBuilder builder("explore");
    for (std::size_t k = 0; k < std::size(parts); ++k) {
      scan::TriangleMesh part = truth_;
      std::erase_if(part.triangles, [&](const scan::Triangle& t) { return part_of(truth_, t) != k; });
      builder.add_obstacle(std::make_shared<const model::MeshData>(scan::welded(part, 1e-9)), {}, 0, {0.8, 0},
                           parts[k].color, parts[k].name);
    }
    // A full circle in the vertical plane across the robot's path.
    const model::Sensor upright{laser,
                                "laser",
                                0,
                                {{0, 0, 0.08}, Quat::from_axes({0, 0, 1}, {1, 0, 0})},
                                {{"rays", std::to_string(upright_rays)},
                                 {"field_of_view", std::to_string(2 * pi * (upright_rays - 1) / upright_rays)},
                                 {"max_range", "8"}},
                                0};
    const model::Sensor eye{eye_name,
                            "camera",
                            0,
                            camera_mount,
                            {{"width", std::to_string(width)},
                             {"height", std::to_string(height)},
                             {"field_of_view", std::to_string(field_of_view)},
                             {"near", std::to_string(near)}},
                            0};
    // Over half a turn ahead; the frame of its link looks back.
    const model::Sensor ahead{ahead_name,
                              "laser",
                              0,
                              {{0, 0, 0.08}, Quat::axis_angle({0, 0, 1}, pi)},
                              {{"rays", "361"}, {"field_of_view", std::to_string(pi)}, {"max_range", "8"}},
                              0};
    const model::NoiseChainSpec ranging{{"ranging", {{"deviation", std::to_string(noise)}, {"max_range", "8"}}, 0}};
    const auto added = add_scout_pair(builder, setup.library, {upright, eye, ahead}, Pose{start_at, {}},
                                      {{"speed", "0.3"}, {"ramp", "0.2"}}, {{laser, ranging}, {ahead_name, ranging}});
    if (!added.ok()) return added.error();
    model::RunSettings run;
    run.duration = Time::seconds(12);
    builder.set_run(run);
    return builder.build();
  }

  std::string camera() const override { return overview; }
  void observe(const sim::Simulation& simulation) override {
    const auto& ranges = simulation.minds().agent(0).percept<std::vector<double>>(laser);
    const auto cast = simulation.minds().rays();  // the laser's, then the camera's: in the order of the sensors
    const double now = simulation.now().seconds();
    note_pose(simulation, now);
    // Where the sensors are on the robot was measured before it left.
    if (rays_.empty())
      for (std::size_t i = 0; i < ranges.size() && i < cast.size(); ++i)
        rays_.push_back(cast[i].origin - Vec3{start_at.x, start_at.y, 0}), rays_.push_back(cast[i].direction);
    for (std::size_t i = 0; i < ranges.size() && i < cast.size(); ++i)
      if (ranges[i] < cast[i].range && ranges[i] > 0.15) {  // a shorter range is the robot itself
        points_.push_back(own_ ? rays_[2 * i] + rays_[2 * i + 1] * ranges[i]
                               : cast[i].origin + cast[i].direction * ranges[i]);
        point_ticks_.push_back(narrow<std::uint32_t>(survey_.ticks() - 1));
      }
    if (now >= next_picture_ - 1e-9 && cast.size() >= ranges.size() + std::size_t{width} * height) {
      next_picture_ += picture_every;
      const auto& image = simulation.minds().agent(0).percept<mind::CameraImage>(eye_name);
      const Pose at = camera_pose(cast.subspan(ranges.size(), std::size_t{width} * height));
      if (pictures_.empty()) eye_at_ = at.position - Vec3{start_at.x, start_at.y, 0}, eye_turn_ = at.rotation;
      camera_at_.push_back(at.position);
      camera_turn_.push_back(at.rotation);
      picture_ticks_.push_back(narrow<std::uint32_t>(survey_.ticks() - 1));
      pictures_.push_back(image.rgb);
    }
    if (now < next_ - 1e-9) return;
    next_ += every_;
    learn();
  }

  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override {
    scan::TriangleMesh colored = mesh();
    const std::vector<scan::Pose2> poses = survey_.poses();
    std::vector<scan::CameraView> views;
    for (std::size_t i = 0; i < pictures_.size(); ++i) {
      if (pictures_[i].size() != 3u * width * height) continue;
      const Pose at =
          own_ ? on_floor(poses[picture_ticks_[i]]) * Pose{eye_at_, eye_turn_} : Pose{camera_at_[i], camera_turn_[i]};
      views.push_back({at, field_of_view, width, height, pictures_[i]});
    }
    measure_path(poses, metrics);
    const scan::Rgb unseen{0, 0, 0};
    const std::size_t painted = scan::paint(colored, views, unseen);
    std::size_t right = 0;
    const scan::TriangleTree tree(truth_);
    for (std::size_t i = 0; i < colored.vertices.size(); ++i) {
      if (colored.colors[i] == unseen) continue;
      const Vec3 seen = chromaticity(colored.colors[i].r, colored.colors[i].g, colored.colors[i].b);
      std::size_t nearest = 0;
      double least = 1e300;
      for (std::size_t k = 0; k < std::size(parts); ++k) {
        const double off = length(seen - chromaticity(parts[k].color.r, parts[k].color.g, parts[k].color.b));
        if (off < least) least = off, nearest = k;
      }
      right += nearest == part_of(truth_, truth_.triangles[tree.nearest(colored.vertices[i]).triangle]);
    }
    last_ = std::move(colored);
    const auto of = [](const std::vector<double>& values, bool last) {
      return values.empty() ? sim::not_measured : last ? values.back() : values.front();
    };
    metrics.set("learned", real(f_scores_.size()), "number of meshes made");
    metrics.set("too_little", real(failures_), "number of times there were too few points for a mesh");
    metrics.set("triangles", real(triangles_.size()), "of the last mesh");
    metrics.set("f_2cm_first", of(f_scores_, false), "F-score at 2 cm of the first mesh against the true arena");
    metrics.set("f_2cm_last", of(f_scores_, true), "F-score at 2 cm of the last mesh");
    metrics.set("completeness_first_mm", of(completeness_, false) * 1e3, "mean distance, true arena to first mesh");
    metrics.set("completeness_last_mm", of(completeness_, true) * 1e3, "mean distance, true arena to last mesh");
    metrics.set("painted", sim::mean_of(real(painted), real(last_.vertices.size())),
                "fraction of the vertices that the camera saw");
    metrics.set("color_right", sim::mean_of(real(right), real(painted)),
                "fraction of these vertices with the right colour");
  }

  Result<void> write(const std::filesystem::path& folder) const override {
    if (first_triangles_.empty()) return {};  // the run was too short for a mesh
    scan::TriangleMesh first;
    first.vertices = first_vertices_;
    first.triangles = first_triangles_;
    if (auto written = scan::write_mesh(first, folder / "arena_first.ply"); !written.ok()) return written;
    return scan::write_mesh(last_, folder / "arena_last.ply");
  }

  void archive_state(Archive& ar) override {
    ar("vertices", vertices_);
    ar("triangles", triangles_);
    ar("first vertices", first_vertices_);
    ar("first triangles", first_triangles_);
    ar("points", points_);
    ar("point ticks", point_ticks_);
    ar("rays", rays_);
    ar("eye at", eye_at_);
    ar("eye turn", eye_turn_);
    ar("picture ticks", picture_ticks_);
    ar("truth", truth_at_);
    ar("left before", left_before_);
    ar("right before", right_before_);
    ar("at before", at_before_);
    ar("next sweep", next_sweep_);
    survey_.archive(ar);
    ar("camera at", camera_at_);
    ar("camera turn", camera_turn_);
    ar("pictures", pictures_);
    ar("f scores", f_scores_);
    ar("completeness", completeness_);
    ar("next", next_);
    ar("next picture", next_picture_);
    ar("failures", failures_);
    if (ar.loading() && !sound())
      ar.fail("the snapshot has a survey whose points, pictures and ticks do not fit together");
  }

 private:
  bool sound() const {
    const std::size_t ticks = survey_.ticks();
    const auto known = [&](std::uint32_t tick) { return tick < ticks; };
    return survey_.sound() && truth_at_.size() == ticks && point_ticks_.size() == points_.size() &&
           picture_ticks_.size() == pictures_.size() && camera_at_.size() == pictures_.size() &&
           camera_turn_.size() == pictures_.size() && (rays_.empty() || rays_.size() == 2 * upright_rays) &&
           std::ranges::all_of(point_ticks_, known) && std::ranges::all_of(picture_ticks_, known) &&
           fits(vertices_, triangles_) && fits(first_vertices_, first_triangles_);
  }

  // Whether every corner of the triangles is one of the vertices.
  static bool fits(const std::vector<Vec3>& vertices, const std::vector<scan::Triangle>& triangles) {
    return std::ranges::all_of(triangles, [&](const scan::Triangle& triangle) {
      return std::ranges::all_of(triangle, [&](std::uint32_t corner) { return corner < vertices.size(); });
    });
  }

  // What the robot knows of its way: its wheels and, ten times a second, a sweep. The truth is only for the metrics.
  void note_pose(const sim::Simulation& simulation, double now) {
    const world::World& world = simulation.world();
    const world::PlacementIndex robot = world.modules()[0];
    const world::Part& part = world.part(robot);
    const model::ModuleModel& model = world.module_model(robot);
    const auto turned = [&](const char* wheel) {
      return world.joint_state(part.first_joint + model.joint_index(wheel)).position;
    };
    std::vector<double> sweep;
    if (now >= next_sweep_ - 1e-9) {
      next_sweep_ += sweep_every;
      sweep = simulation.minds().agent(0).percept<std::vector<double>>(ahead_name);
    }
    // The lasers saw from where the robot was when the tick began.
    survey_.tick(now, left_before_, right_before_, sweep);
    truth_at_.push_back(at_before_);
    left_before_ = turned("wheel_left"), right_before_ = turned("wheel_right");
    at_before_ = world.link_pose(part.first_link).position;
  }

  void measure_path(const std::vector<scan::Pose2>& poses, sim::Metrics& metrics) const {
    double sum = 0, most = 0;
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const double off = length(poses[i].position - scan::Vec2{truth_at_[i].x, truth_at_[i].y});
      sum += off, most = std::max(most, off);
    }
    metrics.set("path_error_mean_mm", sim::mean_of(sum, real(poses.size())) * 1e3,
                "mean error of where the robot thinks that it was");
    metrics.set("path_error_max_mm", sim::measured_if(!poses.empty(), most * 1e3), "the largest");
  }

  void learn() {
    scan::TriangleMesh learned;
    scan::Cloud seen{points_, {}};
    if (own_) {
      const std::vector<scan::Pose2> poses = survey_.poses();
      for (std::size_t i = 0; i < points_.size(); ++i) seen.points[i] = on_floor(poses[point_ticks_[i]]) * points_[i];
    }
    if (triangles_.empty()) {
      if (auto built = scan::build(seen, build_); built.ok()) learned = std::move(built->mesh);
    } else if (auto refined = scan::refine(mesh(), {seen}, {build_, true}); refined.ok()) {
      learned = std::move(refined->built.mesh);
    }
    if (learned.triangles.empty()) {
      ++failures_;  // too few points: they are kept for the next update
      return;
    }
    vertices_ = learned.vertices;
    triangles_ = learned.triangles;
    points_.clear(), point_ticks_.clear();
    if (f_scores_.empty()) first_vertices_ = vertices_, first_triangles_ = triangles_;
    const scan::Evaluation e = scan::evaluate(learned, truth_, 1000);
    f_scores_.push_back(e.f_2cm);
    completeness_.push_back(e.completeness_mean);
  }

  scan::TriangleMesh mesh() const {
    scan::TriangleMesh mesh;
    mesh.vertices = vertices_;
    mesh.triangles = triangles_;
    return mesh;
  }

  scan::BuildOptions build_;
  double every_ = 3;  // s
  scan::TriangleMesh truth_;
  // The current mesh.
  std::vector<Vec3> vertices_;
  std::vector<scan::Triangle> triangles_;
  // The first mesh, and the last one in the camera's colours: written to the run's folder.
  std::vector<Vec3> first_vertices_;
  std::vector<scan::Triangle> first_triangles_;
  scan::TriangleMesh last_;
  // Seen since the last mesh was made, and in which ticks. In the frame of the robot on the floor if it uses its own
  // poses, else in that of the world.
  std::vector<Vec3> points_;
  std::vector<std::uint32_t> point_ticks_, picture_ticks_;
  std::vector<Vec3> rays_;  // of the upright laser, in the robot's frame: where each begins and its direction
  Vec3 eye_at_;             // of the camera, likewise
  Quat eye_turn_;
  bool own_ = true;
  Survey survey_;
  std::vector<Vec3> truth_at_;  // by tick, when it began; world frame
  // After the last tick: the wheels, and where the robot is.
  double left_before_ = 0, right_before_ = 0;
  Vec3 at_before_ = start_at;
  std::vector<Vec3> camera_at_;
  std::vector<Quat> camera_turn_;
  std::vector<std::vector<std::uint8_t>> pictures_;
  std::vector<double> f_scores_, completeness_;          // of each mesh: F-score at 2 cm; m
  double next_ = 0, next_picture_ = 0, next_sweep_ = 0;  // s
  std::int64_t failures_ = 0;
};

}  // namespace

sim::ExperimentFactory explore() { return make<Explore>(); }

}  // namespace volvox::experiments::arenas
