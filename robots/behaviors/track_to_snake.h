// A rolling track that becomes a snake (seed 000, figure 5, middle). One module, the opener, decides when: the
// track halts, the opener lets go of what its front dock holds, all unroll, and the chain crawls on by a wave
// that travels along it. The opener, which is now its head, feels whether it lies as it rolled or upside down, looking
// back; then the wave runs the other way, so that the snake moves on where the track was going. Modules tell their
// neighbours how far the change has got, and whoever hears of a later stage joins it.
#pragma once

#include "chain_phase.h"
#include "track.h"

namespace volvox::robots {

enum class TrackStage : std::int32_t { rolling, halting, unrolling, crawling };

struct StageMessage {
  std::int32_t stage = 0;
  bool backwards = false;  // the head of the snake looks back
};
VOLVOX_TYPE(StageMessage, stage, backwards)

class TrackToSnake final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  VOLVOX_STATE(track_, phase_, stage_, since_, still_since_, yaw_, pitch_, uprightness_, backwards_)

 private:
  void enter(mind::Agent& agent, TrackStage stage);
  void decide(mind::Agent& agent);
  void unroll(mind::Agent& agent);
  void crawl(mind::Agent& agent);

  bool opener_ = false;
  double opens_after_ = 0;  // s
  double amplitude_ = 0;    // rad
  double wavelength_ = 0;   // joints
  double frequency_ = 0;    // Hz
  Track track_;
  ChainPhase phase_;
  TrackStage stage_ = TrackStage::rolling;
  double since_ = 0;            // s by its own clock, of this stage
  double still_since_ = 0;      // s by its own clock: the track has not turned since then
  double yaw_ = 0, pitch_ = 0;  // rad, from where it unrolls
  double uprightness_ = 0;      // m/s^2, of late: gravity as felt by a module that lies as at the bottom of the track
  bool backwards_ = false;
};

}  // namespace volvox::robots
