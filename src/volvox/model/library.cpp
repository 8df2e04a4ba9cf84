#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "volvox/base/platform/paths.h"
#include "volvox/base/text.h"
#include "volvox/model/file_names.h"
#include "volvox/model/reader.h"
#include "volvox/model/schema.h"
#include "volvox/model/sdf_bridge.h"
#include "volvox/model/sdf_model.h"

namespace volvox::model {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

// Removes the scheme from a URI and returns it; "" if there is none.
std::string take_scheme(std::string& uri) {
  const std::size_t at = uri.find("://");
  if (at == std::string::npos) return {};
  std::string scheme = uri.substr(0, at);
  uri.erase(0, at + 3);
  return scheme;
}

// The possible files of a model in its folder.
std::vector<fs::path> model_files(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return {folder / (name + ".sdf"), folder / (name + ".urdf"), folder / "model.sdf"};
}

Diagnostic no_download(const std::string& uri) {
  return {{},
          0,
          fmt::format("{} is not on this machine, and nothing is downloaded", uri),
          "download it and give the path of the file"};
}

}  // namespace

bool names_a_model_file(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".sdf" || extension == ".urdf" || extension == ".world" || extension == ".xml";
}

std::optional<Diagnostic> why_no_model_file(const fs::path& file) {
  std::error_code code;
  if (names_a_model_file(file) || !fs::exists(file, code)) return std::nullopt;
  const std::string name = file.string();
  if (fs::is_directory(file, code)) {
    const fs::path world = file / "world.sdf";
    return Diagnostic{name, 0, "this is a folder",
                      is_file(world) ? fmt::format("name the world in it: {}", world.string())
                                     : "name the .sdf or .urdf file itself"};
  }
  return Diagnostic{name, 0, "this file is neither SDF nor URDF, by its name",
                    file.extension() == ".xacro"
                        ? fmt::format("make a URDF of it: xacro {} > {}.urdf", name, file.stem().string())
                        : "give a file that ends in .sdf, .urdf, .world or .xml"};
}

ModelLibrary::ModelLibrary() : ModelLibrary(platform::resource_path()) {}
ModelLibrary::ModelLibrary(std::vector<fs::path> resource_path) : resource_path_(std::move(resource_path)) {}

std::vector<fs::path> ModelLibrary::folders(const fs::path& relative_to) const {
  std::vector<fs::path> result{relative_to};
  result.insert(result.end(), resource_path_.begin(), resource_path_.end());
  return result;
}

std::vector<std::string> ModelLibrary::names() const {
  std::set<std::string> names;
  for (const fs::path& folder : resource_path_) {
    std::error_code code;
    for (fs::directory_iterator it(folder / "robots", code), end; !code && it != end; it.increment(code)) {
      const std::vector<fs::path> files = model_files(it->path());
      if (std::any_of(files.begin(), files.end(), is_file)) names.insert(it->path().filename().string());
    }
  }
  return {names.begin(), names.end()};
}

Result<fs::path> ModelLibrary::find(const std::string& name_or_path, const fs::path& relative_to) const {
  std::string name = name_or_path;
  const std::string scheme = take_scheme(name);
  if (scheme == "http" || scheme == "https") return no_download(name_or_path);
  const fs::path path = name;
  if (names_a_model_file(path)) {
    for (const fs::path& folder : folders(relative_to)) {
      for (const fs::path& candidate : {folder / path, folder / "robots" / path}) {
        if (is_file(candidate)) return candidate;
      }
    }
    return Diagnostic{{},
                      0,
                      fmt::format("there is no file {}", name),
                      relative_to.empty()
                          ? "check the path and its spelling"
                          : fmt::format("check the path; it starts in {}",
                                        relative_to.empty() ? "the folder that you are in" : relative_to.string())};
  }
  if (!path.filename().empty()) {
    for (const fs::path& folder : folders(relative_to)) {
      for (const fs::path& model : {folder / "robots" / path, folder / path}) {
        for (const fs::path& candidate : model_files(model)) {
          if (is_file(candidate)) return candidate;
        }
      }
    }
  }
  if (const auto why = why_no_model_file(relative_to / path)) return *why;
  // Every world of Gazebo has these two.
  if (path == "sun")
    return Diagnostic{{}, 0, "there is no model of the sun here", "leave this <include> out: pictures are lit anyway"};
  if (path == "ground_plane")
    return Diagnostic{{},
                      0,
                      "there is no model ground_plane here",
                      "write the ground into the world: <model name=\"ground\"><static>true</static><link "
                      "name=\"ground\"><collision name=\"plane\"><geometry><plane><normal>0 0 1</normal></plane>"
                      "</geometry></collision></link></model>"};
  return Diagnostic{
      {},
      0,
      fmt::format("there is no robot or model named \"{}\"", name),
      suggest(name, names()) + "; or add its folder to VOLVOX_RESOURCE_PATH, or give a path that ends in .sdf"};
}

Result<fs::path> ModelLibrary::find_resource(const std::string& uri, const fs::path& relative_to) const {
  std::string name = uri;
  const std::string scheme = take_scheme(name);
  if (scheme == "http" || scheme == "https") return no_download(uri);
  const fs::path path = name;
  std::vector<fs::path> candidates;
  if (scheme == "model" || scheme == "package") {
    // The model may be in a folder of its own name, above the file with this URI.
    std::error_code code;
    for (fs::path up = fs::absolute(relative_to, code); up.has_relative_path(); up = up.parent_path()) {
      if (!path.empty() && up.filename() == *path.begin()) candidates.push_back(up.parent_path() / path);
    }
    for (const fs::path& folder : folders(relative_to)) {
      candidates.push_back(folder / "robots" / path);
      candidates.push_back(folder / path);
    }
  } else {
    candidates.push_back(relative_to / path);
  }
  for (const fs::path& candidate : candidates) {
    if (is_file(candidate)) return candidate;
  }
  if (name.empty()) return Diagnostic{{}, 0, "the URI of a mesh or image is empty", "give the name of the file"};
  return Diagnostic{{},
                    0,
                    fmt::format("there is no file {}", uri),
                    fmt::format("check the path; it starts in {}",
                                relative_to.empty() ? "the folder that you are in" : relative_to.string())};
}

Result<std::string> ModelLibrary::read(const fs::path& file) {
  Result<std::string> bytes = read_file(file);
  if (bytes.ok()) note_source(sources_, file, *bytes);
  return bytes;
}

Result<Model> ModelLibrary::load(const std::string& name_or_path, const fs::path& relative_to,
                                 std::vector<Diagnostic>* warnings) {
  const Result<fs::path> found = find(name_or_path, relative_to);
  if (!found.ok()) return found.error();
  std::error_code code;
  const fs::path key = fs::weakly_canonical(*found, code);
  const auto [it, is_new] = cache_.try_emplace(code ? *found : key);
  if (!is_new && it->second.model == nullptr) {
    return Diagnostic{found->string(), 0, "this file includes itself, perhaps through others",
                      "break the circle of <include>s"};
  }
  if (is_new) {
    const auto read_model = [&]() -> Result<Model> {
      const Result<std::string> text = read(*found);
      if (!text.ok()) return text.error();
      return read_model_text(*text, *found, *this, &it->second.warnings);
    };
    Result<Model> model = read_model();
    if (!model.ok()) {
      cache_.erase(it);
      return model.error();
    }
    it->second.model = *model;
  }
  if (warnings != nullptr) {
    warnings->insert(warnings->end(), it->second.warnings.begin(), it->second.warnings.end());
    it->second.warnings.clear();
  }
  return it->second.model;
}

bool hidden_from_sdformat(std::string_view name, std::string_view parent) {
  return is_ours(name) || (name == "include" && parent == "world");
}

bool check_sdf_root(const XMLElement& root, Report& report) {
  if (std::string_view(root.Name()) != "sdf") {
    report.error(root, fmt::format("the file begins with <{}>", root.Name()),
                 "begin it with <sdf version=\"1.9\"> (or <robot> in a URDF)");
    return false;
  }
  const char* version = root.Attribute("version");
  if (version == nullptr || !parse_number(version)) {
    report.error(root, "<sdf> has no version", "write <sdf version=\"1.9\">");
    return false;
  }
  return true;
}

namespace {

// Every link and joint that was not merged must be in the model.
void check_urdf_came_through(const ModuleModel& model, const XMLElement& robot, const PreparedUrdf& urdf,
                             Report& report) {
  for (const XMLElement* link : children(robot, "link")) {
    const std::string name = link->Attribute("name");
    if (model.link_index(name) < 0 && !urdf.merged.contains(name)) {
      report.error(*link, fmt::format("link {} has no mass", name), "give it <inertial> with a positive mass");
    }
  }
  for (const XMLElement* joint : children(robot, "joint")) {
    const std::string name = joint->Attribute("name");
    const std::string child = joint->FirstChildElement("child")->Attribute("link");
    const bool merged = std::string_view(joint->Attribute("type")) == "fixed" && urdf.merged.contains(child);
    if (model.joint_index(name) < 0 && !merged) {
      report.error(*joint, fmt::format("joint {} was lost in the conversion from URDF to SDF", name),
                   "convert the file to SDF");
    }
  }
}

Result<Model> read_urdf(const std::string& text, const XMLElement& robot, const fs::path& file, ModelLibrary& library,
                        Report& report) {
  const PreparedUrdf urdf = prepare_urdf(text, robot, report);
  sdf::Root root;
  if (!report.ok() || !load_with_sdformat(urdf.text, robot, root, report)) return report.error();
  if (root.Model() == nullptr) {
    report.error(robot, "sdformat finds no model in this URDF",
                 "give its links mass, and its joints a parent and a child");
    return report.error();
  }
  auto model =
      std::make_shared<ModuleModel>(convert_model(*root.Model(), {robot, file.parent_path(), library, &urdf}, report));
  check_urdf_came_through(*model, robot, urdf, report);
  if (!report.ok()) return report.error();
  return Model(std::move(model));
}

Result<Model> read_sdf(const std::string& text, const XMLElement& sdf, const fs::path& file, ModelLibrary& library,
                       Report& report) {
  if (!check_sdf_root(sdf, report)) return report.error();
  const XMLElement* element = sdf.FirstChildElement("model");
  const XMLElement* include = sdf.FirstChildElement("include");
  if (element == nullptr && include != nullptr) {
    const std::string uri = text_of(include->FirstChildElement("uri"));
    if (uri.empty()) report.error(*include, "this <include> has no <uri>", "name the model: <uri>model://NAME</uri>");
    return uri.empty() ? Result<Model>(report.error()) : library.load(uri, file.parent_path(), &report.warnings());
  }
  if (element == nullptr || element->NextSiblingElement("model") != nullptr) {
    report.error(sdf, element == nullptr ? "the file contains no <model>" : "the file contains more than one <model>",
                 sdf.FirstChildElement("world") != nullptr ? "this is a world; name a file with a model"
                                                           : "put exactly one <model> into it");
    return report.error();
  }
  check_standard_elements(sdf, report);
  sdf::Root root;
  std::string plain = text;
  blank_elements(plain, hidden_from_sdformat);
  if (!report.ok() || !load_with_sdformat(plain, sdf, root, report)) return report.error();
  if (root.Model() == nullptr) {
    report.error(*element, "sdformat finds no model here", "compare it with the SDF specification, sdformat.org/spec");
    return report.error();
  }
  auto model = std::make_shared<ModuleModel>(
      convert_model(*root.Model(), {*element, file.parent_path(), library, nullptr}, report));
  if (!report.ok()) return report.error();
  return Model(std::move(model));
}

}  // namespace

Result<Model> read_model_text(const std::string& text, const fs::path& file, ModelLibrary& library,
                              std::vector<Diagnostic>* warnings) {
  Report report(file.string());
  tinyxml2::XMLDocument document;
  if (!parse_xml(text, document, report)) return report.error();
  const XMLElement& root = *document.RootElement();
  check_our_elements(root, report);
  Result<Model> model = std::string_view(root.Name()) == "robot" ? read_urdf(text, root, file, library, report)
                                                                 : read_sdf(text, root, file, library, report);
  if (warnings != nullptr) warnings->insert(warnings->end(), report.warnings().begin(), report.warnings().end());
  return model;
}

}  // namespace volvox::model
