// Meshes from files, good and bad.
#include "volvox/model/mesh_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <limits>

#include "volvox/model/mesh.h"
#include "volvox/model/test/test_files.h"

namespace volvox::model {
namespace {

using test::TestFolder;
using Triangles = std::vector<std::array<std::uint32_t, 3>>;

class MeshFiles : public testing::Test {
 protected:
  Result<Mesh> read(const std::string& name, const std::string& text, const std::string& part = {}) {
    const auto bytes = library_.read(folder_.write(name, text));
    if (!bytes.ok()) return bytes.error();
    return mesh_of(*bytes, folder_.path() / name, {1, 1, 1}, part);
  }
  std::string failure(const std::string& name, const std::string& text) {
    const auto mesh = read(name, text);
    return mesh.ok() ? "" : mesh.error().text();
  }
  TestFolder folder_;
  ModelLibrary library_{std::vector<std::filesystem::path>{}};
};

const std::string square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

TEST_F(MeshFiles, ObjVerticesComeInTheOrderOfTheirUseAndEqualOnesAreJoined) {
  const auto mesh = read("a.obj", "# c\nmtllib none.mtl\n" + square + "v 1 1 0\nv 9 9 9\nf 3/1/2 2//1 1\nf -2 1 4\n");
  ASSERT_TRUE(mesh.ok()) << mesh.error().text();
  EXPECT_EQ((*mesh)->vertices, (std::vector<Vec3>{{1, 1, 0}, {1, 0, 0}, {0, 0, 0}, {0, 1, 0}}));
  EXPECT_EQ((*mesh)->triangles, (Triangles{{0, 1, 2}, {0, 2, 3}}));
}

TEST_F(MeshFiles, ObjPartsByName) {
  const std::string text = square + "o one\nf 1 2 3\ng two\nf 1 3 4\no three \\\n\nf 2 3 4\n";
  EXPECT_EQ((*read("a.obj", text))->triangles.size(), 3u);
  EXPECT_EQ((*read("a.obj", text, "one"))->triangles.size(), 2u) << "the group is a part of the object";
  EXPECT_EQ((*read("a.obj", text, "three"))->triangles.size(), 1u);
  EXPECT_FALSE(read("a.obj", text, "four").ok());
}

TEST_F(MeshFiles, PolygonsBecomeTriangles) {
  const auto area = [](const Mesh& mesh) {
    double sum = 0;
    for (const auto& t : mesh->triangles)
      sum += cross(mesh->vertices[t[1]] - mesh->vertices[t[0]], mesh->vertices[t[2]] - mesh->vertices[t[0]]).z / 2;
    return sum;
  };
  EXPECT_EQ((*read("q.obj", square + "f 1 2 3 4\n"))->triangles, (Triangles{{0, 1, 2}, {0, 2, 3}}));
  // An arrow head, and a comb: no triangle may lie outside, so their areas add up and none is negative.
  const auto arrow = read("a.obj", "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1.5 0.5 0\nf 1 2 3 4\n");
  EXPECT_DOUBLE_EQ(area(*arrow), 1);
  std::string comb = "v 0 0 0\nv 10 0 0\n", face = "f 1 2";
  for (int i = 10; i > 0; --i) {
    comb += "v " + std::to_string(i) + (i % 2 == 0 ? " 3 0\n" : " 1 0\n");
    face += " " + std::to_string(13 - i);
  }
  const auto teeth = read("c.obj", comb + face + "\n");
  ASSERT_TRUE(teeth.ok()) << teeth.error().text();
  for (const auto& t : (*teeth)->triangles) {
    const auto& v = (*teeth)->vertices;
    EXPECT_GT(cross(v[t[1]] - v[t[0]], v[t[2]] - v[t[0]]).z, 0);
  }
  EXPECT_EQ((*teeth)->triangles.size(), 10u);
}

TEST_F(MeshFiles, AFaceOfNinetyThousandCorners) {
  std::string round, jagged, face = "f";
  for (int i = 0; i < 90'000; ++i) {
    const double angle = i * 2 * 3.14159265358979 / 90'000, size = i % 2 == 0 ? 1 : 0.5;
    round += "v " + std::to_string(1e4 * volvox::cos(angle)) + " " + std::to_string(1e4 * volvox::sin(angle)) + " 0\n";
    jagged +=
        "v " + std::to_string(size * volvox::cos(angle)) + " " + std::to_string(size * volvox::sin(angle)) + " 0\n";
    face += " " + std::to_string(i + 1);
  }
  (void)read("round.obj", round + face + "\n");  // ends
  EXPECT_NE(failure("jagged.obj", jagged + face + "\n").find("point inwards"), std::string::npos);
}

TEST_F(MeshFiles, BadObjFilesAreToldWithTheirLine) {
  const std::pair<std::string, std::string> bad[] = {
      {"v 0 0\nf 1 1 1\n", "a.obj:1: a vertex is not three numbers"},
      {square + "f 1 2 5\n", "a.obj:5: a face refers to vertex 5, but there are 4"},
      {square + "f 1 2 0\n", "a.obj:5: a face refers to vertex 0"},
      {square + "f 1 2 -5\n", "a.obj:5: a face refers to vertex -5"},
      {square + "f 1 2 99999999999999999999\n", "a.obj:5: a face has the corner"},
      {square + "f 1 2 x\n", "a.obj:5: a face has the corner 'x'"},
      {"v 0 0 nan\n", "a.obj:1: a vertex is not finite"},
      {"v 0 0 1e300\n", "a.obj:1: a vertex is not finite"},
      {"v 1 1 1 0\n", "a.obj:1: a vertex is not finite"},
      {square, "has no triangles"},
      {"", "has no triangles"},
      {std::string(1000, '\0'), "has no triangles"}};
  for (const auto& [text, what] : bad)
    EXPECT_NE(failure("a.obj", text).find(what), std::string::npos) << failure("a.obj", text);
}

TEST_F(MeshFiles, NoOtherFileIsOpened) {
  const std::filesystem::path pipe = folder_.path() / "pipe.mtl";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);  // who opens it waits for ever
  EXPECT_TRUE(read("a.obj", "mtllib pipe.mtl\n" + square + "f 1 2 3\n").ok());
  EXPECT_FALSE(library_.read(pipe).ok());
}

TEST_F(MeshFiles, StlPlyAndOff) {
  const std::string facet =
      "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";
  const auto stl = read("a.STL", "solid s\n" + facet + facet + "endsolid s\n");
  ASSERT_TRUE(stl.ok()) << stl.error().text();
  EXPECT_EQ((*stl)->vertices.size(), 3u);
  EXPECT_EQ((*stl)->triangles, (Triangles{{0, 1, 2}, {0, 1, 2}}));
  const std::string ply =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
      "property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 ";
  EXPECT_TRUE(read("a.ply", ply + "2\n").ok());
  EXPECT_NE(failure("a.ply", ply + "3\n").find("does not exist"), std::string::npos);
  EXPECT_TRUE(read("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n").ok());
  EXPECT_FALSE(read("b.stl", "solid but no\nmore").ok());
}

// A DAE file with one triangle; `nodes` stands in its library of nodes, `scene` in its scene.
std::string dae(const std::string& nodes, const std::string& scene) {
  return R"(<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g" name="g"><mesh><source id="p"><float_array id="pa" count="9">0 0 0 1 0 0 0 1 0</float_array>
<technique_common><accessor source="#pa" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>
<library_nodes>)" +
         nodes + R"(</library_nodes><library_visual_scenes><visual_scene id="s">)" + scene +
         R"(</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>)";
}

TEST_F(MeshFiles, AForeignFormatIsReadInAnotherProcess) {
  const auto mesh = read("a.dae", dae("", R"(<node><translate>0 0 2</translate><instance_geometry url="#g"/></node>)"));
  ASSERT_TRUE(mesh.ok()) << mesh.error().text();
  EXPECT_EQ((*mesh)->vertices, (std::vector<Vec3>{{0, 0, 2}, {1, 0, 2}, {0, 1, 2}}));
  EXPECT_EQ((*mesh)->triangles, (Triangles{{0, 1, 2}}));
}

TEST_F(MeshFiles, WhatCrashesTheForeignReaderIsAnError) {
  const std::string again = R"(<node id="n"><instance_node url="#n"/></node>)";
  EXPECT_NE(failure("self.dae", dae(again, R"(<node><instance_node url="#n"/></node>)")).find("cannot be read"),
            std::string::npos);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<node>";
  EXPECT_NE(failure("deep.dae", dae("", deep)), "");
  std::string nodes = R"(<node id="n0"><instance_geometry url="#g"/></node>)";
  for (int i = 1; i < 10; ++i) {
    nodes += "<node id=\"n" + std::to_string(i) + "\">";
    for (int k = 0; k < 10; ++k) nodes += "<instance_node url=\"#n" + std::to_string(i - 1) + "\"/>";
    nodes += "</node>";
  }
  EXPECT_NE(failure("billion.dae", dae(nodes, R"(<node><instance_node url="#n9"/></node>)")), "");
}

}  // namespace
}  // namespace volvox::model
