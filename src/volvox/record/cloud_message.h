// The cloud of an experiment (sim/cloud.h) as messages of a recording: now and then all items, and between what has
// changed.
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
  // What has changed since the last call. `first_of_chunk`: there is a message in any case, so that a reader that
  // begins here knows where to begin, and it may have all items. False: there is nothing to write.
  bool write(const sim::Cloud& cloud, std::int64_t tick, bool first_of_chunk, protobuf::Writer& message);
  // Of the last call: all items, and whether any was another than before.
  const std::vector<sim::CloudItem>& items() const { return last_; }
  bool changed() const { return !x_.empty() || !colors_.empty(); }

 private:
  std::vector<sim::CloudItem> now_, last_;
  std::int64_t whole_ = -1;      // the tick of the last message with all items
  std::size_t since_whole_ = 0;  // changes
  std::vector<std::uint32_t> moved_, colored_, colors_;
  std::vector<float> x_, y_, z_;
};

// The tick of the message with all items from which this one counts. A damaged one: -1.
std::int64_t whole_of_cloud(std::string_view message);
// False: the message is damaged.
[[nodiscard]] bool read_cloud(std::string_view message, std::vector<sim::CloudItem>& items);

}  // namespace volvox::record
