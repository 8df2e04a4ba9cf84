// One <model> of SDF, or <robot> of URDF, as a ModuleModel. Internal to model/.
#pragma once

#include <sdf/Model.hh>

#include <filesystem>
#include <map>

#include "volvox/model/module_model.h"
#include "volvox/model/reader.h"
#include "volvox/model/urdf.h"
#include "volvox/model/xml.h"

namespace volvox::model {

struct ModelSource {
  const XMLElement& element;           // the <model> or <robot>, for our elements and for lines
  std::filesystem::path folder;        // relative URIs start here
  const ModelLibrary& library;         // finds meshes and images
  const PreparedUrdf* urdf = nullptr;  // of a <robot>
};

// Reads what sdformat has read once more, into our structures, and adds our own elements.
// Mistakes go to the report; the result counts only if there are none.
ModuleModel convert_model(const sdf::Model& model, const ModelSource& source, Report& report);

// The part of it that sdformat knows nothing of: motors, docks, sensors, noise, the mind.
void add_our_elements(ModuleModel& model, const ModelSource& source, Report& report);

// <plugin>: of ours, or, with a warning, of another simulator.
void read_plugin(const XMLElement& element, std::vector<PluginSpec>& plugins, Report& report);

// <volvox:mind> below an element; none if there is none.
std::optional<Mind> read_mind(const XMLElement& element, Report& report);

// Reads the text of a file that holds one <model>, a <robot>, or an <include> of another file
// that does.
Result<Model> read_model_text(const std::string& text, const std::filesystem::path& file, ModelLibrary& library,
                              std::vector<Diagnostic>* warnings);

// Whether sdformat must not see an element: ours, and the includes that we resolve ourselves.
bool hidden_from_sdformat(std::string_view name, std::string_view parent);

// The root is <sdf> with a version; false after reporting what it is instead.
bool check_sdf_root(const XMLElement& root, Report& report);

}  // namespace volvox::model
