// <volvox:parameter>, which --set can change, and ${...} in the text of a world. Internal to model/.
// Values stay text, in the unit that their element documents. For one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "volvox/model/reader.h"
#include "volvox/model/xml.h"

namespace volvox::model {

// The <volvox:parameter>s of a world, and what ${name:-default} declares in the text of its file.
std::vector<ParameterDesc> parameters_of(const XMLElement& world, const std::string& text, Report& report);

// Replaces every ${...} (expression.h) outside of comments. Values are escaped and contain no line breaks, so
// neither the structure nor the line numbers of the file change. What uses `index` in a population stays.
std::string substitute(const std::string& text, const std::map<std::string, std::string>& values, Report& report);
bool uses_index(const Mind& mind);
// The ${...index...} that substitute() left in the parameters of a mind, for one module of a population.
void expand_index(Mind& mind, std::int64_t index, std::map<std::string, std::string> values, Report& report);

}  // namespace volvox::model
