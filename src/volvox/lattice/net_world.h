// Code modules over Vouivre's network (net/): catoms on a lattice whose links are wires with a bit rate, or radios that
// collide, instead of DPRSim's ideal links. The same code modules as in CatomWorld, unchanged; states lie in arrays.
//
// In a tick: new_tick of those that act, then the network runs to the end of the tick. Callbacks of mailboxes are
// called live, at the exact time at which a message arrives, and what they send leaves at once: a wave may cross many
// links within a tick. Then end_tick of those that were called. Catoms have a port for each neighbour of the lattice;
// with a radio one more, which everybody in range hears, and what came by radio came at far_port. They do not move. SI
// units. One thread: the network is serial. The same seed gives the same run, also after a snapshot.
#pragma once

#include <memory>
#include <optional>

#include "volvox/base/time.h"
#include "volvox/lattice/code_module.h"
#include "volvox/lattice/ensemble.h"
#include "volvox/net/network.h"

namespace volvox::lattice {

struct NetWorldOptions {
  std::uint64_t seed = 1;
  TickLength tick{};
  std::optional<net::WireOptions> wire{};    // none: no wires
  std::optional<net::RadioOptions> radio{};  // none: no radio
  net::MediumOptions medium{};
};

// A radio whose frames are received at up to `range`, m, where nobody else sends.
net::RadioOptions radio_of_range(double range, const net::MediumOptions& medium, double bit_rate = 6000);

class NetWorld final : private CatomHost, private net::Listener {
 public:
  NetWorld(const Lattice& lattice, const NetWorldOptions& options);
  ~NetWorld() override;
  NetWorld(const NetWorld&) = delete;
  NetWorld& operator=(const NetWorld&) = delete;

  // Before start(), in this order.
  template <class Program>
  Result<void> load(const Program& prototype = {}) {
    modules_ = std::make_unique<ProgramArray<Program>>(prototype);
    return {};
  }
  Result<void> add(std::span<const Cell> cells);
  Result<void> add_box(const Cell& low, const Cell& high);

  Result<void> start();
  Result<void> tick();
  Result<void> run(std::int64_t most_ticks);  // until nothing is on its way and nobody acts by itself
  bool idle() const;

  const Ensemble& ensemble() const { return ensemble_; }
  const net::Network& network() const { return network_; }
  std::int64_t ticks() const override { return tick_; }
  template <class Program>
  Program* state(CatomId catom) {
    return static_cast<Program*>(modules_->state(catom));
  }
  std::uint64_t hash();
  void archive(Archive& ar);

 private:
  std::uint32_t number() const override { return current_; }
  int connectors() const override { return ensemble_.lattice().ports() + (options_.radio ? 1 : 0); }
  bool is_connected(int port) const override;
  void transmit(int port, Mailbox mailbox, std::span<const std::byte> content) override;
  RandomStream& chance() override;
  std::uint64_t key() const override;
  void received(net::Network& network, const net::Reception& reception) override;

  Result<void> connect();
  net::InterfaceId interface_at(std::uint32_t catom, int port) const;
  template <class Work>
  void call(std::uint32_t catom, const Work& work);
  Result<void> outcome() const;

  NetWorldOptions options_;
  Ensemble ensemble_;
  net::Network network_;
  std::unique_ptr<CodeModules> modules_;
  std::vector<std::uint32_t> first_interface_;  // by catom
  std::vector<std::uint16_t> wired_;            // by catom: its ports with a wire, a bit each
  ActiveSet called_;                            // in this tick
  std::int64_t tick_ = 0;
  std::uint64_t draws_ = 0;    // calls that drew random numbers
  std::uint32_t current_ = 0;  // the catom that is called
  std::optional<RandomStream> random_;
  bool started_ = false;
  std::string failure_;
};

}  // namespace volvox::lattice
