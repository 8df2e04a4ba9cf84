// Role-based control (seed 004: Stoy, Shen, Will): every module runs the same program and plays a
// role. A role defines the motion of the module over a period and the delay of its children; rules define when the
// module takes another role, from its own state and that of its neighbours. There are no ids and no global state: a
// module without a parent leads. Times are in steps of the module's own clock, angles in rad. A book is shared by all
// modules, which play in several threads: its functions must not change anything.
//
//   RoleBook book;
//   book.parent = "s";                                           // all other docks lead to children
//   const auto wave = [](double t) { return 0.5 * volvox::sin(2 * pi * t / 180); };
//   const auto straight = [](double) { return 0.0; };
//   book.roles = {{"wave", 180, {{"pitch", wave}}, {{"n", 36}}}, {"still", 180, {{"pitch", straight}}, {}}};
//   book.rules = {{{"wave"}, "still", [](const Situation& s) { return s.connected("e"); }},
//                 {{"still"}, "wave", [](const Situation& s) { return !s.connected("e"); }}};
//   registry.add("waver", role_player(book), "waves unless a module is connected to the east");
//
// A player belongs to one module (threads: behavior.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/mind/behavior.h"

namespace volvox::mind {

// Section 2.1. Steps are counted by the module's own clock, RoleBook::step seconds each.
struct Role {
  std::string name;
  double period = 180;                                            // T, in steps
  std::map<std::string, std::function<double(double t)>> motion;  // A(t): by joint, rad (or m) for t in [0, T)
  std::map<std::string, double> delays;                           // d_i: by dock, in steps: the delay of a child
  // Not in the paper: until it first hears its parent, a module holds A(waits_at) and sends no signals. None: it moves
  // and signals from the beginning.
  std::optional<double> waits_at{};
  // Roles that change the shape of the robot (the paper's outlook, section 6). Postures, by joint, for the module's
  // place: the joint glides there within one period from where it is, then holds, and an integral term takes out what
  // friction and weight leave of the error. A joint has a motion or a posture.
  std::map<std::string, std::function<double(int place)>> postures{};
  std::map<std::string, bool>
      docks{};  // enabled (true) or disabled when the role is taken; the others stay as they are
};

class RolePlayer;

// The information that a rule may use: the module and its neighbours.
class Situation {
 public:
  Situation(const Agent& agent, const RolePlayer& player) : agent_(agent), player_(player) {}
  bool connected(std::string_view dock) const { return agent_.dock(dock).engaged; }  // C(i)
  // NC(i), what the neighbour calls its dock, and NR(i), its role. Both are heard in its signals: empty if the dock is
  // free or nothing has been heard yet.
  std::string_view neighbor(std::string_view dock) const;
  std::string_view neighbor_role(std::string_view dock) const;
  bool is_root() const;  // no module at the parent's dock
  // By induction from the root (section 2.2): 0 there, else one more than the parent says; -1: not heard yet.
  int place() const;
  int place_at_change() const;  // when it took its role
  bool heard_beat() const;      // of its parent, since it took its role: it is in step
  double time_in_role() const;  // s, by its own clock; for the rules of users
  template <class T>
  const T& percept(std::string_view name) const {
    return agent_.percept<T>(name);
  }

 private:
  const Agent& agent_;
  const RolePlayer& player_;
};

// Section 2.2. Of the rules of its role, the first whose condition holds takes the module to `to`; one
// change a tick.
struct RoleRule {
  std::vector<std::string> from;  // empty: from any role except `to`
  std::string to;
  std::function<bool(const Situation&)> when;
};

struct RoleBook {
  std::string parent;       // the dock that leads to the parent
  double step = 2.5 / 180;  // s
  std::vector<Role> roles;  // a module begins with the first
  std::vector<RoleRule> rules;

  int role_index(std::string_view name) const;  // -1: there is none
  // Errors: roles without a name, periods that are not positive, delays longer than the period, rules with unknown
  // roles.
  Result<void> check() const;
};

// A message to a neighbour. The parent sends a beat when its t is d_i; the child then sets its t to zero.
struct RoleSignal {
  int role = -1;  // of the sender: an index into RoleBook::roles
  bool beat = false;
  std::string connector;  // the dock at which the sender sends it: the receiver's NC
  int place = -1;         // of the sender, see Situation::place
};
VOLVOX_TYPE(RoleSignal, role, beat, connector, place)

// The Agent::model of the module, for observers only.
struct RolePlayed {
  std::string role;
  double t = 0;     // steps
  int changes = 0;  // of role, so far
  int beats = 0;    // heard from parents, so far
};
VOLVOX_TYPE(RolePlayed, role, t, changes, beats)

// The behaviour: figure 1 of the paper, once a tick: listen, send when t reaches d_i, move to A(t). t was 0 when the
// module's own clock showed 0.
// Parameters: transmits (false: it never sends, as if its infrared emitters were covered).
class RolePlayer final : public Behavior {
 public:
  explicit RolePlayer(std::shared_ptr<const RoleBook> book) : book_(std::move(book)) {}
  void start(Agent& agent) override;
  void tune(Agent& agent) override { transmits_ = agent.parameter("transmits", true); }
  void step(Agent& agent) override;
  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override;

 private:
  friend class Situation;
  struct Neighbor {  // at a dock
    bool there = false;
    int role = -1;          // -1: not known yet
    std::string connector;  // empty: not known yet
    int place = -1;         // -1: not known yet
    template <class A>
    void archive(A& ar) {
      ar("there", there);
      ar("role", role);
      ar("connector", connector);
      ar("place", place);
    }
  };
  struct Glide {  // of a joint that some role has a posture for
    double from = 0, trim = 0;
    template <class A>
    void archive(A& ar) {
      ar("from", from);
      ar("trim", trim);
    }
  };

  const Role& role() const { return book_->roles[role_]; }
  const Neighbor& at(const Agent& agent, std::string_view dock) const;
  int place() const;
  void take(Agent& agent, int role);
  void glide(Agent& agent);
  void look(Agent& agent);
  void listen(Agent& agent);
  void select(Agent& agent);
  void play(Agent& agent);
  void pass(Agent& agent, double step);
  void tell(Agent& agent, std::size_t dock, bool beat);

  std::shared_ptr<const RoleBook> book_;
  std::vector<Percept<DockState>> docks_;
  std::size_t parent_ = 0;           // dock
  std::vector<std::string> joints_;  // for which some role has a posture
  std::vector<Percept<double>> angles_;
  bool transmits_ = true;

  int role_ = 0;
  double since_ = 0;  // s, by its own clock: when it took the role
  double zero_ = 0;   // s, by its own clock: when t was last 0
  double done_ = -1;  // the last whole step of this period that has been handled
  int changes_ = 0, beats_ = 0;
  int place_at_change_ = -1, beats_at_change_ = 0;
  int told_place_ = -1;              // the place that the children last heard of
  std::vector<Neighbor> neighbors_;  // by dock
  std::vector<Glide> glides_;        // by joint, as joints_
};

// A factory for Registries::behaviors. The book is checked when the first module starts.
BehaviorFactory role_player(RoleBook book);

}  // namespace volvox::mind
