// <volvox:population type="cells">: the catoms of a lattice world, as an SDF file describes them. Whoever runs such
// worlds reads it beside the rest of the file (read_world leaves it out). SI units. For one thread, as reader.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/model/module_model.h"
#include "volvox/model/reader.h"

namespace volvox::model {

// <volvox:dynamics>: catoms go over to the physics engine and back (volvox/mixed, where the words are explained).
struct CellDynamics {
  double mass = 0.001;                                          // kg
  double friction = 0.5, restitution = 0, drag = 0;             // drag: 1/s
  double axial = 1, shear = 1, bending = 0.01, torsion = 0.01;  // N, N, N m, N m: strength of a bond
  std::optional<double> ground;                                 // m; none: there is none
  double hit_speed = 0.5, give = 0.5, push = 1;                 // m/s, part of the strength, N
  bool back = true;
  double rest_speed = 0.05, rest_time = 0.5, place = 0.1;  // pitches a second, s, pitches
  // <volvox:release>: the catoms of the lattice in a box go over at a time, with a velocity.
  struct Release {
    Vec3 low, high, velocity;  // m, m/s
    double at = 0;             // s
  };
  std::vector<Release> releases{};
};

struct CellPopulation {
  std::string name;
  std::string lattice;         // square, hex, cubic, bcc, fcc
  std::string cells;           // "10x10x10", or a list, an image or a closed mesh: a path relative to the file
  std::string program;         // of every catom: a name, or a file in Meld; empty: none
  std::optional<Mind> mind;    // or a behaviour, as physical modules have one
  std::string motion;          // usual, roll, slide, pivot
  double pitch = 1;            // m between neighbours
  std::uint32_t capacity = 0;  // of an adapter, bytes a tick; 0: not limited
  std::uint32_t motion_ticks = 1;
  bool connected = false;  // motions may not cut the ensemble
  double radio_range = 0;  // m; 0: no radio
  std::optional<CellDynamics> dynamics{};
  int line = 0;
};

// Whether an SDF file seems to have one; whether it is right, read_cell_population says.
bool has_cell_population(const std::filesystem::path& file);
// With these settings of its parameters. Errors name the file and the line.
Result<CellPopulation> read_cell_population(const std::filesystem::path& file,
                                            const std::map<std::string, std::string>& settings, ModelLibrary& library);

}  // namespace volvox::model
