// What all fuzz targets share. A target takes any bytes: the reader must return, and what it accepts must be sound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool sound) {
  if (!sound) std::abort();
}

// A reading, or an error with a text; `use` looks at what was read.
template <class R, class Use>
int check(const R& read, Use&& use) {
  if (read.ok()) use(*read);
  else require(!read.error().text().empty());
  return 0;
}

// The vertices and triangles of a mesh, as far as its reader promises them.
template <class Mesh>
void use_mesh(const Mesh& mesh) {
  require(mesh.colors.empty() || mesh.colors.size() == mesh.vertices.size());
}

// A file with these bytes, in memory where there is such a folder: for readers that take a path.
inline std::filesystem::path file_of(std::string_view bytes, const std::string& ending) {
  static const std::filesystem::path folder =
      std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
  std::filesystem::path file = folder / ("volvox_fuzz_" + std::to_string(getpid()) + ending);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  return file;
}

}  // namespace fuzz
