#include "fuzz.h"
#include "volvox/scan/files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::check(volvox::scan::parse_xyz(fuzz::text_of(data, size), "fuzz"), [](const auto& reading) {
    for (const volvox::Vec3& p : reading.cloud.points) fuzz::require(volvox::finite(p));
    fuzz::require(reading.cloud.colors.empty() || reading.cloud.colors.size() == reading.cloud.points.size());
  });
}
