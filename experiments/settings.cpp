#include "settings.h"

#include "volvox/base/check.h"
#include "volvox/model/xml.h"

namespace volvox::experiments {

double number(const std::map<std::string, std::string>& settings, const std::string& name) {
  const auto value = model::parse_number(settings.at(name));
  VOLVOX_CHECK(value.has_value(), "a parameter was not checked");
  return *value;
}

}  // namespace volvox::experiments
