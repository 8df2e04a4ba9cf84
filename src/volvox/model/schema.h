// Checks the place and attributes of our own elements, and the numbers in the standard ones. This happens
// before sdformat reads the file, because sdformat gives no line number for many mistakes and ignores others
// silently. Internal to model/.
// They only read the document, in SI units and degrees as SDF has them, and add to the report.
// One thread a document.
#pragma once

#include "volvox/model/xml.h"

namespace volvox::model {

// Reports every volvox: element and attribute below `root` that docs/formats.md does not list.
void check_our_elements(const XMLElement& root, Report& report);

// Checks numbers, masses, inertias and names of the standard SDF elements below `root`.
void check_standard_elements(const XMLElement& root, Report& report);

// The rules for mass and inertia, in SDF and in URDF; errors are reported at the line of `at`.
void check_mass(const XMLElement& at, const std::string& link, double mass, Report& report);
void check_inertia(const XMLElement& at, const std::string& link, const Inertia& inertia, Report& report);

}  // namespace volvox::model
