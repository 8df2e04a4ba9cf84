#include "volvox/record/topic_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "volvox/base/index.h"
#include "volvox/record/cloud_message.h"
#include "volvox/record/recording_format.h"
#include "volvox/sim/run_report.h"

namespace volvox::record {
namespace {

std::array<double, 4> reals(std::string_view bytes) {
  std::array<double, 4> values{};
  protobuf::Reader reader(bytes);
  while (reader.next())
    if (reader.field() >= 1 && reader.field() <= 4) values[reader.field() - 1] = reader.real();
  return values;
}

}  // namespace

bool TopicReader::read(const std::string& topic, std::string_view data) {
  using Read = bool (TopicReader::*)(protobuf::Reader&);
  static const std::map<std::string, Read> readers = {
      {format::state, &TopicReader::read_state},       {format::transforms, &TopicReader::read_transforms},
      {format::joints, &TopicReader::read_joints},     {format::docks, &TopicReader::read_docks},
      {format::messages, &TopicReader::read_messages}, {format::dock_events, &TopicReader::read_dock_events},
      {format::traffic, &TopicReader::read_traffic},   {format::minds, &TopicReader::read_minds},
      {format::log, &TopicReader::read_log},           {format::inputs, &TopicReader::read_inputs},
      {format::metrics, &TopicReader::read_metrics},
  };
  if (topic == format::cloud) return read_cloud(data, tick.cloud);
  const auto found = readers.find(topic);
  if (found == readers.end()) return true;
  protobuf::Reader reader(data);
  return (this->*found->second)(reader) && reader.ok();
}

bool TopicReader::read_state(protobuf::Reader& reader) {
  while (reader.next()) {
    if (reader.field() == 2) tick.hash = reader.integer();
    if (reader.field() == 3) tick.sections = reader.packed<std::uint32_t>();
  }
  return true;
}

bool TopicReader::read_transforms(protobuf::Reader& reader) {
  bool good = true;
  while (reader.next()) {
    if (reader.field() != 1) continue;
    protobuf::Reader transform(reader.text());
    RecordedTick::Link link;
    std::string name;
    while (transform.next()) {
      if (transform.field() == 3) name = transform.text();
      if (transform.field() != 4 && transform.field() != 5) continue;
      const auto values = reals(transform.text());
      for (std::size_t i = 0; i < 3 && transform.field() == 4; ++i) link.position[i] = to_float(values[i]);
      for (std::size_t i = 0; i < 4 && transform.field() == 5; ++i) link.rotation[i] = to_float(values[i]);
    }
    const auto found = link_of.find(name);
    if (found != link_of.end()) tick.links[found->second] = link;
    good = good && found != link_of.end() && transform.ok();
  }
  return good;
}

bool TopicReader::read_joints(protobuf::Reader& reader) {
  bool good = true;
  while (reader.next()) {
    const std::vector<double> values = reader.packed<double>();
    good = good && values.size() == tick.joints.size();
    for (std::size_t j = 0; j < values.size() && good; ++j)
      (reader.field() == 1   ? tick.joints[j].position
       : reader.field() == 2 ? tick.joints[j].velocity
                             : tick.joints[j].torque) = values[j];
  }
  return good;
}

bool TopicReader::read_docks(protobuf::Reader& reader) {
  std::vector<std::uint32_t> docks, flags, partners;
  std::vector<float> loads;
  while (reader.next()) {
    if (reader.field() == 1) docks = reader.packed<std::uint32_t>();
    if (reader.field() == 2) flags = reader.packed<std::uint32_t>();
    if (reader.field() == 3) partners = reader.packed<std::uint32_t>();
    if (reader.field() == 4) loads = reader.packed<float>();
  }
  bool good = flags.size() == docks.size() && partners.size() == docks.size() && loads.size() == docks.size();
  for (std::size_t i = 0; i < docks.size() && good; ++i) {
    good = docks[i] < tick.docks.size();
    if (good) tick.docks[docks[i]] = {flags[i], partners[i], loads[i]};
  }
  return good;
}

bool TopicReader::read_messages(protobuf::Reader& reader) {
  std::array<std::vector<std::uint32_t>, 3> columns;
  std::array<std::vector<std::int64_t>, 2> times;
  std::vector<std::uint32_t> senders;
  std::vector<std::string> types, contents;
  while (reader.next()) {
    if (reader.field() == 1) columns[0] = reader.packed<std::uint32_t>();
    if (reader.field() == 2) columns[1] = reader.packed<std::uint32_t>();
    if (reader.field() == 3) times[0] = reader.packed<std::int64_t>();
    if (reader.field() == 4) times[1] = reader.packed<std::int64_t>();
    if (reader.field() == 5) columns[2] = reader.packed<std::uint32_t>();
    if (reader.field() == 6) senders = reader.packed<std::uint32_t>();
    if (reader.field() == 7) types.emplace_back(reader.text());
    if (reader.field() == 8) contents.emplace_back(reader.text());
  }
  const std::size_t count = columns[0].size();
  const bool old = senders.empty();  // before recordings had these
  if (old) senders.resize(count, world::nobody), types.resize(count), contents.resize(count);
  bool good = columns[1].size() == count && columns[2].size() == count && times[0].size() == count &&
              times[1].size() == count && senders.size() == count && types.size() == count && contents.size() == count;
  for (std::size_t i = 0; i < count && good; ++i) {
    good = columns[0][i] < names.agents.size() && (senders[i] == world::nobody || senders[i] < names.agents.size());
    tick.arrivals.push_back({columns[0][i], columns[1][i], columns[2][i], Time{times[0][i]}, Time{times[1][i]},
                             senders[i], std::move(types[i]), std::move(contents[i])});
  }
  return good;
}

bool TopicReader::read_dock_events(protobuf::Reader& reader) {
  RecordedTick::DockEvent event;
  while (reader.next()) {
    if (reader.field() == 1) event.event = reader.text();
    if (reader.field() == 2) event.dock = low_word(reader.integer());
    if (reader.field() == 3) event.partner = low_word(reader.integer());
    if (reader.field() == 4) event.load.axial = reader.real();
    if (reader.field() == 5) event.load.shear = reader.real();
    if (reader.field() == 6) event.load.bending = reader.real();
    if (reader.field() == 7) event.load.torsion = reader.real();
  }
  bool good = event.dock < names.docks.size() && event.partner < names.docks.size();
  tick.dock_events.push_back(std::move(event));
  return good;
}

bool TopicReader::read_traffic(protobuf::Reader& reader) {
  std::array<std::vector<std::uint32_t>, 2> docks;
  std::array<std::vector<float>, 4> rings;
  while (reader.next()) {
    if (reader.field() == 1 || reader.field() == 2) docks[reader.field() - 1] = reader.packed<std::uint32_t>();
    if (reader.field() >= 3 && reader.field() <= 6) rings[reader.field() - 3] = reader.packed<float>();
  }
  bool good = docks[0].size() == docks[1].size() &&
              std::all_of(rings.begin(), rings.end(), [&](const auto& part) { return part.size() == rings[0].size(); });
  for (std::size_t i = 0; i < docks[0].size() && good; ++i) {
    good = docks[0][i] < names.docks.size() && docks[1][i] < names.docks.size();
    tick.traffic.wires.emplace_back(docks[0][i], docks[1][i]);
  }
  for (std::size_t i = 0; i < rings[0].size() && good; ++i)
    tick.traffic.rings.push_back({rings[0][i], rings[1][i], rings[2][i], rings[3][i]});
  return good;
}

bool TopicReader::read_minds(protobuf::Reader& reader) {
  std::uint64_t agent = names.agents.size();
  RecordedMind mind{tick.tick, {}};
  while (reader.next()) {
    if (reader.field() == 1) agent = reader.integer();
    if (reader.field() == 2) mind.json = reader.text();
  }
  bool good = agent < names.agents.size();
  if (good) {
    const world::AgentIndex index = agent;
    minds[index] = std::move(mind);
    tick.minds.push_back(index);
  }
  return good;
}

bool TopicReader::read_log(protobuf::Reader& reader) {
  RecordedTick::LogLine line;
  while (reader.next()) {
    if (reader.field() == 3) line.text = reader.text();
    if (reader.field() == 4) line.module = reader.text();
  }
  tick.log.push_back(std::move(line));
  return true;
}

bool TopicReader::read_inputs(protobuf::Reader& reader) {
  sim::InputRecord input;
  while (reader.next()) {
    if (reader.field() == 1) input.kind = reader.text();
    if (reader.field() == 2) input.module = reader.text();
    if (reader.field() == 3) input.name = reader.text();
    if (reader.field() == 4) input.text = reader.text();
    if (reader.field() == 5) input.value = reader.real();
    if (reader.field() == 6) {
      const auto force = reals(reader.text());
      input.force = {force[0], force[1], force[2]};
    }
  }
  auto known = input_of(input);
  bool good = known.ok();
  if (good) tick.inputs.push_back(std::move(*known));
  return good;
}

bool TopicReader::read_metrics(protobuf::Reader& reader) {
  std::vector<double> values(sim::TimePoint::names.size());
  while (reader.next())
    if (reader.field() >= 1 && std::cmp_less_equal(reader.field(), values.size()))
      values[reader.field() - 1] = reader.real();
  tick.metrics = std::move(values);
  return true;
}

}  // namespace volvox::record
