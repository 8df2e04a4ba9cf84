#include "volvox/net/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/net/power.h"

namespace volvox::net {
namespace {

bool positive(double value) { return value > 0 && std::isfinite(value); }

Error refuse(std::string_view what, double value, std::string_view fix) {
  return Error(fmt::format("the {} is {}", what, value), std::string(fix));
}

constexpr double strongest_w = 1000;
constexpr double longest_delay = 3600;  // s
constexpr std::uint32_t most_retries = 250;

}  // namespace

Result<void> check(const WireOptions& options) {
  if (!(options.bit_rate > 0)) return refuse("bit rate of the wire", options.bit_rate, "give a positive rate in bit/s");
  if (options.delay.ns < 0 || options.delay.seconds() > longest_delay)
    return refuse("delay of the wire in ns", real(options.delay.ns), "give zero or more, up to an hour");
  if (options.timing == Timing::delayed && options.capacity == 0)
    return refuse("capacity of the wire", 0, "a wire with delayed timing moves at least one byte a tick");
  if (options.queue_limit == 0) return refuse("queue limit of the wire", 0, "give at least one frame");
  return {};
}

Result<void> check(const BusOptions& options) {
  if (!positive(options.bit_rate))
    return refuse("bit rate of the bus", options.bit_rate, "give a positive rate in bit/s");
  if (options.queue_limit == 0) return refuse("queue limit of the bus", 0, "give at least one frame");
  return {};
}

Result<void> check(const RadioOptions& options) {
  if (!positive(options.power_w) || options.power_w > strongest_w)
    return refuse("transmitting power in W", options.power_w, "give a positive power of at most 1000 W, such as 0.001");
  if (!positive(options.antenna_gain))
    return refuse("antenna gain", options.antenna_gain, "give a positive linear factor; 1 is isotropic");
  if (!positive(options.bit_rate))
    return refuse("bit rate of the radio", options.bit_rate, "give a positive rate in bit/s");
  if (!positive(options.bandwidth_hz))
    return refuse("bandwidth in Hz", options.bandwidth_hz, "give a positive bandwidth");
  if (!(options.noise_factor >= 1) || !std::isfinite(options.noise_factor))
    return refuse("noise factor", options.noise_factor, "give a linear factor of at least 1");
  if (!positive(options.receive_threshold_w))
    return refuse("receive threshold in W", options.receive_threshold_w,
                  "give a positive power, such as 3e-12 (-85 dBm)");
  if (!(options.carrier_threshold_w > 0))
    return refuse("carrier threshold in W", options.carrier_threshold_w,
                  "give a positive power; infinity turns carrier sense off");
  if (options.carrier_threshold_w <= thermal_noise_w(options.bandwidth_hz, options.noise_factor))
    return refuse(
        "carrier threshold in W", options.carrier_threshold_w,
        "give more than the noise (bandwidth and noise factor), or the radio is busy for ever and never sends");
  if (!(options.capture_ratio >= 1) || options.capture_ratio > 60000)
    return refuse("capture ratio", options.capture_ratio, "give a linear factor from 1 to 60000; 10 is 10 dB");
  if (options.window == 0) return refuse("backoff window", 0, "give at least one slot; 1 sends without backoff");
  if (options.slot.ns <= 0 || options.slot.seconds() * std::max(options.window, options.largest_window) > longest_delay)
    return refuse("slot in ns", real(options.slot.ns), "give a positive time; a whole window within an hour");
  if (options.queue_limit == 0) return refuse("queue limit of the radio", 0, "give at least one frame");
  if (options.turnaround.ns < 0 || options.acknowledgement_timeout.ns <= options.turnaround.ns ||
      options.acknowledgement_timeout.seconds() > longest_delay)
    return refuse("acknowledgement timeout in ns", real(options.acknowledgement_timeout.ns),
                  "give more than the turnaround, which is zero or more");
  if (options.retry_limit > most_retries) return refuse("retry limit", options.retry_limit, "give at most 250");
  if (options.pulse_fs < 0 || options.pulse_fs > 1'000'000'000)
    return refuse("pulse in fs", real(options.pulse_fs), "give up to 1e9 fs; 0 is a carrier");
  if (options.pulse_fs == 0) return {};
  if (options.spread == 0) return refuse("spread of pulses", 0, "give at least 1 pulse a bit");
  if (const double rate = 1e15 / (real(options.pulse_fs) * options.spread);
      std::fabs(options.bit_rate - rate) > 1e-9 * rate)
    return refuse("bit rate of a radio with pulses", options.bit_rate,
                  fmt::format("give {}, a bit each {} pulses", rate, options.spread));
  // Times of pulses are whole femtoseconds, of which 64 bits hold 9200 s: two frames that overlap.
  if (const double air = real(options.pulse_fs) * 1e-15 * options.spread * 8 *
                         (real(options.largest_payload) + real(options.overhead));
      air > longest_delay)
    return refuse("time on air in s of the longest frame of pulses", air,
                  "give at most an hour: shorter pulses, fewer a bit, or a smaller largest_payload");
  if (options.acknowledge) return refuse("acknowledging of a radio with pulses", 1, "leave it out");
  return {};
}

Result<void> check(const MediumOptions& options) {
  if (!positive(options.frequency_hz))
    return refuse("frequency in Hz", options.frequency_hz, "give a positive frequency, such as 2.4e9");
  if (!(options.cull_radius >= 0) || !std::isfinite(options.cull_radius))
    return refuse("culling radius in m", options.cull_radius, "give a positive distance, or 0 for exact interference");
  return {};
}

}  // namespace volvox::net
