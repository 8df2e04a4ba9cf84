// Joins the modules' wires, radios and buses to the discrete-event network: positions and links
// come from the world, frames become messages. There is none unless some module declares an
// interface; docks without a wire are the ideal network's.
//
// Serial by definition. Within a tick positions and links stay as they were at its start.
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

// Laws by which radio waves lose power, beside our own: the frequency (Hz) of the channel and its
// further attributes make one.
using PropagationFactory = std::function<std::unique_ptr<net::Propagation>(double frequency, const Parameters&)>;
using PropagationRegistry = Registry<PropagationFactory>;

// Whoever has the modules' minds. Called by run() alone, at the exact time (network().now()), and may send.
class Receiver {
 public:
  virtual void received(std::uint32_t agent, Message message) = 0;
  virtual void sent(std::uint32_t agent, const SendReport& report) = 0;

 protected:
  ~Receiver() = default;
};

class Exchange final : private net::Listener {
 public:
  // Null if no module has an interface. Bad values come back with the file and line of the
  // element that gave them. The receiver must outlive the exchange.
  static Result<std::unique_ptr<Exchange>> create(const world::World& world, const PropagationRegistry& laws,
                                                  std::uint64_t seed, Receiver& receiver);

  // Whether what goes out there is the network's; otherwise it is the ideal network's.
  bool carries(std::uint32_t agent, int outlet) const { return interface(agent, outlet).valid(); }

  // The phases.
  void begin_tick(const world::World& world);
  // Accepted, or lost and counted; an error is a mistake of the sender's. `at`: not before then.
  Result<bool> send(std::uint32_t agent, const Outgoing& message, Time at);
  void all_sent(const world::World& world, Sight& sight);  // of this tick's start
  Result<void> run(Time tick_end) { return network_.run(tick_end); }
  void update_links(const world::World& world);  // what let go cuts its frames

  // What modules can know.
  LinkState link(std::uint32_t agent, int outlet) const;
  Signal signal(std::uint32_t agent, int outlet) const;

  // For those who look on: recorders, viewers, experiments, tests.
  const net::Network& network() const { return network_; }
  struct Owner {
    std::uint32_t agent = 0;
    int outlet = 0;
  };
  Owner owner(std::uint32_t interface) const { return owners_[interface]; }
  net::InterfaceId interface(std::uint32_t agent, int outlet) const {
    return interfaces_[first_outlet_[agent] + outlet];
  }
  // The network's events of the last tick, if they are kept. Never part of the state.
  void keep_frames(bool keep);
  const net::FrameLog& frames() const { return frames_; }

  // Things that are allowed but hardly meant.
  std::vector<std::string> warnings(const world::World& world) const;

  void archive(Archive& ar);
  std::size_t memory_bytes() const;

 private:
  Exchange(std::uint64_t seed, Receiver& receiver) : receiver_(receiver), network_({.seed = seed}) {}
  Result<void> add_channels(const world::World& world, const PropagationRegistry& laws, std::uint64_t seed);
  Result<void> add_module(const world::World& world, std::uint32_t agent);
  Result<void> add_bus_port(const world::World& world, std::uint32_t agent, int outlet, const model::Bus& bus);
  void add_interface(std::uint32_t agent, int outlet, net::InterfaceId id);
  net::InterfaceId wanted_peer(std::uint32_t dock) const;
  std::vector<std::uint32_t> components(const world::World& world) const;
  Result<net::InterfaceId> destination(std::uint32_t agent, int outlet, int address) const;

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
    std::uint32_t link = 0;  // of the world
    Vec3 place;              // in the link's frame
  };
  struct DockWire {
    std::uint32_t dock = 0;  // of the world
    net::InterfaceId id;
    net::Timing timing = net::Timing::live;
  };
  struct ChannelUse {
    std::string name;
    net::MediumId medium;
    std::shared_ptr<Occlusion> occlusion;  // null: nothing is in the way
  };
  struct BusUse {  // of one name
    model::Bus options;
    std::string file;
    std::vector<net::BusId> buses;          // as many as there are ports: the most that may be needed
    std::vector<net::InterfaceId> ports;    // in the order of modules
    std::vector<std::uint32_t> placements;  // of the ports
    std::vector<std::uint8_t> masters;      // whether a port would be master
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

  std::vector<std::uint32_t> partners_;  // by dock, of engaged pairs, when links were last looked at
  bool looked_ = false;                  // whether they were
  std::vector<std::uint32_t> seen_;      // scratch: partners at this look
  net::FrameLog frames_;
};

}  // namespace volvox::exchange
