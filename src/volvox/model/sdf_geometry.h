// Converts <geometry> of SDF, and our <volvox:hull>, into shapes. Internal to model/.
// Lengths in m. For one thread, as reader.h says; library and report must outlive the reader.
#pragma once

#include <sdf/Geometry.hh>

#include <filesystem>
#include <map>
#include <optional>

#include "volvox/model/reader.h"
#include "volvox/model/shape.h"
#include "volvox/model/xml.h"

namespace volvox::model {

class GeometryReader {
 public:
  enum class Use { visual, collision_of_moving, collision_of_static };
  struct PlacedShape {
    Shape shape;
    Pose pose;  // in the frame of the <collision> or <visual>
  };

  GeometryReader(ModelLibrary& library, std::filesystem::path folder, Report& report)
      : library_(library), folder_(std::move(folder)), report_(report) {}

  // Errors are reported at `at`; `element` is its <geometry>, null in a URDF. nullopt if the
  // geometry is empty, or after an error was reported.
  std::optional<PlacedShape> read(const sdf::Geometry& geometry, const XMLElement& at, const XMLElement* element,
                                  Use use);

 private:
  std::optional<PlacedShape> read_hull(const XMLElement& hull);
  std::optional<PlacedShape> read_mesh_shape(const sdf::Mesh& mesh, const XMLElement& at, Use use);
  std::optional<PlacedShape> read_height_map(const sdf::Heightmap& map, const XMLElement& at, Use use);
  std::optional<PlacedShape> make_hull(std::vector<Vec3> points, const XMLElement& at);
  Mesh load_mesh(const std::string& uri, const Vec3& scale, const std::string& submesh, const XMLElement& at);
  void report_file(const Error& error, const XMLElement& at);

  ModelLibrary& library_;
  std::filesystem::path folder_;
  Report& report_;
  std::map<std::string, Mesh> meshes_;  // by URI, part and scale, shared by collisions and visuals
};

}  // namespace volvox::model
