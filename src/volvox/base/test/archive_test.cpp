#include "volvox/base/archive.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include <set>

#include "volvox/base/archive_plain.h"

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
    ar("number", number);
    ar("text", text);
    ar("reals", reals);
    ar("bits", bits);
    ar("table", table);
    ar("maybe", maybe);
    ar("bytes", bytes);
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
  Everything e = example();
  e.number = 8;
  EXPECT_NE(hash(e), reference);
  e = example();
  e.text = "Seven";
  EXPECT_NE(hash(e), reference);
  e = example();
  e.reals[1] = std::nextafter(-2.5, 0);
  EXPECT_NE(hash(e), reference);
  e = example();
  e.bits[1] = true;
  EXPECT_NE(hash(e), reference);
  e = example();
  e.table["b"].push_back(0);
  EXPECT_NE(hash(e), reference);
  e = example();
  e.maybe.reset();
  EXPECT_NE(hash(e), reference);
  e = example();
  e.bytes[2] = 0;
  EXPECT_NE(hash(e), reference);
}

// archive_plain gives the same bytes and the same hash as archiving field by field.
TEST(Archive, PlainThingsAreArchivedAsTheirFields) {
  struct Thing {
    std::uint8_t kind = 0;
    Vec3 place;
    bool on = false;
    std::array<double, 2> pair{};
  };
  std::vector<Thing> things(1000);
  for (std::size_t i = 0; i < things.size(); ++i)
    things[i] = {narrow<std::uint8_t>(i & 0xff), {0.1 * real(i), -1, 2}, i % 3 == 0, {1, real(i)}};
  const auto fields = [](auto& ar, Thing& thing) {
    ar("kind", thing.kind), ar("place", thing.place), ar("on", thing.on), ar("pair", thing.pair);
  };
  SaveArchive one_by_one, gathered;
  HashArchive hash_one_by_one, hash_gathered;
  for (auto [plain, gather] :
       {std::pair<Archive*, Archive*>{&one_by_one, &gathered}, {&hash_one_by_one, &hash_gathered}}) {
    std::uint32_t before = 7;
    (*plain)("before", before), (*gather)("before", before);
    for (Thing& thing : things) fields(*plain, thing);
    archive_plain(*gather, things, fields);
  }
  EXPECT_EQ(one_by_one.bytes(), gathered.bytes());
  EXPECT_EQ(hash_one_by_one.value(), hash_gathered.value());
  LoadArchive load(gathered.bytes());
  std::uint32_t before = 0;
  load("before", before);
  std::vector<Thing> loaded(things.size());
  archive_plain(load, loaded, fields);
  EXPECT_TRUE(load.ok());
  EXPECT_EQ(loaded[999].pair[1], 999);
  EXPECT_EQ(loaded[999].on, true);
}

// The hash depends on every bit and on the number of bytes.
TEST(Archive, HashSeesEveryBit) {
  std::vector<std::byte> bytes(5000);
  const auto hash = [](std::vector<std::byte>& content) {
    HashArchive ar;
    ar.raw(content.data(), content.size());
    return ar.value();
  };
  std::set<std::uint64_t> seen{hash(bytes)};
  for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 7) {
    bytes[bit / 8] ^= std::byte(1u << bit % 8);
    EXPECT_TRUE(seen.insert(hash(bytes)).second) << bit;
    bytes[bit / 8] ^= std::byte(1u << bit % 8);
  }
  for (std::size_t size = 1; size < 200; ++size) {
    std::vector<std::byte> zeros(size);
    EXPECT_TRUE(seen.insert(hash(zeros)).second) << size;
  }
}

// Sections show where two states differ, also if parts of a state are hashed separately.
TEST(Archive, SectionsNameWhatDiffers) {
  const auto hash_parts = [](int a, int b, bool apart) {
    std::pair<std::vector<std::uint32_t>, std::uint64_t> result;
    std::vector<double> bulk(1000, a);
    HashArchive first(HashArchive::Names::keep), second(HashArchive::Names::keep);
    HashArchive& other = apart ? second : first;
    first.section("m0", "percepts");
    first("bulk", bulk);
    other.section("m1", "percepts");
    other("b", b);
    other.section("m1", "nothing");
    if (apart) first.append(second);
    EXPECT_EQ(first.names().size(), 3u);
    EXPECT_EQ(first.names()[1].owner, "m1");
    result.first = first.sections();
    result.second = first.value();
    EXPECT_EQ(first.value(), result.second) << "asking changes nothing";
    return result;
  };
  const auto base = hash_parts(1, 2, false), together = hash_parts(1, 3, false), apart = hash_parts(1, 3, true);
  ASSERT_EQ(base.first.size(), 3u);
  EXPECT_EQ(base.first[0], together.first[0]);
  EXPECT_NE(base.first[1], together.first[1]);
  EXPECT_NE(base.second, together.second);
  EXPECT_EQ(together, apart);
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
