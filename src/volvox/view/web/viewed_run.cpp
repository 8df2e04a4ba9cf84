#include "volvox/view/web/viewed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "volvox/record/mind_text.h"

namespace volvox::view {
namespace {

using nlohmann::json;
constexpr auto frame_interval = std::chrono::microseconds(16'000);
constexpr auto detail_interval = std::chrono::milliseconds(100);

json describe_module(const sim::Simulation& simulation, std::size_t index) {
  const mind::Agent& agent = simulation.minds().agent(index);
  const world::World& world = simulation.world();
  const world::PlacementIndex placement = agent.placement();
  std::string mind;
  record::describe_mind(mind, agent);
  json module = json::parse(mind, nullptr, false);
  if (module.is_discarded()) module = json::object();
  module.update({{"type", "module"},
                 {"name", agent.name()},
                 {"model", world.module_model(placement).name},
                 {"time", simulation.now().seconds()}});
  module["docks"] = json::array();
  for (std::uint32_t d = 0; d < world.module_model(placement).docks.size(); ++d) {
    const world::DockIndex dock = world.part(placement).first_dock + d;
    const world::DockStatus& status = world.dock_status(dock);
    const world::DockIndex partner = world.graph().partner(dock);
    module["docks"].push_back({{"name", world.dock_model(dock).name},
                               {"enabled", status.enabled},
                               {"broken", status.broken},
                               {"state", status.phase == world::DockPhase::engaged    ? "engaged"
                                         : status.phase == world::DockPhase::latching ? "latching"
                                                                                      : "free"},
                               {"partner", partner == world::nobody ? "" : world.dock_name(partner)},
                               {"load", status.phase == world::DockPhase::free
                                            ? 0
                                            : world.dock_load(dock).utilisation(world.dock_model(dock).strength)}});
  }
  module["parameters"] = json::object();
  for (const auto& [name, value] : agent.behavior_parameters()) module["parameters"][name] = value;
  return module;
}

json points_of(std::span<const sim::TimePoint> samples) {
  json points = json::array();
  for (const sim::TimePoint& sample : samples) {
    json point = {sample.time};
    for (const double value : sample.values()) point.push_back(value);
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace

ViewedRun::ViewedRun(Viewer& viewer, std::unique_ptr<sim::Run> run, Prepare prepare, AtEnd at_end, bool recorded)
    : viewer_(viewer),
      run_(std::move(run)),
      prepare_(std::move(prepare)),
      at_end_(std::move(at_end)),
      recorded_(recorded),
      cloud_(to_clients_of(viewer)) {
  introduce();
}

void ViewedRun::introduce() {
  const sim::Simulation& simulation = run_->simulation();
  record::TrafficWatch::prepare(run_->simulation());
  traffic_ = {};
  json hello = {{"type", "hello"},
                {"mode", "run"},
                {"name", run_->report().experiment},
                {"engine", run_->report().engine},
                {"seed", run_->report().seed},
                {"dt", simulation.settings().dt.seconds()},
                {"ticks", run_->ticks()},
                {"modules", run_->report().modules},
                {"recorded", recorded_}};
  hello["metrics"] = sim::TimePoint::names;
  hello["parameters"] = json::array();
  for (const model::ParameterDesc& parameter : run_->parameters()) {
    const auto& settings = run_->report().settings;
    hello["parameters"].push_back(
        {{"name", parameter.name},
         {"value", settings.contains(parameter.name) ? settings.at(parameter.name) : parameter.value},
         {"choices", parameter.choices},
         {"about", parameter.description}});
  }
  // Parameters of behaviours, which people may change during the run.
  std::map<std::string, std::string> live;
  for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
    live.merge(simulation.minds().agent(i).behavior_parameters());
  }
  hello["live"] = live;
  viewer_.set_tree(hello, encode_tree(RenderTree::of(*run_)));
  cloud_.forget();
  items_.clear();
  colored_by_.reset();
  metrics_told_ = second_sample_ = -1;
  shown_tick_ = -1;
}

void ViewedRun::loop(const std::atomic<bool>& stop, Start start, std::chrono::milliseconds patience) {
  if (start == Start::paused) playback_.pause();
  else viewer_.wait_for_client(Playback::Clock::now() + patience, stop);
  if (!playback_.paused()) playback_.play(run_->simulation().now().seconds());
  while (!stop) {
    turn();
    if (lost_) return;
  }
  if (!ended_) end();
  viewer_.tell({{"type", "state"},
                {"tick", run_->simulation().tick()},
                {"time", run_->simulation().now().seconds()},
                {"paused", true},
                {"ended", true},
                {"failure", ""},
                {"speed", playback_.speed()}});
}

void ViewedRun::turn() {
  for (const WebServer::ClientId client : viewer_.take_left()) watched_.erase(client), items_.erase(client);
  for (const Command& command : viewer_.take_commands()) {
    handle(command);
    if (lost_) return;
  }
  const std::vector<WebServer::ClientId> newcomers = viewer_.take_newcomers();
  cloud_.greet(newcomers);
  const auto now = Playback::Clock::now();
  const auto due = ended_ ? Playback::Clock::time_point::max() : playback_.schedule(run_->simulation().now().seconds());
  if (due <= now) {
    step();
    show(false);
    return;
  }
  if (!newcomers.empty()) shown_tick_ = -1;  // while ticks are due, newcomers see the next one anyway
  show(true);
  viewer_.wait_until(std::min(due, now + std::chrono::milliseconds(50)));
}

void ViewedRun::step() {
  const StepStatus status = run_->step();
  playback_.count_tick();
  const mind::Minds& minds = run_->simulation().minds();
  if (viewer_.watched()) {
    traffic_.look(run_->simulation());
    // At the beginning of the tick that ends now, as in the log of the run.
    const sim::Simulation& simulation = run_->simulation();
    const double now = simulation.settings().dt.start_of(std::max<std::int64_t>(0, simulation.tick() - 1)).seconds();
    for (const sim::Input& input : run_->simulation().inputs())
      viewer_.tell({{"type", "log"}, {"time", now}, {"module", sim::module_of(input)}, {"text", mark_of(input)}});
    for (const mind::Minds::LogLine& line : minds.log_lines())
      viewer_.tell({{"type", "log"}, {"time", now}, {"module", minds.agent(line.agent).name()}, {"text", line.text}});
  }
  if (!status.ok() || run_->simulation().tick() >= run_->ticks()) end();
}

void ViewedRun::end() {
  ended_ = true;
  if (run_->report().status == "done" && run_->simulation().tick() < run_->ticks()) run_->stop();
  run_->end();
  at_end_(*run_);
  shown_tick_ = -1;
}

// Sends frames at most 60 times per second and details 10 times; `all` sends any tick that has not been shown yet.
void ViewedRun::show(bool all) {
  if (!viewer_.watched()) return;
  const auto now = Playback::Clock::now();
  const std::int64_t tick = run_->simulation().tick();
  const bool fresh = shown_tick_ < 0;
  if (cloud_late_) show_cloud(now);
  if (tick == shown_tick_ || (!all && now - last_frame_ < frame_interval)) return;
  capture(run_->simulation(), frame_);
  frame_.rays.clear();
  if (rays_) capture_rays(run_->simulation().minds(), frame_);
  frame_.traffic = traffic_.take(run_->simulation());
  show_cloud(now);
  viewer_.publish(encode_frame(frame_));
  last_frame_ = now;
  if (fresh || (all && playback_.paused()) || now - last_details_ >= detail_interval) {
    tell_state();
    tell_watched();
    tell_metrics();
    last_details_ = now;
  }
  shown_tick_ = tick;
}

void ViewedRun::show_cloud(Playback::Clock::time_point now) {
  const sim::Cloud* cloud = run_->cloud();
  cloud_late_ = cloud != nullptr && !cloud_.may_tell(now);
  if (cloud == nullptr || cloud_late_) return;
  cloud->cloud_items(frame_.cloud);
  json legend = {{"type", "colors"}, {"value", ""}};
  if (colored_by_) {
    std::vector<float> values;
    cloud->cloud_values(*colored_by_, values);
    const auto [least, most] = sim::color_by(values, frame_.cloud);
    legend.update({{"value", cloud->cloud_look().values[*colored_by_]}, {"least", least}, {"most", most}});
  }
  if (cloud_.tell(frame_.cloud, now)) viewer_.tell(legend);
}

void ViewedRun::tell_item(WebServer::ClientId client, std::uint32_t item) {
  const sim::Cloud* cloud = run_->cloud();
  if (cloud == nullptr) return;
  viewer_.tell({{"type", "item"}, {"item", item}, {"state", cloud->cloud_state(item)}}, client);
}

void ViewedRun::tell_state() {
  const sim::RunReport& report = run_->report();
  viewer_.tell({{"type", "state"},
                {"tick", run_->simulation().tick()},
                {"time", run_->simulation().now().seconds()},
                {"paused", playback_.paused() || ended_},
                {"ended", ended_},
                {"failure", report.failure},
                {"speed", playback_.speed()},
                {"inputs", run_->simulation().inputs_so_far()}});
}

void ViewedRun::tell_watched() {
  for (const auto& [client, item] : items_) tell_item(client, item);
  const mind::Minds& minds = run_->simulation().minds();
  for (const auto& [client, name] : watched_)
    for (std::size_t i = 0; i < minds.size(); ++i)
      if (minds.agent(i).name() == name) viewer_.tell(describe_module(run_->simulation(), i), client);
}

void ViewedRun::tell_metrics() {
  const auto& history = run_->report().history;
  const auto told = std::upper_bound(history.begin(), history.end(), metrics_told_,
                                     [](double time, const sim::TimePoint& sample) { return time < sample.time; });
  // What newcomers are told would otherwise grow with the length of the run.
  const double second = history.size() > 1 ? history[1].time : -1;
  if (second != second_sample_ && second_sample_ >= 0) viewer_.keep_points(points_of({history.begin(), told}));
  second_sample_ = second;
  viewer_.add_points(points_of({told, history.end()}));
  if (!history.empty()) metrics_told_ = std::max(metrics_told_, history.back().time);
}

void ViewedRun::reset(const std::map<std::string, std::string>& settings, WebServer::ClientId client) {
  if (!ended_) end();
  run_.reset();  // releases its ports and devices before the next run needs them
  auto made = prepare_(settings);
  if (!made.ok()) {
    viewer_.tell({{"type", "error"}, {"text", made.error().text()}}, client);
    made = prepare_({});  // with the original settings
  }
  if (!made.ok()) {
    lost_ = made.error();
    return;
  }
  run_ = std::move(*made);
  ended_ = false;
  playback_.play(run_->simulation().now().seconds());
  introduce();
}

void ViewedRun::handle(const Command& command) {
  const json& what = *command.what;
  const double now = run_->simulation().now().seconds();
  const auto text = [&](const char* key) {
    return what.contains(key) && what[key].is_string() ? what[key].get<std::string>() : std::string();
  };
  const auto number = [&](const char* key, double fallback) {
    return what.contains(key) && what[key].is_number() ? what[key].get<double>() : fallback;
  };
  const std::string type = text("type");
  shown_tick_ = -1;  // every command makes a new frame, so that all clients see its effect
  if (type == "pause") playback_.pause();
  else if (type == "play") playback_.play(now);
  else if (type == "step") playback_.step(truncated<std::int64_t>(std::clamp(number("ticks", 1), 0.0, 1e6)));
  else if (type == "speed") playback_.set_speed(number("factor", 1), now);
  else if (type == "rays") rays_ = what.value("on", json(false)) == json(true);
  else if (type == "watch") {
    watched_.erase(command.client), items_.erase(command.client);
    if (!text("module").empty()) watched_[command.client] = text("module");
    if (const double item = number("item", -1); item >= 0 && item < 4e9) {
      items_[command.client] = truncated<std::uint32_t>(item);
      tell_item(command.client, items_[command.client]);
    }
  } else if (type == "color" && run_->cloud() != nullptr) {
    const std::vector<std::string> values = run_->cloud()->cloud_look().values;
    const auto found = std::find(values.begin(), values.end(), text("value"));
    colored_by_.reset();
    if (found != values.end()) colored_by_ = found - values.begin();
  } else if (type == "reset") {
    std::map<std::string, std::string> settings;
    if (what.contains("settings") && what["settings"].is_object())
      for (const auto& [key, value] : what["settings"].items())
        if (value.is_string()) settings[key] = value.get<std::string>();
    reset(settings, command.client);
  } else if (type == "input" && !ended_) {
    sim::InputRecord input{text("kind"), text("module"), text("name"), text("text"), number("value", 0), {}};
    if (what.contains("force") && what["force"].is_array() && what["force"].size() == 3)
      for (int i = 0; i < 3; ++i)
        if (what["force"][static_cast<std::size_t>(i)].is_number())
          input.force[i] = what["force"][static_cast<std::size_t>(i)].get<double>();
    if (auto known = sim::input_of(input); known.ok()) run_->simulation().give(std::move(*known));
    else viewer_.tell({{"type", "error"}, {"text", known.error().text()}}, command.client);
  }
}

}  // namespace volvox::view
