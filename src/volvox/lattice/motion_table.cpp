#include "volvox/lattice/motion_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"

namespace volvox::lattice {
namespace {

constexpr std::array<std::string_view, all_motion_models.size()> names = {"none", "roll", "slide", "pivot"};
constexpr double same = 1e-6;        // lengths that differ by less are equal, in pitches
constexpr int samples = 40;          // of a path, to see what a ball sweeps
constexpr double longest_roll = 95;  // degrees: beyond, another place of the pivot lies between

CellSet bit(int place) { return CellSet{1} << place; }

// The place on a path of several legs when `part` (0 to 1) of its time is over. All legs take the same time.
template <class Leg>
Vec3 along(const std::vector<Leg>& legs, double part) {
  const double at = std::min(std::max(part, 0.0), 1.0) * real(legs.size());
  const std::size_t leg = std::min(legs.size() - 1, truncated<std::size_t>(at));
  const Vec3 from = leg == 0 ? Vec3{} : legs[leg - 1].end;
  const double over = at - real(leg);
  if (over >= 1) return legs[leg].end;
  if (legs[leg].angle == 0) return from + (legs[leg].end - from) * over;
  return legs[leg].center + Quat::axis_angle(legs[leg].axis, legs[leg].angle * over) * (from - legs[leg].center);
}

}  // namespace

std::string_view name(MotionModel model) { return names[number_of(model)]; }

Result<MotionModel> motion_model_named(const std::string& name) {
  for (const MotionModel model : all_motion_models)
    if (lattice::name(model) == name) return model;
  return Error(fmt::format("there is no motion '{}'", name), "choose one of none, roll, slide, pivot");
}

bool possible(MotionModel model, Kind kind) {
  if (model == MotionModel::none) return true;
  if (model == MotionModel::roll) return kind != Kind::cubic;
  return kind == Kind::square || kind == Kind::cubic;
}

MotionModel usual_motion(Kind kind) {
  return kind == Kind::square || kind == Kind::cubic ? MotionModel::slide : MotionModel::roll;
}

MotionTable::MotionTable(const Lattice& lattice, MotionModel model)
    : lattice_(lattice.kind(), 1), pitch_(lattice.pitch()), model_(model) {
  VOLVOX_CHECK(possible(model, lattice.kind()), "this motion is not possible on this lattice");
  for (int port = 0; port < lattice_.ports(); ++port)
    directions_.push_back(lattice_.position(lattice_.neighbor({}, port)));
  around_ = cells_within(2.45);  // a ball within 1.42 of the middle meets those within 2.42
  if (model == MotionModel::roll) add_rolls();
  const bool rows = model == MotionModel::slide || model == MotionModel::pivot ||
                    (model == MotionModel::roll && lattice.kind() == Kind::square);
  for (int beside = 0; rows && beside < lattice_.ports(); ++beside)
    for (int along = 0; along < lattice_.ports(); ++along)
      if (std::abs(dot(directions_[along], directions_[beside])) < same) add_beside(along, beside);
  VOLVOX_CHECK(size() <= most_motions && places() <= 64, "too many motions");
  make_ring();
}

// The cell at a vector from another cell, for cells of both parities: in the lattices whose every second row or layer
// is shifted, the same vector leads to another cell from there.
std::array<Cell, 2> MotionTable::offset_of(const Vec3& vector) const {
  std::array<Cell, 2> offset;
  for (int parity = 0; parity < 2; ++parity) {
    const bool rows = lattice_.kind() == Kind::hex;
    const Cell from{0, rows ? parity : 0, rows || lattice_.flat() ? 0 : parity};
    const Cell to = lattice_.cell_at(lattice_.position(from) + vector);
    offset[parity] = {to.x - from.x, to.y - from.y, to.z - from.z};
  }
  return offset;
}

int MotionTable::place(const Vec3& vector) {
  for (int i = 0; i < places(); ++i)
    if (length(vectors_[i] - vector) < same) return i;
  const int first = places();
  for (const Vec3& v : {vector, -vector}) {
    const auto offset = offset_of(v);
    vectors_.push_back(v);
    ports_.push_back(no_port_here);
    for (int port = 0; port < lattice_.ports(); ++port)
      if (length(directions_[port] - v) < same) ports_.back() = port;
    offsets_[0].push_back(offset[0]), offsets_[1].push_back(offset[1]);
  }
  back_.push_back(first + 1), back_.push_back(first);
  return first;
}

CellSet MotionTable::set_of(const std::vector<Vec3>& cells) {
  CellSet set = 0;
  for (const Vec3& cell : cells) set |= bit(place(cell));
  return set;
}

// Vectors to all cells around, without the middle.
std::vector<Vec3> MotionTable::cells_within(double distance) const {
  std::vector<Vec3> found;
  const int up = lattice_.flat() ? 0 : 4;
  for (int z = -up; z <= up; ++z)
    for (int y = -4; y <= 4; ++y)
      for (int x = -4; x <= 4; ++x)
        if (const Vec3 v = lattice_.position({x, y, z}); length(v) > same && length(v) < distance) found.push_back(v);
  return found;
}

MotionTable::Leg MotionTable::turn(const Vec3& from, const Vec3& to, const Vec3& center) {
  const Vec3 a = normalized(from - center), b = normalized(to - center);
  return {to, center, normalized(cross(a, b)), volvox::acos(std::min(1.0, std::max(-1.0, dot(a, b))))};
}

void MotionTable::add(const Vec3& to, CellSet free, CellSet holds, int pivot, double steps, std::vector<Leg> legs) {
  Motion motion{.to = place(to), .free = free, .holds = holds, .pivot = pivot, .steps = steps};
  motion.free |= bit(motion.to);
  ever_free_ |= motion.free, ever_holds_ |= motion.holds;
  motions_.push_back(motion);
  paths_.push_back(std::move(legs));
}

// The cells whose balls a ball on this path would hit. Those that it only touches do not count.
CellSet MotionTable::swept_by_ball(const std::vector<Leg>& legs) {
  std::vector<Vec3> path;
  for (int i = 0; i <= samples; ++i) path.push_back(along(legs, real(i) / samples));
  CellSet swept = 0;
  for (const Vec3& cell : around_) {
    const auto meets = [&](const Vec3& at) { return length_squared(at - cell) < (1 - same) * (1 - same); };
    if (std::any_of(path.begin(), path.end(), meets)) swept |= bit(place(cell));
  }
  return swept;
}

// In a plane lattice there are two about each pivot, the counter-clockwise one first.
void MotionTable::add_rolls() {
  for (int pivot = 0; pivot < lattice_.ports(); ++pivot) {
    std::vector<Vec3> ends;
    for (const Vec3& direction : directions_) {
      const Vec3 from = -directions_[pivot];
      const double angle = volvox::acos(std::min(1.0, std::max(-1.0, dot(from, direction)))) * 180 / pi;
      if (angle > 1 && angle < longest_roll) ends.push_back(directions_[pivot] + direction);
    }
    if (lattice_.flat())
      std::sort(ends.begin(), ends.end(), [&](const Vec3& a, const Vec3& b) {
        const auto turned = [&](const Vec3& to) { return cross(-directions_[pivot], to - directions_[pivot]).z; };
        return turned(a) > turned(b);
      });
    for (const Vec3& to : ends) add_roll(pivot, to);
  }
}

void MotionTable::add_roll(int pivot, const Vec3& to) {
  const std::vector<Leg> legs = {turn({}, to, directions_[pivot])};
  // By 60 degrees, the shortest, takes one step; on bcc all are alike.
  const double steps = lattice_.kind() == Kind::bcc ? 1 : legs[0].angle / (pi / 3);
  const CellSet holds = set_of({directions_[pivot]});
  add(to, swept_by_ball(legs), holds, pivot, std::round(steps * 1000) / 1000, legs);
}

// Motions along a row of neighbours that lies at one side: onto the next neighbour of the row, and around its end.
void MotionTable::add_beside(int forward, int beside) {
  const Vec3 p = directions_[forward], s = directions_[beside], corner = p + s;
  if (model_ == MotionModel::roll) {  // onto the next only: over the valley, where both are touched
    const Vec3 valley = s + Quat::axis_angle(normalized(cross(s, p)), -pi / 6) * -s;
    const std::vector<Leg> legs = {turn({}, valley, s), turn(valley, p, corner)};
    add(p, swept_by_ball(legs), set_of({s, corner}), beside, 1, legs);
  } else if (model_ == MotionModel::slide) {
    add(p, set_of({p}), set_of({s, corner}), beside, 1, {Leg{.end = p}});
    add(corner, set_of({p, corner}), set_of({s}), beside, 2, {Leg{.end = p}, Leg{.end = corner}});
  } else {
    const Vec3 edge = corner / 2;
    const Leg quarter = turn({}, p, edge);
    add(p, set_of({p, -s, p - s}), set_of({s, corner}), beside, 1, {quarter});
    add(corner, set_of({p, corner, -s, p - s, 2 * p, 2 * p + s}), set_of({s}), beside, 2,
        {quarter, turn(p, corner, edge)});
  }
}

int MotionTable::find(int pivot, const Vec3& to) const {
  for (int i = 0; i < size(); ++i)
    if (motions_[i].pivot == pivot && length(vectors_[motions_[i].to] - to) < same) return i;
  return no_motion;
}

Vec3 MotionTable::path(int motion, double part) const { return along(paths_[motion], part) * pitch_; }

void MotionTable::make_ring() {
  const std::vector<Vec3> cells = cells_within(1.75);
  VOLVOX_CHECK(cells.size() <= 64, "too many cells around one");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    ring_.offsets.push_back(offset_of(cells[i]));
    ring_.beside.push_back(0);
    for (std::size_t k = 0; k < cells.size(); ++k)
      if (std::abs(length(cells[i] - cells[k]) - 1) < same) ring_.beside[i] |= bit(narrow<int>(k));
    if (std::abs(length(cells[i]) - 1) < same) ring_.neighbors |= bit(narrow<int>(i));
  }
}

}  // namespace volvox::lattice
