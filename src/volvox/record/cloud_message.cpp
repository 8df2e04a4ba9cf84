#include "volvox/record/cloud_message.h"

#include <cstring>
#include <span>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::record {
namespace {

// All items are written again when so many times their number have changed: that bounds what a reader must go through.
constexpr std::size_t most_changes = 4;

std::uint32_t look_of(const sim::CloudItem& item) {
  return item.color[0] | std::uint32_t{item.color[1]} << 8 | std::uint32_t{item.color[2]} << 16 |
         std::uint32_t{item.shown} << 24;
}

std::uint8_t byte_of(std::uint32_t word, int place) { return word >> 8 * place & 0xff; }

void set_look(sim::CloudItem& item, std::uint32_t look) {
  item.color = {byte_of(look, 0), byte_of(look, 1), byte_of(look, 2)};
  item.shown = byte_of(look, 3);
}

// Numbers from their differences. False: one is beyond the items.
bool sum_up(std::vector<std::uint32_t>& numbers, std::size_t items) {
  std::uint64_t sum = 0;
  for (std::uint32_t& number : numbers) {
    sum += number;
    if (sum >= items) return false;
    number = low_word(sum);
  }
  return true;
}

}  // namespace

bool CloudWriter::write(const sim::Cloud& cloud, std::int64_t tick, bool first_of_chunk, protobuf::Writer& message) {
  cloud.cloud_items(now_);
  const bool whole = whole_ < 0 || (first_of_chunk && since_whole_ >= most_changes * now_.size());
  moved_.clear(), colored_.clear(), colors_.clear(), x_.clear(), y_.clear(), z_.clear();
  last_.resize(now_.size());
  std::uint32_t last_moved = 0, last_colored = 0;
  for (std::uint32_t i = 0; i < now_.size(); ++i) {
    if (whole || now_[i].position != last_[i].position) {
      if (!whole) moved_.push_back(i - last_moved), last_moved = i;
      x_.push_back(now_[i].position[0]), y_.push_back(now_[i].position[1]), z_.push_back(now_[i].position[2]);
    }
    if (const std::uint32_t look = look_of(now_[i]); whole || look != look_of(last_[i])) {
      if (!whole) colored_.push_back(i - last_colored), last_colored = i;
      colors_.push_back(look);
    }
  }
  VOLVOX_ASSERT((whole ? now_.size() : moved_.size()) == x_.size() && x_.size() == y_.size() && x_.size() == z_.size());
  VOLVOX_ASSERT((whole ? now_.size() : colored_.size()) == colors_.size());
  std::swap(now_, last_);
  if (x_.empty() && colors_.empty() && !first_of_chunk) return false;
  since_whole_ = whole ? 0 : since_whole_ + x_.size() + colors_.size();
  if (whole) whole_ = tick;
  message.clear();
  message.integer(1, last_.size());
  message.integer(2, whole_);
  message.packed(3, moved_);
  message.packed(4, x_), message.packed(5, y_), message.packed(6, z_);
  message.packed(7, colored_);
  message.packed(8, colors_);
  return true;
}

std::int64_t whole_of_cloud(std::string_view message) {
  protobuf::Reader reader(message);
  while (reader.next())
    if (reader.field() == 2) return reader.integer();
  return -1;
}

bool read_cloud(std::string_view message, std::vector<sim::CloudItem>& items) {
  std::uint64_t count = 0;
  std::vector<std::uint32_t> moved, colored, colors;
  std::array<std::vector<float>, 3> places;
  protobuf::Reader reader(message);
  while (reader.next()) {
    if (reader.field() == 1) count = reader.integer();
    if (reader.field() == 3) moved = reader.packed<std::uint32_t>();
    if (reader.field() >= 4 && reader.field() <= 6) places[reader.field() - 4] = reader.packed<float>();
    if (reader.field() == 7) colored = reader.packed<std::uint32_t>();
    if (reader.field() == 8) colors = reader.packed<std::uint32_t>();
  }
  // Nothing is made larger than what the message brings: a number may be damaged.
  if (!reader.ok() || count < items.size() || count > items.size() + colors.size()) return false;
  if (places[1].size() != places[0].size() || places[2].size() != places[0].size()) return false;
  const bool all_places = moved.empty() && places[0].size() == count,
             all_looks = colored.empty() && colors.size() == count;
  if ((!all_places && moved.size() != places[0].size()) || (!all_looks && colored.size() != colors.size()))
    return false;
  items.resize(count);
  if (!sum_up(moved, count) || !sum_up(colored, count)) return false;
  for (std::size_t i = 0; i < places[0].size(); ++i)
    items[all_places ? i : moved[i]].position = {places[0][i], places[1][i], places[2][i]};
  for (std::size_t i = 0; i < colors.size(); ++i) set_look(items[all_looks ? i : colored[i]], colors[i]);
  return true;
}

}  // namespace volvox::record
