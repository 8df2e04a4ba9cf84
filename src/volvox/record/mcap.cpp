#include "volvox/record/mcap.h"
#include "volvox/base/index.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace volvox::record {
namespace {

constexpr std::string_view magic{"\x89MCAP0\r\n", 8};
constexpr std::size_t record_head = 9;               // opcode and length
constexpr std::size_t waiting_chunks = 4;            // with more, the run waits
constexpr std::uint64_t largest_chunk = 1ull << 30;  // a file that claims more is damaged
constexpr int compression_level = 1;

enum Opcode : std::uint8_t {
  header = 1,
  footer = 2,
  schema = 3,
  channel = 4,
  message = 5,
  chunk = 6,
  message_index = 7,
  chunk_index = 8,
  attachment = 9,
  attachment_index = 10,
  statistics = 11,
  metadata = 12,
  metadata_index = 13,
  summary_offset = 14,
  data_end = 15
};

// CRC-32 of zlib and PNG, which MCAP uses too.
class Crc {
 public:
  explicit Crc(std::uint32_t before = 0) : value_(~before) {}  // continues from an earlier value()
  void add(std::string_view bytes) {
    for (const char c : bytes) value_ = table()[(value_ ^ c) & 0xff] ^ (value_ >> 8);
  }
  std::uint32_t value() const { return ~value_; }

 private:
  static const std::array<std::uint32_t, 256>& table() {
    static const auto made = [] {
      std::array<std::uint32_t, 256> t{};
      for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
        t[i] = c;
      }
      return t;
    }();
    return made;
  }
  std::uint32_t value_;
};

std::uint32_t crc_of(std::string_view bytes, std::uint32_t before) {
  Crc crc(before);
  crc.add(bytes);
  return crc.value();
}

// Little-endian fields, one after another.
class Fields {
 public:
  template <class T>
  Fields& number(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    bytes_.append(bytes, sizeof(T));
    return *this;
  }
  Fields& size(std::uint64_t bytes) { return number(bytes); }
  Fields& text(std::string_view value) {
    number(narrow<std::uint32_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  Fields& map(const Metadata& values) {
    Fields entries;
    for (const auto& [key, value] : values) entries.text(key).text(value);
    return text(entries.bytes_);
  }
  Fields& raw(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

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

// Reads fields. After one that does not fit, all further fields are empty and ok() is false.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T number() {
    T value{};
    const std::string_view bytes = take(sizeof(T));
    if (ok_) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::string_view text() { return take(number<std::uint32_t>()); }
  std::string_view long_text() { return take(number<std::uint64_t>()); }
  Metadata map() {
    Metadata values;
    FieldReader entries(text());
    while (entries.ok() && !entries.rest_.empty()) {
      std::string key(entries.text());
      values[std::move(key)] = std::string(entries.text());
    }
    ok_ = ok_ && entries.ok();
    return values;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

// --- Writing -------------------------------------------------------------------------------

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
  Crc crc;
  crc.add(content);
  Chunk between;
  between.bytes = record(Opcode::attachment, Fields().raw(content).number(crc.value()).bytes());
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
    // Flushed, so that the file of a killed process ends with a whole chunk.
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
  // No checksum of the bytes (0), as the format allows: zstd detects most damage, and the checksum would cost as much
  // as the compression.
  const std::string head = Fields()
                               .number(c.begin_time)
                               .number(c.end_time)
                               .size(c.bytes.size())
                               .number(std::uint32_t{0})
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
  Crc crc;
  crc.add(bytes);
  return Fields().raw(bytes).number(crc.value()).bytes();
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

// --- Reading -------------------------------------------------------------------------------

Error McapReader::damaged(const std::string& what) const {
  return Diagnostic{path_.string(), 0, "the recording is damaged: " + what,
                    "give a file that volvox run --record wrote"};
}

Result<std::unique_ptr<McapReader>> McapReader::open(const std::filesystem::path& path) {
  std::unique_ptr<McapReader> reader(new McapReader);
  reader->path_ = path;
  reader->file_.open(path, std::ios::binary);
  if (!reader->file_)
    return Diagnostic{path.string(), 0, "the recording cannot be opened",
                      "give the folder of a run that was made with --record"};
  if (auto scanned = reader->scan(); !scanned.ok()) return scanned.error();
  return reader;
}

const McapChannel* McapReader::channel(const std::string& topic) const {
  for (const McapChannel& c : channels_)
    if (c.topic == topic) return &c;
  return nullptr;
}

Result<std::string> McapReader::read_at(std::uint64_t offset, std::uint64_t length) {
  if (length > largest_chunk || offset + length > size_) return damaged("a record is longer than the file");
  std::string bytes(length, '\0');
  file_.clear();
  file_.seekg(offset);
  file_.read(bytes.data(), length);
  if (!file_) return damaged("it cannot be read");
  return bytes;
}

Result<void> McapReader::scan() {
  file_.seekg(0, std::ios::end);
  size_ = std::max<std::streamoff>(0, file_.tellg());
  auto begin = read_at(0, std::min<std::uint64_t>(size_, magic.size()));
  if (!begin.ok() || *begin != magic)
    return Diagnostic{path_.string(), 0, "this is not an MCAP file", "give a file that volvox run --record wrote"};
  std::uint64_t offset = magic.size();
  while (offset + record_head <= size_) {
    auto head = read_at(offset, record_head);
    if (!head.ok()) return head.error();
    FieldReader fields(*head);
    const auto opcode = fields.number<std::uint8_t>();
    const auto length = fields.number<std::uint64_t>();
    if (length > size_ - offset - record_head) break;  // truncated within this record
    if (opcode == Opcode::data_end) {
      complete_ = true;
      data_end_ = offset;
      break;
    }
    if (!take_record(opcode, offset, length)) return damaged(fmt::format("the record at byte {} is malformed", offset));
    offset += record_head + length;
  }
  std::stable_sort(chunks_.begin(), chunks_.end(),
                   [](const McapChunk& a, const McapChunk& b) { return a.begin_time < b.begin_time; });
  return {};
}

bool McapReader::take_record(std::uint8_t opcode, std::uint64_t offset, std::uint64_t length) {
  constexpr std::uint64_t chunk_head = 28;  // times, size, sum
  if (opcode == Opcode::chunk) {
    auto bytes = length >= chunk_head ? read_at(offset + record_head, chunk_head) : Result<std::string>(damaged(""));
    if (!bytes.ok()) return false;
    FieldReader fields(*bytes);
    McapChunk c;
    c.begin_time = fields.number<std::uint64_t>();
    c.end_time = fields.number<std::uint64_t>();
    c.uncompressed_size = fields.number<std::uint64_t>();
    c.offset = offset;
    c.length = length + record_head;
    chunks_.push_back(c);
    return c.begin_time <= c.end_time && c.uncompressed_size <= largest_chunk;
  }
  if (opcode == Opcode::attachment) {
    // Its name, without its content: the content may be large.
    auto bytes = read_at(offset + record_head, std::min<std::uint64_t>(length, 4096));
    if (!bytes.ok()) return false;
    FieldReader fields(*bytes);
    fields.take(16);
    const std::string name(fields.text());
    if (fields.ok()) attachments_[name] = {offset + record_head, length};
    return fields.ok();
  }
  if (opcode != Opcode::schema && opcode != Opcode::channel && opcode != Opcode::metadata) return true;
  auto bytes = read_at(offset + record_head, length);
  if (!bytes.ok()) return false;
  FieldReader fields(*bytes);
  if (opcode == Opcode::schema) {
    McapSchema s;
    s.id = fields.number<std::uint16_t>();
    s.name = fields.text();
    s.encoding = fields.text();
    s.data = fields.text();
    schemas_.push_back(std::move(s));
  } else if (opcode == Opcode::channel) {
    McapChannel c;
    c.id = fields.number<std::uint16_t>();
    c.schema = fields.number<std::uint16_t>();
    c.topic = fields.text();
    c.message_encoding = fields.text();
    c.metadata = fields.map();
    channels_.push_back(std::move(c));
  } else {
    std::string name(fields.text());
    metadata_[std::move(name)] = fields.map();
  }
  return fields.ok();
}

// Messages are checked when they are read; this checks the rest.
Result<void> McapReader::check() {
  for (const auto& [name, place] : attachments_)
    if (auto read = attachment(name); !read.ok()) return read.error();
  if (!complete_) return {};  // a killed run has no checksums and no index
  std::uint32_t sum = 0;
  constexpr std::uint64_t piece = 1 << 20;
  for (std::uint64_t offset = 0; offset < data_end_; offset += piece) {
    auto bytes = read_at(offset, std::min(piece, data_end_ - offset));
    if (!bytes.ok()) return bytes.error();
    sum = crc_of(*bytes, sum);
  }
  auto data_end = read_at(data_end_ + record_head, 4);
  if (!data_end.ok()) return data_end.error();
  const auto expected = FieldReader(*data_end).number<std::uint32_t>();
  if (expected != 0 && expected != sum) return damaged("the sum of its data is wrong");

  // The index and the footer; the last field of the footer is the checksum of both.
  constexpr std::uint64_t footer = record_head + 20;
  const std::uint64_t begin = data_end_ + record_head + 4;
  if (size_ < begin + footer + magic.size()) return damaged("its index is cut off");
  auto index = read_at(begin, size_ - begin);
  if (!index.ok()) return index.error();
  const std::string_view all = *index, summed = all.substr(0, all.size() - magic.size() - 4);
  if (all.substr(all.size() - magic.size()) != magic) return damaged("its end is not that of a recording");
  if (FieldReader(all.substr(summed.size(), 4)).number<std::uint32_t>() != crc_of(summed, 0))
    return damaged("the sum of its index is wrong");
  return {};
}

Result<std::optional<std::string>> McapReader::attachment(const std::string& name) {
  const auto found = attachments_.find(name);
  if (found == attachments_.end()) return std::optional<std::string>();
  auto bytes = read_at(found->second.offset, found->second.length);
  if (!bytes.ok()) return bytes.error();
  if (bytes->size() < 4) return damaged("an attachment is too short");
  const std::string_view content = std::string_view(*bytes).substr(0, bytes->size() - 4);
  FieldReader fields(content);
  fields.take(16);
  fields.text();
  fields.text();
  const std::string_view data = fields.long_text();
  const auto sum = FieldReader(std::string_view(*bytes).substr(content.size())).number<std::uint32_t>();
  Crc crc;
  crc.add(content);
  if (!fields.ok() || (sum != 0 && sum != crc.value()))
    return damaged(fmt::format("the attachment '{}' is not whole", name));
  return std::optional<std::string>(data);
}

Result<void> McapReader::read_chunk(const McapChunk& c, const std::function<void(const McapMessage&)>& visit) {
  auto bytes = read_at(c.offset + record_head, c.length - record_head);
  if (!bytes.ok()) return bytes.error();
  FieldReader fields(*bytes);
  fields.take(24);
  const auto sum = fields.number<std::uint32_t>();
  const std::string_view compression = fields.text();
  const std::string_view stored = fields.long_text();
  if (!fields.ok()) return damaged("a chunk is too short");
  std::string content;
  if (compression == "zstd") {
    // Checked before allocating: a damaged size may be any number.
    if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != c.uncompressed_size)
      return damaged(fmt::format("the chunk at byte {} is not of the size that it claims", c.offset));
    content.resize(c.uncompressed_size);
    const std::size_t size = ZSTD_decompress(content.data(), content.size(), stored.data(), stored.size());
    if (ZSTD_isError(size) || size != content.size())
      return damaged(fmt::format("the chunk at byte {} cannot be decompressed", c.offset));
  } else if (compression.empty()) {
    content = stored;
  } else {
    return damaged(fmt::format("its chunks are compressed by '{}', which this program does not read", compression));
  }
  if (sum != 0) {
    Crc crc;
    crc.add(content);
    if (crc.value() != sum) return damaged(fmt::format("the sum of the chunk at byte {} is wrong", c.offset));
  }
  FieldReader records(content);
  while (records.ok() && !records.at_end()) {
    const auto opcode = records.number<std::uint8_t>();
    FieldReader body(records.long_text());
    if (opcode != Opcode::message) continue;
    McapMessage m;
    m.channel = body.number<std::uint16_t>();
    m.sequence = body.number<std::uint32_t>();
    m.time = body.number<std::uint64_t>();
    body.number<std::uint64_t>();
    if (!body.ok()) return damaged("a message is too short");
    m.data = body.rest();
    visit(m);
  }
  if (!records.ok()) return damaged("a chunk ends in the middle of a message");
  return {};
}

}  // namespace volvox::record
