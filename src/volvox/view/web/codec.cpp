#include "volvox/view/web/codec.h"
#include "volvox/base/check.h"
#include "volvox/base/json_text.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace volvox::view {
namespace {

template <class T>
void put(std::string& out, const T& value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

template <class T>
void put_all(std::string& out, const std::vector<T>& values) {
  if (!values.empty()) out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

void align(std::string& out) { out.resize((out.size() + 3) / 4 * 4, '\0'); }

nlohmann::json pose_json(const Pose& pose) {
  return {pose.position.x, pose.position.y, pose.position.z, pose.rotation.x,
          pose.rotation.y, pose.rotation.z, pose.rotation.w};
}

}  // namespace

std::string encode_tree(const RenderTree& tree) {
  std::string buffers;
  nlohmann::json json;
  json["name"] = tree.name;
  json["meshes"] = nlohmann::json::array();
  for (const auto& mesh : tree.meshes) {
    nlohmann::json levels = nlohmann::json::array();
    for (const Mesh& level : mesh->levels) {
      levels.push_back({{"vertices_at", buffers.size()}, {"vertices", level.vertices.size()}});
      put_all(buffers, level.vertices);
      levels.back().update({{"indices_at", buffers.size()}, {"indices", level.indices.size()}});
      put_all(buffers, level.indices);
    }
    json["meshes"].push_back(
        {{"levels", std::move(levels)}, {"radius", mesh->radius()}, {"translucent", mesh->translucent}});
  }
  // For each link its mesh (-1: nothing is drawn) and its placement.
  json["links"] = nlohmann::json::array();
  json["link_names"] = nlohmann::json::array();
  json["docks"] = nlohmann::json::array();
  for (const RenderNode& node : tree.nodes) {
    const int mesh = node.mesh == none ? -1 : narrow<int>(node.mesh);
    if (node.kind == RenderNode::Kind::link) {
      json["links"].push_back({mesh, std::uint32_t{node.placement}});
      json["link_names"].push_back(node.name);
    } else if (node.kind == RenderNode::Kind::dock) {
      json["docks"].push_back({{"name", node.name},
                               {"link", node.parent},
                               {"pose", pose_json(node.pose)},
                               {"mesh", mesh},
                               {"scale", node.scale},
                               {"placement", std::uint32_t{node.placement}},
                               {"gender", number_of(tree.genders[node.number])}});
    }
  }
  json["things"] = nlohmann::json::array();
  for (const Thing& thing : tree.things)
    json["things"].push_back({{"name", thing.name},
                              {"model", thing.model},
                              {"module", thing.is_module},
                              {"fixed", thing.fixed},
                              {"first_link", std::uint32_t{thing.first_link}},
                              {"links", thing.links},
                              {"first_dock", std::uint32_t{thing.first_dock}},
                              {"docks", thing.docks}});
  json["grounds"] = nlohmann::json::array();
  for (const Ground& ground : tree.grounds)
    json["grounds"].push_back(
        {{"pose", pose_json(ground.pose)}, {"color", {ground.color.r, ground.color.g, ground.color.b}}});
  if (tree.cloud) {
    const sim::CloudLook& look = tree.cloud->look;
    json["cloud"] = {{"mesh", tree.cloud->mesh},  {"noun", look.noun},
                     {"size", look.size},         {"values", look.values},
                     {"tap", look.can_be_tapped}, {"stone", look.shape == sim::CloudLook::Shape::stone},
                     {"drops", look.drops},       {"dropSize", look.drop_size},
                     {"fluid", look.fluid_color}, {"sheets", nlohmann::json::array()}};
    for (const sim::CloudLook::Sheet& sheet : look.sheets)
      json["cloud"]["sheets"].push_back({{"first", sheet.first},
                                         {"columns", sheet.columns},
                                         {"rows", sheet.rows},
                                         {"along", sheet.column_distance},
                                         {"across", sheet.row_distance}});
  }
  const std::string text = to_json_text(json);
  std::string out = "VXS1";
  put(out, narrow<std::uint32_t>(text.size()));
  out += text;
  align(out);
  VOLVOX_ASSERT(out.size() % 4 == 0 && buffers.size() % 4 == 0);
  return out + buffers;
}

std::string encode_frame(const Frame& frame) {
  std::string out;
  out.reserve(48 + frame.links.size() * sizeof(LinkPose) + frame.docks.size() * 2 + frame.rays.size() * 24 +
              frame.traffic.wires.size() * 8 + frame.colors.size() * 4 +
              frame.traffic.rings.size() * sizeof(record::Traffic::Ring));
  out = "VXF1";
  for (const std::size_t count :
       {frame.links.size(), frame.docks.size(), frame.rays.size(), frame.traffic.wires.size(), frame.colors.size()})
    put(out, narrow<std::uint32_t>(count));
  put(out, frame.time.seconds());
  put(out, real(frame.tick));
  put_all(out, frame.links);
  for (const DockView& dock : frame.docks) put(out, dock.flags);
  for (const DockView& dock : frame.docks) put(out, truncated<std::uint8_t>(255 * std::clamp(dock.load, 0.0f, 1.0f)));
  align(out);
  for (const RayView& ray : frame.rays) put(out, ray.from), put(out, ray.to);
  for (const auto& [from, to] : frame.traffic.wires) put(out, from), put(out, to);
  for (const Rgba& color : frame.colors) put(out, color);
  put(out, narrow<std::uint32_t>(frame.traffic.rings.size()));
  for (const record::Traffic::Ring& ring : frame.traffic.rings)
    put(out, std::array{ring.x, ring.y, ring.z, ring.radius});
  VOLVOX_ASSERT(out.size() % 4 == 0);  // a browser looks at it as numbers of 4 bytes
  return out;
}

std::string encode_cloud(std::size_t items, const std::vector<std::uint32_t>& changed,
                         const std::vector<sim::CloudItem>& cloud) {
  VOLVOX_ASSERT(items == cloud.size() && changed.size() <= items);
  std::string out = "VXC1";
  out.reserve(12 + changed.size() * (4 + sizeof(sim::CloudItem)));
  put(out, narrow<std::uint32_t>(items));
  put(out, narrow<std::uint32_t>(changed.size()));
  put_all(out, changed);
  for (const std::uint32_t i : changed) put(out, cloud[i]);
  return out;
}

}  // namespace volvox::view
