#include "volvox/lattice/net_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "volvox/net/power.h"
#include "volvox/net/propagation.h"

namespace volvox::lattice {

// As those of net/scenarios/flood.h: noise is a capture ratio below what arrives at the range.
net::RadioOptions radio_of_range(double range, const net::MediumOptions& medium, double bit_rate) {
  net::RadioOptions radio;
  const double at_range = radio.power_w * net::Friis(medium.frequency_hz).gain({}, {range, 0, 0});
  const double noise = at_range / radio.capture_ratio;
  radio.bit_rate = radio.bandwidth_hz = bit_rate;
  radio.noise_factor = std::max(1.0, noise / net::thermal_noise_w(bit_rate));
  radio.receive_threshold_w = at_range;
  radio.carrier_threshold_w = at_range + noise;
  radio.window = 240;
  radio.slot = Time::seconds(0.004);
  radio.queue_limit = 4;
  return radio;
}

NetWorld::NetWorld(const Lattice& lattice, const NetWorldOptions& options)
    : options_(options), ensemble_(lattice), network_({.seed = options.seed}) {
  network_.set_listener(this);
}
NetWorld::~NetWorld() = default;

Result<void> NetWorld::add(std::span<const Cell> cells) {
  if (started_) return Error("catoms come too late", "add them before start()");
  if (auto added = ensemble_.add(cells); !added.ok()) return added;
  if (modules_) modules_->resize(ensemble_.count());
  return {};
}

Result<void> NetWorld::add_box(const Cell& low, const Cell& high) {
  if (started_) return Error("catoms come too late", "add them before start()");
  if (auto added = ensemble_.add_box(low, high); !added.ok()) return added;
  if (modules_) modules_->resize(ensemble_.count());
  return {};
}

// The wires of a catom are added one after another, and one to a catom with a lower number is plugged at once.
Result<void> NetWorld::connect() {
  const Lattice& lattice = ensemble_.lattice();
  const std::size_t count = ensemble_.count();
  const std::size_t wires = options_.wire ? 2 * ensemble_.links() : 0;
  network_.reserve(count, wires + (options_.radio ? count : 0));
  network_.reserve_wires(wires);
  net::MediumId air;
  if (options_.radio) {
    auto made = network_.add_medium(options_.medium);
    if (!made.ok()) return made.error();
    air = *made;
    network_.reserve_radios(air, count);
  }
  first_interface_.resize(count);
  wired_.resize(count);
  for (std::uint32_t catom = 0; catom < count; ++catom) {
    const net::NodeId node = network_.add_node();
    first_interface_[catom] = narrow<std::uint32_t>(network_.interfaces());
    const auto around = ensemble_.around(catom);
    for (int port = 0; port < lattice.ports() && options_.wire; ++port) {
      const std::uint32_t other = around.at(port);
      if (other == nobody) continue;
      auto wire = network_.add_wire(node, *options_.wire);
      if (!wire.ok()) return wire.error();
      wired_[catom] = narrow<std::uint16_t>(wired_[catom] | 1 << port);
      if (other < catom)
        if (auto plugged = network_.plug(*wire, interface_at(other, Lattice::opposite(port))); !plugged.ok())
          return plugged;
    }
    if (options_.radio)
      if (auto made = network_.add_radio(node, air, *options_.radio, lattice.position(ensemble_.cell(catom)));
          !made.ok())
        return made.error();
  }
  return {};
}

// Ports beyond those of the lattice: the radio, which comes after the wires.
net::InterfaceId NetWorld::interface_at(std::uint32_t catom, int port) const {
  const std::uint32_t before = wired_[catom] & ((1u << port) - 1);
  return network_.interface(first_interface_[catom] + static_cast<std::size_t>(std::popcount(before)));
}

bool NetWorld::is_connected(int port) const {
  return port >= ensemble_.lattice().ports() ? options_.radio.has_value() : (wired_[current_] >> port & 1) != 0;
}

void NetWorld::transmit(int port, Mailbox mailbox, std::span<const std::byte> content) {
  if (!is_connected(port)) return;
  const auto sent = network_.send(interface_at(current_, port), {.payload = content, .port = mailbox});
  if (!sent.ok()) throw CatomError(sent.error().text());
}

RandomStream& NetWorld::chance() {
  if (!random_) random_.emplace(options_.seed, ++draws_, "catom of a network");
  return *random_;
}

std::uint64_t NetWorld::key() const {
  return catom_key(RandomStream(options_.seed, static_cast<std::uint64_t>(tick_), "tick").bits(), current_);
}

// The first mistake ends the tick.
template <class Work>
void NetWorld::call(std::uint32_t catom, const Work& work) {
  if (!failure_.empty()) return;
  current_ = catom;
  random_.reset();
  try {
    Catom self(*this, *modules_);
    work(modules_->state(catom), self);
  } catch (const std::exception& error) {
    failure_ = fmt::format("tick {}: catom {} at {}, code module {}: {}", tick_, catom, text(ensemble_.cell(catom)),
                           modules_->type().name, error.what());
  }
}

Result<void> NetWorld::outcome() const {
  if (failure_.empty()) return {};
  return Error(failure_, "correct the code module, or give it a world that it is made for");
}

void NetWorld::received(net::Network&, const net::Reception& reception) {
  const std::uint32_t catom = reception.node.index;
  std::uint32_t wire = reception.interface.index - first_interface_[catom];
  int port = far_port;
  for (int p = 0; p < ensemble_.lattice().ports(); ++p)
    if ((wired_[catom] >> p & 1) != 0 && wire-- == 0) {
      port = p;
      break;
    }
  for (const CodeModules::Link& link : modules_->links()) {
    if (link.mailbox != reception.port) continue;
    called_.insert(catom);
    call(catom, [&](void* state, Catom& self) { (void)link.call(state, self, port, reception.payload); });
  }
}

Result<void> NetWorld::start() {
  if (started_) return Error("the world was started before", "call start() once");
  if (!modules_) return Error("the catoms have no program", "load one before start()");
  if (!options_.wire && !options_.radio) return Error("the catoms have neither wires nor radios", "give them some");
  if (auto connected = connect(); !connected.ok()) return connected;
  modules_->resize(ensemble_.count());
  called_.resize(ensemble_.count());
  started_ = true;
  for (std::uint32_t catom = 0; modules_->start != nullptr && catom < ensemble_.count(); ++catom)
    call(catom, modules_->start);
  return outcome();
}

Result<void> NetWorld::tick() {
  if (!started_) return Error("the world was not started", "call start() first");
  if (auto good = outcome(); !good.ok()) return good;
  network_.begin_tick();
  for (std::uint32_t catom = 0; modules_->new_tick != nullptr && catom < ensemble_.count(); ++catom) {
    if (!modules_->acts(catom)) continue;
    called_.insert(catom);
    call(catom, modules_->new_tick);
  }
  if (auto ran = network_.run(options_.tick.start_of(tick_ + 1)); !ran.ok()) return ran;
  if (modules_->end_tick != nullptr) called_.each([&](std::uint32_t catom) { call(catom, modules_->end_tick); });
  called_.clear();
  if (auto good = outcome(); !good.ok()) return good;
  ++tick_;
  return {};
}

bool NetWorld::idle() const {
  for (std::uint32_t catom = 0; modules_->new_tick != nullptr && catom < ensemble_.count(); ++catom)
    if (modules_->acts(catom)) return false;
  return network_.quiet();
}

Result<void> NetWorld::run(std::int64_t most_ticks) {
  for (std::int64_t i = 0; i < most_ticks && !idle(); ++i)
    if (auto done = tick(); !done.ok()) return done;
  return {};
}

void NetWorld::archive(Archive& ar) {
  ensemble_.archive(ar);
  ar.section("lattice", "network");
  ar("tick", tick_);
  ar("draws", draws_);
  network_.archive(ar);
  if (ar.loading()) modules_->resize(ensemble_.count());
  modules_->archive(ar);
}

std::uint64_t NetWorld::hash() {
  HashArchive ar;
  archive(ar);
  return ar.value();
}

}  // namespace volvox::lattice
