#include "volvox/record/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "volvox/base/index.h"
#include "volvox/record/cloud_message.h"
#include "volvox/record/protobuf.h"
#include "volvox/record/recording_format.h"
#include "volvox/record/topic_reader.h"

namespace volvox::record {
namespace fs = std::filesystem;

Error Recording::damaged(const std::string& what) const {
  return Diagnostic{file_.string(), 0, "the recording is damaged: " + what, "record the run again"};
}

std::string RecordedNames::outlet(std::size_t agent, std::size_t outlet) const {
  const std::size_t place = agent < first_outlet.size() ? first_outlet[agent] + outlet : outlets.size();
  return place < outlets.size() ? outlets[place] : std::to_string(outlet);
}

Result<std::unique_ptr<Recording>> Recording::open(const fs::path& folder_or_file) {
  std::unique_ptr<Recording> recording(new Recording);
  recording->file_ = fs::is_directory(folder_or_file) ? folder_or_file / format::file_name : folder_or_file;
  if (!fs::exists(recording->file_))
    return Diagnostic{recording->file_.string(), 0, "there is no recording here",
                      "give the folder of a run that was made with --record"};
  auto reader = McapReader::open(recording->file_);
  if (!reader.ok()) return reader.error();
  recording->reader_ = std::move(*reader);
  if (auto read = recording->read_description(); !read.ok()) return read.error();
  return recording;
}

std::string Recording::warning() const {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? file_.string() + ": " : "; ") + what; };
  if (!complete())
    add(fmt::format("the run was cut off; the recording ends with its last whole chunk, at {:.3f} s",
                    dt_.start_of(std::max(first_tick_, last_tick_)).seconds()));
  if (reader_->sums() == McapReader::Sums::none)
    add("it was written before recordings had sums, so that damage may go unnoticed: volvox replay --verify compares "
        "it "
        "with the run");
  if (reader_->sums() == McapReader::Sums::whole)
    add("it was written before every chunk had a sum; the sum of the whole file is right");
  return text;
}

Result<void> Recording::read_description() {
  const auto found = reader_->metadata().find("volvox");
  if (found == reader_->metadata().end() && !complete())
    return Diagnostic{file_.string(), 0, "this file was cut off before anything of a run was in it",
                      "copy it again, or run the experiment again with --record"};
  if (found == reader_->metadata().end())
    return Diagnostic{file_.string(), 0, "this MCAP file was not written by Volvox",
                      "give a file that volvox run --record wrote"};
  description_ = found->second;
  if (description_["format"] != format::version)
    return Diagnostic{
        file_.string(), 0,
        fmt::format("the recording is of format '{}', this program reads {}", description_["format"], format::version),
        "read it with the version of Volvox that wrote it"};
  if (const auto results = reader_->metadata().find("results"); results != reader_->metadata().end())
    results_ = results->second;
  auto dt = TickLength::parse(description_["dt"]);
  if (!dt.ok()) return damaged("its dt is not valid");
  dt_ = *dt;
  auto names = reader_->attachment("names.json");
  if (!names.ok()) return names.error();
  if (!*names) return damaged("it has no names");
  try {
    const auto json = nlohmann::json::parse(**names);
    for (const auto& [key, list] : {std::pair{"modules", &names_.modules},
                                    {"links", &names_.links},
                                    {"joints", &names_.joints},
                                    {"docks", &names_.docks},
                                    {"agents", &names_.agents}})
      *list = json.at(key).get<std::vector<std::string>>();
    if (json.contains("outlets") && json.at("first_outlet").size() == names_.agents.size()) {
      names_.outlets = json.at("outlets").get<std::vector<std::string>>();
      names_.first_outlet = json.at("first_outlet").get<std::vector<std::size_t>>();
    }
    for (const auto& section : json.at("sections")) names_.sections.push_back({section.at(0), section.at(1)});
  } catch (const nlohmann::json::exception& error) {
    return damaged(error.what());
  }
  for (world::LinkIndex l = 0; l < names_.links.size(); ++l) link_of_[names_.links[l]] = l;
  for (const McapChannel& channel : reader_->channels()) {
    if (channel.id >= topics_.size()) topics_.resize(channel.id + 1u);
    topics_[channel.id] = channel.topic;
  }
  if (reader_->chunks().empty()) return {};
  // Messages carry the number of their tick; the first and the last give the range.
  const auto ends = [&](const McapChunk& chunk, bool last) -> Result<std::int64_t> {
    std::optional<std::int64_t> tick;
    auto read = reader_->read_chunk(chunk, [&](const McapMessage& message) {
      if (!tick || last) tick = message.sequence;
    });
    if (!read.ok()) return read.error();
    if (!tick) return damaged("a chunk is empty");
    return *tick;
  };
  auto first = ends(reader_->chunks().front(), false), last = ends(reader_->chunks().back(), true);
  if (!first.ok()) return first.error();
  if (!last.ok()) return last.error();
  first_tick_ = *first;
  last_tick_ = *last;
  return {};
}

bool Recording::has_topic(const std::string& topic) const {
  return std::find(topics_.begin(), topics_.end(), topic) != topics_.end();
}

Result<void> Recording::load(std::size_t chunk) {
  // From one chunk to the next the cloud goes on as it is; otherwise it would be put together again from far back.
  const bool reads_on = chunk > 0 && chunk == chunk_ + 1;
  if (reads_on)
    if (auto advanced = advance_to(last_tick_); !advanced.ok()) return advanced.error();
  std::vector<sim::CloudItem> cloud;
  if (reads_on) cloud = std::move(state_.cloud);
  if (!reads_on) {
    minds_.clear();
    minds_from_ = chunk;
  }
  stored_.clear();
  next_ = 0;
  chunk_ = chunk;
  state_ = {};
  state_.links.resize(names_.links.size());
  state_.joints.resize(names_.joints.size());
  state_.docks.resize(names_.docks.size());
  auto read = reader_->read_chunk(reader_->chunks()[chunk], [&](const McapMessage& m) {
    stored_.push_back({m.channel, m.sequence, std::string(m.data.data(), m.data.size())});
  });
  state_.cloud = std::move(cloud);
  if (read.ok() && !reads_on) read = find_cloud(chunk);
  if (!read.ok()) chunk_ = ~std::size_t{0};
  return read;
}

// The state of the cloud before this chunk: that of the last message with all items, and what has changed since.
Result<void> Recording::find_cloud(std::size_t chunk) {
  const auto is_cloud = [&](std::uint16_t channel) {
    return channel < topics_.size() && topics_[channel] == format::cloud;
  };
  const auto first = std::find_if(stored_.begin(), stored_.end(), [&](const Stored& s) { return is_cloud(s.channel); });
  if (first == stored_.end()) return {};
  const std::int64_t whole = whole_of_cloud(first->data);
  if (whole < first_tick_ || whole > first->tick) return damaged("a message of the cloud has no beginning");
  if (whole == first->tick) return {};
  std::size_t from = chunk;
  const std::uint64_t time = dt_.start_of(whole).ns;
  while (from > 0 && reader_->chunks()[from].begin_time > time) --from;
  bool good = true;
  for (; from < chunk; ++from) {
    auto read = reader_->read_chunk(reader_->chunks()[from], [&](const McapMessage& m) {
      if (good && is_cloud(m.channel) && m.sequence >= whole)
        good = read_cloud({m.data.data(), m.data.size()}, state_.cloud);
    });
    if (!read.ok()) return read;
  }
  return good ? Result<void>() : damaged("a message of the cloud is malformed");
}

Result<const RecordedTick*> Recording::tick(std::int64_t tick) {
  if (tick < first_tick_ || tick > last_tick_)
    return Error(fmt::format("the recording holds ticks {} to {}, not {}", first_tick_, last_tick_, tick),
                 "choose a tick in this range");
  const std::uint64_t time = dt_.start_of(tick).ns;
  const auto& chunks = reader_->chunks();
  std::size_t chunk = 0;
  while (chunk + 1 < chunks.size() && chunks[chunk + 1].begin_time <= time) ++chunk;
  if (chunk != chunk_ || state_.tick > tick)
    if (auto loaded = load(chunk); !loaded.ok()) return loaded.error();
  if (auto advanced = advance_to(tick); !advanced.ok()) return advanced.error();
  if (state_.tick != tick) return damaged(fmt::format("tick {} is missing", tick));
  return &state_;
}

// Applies the messages of the loaded chunk up to a tick.
Result<void> Recording::advance_to(std::int64_t tick) {
  TopicReader reader{names_, link_of_, state_, minds_};
  for (; next_ < stored_.size() && stored_[next_].tick <= tick; ++next_) {
    const Stored& stored = stored_[next_];
    if (stored.tick != state_.tick || next_ == 0) {
      state_.arrivals.clear(), state_.log.clear(), state_.inputs.clear(), state_.traffic = {};
      state_.dock_events.clear();
      state_.metrics.reset();
      state_.minds.clear();
      state_.tick = stored.tick;
      state_.time = dt_.start_of(stored.tick);
    }
    const std::string topic = stored.channel < topics_.size() ? topics_[stored.channel] : "";
    if (!reader.read(topic, stored.data))
      return damaged(fmt::format("a message of {} at tick {} is malformed", topic, state_.tick));
  }
  return {};
}

// Of many modules each is recorded once in many chunks; searching back to the beginning would take too long.
Result<const RecordedMind*> Recording::mind(world::AgentIndex agent) {
  constexpr std::size_t farthest = 64;  // chunks
  for (std::size_t read = 0; !minds_.contains(agent) && minds_from_ > 0 && read < farthest; ++read) {
    std::map<world::AgentIndex, RecordedMind> older;
    auto taken = reader_->read_chunk(reader_->chunks()[--minds_from_], [&](const McapMessage& message) {
      if (message.channel >= topics_.size() || topics_[message.channel] != format::minds) return;
      protobuf::Reader reader(message.data);
      world::AgentIndex whose = 0;
      RecordedMind mind{message.sequence, {}};
      while (reader.next()) {
        if (reader.field() == 1) whose = low_word(reader.integer());
        if (reader.field() == 2) mind.json = reader.text();
      }
      older[whose] = std::move(mind);
    });
    if (!taken.ok()) return taken.error();
    minds_.merge(older);  // keeps the newer ones
  }
  const auto found = minds_.find(agent);
  return found == minds_.end() ? nullptr : &found->second;
}

}  // namespace volvox::record
