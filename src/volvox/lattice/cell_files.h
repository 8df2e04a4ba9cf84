// Cells from files: a list, an image, or a closed triangle mesh that is filled. Files may hold anything: the result is
// cells, each once, or an error with file, line and fix.
// Keeps nothing between calls: any thread. The same bytes give the same cells in the same order.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/platform/available_memory.h"
#include "volvox/base/result.h"
#include "volvox/lattice/lattice.h"
#include "volvox/model/shape.h"

namespace volvox::lattice {

// Of the bytes of a file, by the ending of its name: .csv or .txt is a list; .png, .jpg, .bmp, .pgm an image; .stl,
// .obj, .ply, .off a mesh.
Result<std::vector<Cell>> cells_of(const std::string& bytes, const std::filesystem::path& file, const Lattice& lattice);

// A list: a cell a line, "x,y" or "x,y,z", in whole numbers; a line "x,y,z" may come first, and # begins a comment. The
// cells keep their order.
Result<std::vector<Cell>> parse_cell_list(std::string_view text, const std::string& file, const Lattice& lattice);

// A pixel is a cell of the layer z = 0, and dark pixels are modules: the lower left one is (0, 0, 0). Row by row.
Result<std::vector<Cell>> cells_of_image(const model::HeightFieldData& image, const std::string& file);

// The cells whose centres are inside the mesh, in m (a plane lattice: inside its section at z = 0), by layer, row and
// x. A shell within a shell is a cavity. A mesh with holes has no inside: it is refused, and the hole named.
// So is one that needs more memory than is there, in bytes, before it is taken.
Result<std::vector<Cell>> fill_mesh(const model::MeshData& mesh, const std::string& file, const Lattice& lattice,
                                    double memory = real(platform::available_memory_bytes()));

}  // namespace volvox::lattice
