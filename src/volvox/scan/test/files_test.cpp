#include "volvox/scan/files.h"
#include "volvox/scan/scan_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "volvox/base/random.h"
#include "volvox/base/test/temporary_folder.h"

namespace volvox::scan {
namespace {

std::string pcd_header(int points, const std::string& data) {
  return "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH " + std::to_string(points) +
         "\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS " + std::to_string(points) + "\nDATA " + data + "\n";
}

std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * 4};
}

TriangleMesh square() {
  TriangleMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0.5}, {0, 1, 0}};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  return mesh;
}

template <class T>
std::string complaint(const Result<T>& result) {
  return result.ok() ? "(no complaint)" : result.error().text();
}

TEST(Pcd, ReadsAllThreeKindsOfData) {
  const std::vector<Vec3> wanted = {{1, 2, 3}, {4, 5, 6}};
  const auto ascii = parse_pcd(pcd_header(2, "ascii") + "1 2 3\n4 5 6\n", "a.pcd");
  ASSERT_TRUE(ascii.ok()) << complaint(ascii);
  EXPECT_EQ(ascii->cloud.points, wanted);
  const auto binary = parse_pcd(pcd_header(2, "binary") + floats({1, 2, 3, 4, 5, 6}), "a.pcd");
  ASSERT_TRUE(binary.ok()) << complaint(binary);
  EXPECT_EQ(binary->cloud.points, wanted);
  // Compressed data have all x, then all y, then all z: here one run of 24 literal bytes.
  std::string packed;
  const std::uint32_t sizes[2] = {25, 24};
  packed.append(reinterpret_cast<const char*>(sizes), 8);
  packed += char{23};
  packed += floats({1, 4, 2, 5, 3, 6});
  const auto compressed = parse_pcd(pcd_header(2, "binary_compressed") + packed, "a.pcd");
  ASSERT_TRUE(compressed.ok()) << complaint(compressed);
  EXPECT_EQ(compressed->cloud.points, wanted);
}

TEST(Pcd, CompressedRunsRepeatWhatCameBefore) {
  std::string packed;
  const std::uint32_t sizes[2] = {8, 36};
  packed.append(reinterpret_cast<const char*>(sizes), 8);
  packed += char{3};
  packed += floats({1});
  packed += char(7 << 5);  // a long run ...
  packed += char{32 - 9};  // of 32 bytes ...
  packed += char{3};       // from 4 bytes before
  const auto cloud = parse_pcd(pcd_header(3, "binary_compressed") + packed, "a.pcd");
  ASSERT_TRUE(cloud.ok()) << complaint(cloud);
  EXPECT_EQ(cloud->cloud.points, (std::vector<Vec3>{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}));
}

TEST(Pcd, LeavesOutWhatIsNotFiniteAndSaysSo) {
  const auto cloud = parse_pcd(pcd_header(3, "ascii") + "nan nan nan\n1 2 3\n1 inf 3\n", "a.pcd");
  ASSERT_TRUE(cloud.ok()) << complaint(cloud);
  EXPECT_EQ(cloud->cloud.points.size(), 1u);
  ASSERT_EQ(cloud->repairs.size(), 1u);
  EXPECT_NE(cloud->repairs[0].find("2 of 3"), std::string::npos);
}

TEST(Pcd, SaysWhereItIsCutOffOrWrong) {
  EXPECT_NE(complaint(parse_pcd(pcd_header(3, "ascii") + "1 2 3\n", "a.pcd")).find("1 of 3 points"), std::string::npos);
  EXPECT_NE(complaint(parse_pcd(pcd_header(2, "ascii") + "1 2 3\n1 two 3\n", "a.pcd")).find("a.pcd:12"),
            std::string::npos);
  EXPECT_NE(complaint(parse_pcd(pcd_header(3, "binary") + floats({1, 2, 3}), "a.pcd")).find("cut off"),
            std::string::npos);
  EXPECT_NE(complaint(parse_pcd(pcd_header(3, "binary_compressed") + "abc", "a.pcd")).find("cut off"),
            std::string::npos);
  EXPECT_NE(complaint(parse_pcd(pcd_header(0, "ascii"), "a.pcd")).find("empty"), std::string::npos);
  EXPECT_NE(complaint(parse_pcd("FIELDS x y\nSIZE 4 4\nTYPE F F\nCOUNT 1 1\nPOINTS 1\nDATA ascii\n1 2\n", "a.pcd"))
                .find("no field z"),
            std::string::npos);
  EXPECT_NE(complaint(parse_pcd("FIELDS x y z\nSIZE 4 4\n", "a.pcd")).find("a.pcd:2"), std::string::npos);
  EXPECT_NE(complaint(parse_pcd(pcd_header(2'000'000'000, "binary"), "a.pcd")).find("cut off"), std::string::npos);
}

TEST(Ply, ReadsWhatItWrites) {
  TriangleMesh mesh = square();
  mesh.colors = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {250, 251, 252}};
  const auto again = parse_ply(ply_of(mesh), "a.ply");
  ASSERT_TRUE(again.ok()) << complaint(again);
  EXPECT_EQ(again->vertices, mesh.vertices);
  EXPECT_EQ(again->triangles, mesh.triangles);
  EXPECT_EQ(again->colors, mesh.colors);
}

TEST(Ply, ReadsAsciiAndBigEndianAndUnknownElements) {
  const std::string ascii =
      "ply\nformat ascii 1.0\nelement extra 1\nproperty list uchar float what\nelement vertex 4\nproperty double "
      "z\nproperty float x\nproperty float y\nelement face 1\n"
      "property list uchar int vertex_indices\nend_header\n2 0.5 0.5\n1 0 0\n1 1 0\n1 1 1\n1 0 1\n4 0 1 2 3\n";
  const auto mesh = parse_ply(ascii, "a.ply");
  ASSERT_TRUE(mesh.ok()) << complaint(mesh);
  EXPECT_EQ(mesh->vertices[2], (Vec3{1, 1, 1}));
  EXPECT_EQ(mesh->triangles.size(), 2u);
  std::string big =
      "ply\nformat binary_big_endian 1.0\nelement vertex 1\nproperty short x\nproperty short y\nproperty short "
      "z\nend_header\n";
  big += std::string("\0\1\0\2\0\3", 6);
  const auto point = parse_ply(big, "a.ply");
  ASSERT_TRUE(point.ok()) << complaint(point);
  EXPECT_EQ(point->vertices[0], (Vec3{1, 2, 3}));
}

TEST(Ply, SaysWhereItIsCutOffOrWrong) {
  const std::string whole = ply_of(square());
  EXPECT_NE(complaint(parse_ply(whole.substr(0, whole.size() - 3), "a.ply")).find("cut off at byte"),
            std::string::npos);
  EXPECT_NE(complaint(parse_ply("ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty "
                                "float z\nend_header\n1 2 3\n1 b 3\n",
                                "a.ply"))
                .find("a.ply:9"),
            std::string::npos);
  EXPECT_NE(complaint(parse_ply("ply\nformat binary_little_endian 1.0\nelement vertex 999999999999\nproperty float "
                                "x\nproperty float y\nproperty float z\nend_header\n",
                                "a.ply"))
                .find("cut off"),
            std::string::npos);
  EXPECT_FALSE(parse_ply("hello", "a.ply").ok());
}

TEST(Off, ReadsWhatItWritesAndPolygons) {
  const auto again = parse_off(off_of(square()), "a.off");
  ASSERT_TRUE(again.ok()) << complaint(again);
  EXPECT_EQ(again->triangles, square().triangles);
  EXPECT_EQ(again->vertices, square().vertices);
  const auto polygon = parse_off("# a comment\nOFF 5 1 0\n0 0 0\n1 0 0\n1 1 0\n0.5 2 0\n0 1 0\n5 0 1 2 3 4\n", "a.off");
  ASSERT_TRUE(polygon.ok()) << complaint(polygon);
  EXPECT_EQ(polygon->triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}}));
  EXPECT_NE(complaint(parse_off("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n", "a.off")).find("a.off:6"),
            std::string::npos);
  EXPECT_NE(complaint(parse_off("OFF\n3 1 0\n0 0 0\n", "a.off")).find("1 of 3 vertices"), std::string::npos);
}

TEST(Stl, ReadsWhatItWritesAndText) {
  const auto again = parse_stl(stl_of(square()), "a.stl");
  ASSERT_TRUE(again.ok()) << complaint(again);
  EXPECT_EQ(again->triangles.size(), 2u);
  EXPECT_EQ(welded(*again, 1e-6).vertices.size(), 4u);
  const auto text = parse_stl(
      "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
      "0\nendloop\nendfacet\nendsolid\n",
      "a.stl");
  ASSERT_TRUE(text.ok()) << complaint(text);
  EXPECT_EQ(text->vertices[1], (Vec3{1, 0, 0}));
  EXPECT_FALSE(parse_stl(stl_of(square()).substr(0, 120), "a.stl").ok());
}

TEST(Xyz, ReadsTablesAndNamesTheBadLine) {
  const auto cloud = parse_xyz("x,y,z\n1,2,3\n# comment\n4 5 6\n\nnan 0 0\n", "a.xyz");
  ASSERT_TRUE(cloud.ok()) << complaint(cloud);
  EXPECT_EQ(cloud->cloud.points.size(), 2u);
  EXPECT_EQ(cloud->repairs.size(), 1u);
  EXPECT_NE(complaint(parse_xyz("1 2 3\n4 5\n", "a.xyz")).find("a.xyz:2"), std::string::npos);
  const auto colors = parse_xyz("1 2 3 10 20 30\n4 5 6 40 50 60\n", "a.xyz");
  ASSERT_TRUE(colors.ok());
  EXPECT_EQ(colors->cloud.colors[1], (Rgb{40, 50, 60}));
}

TEST(Files, CloudsAndMeshesComeBackFromDisk) {
  const TemporaryFolder made;
  const std::filesystem::path& folder = made.path();
  Cloud cloud;
  cloud.points = {{1, 2, 3}, {0.5, 0.25, -1}};
  for (const char* name : {"a.pcd", "a.ply", "a.xyz"}) {
    ASSERT_TRUE(write_cloud(cloud, folder / name).ok());
    const auto again = read_cloud(folder / name);
    ASSERT_TRUE(again.ok()) << complaint(again);
    EXPECT_EQ(again->cloud.points, cloud.points) << name;
  }
  for (const char* name : {"m.ply", "m.off", "m.stl"}) {
    ASSERT_TRUE(write_mesh(square(), folder / name).ok());
    const auto again = read_mesh(folder / name);
    ASSERT_TRUE(again.ok()) << complaint(again);
    EXPECT_EQ(again->triangles.size(), 2u) << name;
  }
  TriangleMesh flat = square();
  flat.triangles = {{0, 1, 1}};
  ASSERT_TRUE(write_mesh(flat, folder / "flat.ply").ok());
  EXPECT_NE(complaint(read_mesh(folder / "flat.ply")).find("no area"), std::string::npos);
  EXPECT_FALSE(read_cloud(folder / "missing.pcd").ok());
  EXPECT_FALSE(read_cloud(folder / "a.doc").ok());
  EXPECT_FALSE(write_mesh(square(), folder / "nowhere" / "m.ply").ok());
}

// Readers may refuse truncated, changed or invented files, but must not crash.
TEST(Files, ReadersSurviveWhatIsBroken) {
  std::string pcd = pcd_header(2, "binary_compressed");
  const std::uint32_t sizes[2] = {25, 24};
  pcd.append(reinterpret_cast<const char*>(sizes), 8);
  pcd += char{23};
  pcd += floats({1, 4, 2, 5, 3, 6});
  const std::vector<std::string> seeds = {pcd,
                                          pcd_header(2, "ascii") + "1 2 3\n4 5 6\n",
                                          pcd_header(1, "binary") + floats({1, 2, 3}),
                                          ply_of(square()),
                                          off_of(square()),
                                          stl_of(square()),
                                          "1 2 3\n4 5 6\n"};
  RandomStream random(1, 0, "fuzz");
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = seeds[random.below(seeds.size())];
    for (std::uint64_t change = random.below(6) + 1; change > 0 && !bytes.empty(); --change) {
      const std::uint64_t at = random.below(bytes.size());
      switch (random.below(4)) {
        case 0: bytes.resize(at); break;
        case 1: bytes[at] = static_cast<char>(random.below(256)); break;
        case 2: bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(20))); break;
        default: bytes[at] = "0123456789-. \n"[random.below(14)]; break;
      }
    }
    (void)parse_pcd(bytes, "f").ok();
    (void)parse_ply(bytes, "f").ok();
    (void)parse_off(bytes, "f").ok();
    (void)parse_stl(bytes, "f").ok();
    (void)parse_xyz(bytes, "f").ok();
  }
}

TEST(Files, RobotLaserMessagesAreReadAsTheOlderOnes) {
  const std::string line =
      "ROBOTLASER1 0 -1.570796 3.141593 0.785398 8.0 0.01 0 5 1.0 1.5 2.0 81.0 3.0 2 7 9 0.3 0.1 0.2 0.25 0.1 0.2 0.1 "
      "0.0 0.5 0.3 0 12.5 robot 12.5\n";
  const auto log = parse_carmen(line, "drive.log");
  ASSERT_TRUE(log.ok()) << log.error().text();
  ASSERT_EQ(log->forward.size(), 1u);
  EXPECT_EQ(log->forward[0].ranges.size(), 5u);
  EXPECT_EQ(log->forward[0].ranges[2], 2.0);
  EXPECT_EQ(log->forward[0].time, 12.5);
  EXPECT_EQ(log->forward[0].odometry.position.x, 0.3);
  EXPECT_EQ(log->mounting.largest_range, 8.0);
  for (std::size_t cut = 20; cut < line.find(" robot"); cut = line.find(' ', cut + 1)) {
    const auto bad = parse_carmen(line.substr(0, cut), "drive.log");
    ASSERT_FALSE(bad.ok()) << cut;
    EXPECT_NE(bad.error().text().find("drive.log:1"), std::string::npos) << bad.error().text();
  }
  EXPECT_FALSE(parse_carmen("ROBOTLASER1 0 0 3.14 0.1 8 0.01 0 2 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1\n", "x").ok())
      << "it looks to one side";
}

TEST(Files, ABadOutputNameIsKnownBeforeTheWork) {
  EXPECT_FALSE(check_mesh_name("arena.pcd").ok());
  EXPECT_FALSE(check_mesh_name("no/such/folder/arena.ply").ok());
  EXPECT_FALSE(check_cloud_name("cloud.sdf").ok());
  EXPECT_TRUE(check_mesh_name("arena.sdf").ok());
  EXPECT_TRUE(check_cloud_name("cloud.pcd").ok());
}

}  // namespace
}  // namespace volvox::scan
