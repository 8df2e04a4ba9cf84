// A cloud (sim/cloud.h) as Foxglove shows it: foxglove.PointCloud, with all items that are seen, beside our own
// messages, which are small and say everything. How often is bounded, because each has all items.
// Positions in m, frame "world"; colours sRGB. Belongs to the thread of the loop; the same clouds give the same bytes.
#pragma once

#include <span>
#include <string>

#include "volvox/base/time.h"
#include "volvox/record/protobuf.h"
#include "volvox/sim/cloud.h"

namespace volvox::record {

class PointCloudWriter {
 public:
  // False: there is nothing to write, because nothing has changed (`changed`: since the last call), or too little time
  // has gone by since the last message.
  bool write(std::span<const sim::CloudItem> items, bool changed, Time now, protobuf::Writer& message);

 private:
  bool changed_ = true;  // since the last message
  Time next_;            // not before
  std::string points_;
};

}  // namespace volvox::record
