// Radios: contention for the medium (CSMA/CA), half-duplex reception with capture,
// acknowledgements. Internal. SI units; in the one thread of its network, which makes it deterministic.
//
// Lock:    an idle radio locks on a frame with P >= threshold and P >= z (noise + interference).
// Success: P >= z (noise + interference) during the whole frame. Since P is constant, this is a limit
//          on the sum of powers, which the medium watches.
// Pulses:  radios of TS-OOK (ts_ook.h) are never busy for others; a frame is lost to what pulses spoil of its bits, not
//          to the sum of powers.
// Carrier: busy while the radio transmits or noise + signals >= the carrier threshold.
// Times in ns of simulated time. Owned by the network, in whose one thread everything here happens. Deterministic.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/net/core.h"
#include "volvox/net/medium.h"
#include "volvox/net/profiles.h"

namespace volvox::net {

class Radios {
 public:
  explicit Radios(Core& core) : core_(core) {}

  std::uint32_t add_medium(const MediumOptions& options, std::unique_ptr<Propagation> propagation);
  std::size_t media() const { return media_.size(); }
  Medium& medium(std::uint32_t index) { return *media_[index]; }
  const Medium& medium(std::uint32_t index) const { return *media_[index]; }

  void add(std::uint32_t interface, std::uint32_t medium, const RadioOptions& options, const Vec3& position);
  // Radios of one medium have the same pulses, or none.
  bool may_share(std::uint32_t medium, const RadioOptions& options) const;
  const RadioOptions& options(std::uint32_t interface) const { return profile(at(interface)); }
  void move(std::uint32_t interface, const Vec3& position);
  Vec3 position(std::uint32_t interface) const;
  void reserve(std::uint32_t medium, std::size_t radios);

  std::uint32_t number(std::uint32_t interface) const { return index(interface); }
  std::uint32_t medium_index(std::uint32_t interface) const { return at(interface).medium; }
  bool on(std::uint32_t interface) const { return state_[index(interface)] != State::off; }
  // Switching off interrupts its transmission; its reception and its queue are lost and counted.
  void switch_to(std::uint32_t interface, bool on);
  double heard_w(std::uint32_t interface) const;  // noise and all signals
  double watt(std::uint32_t interface, PowerUnits power) const { return medium_of(at(interface)).watt(power); }
  bool carrier(std::uint32_t interface) const { return busy(at(interface)); }

  void frame_queued(std::uint32_t interface);

  void backoff_expiry(std::uint32_t interface, std::uint32_t sequence);
  void acknowledgement_start(std::uint32_t interface, std::uint32_t sequence);
  void acknowledgement_timeout(std::uint32_t interface, std::uint32_t sequence);
  void frame_end(std::uint32_t interface, std::uint32_t sequence);
  // The receivers detect all transmissions that started at this instant.
  bool receptions_due() const { return receptions_due_; }
  void start_receptions();
  bool waits_for(const Event& event) const;

  void archive(Archive& ar);

 private:
  enum class State : std::uint8_t { off, idle, receiving, transmitting };
  enum class Contention : std::uint8_t { none, running, frozen, awaiting_acknowledgement };

  struct Radio {
    RandomStream backoff;
    std::int64_t countdown = 0;  // running: time of expiry, ns; frozen: slots left
    std::uint32_t interface = nothing;
    std::uint32_t armed =
        nothing;  // sequence of the event that contention waits for; a backoff event may come too early
    std::uint32_t transmission = nothing;  // its own
    std::uint32_t reception = nothing;     // the reception it is locked on
    std::uint32_t profile = 0;
    std::uint16_t medium = 0;
    Contention contention = Contention::none;
  };
  static_assert(sizeof(RandomStream) > 16 || sizeof(Radio) <= 48);  // there may be a million of them
  // In a pool and not part of Radio, because few radios receive at the same time.
  struct Reception {
    std::uint32_t transmission = nothing;
    PowerUnits power = 0;
    PowerUnits limit = 0;                       // the sum, including this frame, that destroys it
    bool spoiled = false;                       // there was too much interference
    std::vector<std::uint32_t> spoiled_bits{};  // of pulses, sorted
  };
  struct Transmission {
    std::uint32_t radio = nothing;
    std::uint32_t frame = nothing;
    std::uint32_t sequence = nothing;  // of the event that ends it
    std::uint64_t acknowledges = 0;    // the id of the acknowledged frame, if this is an acknowledgement
    bool acknowledgement = false;
    Links links;
    std::vector<std::uint32_t> locked;  // radios
    Time start;                         // of pulses
    std::vector<std::uint32_t> heard;   // of pulses: radios that can tell them from noise, sorted
  };
  struct Arrival {
    std::uint32_t transmission, slot;
    PowerUnits power;
  };
  struct OwedAcknowledgement {
    std::uint32_t to = nothing;  // interface
    std::uint64_t frame = 0;
    std::uint32_t sequence = nothing;
    template <class A>
    void archive(A& ar) {
      ar("to", to), ar("frame", frame), ar("sequence", sequence);
    }
  };
  // A kind of radio. Its limits are in the medium's units.
  struct Kind {
    RadioOptions options;
    std::uint32_t medium = 0;
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  // The options that are needed often, as integers.
  struct Limits {
    PowerUnits receive = 0, carrier = 0, noise = 0;
    double bandwidth_hz = 0;
    std::uint32_t capture_q16 = 0;  // z in 1/65536
  };

  std::uint32_t index(std::uint32_t interface) const { return core_.interfaces[interface].local; }
  Radio& at(std::uint32_t interface) { return radios_[index(interface)]; }
  const Radio& at(std::uint32_t interface) const { return radios_[index(interface)]; }
  std::uint32_t index(const Radio& radio) const { return narrow<std::uint32_t>(&radio - radios_.data()); }
  State& state(const Radio& radio) { return state_[index(radio)]; }
  State state(const Radio& radio) const { return state_[index(radio)]; }
  const RadioOptions& profile(const Radio& radio) const { return profiles_[radio.profile].options; }
  const Limits& limits(const Radio& radio) const { return limits_[radio.profile]; }
  const Limits& limits_of(std::uint32_t radio) const {
    return limits_.size() == 1 ? limits_[0] : limits_[radios_[radio].profile];
  }
  Medium& medium_of(const Radio& radio) { return *media_[radio.medium]; }
  const Medium& medium_of(const Radio& radio) const { return *media_[radio.medium]; }
  Fifo& queue(const Radio& radio) { return core_.interfaces[radio.interface].queue; }
  // The largest noise and interference at which a signal can be decoded.
  static PowerUnits tolerable_interference(PowerUnits power, std::uint32_t capture_q16);

  Limits limits_for(const Kind& kind) const;
  void unit_changed(std::uint32_t medium);
  bool busy(const Radio& radio) const;
  void update_watch(const Radio& radio);
  void contend(Radio& radio);
  void run_backoff(Radio& radio, std::int64_t slots);
  void arm(Radio& radio, Time expiry);
  void record_slots_left(LogKind kind, const Radio& radio);
  void freeze(Radio& radio);
  void resume(Radio& radio);
  void transmit(Radio& radio, std::uint32_t frame, std::uint64_t acknowledges, bool acknowledgement);
  void power_rose(Radio& radio);
  void notice(const Arrival& arrival);
  bool pulses(const Radio& radio) const { return profile(radio).pulse_fs > 0; }
  void notice_pulses(Radio& radio, const Arrival& arrival);
  void spoil_bits(Radio& receiver, const Transmission& by);
  std::int64_t arrival_fs(const Transmission& transmission, std::uint32_t receiver, Time since) const;
  std::vector<std::byte> bits_on_air(const Transmission& transmission) const;
  void lock(Radio& radio, Reception reception);
  Reception unlock(Radio& radio);
  void lose_lock(Radio& radio, LogKind why, std::uint64_t& counter);
  void end_transmission(Radio& radio, bool cut);
  void end_reception(Radio& receiver, std::uint32_t transmission, bool cut);
  void decoded(Radio& receiver, const Transmission& transmission, PowerUnits power);
  void owe_acknowledgement(Radio& receiver, const Frame& frame);
  void finish_head(Radio& radio, Fate fate);
  std::uint32_t take_transmission();
  void archive_transmission(Archive& ar, Radio& radio);
  void archive_radio(Archive& ar, Radio& radio);

  Core& core_;
  std::vector<std::unique_ptr<Medium>> media_;
  Profiles<Kind> profiles_;
  std::vector<Limits> limits_;
  std::vector<Radio> radios_;
  // By medium: the medium must be idle for this time before a backoff runs, so that acknowledgements come first. As in
  // IEEE 802.11: the turnaround and two slots (the longest of all radios of the medium that acknowledge; otherwise 0).
  std::vector<Time> space_;
  // By radio, only where there is such a space: the slots of the running backoff when it began.
  std::vector<std::uint32_t> slots_at_start_;
  // Apart from Radio, because most arrivals need only this: with one byte per radio it stays in the cache.
  std::vector<State> state_;
  std::vector<Transmission> transmissions_;
  std::vector<std::uint32_t> free_transmissions_;
  std::vector<Reception> receptions_;
  std::vector<std::uint32_t> free_receptions_;
  // Only for addressed frames with acknowledgement, so they cost nothing in floods.
  std::map<std::uint32_t, OwedAcknowledgement> owed_;                               // by interface
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last_received_;  // (receiver, sender) -> frame

  bool receptions_due_ = false;
  std::vector<Arrival> arrivals_;
  std::vector<Medium::Hit> hits_;      // scratch
  std::vector<std::uint32_t> fallen_;  // scratch
};

}  // namespace volvox::net
