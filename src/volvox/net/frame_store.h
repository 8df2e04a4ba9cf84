// Pools of frames and payloads: a flood allocates memory only while it grows. Queues are linked lists
// within the pool. Frames share payloads, so that a relay forwards a frame without copying it. Frames
// and payloads are reference counted. Internal.
// Owned by the network; one thread. Which slot a frame gets depends on the order of events alone.
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
  std::uint32_t destination = nothing;  // interface; nothing: broadcast
  std::uint32_t identifier = 0;
  std::uint32_t payload = nothing;
  std::uint32_t size = 0;      // of the payload, bytes
  std::uint32_t moved = 0;     // bytes already transmitted: delayed wires and CAN segments
  std::uint32_t sequence = 0;  // of the event of its arrival
  std::uint32_t next = nothing;
  std::uint32_t references = 0;
  std::uint16_t port = 0;
  std::uint8_t attempts = 0;
  bool report = false;
  bool acknowledge = false;  // the receiver must acknowledge it
  bool poll = false;         // a master polls its destination; no payload
};

// A linked list of frames.
struct Fifo {
  std::uint32_t head = nothing, tail = nothing, length = 0;
  bool empty() const { return head == nothing; }
};

class FrameStore {
 public:
  // A new frame with one reference; add() copies the payload, add_sharing() uses one of the pool.
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
  std::uint32_t pop(Fifo& fifo);  // the caller gets the list's reference

  std::size_t alive() const { return frames_.size() - free_frames_.size(); }
  void clear();

  // Frames are saved by value, because pool indices differ after a restore.
  void archive_frame(Archive& ar, std::uint32_t& frame);
  void archive_fifo(Archive& ar, Fifo& fifo);
  // Whether all frames belong to a network with so many interfaces: those of a damaged snapshot may not.
  bool consistent(std::size_t interfaces) const;

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
