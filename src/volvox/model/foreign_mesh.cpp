#include "volvox/model/foreign_mesh.h"

#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <fmt/format.h>
#include <assimp/Importer.hpp>

#include <cstring>
#include <stdexcept>

#include "volvox/base/index.h"
#include "volvox/base/platform/child_process.h"
#include "volvox/model/mesh_files.h"

namespace volvox::model {
namespace {

constexpr platform::ProcessLimits limits{
    .memory_bytes = std::uint64_t{2} << 30, .cpu_seconds = 30, .opens_files = false};
constexpr double limit_s = 120;  // of wall time, which also passes while others use the processors
constexpr std::size_t max_parts = 1'000'000, max_triangles = 20'000'000;

// --- in the child: what goes wrong here is thrown ------------------------------------------------

void add_part(const aiMesh& part, const aiMatrix4x4& to_scene, MeshData& mesh) {
  const auto first = narrow<std::uint32_t>(mesh.vertices.size());
  for (unsigned i = 0; i < part.mNumVertices; ++i) {
    const aiVector3D v = to_scene * part.mVertices[i];
    mesh.vertices.push_back({v.x, v.y, v.z});
  }
  for (unsigned i = 0; i < part.mNumFaces; ++i) {
    const aiFace& face = part.mFaces[i];
    if (face.mNumIndices != 3) continue;
    mesh.triangles.push_back({first + face.mIndices[0], first + face.mIndices[1], first + face.mIndices[2]});
  }
  if (mesh.triangles.size() > max_triangles) throw std::runtime_error("it has too many triangles");
}

void add_node(const aiScene& scene, const aiNode& node, const aiMatrix4x4& parent, const std::string& wanted,
              std::size_t& parts, MeshData& mesh) {
  const aiMatrix4x4 to_scene = parent * node.mTransformation;
  for (unsigned i = 0; i < node.mNumMeshes; ++i) {
    if (++parts > max_parts) throw std::runtime_error("it has too many parts");
    const aiMesh& part = *scene.mMeshes[node.mMeshes[i]];
    if (wanted.empty() || wanted == part.mName.C_Str() || wanted == node.mName.C_Str()) add_part(part, to_scene, mesh);
  }
  for (unsigned i = 0; i < node.mNumChildren; ++i) add_node(scene, *node.mChildren[i], to_scene, wanted, parts, mesh);
}

template <class T>
void append(std::string& text, const std::vector<T>& values) {
  const std::uint64_t count = values.size();
  text.append(reinterpret_cast<const char*>(&count), sizeof count);
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string read_in_child(std::string_view bytes, const std::string& kind, const std::string& part) {
  Assimp::Importer importer;
  // Points and lines have no volume to collide with.
  importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT | aiPrimitiveType_LINE);
  // Robots are drawn with z up; rotating Collada files to y up would lay them on their side.
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  const aiScene* scene = importer.ReadFileFromMemory(
      bytes.data(), bytes.size(), aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_SortByPType,
      kind.c_str());
  if (scene == nullptr || scene->mRootNode == nullptr) throw std::runtime_error(importer.GetErrorString());
  MeshData mesh;
  std::size_t parts = 0;
  add_node(*scene, *scene->mRootNode, aiMatrix4x4(), part, parts, mesh);
  std::string text;
  append(text, mesh.vertices);
  append(text, mesh.triangles);
  return text;
}

// --- in this process --------------------------------------------------------------------------------

template <class T>
bool take(std::string_view& text, std::vector<T>& values) {
  std::uint64_t count = 0;
  if (text.size() < sizeof count) return false;
  std::memcpy(&count, text.data(), sizeof count);
  text.remove_prefix(sizeof count);
  if (count > text.size() / sizeof(T)) return false;
  values.resize(count);
  if (count > 0) std::memcpy(static_cast<void*>(values.data()), text.data(), count * sizeof(T));
  text.remove_prefix(count * sizeof(T));
  return true;
}

}  // namespace

Result<MeshData> read_foreign_mesh(std::string_view bytes, const std::string& kind, const std::string& file,
                                   const std::string& part) {
  const auto bad = [&](const std::string& why) {
    return Diagnostic{file, 0, fmt::format("the mesh cannot be read: {}", why), "export it again, as OBJ or STL"};
  };
  const platform::ChildOutcome outcome =
      platform::run_in_child([&] { return read_in_child(bytes, kind, part); }, limit_s, nullptr, limits);
  if (!outcome.failure.empty()) return bad(outcome.failure.substr(0, 500));
  MeshData mesh;
  std::string_view text = outcome.text;
  if (!take(text, mesh.vertices) || !take(text, mesh.triangles) || !text.empty()) return bad("its reader gave up");
  if (const auto valid = valid_mesh(mesh, file); !valid.ok()) return valid.error();
  return mesh;
}

}  // namespace volvox::model
