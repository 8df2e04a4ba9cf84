#include "volvox/mixed/mixed_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "volvox/base/cell_grid.h"

namespace volvox::mixed {

using lattice::CatomId;
using lattice::Cell;
using lattice::Touch;

namespace {

// In pitches. Features face each other if they are so near, and the line between the catoms is within 25 degrees of
// both.
constexpr double touch_reach = 1.1, touch_cosine = 0.9;
constexpr double blocked_reach = 0.95;  // a cell is not free for others if a body is so near its centre

std::vector<Vec3> directions_of(const lattice::Lattice& lattice) {
  std::vector<Vec3> directions;
  for (int port = 0; port < lattice.ports(); ++port)
    directions.push_back(normalized(lattice.position(lattice.neighbor({}, port)) - lattice.position({})));
  return directions;
}

}  // namespace

MixedWorld::MixedWorld(lattice::CatomWorld& catoms, const MixedOptions& options, physics::EngineRegistry engines)
    : options_(options),
      engines_(std::move(engines)),
      catoms_(catoms),
      bodies_(catoms.ensemble().lattice(), options.body, options.ground),
      directions_(directions_of(catoms.ensemble().lattice())) {
  const lattice::Lattice& lattice = catoms.ensemble().lattice();
  if (options.rings) rings_.emplace(*options.rings);
  // All cells that one within 1.3 pitches of a place can be from the cell that is nearest to it.
  constexpr double reach = 1.3 + 0.87;
  for (int parity = 0; parity < 2; ++parity) {
    const Cell own{0, lattice.kind() == lattice::Kind::hex ? parity : 0, lattice.flat() ? 0 : parity};
    std::vector<std::pair<double, Cell>> found;
    for (int z = lattice.flat() ? 0 : -4; z <= (lattice.flat() ? 0 : 4); ++z)
      for (int y = -3; y <= 3; ++y)
        for (int x = -3; x <= 3; ++x) {
          const Cell cell{own.x + x, own.y + y, own.z + z};
          const double far = length(lattice.position(cell) - lattice.position(own));
          if (far <= reach * lattice.pitch()) found.emplace_back(far, Cell{x, y, z});
        }
    std::sort(found.begin(), found.end());
    for (const auto& [far, offset] : found) near_[parity].push_back(offset), near_distance_[parity].push_back(far);
  }
}

Result<void> MixedWorld::use(const std::string& engine, ThreadPool* threads, double max_substep,
                             std::optional<physics::Precision> precision) {
  const std::string before = options_.engine;
  options_.engine = std::string(engine);  // which may be `before` itself
  options_.max_substep = max_substep, options_.precision = precision;
  threads_ = threads;
  catoms_.use_threads(threads);
  if (engine == before) return make_engine();
  Result<void> taken;
  if (!loose_.empty()) {
    taken = bodies_.hand_over(maker());
  } else if (const auto possible = maker()(); possible.ok()) {
    bodies_.forget(), walls_.clear();
    taken = make_engine();
  } else {
    taken = possible.error();
  }
  if (!taken.ok()) options_.engine = before;
  return taken;
}

Bodies::MakeEngine MixedWorld::maker() const {
  return [this]() -> Result<std::unique_ptr<physics::Engine>> {
    auto made = engines_.make(options_.engine, {options_.gravity, options_.max_substep, threads_, options_.precision});
    if (made.ok() && !(*made)->info().moves)
      return Error(fmt::format("the engine '{}' moves nothing", options_.engine), "use native, bullet, ode or mujoco");
    return made;
  };
}

Result<void> MixedWorld::make_engine() { return bodies_.use(maker()); }

Result<void> MixedWorld::start() {
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  const BondStrength& bond = options_.bond;
  if (!positive(options_.body.mass))
    return Error(fmt::format("catoms cannot have a mass of {} kg", options_.body.mass), "give more than 0");
  if (!(options_.body.drag >= 0 && options_.body.drag <= 10))
    return Error(fmt::format("a drag of {} a second is not possible", options_.body.drag), "give 0 to 10");
  if (!positive(bond.axial) || !positive(bond.shear) || !positive(bond.bending) || !positive(bond.torsion))
    return Error("a bond without strength holds nothing", "give all four strengths, each more than 0");
  if (!positive(options_.hit_speed) || !positive(options_.give) || !positive(options_.push))
    return Error("catoms at rest would go over to dynamics", "give hit_speed, give and push more than 0");
  if (!positive(options_.place) || options_.place > 0.4)
    return Error(fmt::format("a catom cannot be taken for one in a cell {} pitches away", options_.place),
                 "give more than 0 and at most 0.4");
  if (rings_) {
    const RingOptions& ring = *options_.rings;
    const double pitch = catoms_.ensemble().lattice().pitch();
    if (catoms_.ensemble().lattice().kind() != lattice::Kind::hex ||
        catoms_.motions().model() != lattice::MotionModel::roll)
      return Error("catoms roll by magnets on hexagonal lattices", "use lattice hex with motion roll");
    if (ring.features < 6 || ring.features % 6 != 0 || !(ring.radius > 0 && ring.radius < pitch / 2) ||
        !positive(ring.strength) || !positive(ring.step_time) || !(ring.roll > 0 && ring.roll <= 1) ||
        !positive(ring.range))
      return Error("the ring of magnets is impossible",
                   "give a multiple of six features within the catom, and positive strength, range and times");
  }
  if (auto made = make_engine(); !made.ok()) return made;
  return catoms_.start();
}

Result<void> MixedWorld::release(CatomId catom, const Twist& velocity) {
  if (in_dynamics(catom))
    return Error(fmt::format("the catom {} is in dynamics already", std::uint32_t{catom}), "name one of the lattice");
  if (!catoms_.ensemble().has(catom))
    return Error(fmt::format("there is no catom {}", std::uint32_t{catom}), "name one that is there");
  if (!finite(velocity)) return Error("a velocity is not a number", "give finite ones");
  const auto place = std::lower_bound(asked_.begin(), asked_.end(), std::uint32_t{catom},
                                      [](const Asked& asked, std::uint32_t id) { return asked.catom < id; });
  if (place != asked_.end() && place->catom == catom) place->velocity = velocity;
  else asked_.insert(place, {catom, velocity});
  return {};
}

Result<void> MixedWorld::tick(Time begin, Time end) {
  const double dt = (end - begin).seconds();
  VOLVOX_ASSERT(dt > 0);
  const std::uint64_t before = catoms_.ensemble().version();
  if (auto done = catoms_.tick(); !done.ok()) return done;  // A is what look_around() found
  // One that moved on the lattice may have come beside a body at rest.
  if (catoms_.ensemble().version() != before) changed_ = true;
  forget_what_moved();
  Who who;
  choose_who_goes(dt, who);
  go_over(std::move(who));
  update_walls(dt);
  if (loose_.empty()) {
    look_around();
    return {};
  }
  if (rings_) begin_rolls();
  if (StepStatus status = advance(begin, end); !status.ok()) {
    std::string name = "the world";
    for (const Loose& one : loose_)
      if (one.body == status.body) name = fmt::format("the catom {}", one.catom);
    return Error(fmt::format("tick {}: {}: {}", catoms_.ticks(), name, status.text()),
                 "try shorter substeps (--substep), lighter hits or weaker bonds");
  }
  break_bonds();
  if (rings_) end_rolls(dt);
  note_rest(dt);
  if (options_.goes_back) go_back();
  look_around();
  changes_.most = std::max<std::uint64_t>(changes_.most, loose_.size());
  return {};
}

Pose MixedWorld::pose(CatomId catom) const {
  if (const Loose* one = find_loose(catom)) return bodies_.pose(one->body);
  return {catoms_.ensemble().lattice().position(catoms_.ensemble().cell(catom)), {}};
}

Twist MixedWorld::velocity(CatomId catom) const {
  const Loose* one = find_loose(catom);
  return one != nullptr ? bodies_.velocity(one->body) : Twist{};
}

double MixedWorld::kinetic_energy() const {
  double energy = 0;
  for (const Loose& one : loose_) energy += bodies_.kinetic_energy(one.body);
  return energy;
}

const MixedWorld::Loose* MixedWorld::find_loose(std::uint32_t catom) const {
  const auto found = std::lower_bound(loose_.begin(), loose_.end(), catom,
                                      [](const Loose& one, std::uint32_t id) { return one.catom < id; });
  return found != loose_.end() && found->catom == catom ? &*found : nullptr;
}

// Catoms of the lattice whose cell or number has gone are no walls any more, and let go.
void MixedWorld::forget_what_moved() {
  const lattice::Ensemble& ensemble = catoms_.ensemble();
  Who gone;
  for (const Wall& wall : walls_)
    if (!ensemble.has(wall.catom) || lattice::pack(ensemble.cell(wall.catom)) != wall.cell) gone.push_back(wall.catom);
  for (const Loose& one : loose_)
    if (!ensemble.is_loose(one.catom)) gone.push_back(one.catom);
  std::erase_if(asked_, [&](const Asked& asked) { return !ensemble.has(asked.catom); });
  if (gone.empty()) return;
  changed_ = true;
  for (const std::uint32_t catom : gone) {
    for (Bond& bond : bonds_)
      if (bond.of(catom)) cut(bond);
    std::erase_if(bonds_, [&](const Bond& bond) { return bond.of(catom); });
    std::erase_if(rolling_, [&](const Rolling& one) { return one.catom == catom || one.pivot == catom; });
    if (const Loose* one = find_loose(catom)) {
      bodies_.remove(one->body);
      loose_.erase(loose_.begin() + (one - loose_.data()));
    } else {
      remove_wall(catom);
    }
  }
}

// Which catoms of the lattice are in the engine: those that somebody may touch in this tick, and those with bonds.
void MixedWorld::update_walls(double dt) {
  if (!changed_ && !moved_) return;
  const double reach = 1.3 * catoms_.ensemble().lattice().pitch();
  Who needed;
  for (const Loose& one : loose_)
    along(one, dt, [&](const Vec3& place) {
      each_near(place, reach, [&](std::uint32_t catom, const Cell&, const Vec3&) {
        if (catom != lattice::nobody) needed.push_back(catom);
      });
    });
  for (const Bond& bond : bonds_)
    for (const std::uint32_t end : {bond.a, bond.b})
      if (catoms_.ensemble().has(end)) needed.push_back(end);
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  Who unused;
  for (const Wall& wall : walls_)
    if (!std::binary_search(needed.begin(), needed.end(), wall.catom)) unused.push_back(wall.catom);
  for (const std::uint32_t catom : unused) remove_wall(catom);
  for (const std::uint32_t catom : needed) (void)body_of(catom);
}

void MixedWorld::remove_wall(std::uint32_t catom) {
  const auto found = std::lower_bound(walls_.begin(), walls_.end(), catom,
                                      [](const Wall& wall, std::uint32_t id) { return wall.catom < id; });
  if (found == walls_.end() || found->catom != catom) return;
  bodies_.remove_wall(found->body);
  walls_.erase(found);
}

physics::BodyId MixedWorld::body_of(std::uint32_t catom) {
  if (const Loose* one = find_loose(catom)) return one->body;
  const auto place = std::lower_bound(walls_.begin(), walls_.end(), catom,
                                      [](const Wall& wall, std::uint32_t id) { return wall.catom < id; });
  if (place != walls_.end() && place->catom == catom) return place->body;
  const Cell cell = catoms_.ensemble().cell(catom);
  const physics::BodyId body = bodies_.add_wall(catoms_.ensemble().lattice().position(cell));
  walls_.insert(place, {catom, lattice::pack(cell), body});
  return body;
}

void MixedWorld::cut(Bond& bond) {
  if (bond.joint.valid() && bodies_.engine().has(bond.joint)) bodies_.engine().remove_joint(bond.joint);
  bond.joint = {};
}

// As the two lie now, so that a bond never pulls when it is made. The x axis goes from a to b.
void MixedWorld::connect() {
  for (Bond& bond : bonds_) {
    if (bond.joint.valid()) continue;
    physics::JointDesc desc;
    desc.type = physics::JointType::dock;
    desc.a = body_of(bond.a), desc.b = body_of(bond.b);
    const Pose a = bodies_.pose(desc.a), b = bodies_.pose(desc.b);
    const Pose middle{(a.position + b.position) / 2, Quat::between({1, 0, 0}, normalized(b.position - a.position))};
    desc.frame_a = a.inverse() * middle, desc.frame_b = b.inverse() * middle;
    bond.joint = bodies_.engine().add_joint(desc);
  }
}

double MixedWorld::use_of(const Bond& bond) const {
  const Wrench& load = bodies_.engine().loads()[bond.joint.index];  // on b
  const BondStrength& most = options_.bond;
  return std::max({-load.force.x / most.axial, length(load.force.y, load.force.z) / most.shear,
                   length(load.torque.y, load.torque.z) / most.bending, std::fabs(load.torque.x) / most.torsion});
}

void MixedWorld::break_bonds() {
  const std::size_t before = bonds_.size();
  for (Bond& bond : bonds_)
    if (use_of(bond) > 1) cut(bond);
  std::erase_if(bonds_, [](const Bond& bond) { return !bond.joint.valid(); });
  changes_.bonds_broken += before - bonds_.size();
  changed_ = changed_ || bonds_.size() != before;
}

int MixedWorld::port_towards(const Vec3& direction) const {
  if (catoms_.ensemble().lattice().kind() == lattice::Kind::hex) {  // six sixths: one is always near
    int best = 0;
    for (int port = 1; port < std::ssize(directions_); ++port)
      if (dot(directions_[port], direction) > dot(directions_[best], direction)) best = port;
    return best;
  }
  for (int port = 0; port < std::ssize(directions_); ++port)
    if (dot(directions_[port], direction) >= touch_cosine) return port;
  return lattice::no_port;
}

// Nearest pairs first; a feature links to one other.
void MixedWorld::find_touches(std::vector<Touch>& touches) const {
  const lattice::Ensemble& ensemble = catoms_.ensemble();
  const double pitch = ensemble.lattice().pitch(), reach = touch_reach * pitch;
  struct Pair {
    double squared = 0;
    Touch touch;
  };
  std::vector<Pair> pairs;
  std::vector<Vec3> places;
  for (const Loose& one : loose_) places.push_back(bodies_.pose(one.body).position);
  // On hex a catom is a ring of features, and its ports are directions of the world in dynamics, too.
  const bool ring = ensemble.lattice().kind() == lattice::Kind::hex;
  const auto port_of = [&](const Loose& one, const Vec3& to) {
    const Pose& pose = bodies_.pose(one.body);
    const Vec3 way = normalized(to - pose.position);
    return port_towards(ring ? way : pose.rotation.conjugate() * way);
  };
  const auto add = [&](std::uint32_t a, int port_a, std::uint32_t b, int port_b, double squared) {
    if (port_a == lattice::no_port || port_b == lattice::no_port) return;
    Touch touch{a, b, narrow<std::uint8_t>(port_a), narrow<std::uint8_t>(port_b)};
    if (a > b) std::swap(touch.a, touch.b), std::swap(touch.port_a, touch.port_b);
    pairs.push_back({squared, touch});
  };
  CellGrid grid(places, reach);
  grid.near_pairs(reach, [&](std::uint32_t i, std::uint32_t k, double squared) {
    add(loose_[i].catom, port_of(loose_[i], places[k]), loose_[k].catom, port_of(loose_[k], places[i]), squared);
  });
  for (std::size_t i = 0; i < loose_.size(); ++i)
    each_near(places[i], reach, [&](std::uint32_t catom, const Cell&, const Vec3& at) {
      if (catom == lattice::nobody) return;
      const int port = port_towards(normalized(places[i] - at));
      if (port == lattice::no_port || ensemble.around(catom).at(port) != lattice::nobody) return;
      add(loose_[i].catom, port_of(loose_[i], at), catom, port, length_squared(at - places[i]));
    });
  std::sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
    return std::tuple(x.squared, x.touch.a, x.touch.b) < std::tuple(y.squared, y.touch.a, y.touch.b);
  });
  std::unordered_map<std::uint32_t, std::uint32_t> taken;  // only looked up: its order does not matter
  for (const Pair& pair : pairs) {
    const Touch& t = pair.touch;
    std::uint32_t &at_a = taken[t.a], &at_b = taken[t.b];
    if ((at_a >> t.port_a & 1) != 0 || (at_b >> t.port_b & 1) != 0) continue;
    at_a |= 1u << t.port_a, at_b |= 1u << t.port_b;
    touches.push_back(t);
  }
}

void MixedWorld::look_around(bool tell) {
  const lattice::Ensemble& ensemble = catoms_.ensemble();
  std::vector<Pose> poses;
  moved_ = false;
  for (const Loose& one : loose_) {
    poses.push_back(bodies_.pose(one.body));
    moved_ = moved_ || bodies_.velocity(one.body) != Twist{};
  }
  moved_ = moved_ || poses != looked_at_;
  if (!moved_ && !changed_) return;
  changed_ = false;
  std::vector<lattice::LooseCatom> loose;
  std::vector<lattice::PackedCell> blocked;
  const double reach = blocked_reach * ensemble.lattice().pitch();
  for (std::size_t i = 0; i < loose_.size(); ++i) {
    const bool rolls =
        std::any_of(rolling_.begin(), rolling_.end(), [&](const Rolling& one) { return one.catom == loose_[i].catom; });
    loose.push_back({loose_[i].catom, poses[i].position, rolls, rings_.has_value()});
    each_near(poses[i].position, reach, [&](std::uint32_t catom, const Cell& cell, const Vec3&) {
      if (catom == lattice::nobody) blocked.push_back(lattice::pack(cell));
    });
  }
  std::sort(blocked.begin(), blocked.end());
  blocked.erase(std::unique(blocked.begin(), blocked.end()), blocked.end());
  touches_.clear();
  find_touches(touches_);
  catoms_.place_loose(std::move(loose), touches_, std::move(blocked), tell);
  looked_at_ = std::move(poses);
}

void MixedWorld::archive(Archive& ar) {
  catoms_.archive(ar);
  ar.section("mixed", "catoms in dynamics");
  ar("loose", loose_);
  ar("walls", walls_);
  ar("bonds", bonds_);
  ar("asked", asked_);
  ar("rolling", rolling_);
  ar("changes", changes_);
  archive_engine(ar);
  bodies_.archive(ar);
  if (!ar.loading()) return;
  if (ar.ok() && !sound()) ar.fail("the snapshot is damaged: its catoms in dynamics do not fit together");
  if (!ar.ok()) loose_.clear(), walls_.clear(), bonds_.clear(), asked_.clear(), rolling_.clear();
  looked_at_.clear();
  changed_ = true;
  look_around(false);
}

// A snapshot is read by the engine that wrote it, in its precision; use() hands it over to another one.
void MixedWorld::archive_engine(Archive& ar) {
  if (ar.hashing()) return;
  std::string engine = options_.engine;
  std::string precision(physics::name(bodies_.engine().info().precision));
  ar("engine", engine), ar("precision", precision);
  if (!ar.loading() || !ar.ok()) return;
  const auto parsed = physics::parse_precision(precision);
  if (!parsed.ok()) return ar.fail("the snapshot is damaged: " + parsed.error().text());
  const bool same = physics::name(bodies_.engine().info().precision) == precision;
  if (engine == options_.engine && same) return;
  options_.engine = engine, options_.precision = *parsed;
}

// Before anything is used as an index: the file may be damaged.
bool MixedWorld::sound() const {
  const lattice::Ensemble& ensemble = catoms_.ensemble();
  const auto ascending = [](const auto& list) {
    return std::adjacent_find(list.begin(), list.end(),
                              [](const auto& a, const auto& b) { return a.catom >= b.catom; }) == list.end();
  };
  if (!ascending(loose_) || !ascending(walls_) || !ascending(asked_) || loose_.size() != ensemble.loose()) return false;
  std::vector<std::uint32_t> bodies, joints;
  for (const Loose& one : loose_) {
    if (!ensemble.is_loose(one.catom) || !bodies_.is_catom(one.body) || !std::isfinite(one.still)) return false;
    bodies.push_back(one.body.index);
  }
  for (const Wall& wall : walls_) {
    if (!ensemble.has(wall.catom) || lattice::pack(ensemble.cell(wall.catom)) != wall.cell ||
        !bodies_.is_wall(wall.body) || bodies_.is_parked(wall.body))
      return false;
    bodies.push_back(wall.body.index);
  }
  if (!ascending(rolling_) || (!rings_ && !rolling_.empty())) return false;
  for (const Rolling& one : rolling_)
    if (find_loose(one.catom) == nullptr || find_loose(one.pivot) == nullptr || one.catom == one.pivot ||
        (one.turn != 1 && one.turn != -1) || !(one.time >= 0 && one.time < 1e6) || one.own < 0 || one.own > 1000 ||
        one.of_pivot < 0 || one.of_pivot > 1000)
      return false;
  for (const Asked& asked : asked_)
    if (!ensemble.there(asked.catom) || !finite(asked.velocity)) return false;
  for (const Bond& bond : bonds_) {
    const bool known = (find_loose(bond.a) != nullptr || ensemble.has(bond.a)) &&
                       (find_loose(bond.b) != nullptr || ensemble.has(bond.b));
    if (bond.a >= bond.b || !known || !bodies_.engine().has(bond.joint)) return false;
    joints.push_back(bond.joint.index);
  }
  const auto unique = [](std::vector<std::uint32_t>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
  };
  return std::adjacent_find(bonds_.begin(), bonds_.end(), [](const Bond& x, const Bond& y) { return !(x < y); }) ==
             bonds_.end() &&
         unique(bodies) && unique(joints);
}

std::uint64_t MixedWorld::hash() {
  HashArchive ar;
  archive(ar);
  return ar.value();
}

}  // namespace volvox::mixed
