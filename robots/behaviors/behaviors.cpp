#include "behaviors.h"

#include "alternate.h"
#include "flood.h"
#include "snake.h"
#include "spin.h"
#include "track.h"
#include "track_to_snake.h"
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
  registry.add("snake", make<Snake>(), "a travelling wave along a chain of SuperBots: amplitude, wavelength, frequency, sync");
  registry.add("alternate", make<Alternate>(), "moves every motor between two angles: amplitude, period");
  registry.add("flood", make<Flood>(), "sends on once what it hears first: source, wired, relay, one_at_a_time");
  registry.add("spin", make<Spin>(), "turns every motor at one speed: speed");
  registry.add("track", make<Track>(), "rolls a ring of SuperBots by their accelerometers: speed, lean, stretch");
  registry.add("track_to_snake", make<TrackToSnake>(), "rolls as track, then opens the ring and crawls: opener, opens_after, amplitude, wavelength, frequency");
  registry.add("wander", make<Wander>(), "drives a Wheelbot among obstacles by its range sensor: speed");
}

}  // namespace volvox::robots
