// The air: who hears how much of whom. Adds the power of a transmission to every receiver
// when it starts and takes exactly the same power away when it ends. Internal.
//
// Receivers live in arrays sorted by cell, so that a transmission touches a few contiguous
// runs; the loops over them have no branches and no calls. In space a run is short, so the
// arithmetic works on blocks of many runs, gathered. Everything rare (a frame loud enough to
// decode, a sum that crosses a limit somebody watches) is found by one comparison in those
// loops and handled outside.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "volvox/net/power.h"
#include "volvox/net/propagation.h"
#include "volvox/net/types.h"

namespace volvox::net {

inline constexpr PowerUnits never_above = std::numeric_limits<PowerUnits>::max();

// The power that one transmission lends to each receiver. Kept, not computed again at the
// end: robots may move while the frame is on the air.
struct Links {
  struct Run {
    std::uint32_t begin = 0, count = 0;  // slots
  };
  std::vector<Run> runs;
  std::vector<std::uint32_t> radios;  // instead of runs, once the receivers were sorted anew
  std::vector<LinkPower> power;       // at least as long as there are links
  std::uint64_t updates = 0;

  // Leaves the powers: whoever starts writes all that it needs.
  void clear() { runs.clear(), radios.clear(), updates = 0; }
};

class Medium {
 public:
  struct Emission {
    std::uint32_t radio = 0;
    double power_w = 0;  // with the sender's antenna
    std::uint64_t frame = 0;
  };
  struct Hit {
    std::uint32_t slot = 0;
    PowerUnits power = 0;
  };

  Medium(const MediumOptions& options, std::unique_ptr<Propagation> propagation);
  ~Medium();

  const MediumOptions& options() const { return options_; }
  const Propagation& propagation() const { return *propagation_; }

  // Radios are known by their number in the network; not all of them are on this medium.
  void add(std::uint32_t radio, const RadioOptions& options, const Vec3& position);
  void reserve(std::size_t radios);
  std::size_t size() const { return radio_.size(); }
  bool has(std::uint32_t radio) const { return radio < slot_of_.size() && slot_of_[radio] != nothing; }
  std::uint32_t radio_at(std::uint32_t slot) const { return radio_[slot]; }
  Vec3 position(std::uint32_t radio) const;
  void move(std::uint32_t radio, const Vec3& position);

  // Noise and all signals.
  PowerUnits sum(std::uint32_t radio) const { return sum_[slot_of_[radio]]; }
  PowerUnits sum_at(std::uint32_t slot) const { return sum_[slot]; }
  // Or has come so near to it that 24 bits do not tell: whoever asks looks closely.
  bool reached_limit(std::uint32_t slot) const { return static_cast<float>(sum_[slot]) >= limit_[slot]; }
  // How many radios have another nearer than `distance`.
  std::size_t crowded(double distance) const;
  // That the channel adds at `receiver` while it decodes `sender`.
  PowerUnits added_noise(std::uint32_t sender, std::uint32_t receiver, double bandwidth_hz) const;
  // Ask to hear when the sum reaches `limit`, and when it may have fallen under the radio's
  // carrier threshold.
  void watch(std::uint32_t radio, PowerUnits limit, bool awaits_quiet);

  // Radios have left their cells. Before the next start, `scatter` the links of everything
  // on the air, then `sort`.
  bool unsorted() const { return unsorted_; }
  void scatter(Links& links) const;
  void sort();

  // `hits`: slots that can decode the frame or whose sum reached its upper limit.
  void start(const Emission& emission, Links& links, std::vector<Hit>& hits);
  // `hits`: radios that await quiet and whose sum is under the highest carrier threshold of all
  // (usually the only one).
  void stop(const Links& links, std::vector<std::uint32_t>& hits);
  bool decodable(PowerUnits power) const {
    return static_cast<LinkPower>(power) >= least_decodable_;
  }  // by some radio of the medium
  // How many radios the last start reached above the noise but below any decoding.
  std::uint64_t heard_weakly() const { return heard_weakly_; }

  // The links as (radio, power), sorted by radio; and back. For snapshots.
  std::vector<std::pair<std::uint32_t, PowerUnits>> list(const Links& links) const;
  void silence(std::uint32_t radio, PowerUnits noise) { sum_[slot_of_[radio]] = noise; }
  void adopt(Links& links, const std::vector<std::pair<std::uint32_t, PowerUnits>>& list);

  template <class Archive>
  void archive_positions(Archive& ar) {
    for (std::uint32_t radio = 0; radio < slot_of_.size(); ++radio) {
      if (!has(radio)) continue;
      Vec3 place = position(radio);
      ar("position", place);
      if (ar.loading() && !finite(place)) ar.fail("the snapshot has a radio that is nowhere");
      else if (ar.loading()) move(radio, place);
    }
  }

 private:
  struct Block;
  void find_runs(const Vec3& from, double radius, std::vector<Links::Run>& runs) const;
  void gather(Links::Run run, const Vec3& from);
  void arriving_power(const Emission& emission, const Vec3& from, LinkPower* power);
  void add(Links::Run run, const LinkPower* power, std::vector<Hit>& hits);
  std::size_t crowded_by_cells(double distance) const;
  void choose_cells();
  std::uint32_t cell_of(const Vec3& position) const;
  int cell_coordinate(double position, int axis) const;

  MediumOptions options_;
  std::unique_ptr<Propagation> propagation_;
  LinkPower least_decodable_ = static_cast<LinkPower>(never_above);  // over all radios
  LinkPower least_noise_ = static_cast<LinkPower>(never_above);
  PowerUnits highest_carrier_ = 0;
  std::uint64_t heard_weakly_ = 0;
  bool adds_noise_ = false;
  bool distance_only_ = false;  // what the propagation model looks at

  std::vector<std::uint32_t> slot_of_;  // by radio; nothing: on another medium
  // By slot. The time goes into fetching cache lines, not into arithmetic, so each loop has
  // arrays of just what it needs.
  std::vector<Vec3> position_;
  std::vector<std::uint32_t> radio_;
  std::vector<PowerUnits> sum_;  // noise and all signals
  // Somebody wants to hear when the sum reaches this. As floats, half the size: rounding keeps
  // the order, so a comparison of the two may be early by rounding, and never misses.
  std::vector<float> limit_;
  std::vector<std::uint8_t> awaits_quiet_;
  // The gain of the receiving antennas: one for all, or one a slot where they differ.
  double antenna_gain_ = 1;
  std::vector<double> antenna_gain_at_;

  std::unique_ptr<Block> block_;  // scratch
  // Cells in rows along x; cell c holds the slots cell_begin_[c] .. cell_begin_[c + 1].
  bool unsorted_ = true;
  Vec3 origin_;
  Vec3 cell_size_{1, 1, 1};
  int cells_[3] = {1, 1, 1};
  std::vector<std::uint32_t> cell_begin_;
};

}  // namespace volvox::net
