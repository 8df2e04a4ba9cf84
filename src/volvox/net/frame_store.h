// Frames and their payloads, pooled: a flood allocates while it grows and not afterwards.
// Queues are lists threaded through the pool. A payload is shared by the frames that carry
// it (a relay sends what it received without copying).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/check.h"
#include "volvox/net/types.h"

namespace volvox::net {

struct Frame {
  std::uint64_t id = 0;
  Time queued;
  std::uint32_t source = nothing;       // interface
  std::uint32_t destination = nothing;  // interface, or nothing: everyone
  std::uint32_t identifier = 0;
  std::uint32_t payload = nothing;
  std::uint32_t size = 0;      // of the payload, bytes
  std::uint32_t moved = 0;     // bytes that have crossed: delayed wires and CAN segments
  std::uint32_t sequence = 0;  // of the event that ends its flight
  std::uint32_t next = nothing;
  std::uint32_t references = 0;
  std::uint16_t port = 0;
  std::uint8_t attempts = 0;
  bool report = false;
  bool acknowledge = false;  // its receiver is asked for an acknowledgement
  bool poll = false;         // a master asks its destination for a frame; no payload
};

// A list of frames, first in, first out.
struct Fifo {
  std::uint32_t head = nothing, tail = nothing, length = 0;
  bool empty() const { return head == nothing; }
};

class FrameStore {
 public:
  // A new frame with one reference. The payload is copied, unless it is `shared` already.
  std::uint32_t add(std::span<const std::byte> payload);
  std::uint32_t add_sharing(std::uint32_t payload, std::uint32_t size);
  void retain(std::uint32_t frame) {
    VOLVOX_ASSERT(frames_[frame].references > 0);
    ++frames_[frame].references;
  }
  void release(std::uint32_t frame);

  Frame& operator[](std::uint32_t frame) { return frames_[frame]; }
  const Frame& operator[](std::uint32_t frame) const { return frames_[frame]; }
  std::span<const std::byte> payload(std::uint32_t frame) const;

  void push(Fifo& fifo, std::uint32_t frame);
  std::uint32_t pop(Fifo& fifo);  // the caller takes over the list's reference

  std::size_t alive() const { return frames_.size() - free_frames_.size(); }
  void clear();

  // Frames are saved by value where they are used: pool indices do not outlive a snapshot.
  void archive_frame(Archive& ar, std::uint32_t& frame);
  void archive_fifo(Archive& ar, Fifo& fifo);

 private:
  struct Payload {
    std::vector<std::byte> bytes;
    std::uint32_t references = 0;
  };
  std::uint32_t take_frame();
  std::uint32_t take_payload();

  std::vector<Frame> frames_;
  std::vector<std::uint32_t> free_frames_;
  std::vector<Payload> payloads_;
  std::vector<std::uint32_t> free_payloads_;
};

}  // namespace volvox::net
