#include "behaviors.h"

#include "alternate.h"
#include "flood.h"
#include "gait_roles.h"
#include "snake.h"
#include "spin.h"
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
  registry.add("flood", make<Flood>(), "sends on once what it hears first: source, wired, relay, one_at_a_time");
  registry.add("conro_roles", mind::role_player(conro_roles()), "role-based control of CONRO: a chain winds sideways, a body with legs walks");
  registry.add("conro_caterpillar", mind::role_player(conro_caterpillar()), "role-based control: a chain of CONROs crawls by a wave of pitch");
  registry.add("superbot_caterpillar", mind::role_player(superbot_caterpillar()), "the same roles on SuperBots");
  registry.add("conro_arm", mind::role_player(arm_roles()), "role-based control: five CONROs find which part of an arm they are");
  registry.add("spin", make<Spin>(), "turns every motor at one speed: speed");
  registry.add("wander", make<Wander>(), "drives a Wheelbot among obstacles by its range sensor: speed");
}

}  // namespace volvox::robots
