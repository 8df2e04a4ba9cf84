#include "volvox/view/web/viewed_recording.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "volvox/record/recording_format.h"
#include "volvox/sim/run_report.h"

namespace volvox::view {
using nlohmann::json;

namespace {
constexpr auto shown_interval = std::chrono::milliseconds(16);
constexpr std::size_t most_marks = 20'000;  // log lines and inputs on the time line
}  // namespace

void capture(const record::RecordedTick& tick, Frame& frame) {
  frame.tick = tick.tick;
  frame.time = tick.time;
  frame.links.resize(tick.links.size());
  for (std::size_t i = 0; i < tick.links.size(); ++i) frame.links[i] = {tick.links[i].position, tick.links[i].rotation};
  frame.docks.resize(tick.docks.size());
  for (std::size_t i = 0; i < tick.docks.size(); ++i) {
    const std::uint32_t flags = tick.docks[i].flags;
    const auto flag = [&](std::uint32_t recorded, DockView::Flag shown) {
      return static_cast<std::uint8_t>((flags & recorded) != 0 ? shown : 0);
    };
    frame.docks[i].flags = static_cast<std::uint8_t>(
        flag(record::format::enabled, DockView::enabled) | flag(record::format::latching, DockView::latching) |
        flag(record::format::engaged, DockView::engaged) | flag(record::format::broken, DockView::broken));
    frame.docks[i].load = tick.docks[i].load;
  }
  frame.traffic = tick.traffic;
}

Result<std::unique_ptr<ViewedRecording>> ViewedRecording::create(Viewer& viewer, record::Recording& recording) {
  auto introduction = introduce(recording);
  if (!introduction.ok()) return introduction.error();
  std::unique_ptr<ViewedRecording> viewed(new ViewedRecording(viewer, recording));
  viewer.set_tree(introduction->hello, std::move(introduction->tree));
  viewed->tick_ = recording.first_tick();
  return viewed;
}

Result<Introduction> introduce(record::Recording& recording) {
  auto tree = recording.attachment("render_tree");
  if (tree.ok() && !*tree) tree = recording.attachment("scene");  // its name until November 2026
  if (!tree.ok()) return tree.error();
  if (!*tree)
    return Diagnostic{recording.file().string(), 0, "the recording contains nothing to show",
                      "record it with volvox run --record; volvox replay --verify and volvox export need none"};
  const record::Metadata& given = recording.description();
  const auto text = [&](const char* key) { return given.contains(key) ? given.at(key) : std::string(); };
  json hello = {{"type", "hello"},
                {"mode", "replay"},
                {"name", text("name")},
                {"engine", text("engine")},
                {"seed", text("seed")},
                {"dt", recording.dt().seconds()},
                {"first_tick", recording.first_tick()},
                {"ticks", recording.last_tick()},
                {"modules", text("modules")},
                {"complete", recording.complete()}};
  hello["metrics"] = sim::TimePoint::names;
  json marks = json::array(), points = json::array();
  for (std::int64_t t = recording.first_tick(); t <= recording.last_tick(); ++t) {
    auto tick = recording.tick(t);
    if (!tick.ok()) return tick.error();
    for (const record::RecordedTick::LogLine& line : (*tick)->log)
      if (marks.size() < most_marks) marks.push_back({(*tick)->time.seconds(), line.module, line.text});
    for (const sim::Input& input : (*tick)->inputs)
      if (marks.size() < most_marks) marks.push_back({(*tick)->time.seconds(), sim::module_of(input), mark_of(input)});
    if (!(*tick)->metrics) continue;
    json point = {(*tick)->time.seconds()};
    for (const double value : *(*tick)->metrics) point.push_back(value);
    points.push_back(std::move(point));
  }
  hello["marks"] = std::move(marks);
  hello["points"] = std::move(points);
  return Introduction{std::move(hello), std::move(**tree)};
}

void ViewedRecording::loop(const std::atomic<bool>& stop) {
  const auto time_of = [&](std::int64_t tick) { return recording_.dt().start_of(tick).seconds(); };
  viewer_.wait_for_client(Playback::Clock::time_point::max(), stop);  // who then sees the beginning
  playback_.play(time_of(tick_));
  auto last_frame = Playback::Clock::time_point{};
  while (!stop) {
    for (const WebServer::ClientId client : viewer_.take_left()) watched_.erase(client);
    for (const Command& command : viewer_.take_commands()) handle(command);
    if (const auto newcomers = viewer_.take_newcomers(); !newcomers.empty()) {
      cloud_.greet(newcomers);
      shown_ = -1;
    }
    const auto now = Playback::Clock::now();
    const bool at_end = tick_ >= recording_.last_tick();
    const auto due = at_end ? Playback::Clock::time_point::max() : playback_.schedule(time_of(tick_));
    if (at_end && !playback_.paused()) {
      playback_.pause();
      shown_ = -1;
    }
    if (due <= now && !at_end) {
      ++tick_;
      playback_.count_tick();
      if (now - last_frame < shown_interval && !playback_.stepping()) continue;
    }
    show();
    last_frame = now;
    viewer_.wait_until(std::min(due, now + std::chrono::milliseconds(50)));
  }
}

void ViewedRecording::show() {
  const auto now = Playback::Clock::now();
  const bool cloud_waits = cloud_late_ && cloud_.may_tell(now);
  if (!viewer_.watched() || (shown_ == tick_ && !cloud_waits)) return;
  auto tick = recording_.tick(tick_);
  if (!tick.ok()) {
    viewer_.tell({{"type", "error"}, {"text", tick.error().text()}});
    playback_.pause();
    shown_ = tick_;
    return;
  }
  capture(**tick, frame_);
  cloud_late_ = !cloud_.may_tell(now);
  cloud_.tell((*tick)->cloud, now);
  viewer_.publish(encode_frame(frame_));
  viewer_.tell({{"type", "state"},
                {"tick", tick_},
                {"time", (*tick)->time.seconds()},
                {"paused", playback_.paused()},
                {"ended", tick_ >= recording_.last_tick()},
                {"failure", ""},
                {"speed", playback_.speed()},
                {"hash", hash_text((*tick)->hash)}});
  tell_watched(**tick);
  shown_ = tick_;
}

// The body as of this tick, the mind as of the last time when it was recorded.
void ViewedRecording::tell_watched(const record::RecordedTick& tick) {
  const record::RecordedNames& names = recording_.names();
  for (const auto& [client, module] : watched_) {
    json about = {{"type", "module"},
                  {"name", module},
                  {"model", ""},
                  {"time", tick.time.seconds()},
                  {"percepts", json::object()},
                  {"actions", json::object()},
                  {"mailbox", json::array()},
                  {"waiting", 0},
                  {"docks", json::array()},
                  {"parameters", json::object()}};
    add_mind(about, module);
    const std::string own = module + ".";
    for (std::size_t j = 0; j < names.joints.size(); ++j) {
      if (!names.joints[j].starts_with(own)) continue;
      const std::string joint = names.joints[j].substr(own.size());
      about["joints"][joint] = {
          {"angle", tick.joints[j].position}, {"velocity", tick.joints[j].velocity}, {"torque", tick.joints[j].torque}};
    }
    for (std::size_t d = 0; d < names.docks.size(); ++d) {
      if (!names.docks[d].starts_with(own)) continue;
      const record::RecordedTick::Dock& dock = tick.docks[d];
      const auto has = [&](std::uint32_t flag) { return (dock.flags & flag) != 0; };
      about["docks"].push_back({{"name", names.docks[d].substr(own.size())},
                                {"enabled", has(record::format::enabled)},
                                {"broken", has(record::format::broken)},
                                {"state", has(record::format::engaged)    ? "engaged"
                                          : has(record::format::latching) ? "latching"
                                                                          : "free"},
                                {"partner", dock.partner < names.docks.size() ? names.docks[dock.partner] : ""},
                                {"load", dock.load}});
    }
    viewer_.tell(about, client);
  }
}

void ViewedRecording::add_mind(json& about, const std::string& module) {
  const std::vector<std::string>& agents = recording_.names().agents;
  const auto agent = std::find(agents.begin(), agents.end(), module);
  if (agent == agents.end()) return;
  const auto mind = recording_.mind(agent - agents.begin());
  if (!mind.ok() || *mind == nullptr) return;
  const json known = json::parse((*mind)->json, nullptr, false);
  if (!known.is_object()) return;
  for (const char* part : {"percepts", "actions", "knows", "mailbox", "waiting"})
    if (known.contains(part)) about[part] = known[part];
  about["mind_time"] = recording_.dt().start_of((*mind)->tick).seconds();
}

void ViewedRecording::handle(const Command& command) {
  const json& what = *command.what;
  const double now = recording_.dt().start_of(tick_).seconds();
  const auto number = [&](const char* key, double fallback) {
    return what.contains(key) && what[key].is_number() ? what[key].get<double>() : fallback;
  };
  const std::string type = what["type"];
  shown_ = -1;
  if (type == "pause") playback_.pause();
  else if (type == "play") {
    if (tick_ >= recording_.last_tick()) tick_ = recording_.first_tick();
    playback_.play(recording_.dt().start_of(tick_).seconds());
  } else if (type == "step") playback_.step(truncated<std::int64_t>(std::clamp(number("ticks", 1), 0.0, 1e6)));
  else if (type == "speed") playback_.set_speed(number("factor", 1), now);
  else if (type == "seek") {
    tick_ = truncated<std::int64_t>(
        std::clamp(number("tick", 0), real(recording_.first_tick()), real(recording_.last_tick())));
    if (!playback_.paused()) playback_.play(recording_.dt().start_of(tick_).seconds());
  } else if (type == "reset") {
    tick_ = recording_.first_tick();
    if (!playback_.paused()) playback_.play(recording_.dt().start_of(tick_).seconds());
  } else if (type == "watch") {
    if (what.contains("module") && what["module"].is_string() && !what["module"].get<std::string>().empty())
      watched_[command.client] = what["module"];
    else watched_.erase(command.client);
  }
}

}  // namespace volvox::view
