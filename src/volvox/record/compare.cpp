#include "volvox/record/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "volvox/base/index.h"
#include "volvox/base/text.h"
#include "volvox/record/mind_text.h"
#include "volvox/record/recording_format.h"

namespace volvox::record {
namespace {

using Found = std::optional<Difference>;

// What is not a number is recorded as such.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string words(const RecordedTick::Dock& dock, const RecordedNames& names) {
  return fmt::format("{}{}{}{}", dock.flags & format::enabled ? "enabled" : "disabled",
                     dock.flags & format::broken ? ", broken" : "",
                     dock.flags & format::engaged    ? ", engaged"
                     : dock.flags & format::latching ? ", latching"
                                                     : ", free",
                     dock.partner < names.docks.size() ? " with " + names.docks[dock.partner] : "");
}

}  // namespace

RecordedTick::Dock dock_as_recorded(const world::World& world, std::uint32_t dock) {
  const world::DockStatus& status = world.dock_status(dock);
  RecordedTick::Dock now{(status.enabled ? format::enabled : 0u) | (status.broken ? format::broken : 0u),
                         world.graph().partner(dock), 0};
  if (status.phase != world::DockPhase::free) {
    now.flags |= status.phase == world::DockPhase::engaged ? format::engaged : format::latching;
    now.load = to_float(world.dock_load(dock).utilisation(world.dock_model(dock).strength));
  }
  return now;
}

std::vector<RecordedTick::Arrival> arrivals_as_recorded(const mind::Minds& minds) {
  // In a tick with many messages the further ones have no content, because text is slow.
  constexpr std::size_t most_of_contents = 64 << 10, longest_content = 500;  // bytes
  std::size_t left = most_of_contents;
  std::vector<RecordedTick::Arrival> all;
  for (const mind::Minds::Arrival& a : minds.arrivals()) {
    mind::MessageText text = mind::text_of(a.payload, left > 0);
    if (text.content.size() > longest_content) text.content = text.content.substr(0, longest_content) + "...";
    left -= std::min(left, text.content.size());
    all.push_back({a.agent, low_word(a.outlet), narrow<std::uint32_t>(a.payload.size()), a.sent, a.arrived, a.sender,
                   valid_utf8(text.type), valid_utf8(text.content)});
  }
  return all;
}

std::vector<RecordedTick::DockEvent> dock_events_as_recorded(const sim::Simulation& simulation) {
  constexpr const char* names[] = {"captured", "engaged", "released",
                                   "broken",   "jammed",  "slipped"};  // by DockEvent::Kind
  std::vector<RecordedTick::DockEvent> all;
  for (const world::DockEvent& event : simulation.dock_events())
    all.push_back({names[number_of(event.kind)], event.dock_a, event.dock_b, event.load});
  return all;
}

Found compare_body(const RecordedTick& recorded, const RecordedNames& names, const world::World& world,
                   std::uint32_t p) {
  constexpr const char* coordinates[7] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
  for (std::uint32_t l = 0; l < world.module_model(p).links.size(); ++l) {
    const std::uint32_t link = world.part(p).first_link + l;
    if (link >= recorded.links.size()) return {};
    const Pose pose = world.link_pose(link);
    const double now[7] = {pose.position.x, pose.position.y, pose.position.z, pose.rotation.x,
                           pose.rotation.y, pose.rotation.z, pose.rotation.w};
    for (int i = 0; i < 7; ++i) {
      const float then = i < 3 ? recorded.links[link].position[i] : recorded.links[link].rotation[i - 3];
      if (!same(to_float(now[i]), then))
        return Difference{world.name(p), fmt::format("{} {}", names.links[link], coordinates[i]),
                          fmt::format("{} then, {} now", then, to_float(now[i]))};
    }
  }
  for (std::uint32_t j = 0; j < world.module_model(p).joints.size(); ++j) {
    const std::uint32_t joint = world.part(p).first_joint + j;
    if (joint >= recorded.joints.size()) return {};
    const physics::JointState now = world.joint_state(joint);
    const RecordedTick::Joint& then = recorded.joints[joint];
    for (const auto& [name, a, b] : {std::tuple{"position", then.position, now.position},
                                     {"velocity", then.velocity, now.velocity},
                                     {"torque", then.torque, now.torque}})
      if (!same(a, to_float(b)))
        return Difference{world.name(p), fmt::format("{} {}", names.joints[joint], name),
                          fmt::format("{} then, {} now", a, b)};
  }
  return {};
}

Found compare_docks(const RecordedTick& recorded, const RecordedNames& names, const world::World& world) {
  for (std::uint32_t d = 0; d < std::min(recorded.docks.size(), world.docks()); ++d) {
    const RecordedTick::Dock& then = recorded.docks[d];
    const RecordedTick::Dock now = dock_as_recorded(world, d);
    if (then.flags == now.flags && then.partner == now.partner && same(then.load, now.load)) continue;
    const bool load_only = then.flags == now.flags && then.partner == now.partner;
    return Difference{world.name(world.graph().owner(d)), names.docks[d] + (load_only ? " load" : ""),
                      load_only ? fmt::format("{} then, {} now", then.load, now.load)
                                : fmt::format("{} then; {} now", words(then, names), words(now, names))};
  }
  return {};
}

Comparison::Comparison(Recording& recording, sim::Run& run)
    : recording_(recording),
      simulation_(run.simulation()),
      cloud_(run.cloud()),
      too_long_(run.simulation().minds().size()),
      sample_(run.report().history.back()) {
  TrafficWatch::prepare(simulation_);
  run.add_sample_observer([this](const sim::TimePoint& sample) { sample_ = sample; });
}

Result<Found> Comparison::look(const RecordedTick& then) {
  const world::World& world = simulation_.world();
  const RecordedNames& names = recording_.names();
  for (std::uint32_t p = 0; p < world.placements(); ++p)
    if (Found found = compare_body(then, names, world, p)) return found;
  if (Found found = compare_docks(then, names, world)) return found;
  if (Found found = compare_dock_events(then)) return found;
  if (Found found = compare_arrivals(then)) return found;
  if (Found found = compare_traffic(then)) return found;
  if (Found found = compare_log(then)) return found;
  if (Found found = compare_metrics(then)) return found;
  if (Found found = compare_cloud(then)) return found;
  return compare_minds(then);
}

Found Comparison::compare_cloud(const RecordedTick& then) const {
  if (!recording_.has_topic(format::cloud)) return {};  // recordings of before have none
  if (cloud_ == nullptr)
    return then.cloud.empty() ? Found{} : Difference{"", "items", fmt::format("{} then, none now", then.cloud.size())};
  std::vector<sim::CloudItem> now;
  cloud_->cloud_items(now);
  const std::string noun = cloud_->cloud_look().noun;
  if (then.cloud.size() != now.size())
    return Difference{"", noun + "s", fmt::format("{} then, {} now", then.cloud.size(), now.size())};
  const auto text = [](const sim::CloudItem& i) {
    return fmt::format("{} {} {} {:02x}{:02x}{:02x} {}", i.position[0], i.position[1], i.position[2], i.color[0],
                       i.color[1], i.color[2], i.shown);
  };
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i] != then.cloud[i])
      return Difference{fmt::format("{} {}", noun, i), "place and colour",
                        fmt::format("{} then, {} now", text(then.cloud[i]), text(now[i]))};
  return {};
}

Found Comparison::compare_arrivals(const RecordedTick& then) const {
  std::vector<RecordedTick::Arrival> now = arrivals_as_recorded(simulation_.minds());
  const auto is_old = [](const RecordedTick::Arrival& a) { return !a.sender.valid() && a.type.empty(); };
  if (std::all_of(then.arrivals.begin(), then.arrivals.end(), is_old))  // before recordings had these
    for (RecordedTick::Arrival& arrival : now) arrival.sender = world::nobody, arrival.type = arrival.content = "";
  const auto text = [](const std::vector<RecordedTick::Arrival>& all, std::size_t i) {
    if (i >= all.size()) return std::string("none");
    const RecordedTick::Arrival& a = all[i];
    return fmt::format("{} bytes, sent at {} ns, arrived at {} ns{}{}{}", a.bytes, a.sent.ns, a.arrived.ns,
                       a.sender.valid() ? fmt::format(", from agent {}", a.sender) : "",
                       a.type.empty() ? "" : ", " + a.type + " ", a.content);
  };
  for (std::size_t i = 0; i < std::max(now.size(), then.arrivals.size()); ++i) {
    const std::string a = text(then.arrivals, i), b = text(now, i);
    const bool listed = i < then.arrivals.size() && i < now.size();
    if (listed && a == b && then.arrivals[i].agent == now[i].agent && then.arrivals[i].outlet == now[i].outlet)
      continue;
    const std::size_t agent = i < now.size() ? now[i].agent : then.arrivals[i].agent;
    const auto& names = recording_.names().agents;
    return Difference{agent < names.size() ? names[agent] : "", fmt::format("message {} that arrived", i + 1),
                      fmt::format("{} then; {} now", a, b)};
  }
  return {};
}

Found Comparison::compare_dock_events(const RecordedTick& then) const {
  if (!recording_.has_topic(format::dock_events)) return {};  // recordings of before have none
  const std::vector<RecordedTick::DockEvent> now = dock_events_as_recorded(simulation_);
  const auto text = [](const std::vector<RecordedTick::DockEvent>& all, std::size_t i) {
    if (i >= all.size()) return std::string("none");
    const world::DockLoad& load = all[i].load;
    return fmt::format("{} of docks {} and {}, {} {} {} {}", all[i].event, all[i].dock, all[i].partner, load.axial,
                       load.shear, load.bending, load.torsion);
  };
  for (std::size_t i = 0; i < std::max(now.size(), then.dock_events.size()); ++i)
    if (const std::string a = text(then.dock_events, i), b = text(now, i); a != b)
      return Difference{"", fmt::format("dock event {}", i + 1), fmt::format("{} then; {} now", a, b)};
  return {};
}

Found Comparison::compare_traffic(const RecordedTick& then) {
  traffic_.look(simulation_);
  const Traffic now = traffic_.take(simulation_);
  const auto same_ring = [](const Traffic::Ring& a, const Traffic::Ring& b) {
    return same(a.x, b.x) && same(a.y, b.y) && same(a.z, b.z) && same(a.radius, b.radius);
  };
  if (now.wires == then.traffic.wires &&
      std::equal(now.rings.begin(), now.rings.end(), then.traffic.rings.begin(), then.traffic.rings.end(), same_ring))
    return {};
  return Difference{"", "traffic on wires and radios",
                    fmt::format("{} wires and {} rings then, {} and {} now", then.traffic.wires.size(),
                                then.traffic.rings.size(), now.wires.size(), now.rings.size())};
}

Result<Found> Comparison::compare_minds(const RecordedTick& then) {
  for (const std::uint32_t agent : then.minds) {
    if (agent >= simulation_.minds().size()) return Found(Difference{"", "mind", "of a module that is not there now"});
    const auto recorded = recording_.mind(agent);
    if (!recorded.ok()) return recorded.error();
    std::string now;
    describe_mind_briefly(now, simulation_.minds().agent(agent), too_long_[agent]);
    if (*recorded != nullptr && (*recorded)->json == now) continue;
    const std::string before = *recorded != nullptr ? (*recorded)->json : "";
    const auto at = std::mismatch(before.begin(), before.end(), now.begin(), now.end()).first - before.begin();
    const auto part = [&](const std::string& text) {
      const std::size_t from = std::min<std::size_t>(std::max<std::ptrdiff_t>(at - 20, 0), text.size());
      return text.substr(from, 40);
    };
    return Found(Difference{simulation_.minds().agent(agent).name(), "mind",
                            fmt::format("...{}... then, ...{}... now", part(before), part(now))});
  }
  return Found();
}

Found Comparison::compare_log(const RecordedTick& then) const {
  const auto& now = simulation_.minds().log_lines();
  for (std::size_t i = 0; i < std::max(now.size(), then.log.size()); ++i) {
    const std::string who =
        i < now.size() ? valid_utf8(simulation_.minds().agent(now[i].agent).name()) : then.log[i].module;
    const std::string a = i < then.log.size() ? then.log[i].text : "nothing";
    const std::string b = i < now.size() ? valid_utf8(now[i].text) : "nothing";
    const bool listed = i < then.log.size() && i < now.size();
    if (!listed || a != b || then.log[i].module != who)
      return Difference{who, fmt::format("log line {}", i + 1), fmt::format("'{}' then, '{}' now", a, b)};
  }
  return {};
}

Found Comparison::compare_metrics(const RecordedTick& then) {
  const std::optional<sim::TimePoint> now = std::exchange(sample_, {});
  if (!then.metrics && !now) return {};
  if (!then.metrics || !now) return Difference{"", "metrics", then.metrics ? "only then" : "only now"};
  const auto values = now->values();
  for (std::size_t i = 0; i < std::min(values.size(), then.metrics->size()); ++i)
    if (!same(values[i], (*then.metrics)[i]))
      return Difference{"", sim::TimePoint::names[i], fmt::format("{} then, {} now", (*then.metrics)[i], values[i])};
  return {};
}

}  // namespace volvox::record
