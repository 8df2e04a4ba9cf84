// Converts one <model> of SDF, or <robot> of URDF, into a ModuleModel. Internal to model/.
// SI units, rad. For one thread, as reader.h says; the result owns all that it holds or shares it immutably.
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
  const XMLElement& element;           // the <model> or <robot>, for our elements and for line numbers
  std::filesystem::path folder;        // relative URIs start here
  ModelLibrary& library;               // finds meshes and images
  const PreparedUrdf* urdf = nullptr;  // of a <robot>
};

// Converts a model of sdformat into our structures and adds our own elements. Mistakes go to the
// report; the result is valid only if there are none.
ModuleModel convert_model(const sdf::Model& model, const ModelSource& source, Report& report);

// Adds what sdformat does not know: motors, docks, sensors, noise, the mind.
void add_our_elements(ModuleModel& model, const ModelSource& source, Report& report);

// Reads a <plugin>. Plugins of other simulators are skipped with a warning.
void read_plugin(const XMLElement& element, std::vector<PluginSpec>& plugins, Report& report);

// Reads the <volvox:mind> below an element; nullopt if there is none.
std::optional<Mind> read_mind(const XMLElement& element, Report& report);

// Reads the text of a file that contains one <model>, a <robot>, or an <include> of such a file.
Result<Model> read_model_text(const std::string& text, const std::filesystem::path& file, ModelLibrary& library,
                              std::vector<Diagnostic>* warnings);

// Whether an element is hidden from sdformat: our own elements, and the includes that we resolve ourselves.
bool hidden_from_sdformat(std::string_view name, std::string_view parent);

// Checks that the root is <sdf> with a version. False after reporting an error.
bool check_sdf_root(const XMLElement& root, Report& report);

}  // namespace volvox::model
