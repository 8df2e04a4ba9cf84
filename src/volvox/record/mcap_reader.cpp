#include "volvox/record/mcap.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>

#include "volvox/record/crc.h"
#include "volvox/record/mcap_fields.h"

namespace volvox::record {
using namespace mcap;
namespace {

constexpr std::uint64_t largest_chunk = 1ull << 30;  // a file that claims more is damaged

}  // namespace

Error McapReader::damaged(const std::string& what) const {
  return Diagnostic{path_.string(), 0, "the recording is damaged: " + what,
                    "give a file that volvox run --record wrote"};
}

Result<std::unique_ptr<McapReader>> McapReader::open(const std::filesystem::path& path) {
  std::unique_ptr<McapReader> reader(new McapReader);
  reader->path_ = path;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) reader->file_.open(path, std::ios::binary);  // a pipe would wait
  if (!reader->file_.is_open())
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

Result<std::uint32_t> McapReader::sum_of(std::uint64_t offset, std::uint64_t length, std::uint32_t before) {
  constexpr std::uint64_t piece = 1 << 20;
  for (const std::uint64_t end = offset + length; offset < end;) {
    auto bytes = read_at(offset, std::min(piece, end - offset));
    if (!bytes.ok()) return bytes.error();
    before = crc_of(*bytes, before);
    offset += bytes->size();
  }
  return before;
}

Result<void> McapReader::scan() {
  file_.seekg(0, std::ios::end);
  size_ = std::max<std::streamoff>(0, file_.tellg());
  auto begin = read_at(0, std::min<std::uint64_t>(size_, magic.size()));
  if (!begin.ok() || *begin != magic)
    return Diagnostic{path_.string(), 0, "this is not an MCAP file", "give a file that volvox run --record wrote"};
  auto end = check_data();
  if (!end.ok()) return end.error();
  if (complete_)
    if (auto whole = check_index(); !whole.ok()) return whole;
  for (std::uint64_t offset = magic.size(); offset < *end;) {
    auto head = read_head(offset);
    if (!head.ok()) return head.error();
    if (!take_record(head->opcode, offset, head->length))
      return damaged(fmt::format("the record at byte {} is malformed", offset));
    offset += record_head + head->length;
  }
  std::stable_sort(chunks_.begin(), chunks_.end(),
                   [](const McapChunk& a, const McapChunk& b) { return a.begin_time < b.begin_time; });
  return {};
}

Result<McapReader::Head> McapReader::read_head(std::uint64_t offset) {
  auto bytes = read_at(offset, record_head);
  if (!bytes.ok()) return bytes.error();
  FieldReader fields(*bytes);
  const auto opcode = fields.number<std::uint8_t>();
  return Head{opcode, fields.number<std::uint64_t>()};
}

// Sums all bytes up to the end of the data, and compares with every sum on the way. Returns where the records end that
// can be used: a killed writer may leave a part of a chunk after the last sum, which is left out.
Result<std::uint64_t> McapReader::check_data() {
  std::uint64_t offset = magic.size(), trusted = 0;
  std::uint32_t sum = crc_of(magic);
  while (offset + record_head <= size_) {
    auto head = read_head(offset);
    if (!head.ok()) return head.error();
    if (head->length > size_ - offset - record_head) break;  // cut off within this record
    const std::uint64_t next = offset + record_head + head->length;
    const std::uint64_t content = offset + record_head;
    if (head->opcode == Opcode::data_end) {
      auto bytes = read_at(content, std::min<std::uint64_t>(head->length, 4));
      if (!bytes.ok()) return bytes.error();
      const auto expected = FieldReader(*bytes).number<std::uint32_t>();
      if (head->length != 4 || (expected != 0 && expected != sum)) return damaged("the sum of its data is wrong");
      complete_ = true;
      data_end_ = offset;
      if (expected != 0 && sums_ == Sums::none) sums_ = Sums::whole;
      return offset;
    }
    if (head->opcode == Opcode::sum_so_far && head->length == sum_record_size) {
      auto bytes = read_at(content, sum_record_size);
      if (!bytes.ok()) return bytes.error();
      FieldReader fields(*bytes);
      const auto place = fields.number<std::uint64_t>();
      if (place != offset || fields.number<std::uint32_t>() != sum)
        return damaged(fmt::format("the sum at byte {} is wrong", offset));
      sums_ = Sums::chunks;
      trusted = next;
    }
    auto summed = sum_of(offset, next - offset, sum);
    if (!summed.ok()) return summed.error();
    sum = *summed;
    offset = next;
  }
  // The run was killed here, or a record is damaged and there is more behind it.
  auto more = find_sum_after(trusted);
  if (!more.ok()) return more.error();
  if (*more) return damaged(fmt::format("a record between the bytes {} and {} is malformed", trusted, **more));
  return sums_ == Sums::none ? offset : trusted;
}

// The place of a sum that says itself that it is there.
Result<std::optional<std::uint64_t>> McapReader::find_sum_after(std::uint64_t offset) {
  const std::string begin = Fields().number(std::uint8_t{Opcode::sum_so_far}).number(sum_record_size).bytes();
  constexpr std::uint64_t piece = 1 << 20;
  const std::uint64_t whole = begin.size() + sum_record_size;
  for (; offset + whole <= size_; offset += piece) {
    auto bytes = read_at(offset, std::min(piece + whole - 1, size_ - offset));
    if (!bytes.ok()) return bytes.error();
    for (auto at = bytes->find(begin); at != std::string::npos && at + whole <= bytes->size();
         at = bytes->find(begin, at + 1))
      if (FieldReader(std::string_view(*bytes).substr(at + begin.size())).number<std::uint64_t>() == offset + at)
        return std::optional(offset + at);
  }
  return std::optional<std::uint64_t>();
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
    // For other programs: recordings are read by their topics. Only its fields must be whole.
    fields.take(2);                                      // id
    for (int text = 0; text < 3; ++text) fields.text();  // name, encoding, data
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

// The index and the footer; the last field of the footer is the sum of both.
Result<void> McapReader::check_index() {
  constexpr std::uint64_t footer = record_head + 20;
  const std::uint64_t begin = data_end_ + record_head + 4;
  const bool cut_off = size_ < begin + footer + magic.size();
  auto index = read_at(begin, size_ - begin);
  if (!index.ok()) return index.error();
  const std::string_view all = *index;
  if (cut_off || !all.ends_with(magic)) {
    complete_ = false;  // killed while it wrote the index, which nobody needs here
    return {};
  }
  const std::string_view summed = all.substr(0, all.size() - magic.size() - 4);
  const auto expected = FieldReader(all.substr(summed.size(), 4)).number<std::uint32_t>();
  if (expected != 0 && expected != crc_of(summed)) return damaged("the sum of its index is wrong");
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
  if (!fields.ok() || (sum != 0 && sum != crc_of(content)))
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
  if (sum != 0 && sum != crc_of(content))
    return damaged(fmt::format("the sum of the chunk at byte {} is wrong", c.offset));
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
