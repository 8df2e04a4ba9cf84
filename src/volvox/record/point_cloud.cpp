#include "volvox/record/point_cloud.h"

#include <algorithm>
#include <cstring>

#include "volvox/base/index.h"
#include "volvox/record/timestamp.h"

namespace volvox::record {
namespace {

// At most so many messages and points a second of simulated time: enough for the eye, and 100,000 particles stay below
// what their own messages take.
constexpr double messages_a_second = 30, points_a_second = 1e6;

// Numbers of foxglove.PackedElementField.NumericType.
constexpr int uint8 = 1, float32 = 7;
struct PackedField {
  const char* name;
  int offset, type;
};
constexpr PackedField fields[] = {{"x", 0, float32},    {"y", 4, float32},   {"z", 8, float32},   {"red", 12, uint8},
                                  {"green", 13, uint8}, {"blue", 14, uint8}, {"alpha", 15, uint8}};
constexpr std::size_t stride = 16;

}  // namespace

bool PointCloudWriter::write(std::span<const sim::CloudItem> items, bool changed, Time now, protobuf::Writer& message) {
  changed_ = changed_ || changed;
  if (!changed_ || now < next_) return false;
  changed_ = false;
  points_.clear();
  for (const sim::CloudItem& item : items) {
    if (item.shown <= sim::CloudItem::covered) continue;
    char point[stride];
    std::memcpy(point, item.position.data(), 12);
    std::memcpy(point + 12, item.color.data(), 3);
    point[15] = static_cast<char>(0xff);
    points_.append(point, stride);
  }
  const double seconds = std::max(1 / messages_a_second, real(points_.size() / stride) / points_a_second);
  next_ = now + Time::seconds(seconds);
  protobuf::Writer position, orientation, pose;
  for (int i = 1; i <= 3; ++i) position.real(i, 0);
  for (int i = 1; i <= 4; ++i) orientation.real(i, i == 4 ? 1 : 0);
  pose.message(1, position);
  pose.message(2, orientation);
  message.clear();
  message.message(1, timestamp(now));
  message.text(2, "world");
  message.message(3, pose);
  message.fixed32(4, stride);
  for (const PackedField& field : fields) {
    protobuf::Writer description;
    description.text(1, field.name);
    description.fixed32(2, narrow<std::uint32_t>(field.offset));
    description.integer(3, narrow<std::uint64_t>(field.type));
    message.message(5, description);
  }
  message.text(6, points_);
  return true;
}

}  // namespace volvox::record
