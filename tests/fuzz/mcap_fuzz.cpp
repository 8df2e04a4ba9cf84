// A recording has sums, and a change of any byte is refused by them. So each input is read as it is, and then with all
// sums right, which leads behind them.
#include <algorithm>

#include "fuzz.h"
#include "volvox/record/crc.h"
#include "volvox/record/mcap_fields.h"
#include "volvox/record/recording.h"

namespace {

using namespace volvox::record;

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Sums that are 0 are not compared.
std::string with_right_sums(std::string bytes) {
  std::uint32_t sum = crc_of(std::string_view(bytes).substr(0, mcap::magic.size()));
  for (std::size_t at = mcap::magic.size(); at + mcap::record_head <= bytes.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at + 1, sizeof length);
    const std::size_t content = at + mcap::record_head;
    if (length > bytes.size() - content) break;
    const auto opcode = static_cast<std::uint8_t>(bytes[at]);
    if (opcode == mcap::chunk && length >= 28) put(bytes, content + 24, std::uint32_t{0});
    if ((opcode == mcap::attachment || opcode == mcap::footer || opcode == mcap::data_end) && length >= 4)
      put(bytes, content + length - 4, std::uint32_t{0});
    if (opcode == mcap::sum_so_far && length == mcap::sum_record_size) {
      put(bytes, content, std::uint64_t{at});
      put(bytes, content + 8, sum);
    }
    sum = crc_of(std::string_view(bytes).substr(at, mcap::record_head + length), sum);
    at = content + length;
  }
  return bytes;
}

void read(std::string_view bytes) {
  auto recording = Recording::open(fuzz::file_of(bytes, ".mcap"));
  if (!recording.ok()) return fuzz::require(!recording.error().text().empty());
  (void)(*recording)->warning();
  (void)(*recording)->attachment("scene").ok();
  const std::int64_t first = (*recording)->first_tick();
  for (std::int64_t i = 0; i < 5 && first <= (*recording)->last_tick() - i; ++i) {
    (void)(*recording)->tick(first + i).ok();
    (void)(*recording)->tick((*recording)->last_tick() - i).ok();
    for (std::uint32_t agent = 0; agent < 3; ++agent) (void)(*recording)->mind(agent).ok();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(fuzz::text_of(data, size));
  read(bytes);
  if (const std::string right = with_right_sums(bytes); right != bytes) read(right);
  return 0;
}
