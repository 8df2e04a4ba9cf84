// <volvox:population type="cells">: the catoms of a lattice world, as an SDF file describes them. Whoever runs such
// worlds reads it beside the rest of the file (read_world leaves it out). SI units. For one thread, as reader.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "volvox/base/result.h"
#include "volvox/model/module_model.h"
#include "volvox/model/reader.h"

namespace volvox::model {

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
  int line = 0;
};

// Whether an SDF file seems to have one; whether it is right, read_cell_population says.
bool has_cell_population(const std::filesystem::path& file);
// With these settings of its parameters. Errors name the file and the line.
Result<CellPopulation> read_cell_population(const std::filesystem::path& file,
                                            const std::map<std::string, std::string>& settings, ModelLibrary& library);

}  // namespace volvox::model
