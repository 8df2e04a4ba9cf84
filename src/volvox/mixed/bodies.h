// The bodies in the physics engine of a MixedWorld: catoms that the engine moves, walls (lattice catoms that a body may
// touch), and the ground. Bodies are made and removed during a run; a snapshot lists them, and loading makes them
// again. SI units, world frame. Owns the engine; one thread calls it, and the same calls give the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/lattice/lattice.h"
#include "volvox/physics/engine.h"

namespace volvox::mixed {

// What a catom is in physics. Its shape follows from its lattice: balls on bcc and fcc, upright cylinders half as
// high as wide on hex, cubes on square and cubic.
struct CatomBody {
  double mass = 0.001;  // kg
  double friction = 0.5;
  double restitution = 0;
  double ground_friction = 0.5;  // of the ground; a pair takes the geometric mean
  double drag = 0;               // 1/s: of velocity and spin, by air and by rolling; without it a ball rolls for ever
};

class Bodies {
 public:
  using MakeEngine = std::function<Result<std::unique_ptr<physics::Engine>>()>;

  // `ground`: the height of a plane that carries everything; none: there is none.
  Bodies(const lattice::Lattice& lattice, const CatomBody& catom, std::optional<double> ground);

  // Replaces the engine by a new, empty one, and makes all bodies in it with their state.
  Result<void> use(const MakeEngine& make);
  // Replaces the engine by one of another kind, which takes over the state.
  Result<void> hand_over(const MakeEngine& make);
  void forget() { engine_ = nullptr, slots_.clear(), parked_.clear(); }  // everything, before another kind of engine
  physics::Engine& engine() { return *engine_; }
  const physics::Engine& engine() const { return *engine_; }

  physics::BodyId add(const Vec3& at, const Twist& velocity);  // a catom that moves, as it lies on the lattice
  void remove(physics::BodyId catom);
  physics::BodyId add_wall(const Vec3& at);
  void remove_wall(physics::BodyId wall);
  bool is_catom(physics::BodyId id) const { return is(id, Kind::catom); }
  bool is_wall(physics::BodyId id) const { return is(id, Kind::wall); }

  const Pose& pose(physics::BodyId id) const { return engine_->poses()[id.index]; }
  const Twist& velocity(physics::BodyId id) const { return engine_->velocities()[id.index]; }
  double kinetic_energy(physics::BodyId catom) const;  // J
  void slow_down(physics::BodyId catom);               // by its drag, in the next advance
  bool is_parked(physics::BodyId wall) const;

  void archive(Archive& ar);

 private:
  enum class Kind : std::uint8_t { none, ground, catom, wall };
  struct Slot {  // by index of the body
    std::uint32_t generation = 0;
    Kind kind = Kind::none;
    template <class A>
    void archive(A& ar) {
      ar("generation", generation), ar("kind", kind);
    }
    friend bool operator==(const Slot&, const Slot&) = default;
  };
  bool is(physics::BodyId id, Kind kind) const {
    return id.index < slots_.size() && slots_[id.index] == Slot{id.generation, kind};
  }
  physics::BodyDesc desc_of(Kind kind) const;
  physics::BodyId make(Kind kind, const Vec3& at, const Twist& velocity);
  static Vec3 parked(std::size_t index);
  bool sound(const std::vector<Slot>& slots) const;
  Result<std::unique_ptr<physics::Engine>> remade(const MakeEngine& make, const std::vector<Slot>& slots) const;

  CatomBody catom_;
  std::optional<double> ground_;
  std::shared_ptr<const model::Geometry> shape_, plane_;
  Vec3 moments_;
  MakeEngine make_engine_;
  std::unique_ptr<physics::Engine> engine_;
  std::vector<Slot> slots_;
  // Walls without a catom, highest index first. They are kept far away, because a new body wakes all others, while a
  // moved one wakes only those that it touches.
  std::vector<std::uint32_t> parked_;
};

}  // namespace volvox::mixed
