// Docks a hand with jaws to a socket that stands about where it thinks (experiments/remod3d/clamps). Jaws that jam say
// by how wide they stand how far askew the socket is: the hand lets go, tries a place nearby, and keeps what is better.
// Once they have closed it pulls, harder and harder, until they slip.
// SI units; drawn from the agent's random stream.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

class ClampOn final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  void archive_state(Archive& ar) override;
  bool lists_state() const override { return true; }

 private:
  enum class Stage : std::uint8_t { approaching, closing, opening, leaving, pulling, done };
  struct Aim {
    double y = 0, yaw = 0;  // m, rad
  };
  void go(Stage stage, const mind::Agent& agent);
  void judge(mind::Agent& agent, double misfit);

  Stage stage_ = Stage::leaving;
  double since_ = 0;  // s
  Aim aim_, best_;
  double best_misfit_ = 0;  // of best_, in multiples of what the jaws bear; 0: none yet
};

}  // namespace volvox::robots
