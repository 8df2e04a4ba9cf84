#include "volvox/record/recording_format.h"

#include "volvox/base/index.h"
#include "volvox/sim/run_report.h"

namespace volvox::record::format {
namespace {
using protobuf::Field;
using protobuf::Type;

Field one(const char* name, int number, Type type) { return {name, number, type}; }
Field many(const char* name, int number, Type type) { return {name, number, type, true}; }
Field message(const char* name, int number, const char* type, bool repeated = false) {
  return {name, number, Type::message, repeated, type};
}
}  // namespace

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = {{transforms, "foxglove.FrameTransforms"},
                                         {joints, "volvox.Joints"},
                                         {docks, "volvox.Docks"},
                                         {dock_events, "volvox.DockEvent"},
                                         {messages, "volvox.Messages"},
                                         {traffic, "volvox.Traffic"},
                                         {minds, "volvox.Mind"},
                                         {log, "foxglove.Log"},
                                         {inputs, "volvox.Input"},
                                         {metrics, "volvox.Metrics"},
                                         {state, "volvox.State"},
                                         {cloud, "volvox.Cloud"},
                                         {points, "foxglove.PointCloud"}};
  return all;
}

const std::vector<protobuf::MessageType>& types() {
  static const std::vector<protobuf::MessageType> all = [] {
    std::vector<protobuf::MessageType> list = {
        {"google.protobuf", "Timestamp", {one("seconds", 1, Type::int64), one("nanos", 2, Type::int32)}},
        {"foxglove", "Vector3", {one("x", 1, Type::real), one("y", 2, Type::real), one("z", 3, Type::real)}},
        {"foxglove",
         "Quaternion",
         {one("x", 1, Type::real), one("y", 2, Type::real), one("z", 3, Type::real), one("w", 4, Type::real)}},
        {"foxglove",
         "FrameTransform",
         {message("timestamp", 1, ".google.protobuf.Timestamp"), one("parent_frame_id", 2, Type::text),
          one("child_frame_id", 3, Type::text), message("translation", 4, ".foxglove.Vector3"),
          message("rotation", 5, ".foxglove.Quaternion")}},
        {"foxglove", "FrameTransforms", {message("transforms", 1, ".foxglove.FrameTransform", true)}},
        {"foxglove",
         "Pose",
         {message("position", 1, ".foxglove.Vector3"), message("orientation", 2, ".foxglove.Quaternion")}},
        {"foxglove",
         "PackedElementField",
         {one("name", 1, Type::text),
          one("offset", 2, Type::fixed32),
          {"type", 3, Type::choice, false, ".foxglove.PackedElementField.NumericType"}},
         "NumericType",
         {"UNKNOWN", "UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "FLOAT32", "FLOAT64"}},
        {"foxglove",
         "PointCloud",
         {message("timestamp", 1, ".google.protobuf.Timestamp"), one("frame_id", 2, Type::text),
          message("pose", 3, ".foxglove.Pose"), one("point_stride", 4, Type::fixed32),
          message("fields", 5, ".foxglove.PackedElementField", true), one("data", 6, Type::bytes)}},
        {"foxglove",
         "Log",
         {message("timestamp", 1, ".google.protobuf.Timestamp"), one("level", 2, Type::int32),
          one("message", 3, Type::text), one("name", 4, Type::text), one("file", 5, Type::text),
          one("line", 6, Type::uint32)}},
        // By joint, in the order of names.json.
        {"volvox",
         "Joints",
         {many("position", 1, Type::real), many("velocity", 2, Type::real), many("torque", 3, Type::real)}},
        // The docks that changed, or all docks in the first tick of a chunk.
        {"volvox",
         "Docks",
         {many("dock", 1, Type::fixed32), many("flags", 2, Type::fixed32), many("partner", 3, Type::fixed32),
          many("load", 4, Type::single)}},
        {"volvox",
         "Messages",
         {many("receiver", 1, Type::fixed32), many("dock", 2, Type::fixed32), many("sent_ns", 3, Type::fixed64),
          many("arrived_ns", 4, Type::fixed64), many("bytes", 5, Type::fixed32), many("sender", 6, Type::fixed32),
          many("type", 7, Type::text), many("content", 8, Type::text)}},
        // One that happened in the tick; the load (N, N m) is that of dock when it broke.
        {"volvox",
         "DockEvent",
         {one("event", 1, Type::text), one("dock", 2, Type::uint32), one("partner", 3, Type::uint32),
          one("axial", 4, Type::real), one("shear", 5, Type::real), one("bending", 6, Type::real),
          one("torsion", 7, Type::real)}},
        // Messages being sent: from dock to dock, and around transmitting antennas.
        {"volvox",
         "Traffic",
         {many("from", 1, Type::fixed32), many("to", 2, Type::fixed32), many("x", 3, Type::single),
          many("y", 4, Type::single), many("z", 5, Type::single), many("radius", 6, Type::single)}},
        // Percepts, actions and model of a module, as JSON; of many modules a few in each tick, in turn.
        {"volvox", "Mind", {one("agent", 1, Type::uint32), one("json", 2, Type::text)}},
        {"volvox",
         "Input",
         {one("kind", 1, Type::text), one("module", 2, Type::text), one("name", 3, Type::text),
          one("text", 4, Type::text), one("value", 5, Type::real), message("force", 6, ".foxglove.Vector3")}},
        {"volvox", "Metrics", {}},
        {"volvox",
         "State",
         {one("tick", 1, Type::int64), one("hash", 2, Type::fixed64), many("sections", 3, Type::fixed32)}},
        // Items of a cloud that moved, and that changed their colour: each number less the one before. The message of
        // `whole` has all items, without numbers; others say what has changed since.
        {"volvox",
         "Cloud",
         {one("items", 1, Type::uint32), one("whole", 2, Type::int64), many("moved", 3, Type::fixed32),
          many("x", 4, Type::single), many("y", 5, Type::single), many("z", 6, Type::single),
          many("colored", 7, Type::fixed32), many("color", 8, Type::fixed32)}}};
    for (protobuf::MessageType& type : list)
      if (type.name == "Metrics")
        for (std::size_t i = 0; i < sim::TimePoint::names.size(); ++i)
          type.fields.push_back(one(sim::TimePoint::names[i], narrow<int>(i) + 1, Type::real));
    return list;
  }();
  return all;
}

}  // namespace volvox::record::format
