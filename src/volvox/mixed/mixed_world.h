// Mixed fidelity: one world in which some catoms are on the lattice and the others in dynamics (bodies in a physics
// engine). Catoms change from one to the other while the world runs. All are catoms of one CatomWorld and keep their
// numbers, programs, states and messages. Two things change: what moves a catom, and what decides which catoms it
// touches (its cell, or its body). A tick has the four steps of figure 3 of seed 001:
//   A  find where the bodies are and what they touch: features that face each other within reach are linked
//   B  run the programs, deliver messages, and move catoms on the lattice (CatomWorld::tick)
//   C  choose the catoms that change to dynamics, and the lattice catoms that a body may touch in this tick: only
//      these are in the engine, as walls that cannot move
//   D  advance the engine; break overloaded bonds; bodies that lie still in a cell change back to the lattice
//
// A catom changes to dynamics for one of five reasons: the caller asks for it (`release`), something fast is about to
// hit it, its bond to a catom in dynamics bears a large part of its strength, something pushes it hard, or no chain of
// lattice catoms connects it with the ground any more. It begins at rest in its cell, and bonds, which break under
// load, hold it to its neighbours. The lattice itself is rigid: bonds between two of its catoms are not computed.
//
// A change loses little. A lattice motion that was under way ends where it began. A catom that changes back loses the
// rest of its velocity, its distance from the centre of its cell, and its rotation (ports are directions of the
// lattice). `Changes` counts these losses.
//
// SI units. One thread calls it, and it uses the threads of the pool inside. The same seed gives the same state hash at
// any number of threads, and after a snapshot.
#pragma once

#include <span>

#include "volvox/lattice/catom_world.h"
#include "volvox/mixed/bodies.h"
#include "volvox/mixed/rings.h"

namespace volvox::mixed {

// The bond between two neighbours in dynamics breaks when its load reaches one of these.
struct BondStrength {
  double axial = 1;       // N, pulled apart
  double shear = 1;       // N
  double bending = 0.01;  // N m
  double torsion = 0.01;  // N m
};

struct MixedOptions {
  std::string engine = physics::default_engine;
  double max_substep = 1.0 / 240;                 // s
  std::optional<physics::Precision> precision{};  // none: as the engine likes
  Vec3 gravity{0, 0, -9.81};
  CatomBody body{};
  BondStrength bond{};
  // The height of the ground, usually half a pitch below the lowest layer. None: no catom changes to dynamics because
  // it has no support.
  std::optional<double> ground{};
  // When catoms change to dynamics.
  double hit_speed = 0.5;  // m/s, of a body that is about to touch it
  double give = 0.5;       // load of a bond / its strength, above which the catom at the other end changes, too
  double push = 1;         // N, of contacts
  // When they change back to the lattice.
  bool goes_back = true;
  double rest_speed = 0.05;  // pitches a second, of its centre and of its surface
  double rest_time = 0.5;    // s
  double place = 0.1;        // pitches from the centre of its cell
  // On hex: catoms in dynamics have magnets in place of bonds, and roll by them when their programs ask for it.
  std::optional<RingOptions> rings{};
};

// How often catoms have changed since the start, and what was lost.
struct Changes {
  std::uint64_t asked = 0, hit = 0, loaded = 0, pushed = 0, fell = 0;  // to dynamics, by reason
  std::uint64_t back = 0;
  std::uint64_t bonds_broken = 0;
  std::uint64_t rolls = 0, rolls_refused = 0, steps_missed = 0;  // by magnets; a sixth of a turn is two steps
  std::uint64_t most = 0;                                        // in dynamics at once
  double farthest = 0;     // m: largest distance from the centre of its cell at a change back
  double energy_lost = 0;  // J, kinetic, lost by changes back
  std::uint64_t over() const { return asked + hit + loaded + pushed + fell; }
};
VOLVOX_TYPE(Changes, asked, hit, loaded, pushed, fell, back, bonds_broken, rolls, rolls_refused, steps_missed, most,
            farthest, energy_lost)

class MixedWorld {
 public:
  // `catoms` must outlive the MixedWorld. Between ticks the caller may add, remove and read catoms; only tick()
  // advances them.
  MixedWorld(lattice::CatomWorld& catoms, const MixedOptions& options,
             physics::EngineRegistry engines = physics::built_in_engines());

  lattice::CatomWorld& catoms() { return catoms_; }
  const lattice::CatomWorld& catoms() const { return catoms_; }
  const MixedOptions& options() const { return options_; }

  // Makes the engine and starts the programs.
  Result<void> start();
  // Changes engine or threads between two ticks. The result does not depend on the threads. Another engine takes over
  // bodies, velocities and bonds, but not the first engine's internal state (docs/decisions/0070).
  Result<void> use(const std::string& engine, ThreadPool* threads, double max_substep,
                   std::optional<physics::Precision> precision = {});

  // In the next tick this catom of the lattice changes to dynamics, with this velocity.
  Result<void> release(lattice::CatomId catom, const Twist& velocity = {});
  Result<void> tick(Time begin, Time end);

  bool in_dynamics(lattice::CatomId catom) const { return catoms_.ensemble().is_loose(catom); }
  // The catom must exist; it may be on the lattice or in dynamics.
  Pose pose(lattice::CatomId catom) const;
  Twist velocity(lattice::CatomId catom) const;
  std::size_t count_in_dynamics() const { return loose_.size(); }
  std::size_t walls() const { return walls_.size(); }
  std::size_t bonds() const { return bonds_.size(); }
  const physics::EngineInfo& engine_info() const { return bodies_.engine().info(); }  // after start()
  const Changes& changes() const { return changes_; }
  double kinetic_energy() const;  // J, of catoms in dynamics

  void archive(Archive& ar);
  std::uint64_t hash();

 private:
  using Who = std::vector<std::uint32_t>;  // catoms, ascending
  struct Loose {                           // in dynamics
    std::uint32_t catom = 0;
    physics::BodyId body;
    double still = 0;  // s
    template <class A>
    void archive(A& ar) {
      ar("catom", catom), ar("body", body), ar("still", still);
    }
  };
  struct Wall {
    std::uint32_t catom = 0;
    lattice::PackedCell cell = 0;
    physics::BodyId body;
    template <class A>
    void archive(A& ar) {
      ar("catom", catom), ar("cell", cell), ar("body", body);
    }
  };
  // Between two catoms, at least one of which is in dynamics. An invalid joint: the engine has none yet.
  struct Bond {
    std::uint32_t a = 0, b = 0;  // a < b
    physics::JointId joint;
    template <class A>
    void archive(A& ar) {
      ar("a", a), ar("b", b), ar("joint", joint);
    }
    bool of(std::uint32_t catom) const { return a == catom || b == catom; }
    friend bool operator<(const Bond& x, const Bond& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); }
  };
  struct Asked {
    std::uint32_t catom = 0;
    Twist velocity;
    template <class A>
    void archive(A& ar) {
      ar("catom", catom), ar("velocity", velocity);
    }
  };
  struct Home {
    std::uint32_t catom = 0;
    lattice::Cell cell;
  };

  Bodies::MakeEngine maker() const;
  Result<void> make_engine();
  void archive_engine(Archive& ar);
  // Step C.
  void forget_what_moved();
  void choose_who_goes(double dt, Who& who);
  void add_hit(double dt, Who& who) const;
  void add_loaded(Who& who) const;
  void add_pushed(Who& who) const;
  void go_over(Who who);
  void move_over(const Who& who, Who& beside);  // beside: the lattice catoms that were their neighbours
  Who unsupported(const Who& seeds);
  void update_walls(double dt);
  // Step D.
  void break_bonds();
  void note_rest(double dt);
  bool lies_in(const Loose& one, lattice::Cell& cell) const;
  void go_back();
  void settle(const std::vector<Home>& homes);
  // Step A.
  void look_around(bool tell = true);
  void find_touches(std::vector<lattice::Touch>& touches) const;

  // Magnets: rolling.cpp.
  StepStatus advance(Time begin, Time end);
  void begin_rolls();
  bool may_roll(std::uint32_t catom, std::uint32_t pivot) const;
  void set_magnets();
  void end_rolls(double dt);

  const Loose* find_loose(std::uint32_t catom) const;
  physics::BodyId body_of(std::uint32_t catom);  // makes a wall if there is none
  void remove_wall(std::uint32_t catom);
  void cut(Bond& bond);                   // removes its joint and keeps the bond
  void connect();                         // makes the joints of bonds that have none
  double use_of(const Bond& bond) const;  // its largest load / strength
  bool stands(const lattice::Cell& cell) const;
  // visit(catom or nobody, cell, its place) for the cells within 1.3 pitches or less.
  template <class Visit>
  void each_near(const Vec3& place, double reach, const Visit& visit) const;
  // visit(place) along the way of a body in a tick.
  template <class Visit>
  void along(const Loose& one, double dt, const Visit& visit) const;
  int port_towards(const Vec3& direction) const;  // no_port: none is near it
  void load(Archive& ar);
  bool sound() const;

  MixedOptions options_;
  physics::EngineRegistry engines_;
  ThreadPool* threads_ = nullptr;
  lattice::CatomWorld& catoms_;
  Bodies bodies_;
  std::vector<Vec3> directions_;          // by port
  std::vector<lattice::Cell> near_[2];    // by parity: cells around one, nearest first
  std::vector<double> near_distance_[2];  // of these, m
  std::vector<Loose> loose_;              // by catom
  std::vector<Wall> walls_;               // by catom
  std::vector<Bond> bonds_;               // by catoms
  std::vector<Rolling> rolling_;          // by catom
  std::optional<Rings> rings_;
  std::vector<Asked> asked_;  // by catom
  Changes changes_;

  // Caches: they follow from the state.
  std::vector<lattice::Touch> touches_;
  std::vector<Pose> looked_at_;  // poses by loose catom when touches were found
  bool changed_ = true;          // places have changed since then
  bool moved_ = true;            // a body has moved in the last tick
  std::vector<std::uint32_t> visited_;
  std::uint32_t visit_ = 0;
};

template <class Visit>
void MixedWorld::each_near(const Vec3& place, double reach, const Visit& visit) const {
  const lattice::Ensemble& ensemble = catoms_.ensemble();
  const lattice::Lattice& grid = ensemble.lattice();
  const lattice::Cell own = grid.cell_at(place);
  const int parity = grid.parity(own);
  const double slack = length(grid.position(own) - place);
  for (std::size_t i = 0; i < near_[parity].size(); ++i) {
    if (near_distance_[parity][i] > reach + slack) return;
    const lattice::Cell& o = near_[parity][i];
    const lattice::Cell cell{own.x + o.x, own.y + o.y, own.z + o.z};
    const std::uint32_t catom = ensemble.at(cell);
    const Vec3 at = grid.position(cell);
    if (length_squared(at - place) <= reach * reach) visit(catom, cell, at);
  }
}

template <class Visit>
void MixedWorld::along(const Loose& one, double dt, const Visit& visit) const {
  const Vec3 from = bodies_.pose(one.body).position, way = bodies_.velocity(one.body).linear * dt;
  const double half = catoms_.ensemble().lattice().pitch() / 2;
  const int steps = std::min(1000, truncated(length(way) / half));
  visit(from);
  for (int i = 1; i <= steps; ++i) visit(from + way * (real(i) / steps));
}

}  // namespace volvox::mixed
