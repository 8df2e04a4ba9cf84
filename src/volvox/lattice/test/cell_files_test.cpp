#include "volvox/lattice/cell_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/base/text.h"

namespace volvox::lattice {
namespace {

const Lattice cubic(Kind::cubic);

Result<std::vector<Cell>> read_cells(const std::filesystem::path& file, const Lattice& lattice) {
  const Result<std::string> bytes = read_file(file);
  return bytes.ok() ? cells_of(*bytes, file, lattice) : bytes.error();
}

std::string error_of(std::string_view text, const Lattice& lattice = cubic) {
  const auto cells = parse_cell_list(text, "list.csv", lattice);
  return cells.ok() ? "" : cells.error().text();
}

TEST(CellList, IsReadInItsOrder) {
  const auto cells = parse_cell_list("x,y,z\n# a comment\n3, -1, 2\r\n\n0 0 # here\n-7;8;9\n", "list.csv", cubic);
  ASSERT_TRUE(cells.ok()) << cells.error().text();
  EXPECT_EQ(*cells, (std::vector<Cell>{{3, -1, 2}, {0, 0, 0}, {-7, 8, 9}}));
  const auto spreadsheet = parse_cell_list("\xef\xbb\xbfX,Y,Z\n1,2,3\n", "list.csv", cubic);
  ASSERT_TRUE(spreadsheet.ok()) << spreadsheet.error().text();
  EXPECT_EQ(*spreadsheet, (std::vector<Cell>{{1, 2, 3}}));
}

TEST(CellList, MistakesAreNamedWithTheirLine) {
  EXPECT_NE(error_of("0,0,0\n1,1,1\n2,2,2\n1,1,1\n0,0,0\n").find("list.csv:4: two modules are in one cell: line 2"),
            std::string::npos);
  EXPECT_NE(error_of("0,0,0\n1,one,1\n").find("list.csv:2: '1,one,1' is no cell"), std::string::npos);
  for (const char* line : {"5,,0", ",5,0", "5,0,", "0,,5,1", "5;;0", "5, ,0"})
    EXPECT_NE(error_of(line).find("list.csv:1"), std::string::npos) << line;
  EXPECT_NE(error_of("0,0,0,0\n").find("list.csv:1"), std::string::npos);
  EXPECT_NE(error_of("0\n").find("list.csv:1"), std::string::npos);
  EXPECT_NE(error_of("1.5,2\n").find("list.csv:1"), std::string::npos);
  EXPECT_NE(error_of("99999999999,2\n").find("list.csv:1"), std::string::npos);
  EXPECT_NE(error_of("1000001,2\n").find("too far"), std::string::npos);
  EXPECT_NE(error_of("x,y\n").find("no cell"), std::string::npos);
  EXPECT_NE(error_of("").find("no cell"), std::string::npos);
  EXPECT_NE(error_of("1,2,3", Lattice(Kind::hex)).find("not in the plane of a hex lattice"), std::string::npos);
  RandomStream random(1, 0, "test");
  for (int i = 0; i < 3000; ++i) {
    std::string bytes(random.below(40), ' ');
    for (char& c : bytes) c = "0123456789,-+xy \n#;.e\0\xff"[random.below(24)];
    (void)parse_cell_list(bytes, "list.csv", cubic);
  }
}

model::MeshData box(const Vec3& low, const Vec3& high) {
  model::MeshData mesh;
  for (int i = 0; i < 8; ++i)
    mesh.vertices.push_back(
        {(i & 1) != 0 ? high.x : low.x, (i & 2) != 0 ? high.y : low.y, (i & 4) != 0 ? high.z : low.z});
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

void append(model::MeshData& mesh, const model::MeshData& more) {
  const std::uint32_t first = narrow<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), more.vertices.begin(), more.vertices.end());
  for (const auto& t : more.triangles) mesh.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
}

// Edges and corners lie exactly on centres of cells: each centre belongs to one of the boxes that share it.
TEST(MeshFill, BoxesFillSpaceWithoutGapOrOverlap) {
  const auto count = [](const Vec3& low, const Vec3& high) {
    const auto cells = fill_mesh(box(low, high), "box", cubic);
    return cells.ok() ? cells->size() : 0;
  };
  EXPECT_EQ(count({0, 0, 0}, {10, 10, 10}), 1000u);
  EXPECT_EQ(count({-0.5, -0.5, -0.5}, {9.5, 9.5, 9.5}), 1000u);
  EXPECT_EQ(count({0, 0, 0}, {4, 10, 10}) + count({4, 0, 0}, {10, 10, 10}), 1000u);
  EXPECT_EQ(count({0, 0, 0}, {10, 3, 10}) + count({0, 3, 0}, {10, 10, 10}), 1000u);
}

TEST(MeshFill, AShellWithinAShellIsACavity) {
  model::MeshData mesh = box({-0.5, -0.5, -0.5}, {9.5, 9.5, 9.5});
  append(mesh, box({2.5, 2.5, 2.5}, {6.5, 6.5, 6.5}));
  const auto cells = fill_mesh(mesh, "shell", cubic);
  ASSERT_TRUE(cells.ok());
  EXPECT_EQ(cells->size(), 1000u - 64u);
  EXPECT_TRUE(std::is_sorted(cells->begin(), cells->end(), [](const Cell& a, const Cell& b) {
    return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x);
  }));
}

// Against the definition, on every lattice: inside a tetrahedron is on the inner side of its four faces.
TEST(MeshFill, AgreesWithTheSidesOfRandomTetrahedra) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomStream random(seed, 0, "test");
    const Lattice lattice(all_kinds[seed % all_kinds.size()], random.uniform(0.5, 1.5));
    model::MeshData mesh;
    for (int i = 0; i < 4; ++i) {
      Vec3 v{random.uniform(-5, 5), random.uniform(-5, 5), random.uniform(-5, 5)};
      if (random.chance(0.3)) v = lattice.position(lattice.cell_at(v));
      mesh.vertices.push_back(v);
    }
    mesh.triangles = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
    const auto cells = fill_mesh(mesh, "tetrahedron", lattice);
    const std::set<Cell> filled = cells.ok() ? std::set(cells->begin(), cells->end()) : std::set<Cell>{};
    const std::int32_t reach = 14, deep = lattice.flat() ? 0 : 14;
    for (std::int32_t z = -deep; z <= deep; ++z)
      for (std::int32_t y = -reach; y <= reach; ++y)
        for (std::int32_t x = -reach; x <= reach; ++x) {
          const Vec3 p = lattice.position({x, y, z});
          bool inside = true, clear = true;
          for (int i = 0; i < 4; ++i) {
            const Vec3 &a = mesh.vertices[(i + 1) % 4], &b = mesh.vertices[(i + 2) % 4],
                       &c = mesh.vertices[(i + 3) % 4];
            const Vec3 normal = cross(b - a, c - a);
            const double mine = dot(normal, p - a), other = dot(normal, mesh.vertices[i] - a);
            inside = inside && (mine > 0) == (other > 0);
            clear = clear && std::fabs(mine) > 1e-9;
          }
          if (!clear) continue;
          ASSERT_EQ(filled.contains({x, y, z}), inside)
              << name(lattice.kind()) << " seed " << seed << " cell " << text({x, y, z});
        }
  }
}

TEST(MeshFill, AMeshWithHolesIsRefusedAndTheHoleNamed) {
  model::MeshData mesh = box({0, 0, 0}, {10, 10, 10});
  mesh.triangles.erase(mesh.triangles.begin() + 2, mesh.triangles.begin() + 4);  // the top
  const auto open = fill_mesh(mesh, "box.stl", cubic);
  ASSERT_FALSE(open.ok());
  EXPECT_NE(open.error().text().find("box.stl: the mesh is not closed: it has a hole of 4 edges around (5, 5, 10) m, "
                                     "14.1 m wide"),
            std::string::npos)
      << open.error().text();
  mesh.triangles.erase(mesh.triangles.begin());
  const auto twice = fill_mesh(mesh, "box.stl", cubic);
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().text().find("and 1 more"), std::string::npos) << twice.error().text();
}

TEST(MeshFill, SizesThatCannotBeAreRefused) {
  EXPECT_FALSE(fill_mesh(box({0.1, 0.1, 0.1}, {0.2, 0.2, 0.2}), "small", cubic).ok());
  EXPECT_FALSE(fill_mesh(box({0, 0, 0}, {1e300, 1, 1}), "large", cubic).ok());
  EXPECT_FALSE(fill_mesh(box({0, 0, -1e308}, {1, 1, 1e308}), "high", Lattice(Kind::hex)).ok());
  EXPECT_FALSE(fill_mesh(box({0, 0, 0}, {9e4, 9e4, 9e4}), "many", cubic).ok());
  EXPECT_FALSE(fill_mesh({}, "nothing", cubic).ok());
  // One triangle, there and back, is closed; it crosses 8e8 rows, which were gigabytes.
  model::MeshData triangle;
  triangle.vertices = {{0, 0, 0}, {0, 4e4, 0}, {0, 0, 4e4}};
  triangle.triangles = {{0, 1, 2}, {2, 1, 0}};
  const auto large = fill_mesh(triangle, "triangle", cubic);
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().text().find("too large for its cells"), std::string::npos) << large.error().text();
  // 1,000,000 cells of 12 bytes, 20,000 crossings of 16 bytes.
  EXPECT_TRUE(fill_mesh(box({0, 0, 0}, {100, 100, 100}), "fits", cubic, 13e6).ok());
  const auto many = fill_mesh(box({0, 0, 0}, {100, 100, 100}), "many", cubic, 11e6);
  ASSERT_FALSE(many.ok());
  EXPECT_NE(many.error().text().find("of memory"), std::string::npos) << many.error().text();
  EXPECT_FALSE(fill_mesh(box({0, 0, 0}, {100, 100, 100}), "less", cubic, 1e5).ok());
}

class CellFiles : public testing::Test {
 protected:
  CellFiles() { std::filesystem::create_directories(folder); }
  ~CellFiles() override { std::filesystem::remove_all(folder); }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return folder / name;
  }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("volvox_cells_" + std::to_string(getpid()));
};

std::string stl_of(const model::MeshData& mesh) {
  std::string out = "solid a\n";
  for (const auto& t : mesh.triangles) {
    out += "facet normal 0 0 0\nouter loop\n";
    for (const std::uint32_t v : t)
      out += fmt::format("vertex {} {} {}\n", mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z);
    out += "endloop\nendfacet\n";
  }
  return out + "endsolid a\n";
}

// 3 x 2 gray pixels: 16 240 240 above 1 16 127.
constexpr unsigned char letter_l[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
    0x03, 0x00, 0x00, 0x00, 0x02, 0x08, 0x00, 0x00, 0x00, 0x00, 0xb8, 0x1f, 0x39, 0xc6, 0x00, 0x00, 0x00, 0x10, 0x49,
    0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x10, 0xf8, 0xf0, 0x81, 0x81, 0x51, 0xa0, 0x1e, 0x00, 0x0b, 0x6a, 0x02, 0x81,
    0x2b, 0x76, 0xb1, 0x28, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

TEST_F(CellFiles, AreReadByTheirEnding) {
  const model::MeshData mesh = box({-0.5, -0.5, -0.5}, {2.5, 3.5, 4.5});
  std::string obj, ply =
                       "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
                       "element face 12\nproperty list uchar int vertex_indices\nend_header\n";
  for (const Vec3& v : mesh.vertices) {
    obj += fmt::format("v {} {} {}\n", v.x, v.y, v.z);
    ply += fmt::format("{} {} {}\n", v.x, v.y, v.z);
  }
  for (const auto& t : mesh.triangles) {
    obj += fmt::format("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1);
    ply += fmt::format("3 {} {} {}\n", t[0], t[1], t[2]);
  }
  for (const auto& file : {write("a.stl", stl_of(mesh)), write("a.obj", obj), write("a.PLY", ply)}) {
    const auto cells = read_cells(file, cubic);
    ASSERT_TRUE(cells.ok()) << cells.error().text();
    EXPECT_EQ(cells->size(), 60u) << file;
  }
  // A letter L, dark on light; the image's last row is y = 0.
  const std::string png(std::begin(letter_l), std::end(letter_l));
  const std::string pgm = std::string("P5 3 2 255\n") + "\x10\xf0\xf0" + "\x01\x10\x7f";
  for (const auto& file : {write("l.png", png), write("l.pgm", pgm)}) {
    const auto image = read_cells(file, cubic);
    ASSERT_TRUE(image.ok()) << image.error().text();
    EXPECT_EQ(*image, (std::vector<Cell>{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}}));
  }
  // One pixel high: a row of catoms.
  EXPECT_EQ(read_cells(write("row.pgm", std::string("P5 3 1 255\n") + "\x10\xf0\x10"), cubic)->size(), 2u);
  EXPECT_FALSE(read_cells(write("cut.png", png.substr(0, 50)), cubic).ok());
  EXPECT_FALSE(read_cells(write("white.pgm", std::string("P5 2 2 255\n") + "\xff\xff\xff\xff"), cubic).ok());
  EXPECT_EQ(read_cells(write("a.csv", "1,2,3\n"), cubic)->size(), 1u);
  EXPECT_FALSE(read_cells(write("broken.png", "no image"), cubic).ok());
  const auto unknown = read_cells(write("a.doc", ""), cubic);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().text().find(".doc"), std::string::npos);
}

}  // namespace
}  // namespace volvox::lattice
