#include "volvox/physics/conformance/suite.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"

namespace volvox::physics::conformance {

VOLVOX_FOR_EVERY_ENGINE(Conformance);

std::vector<std::string> engines_to_try() {
  std::vector<std::string> all;
  const EngineRegistry engines = built_in_engines();
  for (const std::string& engine : engines.names()) {
    if (engines.make(engine, {.precision = Precision::mixed}).ok())
      all.push_back(engine + "_double"), all.push_back(engine + "_mixed");
    else all.push_back(engine);
  }
  return all;
}

std::unique_ptr<Engine> Conformance::new_engine(const EngineSettings& given) {
  EngineSettings settings = given;
  std::string name = GetParam();
  for (const Precision precision : {Precision::double_, Precision::mixed}) {
    const std::string ending = std::string("_") + physics::name(precision);
    if (!name.ends_with(ending)) continue;
    settings.precision = precision;
    name.resize(name.size() - ending.size());
  }
  auto made = built_in_engines().make(name, settings);
  return made.ok() ? std::move(*made) : nullptr;
}

void Conformance::make_engine(const EngineSettings& settings) {
  engine_ = new_engine(settings);
  descs_.clear();
  ticks_ = 0;
  ASSERT_TRUE(engine_);
  ASSERT_TRUE(GetParam().starts_with(engine_->info().name));
}

bool Conformance::can(const std::string& what) const {
  const std::vector<std::string>& cannot = engine_->info().cannot;
  return std::find(cannot.begin(), cannot.end(), what) == cannot.end();
}

void Conformance::TearDown() {
  if (IsSkipped() && engine_ && engine_->info().moves && !left_out_) {
    ADD_FAILURE() << "engine " << GetParam() << " says that it moves things and did not run this scene";
  }
}

Vec3 solid_moments(const model::Shape& shape, double mass) {
  struct Visitor {
    double m;
    Vec3 operator()(const model::Sphere& s) const {
      const double i = 0.4 * m * s.radius * s.radius;
      return {i, i, i};
    }
    Vec3 operator()(const model::Box& b) const { return box(b.size); }
    Vec3 operator()(const model::Cylinder& c) const { return cylinder(c.radius, c.length); }
    Vec3 operator()(const model::Capsule& c) const { return cylinder(c.radius, c.length + c.radius); }
    Vec3 operator()(const model::Plane&) const { return {1, 1, 1}; }
    Vec3 operator()(const model::Hull& h) const {
      Vec3 low = h->points[0], high = low;
      for (const Vec3& p : h->points) {
        for (int i = 0; i < 3; ++i) low[i] = std::min(low[i], p[i]), high[i] = std::max(high[i], p[i]);
      }
      return box(high - low);
    }
    Vec3 operator()(const model::Mesh&) const { return {1, 1, 1}; }
    Vec3 operator()(const model::HeightField&) const { return {1, 1, 1}; }
    Vec3 box(const Vec3& s) const {
      return Vec3{s.y * s.y + s.z * s.z, s.x * s.x + s.z * s.z, s.x * s.x + s.y * s.y} * (m / 12);
    }
    Vec3 cylinder(double r, double l) const {
      const double across = m * (3 * r * r + l * l) / 12;
      return {across, across, m * r * r / 2};
    }
  };
  return std::visit(Visitor{mass}, shape);
}

model::Hull make_hull(std::vector<Vec3> points) {
  auto hull = std::make_shared<model::HullData>();
  hull->points = std::move(points);
  return hull;
}

model::Hull box_hull(const Vec3& size) {
  std::vector<Vec3> points;
  for (int i = 0; i < 8; ++i)
    points.push_back(multiply(size / 2, {i & 1 ? 1. : -1., i & 2 ? 1. : -1., i & 4 ? 1. : -1.}));
  return make_hull(std::move(points));
}

BodyDesc Conformance::describe(const Solid& solid) {
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"collider", solid.shape, {}, solid.material});
  BodyDesc desc;
  desc.motion = solid.motion;
  desc.pose = solid.pose;
  desc.velocity = solid.velocity;
  desc.mass = solid.mass;
  desc.moments = solid_moments(solid.shape, solid.mass);
  desc.geometry = geometry;
  desc.owner = solid.owner;
  return desc;
}

BodyId Conformance::add(const Solid& solid) { return add(describe(solid)); }

BodyId Conformance::add(const BodyDesc& desc) {
  auto id = engine_->add_body(desc);
  EXPECT_TRUE(id.ok()) << (id.ok() ? "" : id.error().text());
  if (!id.ok()) return {};
  if (descs_.size() <= id->index) descs_.resize(id->index + 1);
  descs_[id->index] = desc;
  return *id;
}

BodyId Conformance::add_ground(double friction, double restitution, const Pose& pose) {
  Solid ground{model::Plane{}};
  ground.pose = pose;
  ground.motion = Motion::fixed;
  ground.material = {friction, restitution};
  return add(ground);
}

StepStatus Conformance::tick(const TickLength& dt) {
  StepStatus status = engine_->advance(dt.start_of(ticks_), dt.start_of(ticks_ + 1));
  ++ticks_;
  return status;
}

void Conformance::run(double seconds, const std::function<void(double)>& each, const TickLength& dt) {
  const int count = narrow<int>(std::lround(seconds / dt.seconds()));
  for (int i = 0; i < count; ++i) {
    const StepStatus status = tick(dt);
    ASSERT_TRUE(status.ok()) << status.what;
    if (each) each((i + 1) * dt.seconds());
  }
}

Conformance::Totals Conformance::totals(const std::vector<BodyId>& bodies) const {
  Totals sum;
  for (BodyId id : bodies) {
    const BodyDesc& d = desc(id);
    const Twist v = velocity(id);
    const Quat axes = pose(id).rotation * d.inertial.rotation;
    const Vec3 p = v.linear * d.mass;
    const Vec3 spin = axes * multiply(d.moments, axes.conjugate() * v.angular);
    const Vec3 orbit = cross(centre(id), p);
    sum.momentum += p;
    sum.angular += spin + orbit;
    sum.kinetic += dot(p, v.linear) / 2 + dot(spin, v.angular) / 2;
    sum.scale += length(p);
    sum.angular_scale += length(spin) + length(orbit);
  }
  return sum;
}

Pose Conformance::relative(const JointDesc& joint) const {
  const Pose a = joint.a.valid() ? pose(joint.a) * joint.frame_a : joint.frame_a;
  return a.inverse() * (pose(joint.b) * joint.frame_b);
}

std::uint64_t Conformance::hash() const {
  HashArchive ar;
  engine_->archive(ar);
  return ar.value();
}

}  // namespace volvox::physics::conformance
