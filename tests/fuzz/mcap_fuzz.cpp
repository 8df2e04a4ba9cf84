#include <algorithm>

#include "fuzz.h"
#include "volvox/record/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using volvox::record::Recording;
  auto recording = Recording::open(fuzz::file_of(fuzz::text_of(data, size), ".mcap"));
  if (!recording.ok()) {
    fuzz::require(!recording.error().text().empty());
    return 0;
  }
  (void)(*recording)->attachment("scene").ok();
  const std::int64_t first = (*recording)->first_tick();
  for (std::int64_t i = 0; i < 5 && first <= (*recording)->last_tick() - i; ++i) {
    (void)(*recording)->tick(first + i).ok();
    (void)(*recording)->tick((*recording)->last_tick() - i).ok();
    for (std::uint32_t agent = 0; agent < 3; ++agent) (void)(*recording)->mind(agent).ok();
  }
  return 0;
}
