// The cloud of an experiment (sim/cloud.h) as messages of a recording: some messages have all items, those between them
// only the changes.
// Positions in m, world frame, rounded to float. A writer keeps a copy of the items, and belongs to the thread of the
// loop. The same clouds give the same bytes.
#pragma once

#include <string_view>
#include <vector>

#include "volvox/record/protobuf.h"
#include "volvox/sim/cloud.h"

namespace volvox::record {

class CloudWriter {
 public:
  // Writes what has changed since the last call. False: nothing has, and there is no message. `first_of_chunk`: there
  // is a message in any case, which says where the last one with all items is, for readers that begin at this chunk.
  bool write(const sim::Cloud& cloud, std::int64_t tick, bool first_of_chunk, protobuf::Writer& message);
  // All items at the last call, and whether any of them had changed.
  const std::vector<sim::CloudItem>& items() const { return last_; }
  bool changed() const { return !x_.empty() || !colors_.empty(); }

 private:
  std::vector<sim::CloudItem> now_, last_;
  std::int64_t whole_ = -1;      // the tick of the last message with all items
  std::size_t since_whole_ = 0;  // changes
  std::vector<std::uint32_t> moved_, colored_, colors_;
  std::vector<float> x_, y_, z_;
};

// The tick of the message with all items that this message is a change of; -1: the message is damaged.
std::int64_t whole_of_cloud(std::string_view message);
// False: the message is damaged.
[[nodiscard]] bool read_cloud(std::string_view message, std::vector<sim::CloudItem>& items);

}  // namespace volvox::record
