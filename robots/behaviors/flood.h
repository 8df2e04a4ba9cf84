// Flooding, as in seed 001: a module that receives a packet for the first time takes the colour of the
// module that forwarded it, and forwards it once itself. A source begins; every packet has a sequence
// number, so that the flood ends. A module with a lamp (<volvox:actuator type="lamp"> named lamp) shows
// the colour; the lamp is optional.
#pragma once

#include <array>

#include "volvox/mind/behavior.h"

namespace volvox::robots {

// 45 bytes of payload and 8 of type: the 53 bytes of seed 001.
struct FloodPacket {
  std::uint32_t sequence = 0;
  std::int32_t sent_on_by = 0;  // the address of the last re-transmitter
  std::uint32_t hops = 0;
  std::array<std::uint8_t, 33> data{};
};
VOLVOX_TYPE(FloodPacket, sequence, sent_on_by, hops, data)

// What a module knows of the last flood.
struct Coloured {
  std::uint32_t sequence = 0;  // 0: none received
  double at = 0;               // s, by its own clock
  std::int32_t by = -1;        // the address of the sender; its own address at the source
  std::uint32_t hops = 0;
};
VOLVOX_TYPE(Coloured, sequence, at, by, hops)

class Flood final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent&) override {}
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  void sent(mind::Agent& agent, const mind::SendReport& report) override;
  VOLVOX_STATE(wired_, relays_, has_lamp_, one_at_a_time_, waiting_, packet_)

  // The colour of an address; consecutive addresses differ much in hue.
  static mind::Light color_of(std::int32_t address);

 private:
  void show(mind::Agent& agent, std::int32_t address) const;
  void send_on(mind::Agent& agent, int except);
  void send_next(mind::Agent& agent);

  bool wired_ = true;   // forwards through the docks
  bool relays_ = true;  // forwards by radio, if it has one
  bool has_lamp_ = false;
  bool one_at_a_time_ = false;  // at the docks: sends the next packet when the last one has been sent
  std::vector<int> waiting_;    // docks through which the packet has not been sent yet
  FloodPacket packet_;
};

}  // namespace volvox::robots
