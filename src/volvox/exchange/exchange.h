// Connects the modules' wires, radios and buses to the discrete-event network (net/): positions and links come from the
// world, received frames become messages. It exists only if a module declares an interface; messages at docks without a
// wire are sent by Minds, over ideal links.
//
// Runs in one thread, event by event, so it is deterministic. Within a tick, positions and links stay as they were at
// its beginning. Const functions may be called from several threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/parameters.h"
#include "volvox/base/registry.h"
#include "volvox/exchange/link_state.h"
#include "volvox/exchange/message.h"
#include "volvox/exchange/occlusion.h"
#include "volvox/exchange/sight.h"
#include "volvox/net/network.h"
#include "volvox/world/world.h"

namespace volvox::exchange {

using world::AgentIndex;
using world::DockIndex;
using world::LinkIndex;
using world::PlacementIndex;

// Further models of radio propagation. The factory gets the frequency (Hz) of the channel and its other attributes.
using PropagationFactory = std::function<std::unique_ptr<net::Propagation>(double frequency, const Parameters&)>;
using PropagationRegistry = Registry<PropagationFactory>;

// Receives the messages for the modules (mind::Minds does). Only run() calls it, at the exact simulated time
// (network().now()); it may call send().
class Receiver {
 public:
  // `sender` is for recorders and viewers. The agent does not learn it from a message that came through a dock.
  virtual void received(AgentIndex agent, AgentIndex sender, Message message) = 0;
  virtual void sent(AgentIndex agent, const SendReport& report) = 0;

 protected:
  ~Receiver() = default;
};

class Exchange final : private net::Listener {
 public:
  // Null if no module has an interface. Errors name the file and line of the SDF element. The receiver must outlive the
  // exchange.
  static Result<std::unique_ptr<Exchange>> create(const world::World& world, const PropagationRegistry& laws,
                                                  std::uint64_t seed, Receiver& receiver);

  // Whether messages at this outlet cross the discrete-event network; otherwise the outlet is an ideal dock.
  bool carries(AgentIndex agent, int outlet) const { return interface(agent, outlet).valid(); }

  // The phases.
  void begin_tick(const world::World& world);
  // True: accepted. False: lost and counted. An error: a mistake of the sender. The frame starts at `at` or later.
  Result<bool> send(AgentIndex agent, const Outgoing& message, Time at);
  void all_sent(const world::World& world, Sight& sight);  // computes the occlusion for this tick
  Result<void> run(Time tick_end) { return network_.run(tick_end); }
  void update_links(const world::World& world);  // frames on a released dock are lost
  void switch_radios_off(AgentIndex agent);      // for good; what they were sending is lost

  // The percepts of an interface.
  LinkState link(AgentIndex agent, int outlet) const;
  Signal signal(AgentIndex agent, int outlet) const;

  // For recorders, viewers, experiments and tests.
  const net::Network& network() const { return network_; }
  struct Owner {
    AgentIndex agent = 0;
    int outlet = 0;
  };
  Owner owner(std::uint32_t interface) const { return owners_[interface]; }
  net::InterfaceId interface(AgentIndex agent, int outlet) const { return interfaces_[first_outlet_[agent] + outlet]; }
  // The network's events of the last tick, if they are kept. They are not part of the state.
  void keep_frames(bool keep);
  const net::FrameLog& frames() const { return frames_; }

  // Settings that are allowed but probably mistakes.
  std::vector<std::string> warnings(const world::World& world) const;

  void archive(Archive& ar);
  std::size_t memory_bytes() const;

 private:
  Exchange(std::uint64_t seed, Receiver& receiver) : receiver_(receiver), network_({.seed = seed}) {}
  Result<void> add_channels(const world::World& world, const PropagationRegistry& laws, std::uint64_t seed);
  Result<void> add_module(const world::World& world, AgentIndex agent);
  Result<void> add_bus_port(const world::World& world, AgentIndex agent, int outlet, const model::Bus& bus);
  void add_interface(AgentIndex agent, int outlet, net::InterfaceId id);
  net::InterfaceId wanted_peer(DockIndex dock) const;
  std::vector<std::uint32_t> components(const world::World& world) const;
  Result<net::InterfaceId> destination(AgentIndex agent, int outlet, int address) const;

  void received(net::Network&, const net::Reception& reception) override;
  void send_finished(net::Network&, const net::SendReport& report) override;

  struct Tally {  // of one interface
    std::int64_t received = 0, lost = 0;
    double last_power = 0;  // W
    int last_from = -1;
    template <class A>
    void archive(A& ar) {
      ar("received", received);
      ar("lost", lost);
      ar("power", last_power);
      ar("from", last_from);
    }
  };
  struct Antenna {
    net::InterfaceId id;
    LinkIndex link = 0;
    Vec3 place;  // in the link's frame
  };
  struct DockWire {
    DockIndex dock = 0;
    net::InterfaceId id;
    net::Timing timing = net::Timing::live;
  };
  struct ChannelUse {
    std::string name;
    net::MediumId medium;
    std::shared_ptr<Occlusion> occlusion;  // null: no occlusion
  };
  struct BusUse {  // of one name
    model::Bus options;
    std::string file;
    std::vector<net::BusId> buses;           // as many as there are ports: the most that may be needed
    std::vector<net::InterfaceId> ports;     // in the order of modules
    std::vector<PlacementIndex> placements;  // of the ports
    std::vector<std::uint8_t> masters;       // whether a port can be master
  };

  void update_buses(const world::World& world, BusUse& use);

  Receiver& receiver_;
  net::Network network_;
  std::vector<std::uint32_t> first_outlet_;   // by agent
  std::vector<net::InterfaceId> interfaces_;  // by outlet, over all agents; not valid: an ideal dock
  std::vector<Owner> owners_;                 // by interface
  std::vector<Antenna> antennas_;
  std::vector<DockWire> wires_;
  std::vector<std::uint32_t> wire_of_dock_;  // by dock of the world; nobody: none
  std::vector<ChannelUse> channels_;
  std::vector<BusUse> buses_;
  std::vector<Tally> tallies_;  // by interface

  std::vector<DockIndex> partners_;  // by dock, of engaged pairs, at the last update of links
  bool looked_ = false;              // whether links have been updated yet
  std::vector<DockIndex> seen_;      // scratch: the partners at this update
  net::FrameLog frames_;
};

}  // namespace volvox::exchange
