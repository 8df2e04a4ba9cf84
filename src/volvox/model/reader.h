// Reads modules and worlds from SDF and URDF files, with the volvox: elements of
// docs/formats.md. Whatever is wrong with a file comes back as an Error whose diagnostics
// name the file, the line and the fix; nothing is printed, nothing is thrown.
// Not thread-safe: libsdformat, which reads the standard elements, has global state.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/model/module_model.h"
#include "volvox/model/world_model.h"

namespace volvox::model {

using Model = std::shared_ptr<const ModuleModel>;

// Finds models by name, reads each file once, and hands out the one copy ever after.
class ModelLibrary {
 public:
  ModelLibrary();  // looks along platform::resource_path()
  explicit ModelLibrary(std::vector<std::filesystem::path> resource_path);

  // A name ("superbot", "model://superbot") is robots/NAME/NAME.sdf (or .urdf) along the
  // resource path and in `relative_to`, the folder of the file that asks; a path that ends in
  // .sdf or .urdf is taken relative to that folder. Warnings of a file that was read before
  // are not repeated.
  Result<Model> load(const std::string& name_or_path, const std::filesystem::path& relative_to = {},
                     std::vector<Diagnostic>* warnings = nullptr);

  // The file that load() would read.
  Result<std::filesystem::path> find(const std::string& name_or_path,
                                     const std::filesystem::path& relative_to = {}) const;
  // The file behind a URI of a mesh or an image: model://NAME/..., package://NAME/...,
  // file://..., or a path relative to the folder.
  Result<std::filesystem::path> find_resource(const std::string& uri, const std::filesystem::path& relative_to) const;

  std::vector<std::string> names() const;  // of the robots along the resource path, sorted
  const std::vector<std::filesystem::path>& resource_path() const { return resource_path_; }

 private:
  struct Entry {
    Model model;                       // null while it is being read: a cycle shows here
    std::vector<Diagnostic> warnings;  // not yet handed out
  };
  std::vector<std::filesystem::path> folders(const std::filesystem::path& relative_to) const;

  std::vector<std::filesystem::path> resource_path_;
  std::map<std::filesystem::path, Entry> cache_;
};

// A <volvox:parameter> of a world: what --set can change.
struct ParameterDesc {
  std::string name;
  std::string value;                 // the default
  std::optional<double> min, max;    // with either, the value is a number
  std::vector<std::string> choices;  // if any, the value is one of these
  std::string description;
  int line = 0;
  bool whole = false;  // a number without a fraction
};

Result<std::vector<ParameterDesc>> read_parameters(const std::filesystem::path& file);

// Checks a setting against what is declared: an unknown key names the nearest, a value out
// of range names the range. `file` is where the parameters are declared, for the message.
Result<void> check_settings(const std::vector<ParameterDesc>& parameters,
                            const std::map<std::string, std::string>& settings, const std::string& file);

// Reads a world. `settings` replace the defaults of its parameters. A file that holds a
// <model> (or a URDF) instead of a <world> becomes a world with a ground and that one model
// standing on it.
Result<WorldModel> read_world(const std::filesystem::path& file, const std::map<std::string, std::string>& settings,
                              ModelLibrary& library, std::vector<Diagnostic>* warnings = nullptr);

// For tests and generated worlds: the same from a text. Relative paths start at the folder
// of `file`, which need not exist.
Result<WorldModel> read_world_text(std::string text, const std::filesystem::path& file,
                                   const std::map<std::string, std::string>& settings, ModelLibrary& library,
                                   std::vector<Diagnostic>* warnings = nullptr);

}  // namespace volvox::model
