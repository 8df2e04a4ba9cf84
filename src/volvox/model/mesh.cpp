#include "volvox/model/mesh.h"

#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <fmt/format.h>
#include <assimp/Importer.hpp>

#include "volvox/base/index.h"
#include "volvox/model/xml.h"

namespace volvox::model {
namespace {

void add_part(const aiMesh& part, const aiMatrix4x4& to_scene, const Vec3& scale, MeshData& mesh) {
  const auto first = narrow<std::uint32_t>(mesh.vertices.size());
  for (unsigned i = 0; i < part.mNumVertices; ++i) {
    const aiVector3D v = to_scene * part.mVertices[i];
    mesh.vertices.push_back(multiply({v.x, v.y, v.z}, scale));
  }
  for (unsigned i = 0; i < part.mNumFaces; ++i) {
    const aiFace& face = part.mFaces[i];
    if (face.mNumIndices != 3) continue;
    mesh.triangles.push_back({first + face.mIndices[0], first + face.mIndices[1], first + face.mIndices[2]});
  }
}

void add_node(const aiScene& scene, const aiNode& node, const aiMatrix4x4& parent, const Vec3& scale,
              const std::string& submesh, MeshData& mesh) {
  const aiMatrix4x4 to_scene = parent * node.mTransformation;
  for (unsigned i = 0; i < node.mNumMeshes; ++i) {
    const aiMesh& part = *scene.mMeshes[node.mMeshes[i]];
    if (submesh.empty() || submesh == part.mName.C_Str() || submesh == node.mName.C_Str()) {
      add_part(part, to_scene, scale, mesh);
    }
  }
  for (unsigned i = 0; i < node.mNumChildren; ++i) add_node(scene, *node.mChildren[i], to_scene, scale, submesh, mesh);
}

}  // namespace

Result<Mesh> read_mesh(const std::filesystem::path& file, const Vec3& scale, const std::string& submesh) {
  const std::string name = file.string();
  if (Result<std::string> text = read_text(file); !text.ok()) return text.error();
  Assimp::Importer importer;
  // Points and lines have no volume to collide with.
  importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT | aiPrimitiveType_LINE);
  // Robots are drawn with z up; rotating Collada files to y up would lay them on their side.
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  const aiScene* scene = nullptr;
  try {
    scene = importer.ReadFile(name, aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_SortByPType);
  } catch (const std::exception& failure) {
    return Diagnostic{name, 0, fmt::format("the mesh cannot be read: {}", failure.what()),
                      "export it again, as OBJ or STL"};
  }
  if (scene == nullptr || scene->mRootNode == nullptr) {
    return Diagnostic{name, 0, fmt::format("the mesh cannot be read: {}", importer.GetErrorString()),
                      "give an OBJ, STL, DAE or PLY file with triangles, or export it again"};
  }
  auto mesh = std::make_shared<MeshData>();
  add_node(*scene, *scene->mRootNode, aiMatrix4x4(), scale, submesh, *mesh);
  if (mesh->triangles.empty()) {
    return Diagnostic{name, 0,
                      submesh.empty() ? "the mesh has no triangles" : fmt::format("the mesh has no part {}", submesh),
                      "check the content of the file in a mesh viewer"};
  }
  for (const Vec3& v : mesh->vertices) {
    if (!finite(v)) return Diagnostic{name, 0, "a vertex of the mesh is not finite", "export it again"};
  }
  for (const auto& triangle : mesh->triangles) {
    for (const std::uint32_t index : triangle) {
      if (index >= mesh->vertices.size())
        return Diagnostic{name, 0, "a triangle refers to a vertex that does not exist", "export it again"};
    }
  }
  return Mesh(std::move(mesh));
}

}  // namespace volvox::model
