#include "volvox/lattice/lattice.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "volvox/base/index.h"

namespace volvox::lattice {
namespace {

constexpr std::array<std::string_view, all_kinds.size()> names = {"square", "hex", "cubic", "bcc", "fcc"};

// Directions to one half of the neighbours, in units in which a cell and its shifted layer are whole or half numbers;
// the other half are their opposites.
std::vector<Vec3> half_of_directions(Kind kind) {
  switch (kind) {
    case Kind::square: return {{1, 0, 0}, {0, 1, 0}};
    case Kind::hex: return {{1, 0, 0}, {0.5, 1, 0}, {-0.5, 1, 0}};
    case Kind::cubic: return {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    case Kind::bcc: return {{0.5, 0.5, 1}, {-0.5, 0.5, 1}, {0.5, -0.5, 1}, {-0.5, -0.5, 1}};
    case Kind::fcc: return {{1, 0, 0}, {0, 1, 0}, {0.5, 0.5, 1}, {-0.5, 0.5, 1}, {0.5, -0.5, 1}, {-0.5, -0.5, 1}};
  }
  return {};
}

}  // namespace

std::string text(const Cell& cell) { return fmt::format("({}, {}, {})", cell.x, cell.y, cell.z); }

std::string_view name(Kind kind) { return names[number_of(kind)]; }

Result<Kind> kind_named(const std::string& name) {
  for (const Kind kind : all_kinds)
    if (lattice::name(kind) == name) return kind;
  return Error(fmt::format("there is no lattice '{}'", name), "choose one of square, hex, cubic, bcc, fcc");
}

Lattice::Lattice(Kind kind, double pitch) : kind_(kind), pitch_(pitch) {
  VOLVOX_CHECK(std::isfinite(pitch) && pitch > 0, "the pitch of a lattice is positive");
  const double half = pitch / 2;
  spacing_ = {pitch, pitch, pitch};
  if (kind == Kind::hex) {
    odd_row_ = 1;
    spacing_.y = pitch * std::sqrt(0.75);
    shift_ = {half, 0, 0};
  } else if (kind == Kind::bcc) {
    // The cube of a body-centred cell has the edge 2 / sqrt(3), and its centre is a layer of its own.
    odd_layer_ = 1;
    const double edge = 2 * pitch / std::sqrt(3.0);
    spacing_ = {edge, edge, edge / 2};
    shift_ = {edge / 2, edge / 2, 0};
  } else if (kind == Kind::fcc) {
    // Layers across a fourfold axis: squares of touching cells, each over the gap of four below.
    odd_layer_ = 1;
    spacing_.z = pitch * std::sqrt(0.5);
    shift_ = {half, half, 0};
  }
  for (const Vec3& direction : half_of_directions(kind)) add_pair(direction);
}

void Lattice::add_pair(const Vec3& direction) {
  for (const double sign : {1.0, -1.0}) {
    const Vec3 d = sign * direction;
    for (int parity = 0; parity < 2; ++parity) {
      // From a shifted cell, half a step on is the next whole number; from an unshifted one, half a step back is.
      const auto whole = [&](double v) { return truncated<std::int32_t>(std::floor(v + 0.5 * parity)); };
      offsets_[parity][ports_] = {whole(d.x), kind_ == Kind::hex ? truncated<std::int32_t>(d.y) : whole(d.y),
                                  truncated<std::int32_t>(d.z)};
    }
    ++ports_;
  }
}

Vec3 Lattice::position(const Cell& cell) const {
  const int odd = parity(cell);
  return {cell.x * spacing_.x + odd * shift_.x, cell.y * spacing_.y + odd * shift_.y, cell.z * spacing_.z};
}

Cell Lattice::cell_at(const Vec3& position) const {
  constexpr double end = farthest_cell;
  const auto number = [](double v) { return truncated<std::int32_t>(!(v > -end) ? -end : v > end ? end : v); };
  Cell best;
  double least = HUGE_VAL;
  // A cell reaches at most one layer, or row, up and down from its centre.
  const double layer = std::floor(position.z / spacing_.z), row = std::floor(position.y / spacing_.y);
  for (int up = 0; up < (flat() ? 1 : 2); ++up) {
    for (int north = -1; north < 3; ++north) {
      Cell cell{0, number(row + north), flat() ? 0 : number(layer + up)};
      cell.x = number(std::ceil((position.x - parity(cell) * shift_.x) / spacing_.x - 0.5));
      Vec3 away = this->position(cell) - position;
      if (flat()) away.z = 0;
      const double distance = dot(away, away);
      if (distance < least) least = distance, best = cell;
    }
  }
  return best;
}

}  // namespace volvox::lattice
