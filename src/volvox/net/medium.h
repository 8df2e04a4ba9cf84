// One radio channel: the sum of received powers at every radio. Adds the power of a transmission at
// every receiver when it starts and subtracts exactly the same power when it ends. Internal.
//
// Receivers are stored in arrays sorted by grid cell, so that a transmission touches a few
// contiguous runs of slots; the loops over them have no branches and no calls. (A CellGrid has no
// such runs: its cells lie in memory in the order in which they were found.) In 3-D runs are
// short, so the arithmetic works on blocks that gather many runs. Rare cases (a frame that can be
// decoded, a sum that reaches a watched limit) are detected by one comparison in those loops and
// handled outside of them.
// Positions in m, world frame; powers in whole units (power.h), so that sums are exact. One thread.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "volvox/net/power.h"
#include "volvox/net/propagation.h"
#include "volvox/net/types.h"

namespace volvox::net {

inline constexpr PowerUnits never_above = std::numeric_limits<PowerUnits>::max();

// The power that one transmission adds at each receiver. It is stored and not computed again at the
// end, because robots may move while the frame is on the air.
struct Links {
  struct Run {
    std::uint32_t begin = 0, count = 0;  // slots
  };
  std::vector<Run> runs;
  std::vector<std::uint32_t> radios;  // instead of runs, after the receivers were sorted again
  std::vector<LinkPower> power;       // one for each link, and unused elements after them
  std::uint64_t updates = 0;

  // Does not clear the powers: start() overwrites all that it uses.
  void clear() { runs.clear(), radios.clear(), updates = 0; }
};

class Medium {
 public:
  struct Emission {
    std::uint32_t radio = 0;
    double power_w = 0;  // including the sender's antenna gain
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

  // `radio` is the index of a radio in the network; not all radios use this medium.
  void add(std::uint32_t radio, const RadioOptions& options, const Vec3& position);
  void reserve(std::size_t radios);
  std::size_t size() const { return radio_.size(); }
  bool has(std::uint32_t radio) const { return radio < slot_of_.size() && slot_of_[radio] != nothing; }
  std::uint32_t radio_at(std::uint32_t slot) const { return radio_[slot]; }
  Vec3 position(std::uint32_t radio) const;
  void move(std::uint32_t radio, const Vec3& position);

  // A unit of power is 1e-20 W; if a radio is so strong that its neighbours would receive more than
  // `largest_link_power` of them, it is the smallest power of two of that which holds it, unless the noise would then
  // have less than 64 units. update_unit() chooses it from all radios added so far; true: it has changed, and the
  // caller must regard() and silence() all radios again. It stays as it is after the first transmission, in a
  // restored network too.
  bool update_unit(const RadioOptions& options);
  PowerUnits units(double watt, PowerUnits most = largest_link_power) const { return to_units(watt / unit_, most); }
  double watt(PowerUnits units) const { return to_watt(units) * unit_; }
  PowerUnits threshold(double watt) const { return least_units(watt / unit_); }
  PowerUnits noise(const RadioOptions& options) const {
    return units(thermal_noise_w(options.bandwidth_hz, options.noise_factor));
  }
  void forget_thresholds();
  // Takes the thresholds of a radio into account.
  void regard(const RadioOptions& options);
  // The strongest signal that can be received at a gain of 1, and the one above which all are counted as this one.
  double strongest_w() const { return strongest_w_ * highest_gain_; }
  double largest_w() const { return watt(largest_link_power); }

  // Noise and all signals.
  PowerUnits sum(std::uint32_t radio) const { return sum_[slot_of_[radio]]; }
  PowerUnits sum_at(std::uint32_t slot) const { return sum_[slot]; }
  // Compares with 24 bits only, so it may be true slightly below the limit: the caller checks exactly.
  bool reached_limit(std::uint32_t slot) const { return to_link_power(sum_[slot]) >= limit_[slot]; }
  // The number of radios that have another radio within `distance` (m).
  std::size_t crowded(double distance) const;
  // The noise that the channel adds at `receiver` while it decodes `sender`.
  PowerUnits added_noise(std::uint32_t sender, std::uint32_t receiver, double bandwidth_hz) const;
  // start() reports the radio when its sum reaches `limit`; with `awaits_quiet`, stop() reports it when its
  // sum may have fallen below its carrier threshold.
  void watch(std::uint32_t radio, PowerUnits limit, bool awaits_quiet);

  // True after radios have left their cells. Before the next start, the caller must `scatter` the links
  // of all transmissions on the air and then `sort`.
  bool unsorted() const { return unsorted_; }
  void scatter(Links& links) const;
  void sort();

  // `hits`: slots that can decode the frame or whose sum reached its limit.
  void start(const Emission& emission, Links& links, std::vector<Hit>& hits);
  // `hits`: radios that await quiet and whose sum is below the highest carrier threshold of the medium
  // (usually all radios have the same).
  void stop(const Links& links, std::vector<std::uint32_t>& hits);
  // By the most sensitive radio of the medium.
  bool decodable(PowerUnits power) const { return to_link_power(power) >= least_decodable_; }
  // The number of radios that received the last start above the noise, but too weak for any radio to decode.
  std::uint64_t heard_weakly() const { return heard_weakly_; }

  // For snapshots: the links as (radio, power), sorted by radio, and their restoration.
  std::vector<std::pair<std::uint32_t, PowerUnits>> list(const Links& links) const;
  void silence(std::uint32_t radio, PowerUnits noise) { sum_[slot_of_[radio]] = noise; }
  void adopt(Links& links, const std::vector<std::pair<std::uint32_t, PowerUnits>>& list);

  // The unit depends on which radios there were at the first transmission. It is no part of the state hash, as the
  // powers in it are. True: loading has changed it, as update_unit() does.
  template <class Archive>
  bool archive_unit(Archive& ar) {
    if (ar.hashing()) return false;
    double unit = unit_;
    ar("unit", unit);
    std::uint8_t used = used_;
    ar("used", used);
    if (!ar.loading()) return false;
    int exponent = 0;
    if (!(unit >= 1 && unit <= 0x1p60 && std::frexp(unit, &exponent) == 0.5) || used > 1) {
      ar.fail("the snapshot has a channel with an impossible unit of power");
      return false;
    }
    used_ = used != 0;
    return std::exchange(unit_, unit) != unit;
  }
  template <class Archive>
  void archive_positions(Archive& ar) {
    for (std::uint32_t radio = 0; radio < slot_of_.size(); ++radio) {
      if (!has(radio)) continue;
      Vec3 place = position(radio);
      ar("position", place);
      if (ar.loading() && !finite(place)) ar.fail("the snapshot has a radio whose position is not finite");
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
  LinkPower least_decodable_ = to_link_power(never_above);  // of all radios
  LinkPower least_noise_ = to_link_power(never_above);
  PowerUnits highest_carrier_ = 0;
  std::uint64_t heard_weakly_ = 0;
  double unit_ = 1;  // in 1e-20 W, a power of two, so that scaling by it is exact
  double strongest_w_ = 0, highest_gain_ = 0, least_noise_w_ = std::numeric_limits<double>::infinity();
  bool used_ = false;  // there was a transmission
  bool adds_noise_ = false;
  bool distance_only_ = false;  // the propagation model depends on distances only

  std::vector<std::uint32_t> slot_of_;  // by radio; nothing: on another medium
  // By slot. Memory access, not arithmetic, limits the speed, so each quantity that a loop needs has an
  // array of its own.
  std::vector<Vec3> position_;
  std::vector<std::uint32_t> radio_;
  std::vector<PowerUnits> sum_;  // noise and all signals
  // The radio is reported when its sum reaches this. Stored as float for half the size: rounding is
  // monotonic, so a comparison may be true slightly too early, but never too late.
  std::vector<float> limit_;
  std::vector<std::uint8_t> awaits_quiet_;
  // The gain of the receiving antennas: one value for all, or one per slot if they differ.
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
