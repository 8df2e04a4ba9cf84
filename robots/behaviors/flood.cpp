#include "flood.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"

namespace volvox::robots {

void Flood::start(mind::Agent& agent) {
  wired_ = agent.parameter("wired", true);
  relays_ = agent.parameter("relay", true);
  one_at_a_time_ = agent.parameter("one_at_a_time", false);
  has_lamp_ = std::find(agent.actions().begin(), agent.actions().end(), "lamp") != agent.actions().end();
  if (!agent.parameter("source", false)) return;
  relays_ = true;  // the source always uses its radio
  packet_.sequence = 1;
  agent.model<Coloured>() = {packet_.sequence, agent.time(), agent.address(), 0};
  show(agent, agent.address());
  send_on(agent, -1);
}

bool Flood::receive(mind::Agent& agent, const mind::Message& message) {
  const auto packet = message.as<FloodPacket>();
  if (!packet) return false;
  Coloured& known = agent.model<Coloured>();
  if (packet->sequence <= known.sequence) return true;
  known = {packet->sequence, agent.time(), packet->sent_on_by, packet->hops + 1};
  show(agent, packet->sent_on_by);
  packet_ = *packet;
  ++packet_.hops;
  send_on(agent, message.outlet);
  return true;
}

void Flood::show(mind::Agent& agent, std::int32_t address) const {
  if (has_lamp_) agent.act("lamp", color_of(address));
}

void Flood::send_on(mind::Agent& agent, int except) {
  packet_.sent_on_by = agent.address();
  waiting_.clear();
  for (int dock = narrow<int>(agent.docks().size()) - 1; wired_ && dock >= 0; --dock)
    if (dock != except && agent.dock(agent.docks()[dock].name).engaged) waiting_.push_back(dock);
  if (relays_ && agent.has_percept("radio.signal")) agent.send("radio", packet_);
  if (one_at_a_time_) return send_next(agent);
  while (!waiting_.empty()) send_next(agent);
}

void Flood::send_next(mind::Agent& agent) {
  if (waiting_.empty()) return;
  const int dock = waiting_.back();
  waiting_.pop_back();
  if (dock < 0 || dock >= std::ssize(agent.docks())) return;  // of a damaged snapshot
  agent.send(agent.docks()[dock].name, packet_, {.report = one_at_a_time_});
}

void Flood::sent(mind::Agent& agent, const mind::SendReport& report) {
  if (report.outlet >= 0 && report.outlet < std::ssize(agent.docks())) send_next(agent);
}

mind::Light Flood::color_of(std::int32_t address) {
  const double turns = address * 0.6180339887498949, hue = 6 * (turns - std::floor(turns));
  const auto channel = [hue](double offset) {
    const double k = std::fmod(offset + hue, 6.0);
    return 0.95 - 0.65 * std::fmax(0, std::fmin(std::fmin(k, 4 - k), 1.0));
  };
  return {channel(5), channel(3), channel(1)};
}

}  // namespace volvox::robots
