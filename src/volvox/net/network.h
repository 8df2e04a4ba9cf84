// A network of nodes: wires, buses and radios as discrete events in integer time.
//
//   Network network;
//   const MediumId air = *network.add_medium({.frequency_hz = 2.4e9});
//   const NodeId a = network.add_node(), b = network.add_node();
//   const InterfaceId radio_a = *network.add_radio(a, air, {}, {0, 0, 0});
//   ...
//   network.set_listener(&listener);
//   network.send(radio_a, {.payload = bytes});
//   network.run(Time::seconds(1));   // calls the listener at the exact times
//
// It knows nothing of robots. Whoever does gives it positions and plugs wires once a tick;
// within run() both stay as they are, unless a callback changes them. Serial by definition:
// one thread may use a Network at a time. Same calls, same seed: same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/result.h"
#include "volvox/net/frame_log.h"
#include "volvox/net/propagation.h"
#include "volvox/net/types.h"

namespace volvox::net {

class Network {
 public:
  explicit Network(const NetworkOptions& options = {});
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  // --- what there is: set up before the run, or as robots appear
  NodeId add_node();
  // The air of one channel. Without a propagation model: Friis at the given frequency.
  Result<MediumId> add_medium(const MediumOptions& options = {}, std::unique_ptr<Propagation> propagation = nullptr);
  Result<BusId> add_bus(const BusOptions& options);
  Result<InterfaceId> add_wire(NodeId node, const WireOptions& options = {});
  Result<InterfaceId> add_bus_port(NodeId node);
  Result<InterfaceId> add_radio(NodeId node, MediumId medium, const RadioOptions& options, const Vec3& position);
  // Saves time and memory when the numbers are known.
  void reserve(std::size_t nodes, std::size_t interfaces);
  void reserve_wires(std::size_t wires);
  void reserve_radios(MediumId medium, std::size_t radios);

  std::size_t nodes() const;
  std::size_t interfaces() const;
  InterfaceId interface(std::size_t index) const;
  InterfaceKind kind(InterfaceId interface) const;
  NodeId node_of(InterfaceId interface) const;
  std::vector<InterfaceId> interfaces_of(NodeId node) const;

  // --- what changes from tick to tick
  Result<void> plug(InterfaceId a, InterfaceId b);
  // Frames on the way, and those that wait, are lost in both directions, counted and reported.
  Result<void> unplug(InterfaceId interface);
  InterfaceId peer(InterfaceId wire) const;  // not valid: unplugged
  Result<void> join_bus(InterfaceId port, BusId bus, bool master = false);
  Result<void> leave_bus(InterfaceId port);
  BusId bus_of(InterfaceId port) const;  // not valid: on none
  bool is_master(InterfaceId port) const;
  std::size_t bus_members(InterfaceId port) const;  // of its bus, with itself; 0: on none
  Result<void> switch_radio(InterfaceId radio, bool on);
  // Of all radios of the node.
  Result<void> set_position(NodeId node, const Vec3& position);
  // Of one radio, where a node has several in different places.
  Result<void> move_radio(InterfaceId radio, const Vec3& position);
  Vec3 position(InterfaceId radio) const;
  MediumId medium_of(InterfaceId radio) const;

  // --- use
  // The listener must outlive the runs; it is not part of a snapshot.
  void set_listener(Listener* listener);
  Result<Sent> send(InterfaceId from, const Outgoing& message);
  // The master of a serial bus asks a slave for the first frame of its queue.
  Result<Sent> poll(InterfaceId master, InterfaceId slave);
  // listener.timer(node, token) at that time, which may be now.
  Result<void> set_timer(NodeId node, Time at, std::uint64_t token);

  // Starts a tick at now(): wires with delayed timing hand over what crossed in the last tick
  // (the receivers are called by the next run) and get their capacity back.
  void begin_tick();
  // Processes everything before `until`, then stands at `until`. Fails, without losing its
  // state, if callbacks answer each other for ever at one instant.
  Result<void> run(Time until);
  // Until nothing is left to happen, or `until`. Returns the time of the last event.
  Result<Time> run_all(Time until);

  Time now() const;
  bool quiet() const;  // nothing scheduled
  // --- what can be known
  const Counters& counters() const;
  std::size_t queued(InterfaceId interface) const;
  double heard_w(InterfaceId radio) const;  // noise and all signals at this moment
  bool carrier(InterfaceId radio) const;    // busy
  // The power that would arrive, by the medium's model (fading as for frame 0).
  double received_power_w(InterfaceId from, InterfaceId to) const;
  // Things that are allowed but hardly meant, such as radios within the near field.
  std::vector<std::string> warnings() const;
  void set_log(FrameLog* log);  // nullptr: none

  // Everything that a run changes: clock, events, queues, frames on the way, backoffs, random
  // streams, plugs, positions, counters. Load into a network that was set up the same way; a
  // snapshot of another network is refused (archive.failure()).
  void archive(Archive& ar);
  std::uint64_t hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace volvox::net
