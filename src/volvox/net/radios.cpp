#include "volvox/net/radios.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/base/platform/memory.h"
#include "volvox/net/ts_ook.h"

namespace volvox::net {

std::uint32_t Radios::add_medium(const MediumOptions& options, std::unique_ptr<Propagation> propagation) {
  media_.push_back(std::make_unique<Medium>(options, std::move(propagation)));
  space_.push_back(Time{});
  return narrow<std::uint32_t>(media_.size() - 1);
}

void Radios::add(std::uint32_t interface, std::uint32_t medium, const RadioOptions& options, const Vec3& position) {
  const std::uint32_t index = narrow<std::uint32_t>(radios_.size());
  Radio radio;
  radio.interface = interface;
  radio.medium = narrow<std::uint16_t>(medium);
  radio.profile = profiles_.intern({options, medium});
  if (radio.profile >= limits_.size()) {
    if (media_[medium]->update_unit(options)) unit_changed(medium);
    limits_.push_back(limits_for(profiles_[radio.profile]));
    if (options.acknowledge)
      space_[medium] = std::max(space_[medium], Time{options.turnaround.ns + 2 * options.slot.ns});
  }
  radio.backoff =
      RandomStream(core_.seed, std::uint64_t{core_.interfaces[interface].node} << 32 | interface, "backoff");
  media_[medium]->add(index, options, position);
  core_.interfaces[interface].local = index;
  radios_.push_back(radio);
  state_.push_back(State::idle);
}

bool Radios::may_share(std::uint32_t medium, const RadioOptions& options) const {
  for (std::uint32_t k = 0; k < limits_.size(); ++k) {
    const RadioOptions& other = profiles_[k].options;
    if (profiles_[k].medium != medium) continue;
    if (other.pulse_fs != options.pulse_fs || (options.pulse_fs > 0 && other.spread != options.spread)) return false;
  }
  return true;
}

Radios::Limits Radios::limits_for(const Kind& kind) const {
  const Medium& medium = *media_[kind.medium];
  const bool pulses = kind.options.pulse_fs > 0;
  return {medium.threshold(kind.options.receive_threshold_w),
          pulses ? never_above : medium.units(kind.options.carrier_threshold_w, never_above),
          medium.noise(kind.options), kind.options.bandwidth_hz,
          narrow<std::uint32_t>(std::lround(kind.options.capture_ratio * 65536))};
}

// Nothing has been transmitted yet, so the sums contain only noise.
void Radios::unit_changed(std::uint32_t medium) {
  media_[medium]->forget_thresholds();
  for (std::uint32_t k = 0; k < limits_.size(); ++k) {
    if (profiles_[k].medium != medium) continue;
    limits_[k] = limits_for(profiles_[k]);
    media_[medium]->regard(profiles_[k].options);
  }
  for (const Radio& radio : radios_) {
    if (radio.medium != medium) continue;
    media_[medium]->silence(index(radio), limits(radio).noise);
    update_watch(radio);
  }
}

void Radios::reserve(std::uint32_t medium, std::size_t radios) {
  radios_.reserve(radios);
  platform::prefer_huge_pages(radios_);
  state_.reserve(radios);
  media_[medium]->reserve(radios);
}

void Radios::move(std::uint32_t interface, const Vec3& position) {
  VOLVOX_ASSERT(finite(position));
  medium_of(at(interface)).move(index(interface), position);
}
Vec3 Radios::position(std::uint32_t interface) const { return medium_of(at(interface)).position(index(interface)); }
double Radios::heard_w(std::uint32_t interface) const {
  return watt(interface, medium_of(at(interface)).sum(index(interface)));
}

// --- contention --------------------------------------------------------------------------

bool Radios::busy(const Radio& radio) const {
  return state(radio) == State::transmitting || medium_of(radio).sum(index(radio)) >= limits(radio).carrier;
}

PowerUnits Radios::tolerable_interference(PowerUnits power, std::uint32_t capture_q16) {
  __extension__ using Wide = __int128;
  return static_cast<PowerUnits>((Wide{power} << 16) / capture_q16);
}

void Radios::update_watch(const Radio& radio) {
  PowerUnits limit = never_above;
  if (state(radio) == State::receiving && !receptions_[radio.reception].spoiled)
    limit = receptions_[radio.reception].limit;
  if (radio.contention == Contention::running) limit = std::min(limit, limits(radio).carrier);
  const bool awaits_quiet = radio.contention == Contention::frozen && state(radio) != State::transmitting;
  medium_of(radio).watch(index(radio), limit, awaits_quiet);
}

void Radios::frame_queued(std::uint32_t interface) {
  Radio& radio = at(interface);
  // While it transmits or waits for an acknowledgement, the end of that starts the next contention.
  const bool own_frame_on_air = radio.transmission != nothing && !transmissions_[radio.transmission].acknowledgement;
  if (radio.contention == Contention::none && !own_frame_on_air) contend(radio);
}

void Radios::contend(Radio& radio) {
  VOLVOX_ASSERT(radio.contention == Contention::none);
  if (queue(radio).empty()) return;
  const RadioOptions& options = profile(radio);
  const std::uint32_t frame = queue(radio).head;
  std::uint64_t window = options.window;
  for (int retry = 0; retry < core_.frames[frame].attempts && window * 2 <= options.largest_window; ++retry)
    window *= 2;
  const std::uint32_t slots = narrow<std::uint32_t>(radio.backoff.below(window));
  core_.record(LogKind::backoff, radio.interface, frame, slots);
  if (busy(radio)) {
    radio.contention = Contention::frozen;
    radio.countdown = slots;
    core_.record(LogKind::frozen, radio.interface, frame, slots);
  } else {
    run_backoff(radio, slots);
  }
  update_watch(radio);
}

void Radios::run_backoff(Radio& radio, std::int64_t slots) {
  VOLVOX_ASSERT(slots >= 0);
  const Time space = space_[radio.medium];
  if (space.ns > 0) {
    slots_at_start_.resize(radios_.size(), nothing);
    slots_at_start_[index(radio)] = narrow<std::uint32_t>(slots);
  }
  arm(radio, Time{core_.now.ns + space.ns + slots * profile(radio).slot.ns});
}

void Radios::arm(Radio& radio, Time expiry) {
  VOLVOX_ASSERT(expiry >= core_.now);
  radio.contention = Contention::running;
  radio.countdown = expiry.ns;
  // A backoff that was frozen expires later than first scheduled. The event that is already scheduled checks
  // the countdown and is scheduled again: in dense networks a backoff freezes many times before it expires.
  if (radio.armed == nothing) radio.armed = core_.schedule(expiry, Action::backoff_expiry, radio.interface);
}

// An interrupted slot is repeated in full.
void Radios::freeze(Radio& radio) {
  VOLVOX_ASSERT(radio.contention == Contention::running && radio.countdown >= core_.now.ns);
  const std::int64_t slot = profile(radio).slot.ns;
  radio.countdown = (radio.countdown - core_.now.ns + slot - 1) / slot;
  // Interrupted in the space before the first slot.
  if (space_[radio.medium].ns > 0 && index(radio) < slots_at_start_.size())
    radio.countdown = std::min<std::int64_t>(radio.countdown, slots_at_start_[index(radio)]);
  radio.contention = Contention::frozen;
  record_slots_left(LogKind::frozen, radio);
}

// Reads the queue, which is probably not in the cache, only if there is a log.
void Radios::record_slots_left(LogKind kind, const Radio& radio) {
  if (core_.log != nullptr)
    core_.record(kind, radio.interface, queue(radio).head, narrow<std::uint32_t>(radio.countdown));
}

void Radios::resume(Radio& radio) {
  VOLVOX_ASSERT(radio.contention == Contention::frozen && !busy(radio));
  record_slots_left(LogKind::resumed, radio);
  run_backoff(radio, radio.countdown);
  update_watch(radio);
}

void Radios::backoff_expiry(std::uint32_t interface, std::uint32_t sequence) {
  Radio& radio = at(interface);
  if (radio.armed != sequence) return;
  radio.armed = nothing;
  if (radio.contention == Contention::frozen) return;  // resume() arms it again
  if (radio.countdown > core_.now.ns) return arm(radio, Time{radio.countdown});
  ++core_.counters.events;
  radio.contention = Contention::none;
  const std::uint32_t frame = queue(radio).head;
  if (core_.frames[frame].attempts++ > 0) ++core_.counters.retries;
  core_.frames.retain(frame);
  transmit(radio, frame, 0, false);
}

// --- transmission ------------------------------------------------------------------------

std::uint32_t Radios::take_transmission() {
  if (free_transmissions_.empty()) {
    transmissions_.emplace_back();
    return narrow<std::uint32_t>(transmissions_.size() - 1);
  }
  const std::uint32_t index = free_transmissions_.back();
  free_transmissions_.pop_back();
  return index;
}

void Radios::transmit(Radio& radio, std::uint32_t frame, std::uint64_t acknowledges, bool acknowledgement) {
  VOLVOX_ASSERT(state(radio) != State::transmitting && state(radio) != State::off);
  VOLVOX_ASSERT(radio.transmission == nothing);
  VOLVOX_ASSERT(core_.frames[frame].references > 0);
  const RadioOptions& options = profile(radio);
  if (state(radio) == State::receiving) lose_lock(radio, LogKind::aborted, core_.counters.transmit_aborts);
  if (radio.contention == Contention::running) freeze(radio);
  state(radio) = State::transmitting;
  update_watch(radio);

  const std::uint32_t place = take_transmission();
  VOLVOX_ASSERT(transmissions_[place].radio == nothing);
  radio.transmission = place;
  Transmission& transmission = transmissions_[place];
  transmission.radio = index(radio);
  transmission.frame = frame;
  transmission.acknowledges = acknowledges;
  transmission.acknowledgement = acknowledgement;
  transmission.locked.clear();
  transmission.heard.clear();
  transmission.start = core_.now;
  const double bytes = acknowledgement ? options.acknowledgement_bytes : core_.frames[frame].size + options.overhead;
  const Time duration = std::max(transmission_time(8 * bytes, options.bit_rate), Time{1});
  transmission.sequence = core_.schedule(core_.now + duration, Action::radio_frame_end, radio.interface);
  ++core_.counters.transmissions;
  if (acknowledgement) core_.record(LogKind::acknowledgement, radio.interface, frame, low_word(acknowledges));
  else core_.record(LogKind::transmit_start, radio.interface, frame, core_.frames[frame].attempts);

  Medium& medium = medium_of(radio);
  if (medium.unsorted()) {
    for (Transmission& other : transmissions_)
      if (other.radio != nothing && radios_[other.radio].medium == radio.medium) medium.scatter(other.links);
    medium.sort();
  }
  hits_.clear();
  // Every attempt draws new fading.
  const std::uint64_t fading = core_.frames[frame].id ^ std::uint64_t{core_.frames[frame].attempts} << 24;
  medium.start({index(radio), options.power_w * options.antenna_gain, fading}, transmission.links, hits_);
  core_.counters.link_updates += transmission.links.updates;
  core_.counters.weak += medium.heard_weakly();
  for (const Medium::Hit& hit : hits_) {
    const std::uint32_t hearer = medium.radio_at(hit.slot);
    __builtin_prefetch(&radios_[hearer]), __builtin_prefetch(&state_[hearer]);
  }
  for (const Medium::Hit& hit : hits_) {
    const std::uint32_t hearer = medium.radio_at(hit.slot);
    const bool decodes = hit.power >= limits_of(hearer).receive;
    if (decodes && state_[hearer] != State::off) arrivals_.push_back({place, hit.slot, hit.power});
    if (decodes && options.pulse_fs > 0) transmission.heard.push_back(hearer);
    // Another radio of this medium is more sensitive than this one.
    if (!decodes && medium.decodable(hit.power)) ++core_.counters.weak;
    if (medium.reached_limit(hit.slot)) power_rose(radios_[hearer]);
  }
  std::sort(transmission.heard.begin(), transmission.heard.end());
  receptions_due_ = true;
}

// The sum of powers at this radio has possibly reached a limit.
void Radios::power_rose(Radio& radio) {
  const PowerUnits sum = medium_of(radio).sum(index(radio));
  bool changed = false;
  if (state(radio) == State::receiving) {
    Reception& reception = receptions_[radio.reception];
    if (!reception.spoiled && sum >= reception.limit) changed = reception.spoiled = true;
  }
  // A backoff that expires at this instant is not frozen.
  if (radio.contention == Contention::running && sum >= limits(radio).carrier && radio.countdown > core_.now.ns) {
    freeze(radio);
    changed = true;
  }
  if (changed) update_watch(radio);
}

void Radios::start_receptions() {
  VOLVOX_ASSERT(receptions_due_);
  ++core_.counters.events;
  receptions_due_ = false;
  for (const Arrival& arrival : arrivals_) notice(arrival);
  arrivals_.clear();
}

// Accesses the Radio only if it locks: in a dense flood nearly all arrivals are lost.
void Radios::notice(const Arrival& arrival) {
  VOLVOX_ASSERT(arrival.transmission < transmissions_.size() && transmissions_[arrival.transmission].radio != nothing);
  VOLVOX_ASSERT(arrival.power >= 0);
  Transmission& transmission = transmissions_[arrival.transmission];
  const Medium& medium = medium_of(radios_[transmission.radio]);
  const std::uint32_t receiver = medium.radio_at(arrival.slot);
  const Limits& limit = limits_of(receiver);
  if (state_[receiver] == State::transmitting) {
    ++core_.counters.transmit_aborts;
    if (core_.log != nullptr) core_.record(LogKind::aborted, radios_[receiver].interface, transmission.frame);
    return;
  }
  if (pulses(radios_[receiver])) return notice_pulses(radios_[receiver], arrival);
  const PowerUnits added = medium.added_noise(transmission.radio, receiver, limit.bandwidth_hz);
  const PowerUnits others = medium.sum_at(arrival.slot) - arrival.power + added;
  const PowerUnits most = tolerable_interference(arrival.power, limit.capture_q16);
  if (state_[receiver] == State::idle && others <= most) {
    lock(radios_[receiver], {arrival.transmission, arrival.power, arrival.power + most - added + 1});
  } else if (limit.noise + added > most) {
    ++core_.counters.weak;
  } else {
    ++core_.counters.collisions;
    if (core_.log != nullptr) core_.record(LogKind::collided, radios_[receiver].interface, transmission.frame);
  }
}

// A receiver follows one frame; those that begin meanwhile spoil bits of it, and so do those that were on the air.
void Radios::notice_pulses(Radio& radio, const Arrival& arrival) {
  const Transmission& transmission = transmissions_[arrival.transmission];
  const Limits& limit = limits(radio);
  if (state(radio) == State::receiving) {
    ++core_.counters.collisions;
    if (core_.log != nullptr) core_.record(LogKind::collided, radio.interface, transmission.frame);
    return spoil_bits(radio, transmission);
  }
  const PowerUnits added = medium_of(radio).added_noise(transmission.radio, index(radio), limit.bandwidth_hz);
  // A radio that was switched off in this instant is heard by nobody.
  if (state(radio) != State::idle || limit.noise + added > tolerable_interference(arrival.power, limit.capture_q16)) {
    ++core_.counters.weak;
    return;
  }
  lock(radio, {arrival.transmission, arrival.power, never_above});
  const std::uint32_t receiver = index(radio);
  for (const Transmission& other : transmissions_) {
    // Also of this instant: what came before this one and was too weak to be followed. What comes later spoils the
    // same bits once more, which changes nothing.
    if (other.radio == nothing || &other == &transmission) continue;
    if (std::binary_search(other.heard.begin(), other.heard.end(), receiver)) spoil_bits(radio, other);
  }
}

void Radios::spoil_bits(Radio& receiver, const Transmission& by) {
  Reception& reception = receptions_[receiver.reception];
  const Transmission& followed = transmissions_[reception.transmission];
  const RadioOptions& options = profile(receiver);
  const std::uint32_t at = index(receiver);
  const Time since = std::min(followed.start, by.start);
  const std::int64_t offset = arrival_fs(by, at, since) - arrival_fs(followed, at, since);
  std::vector<std::uint32_t>& bits = reception.spoiled_bits;
  TimeSpreadKeying{options.pulse_fs, options.spread}.spoil(bits_on_air(followed), bits_on_air(by), offset, bits);
  std::sort(bits.begin(), bits.end());
  bits.erase(std::unique(bits.begin(), bits.end()), bits.end());
  reception.spoiled = bits.size() > options.repairs;
}

// When the first bit of a transmission arrives, in femtoseconds since a time of the network's clock. Senders do not
// know each other's clocks: each frame begins anywhere within a bit. Light takes 333 pulses for a centimetre.
std::int64_t Radios::arrival_fs(const Transmission& transmission, std::uint32_t receiver, Time since) const {
  const Radio& sender = radios_[transmission.radio];
  const RadioOptions& options = profile(sender);
  RandomStream phase(core_.seed, core_.frames[transmission.frame].id, "pulses");
  const Medium& medium = medium_of(sender);
  const double way = length(medium.position(transmission.radio) - medium.position(receiver));
  return (transmission.start - since).ns * 1'000'000 +
         narrow<std::int64_t>(phase.below(options.pulse_fs * options.spread)) +
         std::llround(way / speed_of_light * 1e15);
}

// The payload, and before it alternating ones and zeros for what a protocol adds to it.
std::vector<std::byte> Radios::bits_on_air(const Transmission& transmission) const {
  std::vector<std::byte> bits(profile(radios_[transmission.radio]).overhead, std::byte{0x55});
  const auto payload = core_.frames.payload(transmission.frame);
  bits.insert(bits.end(), payload.begin(), payload.end());
  return bits;
}

void Radios::lock(Radio& radio, Reception reception) {
  VOLVOX_ASSERT(state(radio) == State::idle && radio.reception == nothing);
  VOLVOX_ASSERT(reception.power > 0 && reception.limit > reception.power);
  state(radio) = State::receiving;
  if (free_receptions_.empty()) {
    radio.reception = narrow<std::uint32_t>(receptions_.size());
    receptions_.push_back(std::move(reception));
  } else {
    radio.reception = free_receptions_.back();
    free_receptions_.pop_back();
    receptions_[radio.reception] = std::move(reception);
  }
  transmissions_[receptions_[radio.reception].transmission].locked.push_back(index(radio));
  update_watch(radio);
}

// The caller sets the next state of the radio.
Radios::Reception Radios::unlock(Radio& radio) {
  VOLVOX_ASSERT(radio.reception < receptions_.size());
  const std::uint32_t place = radio.reception;
  free_receptions_.push_back(place);
  radio.reception = nothing;
  return receptions_[place];
}

void Radios::lose_lock(Radio& radio, LogKind why, std::uint64_t& counter) {
  ++counter;
  core_.record(why, radio.interface, transmissions_[unlock(radio).transmission].frame);
}

// --- the end of a frame ------------------------------------------------------------------

void Radios::frame_end(std::uint32_t interface, std::uint32_t sequence) {
  Radio& radio = at(interface);
  if (radio.transmission == nothing || transmissions_[radio.transmission].sequence != sequence) return;
  ++core_.counters.events;
  end_transmission(radio, false);
}

void Radios::end_transmission(Radio& radio, bool cut) {
  VOLVOX_ASSERT(radio.transmission != nothing && transmissions_[radio.transmission].radio == index(radio));
  const std::uint32_t place = radio.transmission;
  const std::uint32_t frame = transmissions_[place].frame;
  core_.record(cut ? LogKind::cut : LogKind::transmit_end, radio.interface, frame);
  radio.transmission = nothing;
  state(radio) = cut ? State::off : State::idle;
  update_watch(radio);

  fallen_.clear();
  Medium& medium = medium_of(radio);
  medium.stop(transmissions_[place].links, fallen_);
  core_.counters.link_updates += transmissions_[place].links.updates;
  // Radios are all over the memory: fetched for all at the same time.
  for (const std::uint32_t receiver : transmissions_[place].locked) __builtin_prefetch(&radios_[receiver]);
  for (const std::uint32_t waiting : fallen_) __builtin_prefetch(&radios_[waiting]);
  for (const std::uint32_t receiver : transmissions_[place].locked) end_reception(radios_[receiver], place, cut);
  for (const std::uint32_t waiting : fallen_)
    if (!busy(radios_[waiting])) resume(radios_[waiting]);

  const bool acknowledgement = transmissions_[place].acknowledgement;
  transmissions_[place].radio = nothing;
  transmissions_[place].links.clear();
  free_transmissions_.push_back(place);

  if (!cut && radio.contention == Contention::frozen && !busy(radio)) resume(radio);
  const bool wants_answer = core_.frames[frame].acknowledge;
  core_.frames.release(frame);
  if (cut || acknowledgement) return;
  if (wants_answer) {
    radio.contention = Contention::awaiting_acknowledgement;
    radio.armed = core_.schedule(core_.now + profile(radio).acknowledgement_timeout, Action::acknowledgement_timeout,
                                 radio.interface);
  } else {
    finish_head(radio, Fate::sent);
  }
}

void Radios::end_reception(Radio& receiver, std::uint32_t place, bool cut) {
  // Otherwise the receiver began to transmit or was switched off.
  if (receiver.reception == nothing || receptions_[receiver.reception].transmission != place) return;
  const Transmission& transmission = transmissions_[place];
  const Reception reception = unlock(receiver);
  state(receiver) = State::idle;
  update_watch(receiver);
  if (!reception.spoiled && !cut) return decoded(receiver, transmission, reception.power);
  ++(cut ? core_.counters.switched_off : core_.counters.collisions);
  core_.record(cut ? LogKind::cut : LogKind::collided, receiver.interface, transmission.frame);
}

void Radios::decoded(Radio& receiver, const Transmission& transmission, PowerUnits power) {
  const Frame& frame = core_.frames[transmission.frame];
  if (transmission.acknowledgement) {
    const bool mine = receiver.contention == Contention::awaiting_acknowledgement &&
                      core_.frames[queue(receiver).head].id == transmission.acknowledges;
    if (mine) finish_head(receiver, Fate::sent);
    return;
  }
  if (frame.destination != nothing && frame.destination != receiver.interface) {
    ++core_.counters.overheard;
    return;
  }
  if (frame.acknowledge) {
    owe_acknowledgement(receiver, frame);
    const auto [last, first_time] = last_received_.try_emplace({receiver.interface, frame.source}, frame.id);
    if (!first_time && last->second == frame.id) {
      ++core_.counters.duplicates;  // the acknowledgement was lost
      return;
    }
    last->second = frame.id;
  }
  core_.frames.retain(transmission.frame);
  core_.deliver(transmission.frame, receiver.interface, power);
}

void Radios::finish_head(Radio& radio, Fate fate) {
  radio.contention = Contention::none;
  radio.armed = nothing;
  core_.report(core_.frames.pop(queue(radio)), fate);
  contend(radio);
}

// --- acknowledgements --------------------------------------------------------------------

void Radios::owe_acknowledgement(Radio& receiver, const Frame& frame) {
  OwedAcknowledgement& owed = owed_[receiver.interface];
  owed.to = frame.source;
  owed.frame = frame.id;
  owed.sequence =
      core_.schedule(core_.now + profile(receiver).turnaround, Action::acknowledgement_start, receiver.interface);
}

void Radios::acknowledgement_start(std::uint32_t interface, std::uint32_t sequence) {
  const auto owed = owed_.find(interface);
  if (owed == owed_.end() || owed->second.sequence != sequence) return;
  ++core_.counters.events;
  const OwedAcknowledgement debt = owed->second;
  owed_.erase(owed);
  Radio& radio = at(interface);
  if (state(radio) == State::off || state(radio) == State::transmitting) return;  // the sender will send again
  const std::uint32_t frame = core_.frames.add({});
  core_.frames[frame].id = std::uint64_t{interface} << 32 | core_.interfaces[interface].frames_made++;
  core_.frames[frame].source = interface;
  core_.frames[frame].destination = debt.to;
  core_.frames[frame].queued = core_.now;
  transmit(radio, frame, debt.frame, true);
}

void Radios::acknowledgement_timeout(std::uint32_t interface, std::uint32_t sequence) {
  Radio& radio = at(interface);
  if (radio.armed != sequence) return;
  ++core_.counters.events;
  radio.armed = nothing;
  radio.contention = Contention::none;
  const Frame& frame = core_.frames[queue(radio).head];
  core_.record(LogKind::timed_out, interface, queue(radio).head, frame.attempts);
  if (frame.attempts > profile(radio).retry_limit) {
    ++core_.counters.unacknowledged;
    finish_head(radio, Fate::unacknowledged);
  } else {
    contend(radio);
  }
}

void Radios::switch_to(std::uint32_t interface, bool on) {
  Radio& radio = at(interface);
  if (on == (state(radio) != State::off)) return;
  if (on) {
    state(radio) = State::idle;
    return;
  }
  if (state(radio) == State::receiving) lose_lock(radio, LogKind::cut, core_.counters.switched_off);
  radio.contention = Contention::none;
  radio.armed = nothing;
  owed_.erase(interface);
  if (radio.transmission != nothing) end_transmission(radio, true);
  state(radio) = State::off;
  update_watch(radio);
  while (!queue(radio).empty()) {
    ++core_.counters.switched_off;
    core_.report(core_.frames.pop(queue(radio)), Fate::switched_off);
  }
}

}  // namespace volvox::net
