// The format that recorder and recording share: topics, field numbers and schemas. Transforms, points and log lines
// have the schemas of Foxglove, so that Foxglove and other programs show them; the other schemas are our own. Constants
// and tables that never change: any thread may read them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/record/protobuf.h"

// Poses, joints and traffic are rounded to floats, which compress to half the size.
namespace volvox::record::format {

inline constexpr const char* file_name = "recording.mcap";
inline constexpr const char* version = "1";

inline constexpr const char* transforms = "/tf";
inline constexpr const char* joints = "/joints";
inline constexpr const char* docks = "/docks";
inline constexpr const char* dock_events = "/dock_events";
inline constexpr const char* messages = "/messages";
inline constexpr const char* traffic = "/traffic";
inline constexpr const char* minds = "/minds";
inline constexpr const char* log = "/log";
inline constexpr const char* inputs = "/inputs";
inline constexpr const char* metrics = "/metrics";
inline constexpr const char* state = "/state";
inline constexpr const char* cloud = "/cloud";
inline constexpr const char* points = "/points";

struct Topic {
  std::string topic;
  std::string type;  // full name of its message type
};
const std::vector<Topic>& topics();
const std::vector<protobuf::MessageType>& types();  // sorted: a type comes after the types that it uses

// The flags of a dock in volvox.Docks.
enum DockFlag : std::uint32_t { enabled = 1, latching = 2, engaged = 4, broken = 8 };

}  // namespace volvox::record::format
