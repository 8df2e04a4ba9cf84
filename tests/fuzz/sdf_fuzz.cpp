#include "fuzz.h"
#include "volvox/model/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  volvox::model::ModelLibrary library{std::vector<std::filesystem::path>{}};
  std::vector<volvox::Diagnostic> warnings;
  return fuzz::check(volvox::model::read_world_text(std::string(fuzz::text_of(data, size)), "/nowhere/fuzz.sdf", {},
                                                    library, &warnings),
                     [](const volvox::model::WorldModel& world) {
                       for (const auto& placement : world.placements) fuzz::require(placement.model != nullptr);
                     });
}
