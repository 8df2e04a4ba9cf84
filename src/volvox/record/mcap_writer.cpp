#include "volvox/record/mcap.h"

#include <zstd.h>

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/record/crc.h"
#include "volvox/record/mcap_fields.h"

namespace volvox::record {
using namespace mcap;
namespace {

constexpr std::size_t waiting_chunks = 4;  // with more, the run waits
constexpr int compression_level = 1;

std::string record(std::uint8_t opcode, std::string_view content) {
  return Fields().number(opcode).size(content.size()).raw(content).bytes();
}

std::string schema_record(const McapSchema& s) {
  return record(Opcode::schema, Fields().number(s.id).text(s.name).text(s.encoding).text(s.data).bytes());
}

std::string channel_record(const McapChannel& c) {
  return record(Opcode::channel,
                Fields().number(c.id).number(c.schema).text(c.topic).text(c.message_encoding).map(c.metadata).bytes());
}

}  // namespace

Result<std::unique_ptr<McapWriter>> McapWriter::create(const std::filesystem::path& path, const std::string& library) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file)
    return Diagnostic{path.string(), 0, "the recording cannot be written",
                      "give a folder that can be written, with --out DIR"};
  std::unique_ptr<McapWriter> writer(new McapWriter(std::move(file), path));
  writer->put(magic);
  writer->put(record(Opcode::header, Fields().text("").text(library).bytes()));
  writer->worker_ = std::thread([w = writer.get()] { w->work(); });
  return writer;
}

McapWriter::McapWriter(std::ofstream file, std::filesystem::path path)
    : file_(std::move(file)), path_(std::move(path)) {}

McapWriter::~McapWriter() {
  if (!closed_) (void)close();
}

std::uint16_t McapWriter::add_schema(const std::string& name, const std::string& encoding, const std::string& data) {
  schemas_.push_back({narrow<std::uint16_t>(schemas_.size() + 1), name, encoding, data});
  Chunk between;
  between.bytes = schema_record(schemas_.back());
  between.opcode = Opcode::schema;
  hand_over(std::move(between));
  return schemas_.back().id;
}

std::uint16_t McapWriter::add_channel(std::uint16_t schema, const std::string& topic,
                                      const std::string& message_encoding, const Metadata& metadata) {
  channels_.push_back({narrow<std::uint16_t>(channels_.size()), schema, topic, message_encoding, metadata});
  Chunk between;
  between.bytes = channel_record(channels_.back());
  between.opcode = Opcode::channel;
  hand_over(std::move(between));
  return channels_.back().id;
}

void McapWriter::write(std::uint16_t channel, std::uint32_t sequence, std::uint64_t time, std::span<const char> data) {
  begin(channel, sequence, time).append(data.data(), data.size());
  end();
}

std::string& McapWriter::begin(std::uint16_t channel, std::uint32_t sequence, std::uint64_t time) {
  VOLVOX_ASSERT(!closed_ && channel < channels_.size());
  char head[record_head + 2 + 4 + 8 + 8] = {};
  const auto put_at = [&](std::size_t at, auto value) { std::memcpy(head + at, &value, sizeof value); };
  put_at(0, std::uint8_t{Opcode::message});
  put_at(9, channel);
  put_at(11, sequence);
  put_at(15, time);  // logged
  put_at(23, time);  // published
  message_at_ = chunk_.bytes.size();
  chunk_.index[channel].push_back({time, message_at_});
  chunk_.bytes.append(head, sizeof head);
  chunk_.begin_time = std::min(chunk_.begin_time, time);
  chunk_.end_time = std::max(chunk_.end_time, time);
  begin_time_ = std::min(begin_time_, time);
  end_time_ = std::max(end_time_, time);
  ++counts_[channel];
  return chunk_.bytes;
}

void McapWriter::end() {
  VOLVOX_ASSERT(message_at_ + record_head + 2 + 4 + 8 + 8 <= chunk_.bytes.size());
  const std::uint64_t length = chunk_.bytes.size() - message_at_ - record_head;
  std::memcpy(chunk_.bytes.data() + message_at_ + 1, &length, sizeof length);
}

void McapWriter::add_metadata(const std::string& name, const Metadata& metadata) {
  flush();
  Chunk between;
  between.bytes = record(Opcode::metadata, Fields().text(name).map(metadata).bytes());
  between.opcode = Opcode::metadata;
  between.index_opcode = Opcode::metadata_index;
  between.index_tail = Fields().text(name).bytes();
  hand_over(std::move(between));
}

void McapWriter::add_attachment(const std::string& name, const std::string& media_type, std::string data) {
  flush();
  const std::uint64_t size = data.size(), time = 0;
  const std::string content =
      Fields().number(time).number(time).text(name).text(media_type).number(size).raw(data).bytes();
  Chunk between;
  between.bytes = record(Opcode::attachment, Fields().raw(content).number(crc_of(content)).bytes());
  between.opcode = Opcode::attachment;
  between.index_opcode = Opcode::attachment_index;
  between.index_tail = Fields().number(time).number(time).number(size).text(name).text(media_type).bytes();
  hand_over(std::move(between));
}

void McapWriter::flush() {
  if (chunk_is_empty()) return;
  Chunk next;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      next.bytes = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  next.bytes.reserve(chunk_.bytes.size() + chunk_.bytes.size() / 8);
  hand_over(std::exchange(chunk_, std::move(next)));
}

void McapWriter::hand_over(Chunk chunk) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return queue_.size() < waiting_chunks; });
  queue_.push_back(std::move(chunk));
  wake_.notify_one();
}

void McapWriter::work() {
  while (true) {
    Chunk chunk;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      chunk = std::move(queue_.front());
      queue_.pop_front();
    }
    room_.notify_one();
    if (chunk.opcode != 0) write_between(chunk);
    else write_chunk(chunk);
    put(record(Opcode::sum_so_far, Fields().number(position_).number(sum_).bytes()));
    // Flushed, so that the file of a killed process ends with a whole chunk and its sum.
    file_.flush();
    failed_ = failed_ || !file_;
    if (chunk.opcode != 0) continue;
    chunk.bytes.clear();
    const std::lock_guard lock(mutex_);
    if (spare_.size() < waiting_chunks) spare_.push_back(std::move(chunk.bytes));
  }
}

void McapWriter::put(std::string_view bytes) {
  file_.write(bytes.data(), bytes.size());
  position_ += bytes.size();
  sum_ = crc_of(bytes, sum_);
}

void McapWriter::write_between(const Chunk& between) {
  if (between.index_opcode != 0)
    indexes_[between.index_opcode] += record(
        between.index_opcode, Fields().number(position_).size(between.bytes.size()).raw(between.index_tail).bytes());
  attachments_ += between.opcode == Opcode::attachment;
  metadata_ += between.opcode == Opcode::metadata;
  put(between.bytes);
}

void McapWriter::write_chunk(const Chunk& c) {
  const std::uint64_t offset = position_;
  std::string compressed(ZSTD_compressBound(c.bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(compressed.data(), compressed.size(), c.bytes.data(), c.bytes.size(), compression_level);
  if (ZSTD_isError(size)) {
    failed_ = true;
    return;
  }
  compressed.resize(size);
  const std::string head = Fields()
                               .number(c.begin_time)
                               .number(c.end_time)
                               .size(c.bytes.size())
                               .number(crc_of(c.bytes))
                               .text("zstd")
                               .size(size)
                               .bytes();
  put(Fields().number(std::uint8_t{Opcode::chunk}).size(head.size() + size).bytes());
  put(head);
  put(compressed);
  const std::uint64_t length = position_ - offset;

  Fields offsets;
  const std::uint64_t index_begin = position_;
  for (const auto& [channel, entries] : c.index) {
    offsets.number(channel).number(position_);
    Fields list;
    for (const IndexEntry& entry : entries) list.number(entry.time).number(entry.offset);
    put(record(Opcode::message_index, Fields().number(channel).text(list.bytes()).bytes()));
  }
  indexes_[Opcode::chunk_index] += record(Opcode::chunk_index, Fields()
                                                                   .number(c.begin_time)
                                                                   .number(c.end_time)
                                                                   .number(offset)
                                                                   .number(length)
                                                                   .text(offsets.bytes())
                                                                   .number(position_ - index_begin)
                                                                   .text("zstd")
                                                                   .size(size)
                                                                   .size(c.bytes.size())
                                                                   .bytes());
  ++chunks_;
}

std::string McapWriter::summary(std::uint64_t begins_at) const {
  std::map<std::uint8_t, std::string> groups = indexes_;
  for (const McapSchema& s : schemas_) groups[Opcode::schema] += schema_record(s);
  for (const McapChannel& c : channels_) groups[Opcode::channel] += channel_record(c);
  std::uint64_t messages = 0;
  Fields counts;
  for (const auto& [channel, count] : counts_) {
    counts.number(channel).number(count);
    messages += count;
  }
  groups[Opcode::statistics] = record(Opcode::statistics, Fields()
                                                              .number(messages)
                                                              .number(narrow<std::uint16_t>(schemas_.size()))
                                                              .number(narrow<std::uint32_t>(channels_.size()))
                                                              .number(attachments_)
                                                              .number(metadata_)
                                                              .number(chunks_)
                                                              .number(messages > 0 ? begin_time_ : 0)
                                                              .number(end_time_)
                                                              .text(counts.bytes())
                                                              .bytes());
  std::string bytes, offsets;
  for (const auto& [opcode, records] : groups) {
    offsets += record(Opcode::summary_offset,
                      Fields().number(opcode).number(begins_at + bytes.size()).size(records.size()).bytes());
    bytes += records;
  }
  const std::uint64_t offsets_at = begins_at + bytes.size();
  bytes += offsets;
  // The checksum covers the summary and the footer up to the checksum itself.
  bytes += Fields()
               .number(std::uint8_t{Opcode::footer})
               .number(std::uint64_t{20})
               .number(begins_at)
               .number(offsets_at)
               .bytes();
  return Fields().raw(bytes).number(crc_of(bytes)).bytes();
}

Result<void> McapWriter::close() {
  if (!closed_) {
    flush();
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_one();
    worker_.join();
    put(record(Opcode::data_end, Fields().number(sum_).bytes()));
    put(summary(position_));
    put(magic);
    file_.close();
    failed_ = failed_ || !file_;
    closed_ = true;
  }
  if (failed_)
    return Diagnostic{path_.string(), 0, "the recording could not be written to its end",
                      "see whether the disk is full"};
  return {};
}

}  // namespace volvox::record
