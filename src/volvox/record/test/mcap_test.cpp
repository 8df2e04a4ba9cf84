#include "volvox/record/mcap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "volvox/base/test/temporary_folder.h"
#include "volvox/record/crc.h"
#include "volvox/record/protobuf.h"

namespace volvox::record {
namespace fs = std::filesystem;
namespace {

class McapTest : public testing::Test {
 protected:
  // Three chunks of four messages each.
  void write() {
    auto made = McapWriter::create(file_, "test");
    ASSERT_TRUE(made.ok());
    McapWriter& writer = **made;
    const auto schema = writer.add_schema("thing", "jsonschema", "{}");
    const auto channel = writer.add_channel(schema, "/things", "json", {{"colour", "blue"}});
    writer.add_metadata("run", {{"seed", "7"}, {"note", ""}});
    for (std::uint32_t i = 0; i < 12; ++i) {
      const std::string text = "{\"n\": " + std::to_string(i) + "}";
      writer.write(channel, i, 1000 * i, text);
      if (i % 4 == 3) writer.flush();
    }
    writer.add_attachment("note.txt", "text/plain", std::string(5000, 'x'));
    EXPECT_TRUE(writer.close().ok());
  }

  std::vector<std::string> messages(McapReader& reader) {
    std::vector<std::string> all;
    for (const McapChunk& chunk : reader.chunks())
      EXPECT_TRUE(reader
                      .read_chunk(chunk,
                                  [&](const McapMessage& m) {
                                    EXPECT_EQ(m.time, 1000u * m.sequence);
                                    all.emplace_back(m.data.begin(), m.data.end());
                                  })
                      .ok());
    return all;
  }

  std::string bytes() {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_ / "a.mcap";
};

TEST_F(McapTest, WhatIsWrittenIsRead) {
  write();
  auto reader = McapReader::open(file_);
  ASSERT_TRUE(reader.ok()) << reader.error().text();
  EXPECT_TRUE((*reader)->complete());
  EXPECT_EQ((*reader)->chunks().size(), 3u);
  const auto all = messages(**reader);
  ASSERT_EQ(all.size(), 12u);
  EXPECT_EQ(all[11], "{\"n\": 11}");
  EXPECT_EQ((*reader)->metadata().at("run").at("seed"), "7");
  EXPECT_EQ((*reader)->channel("/things")->metadata.at("colour"), "blue");
  EXPECT_EQ((*reader)->channel("/things")->schema, 1u);
  EXPECT_EQ((*reader)->attachment("note.txt")->value(), std::string(5000, 'x'));
  EXPECT_FALSE((*reader)->attachment("nothing")->has_value());
  EXPECT_EQ((*reader)->sums(), McapReader::Sums::chunks);
}

// Wherever a file is cut, it opens up to its last whole chunk; nothing crashes.
TEST_F(McapTest, ACutOffFileOpensUpToItsLastChunk) {
  write();
  const std::string whole = bytes();
  std::size_t most = 0;
  for (std::size_t size = 8; size < whole.size(); size += 7) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    auto reader = McapReader::open(file_);
    ASSERT_TRUE(reader.ok()) << size << ": " << reader.error().text();
    const std::size_t read = messages(**reader).size();
    EXPECT_EQ(read % 4, 0u) << "chunks are whole or not there";
    EXPECT_GE(read, most);
    most = std::max(most, read);
  }
  EXPECT_EQ(most, 12u);
}

// Every byte is under a sum: whatever happens to one, the file does not open, or opens with fewer chunks and says so.
TEST_F(McapTest, DamageIsReportedAndNeverCrashes) {
  write();
  const std::string whole = bytes();
  auto undamaged = McapReader::open(file_);
  ASSERT_TRUE(undamaged.ok());
  const std::vector<std::string> truth = messages(**undamaged);
  // The file of a killed process ends somewhere before its index.
  const std::string killed = whole.substr(0, whole.find("note.txt"));
  for (const std::string& original : {whole, killed})
    for (std::size_t at = 0; at < original.size(); ++at) {
      std::string damaged = original;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      std::ofstream(file_, std::ios::binary | std::ios::trunc) << damaged;
      auto reader = McapReader::open(file_);
      if (!reader.ok()) continue;
      EXPECT_FALSE((*reader)->complete()) << "nobody noticed what happened to byte " << at << " of " << original.size();
      const auto read = messages(**reader);
      ASSERT_LE(read.size(), truth.size());
      EXPECT_TRUE(std::equal(read.begin(), read.end(), truth.begin())) << "another message, byte " << at;
      EXPECT_EQ((*reader)->metadata().contains("run"), true);
      EXPECT_EQ((*reader)->metadata().at("run").at("seed"), "7");
    }
  std::ofstream(file_, std::ios::trunc) << "not a recording";
  EXPECT_FALSE(McapReader::open(file_).ok());
  std::ofstream(file_, std::ios::trunc) << "";
  EXPECT_FALSE(McapReader::open(file_).ok());
  EXPECT_FALSE(McapReader::open(folder_ / "nothing").ok());
  EXPECT_FALSE(McapWriter::create("/proc/nowhere/a.mcap", "test").ok());
}

// A length that is damaged in the middle must not pass for the end of a killed run: what follows would be lost.
TEST_F(McapTest, DamageInTheMiddleIsNoEnd) {
  write();
  std::string killed = bytes();
  killed.resize(killed.find("note.txt"));
  const std::size_t first_chunk = killed.find("zstd") - 4 - 28 - 8;  // its length
  killed[first_chunk + 4] = 1;                                       // 4 GB
  std::ofstream(file_, std::ios::binary | std::ios::trunc) << killed;
  auto reader = McapReader::open(file_);
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.error().text().find("damaged"), std::string::npos);
}

// What came after the last sum was being written when the process was killed: any bytes may be there.
TEST_F(McapTest, WhatWasNotWrittenToItsEndIsLeftOut) {
  write();
  const std::string whole = bytes().substr(0, bytes().find("note.txt") - 29);
  for (const std::string& rest :
       {std::string(4096, '\0'), std::string(100, 'x'), std::string("\6\x20\0\0\0\0\0\0\0", 9)}) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << whole << rest;
    auto reader = McapReader::open(file_);
    ASSERT_TRUE(reader.ok()) << reader.error().text();
    EXPECT_FALSE((*reader)->complete());
    EXPECT_EQ(messages(**reader).size(), 12u);
  }
}

TEST(Crc, IsThatOfTheStandard) {
  EXPECT_EQ(crc_of("123456789"), 0xCBF43926u);
  const std::string text = "The quick brown fox jumps over the lazy dog";
  EXPECT_EQ(crc_of(text), 0x414FA339u);
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(crc_of(text.substr(cut), crc_of(text.substr(0, cut))), 0x414FA339u) << cut;
}

TEST(Protobuf, WhatIsWrittenIsRead) {
  protobuf::Writer inner, writer;
  inner.real(1, 2.5);
  writer.integer(1, 300);
  writer.text(2, "text");
  writer.message(3, inner);
  const std::vector<std::uint32_t> numbers = {1, 2, 0xffffffff};
  writer.packed(4, std::span<const std::uint32_t>(numbers));
  writer.fixed64(5, ~0ull);
  protobuf::Reader reader(std::string_view{writer.bytes()});
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.integer(), 300u);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text(), "text");
  ASSERT_TRUE(reader.next());
  protobuf::Reader within(reader.text());
  ASSERT_TRUE(within.next());
  EXPECT_EQ(within.real(), 2.5);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.packed<std::uint32_t>(), numbers);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.integer(), ~0ull);
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.ok());
  for (std::size_t cut = 1; cut < writer.bytes().size(); ++cut) {
    protobuf::Reader part(std::string_view(writer.bytes()).substr(0, cut));
    while (part.next()) {}  // ends, whatever it finds
  }
}

}  // namespace
}  // namespace volvox::record
