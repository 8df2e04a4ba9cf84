#include "volvox/record/recorder.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/text.h"
#include "volvox/record/compare.h"
#include "volvox/record/mind_text.h"
#include "volvox/record/recording_format.h"
#include "volvox/record/timestamp.h"
#include "volvox/sim/run.h"

namespace volvox::record {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t full_chunk = 4 << 20;  // bytes
constexpr double longest_chunk = 1;          // s of wall time
// The limit of minds in a tick: of many modules only some are recorded in each tick, in turn, because text is slow.
constexpr std::size_t most_of_minds = 4 << 10;  // bytes

void put_real(char* at, double value) { std::memcpy(at, &value, sizeof value); }

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::create(const std::filesystem::path& file, const Metadata& description,
                                                   const sim::Simulation& simulation) {
  auto writer = McapWriter::create(file, "volvox");
  if (!writer.ok()) return writer.error();
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(*writer)));
  const std::string descriptors = protobuf::descriptor_set(format::types());
  for (const format::Topic& topic : format::topics()) {
    const std::uint16_t schema = recorder->writer_->add_schema(topic.type, "protobuf", descriptors);
    recorder->channels_[topic.topic] = recorder->writer_->add_channel(schema, topic.topic, "protobuf");
  }
  recorder->writer_->add_metadata("volvox", description);
  recorder->attach("names.json", "application/json", recorder->names(simulation));
  recorder->prepare(simulation);
  return recorder;
}

namespace {

// What a replay needs to run the experiment again (options_of in replay.h reads it).
Metadata description_of(const sim::Run& run) {
  const sim::RunOptions& options = run.options();
  const model::RunSettings& world = run.simulation().world().model().run;
  const bool is_file = fs::exists(options.experiment) && !fs::is_directory(options.experiment);
  return {{"format", format::version},
          {"experiment", is_file ? fs::absolute(options.experiment).string() : options.experiment},
          {"name", run.report().experiment},
          {"settings", to_json_text(nlohmann::json(run.report().settings))},
          {"files", to_json_text(nlohmann::json(run.report().files))},
          {"accept_changes", options.accept_changes ? "true" : ""},
          {"engine", options.engine},
          {"behaviors", to_json_text(nlohmann::json(options.behaviors))},
          {"plugins", to_json_text(nlohmann::json(options.plugins))},
          {"isolate_s", options.isolate ? fmt::format("{}", *options.isolate) : ""},
          {"isolate_mb", fmt::format("{}", options.isolate_megabytes)},
          {"seed", std::to_string(options.seed)},
          {"dt", world.dt.text()},
          {"substep_s", fmt::format("{}", world.max_substep)},
          {"precision", run.report().precision},
          {"duration_s", fmt::format("{}", world.duration.seconds())},
          {"modules", std::to_string(run.report().modules)}};
}

}  // namespace

Result<std::shared_ptr<Recorder>> Recorder::start(sim::Run& run, const fs::path& file) {
  sim::Simulation& simulation = run.simulation();
  TrafficWatch::prepare(simulation);
  auto made = create(file, description_of(run), simulation);
  if (!made.ok()) return made.error();
  const std::shared_ptr<Recorder> recorder = std::move(*made);
  recorder->cloud_ = run.cloud();
  if (!run.restored().empty()) recorder->attach("restored.snap", "application/octet-stream", run.restored());
  recorder->record(simulation);
  // Already in the state that was just recorded; the first tick records them again, where they change nothing.
  recorder->record_inputs(simulation.taken_inputs());
  const auto take_sample = [recorder, &simulation](const sim::TimePoint& sample) {
    recorder->record_metrics(simulation.now(), simulation.tick(), sample);
  };
  take_sample(run.report().history.back());
  run.add_sample_observer(take_sample);
  simulation.add_observer([recorder](const sim::Simulation& now) { recorder->record(now); }, "the recorder");
  return recorder;
}

// The names of links, joints and docks: ticks hold indices only. All text is valid UTF-8, as protobuf and JSON demand.
std::string Recorder::names(const sim::Simulation& simulation) const {
  const world::World& world = simulation.world();
  nlohmann::json json;
  for (const char* list : {"modules", "links", "joints", "docks", "agents", "outlets", "first_outlet", "sections"})
    json[list] = nlohmann::json::array();
  const auto add = [&](const char* list, const std::string& name) { json[list].push_back(valid_utf8(name)); };
  for (world::PlacementIndex p = 0; p < world.placements(); ++p) {
    add("modules", world.name(p));
    for (const model::Link& link : world.module_model(p).links) add("links", world.name(p) + "." + link.name);
    for (const model::Joint& joint : world.module_model(p).joints) add("joints", world.name(p) + "." + joint.name);
    for (const model::Dock& dock : world.module_model(p).docks) add("docks", world.name(p) + "." + dock.name);
  }
  for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
    const mind::Agent& agent = simulation.minds().agent(i);
    add("agents", agent.name());
    for (const std::string& outlet : agent.outlets()) add("outlets", agent.name() + "." + outlet);
    json["first_outlet"].push_back(json["outlets"].size() - agent.outlets().size());
  }
  HashArchive sections(HashArchive::Names::keep);
  simulation.hash(sections);
  for (const HashArchive::Name& name : sections.names())
    json["sections"].push_back({valid_utf8(name.owner), name.part});
  return to_json_text(json);
}

void Recorder::prepare(const sim::Simulation& simulation) {
  const world::World& world = simulation.world();
  links_.resize(world.links());
  docks_.resize(world.docks());
  too_long_.resize(simulation.minds().size());
  for (world::LinkIndex l = 0; l < world.links(); ++l) {
    LinkTemplate& link = links_[l];
    protobuf::Writer vector, quaternion, transform;
    for (int i = 1; i <= 3; ++i) vector.real(i, 0);
    for (int i = 1; i <= 4; ++i) quaternion.real(i, 0);
    transform.message(1, timestamp({}));
    const std::size_t time_at = transform.bytes().size() - timestamp_size;
    transform.text(2, "world");
    transform.text(3, valid_utf8(world.body_name(world.body(l))));
    transform.message(4, vector);
    const std::size_t translation_at = transform.bytes().size() - vector.bytes().size();
    transform.message(5, quaternion);
    const std::size_t rotation_at = transform.bytes().size() - quaternion.bytes().size();
    protobuf::Writer entry;
    entry.message(1, transform);
    const std::size_t head = entry.bytes().size() - transform.bytes().size();
    link = {entry.bytes(), head + time_at, head + translation_at, head + rotation_at, {}};
  }
}

void Recorder::write(const char* topic, const std::string& bytes) {
  writer_->write(channels_.at(topic), low_word(tick_), now_.ns, bytes);
}

void Recorder::record(const sim::Simulation& simulation) {
  now_ = simulation.now();
  tick_ = simulation.tick();
  const double wall = platform::monotonic_seconds();
  if (writer_->chunk_size() >= full_chunk || (!writer_->chunk_is_empty() && wall - chunk_begin_ >= longest_chunk))
    writer_->flush();
  const bool first_of_chunk = writer_->chunk_is_empty();
  if (first_of_chunk) chunk_begin_ = wall;
  record_state(simulation);
  record_cloud(first_of_chunk);
  record_inputs(simulation.inputs());
  record_transforms(simulation.world(), first_of_chunk);
  record_joints(simulation.world());
  record_docks(simulation.world(), first_of_chunk);
  record_dock_events(simulation);
  record_messages(simulation.minds());
  record_traffic(simulation);
  record_minds(simulation.minds());
  record_log(simulation);
}

void Recorder::record_state(const sim::Simulation& simulation) {
  HashArchive hash;
  simulation.hash(hash);
  const std::vector<std::uint32_t> sections = hash.sections();
  message_.clear();
  message_.integer(1, tick_);
  message_.fixed64(2, hash.value());
  message_.packed(3, sections);
  write(format::state, message_.bytes());
}

void Recorder::record_cloud(bool first_of_chunk) {
  if (cloud_ == nullptr) return;
  if (cloud_writer_.write(*cloud_, tick_, first_of_chunk, message_)) write(format::cloud, message_.bytes());
  if (points_.write(cloud_writer_.items(), cloud_writer_.changed(), now_, message_))
    write(format::points, message_.bytes());
}

void Recorder::record_transforms(const world::World& world, bool all) {
  std::string* transforms = nullptr;  // the message of this tick; null while no link has moved
  for (world::LinkIndex l = 0; l < links_.size(); ++l) {
    LinkTemplate& link = links_[l];
    const Pose pose = world.link_pose(l);
    const std::array<float, 7> now = {to_float(pose.position.x), to_float(pose.position.y), to_float(pose.position.z),
                                      to_float(pose.rotation.x), to_float(pose.rotation.y), to_float(pose.rotation.z),
                                      to_float(pose.rotation.w)};
    if (!all && now == link.last) continue;
    link.last = now;
    if (transforms == nullptr) transforms = &writer_->begin(channels_.at(format::transforms), low_word(tick_), now_.ns);
    const std::size_t begin = transforms->size();
    *transforms += link.bytes;
    char* bytes = transforms->data() + begin;
    put_timestamp(bytes + link.time_at, now_);
    // Rounded to floats, which compress to half the size; the hashes hold the exact state.
    for (std::size_t i = 0; i < 3; ++i) put_real(bytes + link.translation_at + 9 * i + 1, now[i]);
    for (std::size_t i = 0; i < 4; ++i) put_real(bytes + link.rotation_at + 9 * i + 1, now[3 + i]);
  }
  if (transforms != nullptr) writer_->end();
}

void Recorder::record_joints(const world::World& world) {
  positions_.clear(), velocities_.clear(), torques_.clear();
  for (world::PlacementIndex p = 0; p < world.placements(); ++p)
    for (std::uint32_t j = 0; j < world.module_model(p).joints.size(); ++j) {
      const physics::JointState state = world.joint_state(world.part(p).first_joint + j);
      positions_.push_back(to_float(state.position));
      velocities_.push_back(to_float(state.velocity));
      torques_.push_back(to_float(state.torque));
    }
  if (positions_.empty()) return;
  message_.clear();
  message_.packed(1, positions_);
  message_.packed(2, velocities_);
  message_.packed(3, torques_);
  write(format::joints, message_.bytes());
}

void Recorder::record_docks(const world::World& world, bool all) {
  column_a_.clear(), column_b_.clear(), column_c_.clear(), loads_.clear();
  for (world::DockIndex d = 0; d < docks_.size(); ++d) {
    const RecordedTick::Dock now = dock_as_recorded(world, d);
    if (!all && now == docks_[d]) continue;
    docks_[d] = now;
    column_a_.push_back(d);
    column_b_.push_back(now.flags);
    column_c_.push_back(now.partner);
    loads_.push_back(now.load);
  }
  if (column_a_.empty()) return;
  message_.clear();
  message_.packed(1, column_a_);
  message_.packed(2, column_b_);
  message_.packed(3, column_c_);
  message_.packed(4, loads_);
  write(format::docks, message_.bytes());
}

void Recorder::record_messages(const mind::Minds& minds) {
  const std::vector<RecordedTick::Arrival> arrivals = arrivals_as_recorded(minds);
  if (arrivals.empty()) return;
  column_a_.clear(), column_b_.clear(), column_c_.clear(), column_d_.clear(), column_e_.clear(), column_f_.clear();
  for (const RecordedTick::Arrival& arrival : arrivals) {
    column_a_.push_back(arrival.agent);
    column_b_.push_back(arrival.outlet);
    column_c_.push_back(arrival.bytes);
    column_d_.push_back(arrival.sent.ns);
    column_e_.push_back(arrival.arrived.ns);
    column_f_.push_back(arrival.sender);
  }
  message_.clear();
  message_.packed(1, column_a_);
  message_.packed(2, column_b_);
  message_.packed(3, column_d_);
  message_.packed(4, column_e_);
  message_.packed(5, column_c_);
  message_.packed(6, column_f_);
  for (const RecordedTick::Arrival& arrival : arrivals)
    message_.text(7, arrival.type), message_.text(8, arrival.content);
  write(format::messages, message_.bytes());
}

void Recorder::record_dock_events(const sim::Simulation& simulation) {
  for (const RecordedTick::DockEvent& event : dock_events_as_recorded(simulation)) {
    message_.clear();
    message_.text(1, event.event);
    message_.integer(2, event.dock);
    message_.integer(3, event.partner);
    message_.real(4, event.load.axial);
    message_.real(5, event.load.shear);
    message_.real(6, event.load.bending);
    message_.real(7, event.load.torsion);
    write(format::dock_events, message_.bytes());
  }
}

void Recorder::record_traffic(const sim::Simulation& simulation) {
  traffic_.look(simulation);
  const Traffic traffic = traffic_.take(simulation);
  if (traffic.empty()) return;
  column_a_.clear(), column_b_.clear();
  for (const auto& [from, to] : traffic.wires) column_a_.push_back(from), column_b_.push_back(to);
  message_.clear();
  message_.packed(1, column_a_);
  message_.packed(2, column_b_);
  for (const auto& [field, part] :
       {std::pair{3, &Traffic::Ring::x}, {4, &Traffic::Ring::y}, {5, &Traffic::Ring::z}, {6, &Traffic::Ring::radius}}) {
    loads_.clear();
    for (const Traffic::Ring& ring : traffic.rings) loads_.push_back(ring.*part);
    message_.packed(field, loads_);
  }
  write(format::traffic, message_.bytes());
}

void Recorder::record_minds(const mind::Minds& minds) {
  std::size_t written = 0;
  for (std::size_t k = 0; k < minds.size() && written < most_of_minds; ++k) {
    mind_.clear();
    describe_mind_briefly(mind_, minds.agent(next_mind_), too_long_[next_mind_]);
    message_.clear();
    message_.integer(1, next_mind_);
    message_.text(2, mind_);
    write(format::minds, message_.bytes());
    written += mind_.size();
    next_mind_ = (next_mind_ + 1) % minds.size();
  }
}

// The time is that at which the agents thought, as in the log of the run: the beginning of the tick that ends now.
void Recorder::record_log(const sim::Simulation& simulation) {
  constexpr std::uint64_t info = 2;  // Foxglove's number
  const mind::Minds& minds = simulation.minds();
  const Time begin = simulation.settings().dt.start_of(std::max<std::int64_t>(0, tick_ - 1));
  for (const mind::Minds::LogLine& line : minds.log_lines()) {
    message_.clear();
    message_.message(1, timestamp(begin));
    message_.integer(2, info);
    message_.text(3, valid_utf8(line.text));
    message_.text(4, valid_utf8(minds.agent(line.agent).name()));
    write(format::log, message_.bytes());
  }
}

void Recorder::record_inputs(const std::vector<sim::Input>& inputs) {
  for (const sim::Input& given : inputs) {
    const sim::InputRecord input = record_of(given);
    message_.clear();
    message_.text(1, input.kind);
    message_.text(2, input.module);
    message_.text(3, input.name);
    message_.text(4, input.text);
    message_.real(5, input.value);
    protobuf::Writer force;
    for (int i = 0; i < 3; ++i) force.real(i + 1, input.force[i]);
    message_.message(6, force);
    write(format::inputs, message_.bytes());
  }
}

void Recorder::record_metrics(Time now, std::int64_t tick, const sim::TimePoint& point) {
  now_ = now;
  tick_ = tick;
  message_.clear();
  int field = 0;
  for (const double value : point.values()) message_.real(++field, value);
  write(format::metrics, message_.bytes());
}

Result<void> Recorder::finish(const Metadata& results) {
  writer_->add_metadata("results", results);
  return writer_->close();
}

}  // namespace volvox::record
