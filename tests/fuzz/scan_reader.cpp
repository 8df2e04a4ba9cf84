// A fuzz target for the reader of scans that VOLVOX_FUZZ_READER names. For any bytes the reader returns a valid result
// or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "volvox/scan/clean.h"
#include "volvox/scan/files.h"
#include "volvox/scan/locate.h"
#include "volvox/scan/scan_log.h"

namespace {

using namespace volvox;

void require(bool sound) {
  if (!sound) std::abort();
}

[[maybe_unused]] void use(const scan::CloudReading& reading) {
  for (const Vec3& p : reading.cloud.points) require(finite(p));
  require(reading.cloud.colors.empty() || reading.cloud.colors.size() == reading.cloud.points.size());
}

[[maybe_unused]] void use(const scan::TriangleMesh& mesh) {
  require(mesh.colors.empty() || mesh.colors.size() == mesh.vertices.size());
}

[[maybe_unused]] void use(const scan::ScanLog& log) {
  (void)scan::locate(log).ok();
  const auto cloud = scan::cloud_of(log);
  if (cloud.ok())
    for (const Vec3& p : cloud->points) require(finite(p));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = scan::VOLVOX_FUZZ_READER({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (read.ok()) use(*read);
  else require(!read.error().text().empty());
  return 0;
}
