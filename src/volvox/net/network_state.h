// The state of a Network. Internal.
// All that a snapshot of a network holds; one thread.
#pragma once

#include <map>

#include "volvox/net/buses.h"
#include "volvox/net/core.h"
#include "volvox/net/network.h"
#include "volvox/net/radios.h"
#include "volvox/net/wires.h"

namespace volvox::net {

struct Node {
  std::uint32_t first_interface = nothing;
  std::uint32_t events_made = 0;
};

struct Timer {
  std::uint64_t token = 0;
  Time set_at;
  template <class A>
  void archive(A& ar) {
    ar("token", token), ar("set_at", set_at);
  }
};

struct Network::State {
  explicit State(const NetworkOptions& given) : options(given), wires(core), buses(core), radios(core) {
    core.seed = given.seed;
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  NetworkOptions options;
  Core core;
  Wires wires;
  Buses buses;
  Radios radios;
  std::vector<Node> nodes;
  // The keys of both maps are (source << 32 | sequence) of the event.
  std::map<std::uint64_t, Timer> timers;
  std::map<std::uint64_t, std::uint32_t> deferred;  // frames that enter their queues later
  Listener* listener = nullptr;
  bool running = false;
  std::uint32_t chain = 0;        // rounds of callbacks at this instant
  std::vector<Callback> calling;  // scratch: the batch that is being called
  std::vector<std::uint64_t> calling_order;
  std::uint32_t receiving = nothing;  // the frame that the current callback delivers

  bool has(NodeId id) const { return id.index < nodes.size(); }
  bool has(InterfaceId id) const { return id.index < core.interfaces.size(); }
  bool has(InterfaceId id, InterfaceKind kind) const { return has(id) && core.interfaces[id.index].kind == kind; }
  InterfaceId add_interface(NodeId node, InterfaceKind kind);

  SendStatus enqueue(std::uint32_t frame);  // takes over the reference
  std::uint32_t make_frame(std::uint32_t source, const Outgoing& message);
  Result<void> check_message(InterfaceId from, const Outgoing& message) const;
  std::uint32_t largest_payload(std::uint32_t interface) const;
  std::uint32_t queue_limit(std::uint32_t interface) const;
  bool connected(std::uint32_t interface) const;

  // Processes all events before `until`; the clock stays at the last event.
  Result<void> run(Network& network, Time until);
  // One step of run(); false if no event is left before `until`.
  bool step(Network& network, Time until);
  bool next_is(Action what, Time until) const;
  void advance(Time to);
  void dispatch(Network& network, const Event& event);
  void call_back(Network& network);
  void call_timer(Network& network, const Event& event);
  void enter_deferred(const Event& event);
  Error chain_error() const;

  bool waits_for(const Event& event) const;
  void archive(Archive& ar);
  void archive_callbacks(Archive& ar);
};

}  // namespace volvox::net
