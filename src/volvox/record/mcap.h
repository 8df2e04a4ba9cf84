// Writes and reads MCAP, the container format of robot logs (https://mcap.dev/spec): the record kinds that recordings
// need, little-endian, in chunks compressed by zstd. Times are in nanoseconds. Knows nothing of robots.
//
// A chunk is flushed to the file before the next one is written, and a sum of the file so far after it, so that the
// file of a killed process can be read and checked up to its last whole chunk.
// A writer owns its file and has a thread of its own; one thread calls it. A reader is for one thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::record {

using Metadata = std::map<std::string, std::string>;

struct McapSchema {
  std::uint16_t id = 0;  // from 1
  std::string name, encoding;
  std::string data;
};

struct McapChannel {
  std::uint16_t id = 0;
  std::uint16_t schema = 0;
  std::string topic, message_encoding;
  Metadata metadata;
};

struct McapMessage {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t time = 0;  // ns
  std::span<const char> data;
};

struct McapChunk {
  std::uint64_t begin_time = 0, end_time = 0;  // ns, of its messages
  std::uint64_t offset = 0, length = 0;        // of the chunk's record in the file
  std::uint64_t uncompressed_size = 0;
};

// Compresses and writes on its own thread; the caller waits only if the disk is so slow that several chunks are queued.
// One thread calls it.
class McapWriter {
 public:
  // An error names the file. An existing file is overwritten.
  static Result<std::unique_ptr<McapWriter>> create(const std::filesystem::path& file, const std::string& library);
  ~McapWriter();  // closes

  // Before the first message.
  std::uint16_t add_schema(const std::string& name, const std::string& encoding, const std::string& data);
  std::uint16_t add_channel(std::uint16_t schema, const std::string& topic, const std::string& message_encoding,
                            const Metadata& metadata = {});

  void write(std::uint16_t channel, std::uint32_t sequence, std::uint64_t time, std::span<const char> data);
  // The same without a copy, for large messages: append the data to the returned string, then call end().
  std::string& begin(std::uint16_t channel, std::uint32_t sequence, std::uint64_t time);
  void end();
  void add_metadata(const std::string& name, const Metadata& metadata);
  void add_attachment(const std::string& name, const std::string& media_type, std::string data);

  // Ends the chunk, so that everything written so far reaches the file.
  void flush();
  bool chunk_is_empty() const { return chunk_.bytes.empty(); }
  std::size_t chunk_size() const { return chunk_.bytes.size(); }

  // Writes the index and the footer. Reports the error of any earlier write, too.
  Result<void> close();

 private:
  struct IndexEntry {
    std::uint64_t time, offset;
  };
  struct Chunk {
    std::string bytes;
    std::uint64_t begin_time = ~0ull, end_time = 0;
    std::map<std::uint16_t, std::vector<IndexEntry>> index;
    // Otherwise a record between chunks, and the rest of its entry in the summary.
    std::uint8_t opcode = 0, index_opcode = 0;
    std::string index_tail;
  };

  McapWriter(std::ofstream file, std::filesystem::path path);
  void hand_over(Chunk chunk);
  void work();
  void write_chunk(const Chunk& chunk);
  void write_between(const Chunk& record);
  void put(std::string_view bytes);
  std::string summary(std::uint64_t begins_at) const;

  // Used by the worker thread only, until it has ended.
  std::ofstream file_;
  std::filesystem::path path_;
  std::uint64_t position_ = 0;
  std::uint32_t sum_ = 0;  // of all bytes so far
  bool failed_ = false;
  std::map<std::uint8_t, std::string> indexes_;  // records of the summary by their kind
  std::uint32_t chunks_ = 0, attachments_ = 0, metadata_ = 0;

  Chunk chunk_;                 // being filled
  std::size_t message_at_ = 0;  // in it, where the last one begins
  std::vector<McapSchema> schemas_;
  std::vector<McapChannel> channels_;
  std::map<std::uint16_t, std::uint64_t> counts_;
  std::uint64_t begin_time_ = ~0ull, end_time_ = 0;

  std::mutex mutex_;  // guards the queue
  std::condition_variable wake_, room_;
  std::deque<Chunk> queue_;
  std::vector<std::string> spare_;  // buffers of written chunks, to reuse: new pages cost more than filling them
  bool closing_ = false, closed_ = false;
  std::thread worker_;
};

// Opens an MCAP file of any writer, with chunks compressed by zstd or not compressed. It reads record by record up to
// the last whole chunk and does not use the index, so a truncated file needs no special case. For one thread.
class McapReader {
 public:
  // Reads the whole file and compares it with its sums. An error says that it is damaged; a file that was cut off is
  // not.
  static Result<std::unique_ptr<McapReader>> open(const std::filesystem::path& file);

  bool complete() const { return complete_; }  // false: the writer was killed before close()
  // What was compared: nothing, because the file has no sums; the sum of a complete file; a sum after every chunk.
  enum class Sums { none, whole, chunks };
  Sums sums() const { return sums_; }
  const std::vector<McapChannel>& channels() const { return channels_; }
  const McapChannel* channel(const std::string& topic) const;
  const std::vector<McapChunk>& chunks() const { return chunks_; }  // by time
  const std::map<std::string, Metadata>& metadata() const { return metadata_; }
  // Reads it from the file; empty if there is none of this name.
  Result<std::optional<std::string>> attachment(const std::string& name);

  // Calls visit for every message of a chunk, in the order in which they were written.
  Result<void> read_chunk(const McapChunk& chunk, const std::function<void(const McapMessage&)>& visit);

 private:
  struct Head {
    std::uint8_t opcode;
    std::uint64_t length;
  };
  Result<void> scan();
  Result<std::uint64_t> check_data();
  Result<void> check_index();
  Result<std::optional<std::uint64_t>> find_sum_after(std::uint64_t offset);
  Result<std::uint32_t> sum_of(std::uint64_t offset, std::uint64_t length, std::uint32_t before);
  Result<Head> read_head(std::uint64_t offset);
  Result<std::string> read_at(std::uint64_t offset, std::uint64_t length);
  bool take_record(std::uint8_t opcode, std::uint64_t offset, std::uint64_t length);
  Error damaged(const std::string& what) const;

  std::filesystem::path path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
  bool complete_ = false;
  Sums sums_ = Sums::none;
  std::uint64_t data_end_ = 0;  // where that record is, in a complete file
  std::vector<McapChannel> channels_;
  std::vector<McapChunk> chunks_;
  std::map<std::string, Metadata> metadata_;
  struct Place {
    std::uint64_t offset, length;
  };
  std::map<std::string, Place> attachments_;
};

}  // namespace volvox::record
