// <volvox:parameter>, which --set can change, and ${name} in the text of a world. Internal to model/.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "volvox/model/reader.h"
#include "volvox/model/xml.h"

namespace volvox::model {

std::vector<ParameterDesc> parameters_of(const XMLElement& world, Report& report);

// Replaces every ${name} outside of comments. Values are escaped and contain no line breaks, so
// neither the structure nor the line numbers of the file change.
std::string substitute(const std::string& text, const std::map<std::string, std::string>& values, Report& report);

}  // namespace volvox::model
