// Assimp itself crashes and hangs: what is tried here is that its process keeps that away from ours.
#include "fuzz.h"
#include "volvox/model/foreign_mesh.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::check(volvox::model::read_foreign_mesh(fuzz::text_of(data, size), "dae", "fuzz", ""),
                     [](const auto& mesh) {
                       for (const volvox::Vec3& v : mesh.vertices) fuzz::require(volvox::finite(v));
                       for (const auto& triangle : mesh.triangles)
                         for (const std::uint32_t vertex : triangle) fuzz::require(vertex < mesh.vertices.size());
                     });
}
