#include "behaviors.h"

#include "alternate.h"
#include "automatic_door.h"
#include "buggy_driver.h"
#include "carry.h"
#include "clamp_on.h"
#include "code_module.h"
#include "convoy.h"
#include "crawl.h"
#include "flight.h"
#include "flood.h"
#include "gait_roles.h"
#include "hold.h"
#include "neural.h"
#include "oscillators.h"
#include "role_table.h"
#include "roll_on.h"
#include "rover.h"
#include "shape_roles.h"
#include "snake.h"
#include "sphere_formation.h"
#include "spin.h"
#include "stepper.h"
#include "stride.h"
#include "track.h"
#include "track_to_snake.h"
#include "volvox/lattice/programs/flood.h"
#include "volvox/lattice/programs/gradient.h"
#include "volvox/lattice/programs/leader.h"
#include "volvox/lattice/programs/spanning_tree.h"
#include "volvox/mind/transfer.h"
#include "wander.h"

namespace volvox::robots {
namespace {

class Idle final : public mind::Behavior {
 public:
  void step(mind::Agent&) override {}
  VOLVOX_STATE()
};

// Takes any parameters, because it stands in for behaviours that have some.
class Commanded final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override {
    const Parameters& parameters = mind::AgentTransfer::parameters(agent);
    for (const auto& [name, value] : parameters.given()) (void)parameters.text(name, value);
  }
  void step(mind::Agent&) override {}
  VOLVOX_STATE()
};

template <class B>
mind::BehaviorFactory make() {
  return [] { return std::unique_ptr<mind::Behavior>(std::make_unique<B>()); };
}

}  // namespace

void register_behaviors(mind::BehaviorRegistry& registry) {
  registry.add("idle", make<Idle>(), "does nothing");
  registry.add("commanded", make<Commanded>(), "does nothing by itself: arrays in Python command it");
  registry.add("snake", make<Snake>(),
               "a travelling wave along a chain of SuperBots: amplitude, wavelength, frequency, sync");
  registry.add("alternate", make<Alternate>(), "moves every motor between two angles: amplitude, period");
  registry.add("automatic_door", make<AutomaticDoor>(),
               "slides open when something comes near: width, hold, NAME_distance of each range sensor");
  registry.add("carry_in_air", make<CarryInAir>(),
               "a Quadrotor that takes one end of a load, lifts it when the other end is held too, and follows: x, "
               "y, z, lift, length, load");
  registry.add("carry_on_wheels", make<CarryOnWheels>(),
               "a Wheelbot that takes the other end and leads after the message that the load is lifted: speed, way");
  registry.add("pass_on", make<PassOn>(), "the load between the two: forwards messages from one handle to the other");
  registry.add("hover", make<Hover>(),
               "a Quadrotor that holds its position: x, y, z, yaw, and the gains of figure_eight");
  registry.add("figure_eight", make<FigureEight>(),
               "a Quadrotor that flies eights: x, y, z, length, width, period, hover, yaw_rate, vertical; mass, "
               "stiffness, damping, integral, ...");
  registry.add("formation", make<SphereFormation>(),
               "a Quadrotor on a sphere among others, by artificial potentials: x, y, z, radius, sway, period, "
               "spacing, clearance");
  registry.add("convoy_hub", make<ConvoyHub>(),
               "the hub of an ATRON car that docks and undocks: speed, right, open, last");
  registry.add("convoy_coupling", make<ConvoyCoupling>(), "forwards messages between the hubs of an ATRON car: open");
  registry.add("crawl", make<Crawl>(),
               "a snake of SuperBots that synchronizes its wave by messages: amplitude, wavelength, frequency, "
               "level (bends sideways)");
  registry.add("hold", make<Hold>(), "holds every motor where it is");
  registry.add("rover", make<Rover>(),
               "ATRONs that drive with the modules at their sides as wheels: speed, turn, waist, stand");
  registry.add("stride", make<Stride>(),
               "walks SuperBots on legs at the sides of a spine: frequency, swing, lift, stand");
  registry.add("flood", make<Flood>(),
               "forwards each packet once, when it first arrives: source, wired, relay, one_at_a_time");
  registry.add("code_flood", make<CodeModuleBehavior<lattice::Flood>>(),
               "the code module Flood of lattice worlds: source, first, wired, radio");
  registry.add("code_gradient", make<CodeModuleBehavior<lattice::Gradient>>(),
               "the code module Gradient: links from the nearest source: source, first, wired, radio");
  registry.add("code_leader", make<CodeModuleBehavior<lattice::Leader>>(),
               "the code module Leader: all agree on one of them: wired, radio");
  registry.add("code_tree", make<CodeModuleBehavior<lattice::SpanningTree>>(),
               "the code module SpanningTree: a tree that counts its modules: root, first");
  registry.add("roll_on", make<RollOn>(),
               "Scouts that drive on wheels, alone or in a chain: speed, yaw, bend (of the hinge), ramp");
  registry.add("conro_roles", mind::role_player(conro_roles()),
               "role-based control of CONRO: a chain sidewinds, a body with legs walks");
  registry.add("conro_caterpillar", mind::role_player(conro_caterpillar()),
               "role-based control: a chain of CONROs crawls by a wave of pitch");
  registry.add("superbot_caterpillar", mind::role_player(superbot_caterpillar()), "the same roles on SuperBots");
  registry.add("conro_arm", mind::role_player(arm_roles()),
               "role-based control: each of five CONROs finds which part of an arm it is");
  registry.add("conro_shuttle", mind::role_player(shuttle_roles()),
               "role-based control: a quadruped turns back where its sensor sees a wall, and forth after a time");
  registry.add("conro_shapes", mind::role_player(shape_roles()),
               "role-based control: a chain of ten CONROs becomes a quadruped with a tail and a chain again");
  registry.add("neural", make<Neural>(),
               "a small neural network over percepts: inputs, outputs, hidden, weights, frequency, reach");
  registry.add("oscillators", make<Oscillators>(),
               "coupled oscillators on any body: frequency, coupling, lag, ramp; JOINT.amplitude, .offset, .phase");
  registry.add("role_table", make<RoleTable>(),
               "roles as data: parent, period; ROLE.JOINT.amplitude, .offset, .phase; DOCK.delay");
  registry.add("drive", make<BuggyDriver>(), "drives a buggy straight, and then in a circle: speed, steer, at");
  registry.add("clamp_on", make<ClampOn>(),
               "docks a hand with jaws to a socket that stands about where it thinks: error, turned");
  registry.add("stepper", make<Stepper>(),
               "switches the magnets f0, f1, ... of a catom one after another, as a stepper motor's windings: first, "
               "steps, rate, begin, backwards, pole, repel, micro");
  registry.add("spin", make<Spin>(), "turns every motor at one speed: speed");
  registry.add("track", make<Track>(), "rolls a ring of SuperBots by their accelerometers: speed, lean, stretch");
  registry.add(
      "track_to_snake", make<TrackToSnake>(),
      "rolls like track, then opens the ring and crawls: opener, opens_after, amplitude, wavelength, frequency");
  registry.add("wander", make<Wander>(), "drives a Wheelbot among obstacles by its range sensor: speed");
}

}  // namespace volvox::robots
