// A world whose modules communicate by wires, radio and bus, for the tests of the network in the loop.
#pragma once

#include "volvox/base/index.h"
#include "volvox/sim/test/worlds.h"

namespace volvox::sim {

// Sends in every tick by dock, radio and bus, and answers every message.
class Chatter final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override { agent.open(3); }
  void step(mind::Agent& agent) override {
    if (agent.random().chance(0.2)) agent.send("radio", Gossip{hops_, agent.time()});
    if (agent.random().chance(0.2))
      agent.send("can", Gossip{hops_, agent.time()},
                 {.mailbox = 3, .priority = narrow<std::uint32_t>(agent.address())});
    if (agent.random().chance(0.2)) agent.broadcast(Gossip{hops_, agent.signal("radio").level_dbm});
    if (agent.random().chance(0.05)) agent.disable_dock("front");
    if (agent.random().chance(0.2)) agent.enable_dock("front");
    while (agent.read(mind::MailboxNumber{3})) hops_ = hops_ % 1000 + 1;
  }
  bool receive(mind::Agent& agent, const mind::Message& message) override {
    if (message.mailbox == 3) return false;
    hops_ = hops_ % 1000 + 1;  // whatever a damaged snapshot said
    if (hops_ % 3 == 0) agent.send(agent.where(message), Gossip{hops_, 1}, {.to = message.from});
    agent.move_to("pitch", 0.2 * volvox::sin(hops_));
    return true;
  }
  VOLVOX_STATE(hops_)

 private:
  int hops_ = 0;
};

inline std::shared_ptr<const model::WorldModel> talking_world(Stage& stage) {
  stage.library.minds.behaviors.add("chatter", [] { return std::make_unique<Chatter>(); });
  const auto quiet = stage.busy_world("chatter");
  auto world = std::make_shared<model::WorldModel>(*quiet);
  auto talking = std::make_shared<model::ModuleModel>(*quiet->placements[1].model);
  for (std::size_t d = 0; d < talking->docks.size(); ++d)
    talking->wires.push_back({.dock = narrow<int>(d), .bit_rate = 4000 + 1000.0 * real(d % 2), .delay = 1e-4});
  model::Radio radio;
  radio.name = "radio";
  radio.bit_rate = 6000;
  radio.slot = 1e-3;
  radio.link = 1;
  radio.acknowledge = true;
  talking->radios.push_back(radio);
  talking->buses.push_back({.name = "can", .bit_rate = 10e3});
  for (model::Placement& placement : world->placements)
    if (placement.is_module()) placement.model = talking;
  world->channels.push_back({.name = "air", .shadowing_db = 3, .fading = true, .passes_bodies = 0.5});
  return world;
}

}  // namespace volvox::sim
