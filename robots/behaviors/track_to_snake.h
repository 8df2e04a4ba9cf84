// A rolling track that becomes a snake (seed 000, figure 5, middle). One module, the opener, decides when: the
// track halts, the opener releases its front dock, all modules unroll, and the chain crawls with a travelling
// wave. The opener, which is now the head, senses whether it lies as it rolled, or upside down and looking back;
// in the second case the wave runs the other way, so that the snake moves on in the direction of the track.
// Modules send their stage to their neighbours, and a module that receives a later stage enters it.
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
  double since_ = 0;            // s by its own clock, start of this stage
  double still_since_ = 0;      // s by its own clock: the track has not turned since then
  double yaw_ = 0, pitch_ = 0;  // rad, at the start of unrolling
  double uprightness_ = 0;      // m/s^2, filtered: gravity along the up axis of a module at the bottom of the track
  bool backwards_ = false;
};

}  // namespace volvox::robots
