#include "track_to_snake.h"

#include <algorithm>
#include <cmath>

namespace volvox::robots {
namespace {

constexpr double unroll_time = 4;     // s
constexpr double settle_time = 1;     // s, before the first wave
constexpr double rise_time = 1.5;     // s, of the waves
constexpr double still_rate = 0.2;    // rad/s: a slower track counts as standing
constexpr double still_time = 1;      // s, for which it must stand
constexpr double feeling_time = 0.3;  // s, time constant of the filter of the accelerometer
constexpr double patience = 10;       // s, after which the opener undocks even if the track still rocks

}  // namespace

void TrackToSnake::start(mind::Agent& agent) {
  opener_ = agent.parameter("opener", false);
  opens_after_ = agent.parameter("opens_after", 6.0);
  amplitude_ = agent.parameter("amplitude", 0.35);
  wavelength_ = agent.parameter("wavelength", 8.0);
  frequency_ = agent.parameter("frequency", 0.6);
  track_.start(agent);
  since_ = still_since_ = agent.time();
}

void TrackToSnake::enter(mind::Agent& agent, TrackStage stage) {
  stage_ = stage;
  since_ = still_since_ = agent.time();
  if (stage >= TrackStage::halting) track_.halt();
  if (stage == TrackStage::unrolling) {
    yaw_ = agent.angle("yaw");
    pitch_ = agent.angle("pitch");
    if (opener_) agent.disable_dock("front");
  }
}

// Only the opener decides; the others follow its messages.
void TrackToSnake::decide(mind::Agent& agent) {
  const double time = agent.time();
  if (std::fabs(agent.model<TrackModel>().rate) > still_rate) still_since_ = time;
  if (stage_ == TrackStage::rolling && time - since_ > opens_after_) enter(agent, TrackStage::halting);
  else if (stage_ == TrackStage::halting && (time - still_since_ > still_time || time - since_ > patience))
    enter(agent, TrackStage::unrolling);
  else if (stage_ == TrackStage::unrolling && time - since_ > unroll_time + settle_time) {
    backwards_ = uprightness_ < 0;
    enter(agent, TrackStage::crawling);
  }
}

void TrackToSnake::step(mind::Agent& agent) {
  if (opener_) decide(agent);
  switch (stage_) {
    case TrackStage::rolling:
    case TrackStage::halting: track_.step(agent); break;
    case TrackStage::unrolling: unroll(agent); break;
    case TrackStage::crawling: crawl(agent); break;
  }
  for (const char* dock : {"front", "back"})
    agent.send(dock, StageMessage{static_cast<std::int32_t>(stage_), backwards_});
}

void TrackToSnake::unroll(mind::Agent& agent) {
  uprightness_ += agent.dt() / feeling_time * (agent.percept<Vec3>("accelerometer").y - uprightness_);
  const double part = clamp((agent.time() - since_) / unroll_time, 0, 1);
  const double left = 1 - part * part * (3 - 2 * part);
  agent.move_to("yaw", yaw_ * left);
  agent.move_to("pitch", pitch_ * left);
}

// The axes of all joints are horizontal and parallel, so the wave runs in the vertical plane, with two joints per
// module, the pitch ahead of the yaw. The snake moves against the wave.
void TrackToSnake::crawl(mind::Agent& agent) {
  phase_.step(agent, frequency_);
  const double rise = phase_.known() ? std::min(1.0, phase_.age() / rise_time) : 0;
  const double way = backwards_ ? -1 : 1;
  const auto wave = [&](int joint) {
    return rise * amplitude_ * volvox::sin(phase_.phase() + way * 2 * pi * joint / wavelength_);
  };
  agent.move_to("pitch", wave(2 * phase_.place()));
  agent.move_to("yaw", wave(2 * phase_.place() + 1));
}

bool TrackToSnake::receive(mind::Agent& agent, const mind::Message& message) {
  if (const auto said = message.as<StageMessage>()) {
    const auto stage = std::min(static_cast<TrackStage>(said->stage), TrackStage::crawling);
    if (stage > stage_) {
      backwards_ = said->backwards;
      enter(agent, stage);
    }
    return true;
  }
  return track_.receive(agent, message) || phase_.receive(agent, message);
}

}  // namespace volvox::robots
