// The event loop of the network and the calls of its listener.
#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/net/network_state.h"

namespace volvox::net {

void Core::record_in_log(LogKind kind, std::uint32_t interface, std::uint32_t frame, std::uint32_t detail) {
  VOLVOX_ASSERT(interface < interfaces.size() && log != nullptr);
  const Frame& about = frames[frame];
  const LogEntry entry{now,
                       kind,
                       interfaces[interface].kind,
                       interface,
                       about.id,
                       detail,
                       about.destination,
                       about.identifier,
                       about.acknowledge,
                       0,
                       0};
  const bool carries = kind == LogKind::transmit_start || kind == LogKind::acknowledgement;
  log->add(entry, carries ? frames.payload(frame) : std::span<const std::byte>{});
}

// Whether `what`, which is due now, comes before all scheduled events.
bool Network::State::next_is(Action what, Time until) const {
  if (core.now >= until) return false;
  if (core.events.empty()) return true;
  const Event& top = core.events.top();
  return top.time() > core.now || top.action() > what;
}

void Network::State::advance(Time to) {
  VOLVOX_ASSERT(to >= core.now);
  if (to > core.now) chain = 0;
  core.now = to;
}

bool Network::State::step(Network& network, Time until) {
  if (!core.callbacks.empty() && next_is(Action::callbacks, until)) {
    call_back(network);
    return true;
  }
  if (radios.receptions_due() && next_is(Action::reception_start, until)) {
    radios.start_receptions();
    return true;
  }
  if (core.events.empty() || core.events.top().time() >= until) return false;
  const Event event = core.events.pop();
  advance(event.time());
  dispatch(network, event);
  return true;
}

void Network::State::dispatch(Network& network, const Event& event) {
  VOLVOX_ASSERT(event.time() == core.now);
  const std::uint32_t source = event.source(), sequence = event.sequence();
  switch (event.action()) {
    case Action::radio_frame_end: return radios.frame_end(source, sequence);
    case Action::wire_frame_end: return wires.frame_end(source, sequence);
    case Action::wire_arrival: return wires.arrival(source, sequence);
    case Action::bus_frame_end: return buses.frame_end(source, sequence);
    case Action::bus_idle: return buses.idle(source, sequence);
    case Action::timer: return call_timer(network, event);
    case Action::deferred_send: return enter_deferred(event);
    case Action::acknowledgement_timeout: return radios.acknowledgement_timeout(source, sequence);
    case Action::bus_arbitration: return buses.arbitrate(source, sequence);
    case Action::acknowledgement_start: return radios.acknowledgement_start(source, sequence);
    case Action::backoff_expiry: return radios.backoff_expiry(source, sequence);
    case Action::callbacks:
    case Action::reception_start: break;
  }
  VOLVOX_CHECK(false, "an event that is never scheduled");
}

// Calls the listener for everything that is due at this instant, in the order of interfaces. Callbacks that
// become due at the same instant meanwhile form the next round.
void Network::State::call_back(Network& network) {
  VOLVOX_ASSERT(!core.callbacks.empty() && running);
  ++chain;
  calling.clear();
  calling.swap(core.callbacks);
  // By interface; for one interface, in the order in which they became due.
  calling_order.clear();
  for (std::size_t i = 0; i < calling.size(); ++i)
    calling_order.push_back(std::uint64_t{calling[i].interface} << 32 | i);
  std::sort(calling_order.begin(), calling_order.end());
  core.counters.events += calling.size();
  for (const std::uint64_t place : calling_order) {
    const Callback callback = calling[low_word(place)];
    VOLVOX_ASSERT(callback.interface < core.interfaces.size() && core.frames[callback.frame].references > 0);
    const Frame frame = core.frames[callback.frame];
    const NodeId node{core.interfaces[callback.interface].node, 0};
    const InterfaceId interface { callback.interface, 0 };
    if (listener != nullptr && callback.report) {
      listener->send_finished(network,
                              {node, interface, frame.id, callback.fate, std::max<std::uint32_t>(1, frame.attempts)});
    } else if (listener != nullptr) {
      receiving = callback.frame;
      listener->received(network, {node,
                                   interface,
                                   {frame.source, 0},
                                   frame.id,
                                   frame.port,
                                   frame.identifier,
                                   frame.queued,
                                   core.now,
                                   callback.power == 0 ? 0 : radios.watt(callback.interface, callback.power),
                                   core.frames.payload(callback.frame)});
      receiving = nothing;
    }
    core.frames.release(callback.frame);
  }
}

void Network::State::call_timer(Network& network, const Event& event) {
  const auto found = timers.find(std::uint64_t{event.source()} << 32 | event.sequence());
  if (found == timers.end()) return;
  ++core.counters.events;
  const Timer timer = found->second;
  timers.erase(found);
  if (timer.set_at == core.now) ++chain;
  if (listener != nullptr) listener->timer(network, {event.source(), 0}, timer.token);
}

void Network::State::enter_deferred(const Event& event) {
  const auto found = deferred.find(std::uint64_t{event.source()} << 32 | event.sequence());
  if (found == deferred.end()) return;
  ++core.counters.events;
  const std::uint32_t frame = found->second;
  deferred.erase(found);
  enqueue(frame);
}

Error Network::State::chain_error() const {
  return Error(fmt::format("callbacks have answered each other {} times at one instant, {} s, and time does not pass",
                           chain, core.now.seconds()),
               "give the wire a finite bit rate or a delay, or set the timer for later; "
               "NetworkOptions::largest_chain_at_one_instant raises the limit");
}

Result<void> Network::State::run(Network& network, Time until) {
  if (until > end_of_time)
    return Error("the time to run to is beyond what the clock can count", "give at most 126 years");
  if (running) return Error("a callback cannot run the network that called it", "return, and let the outer run go on");
  running = true;
  Result<void> result;
  while (result.ok() && step(network, until)) {
    if (chain <= options.largest_chain_at_one_instant) continue;
    result = chain_error();
    chain = 0;
  }
  running = false;
  return result;
}

Result<void> Network::run(Time until) {
  auto ran = state_->run(*this, until);
  if (ran) state_->advance(std::max(now(), until));
  return ran;
}

Result<Time> Network::run_all(Time until) {
  if (const auto ran = state_->run(*this, until); !ran) return ran.error();
  return now();
}

// --- observation -------------------------------------------------------------------

std::vector<std::string> Network::warnings() const {
  std::vector<std::string> all;
  for (std::uint32_t index = 0; index < state_->radios.media(); ++index) {
    const Medium& medium = state_->radios.medium(index);
    const double limit = medium.propagation().near_field();
    const std::size_t radios = medium.crowded(limit);
    if (radios > 0)
      all.push_back(
          fmt::format("medium {}: {} radios have another within {:.3g} m, where the propagation model gives "
                      "more received than transmitted power; the received power is limited to the transmitted power",
                      index, radios, limit));
    if (medium.strongest_w() > medium.largest_w())
      all.push_back(
          fmt::format("medium {}: radios that are close to each other may receive {:.3g} W, but received powers above "
                      "{:.3g} W are counted as {:.3g} W beside a noise this low, so capture between such signals is "
                      "wrong; give the radios less power or a larger bandwidth or noise factor",
                      index, medium.strongest_w(), medium.largest_w(), medium.largest_w()));
  }
  return all;
}

}  // namespace volvox::net
