#include "fuzz.h"
#include "volvox/model/mesh_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::check(volvox::model::parse_off(fuzz::text_of(data, size), "fuzz"), [](auto mesh) {
    fuzz::use_mesh(mesh);
    if (volvox::model::valid_mesh(mesh, "fuzz").ok()) volvox::model::join_equal_vertices(mesh);
  });
}
