#include "behaviors.h"

#include "alternate.h"
#include "convoy.h"
#include "crawl.h"
#include "flood.h"
#include "hold.h"
#include "rover.h"
#include "snake.h"
#include "spin.h"
#include "stride.h"
#include "wander.h"

namespace volvox::robots {
namespace {

class Idle final : public mind::Behavior {
 public:
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
  registry.add("snake", make<Snake>(), "a travelling wave along a chain of SuperBots: amplitude, wavelength, frequency");
  registry.add("alternate", make<Alternate>(), "moves every motor between two angles: amplitude, period");
  registry.add("convoy_hub", make<ConvoyHub>(), "the hub of an ATRON car that docks and parts: speed, right, open, last");
  registry.add("convoy_coupling", make<ConvoyCoupling>(), "passes on what hubs of an ATRON car say to each other: open");
  registry.add("crawl", make<Crawl>(), "a snake of SuperBots that keeps its wave by messages: amplitude, wavelength, frequency");
  registry.add("hold", make<Hold>(), "holds every motor where it is");
  registry.add("rover", make<Rover>(), "rolls ATRONs on those at their sides as wheels: speed, turn, waist, stand");
  registry.add("stride", make<Stride>(), "walks SuperBots on legs at the sides of a spine: frequency, swing, lift, stand");
  registry.add("flood", make<Flood>(), "sends on once what it hears first: source, wired, relay, one_at_a_time");
  registry.add("spin", make<Spin>(), "turns every motor at one speed: speed");
  registry.add("wander", make<Wander>(), "drives a Wheelbot among obstacles by its range sensor: speed");
}

}  // namespace volvox::robots
