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
// It knows nothing of robots. Its user sets positions and plugs wires once a tick; during run() they change
// only if a callback changes them. SI units; positions are in the world frame. One thread may use a Network
// at a time. Deterministic: the same calls and the same seed give the same bits on every machine.
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

  // --- nodes and interfaces: added before the run, or when robots appear
  NodeId add_node();
  // A radio channel. The default propagation model is Friis at the given frequency.
  Result<MediumId> add_medium(const MediumOptions& options = {}, std::unique_ptr<Propagation> propagation = nullptr);
  Result<BusId> add_bus(const BusOptions& options);
  Result<InterfaceId> add_wire(NodeId node, const WireOptions& options = {});
  Result<InterfaceId> add_bus_port(NodeId node);
  Result<InterfaceId> add_radio(NodeId node, MediumId medium, const RadioOptions& options, const Vec3& position);
  // Optional: saves time and memory if the numbers are known.
  void reserve(std::size_t nodes, std::size_t interfaces);
  void reserve_wires(std::size_t wires);
  void reserve_radios(MediumId medium, std::size_t radios);

  std::size_t nodes() const;
  std::size_t interfaces() const;
  InterfaceId interface(std::size_t index) const;
  InterfaceKind kind(InterfaceId interface) const;
  NodeId node_of(InterfaceId interface) const;
  std::vector<InterfaceId> interfaces_of(NodeId node) const;

  // --- links and positions, which change from tick to tick
  Result<void> plug(InterfaceId a, InterfaceId b);
  // Frames in flight and in the queues of both ends are lost, counted and reported.
  Result<void> unplug(InterfaceId interface);
  InterfaceId peer(InterfaceId wire) const;  // not valid if unplugged
  Result<void> join_bus(InterfaceId port, BusId bus, bool master = false);
  Result<void> leave_bus(InterfaceId port);
  BusId bus_of(InterfaceId port) const;  // not valid if on no bus
  bool is_master(InterfaceId port) const;
  std::size_t bus_members(InterfaceId port) const;  // of its bus, including itself; 0 if on no bus
  Result<void> switch_radio(InterfaceId radio, bool on);
  Result<void> move_radio(InterfaceId radio, const Vec3& position);
  Vec3 position(InterfaceId radio) const;
  MediumId medium_of(InterfaceId radio) const;

  // --- use
  // The listener must outlive the runs; it is not part of a snapshot.
  void set_listener(Listener* listener);
  Result<Sent> send(InterfaceId from, const Outgoing& message);
  // The master of a serial bus requests the first frame in the queue of a slave.
  Result<Sent> poll(InterfaceId master, InterfaceId slave);
  // Calls listener.timer(node, token) at that time, which may be now. For programs that use net/ alone; modules have
  // ticks instead.
  Result<void> set_timer(NodeId node, Time at, std::uint64_t token);

  // Starts a tick at now(): wires with delayed timing deliver the frames that they transmitted in the last tick
  // (the next run calls the receivers), and their capacity is renewed.
  void begin_tick();
  // Processes all events before `until` and sets the clock to `until`. Fails, and keeps its state, if
  // callbacks answer each other forever at one instant.
  Result<void> run(Time until);
  // Runs until no events are left, or to `until`. Returns the time of the last event.
  Result<Time> run_all(Time until);

  Time now() const;
  bool quiet() const;  // no event or callback is pending, and no frame waits for the next tick
  // --- observation
  const Counters& counters() const;
  std::size_t queued(InterfaceId interface) const;
  double heard_w(InterfaceId radio) const;  // noise and all signals now
  bool carrier(InterfaceId radio) const;    // the medium is busy
  // Set-ups that are allowed but probably mistakes, such as radios within the near field.
  std::vector<std::string> warnings() const;
  void set_log(FrameLog* log);  // not owned; nullptr: no log

  // Saves, loads or hashes everything that a run changes: clock, events, queues, frames in flight, backoffs,
  // random streams, plugs, positions, counters. Load into a network that was set up in the same way; the
  // snapshot of another network is refused (archive.failure()).
  void archive(Archive& ar);
  std::uint64_t hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace volvox::net
