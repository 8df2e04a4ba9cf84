// Wireshark's dissectors decode the capture correctly.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "volvox/net/pcapng.h"
#include "volvox/net/scenarios/flood.h"
#include "volvox/net/test/recorder.h"

namespace volvox::net {
namespace {

bool have_tshark() { return std::system("command -v tshark > /dev/null 2>&1") == 0; }

// The chosen fields of every packet, one line each, separated by ';'.
std::vector<std::string> tshark(const std::string& file, const std::string& fields, const std::string& filter) {
  // Wireshark must not guess a protocol for the payload.
  const std::string command = "tshark -r " + file + " --disable-protocol 6lowpan --disable-protocol zbee_nwk -Y '" +
                              filter + "' -T fields -E separator=';' " + fields + " 2>/dev/null";
  std::vector<std::string> lines;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return lines;
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    lines.emplace_back(buffer.data());
    while (!lines.back().empty() && lines.back().back() == '\n') lines.back().pop_back();
  }
  pclose(pipe);
  return lines;
}

struct CaptureFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("volvox-net-" + std::to_string(getpid()) + ".pcapng")).string();
  ~CaptureFile() { std::filesystem::remove(path); }
};

TEST(Pcapng, FrameCheckSequenceOfTheStandard) {
  // An acknowledgement with sequence number 0x56, the example of IEEE 802.15.4, 7.2.1.9.
  const auto frame = ieee802154_acknowledgement(0x56);
  ASSERT_EQ(frame.size(), 5u);
  EXPECT_EQ(ieee802154_fcs(std::span(frame).first(3)),
            std::to_integer<unsigned>(frame[3]) | std::to_integer<unsigned>(frame[4]) << 8);
  EXPECT_EQ(ieee802154_fcs(frame), 0);  // over a whole frame the remainder is zero
}

TEST(Pcapng, RadioFramesDecodeAsIeee802154) {
  if (!have_tshark()) GTEST_SKIP() << "tshark is not installed: apt-get install tshark";
  Network network;
  FrameLog log;
  network.set_log(&log);
  const MediumId air = *network.add_medium();
  RadioOptions options;
  options.acknowledge = true;
  options.window = 1;
  std::vector<InterfaceId> radios;
  for (int i = 0; i < 3; ++i) radios.push_back(*network.add_radio(network.add_node(), air, options, {1.0 * i, 0, 0}));
  ASSERT_TRUE(network.send(radios[1], {.payload = bytes_of("hello"), .destination = radios[2]}));
  ASSERT_TRUE(network.send(radios[0], {.payload = bytes_of("all"), .at = Time{1'500'000'123}}));
  ASSERT_TRUE(network.run(Time::seconds(2)));
  CaptureFile file;
  ASSERT_TRUE(write_pcapng(log, file.path));
  const auto lines = tshark(file.path,
                            "-e frame.time_epoch -e wpan.frame_type -e wpan.seq_no -e wpan.dst_pan -e wpan.src16 "
                            "-e wpan.dst16 -e wpan.ack_request -e wpan.fcs_ok -e data.data",
                            "wpan");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "0.000000000;0x0001;0;0x566f;0x0001;0x0002;1;1;68656c6c6f");
  // 40 bits at 250 kb/s and the turnaround later.
  EXPECT_EQ(lines[1], "0.000352000;0x0002;0;;;;0;1;");
  EXPECT_EQ(lines[2], "1.500000123;0x0001;0;0x566f;0x0000;0xffff;0;1;616c6c");
}

// Sixteen bits name 65,534 radios; node 70,000 must not look like node 4,464.
TEST(Pcapng, ManyRadiosHaveExtendedAddresses) {
  if (!have_tshark()) GTEST_SKIP() << "tshark is not installed: apt-get install tshark";
  Network network;
  FrameLog log;
  network.set_log(&log);
  const MediumId air = *network.add_medium({.cull_radius = 1.5});
  RadioOptions options;
  options.window = 1;
  std::vector<InterfaceId> radios;
  for (int i = 0; i < 70'001; ++i)
    radios.push_back(*network.add_radio(network.add_node(), air, options, {1.0 * i, 0, 0}));
  ASSERT_TRUE(network.send(radios[70'000], {.payload = bytes_of("hello"), .destination = radios[69'999]}));
  ASSERT_TRUE(network.send(radios[0], {.payload = bytes_of("all"), .at = Time::seconds(1)}));
  ASSERT_TRUE(network.run(Time::seconds(2)));
  CaptureFile file;
  ASSERT_TRUE(write_pcapng(log, file.path));
  const auto lines = tshark(file.path, "-e wpan.src64 -e wpan.dst64 -e wpan.dst16 -e wpan.fcs_ok -e data.data", "wpan");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "02:56:6f:6c:00:01:11:70;02:56:6f:6c:00:01:11:6f;;1;68656c6c6f");
  EXPECT_EQ(lines[1], "02:56:6f:6c:00:00:00:00;;0xffff;1;616c6c");
}

TEST(Pcapng, BusFramesDecodeAsCan) {
  if (!have_tshark()) GTEST_SKIP() << "tshark is not installed: apt-get install tshark";
  Network network;
  FrameLog log;
  network.set_log(&log);
  const BusId bus = *network.add_bus({.bit_rate = 1e6});
  const InterfaceId a = *network.add_bus_port(network.add_node()), b = *network.add_bus_port(network.add_node());
  ASSERT_TRUE(network.join_bus(a, bus));
  ASSERT_TRUE(network.join_bus(b, bus));
  ASSERT_TRUE(network.send(a, {.payload = bytes_of("0123456789"), .identifier = 0x123}));
  ASSERT_TRUE(network.send(b, {.payload = bytes_of("x"), .identifier = 0x12345678, .at = Time::seconds(1)}));
  ASSERT_TRUE(network.run(Time::seconds(2)));
  CaptureFile file;
  ASSERT_TRUE(write_pcapng(log, file.path));
  const auto lines = tshark(file.path, "-e frame.time_epoch -e can.id -e can.flags.xtd -e can.len -e data.data", "can");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "0.000000000;291;0;8;3031323334353637");
  EXPECT_EQ(lines[1], "0.000111000;291;0;2;3839");
  EXPECT_EQ(lines[2], "1.000000000;305419896;1;1;78");
}

TEST(Pcapng, AWholeFloodHasAsManyGoodFramesAsTransmissions) {
  FrameLog log;
  const auto report = run_flood({.nodes = 100, .mode = FloodMode::exact}, &log);
  ASSERT_TRUE(report);
  std::size_t starts = 0;
  for (const LogEntry& entry : log.entries()) starts += entry.kind == LogKind::transmit_start;
  EXPECT_EQ(starts, report->transmissions);
  if (!have_tshark()) GTEST_SKIP() << "tshark is not installed: apt-get install tshark";
  CaptureFile file;
  ASSERT_TRUE(write_pcapng(log, file.path));
  const auto lines = tshark(file.path, "-e wpan.dst16 -e frame.len", "wpan.fcs_ok == 1");
  ASSERT_EQ(lines.size(), report->transmissions);
  for (const std::string& line : lines) EXPECT_EQ(line, "0xffff;64");  // 53 + 9 of header + 2 of FCS
}

TEST(Pcapng, AnUnwritablePathIsAnError) {
  EXPECT_FALSE(write_pcapng(FrameLog{}, "/nonexistent-folder/capture.pcapng"));
}

// A capture that grows in parts is the one that is written at once, and is readable all the time.
TEST(Pcapng, AFileGrowsWithTheRun) {
  FrameLog log;
  ASSERT_TRUE(run_flood({.nodes = 50, .mode = FloodMode::exact}, &log));
  const std::vector<std::byte> whole = pcapng(log);
  CaptureFile path;
  const auto file = PcapngFile::create(path.path, AddressSize::short_16);
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(std::filesystem::file_size(path.path), pcapng(FrameLog{}).size());
  std::size_t size = 0;
  for (const LogEntry& entry : log.entries()) {
    FrameLog tick;
    tick.add(entry, log.payload(entry));
    (*file)->add(tick);
    ASSERT_TRUE((*file)->flush().ok());
    ASSERT_GE(std::filesystem::file_size(path.path), size);
    size = std::filesystem::file_size(path.path);
  }
  std::vector<std::byte> written(size);
  std::ifstream(path.path, std::ios::binary).read(reinterpret_cast<char*>(written.data()), std::ssize(written));
  EXPECT_EQ(written, whole);
}

TEST(Pcapng, AFullDiskEndsTheFile) {
  EXPECT_FALSE(PcapngFile::create("/nonexistent-folder/capture.pcapng", AddressSize::short_16).ok());
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const auto file = PcapngFile::create("/dev/full", AddressSize::short_16);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE((*file)->ok());
  const auto flushed = (*file)->flush();
  ASSERT_FALSE(flushed.ok());
  EXPECT_NE(flushed.error().text().find("/dev/full"), std::string::npos);
}

}  // namespace
}  // namespace volvox::net
