// The types of the interface of net/: handles, options, frames, reports. SI units; times are integer
// nanoseconds; positions are in the world frame.
// Plain values, except spans, which are valid during the call that they are given to.
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
inline constexpr InterfaceId everyone{};  // as a destination: broadcast

enum class InterfaceKind : std::uint8_t { wire, bus, radio };
std::string_view name(InterfaceKind kind);

// --- options -----------------------------------------------------------------------------

// Live: a frame takes bits / bit_rate + delay, and its receiver is called at exactly that time.
// Delayed: up to `capacity` bytes are transmitted in a tick; complete frames are delivered at the start of
// the next tick, when the rest of the queue continues.
enum class Timing : std::uint8_t { live, delayed };

struct WireOptions {
  double bit_rate = 1e6;  // bit/s; infinity: transmission takes no time
  Time delay{};           // propagation
  Timing timing = Timing::live;
  std::uint32_t capacity = 0;        // bytes per tick; delayed timing only
  std::uint32_t queue_limit = 1024;  // frames
  std::uint32_t largest_payload = 65535;
  std::uint32_t overhead = 0;  // bytes added to every payload on the wire
  friend bool operator==(const WireOptions&, const WireOptions&) = default;
};

enum class BusKind : std::uint8_t {
  can,     // any member sends; the lowest identifier wins the arbitration when the bus becomes idle
  serial,  // similar to I2C: the master writes to slaves and polls them; slaves never start
};
enum class BitStuffing : std::uint8_t { none, exact, worst };  // exact: of the actual bits, including the CRC

struct BusOptions {
  BusKind kind = BusKind::can;
  double bit_rate = 125e3;
  BitStuffing stuffing = BitStuffing::none;  // CAN only
  std::uint32_t queue_limit = 1024;          // frames per member
  std::uint32_t largest_payload = 4095;      // bytes; CAN sends more than 8 bytes in segments
  friend bool operator==(const BusOptions&, const BusOptions&) = default;
};

struct RadioOptions {
  double power_w = 1e-3;
  double antenna_gain = 1;  // linear, for sending and receiving
  double bit_rate = 250e3;
  double bandwidth_hz = 2e6;              // of the noise
  double noise_factor = 1;                // linear
  double receive_threshold_w = 3.16e-12;  // -85 dBm
  double carrier_threshold_w = 3.16e-12;  // infinity: never busy (ALOHA)
  double capture_ratio = 10;              // z: signal over noise and interference, linear, >= 1
  std::uint32_t window = 30;              // backoff drawn from {0 .. window-1} slots
  std::uint32_t largest_window = 0;       // limit of the doubling on retries; 0: no doubling
  Time slot{320'000};
  std::uint32_t queue_limit = 64;
  std::uint32_t largest_payload = 127;
  std::uint32_t overhead = 0;  // bytes added to every payload on the air
  bool acknowledge = false;    // addressed frames only
  std::uint32_t acknowledgement_bytes = 11;
  Time turnaround{192'000};                 // between a frame and its acknowledgement
  Time acknowledgement_timeout{2'000'000};  // after the end of the frame
  std::uint32_t retry_limit = 3;            // transmissions after the first
  // TS-OOK (ts_ook.h): pulses of this length, 0: a carrier. Frames then do not compete for the medium: a receiver that
  // locks on one loses bits where pulses of others hit its zeros, and the frame if they are more than it can repair.
  std::int64_t pulse_fs = 0;
  std::uint32_t spread = 1000;  // a bit takes so many pulses; bit_rate must be 1e15 / (pulse_fs spread)
  std::uint32_t repairs = 0;    // bits of a frame
  friend bool operator==(const RadioOptions&, const RadioOptions&) = default;
};

struct MediumOptions {
  double frequency_hz = 2.4e9;
  // Transmissions have no effect beyond this distance (m). 0: exact, every transmission affects every radio.
  // Culling changes results, because distant interference adds up, so it is off by default.
  double cull_radius = 0;
};

struct NetworkOptions {
  std::uint64_t seed = 1;
  // The largest number of successive rounds of callbacks at one instant.
  std::uint32_t largest_chain_at_one_instant = 10'000;
};

// --- frames ------------------------------------------------------------------------------

struct Outgoing {
  std::span<const std::byte> payload{};  // copied, or shared if it is the payload of the current callback
  InterfaceId destination = everyone;    // ignored by wires
  std::uint16_t port = 0;                // mailbox of the receiver
  std::uint32_t identifier = 0;          // CAN: priority; an extended frame if above 0x7ff
  Time at{-1};                           // time of entering the queue; negative: now
  bool report = false;                   // report success to the sender, too
};

enum class SendStatus : std::uint8_t { accepted, queue_full, unplugged, off };

struct Sent {
  std::uint64_t frame = 0;  // unique id: source interface and its frame count
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

// The outcome of a frame, as far as the sender can know it.
enum class Fate : std::uint8_t {
  sent,            // transmitted (and acknowledged, if requested)
  unplugged,       // the link was unplugged
  unacknowledged,  // all retries failed
  clashed,         // two senders used the same CAN identifier at the same time
  unanswered,      // no such slave on the bus
  switched_off,    // the radio of the sender was switched off
};
std::string_view name(Fate fate);

struct SendReport {
  NodeId node;
  InterfaceId interface;
  std::uint64_t frame = 0;
  Fate fate = Fate::sent;
  std::uint32_t attempts = 1;
};

// Totals of the network. Receptions and losses are counted once for each receiver.
struct Counters {
  std::uint64_t frames = 0;           // accepted by send()
  std::uint64_t transmissions = 0;    // started on a wire, bus or radio, including retries and acknowledgements
  std::uint64_t deliveries = 0;       // receptions passed to the listener
  std::uint64_t collisions = 0;       // lost by interference, or because the receiver was locked on another frame
  std::uint64_t weak = 0;             // above the noise, too weak to decode
  std::uint64_t transmit_aborts = 0;  // lost because the receiver was transmitting or began to transmit
  std::uint64_t overheard = 0;        // decoded, but addressed to another
  std::uint64_t queue_drops = 0;
  std::uint64_t unplugged = 0;     // frames lost by unplugging, or sent without a link
  std::uint64_t switched_off = 0;  // frames interrupted or refused because a radio was switched off
  std::uint64_t unacknowledged = 0;
  std::uint64_t retries = 0;
  std::uint64_t duplicates = 0;  // retransmissions of frames that were already received
  std::uint64_t clashes = 0;     // CAN frames lost to an equal identifier
  std::uint64_t unanswered = 0;
  std::uint64_t link_updates = 0;  // additions and subtractions of received powers
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

// Implemented by the user of the network. Called at the exact time of the event (network.now()), in the
// order of interfaces, by the thread that calls run(). May send, set timers, plug and unplug.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void received(Network&, const Reception&) {}
  virtual void send_finished(Network&, const SendReport&) {}
  virtual void timer(Network&, NodeId, std::uint64_t /*token*/) {}
};

}  // namespace volvox::net
