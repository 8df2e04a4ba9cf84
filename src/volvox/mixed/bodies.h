// The bodies of catoms in a physics engine: those that it moves, those of the lattice that somebody may touch (walls),
// and the ground. Bodies come and go while it runs; a snapshot knows which there were, and loading makes them anew.
// SI units, world frame. Owns the engine; one thread calls it, and the same calls give the same bits.
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

  // A new, empty engine; bodies that were there are made in it, too, and go on as they were.
  Result<void> use(const MakeEngine& make);
  // An engine of another kind: what was there goes on in it as it is.
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
  // Walls that nobody needs, highest index first. A wall that comes wakes everybody, one that is moved only those that
  // it touches: so they are parked.
  std::vector<std::uint32_t> parked_;
};

}  // namespace volvox::mixed
