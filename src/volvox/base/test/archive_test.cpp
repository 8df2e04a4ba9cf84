#include "volvox/base/archive.h"

#include <gtest/gtest.h>

namespace volvox {
namespace {

struct Everything {
  int number = 0;
  std::string text;
  std::vector<double> reals;
  std::vector<bool> bits;
  std::map<std::string, std::vector<int>> table;
  std::optional<Vec3> maybe;
  std::array<std::uint8_t, 3> bytes{};

  template <class A>
  void archive(A& ar) {
    ar("number", number); ar("text", text); ar("reals", reals); ar("bits", bits);
    ar("table", table); ar("maybe", maybe); ar("bytes", bytes);
  }
};

Everything example() {
  return {7, "seven", {1.5, -2.5}, {true, false, true}, {{"a", {1, 2}}, {"b", {}}}, Vec3{1, 2, 3}, {4, 5, 6}};
}

std::uint64_t hash(Everything& e) {
  HashArchive ar;
  ar("e", e);
  return ar.value();
}

TEST(Archive, WhatIsSavedIsLoaded) {
  Everything before = example(), after;
  SaveArchive save;
  save("e", before);
  LoadArchive load(save.bytes());
  load("e", after);
  EXPECT_TRUE(load.ok());
  EXPECT_EQ(load.remaining(), 0u);
  EXPECT_EQ(after.table, before.table);
  EXPECT_EQ(after.bits, before.bits);
  EXPECT_EQ(hash(after), hash(before));
}

TEST(Archive, HashSeesEveryField) {
  Everything base = example();
  const auto reference = hash(base);
  Everything e = example(); e.number = 8; EXPECT_NE(hash(e), reference);
  e = example(); e.text = "Seven"; EXPECT_NE(hash(e), reference);
  e = example(); e.reals[1] = std::nextafter(-2.5, 0); EXPECT_NE(hash(e), reference);
  e = example(); e.bits[1] = true; EXPECT_NE(hash(e), reference);
  e = example(); e.table["b"].push_back(0); EXPECT_NE(hash(e), reference);
  e = example(); e.maybe.reset(); EXPECT_NE(hash(e), reference);
  e = example(); e.bytes[2] = 0; EXPECT_NE(hash(e), reference);
}

TEST(Archive, EveryCutOffSnapshotIsRefused) {
  Everything before = example();
  SaveArchive save;
  save("e", before);
  for (std::size_t n = 0; n < save.bytes().size(); ++n) {
    LoadArchive load(std::span(save.bytes()).first(n));
    Everything after;
    load("e", after);
    EXPECT_FALSE(load.ok()) << n;
  }
}

TEST(Archive, ForeignBytesNeitherCrashNorFillMemory) {
  std::vector<std::byte> bytes(200, std::byte{0xff});
  LoadArchive load(bytes);
  Everything after;
  load("e", after);
  EXPECT_FALSE(load.ok());
}

}  // namespace
}  // namespace volvox
