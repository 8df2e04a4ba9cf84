// Point-to-point wires: full duplex, with a FIFO queue for each direction. Internal.
// Times in ns of simulated time. Owned by the network, in whose one thread everything here happens. Deterministic.
#pragma once

#include <vector>

#include "volvox/base/archive.h"
#include "volvox/net/core.h"
#include "volvox/net/profiles.h"

namespace volvox::net {

class Wires {
 public:
  explicit Wires(Core& core) : core_(core) {}

  void add(std::uint32_t interface, const WireOptions& options);
  void reserve(std::size_t wires) { ends_.reserve(wires); }
  const WireOptions& options(std::uint32_t interface) const { return profiles_[end_of(interface).profile]; }
  std::uint32_t peer(std::uint32_t interface) const { return end_of(interface).peer; }

  void plug(std::uint32_t a, std::uint32_t b);
  // Frames in flight and queued frames of both directions are lost and counted.
  void unplug(std::uint32_t interface);

  // A frame was added to the interface's queue; starts its transmission if the wire is free.
  void frame_queued(std::uint32_t interface);
  bool waits_for_tick() const;  // a wire with delayed timing has frames that the next tick moves
  void begin_tick();

  void frame_end(std::uint32_t interface, std::uint32_t sequence);
  void arrival(std::uint32_t interface, std::uint32_t sequence);
  bool waits_for(const Event& event) const;

  void archive(Archive& ar);

 private:
  // One end of a wire with the frames that it sends.
  struct End {
    std::uint32_t interface = nothing;
    std::uint32_t peer = nothing;  // interface at the other end
    std::uint32_t profile = 0;
    std::uint32_t sending = nothing;   // the frame in transmission
    std::uint32_t sequence = nothing;  // of the event that ends it
    std::uint32_t capacity_left = 0;   // delayed timing: bytes left in this tick
    Fifo flying;                       // live: in flight; delayed: transmitted, delivered at the next tick
  };
  End& end_of(std::uint32_t interface) { return ends_[core_.interfaces[interface].local]; }
  const End& end_of(std::uint32_t interface) const { return ends_[core_.interfaces[interface].local]; }
  void start_next(End& end);
  void move_bytes(End& end);
  void lose(std::uint32_t frame, std::uint32_t interface);
  void lose_all(End& end);
  void report_sent(std::uint32_t frame);

  Core& core_;
  Profiles<WireOptions> profiles_;
  std::vector<End> ends_;
  std::vector<std::uint32_t> delayed_;  // ends with delayed timing
};

}  // namespace volvox::net
