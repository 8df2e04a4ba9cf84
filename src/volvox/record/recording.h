// Reads a recording: the state at any tick, by seeking to its chunk. SI units, world frame. For one thread.
// A recording owns its file and all that it returns by value.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/time.h"
#include "volvox/record/mcap.h"
#include "volvox/record/traffic.h"
#include "volvox/sim/cloud.h"
#include "volvox/sim/input.h"

namespace volvox::record {

// Names, by the indices of the world.
struct RecordedNames {
  std::vector<std::string> modules, links, joints, docks, agents;
  // Docks, radios and buses of agent i begin at first_outlet[i]; empty in old recordings.
  std::vector<std::string> outlets;
  std::vector<std::size_t> first_outlet;
  std::string outlet(std::size_t agent, std::size_t outlet) const;
  struct Section {
    std::string owner, part;
  };
  std::vector<Section> sections;
};

struct RecordedTick {
  std::int64_t tick = 0;
  Time time;
  std::uint64_t hash = 0;
  std::vector<std::uint32_t> sections;
  struct Link {
    std::array<float, 3> position{};
    std::array<float, 4> rotation{0, 0, 0, 1};  // x, y, z, w
  };
  std::vector<Link> links;
  struct Joint {
    double position = 0, velocity = 0, torque = 0;
  };
  std::vector<Joint> joints;
  struct Dock {
    std::uint32_t flags = 0;   // format::DockFlag
    world::DockIndex partner;  // none: free
    float load = 0;
    friend bool operator==(const Dock&, const Dock&) = default;
  };
  std::vector<Dock> docks;
  // What happened in the tick that ended here.
  struct Arrival {
    world::AgentIndex agent = 0;
    std::uint32_t outlet = 0, bytes = 0;
    Time sent, arrived;
    world::AgentIndex sender{};     // nobody: unknown, as are the others in old recordings
    std::string type{}, content{};  // the content as JSON; long ones are cut
  };
  std::vector<Arrival> arrivals;
  struct DockEvent {
    std::string event;  // captured, engaged, released, broken, jammed, slipped
    world::DockIndex dock, partner;
    world::DockLoad load;  // of dock when it broke or slipped
  };
  std::vector<DockEvent> dock_events;
  Traffic traffic;
  struct LogLine {
    std::string module, text;
  };
  std::vector<LogLine> log;
  std::vector<sim::Input> inputs;
  std::optional<std::vector<double>> metrics;  // sim::TimePoint::names
  std::vector<sim::CloudItem> cloud;           // by item; empty: the run has none
  std::vector<std::uint32_t> minds;            // the agents whose minds were recorded; Recording::mind has their text
};

// The content of a module's mind at the tick in which it was recorded.
struct RecordedMind {
  std::int64_t tick = 0;
  std::string json;  // see describe_mind
};

class Recording {
 public:
  // Takes the folder of a run, or the file itself. A damaged file is an error.
  static Result<std::unique_ptr<Recording>> open(const std::filesystem::path& folder_or_file);

  bool complete() const { return reader_->complete(); }  // false: the run was killed
  // What a user should know before relying on it: that it was cut off, or that it could not be checked. Empty: nothing.
  std::string warning() const;
  const std::filesystem::path& file() const { return file_; }
  // The settings of the run ("experiment", "engine", "seed", ...) and, if it ended, its results.
  const Metadata& description() const { return description_; }
  const Metadata& results() const { return results_; }
  const RecordedNames& names() const { return names_; }
  // Whether its ticks could have held such messages: an older Volvox recorded fewer kinds.
  bool has_topic(const std::string& topic) const;
  TickLength dt() const { return dt_; }
  std::int64_t first_tick() const { return first_tick_; }
  std::int64_t last_tick() const { return last_tick_; }
  Result<std::optional<std::string>> attachment(const std::string& name) { return reader_->attachment(name); }

  // The state at a tick; it stays valid until the next call. Fast from one tick to the next.
  Result<const RecordedTick*> tick(std::int64_t tick);
  // The last record of the agent up to the tick of the last call of tick(); null: there is none.
  Result<const RecordedMind*> mind(world::AgentIndex agent);

 private:
  Result<void> read_description();
  Result<void> load(std::size_t chunk);
  Result<void> advance_to(std::int64_t tick);
  Result<void> find_cloud(std::size_t chunk);
  Error damaged(const std::string& what) const;

  std::filesystem::path file_;
  std::unique_ptr<McapReader> reader_;
  Metadata description_, results_;
  RecordedNames names_;
  TickLength dt_;
  std::int64_t first_tick_ = 0, last_tick_ = -1;
  std::vector<std::string> topics_;                  // by channel
  std::map<std::string, world::LinkIndex> link_of_;  // by name

  // The loaded chunk, and how many of its messages have been applied to the state.
  std::size_t chunk_ = ~std::size_t{0};
  struct Stored {
    std::uint16_t channel;
    std::int64_t tick;
    std::string data;
  };
  std::vector<Stored> stored_;
  std::size_t next_ = 0;
  RecordedTick state_;
  // By agent: the last records found in the chunks from minds_from_ on.
  std::map<world::AgentIndex, RecordedMind> minds_;
  std::size_t minds_from_ = 0;
};

}  // namespace volvox::record
