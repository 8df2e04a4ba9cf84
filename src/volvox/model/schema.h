// What may stand where: our own elements, and the numbers in the standard ones. Checked
// before sdformat sees the file, because it gives no line for many mistakes and passes over
// others in silence. Internal to model/.
#pragma once

#include "volvox/model/xml.h"

namespace volvox::model {

// Every volvox: element and attribute below `root` is one that docs/formats.md lists.
void check_our_elements(const XMLElement& root, Report& report);

// Numbers, masses, inertias and names of the standard SDF elements below `root`.
void check_standard_elements(const XMLElement& root, Report& report);

// The rules on inertia, for SDF and URDF alike; `at` is where it stands.
void check_mass(const XMLElement& at, const std::string& link, double mass, Report& report);
void check_inertia(const XMLElement& at, const std::string& link, const Inertia& inertia, Report& report);

}  // namespace volvox::model
