// What crosses the border of the network library: handles, options, frames, reports.
// SI units throughout; times are integer nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "volvox/base/id.h"
#include "volvox/base/math.h"
#include "volvox/base/time.h"

namespace volvox::net {

using NodeId = Id<struct NodeTag>;
using InterfaceId = Id<struct InterfaceTag>;
using BusId = Id<struct BusTag>;
using MediumId = Id<struct MediumTag>;

inline constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();
inline constexpr InterfaceId everyone{};  // as a destination

enum class InterfaceKind : std::uint8_t { wire, bus, radio };
std::string_view name(InterfaceKind kind);

// --- options -----------------------------------------------------------------------------

// Live: a frame takes bits / bit_rate + delay, and its receiver is called at that very time.
// Delayed: up to `capacity` bytes cross in a tick, and what has crossed is delivered at the
// start of the next tick; the rest of the queue goes on then.
enum class Timing : std::uint8_t { live, delayed };

struct WireOptions {
  double bit_rate = 1e6;  // bit/s; infinity: frames take no time
  Time delay{};           // propagation
  Timing timing = Timing::live;
  std::uint32_t capacity = 0;        // bytes a tick; delayed timing only
  std::uint32_t queue_limit = 1024;  // frames
  std::uint32_t largest_payload = 65535;
  std::uint32_t overhead = 0;  // bytes added to every payload on the wire
  friend bool operator==(const WireOptions&, const WireOptions&) = default;
};

enum class BusKind : std::uint8_t {
  can,     // any member sends; the lowest identifier wins when the bus falls idle
  serial,  // I2C-like: the master writes to slaves and polls them; slaves never start
};
enum class BitStuffing : std::uint8_t { none, exact, worst };  // exact: of the real bits, with the CRC

struct BusOptions {
  BusKind kind = BusKind::can;
  double bit_rate = 125e3;
  BitStuffing stuffing = BitStuffing::none;  // CAN only
  std::uint32_t queue_limit = 1024;          // frames, of each member
  std::uint32_t largest_payload = 4095;      // longer ones than 8 bytes are segmented on CAN
  friend bool operator==(const BusOptions&, const BusOptions&) = default;
};

struct RadioOptions {
  double power_w = 1e-3;
  double antenna_gain = 1;  // linear, both ways
  double bit_rate = 250e3;
  double bandwidth_hz = 2e6;              // of the noise
  double noise_factor = 1;                // linear
  double receive_threshold_w = 3.16e-12;  // -85 dBm
  double carrier_threshold_w = 3.16e-12;  // infinity: never busy (ALOHA)
  double capture_ratio = 10;              // z: signal over noise and interference, linear, >= 1
  std::uint32_t window = 30;              // backoff drawn from {0 .. window-1} slots
  std::uint32_t largest_window = 0;       // of the doubling on retries; 0: no doubling
  Time slot{320'000};
  std::uint32_t queue_limit = 64;
  std::uint32_t largest_payload = 127;
  std::uint32_t overhead = 0;  // bytes added to every payload on the air
  bool acknowledge = false;    // addressed frames only
  std::uint32_t acknowledgement_bytes = 11;
  Time turnaround{192'000};                 // between a frame and its acknowledgement
  Time acknowledgement_timeout{2'000'000};  // after the end of the frame
  std::uint32_t retry_limit = 3;            // transmissions after the first
  friend bool operator==(const RadioOptions&, const RadioOptions&) = default;
};

struct MediumOptions {
  double frequency_hz = 2.4e9;
  // Transmissions do not exist beyond this distance. 0: exact, every radio hears every other.
  // Culling changes results (far interference adds up), so it is never on by itself.
  double cull_radius = 0;
};

struct NetworkOptions {
  std::uint64_t seed = 1;
  // Rounds of callbacks that answer each other without time passing.
  std::uint32_t largest_chain_at_one_instant = 10'000;
};

// --- frames ------------------------------------------------------------------------------

struct Outgoing {
  std::span<const std::byte> payload{};  // copied, or shared if it is the payload being received
  InterfaceId destination = everyone;    // wires have only their other end
  std::uint16_t port = 0;                // which mailbox of the receiver
  std::uint32_t identifier = 0;          // CAN: priority; above 0x7ff an extended frame
  Time at{-1};                           // when to enter the queue; negative: now
  bool report = false;                   // tell the sender when it went well, too
};

enum class SendStatus : std::uint8_t { accepted, queue_full, unplugged, off };

struct Sent {
  std::uint64_t frame = 0;  // source interface and its frame count; unique
  SendStatus status = SendStatus::accepted;
};

struct Reception {
  NodeId node;
  InterfaceId interface;
  InterfaceId from;
  std::uint64_t frame = 0;
  std::uint16_t port = 0;
  std::uint32_t identifier = 0;
  Time queued, arrived;
  double power_w = 0;                  // radio only
  std::span<const std::byte> payload;  // valid during the callback
};

// What became of a frame, as far as its sender can know.
enum class Fate : std::uint8_t {
  sent,            // left in full (acknowledged, where that was asked for)
  unplugged,       // the link was cut under it
  unacknowledged,  // all retries failed
  clashed,         // two senders used one CAN identifier at once
  unanswered,      // no such slave on the bus
  switched_off,    // the sender's radio was
};
std::string_view name(Fate fate);

struct SendReport {
  NodeId node;
  InterfaceId interface;
  std::uint64_t frame = 0;
  Fate fate = Fate::sent;
  std::uint32_t attempts = 1;
};

// Totals over the network. A frame that several receivers could hear counts once for each.
struct Counters {
  std::uint64_t frames = 0;           // accepted by send()
  std::uint64_t transmissions = 0;    // started on a wire, bus or antenna (with retries and acknowledgements)
  std::uint64_t deliveries = 0;       // receptions handed to their receiver
  std::uint64_t collisions = 0;       // lost to interference, or to a receiver locked on another frame
  std::uint64_t weak = 0;             // above the noise, below what the receiver decodes
  std::uint64_t transmit_aborts = 0;  // lost because the receiver was or began transmitting
  std::uint64_t overheard = 0;        // decoded, but addressed to another
  std::uint64_t queue_drops = 0;
  std::uint64_t unplugged = 0;     // frames lost with their link, or sent without one
  std::uint64_t switched_off = 0;  // frames cut or refused because a radio was switched off
  std::uint64_t unacknowledged = 0;
  std::uint64_t retries = 0;
  std::uint64_t duplicates = 0;  // retransmissions of what was already received
  std::uint64_t clashes = 0;     // CAN frames lost to an equal identifier
  std::uint64_t unanswered = 0;
  std::uint64_t link_updates = 0;  // received powers added or removed: the work of the radio
  std::uint64_t events = 0;

  template <class Archive>
  void archive(Archive& ar) {
    ar("frames", frames), ar("transmissions", transmissions), ar("deliveries", deliveries);
    ar("collisions", collisions), ar("weak", weak), ar("transmit_aborts", transmit_aborts);
    ar("overheard", overheard), ar("queue_drops", queue_drops), ar("unplugged", unplugged);
    ar("switched_off", switched_off), ar("unacknowledged", unacknowledged), ar("retries", retries);
    ar("duplicates", duplicates), ar("clashes", clashes), ar("unanswered", unanswered);
    ar("link_updates", link_updates), ar("events", events);
  }
};

class Network;

// Whoever uses the network. Called at the exact time of the event (network.now()), in the
// order of interfaces; may send, set timers, plug and unplug.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void received(Network&, const Reception&) {}
  virtual void send_finished(Network&, const SendReport&) {}
  virtual void timer(Network&, NodeId, std::uint64_t /*token*/) {}
};

}  // namespace volvox::net
