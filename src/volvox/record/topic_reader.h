// Reads what one message of a recording says into the state of a tick: a function for each topic.
// Belongs to whoever reads the recording; keeps references.
// SI units, world frame. For one thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "volvox/record/protobuf.h"
#include "volvox/record/recording.h"

namespace volvox::record {

struct TopicReader {
  const RecordedNames& names;
  const std::map<std::string, world::LinkIndex>& link_of;  // by name
  RecordedTick& tick;
  std::map<world::AgentIndex, RecordedMind>& minds;

  // False: it is malformed. Topics that are not ours are passed over.
  bool read(const std::string& topic, std::string_view data);

 private:
  bool read_state(protobuf::Reader& reader);
  bool read_transforms(protobuf::Reader& reader);
  bool read_joints(protobuf::Reader& reader);
  bool read_docks(protobuf::Reader& reader);
  bool read_messages(protobuf::Reader& reader);
  bool read_dock_events(protobuf::Reader& reader);
  bool read_traffic(protobuf::Reader& reader);
  bool read_minds(protobuf::Reader& reader);
  bool read_log(protobuf::Reader& reader);
  bool read_inputs(protobuf::Reader& reader);
  bool read_metrics(protobuf::Reader& reader);
};

}  // namespace volvox::record
