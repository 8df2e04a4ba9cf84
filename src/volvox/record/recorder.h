// Records a run in an MCAP file, tick by tick: poses of links that moved, joints, docks, messages, minds, log lines,
// inputs, and the hash of the whole state with its sections. SI units, world frame. Only reads the simulation.
//
// The first tick of a chunk holds all poses and docks, the following ticks only those that changed. Chunks end after
// 4 MB or a second, so that a killed run loses at most its last second.
// All calls belong to the thread of the loop; the file is compressed and written by a thread of McapWriter. A run has
// the same state hashes with and without a recorder.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "volvox/record/cloud_message.h"
#include "volvox/record/mcap.h"
#include "volvox/record/point_cloud.h"
#include "volvox/record/protobuf.h"
#include "volvox/record/recording.h"
#include "volvox/record/traffic.h"
#include "volvox/sim/simulation.h"

namespace volvox::sim {
class Run;
struct TimePoint;
}  // namespace volvox::sim

namespace volvox::record {

class Recorder {
 public:
  // Call it before the first step: from then on the recorder is part of the publish phase and takes the samples of the
  // run. The caller calls finish() once the run has ended.
  static Result<std::shared_ptr<Recorder>> start(sim::Run& run, const std::filesystem::path& file);
  // `description` is what a replay needs to run the experiment again.
  static Result<std::unique_ptr<Recorder>> create(const std::filesystem::path& file, const Metadata& description,
                                                  const sim::Simulation& simulation);

  void attach(const std::string& name, const std::string& media_type, std::string data) {
    writer_->add_attachment(name, media_type, std::move(data));
  }
  void record(const sim::Simulation& simulation);  // its current state
  void record_metrics(Time now, std::int64_t tick, const sim::TimePoint& point);
  Result<void> finish(const Metadata& results);  // afterwards the file is complete

 private:
  explicit Recorder(std::unique_ptr<McapWriter> writer) : writer_(std::move(writer)) {}
  void prepare(const sim::Simulation& simulation);
  std::string names(const sim::Simulation& simulation) const;
  void write(const char* topic, const std::string& bytes);
  void record_transforms(const world::World& world, bool all);
  void record_joints(const world::World& world);
  void record_docks(const world::World& world, bool all);
  void record_dock_events(const sim::Simulation& simulation);
  void record_messages(const mind::Minds& minds);
  void record_traffic(const sim::Simulation& simulation);
  void record_minds(const mind::Minds& minds);
  void record_log(const sim::Simulation& simulation);
  void record_inputs(const std::vector<sim::Input>& inputs);
  void record_state(const sim::Simulation& simulation);
  void record_cloud(bool first_of_chunk);

  std::unique_ptr<McapWriter> writer_;
  std::map<std::string, std::uint16_t> channels_;
  double chunk_begin_ = 0;  // wall time
  Time now_;
  std::int64_t tick_ = 0;

  // The bytes of each link's transform, in which only time and pose change.
  struct LinkTemplate {
    std::string bytes;
    std::size_t time_at = 0, translation_at = 0, rotation_at = 0;
    std::array<float, 7> last{};
  };
  std::vector<LinkTemplate> links_;
  std::vector<RecordedTick::Dock> docks_;

  const sim::Cloud* cloud_ = nullptr;  // the run's; null: it has none
  CloudWriter cloud_writer_;
  PointCloudWriter points_;
  TrafficWatch traffic_;
  std::size_t next_mind_ = 0;                    // the agent that is recorded next
  std::vector<std::set<std::size_t>> too_long_;  // by agent: see describe_mind_briefly

  // Buffers that are reused in every tick.
  std::string mind_;
  std::vector<double> positions_, velocities_, torques_;
  std::vector<std::uint32_t> column_a_, column_b_, column_c_, column_f_;
  std::vector<std::uint64_t> column_d_, column_e_;
  std::vector<float> loads_;
  protobuf::Writer message_;
};

}  // namespace volvox::record
