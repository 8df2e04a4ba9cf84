// Mixed fidelity: one world whose catoms are partly on the lattice and partly in dynamics, and go over from one to the
// other while it runs. All of them are catoms of one CatomWorld, with one number each: programs, states, messages and
// what waits for capacity stay where they are when a catom goes over. What changes is who moves it, and who tells it
// whom it touches: its cell, or a body in a physics engine. A tick is figure 3 of seed 001, whole:
//   A  where bodies are, and whom they touch: features that face each other within reach are linked
//   B  programs and messages of all catoms, and motions on the lattice (CatomWorld::tick)
//   C  who goes over to dynamics, and which catoms of the lattice somebody may touch: only those are in the engine,
//      as walls that do not give way
//   D  the engine; then bonds that bear too much break, and what lies still in a cell again goes back
//
// Over to dynamics goes who is asked to (`release`), whom something fast is about to hit, whose bond to a catom in
// dynamics bears much of its strength, who is pushed hard, and who no longer stands on the ground through others of the
// lattice. It begins at rest in its cell, held by bonds to its neighbours, which break under load. What the lattice
// holds is rigid: a bond between two of its catoms is not computed.
//
// What is not carried over is little: a motion on the lattice that was under way ends where it began; who goes back
// loses the rest of its velocity, the distance to the centre of its cell, and its turn (ports are directions of the
// lattice). `Changes` counts all of it.
//
// SI units. One thread calls it; inside it uses those of the pool. The same seed gives the same state hash at any
// number of threads, and after a snapshot.
#pragma once

#include <span>

#include "volvox/lattice/catom_world.h"
#include "volvox/mixed/bodies.h"
#include "volvox/mixed/rings.h"

namespace volvox::mixed {

// Of the bond between two neighbours in dynamics: it breaks at the first of these.
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
  // The height of the ground, which carries catoms; none: nothing falls for want of support. Usually half a pitch below
  // the lowest layer.
  std::optional<double> ground{};
  // Over to dynamics.
  double hit_speed = 0.5;  // m/s: of one that is about to touch it
  double give = 0.5;       // of the strength of a bond: with more, the catom at its other end goes over, too
  double push = 1;         // N, of contacts
  // Back to the lattice.
  bool goes_back = true;
  double rest_speed = 0.05;  // pitches a second, of its centre and of its surface
  double rest_time = 0.5;    // s
  double place = 0.1;        // pitches from the centre of its cell
  // On hex: catoms in dynamics have magnets in place of bonds, and roll by them when their programs ask for it.
  std::optional<RingOptions> rings{};
};

// What went over and back, since the start.
struct Changes {
  std::uint64_t asked = 0, hit = 0, loaded = 0, pushed = 0, fell = 0;  // to dynamics, and why
  std::uint64_t back = 0;
  std::uint64_t bonds_broken = 0;
  std::uint64_t rolls = 0, rolls_refused = 0, steps_missed = 0;  // by magnets; a sixth of a turn is two steps
  std::uint64_t most = 0;                                        // in dynamics at once
  double farthest = 0;                                           // m, from the centre of the cell that one went back to
  double energy_lost = 0;                                        // J, kinetic, of those that went back
  std::uint64_t over() const { return asked + hit + loaded + pushed + fell; }
};
VOLVOX_TYPE(Changes, asked, hit, loaded, pushed, fell, back, bonds_broken, rolls, rolls_refused, steps_missed, most,
            farthest, energy_lost)

class MixedWorld {
 public:
  // The catoms must outlive it. Between ticks they may be added, removed and looked at; their ticks are its own.
  MixedWorld(lattice::CatomWorld& catoms, const MixedOptions& options,
             physics::EngineRegistry engines = physics::built_in_engines());

  lattice::CatomWorld& catoms() { return catoms_; }
  const lattice::CatomWorld& catoms() const { return catoms_; }
  const MixedOptions& options() const { return options_; }

  // Makes the engine and starts the programs.
  Result<void> start();
  // Between ticks; the result does not depend on the threads. Another engine takes the bodies and bonds over, with
  // their velocities, but without what only the first one knew (docs/decisions/0070).
  Result<void> use(const std::string& engine, ThreadPool* threads, double max_substep,
                   std::optional<physics::Precision> precision = {});

  // In the next tick a catom of the lattice goes over, with this velocity.
  Result<void> release(lattice::CatomId catom, const Twist& velocity = {});
  Result<void> tick(Time begin, Time end);

  bool in_dynamics(lattice::CatomId catom) const { return catoms_.ensemble().is_loose(catom); }
  // Of a catom that is there, in dynamics or not.
  Pose pose(lattice::CatomId catom) const;
  Twist velocity(lattice::CatomId catom) const;
  std::size_t count_in_dynamics() const { return loose_.size(); }
  std::size_t walls() const { return walls_.size(); }
  std::size_t bonds() const { return bonds_.size(); }
  const physics::EngineInfo& engine_info() const { return bodies_.engine().info(); }  // after start()
  const Changes& changes() const { return changes_; }
  double kinetic_energy() const;  // J, of those in dynamics

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
  // Between two catoms of which one at least is in dynamics. No joint: it is to be made.
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
  // Where and whom: C.
  void forget_what_moved();
  void choose_who_goes(double dt, Who& who);
  void add_hit(double dt, Who& who) const;
  void add_loaded(Who& who) const;
  void add_pushed(Who& who) const;
  void go_over(Who who);
  void move_over(const Who& who, Who& beside);  // beside: those of the lattice that they leave
  Who unsupported(const Who& seeds);
  void update_walls(double dt);
  // D.
  void break_bonds();
  void note_rest(double dt);
  bool lies_in(const Loose& one, lattice::Cell& cell) const;
  void go_back();
  void settle(const std::vector<Home>& homes);
  // A.
  void look_around(bool tell = true);
  void find_touches(std::vector<lattice::Touch>& touches) const;

  // Magnets: rolling.cpp.
  StepStatus advance(Time begin, Time end);
  void begin_rolls();
  bool may_roll(std::uint32_t catom, std::uint32_t pivot) const;
  void set_magnets();
  void end_rolls(double dt);

  const Loose* find_loose(std::uint32_t catom) const;
  physics::BodyId body_of(std::uint32_t catom);  // a wall is made if there is none
  void remove_wall(std::uint32_t catom);
  void cut(Bond& bond);                   // its joint goes, the bond stays
  void connect();                         // bonds without joints
  double use_of(const Bond& bond) const;  // the largest load in parts of the strength
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

  // What follows from the state.
  std::vector<lattice::Touch> touches_;
  std::vector<Pose> looked_at_;  // poses by loose catom when touches were found
  bool changed_ = true;          // who is where has changed since
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
