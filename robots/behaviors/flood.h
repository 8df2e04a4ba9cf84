// Flooding, as in seed 001: whoever receives the packet for the first time takes the colour of the
// one that sent it on, and sends it on once itself. A source begins; every packet has a sequence
// number, so that the flood ends. A module that has a lamp (<volvox:actuator type="lamp">, called
// lamp) shows the colour; one without floods all the same.
#pragma once

#include <array>

#include "volvox/mind/behavior.h"

namespace volvox::robots {

// 45 bytes, and 8 that mark its type: the 53 bytes of seed 001.
struct FloodPacket {
  std::uint32_t sequence = 0;
  std::int32_t sent_on_by = 0;  // the address of the last re-transmitter
  std::uint32_t hops = 0;
  std::array<std::uint8_t, 33> data{};
};
VOLVOX_TYPE(FloodPacket, sequence, sent_on_by, hops, data)

// What a module knows of the last flood.
struct Coloured {
  std::uint32_t sequence = 0;  // 0: it has not heard of any
  double at = 0;               // s, by its own clock
  std::int32_t by = -1;        // the address of whom it heard it from; its own: the source
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

  // A colour that belongs to an address: neighbours in number are far apart in hue.
  static mind::Light color_of(std::int32_t address);

 private:
  void show(mind::Agent& agent, std::int32_t address) const;
  void send_on(mind::Agent& agent, int except);
  void send_next(mind::Agent& agent);

  bool wired_ = true;   // sends on at the docks
  bool relays_ = true;  // sends on by radio, if it has one
  bool has_lamp_ = false;
  bool one_at_a_time_ = false;  // at the docks: the next when the last has left
  std::vector<int> waiting_;    // docks that are still to be served
  FloodPacket packet_;
};

}  // namespace volvox::robots
