#include "volvox/net/frame_store.h"

#include <algorithm>

#include "volvox/base/index.h"

namespace volvox::net {

std::uint32_t FrameStore::take_frame() {
  if (free_frames_.empty()) {
    frames_.emplace_back();
    return narrow<std::uint32_t>(frames_.size() - 1);
  }
  const std::uint32_t frame = free_frames_.back();
  VOLVOX_ASSERT(frames_[frame].references == 0);
  free_frames_.pop_back();
  frames_[frame] = {};
  return frame;
}

std::uint32_t FrameStore::take_payload() {
  if (free_payloads_.empty()) {
    payloads_.emplace_back();
    return narrow<std::uint32_t>(payloads_.size() - 1);
  }
  const std::uint32_t payload = free_payloads_.back();
  VOLVOX_ASSERT(payloads_[payload].references == 0);
  free_payloads_.pop_back();
  return payload;
}

std::uint32_t FrameStore::add(std::span<const std::byte> payload) {
  const std::uint32_t frame = take_frame();
  const std::uint32_t place = take_payload();
  payloads_[place].bytes.assign(payload.begin(), payload.end());
  payloads_[place].references = 1;
  frames_[frame].payload = place;
  frames_[frame].size = narrow<std::uint32_t>(payload.size());
  frames_[frame].references = 1;
  return frame;
}

std::uint32_t FrameStore::add_sharing(std::uint32_t payload, std::uint32_t size) {
  VOLVOX_ASSERT(payload < payloads_.size() && payloads_[payload].references > 0);
  VOLVOX_ASSERT(size <= payloads_[payload].bytes.size());
  const std::uint32_t frame = take_frame();
  ++payloads_[payload].references;
  frames_[frame].payload = payload;
  frames_[frame].size = size;
  frames_[frame].references = 1;
  return frame;
}

void FrameStore::release(std::uint32_t frame) {
  VOLVOX_ASSERT(frame < frames_.size());
  Frame& record = frames_[frame];
  VOLVOX_ASSERT(record.references > 0 && payloads_[record.payload].references > 0);
  if (--record.references > 0) return;
  if (--payloads_[record.payload].references == 0) free_payloads_.push_back(record.payload);
  free_frames_.push_back(frame);
}

std::span<const std::byte> FrameStore::payload(std::uint32_t frame) const {
  VOLVOX_ASSERT(frame < frames_.size() && frames_[frame].references > 0);
  VOLVOX_ASSERT(frames_[frame].payload < payloads_.size());
  return payloads_[frames_[frame].payload].bytes;
}

void FrameStore::push(Fifo& fifo, std::uint32_t frame) {
  VOLVOX_ASSERT(frame < frames_.size() && frames_[frame].references > 0);
  VOLVOX_ASSERT((fifo.head == nothing) == (fifo.tail == nothing));
  VOLVOX_ASSERT((fifo.length == 0) == fifo.empty());
  frames_[frame].next = nothing;
  if (fifo.tail == nothing) fifo.head = frame;
  else frames_[fifo.tail].next = frame;
  fifo.tail = frame;
  ++fifo.length;
}

std::uint32_t FrameStore::pop(Fifo& fifo) {
  VOLVOX_ASSERT(!fifo.empty() && fifo.length > 0);
  VOLVOX_ASSERT(frames_[fifo.head].references > 0);
  const std::uint32_t frame = fifo.head;
  fifo.head = frames_[frame].next;
  if (fifo.head == nothing) fifo.tail = nothing;
  frames_[frame].next = nothing;
  --fifo.length;
  return frame;
}

void FrameStore::clear() {
  frames_.clear();
  free_frames_.clear();
  payloads_.clear();
  free_payloads_.clear();
}

void FrameStore::archive_frame(Archive& ar, std::uint32_t& frame) {
  std::uint8_t present = frame != nothing;
  ar("present", present);
  if (ar.loading()) frame = present != 0 ? add({}) : nothing;
  if (frame == nothing) return;
  // A copy, because adding frames while loading may reallocate the pool.
  Frame record = frames_[frame];
  ar("id", record.id), ar("queued", record.queued), ar("source", record.source);
  ar("destination", record.destination), ar("identifier", record.identifier), ar("moved", record.moved);
  ar("sequence", record.sequence), ar("port", record.port), ar("attempts", record.attempts);
  std::uint8_t flags = static_cast<std::uint8_t>(record.poll | record.report << 1 | record.acknowledge << 2);
  ar("flags", flags);
  record.poll = (flags & 1) != 0, record.report = (flags & 2) != 0, record.acknowledge = (flags & 4) != 0;
  std::vector<std::byte>& bytes = payloads_[record.payload].bytes;
  ar("payload", bytes);
  if (!ar.loading()) return;
  record.size = narrow<std::uint32_t>(bytes.size());
  frames_[frame] = record;
}

bool FrameStore::consistent(std::size_t interfaces) const {
  return std::all_of(frames_.begin(), frames_.end(), [&](const Frame& frame) {
    return frame.references == 0 || (frame.source < interfaces && frame.moved <= frame.size &&
                                     (frame.destination == nothing || frame.destination < interfaces));
  });
}

void FrameStore::archive_fifo(Archive& ar, Fifo& fifo) {
  std::uint32_t length = fifo.length;
  ar("length", length);
  if (!ar.loading()) {
    for (std::uint32_t frame = fifo.head; frame != nothing; frame = frames_[frame].next) archive_frame(ar, frame);
    return;
  }
  fifo = {};
  for (std::uint32_t i = 0; i < length && ar.ok(); ++i) {
    std::uint32_t frame = nothing;
    archive_frame(ar, frame);
    if (frame == nothing) {
      ar.fail("a queue in the snapshot lacks a frame");
      return;
    }
    push(fifo, frame);
  }
}

}  // namespace volvox::net
