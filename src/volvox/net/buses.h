// Shared buses: CAN, where the lowest identifier wins the arbitration, and a serial bus with one master.
// Internal. Interfaces, buses and frames are given by index.
// Times in ns of simulated time. Owned by the network, in whose one thread everything here happens. Deterministic.
#pragma once

#include <vector>

#include "volvox/base/archive.h"
#include "volvox/net/core.h"

namespace volvox::net {

class Buses {
 public:
  explicit Buses(Core& core) : core_(core) {}

  std::uint32_t add_bus(const BusOptions& options);
  std::size_t count() const { return buses_.size(); }
  const BusOptions& options(std::uint32_t bus) const { return buses_[bus].options; }

  void add(std::uint32_t interface);
  std::uint32_t bus_of(std::uint32_t interface) const { return port_of(interface).bus; }
  std::size_t members(std::uint32_t bus) const { return buses_[bus].members.size(); }
  bool is_master(std::uint32_t interface) const { return buses_[bus_of(interface)].master == interface; }
  std::uint32_t master(std::uint32_t bus) const { return buses_[bus].master; }
  void join(std::uint32_t interface, std::uint32_t bus, bool master);
  // The frame that the interface was sending and its queued frames are lost and counted.
  void leave(std::uint32_t interface);

  void frame_queued(std::uint32_t interface);
  void arbitrate(std::uint32_t bus, std::uint32_t sequence);
  void frame_end(std::uint32_t bus, std::uint32_t sequence);
  void idle(std::uint32_t bus, std::uint32_t sequence);
  bool waits_for(const Event& event) const;

  void archive(Archive& ar);

 private:
  struct Bus {
    BusOptions options;
    std::vector<std::uint32_t> members;  // interfaces, sorted
    std::uint32_t master = nothing;      // serial only
    std::uint32_t index = nothing;       // the source in its events
    std::uint32_t events_made = 0;
    std::uint32_t arbitration = nothing, end = nothing, idle = nothing;  // sequences of pending events
    std::uint32_t sender = nothing;                                      // the interface whose frame is on the bus
    std::uint32_t sending = nothing;  // its frame, which stays at the head of its queue until it is transmitted
    bool busy = false;
  };
  struct Port {
    std::uint32_t bus = nothing;
  };
  const Port& port_of(std::uint32_t interface) const { return ports_[core_.interfaces[interface].local]; }
  Bus& bus_at(std::uint32_t interface) { return buses_[port_of(interface).bus]; }
  Fifo& queue(std::uint32_t interface) { return core_.interfaces[interface].queue; }

  std::uint32_t schedule(Bus& bus, Time at, Action action);
  void contend(Bus& bus);
  void start_can(Bus& bus);
  void clash(Bus& bus, std::uint32_t identifier);
  void start_serial(Bus& bus);
  void finish_can(Bus& bus);
  void finish_serial(Bus& bus);
  void occupy(Bus& bus, double bits_to_end, double bits_to_idle);
  void hand_out(Bus& bus, std::uint32_t frame, std::uint32_t sender);
  void lose(std::uint32_t frame, std::uint32_t interface);
  void relink();

  Core& core_;
  std::vector<Bus> buses_;
  std::vector<Port> ports_;
};

}  // namespace volvox::net
