// Snapshots: every field that a run changes, in an order that depends only on the simulated history.
// Pool indices, the order of receivers in memory and stale events are left out, so that a restored
// network has the same hash as the original.
#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/net/network_state.h"

namespace volvox::net {

bool Network::State::waits_for(const Event& event) const {
  const std::uint64_t key = std::uint64_t{event.source()} << 32 | event.sequence();
  switch (event.action()) {
    case Action::wire_frame_end:
    case Action::wire_arrival: return event.source() < core.interfaces.size() && wires.waits_for(event);
    case Action::bus_frame_end:
    case Action::bus_idle:
    case Action::bus_arbitration: return buses.waits_for(event);
    case Action::timer: return timers.contains(key);
    case Action::deferred_send: return deferred.contains(key);
    case Action::callbacks:
    case Action::reception_start: return false;
    default: return radios.waits_for(event);
  }
}

namespace {

// A damaged snapshot may name sources that this network does not have.
bool possible(const Event& event, const Core& core, std::size_t nodes, std::size_t buses) {
  switch (event.action()) {
    case Action::wire_frame_end:
    case Action::wire_arrival:
      return event.source() < core.interfaces.size() && core.interfaces[event.source()].kind == InterfaceKind::wire;
    case Action::bus_frame_end:
    case Action::bus_idle:
    case Action::bus_arbitration: return event.source() < buses;
    case Action::timer: return event.source() < nodes;
    case Action::deferred_send: return event.source() < core.interfaces.size();
    case Action::radio_frame_end:
    case Action::acknowledgement_timeout:
    case Action::acknowledgement_start:
    case Action::backoff_expiry:
      return event.source() < core.interfaces.size() && core.interfaces[event.source()].kind == InterfaceKind::radio;
    default: return false;
  }
}

void archive_frame_map(Archive& ar, FrameStore& frames, std::map<std::uint64_t, std::uint32_t>& map) {
  std::uint32_t count = narrow<std::uint32_t>(map.size());
  ar("count", count);
  if (!ar.loading()) {
    for (auto& [key, frame] : map) {
      ar("key", key);
      frames.archive_frame(ar, frame);
    }
    return;
  }
  map.clear();
  for (std::uint32_t i = 0; i < count && ar.ok(); ++i) {
    std::uint64_t key = 0;
    std::uint32_t frame = nothing;
    ar("key", key);
    frames.archive_frame(ar, frame);
    if (frame != nothing) map.emplace(key, frame);
  }
}

}  // namespace

void Network::State::archive_callbacks(Archive& ar) {
  std::uint32_t count = narrow<std::uint32_t>(core.callbacks.size());
  ar("callbacks", count);
  if (ar.loading()) core.callbacks.clear();
  for (std::uint32_t i = 0; i < count && ar.ok(); ++i) {
    Callback callback;
    if (!ar.loading()) callback = core.callbacks[i];
    ar("interface", callback.interface), ar("power", callback.power);
    ar("fate", callback.fate);
    archive_flag(ar, callback.report);
    core.frames.archive_frame(ar, callback.frame);
    if (!ar.loading()) continue;
    if (callback.interface >= core.interfaces.size() || callback.frame == nothing)
      ar.fail("the snapshot has a callback for an interface that does not exist");
    else core.callbacks.push_back(callback);
  }
}

void Network::State::archive(Archive& ar) {
  const std::uint64_t shape[] = {nodes.size(), core.interfaces.size(), buses.count(), radios.media()};
  for (const std::uint64_t expected : shape) {
    std::uint64_t found = expected;
    ar("shape", found);
    if (found != expected) return ar.fail("the snapshot is of another network");
  }
  if (ar.loading()) core.frames.clear();
  ar("now", core.now), ar("seed", core.seed), ar("chain", chain);
  core.counters.archive(ar);
  for (Node& node : nodes) ar("events_made", node.events_made);
  for (Interface& interface : core.interfaces) {
    ar("frames_made", interface.frames_made), ar("events_made", interface.events_made);
    core.frames.archive_fifo(ar, interface.queue);
  }
  wires.archive(ar);
  buses.archive(ar);
  radios.archive(ar);
  ar("timers", timers);
  archive_frame_map(ar, core.frames, deferred);
  archive_callbacks(ar);

  std::vector<Event> events;
  if (!ar.loading()) {
    events = core.events.sorted();
    VOLVOX_ASSERT(std::is_sorted(events.begin(), events.end()));
    std::erase_if(events, [&](const Event& event) { return !waits_for(event); });
  }
  ar("events", events);
  if (!ar.loading()) return;
  if (!std::is_sorted(events.begin(), events.end()) ||
      !std::all_of(events.begin(), events.end(), [&](const Event& event) {
        return event.time() >= core.now && possible(event, core, nodes.size(), buses.count());
      }))
    return ar.fail("the events of the snapshot are not those of this network");
  if (core.now < Time{} || !core.frames.consistent(core.interfaces.size()))
    return ar.fail("the frames of the snapshot are not those of this network");
  core.events.assign_sorted(std::move(events));
}

void Network::archive(Archive& ar) {
  state_->archive(ar);
  if (ar.hashing()) return;
  // The checks above prevent a damaged snapshot from crashing the program; the hash detects damage that
  // they let pass.
  if (!ar.ok()) return;
  const std::uint64_t actual = hash();
  std::uint64_t expected = actual;
  ar("hash", expected);
  if (expected != actual) ar.fail("the snapshot is damaged: its hash does not match");
}

std::uint64_t Network::hash() const {
  HashArchive hash;
  state_->archive(hash);
  return hash.value();
}

// --- radios ------------------------------------------------------------------------------

bool Radios::waits_for(const Event& event) const {
  const Radio& radio = at(event.source());
  VOLVOX_ASSERT(radio.reception == nothing || radio.reception < receptions_.size());
  switch (event.action()) {
    case Action::radio_frame_end:
      return radio.transmission != nothing && transmissions_[radio.transmission].sequence == event.sequence();
    case Action::acknowledgement_start: {
      const auto owed = owed_.find(event.source());
      return owed != owed_.end() && owed->second.sequence == event.sequence();
    }
    default: return radio.armed == event.sequence();
  }
}

// A reception is saved with the index of the transmitting radio, because pool indices differ after a restore.
void Radios::archive_radio(Archive& ar, Radio& radio) {
  Reception reception;
  if (radio.reception != nothing && !ar.loading()) reception = receptions_[radio.reception];
  std::uint32_t heard = reception.transmission == nothing ? nothing : transmissions_[reception.transmission].radio;
  ar("backoff", radio.backoff), ar("countdown", radio.countdown), ar("armed", radio.armed);
  ar("lock_power", reception.power), ar("lock_limit", reception.limit);
  archive_flag(ar, reception.spoiled);
  if (pulses(radio)) ar("spoiled_bits", reception.spoiled_bits);
  if (space_[radio.medium].ns > 0) {
    slots_at_start_.resize(radios_.size(), nothing);
    ar("slots", slots_at_start_[index(radio)]);
  }
  ar("state", state(radio)), ar("contention", radio.contention), ar("heard", heard);
  if (!ar.loading()) return;
  radio.reception = nothing;
  if (state(radio) > State::transmitting || radio.contention > Contention::awaiting_acknowledgement ||
      (heard != nothing && heard >= radios_.size()) || (state(radio) == State::receiving) != (heard != nothing) ||
      (radio.contention != Contention::none && queue(radio).empty())) {
    ar.fail("the snapshot has a radio in an impossible state");
    state(radio) = State::idle, radio.contention = Contention::none;
    return;
  }
  if (heard == nothing) return;
  reception.transmission = heard;  // the index of a radio until all transmissions are loaded
  radio.reception = narrow<std::uint32_t>(receptions_.size());
  receptions_.push_back(reception);
}

void Radios::archive_transmission(Archive& ar, Radio& radio) {
  std::uint8_t present = radio.transmission != nothing;
  ar("transmits", present);
  if (ar.loading()) radio.transmission = present != 0 ? take_transmission() : nothing;
  if (present == 0) return;
  Transmission& transmission = transmissions_[radio.transmission];
  Medium& medium = medium_of(radio);
  transmission.radio = index(radio);
  ar("sequence", transmission.sequence), ar("acknowledges", transmission.acknowledges);
  ar("updates", transmission.links.updates);
  archive_flag(ar, transmission.acknowledgement);
  if (pulses(radio)) {
    ar("start", transmission.start), ar("heard", transmission.heard);
    for (const std::uint32_t hearer : transmission.heard)
      if (hearer >= radios_.size()) return ar.fail("the snapshot has an impossible transmission");
  }
  // The frame of a transmission is the head of the radio's queue, except for acknowledgements.
  if (transmission.acknowledgement) {
    core_.frames.archive_frame(ar, transmission.frame);
  } else if (ar.loading()) {
    transmission.frame = queue(radio).head;
    if (transmission.frame != nothing) core_.frames.retain(transmission.frame);
  }
  std::vector<std::pair<std::uint32_t, PowerUnits>> links;
  if (!ar.loading()) links = medium.list(transmission.links);
  ar("links", links);
  if (!ar.loading()) return;
  const bool known = std::all_of(links.begin(), links.end(), [&](const auto& link) {
    return medium.has(link.first) && link.second >= 0 && link.second <= largest_link_power;
  });
  if (!known || transmission.frame == nothing) return ar.fail("the snapshot has an impossible transmission");
  medium.adopt(transmission.links, links);
}

void Radios::archive(Archive& ar) {
  for (std::uint32_t medium = 0; medium < media_.size(); ++medium)
    if (media_[medium]->archive_unit(ar)) unit_changed(medium);
  if (!ar.ok()) return;
  if (ar.loading()) {
    transmissions_.clear(), free_transmissions_.clear(), arrivals_.clear();
    receptions_.clear(), free_receptions_.clear();
    receptions_due_ = false;
    for (const Radio& radio : radios_) medium_of(radio).silence(index(radio), limits(radio).noise);
  }
  for (const auto& medium : media_) medium->archive_positions(ar);
  ar("owed", owed_), ar("last_received", last_received_);
  for (Radio& radio : radios_) {
    archive_radio(ar, radio);
    archive_transmission(ar, radio);
    if (!ar.ok()) return;
  }
  if (!ar.loading()) return;
  for (Radio& radio : radios_) {
    if (radio.reception != nothing) {
      std::uint32_t& heard = receptions_[radio.reception].transmission;
      heard = radios_[heard].transmission;
      if (heard == nothing) return ar.fail("the snapshot has a reception without a transmission");
      transmissions_[heard].locked.push_back(index(radio));
    }
    update_watch(radio);
  }
}

}  // namespace volvox::net
