#include "volvox/mixed/bodies.h"

#include <fmt/format.h>

#include <algorithm>

namespace volvox::mixed {
namespace {

constexpr double slack = 1e-3;  // of the pitch: catoms that lie side by side touch, but do not overlap

struct Body {
  model::Shape shape;
  Vec3 moments;  // of 1 kg
};

Body body_on(const lattice::Lattice& lattice) {
  const double side = lattice.pitch() * (1 - slack), r = side / 2;
  switch (lattice.kind()) {
    case lattice::Kind::bcc:
    case lattice::Kind::fcc: {
      const double moment = 0.4 * r * r;
      return {model::Sphere{r}, {moment, moment, moment}};
    }
    case lattice::Kind::hex: {
      const double across = (3 * r * r + r * r) / 12;
      return {model::Cylinder{r, r}, {across, across, r * r / 2}};
    }
    case lattice::Kind::square:
    case lattice::Kind::cubic: break;
  }
  const double moment = side * side / 6;
  return {model::Box{{side, side, side}}, {moment, moment, moment}};
}

std::shared_ptr<const model::Geometry> geometry_of(const model::Shape& shape, const model::Material& material) {
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"catom", shape, {}, material});
  return geometry;
}

}  // namespace

Bodies::Bodies(const lattice::Lattice& lattice, const CatomBody& catom, std::optional<double> ground)
    : catom_(catom), ground_(ground) {
  const Body body = body_on(lattice);
  shape_ = geometry_of(body.shape, {catom.friction, catom.restitution});
  plane_ = geometry_of(model::Plane{}, {catom.ground_friction, 0});
  moments_ = body.moments * catom.mass;
}

physics::BodyDesc Bodies::desc_of(Kind kind) const {
  physics::BodyDesc desc;
  if (kind == Kind::ground) {
    desc.motion = physics::Motion::fixed;
    desc.geometry = plane_;
    desc.pose.position.z = ground_.value_or(0);
    return desc;
  }
  desc.mass = catom_.mass;
  desc.moments = moments_;
  if (kind == Kind::none) return desc;  // it is removed at once
  desc.motion = kind == Kind::wall ? physics::Motion::kinematic : physics::Motion::dynamic;
  desc.geometry = shape_;
  return desc;
}

physics::BodyId Bodies::make(Kind kind, const Vec3& at, const Twist& velocity) {
  physics::BodyDesc desc = desc_of(kind);
  if (kind != Kind::ground) desc.pose.position = at;
  desc.velocity = velocity;
  const auto made = engine_->add_body(desc);
  VOLVOX_CHECK(made.ok(), "an engine that has made one catom makes the next");
  if (slots_.size() <= made->index) slots_.resize(made->index + 1);
  slots_[made->index] = {made->generation, kind};
  return *made;
}

// In a row far below, so that no two of them are ever a pair of the broad phase.
Vec3 Bodies::parked(std::size_t index) { return {0, 0, -1e4 - real(index)}; }

Result<void> Bodies::use(const MakeEngine& make) {
  make_engine_ = make;
  if (engine_ == nullptr) {
    auto engine = make_engine_();
    if (!engine.ok()) return engine.error();
    engine_ = std::move(*engine);
    for (const Kind kind : {Kind::ground, Kind::catom})  // whether it can make them at all
      if (auto tried = engine_->add_body(desc_of(kind)); !tried.ok()) return tried.error();
    engine = make_engine_();
    if (!engine.ok()) return engine.error();
    engine_ = std::move(*engine);
    if (ground_) (void)this->make(Kind::ground, {}, {});
    return {};
  }
  SaveArchive state;
  archive(state);
  LoadArchive again(state.bytes());
  archive(again);
  if (!again.ok()) return Error("the engine cannot go on: " + again.failure(), "use the engine 'native'");
  return {};
}

Result<void> Bodies::hand_over(const MakeEngine& make) {
  auto next = remade(make, slots_);
  if (!next.ok()) return next.error();
  SaveArchive state;
  const bool given = engine_->archive_common(state);
  LoadArchive taken(state.bytes());
  if (!given || !(*next)->archive_common(taken) || !taken.ok())
    return Error(fmt::format("the engine '{}' cannot go on from the state of '{}'{}", (*next)->info().name,
                             engine_->info().name, taken.ok() ? "" : ": " + taken.failure()),
                 "go on with the same engine, or use one that is built in (volvox list engines)");
  engine_ = std::move(*next);
  make_engine_ = make;
  return {};
}

physics::BodyId Bodies::add(const Vec3& at, const Twist& velocity) { return make(Kind::catom, at, velocity); }

void Bodies::remove(physics::BodyId catom) {
  VOLVOX_ASSERT(is_catom(catom));
  engine_->remove_body(catom);
  slots_[catom.index] = {catom.generation + 1, Kind::none};
}

physics::BodyId Bodies::add_wall(const Vec3& at) {
  if (parked_.empty()) {
    // Several at a time, because a new body wakes all others.
    for (int i = 0; i < 32; ++i) {
      const physics::BodyId wall = make(Kind::wall, parked(slots_.size()), {});
      engine_->set_body(wall, {parked(wall.index), {}}, {});
      parked_.push_back(wall.index);
    }
    std::sort(parked_.begin(), parked_.end(), std::greater<>());
  }
  const std::uint32_t index = parked_.back();
  parked_.pop_back();
  const physics::BodyId wall{index, slots_[index].generation};
  engine_->set_body(wall, {at, {}}, {});
  return wall;
}

void Bodies::remove_wall(physics::BodyId wall) {
  VOLVOX_ASSERT(is_wall(wall));
  engine_->set_body(wall, {parked(wall.index), {}}, {});
  parked_.insert(std::lower_bound(parked_.begin(), parked_.end(), wall.index, std::greater<>()), wall.index);
}

double Bodies::kinetic_energy(physics::BodyId catom) const {
  const Twist& v = velocity(catom);
  const Vec3 spin = pose(catom).rotation.conjugate() * v.angular;
  return 0.5 * (catom_.mass * length_squared(v.linear) + dot(multiply(moments_, spin), spin));
}

void Bodies::slow_down(physics::BodyId catom) {
  const Twist& v = velocity(catom);
  if (catom_.drag == 0 || v == Twist{}) return;
  const Quat& turn = pose(catom).rotation;
  engine_->forces()[catom.index] +=
      {v.linear * (-catom_.drag * catom_.mass), turn * multiply(moments_, turn.conjugate() * v.angular) * -catom_.drag};
}

bool Bodies::is_parked(physics::BodyId wall) const {
  return std::binary_search(parked_.begin(), parked_.end(), wall.index, std::greater<>());
}

bool Bodies::sound(const std::vector<Slot>& slots) const {
  std::uint64_t generations = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    generations += slot.generation;
    const bool is_ground = slot.kind == Kind::ground;
    if (slot.kind > Kind::wall || is_ground != (ground_.has_value() && i == 0)) return false;
    if (slot.kind == Kind::none && slot.generation == 0) return false;  // it has existed
  }
  return generations <= 100'000'000 && (!ground_ || !slots.empty());
}

// Engines take the lowest free index and count how often it was used. Here each index is used as often as before, so
// that ids are equal.
Result<std::unique_ptr<physics::Engine>> Bodies::remade(const MakeEngine& make, const std::vector<Slot>& slots) const {
  auto engine = make();
  if (!engine.ok()) return engine.error();
  std::vector<physics::BodyId> gone;
  for (const Slot& slot : slots) {
    const std::uint32_t used = slot.kind == Kind::none ? slot.generation - 1 : slot.generation;
    for (std::uint32_t i = 0; i < used; ++i) {
      const auto before = (*engine)->add_body(desc_of(Kind::none));
      if (!before.ok()) return before.error();
      (*engine)->remove_body(*before);
    }
    const auto made = (*engine)->add_body(desc_of(slot.kind));
    if (!made.ok()) return made.error();
    if (slot.kind == Kind::none) gone.push_back(*made);
  }
  for (const physics::BodyId id : gone) (*engine)->remove_body(id);
  return engine;
}

void Bodies::archive(Archive& ar) {
  ar.section("mixed", "bodies");
  std::vector<Slot> slots = slots_;
  std::vector<std::uint32_t> parked = parked_;
  ar("slots", slots);
  ar("parked", parked);
  if (!ar.loading()) {
    engine_->archive(ar);
    return;
  }
  if (!ar.ok()) return;
  const bool ordered = std::adjacent_find(parked.begin(), parked.end(), std::less_equal<>()) == parked.end();
  if (!ordered || !sound(slots) || std::any_of(parked.begin(), parked.end(), [&](std::uint32_t i) {
        return i >= slots.size() || slots[i].kind != Kind::wall;
      }))
    return ar.fail("the snapshot is damaged: its bodies are impossible");
  auto engine = remade(make_engine_, slots);
  if (!engine.ok()) return ar.fail(engine.error().text());
  (*engine)->archive(ar);
  if (!ar.ok()) return;
  engine_ = std::move(*engine);
  slots_ = std::move(slots);
  parked_ = std::move(parked);
}

}  // namespace volvox::mixed
