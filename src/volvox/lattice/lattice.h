// Regular lattices: where cells are, and which cells touch. A cell is three whole numbers; every triple is a cell (in
// the plane: z = 0). In hexagonal, bcc and fcc lattices every other row or layer is shifted by half a cell, so that a
// box of cells is a box in space.
// Positions in m; cell (0, 0, 0) is at the origin. A Lattice never changes: any thread may read it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "volvox/base/math.h"
#include "volvox/base/result.h"

namespace volvox::lattice {

struct Cell {
  std::int32_t x = 0, y = 0, z = 0;
  friend constexpr bool operator==(const Cell&, const Cell&) = default;
  friend constexpr auto operator<=>(const Cell&, const Cell&) = default;
};
inline constexpr std::int32_t farthest_cell = 1'000'000;  // from the origin, in each coordinate
constexpr bool in_range(const Cell& c) {
  const auto fits = [](std::int32_t v) { return v >= -farthest_cell && v <= farthest_cell; };
  return fits(c.x) && fits(c.y) && fits(c.z);
}
std::string text(const Cell& cell);  // "(1, 2, 3)"

enum class Kind : std::uint8_t { square, hex, cubic, bcc, fcc };
inline constexpr std::array all_kinds = {Kind::square, Kind::hex, Kind::cubic, Kind::bcc, Kind::fcc};
std::string_view name(Kind kind);
Result<Kind> kind_named(const std::string& name);

inline constexpr int most_ports = 12;  // of a cell, over all lattices

class Lattice {
 public:
  // `pitch`: the distance between the centres of cells that touch, in m.
  explicit Lattice(Kind kind, double pitch = 1);

  Kind kind() const { return kind_; }
  double pitch() const { return pitch_; }
  bool flat() const { return kind_ == Kind::square || kind_ == Kind::hex; }

  // A cell's neighbours have fixed numbers, which are the ports of the module in it. What leaves at a port arrives at
  // the opposite port.
  int ports() const { return ports_; }
  static constexpr int opposite(int port) { return port ^ 1; }
  // 1 in shifted rows (hex) and layers (bcc, fcc), else 0: the offsets of the neighbours depend on it.
  int parity(const Cell& cell) const { return (cell.y & odd_row_) | (cell.z & odd_layer_); }
  const Cell& offset(int parity, int port) const { return offsets_[parity][port]; }
  Cell neighbor(const Cell& cell, int port) const {
    const Cell& o = offset(parity(cell), port);
    return {cell.x + o.x, cell.y + o.y, cell.z + o.z};
  }

  Vec3 position(const Cell& cell) const;     // of its centre, in m
  Cell cell_at(const Vec3& position) const;  // the nearest cell; of equally near ones, the lowest layer, row, x
  // Centres of layers (z) and rows (y) lie these distances apart, and shifted ones are moved by `shift`; in m.
  Vec3 spacing() const { return spacing_; }
  Vec3 shift() const { return shift_; }

 private:
  void add_pair(const Vec3& direction);

  Kind kind_;
  double pitch_;
  int ports_ = 0;
  std::int32_t odd_row_ = 0, odd_layer_ = 0;  // masks
  Vec3 spacing_, shift_;
  std::array<std::array<Cell, most_ports>, 2> offsets_{};
};

}  // namespace volvox::lattice
