// The motions that catoms can make on a lattice: where they lead, what must be free on the way, what holds the catom,
// and how long they take. A table is made once for a lattice and a model of motion, and does not change.
//
// - roll: round catoms (square, hex, bcc, fcc) roll about a neighbour, which holds them, to another place beside it. On
//   hex that is a sixth of a turn; on fcc they go between its twelve connectors, by 60 or by 90 degrees; on bcc by
//   70.5; on square by 90, or along two neighbours of a row, over the valley between them.
// - slide: cubes and squares (Fitch, Butler and Rus, 2003) slide along two neighbours, or around the corner of one.
// - pivot: cubes and squares (Sung, Bern, Romanishin and Rus, 2015) turn about an edge of a neighbour, by a quarter
//   onto the next of its row, or by a half to its other side if there is none.
//
// What must be free is what the catom sweeps, found from its shape: round catoms stay a pitch away from the centres of
// all others, cubes sweep with their edges. Directions and parts of turns are those of the lattice: the catom itself
// does not turn with its ports, which are directions, too.
// Places in cells, times in those of the shortest motion. Any thread may read a table.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "volvox/lattice/lattice.h"

namespace volvox::lattice {

enum class MotionModel : std::uint8_t { none, roll, slide, pivot };
inline constexpr std::array all_motion_models = {MotionModel::none, MotionModel::roll, MotionModel::slide,
                                                 MotionModel::pivot};
std::string_view name(MotionModel model);
Result<MotionModel> motion_model_named(const std::string& name);
bool possible(MotionModel model, Kind kind);
MotionModel usual_motion(Kind kind);  // slide on square and cubic, else roll

// Cells around a catom, as bits: `MotionTable::around` says where each is.
using CellSet = std::uint64_t;

struct Motion {
  int to = 0;         // where it leads: a number of MotionTable::around
  CellSet free = 0;   // cells that must be free, that one included
  CellSet holds = 0;  // cells whose catoms must be there, and stay
  int pivot = 0;      // the port of the neighbour about which it goes
  double steps = 1;   // how long it takes, in those of the shortest motion
};

class MotionTable {
 public:
  static constexpr int most_motions = 127;

  MotionTable(const Lattice& lattice, MotionModel model);

  MotionModel model() const { return model_; }
  int size() const { return static_cast<int>(motions_.size()); }
  const Motion& operator[](int motion) const { return motions_[motion]; }

  // The cells that motions need, numbered: the cell at a place from a catom's, and the place back.
  int places() const { return static_cast<int>(vectors_.size()); }
  Cell cell(const Cell& from, int place) const {
    const Cell& o = offsets_[lattice_.parity(from)][place];
    return {from.x + o.x, from.y + o.y, from.z + o.z};
  }
  int back(int place) const { return back_[place]; }
  int port(int place) const { return ports_[place]; }  // of the neighbour there; no_port_here: none is so near
  static constexpr int no_port_here = -1;
  CellSet ever_free() const { return ever_free_; }  // of any motion
  CellSet ever_holds() const { return ever_holds_; }

  Cell target(const Cell& from, int motion) const { return cell(from, motions_[motion].to); }
  // By which a catom goes about the neighbour at a port to another port of that one, or, beside that neighbour, on
  // towards a port of its own (to the next of a row). Without such a motion: no_motion.
  static constexpr int no_motion = -1;
  int about(int pivot, int port_of_pivot) const { return find(pivot, directions_[pivot] + directions_[port_of_pivot]); }
  int beside(int pivot, int towards) const { return find(pivot, directions_[towards]); }
  // From the centre of the catom's cell, in m; `part` of the motion is over, 0 to 1.
  Vec3 path(int motion, double part) const;

  // The surroundings within which a catom's neighbours must hang together without it: cells closer than 1.75 pitches.
  struct Ring {
    std::vector<std::array<Cell, 2>> offsets;  // by parity
    std::vector<CellSet> beside;               // which of them touch
    CellSet neighbors = 0;                     // those that touch the catom
  };
  const Ring& ring() const { return ring_; }

 private:
  // A part of a motion: about an axis through a centre, or straight.
  struct Leg {
    Vec3 end{}, center{}, axis{};
    double angle = 0;  // radians; 0: straight
  };
  int find(int pivot, const Vec3& to) const;
  static Leg turn(const Vec3& from, const Vec3& to, const Vec3& center);
  int place(const Vec3& vector);  // its number; new ones are added with the opposite
  CellSet set_of(const std::vector<Vec3>& cells);
  void add_rolls();
  void add_roll(int pivot, const Vec3& to);
  void add_beside(int along, int beside);
  CellSet swept_by_ball(const std::vector<Leg>& legs);
  void add(const Vec3& to, CellSet free, CellSet holds, int pivot, double steps, std::vector<Leg> legs);
  void make_ring();
  std::array<Cell, 2> offset_of(const Vec3& vector) const;
  std::vector<Vec3> cells_within(double distance) const;

  Lattice lattice_;  // with pitch 1
  double pitch_;
  MotionModel model_;
  std::vector<Motion> motions_;
  std::vector<std::vector<Leg>> paths_;
  std::vector<Vec3> directions_;  // by port
  std::vector<Vec3> around_;      // vectors to cells that a ball might meet
  std::vector<Vec3> vectors_;     // by place, in pitches
  std::vector<int> back_, ports_;
  std::vector<Cell> offsets_[2];  // by parity and place
  CellSet ever_free_ = 0, ever_holds_ = 0;
  Ring ring_;
};

}  // namespace volvox::lattice
