// Role-based control (seed 004: Stoy, Shen, Will): every module runs the same program and plays a
// role. A role says how the module moves over a period and how long after it its children follow;
// rules say, from what a module sees of itself and its neighbours, when it takes another role. There
// are no ids and there is nothing global: whoever has no parent leads.
//
//   RoleBook book;
//   book.parent = "s";                                           // all other docks lead to children
//   book.roles = {{"wave", 180, {{"pitch", [](double t) { return 0.5 * volvox::sin(2 * pi * t / 180); }}}, {{"n",
//   36}}},
//                 {"still", 180, {{"pitch", [](double) { return 0.0; }}}, {}}};
//   book.rules = {{{"wave"}, "still", [](const Situation& s) { return s.connected("e"); }},
//                 {{"still"}, "wave", [](const Situation& s) { return !s.connected("e"); }}};
//   registry.add("waver", role_player(book), "waves unless somebody stands to the east");
#pragma once

#include <functional>
#include <map>
#include <memory>
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
  std::map<std::string, double> delays;                           // d_i: by dock, in steps, how far a child is behind
};

class RolePlayer;

// What a rule may look at: the module and its neighbours, and nothing beyond.
class Situation {
 public:
  Situation(const Agent& agent, const RolePlayer& player) : agent_(agent), player_(player) {}
  bool connected(std::string_view dock) const { return !neighbor(dock).empty(); }  // C(i)
  std::string_view neighbor(std::string_view dock) const;       // NC(i): the other's dock there; empty if free
  std::string_view neighbor_role(std::string_view dock) const;  // NR(i): empty if free or not heard of yet
  bool is_root() const;                                         // nobody at the parent's dock
  double time_in_role() const;                                  // s, by its own clock
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
  std::vector<std::string> from;  // empty: from any role but `to`
  std::string to;
  std::function<bool(const Situation&)> when;
};

struct RoleBook {
  std::string parent;       // the dock that leads to the parent
  double step = 2.5 / 180;  // s
  std::vector<Role> roles;  // a module begins with the first
  std::vector<RoleRule> rules;

  int role_index(std::string_view name) const;  // -1: there is none
  // Refuses what cannot be played: roles without a name, periods that are not positive, delays beyond
  // the period, rules that name no role.
  Result<void> check() const;
};

// What a module tells a neighbour. A beat comes from the parent when its t is d_i: it makes t zero.
struct RoleSignal {
  int role = -1;  // which the sender plays, by its place in the book
  bool beat = false;
};
VOLVOX_TYPE(RoleSignal, role, beat)

// The model of a module that plays, for those who look on: it changes nothing in play.
struct RolePlayed {
  std::string role;
  double t = 0;     // steps
  int changes = 0;  // of role, so far
  int beats = 0;    // heard from parents, so far
};
VOLVOX_TYPE(RolePlayed, role, t, changes, beats)

// The behaviour. Figure 1 of the paper, once a tick: listen, send where t has come to d_i, move to
// A(t). A module was switched on with t = 0 when its own clock showed 0.
// Parameters: transmits (false: nothing is ever sent, as with its lamps covered).
class RolePlayer final : public Behavior {
 public:
  explicit RolePlayer(std::shared_ptr<const RoleBook> book) : book_(std::move(book)) {}
  void start(Agent& agent) override;
  void tune(Agent& agent) override { transmits_ = agent.parameter("transmits", true); }
  void step(Agent& agent) override;
  VOLVOX_STATE(role_, since_, zero_, done_, changes_, beats_, neighbors_)

 private:
  friend class Situation;
  struct Neighbor {  // at a dock
    bool there = false;
    int role = -1;  // -1: not heard of yet
    template <class A>
    void archive(A& ar) {
      ar("there", there);
      ar("role", role);
    }
  };

  const Role& role() const { return book_->roles[role_]; }
  void look(Agent& agent);
  void listen(Agent& agent);
  void select(Agent& agent);
  void play(Agent& agent);
  void pass(Agent& agent, double step);
  void tell(Agent& agent, std::size_t dock, bool beat);

  std::shared_ptr<const RoleBook> book_;
  std::vector<Percept<DockState>> docks_;
  std::size_t parent_ = 0;  // dock
  bool transmits_ = true;

  int role_ = 0;
  double since_ = 0;  // s, by its own clock: when it took the role
  double zero_ = 0;   // s, by its own clock: when t was last 0
  double done_ = -1;  // the last whole step of this period that has been dealt with
  int changes_ = 0, beats_ = 0;
  std::vector<Neighbor> neighbors_;  // by dock
};

// A factory for Registries::behaviors. The book is checked when the first module starts.
BehaviorFactory role_player(RoleBook book);

}  // namespace volvox::mind
