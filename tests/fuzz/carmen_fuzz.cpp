#include "fuzz.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/locate.h"
#include "volvox/scan/scan_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::check(volvox::scan::parse_carmen(fuzz::text_of(data, size), "fuzz"), [](const auto& log) {
    (void)volvox::scan::locate(log).ok();
    const auto cloud = volvox::scan::cloud_of(log);
    if (cloud.ok())
      for (const volvox::Vec3& p : cloud->points) fuzz::require(volvox::finite(p));
  });
}
