// Reads modules and worlds from SDF and URDF files, with the volvox: elements of docs/formats.md.
// Every mistake in a file is returned in an Error whose diagnostics name the file, the line and the
// fix; nothing is printed or thrown. Not thread-safe: libsdformat, which reads the standard elements,
// has global state.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/model/module_model.h"
#include "volvox/model/sources.h"
#include "volvox/model/world_model.h"

namespace volvox::model {

using Model = std::shared_ptr<const ModuleModel>;

// Finds models by name. Each file is read once; its model is shared afterwards.
class ModelLibrary {
 public:
  ModelLibrary();  // searches platform::resource_path()
  explicit ModelLibrary(std::vector<std::filesystem::path> resource_path);

  // A name ("superbot", "model://superbot") means robots/NAME/NAME.sdf (or .urdf) in the resource
  // path or in `relative_to`, the folder of the referring file; a path that ends in .sdf or .urdf is
  // relative to that folder. Warnings of a file that was read before are not repeated.
  Result<Model> load(const std::string& name_or_path, const std::filesystem::path& relative_to = {},
                     std::vector<Diagnostic>* warnings = nullptr);

  // The file that load() would read.
  Result<std::filesystem::path> find(const std::string& name_or_path,
                                     const std::filesystem::path& relative_to = {}) const;
  // The file of a mesh or an image with this URI: model://NAME/..., package://NAME/...,
  // file://..., or a path relative to the folder.
  Result<std::filesystem::path> find_resource(const std::string& uri, const std::filesystem::path& relative_to) const;

  // The content of a file, which becomes one of the sources.
  Result<std::string> read(const std::filesystem::path& file);
  const Sources& sources() const { return sources_; }  // all files that were read so far

  std::vector<std::string> names() const;  // of the robots in the resource path, sorted
  const std::vector<std::filesystem::path>& resource_path() const { return resource_path_; }

 private:
  struct Entry {
    Model model;                       // null while it is being read, which detects cycles
    std::vector<Diagnostic> warnings;  // not returned yet
  };
  std::vector<std::filesystem::path> folders(const std::filesystem::path& relative_to) const;

  std::vector<std::filesystem::path> resource_path_;
  std::map<std::filesystem::path, Entry> cache_;
  Sources sources_;
};

// A <volvox:parameter> of a world, which --set can change.
struct ParameterDesc {
  std::string name;
  std::string value;                 // the default
  std::optional<double> min, max;    // if either is given, the value is a number
  std::vector<std::string> choices;  // if not empty, the value is one of these
  std::string description;
  int line = 0;
  bool whole = false;        // a number without a fraction
  bool of_modules = false;   // it says which modules there are or how they think, and nothing else
  std::string settled = {};  // not empty: no other value than the default is taken, and this says why
};

Result<std::vector<ParameterDesc>> read_parameters(const std::filesystem::path& file);

// The value of every parameter: its setting or its default, with ${...} replaced. The error for an unknown key names
// the nearest one, the error for a value out of range names the range. `file` declares the parameters, for the message.
Result<std::map<std::string, std::string>> settle_values(const std::vector<ParameterDesc>& parameters,
                                                         const std::map<std::string, std::string>& settings,
                                                         const std::string& file);

// Reads a world. `settings` replace the defaults of its parameters. A file with a <model> (or a URDF)
// instead of a <world> becomes a world with a ground on which this model stands.
Result<WorldModel> read_world(const std::filesystem::path& file, const std::map<std::string, std::string>& settings,
                              ModelLibrary& library, std::vector<Diagnostic>* warnings = nullptr);

// The same from a text, for tests and generated worlds. Relative paths start at the folder
// of `file`, which need not exist.
Result<WorldModel> read_world_text(std::string text, const std::filesystem::path& file,
                                   const std::map<std::string, std::string>& settings, ModelLibrary& library,
                                   std::vector<Diagnostic>* warnings = nullptr);

}  // namespace volvox::model
