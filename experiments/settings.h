// Parameters of an experiment as numbers. Run::prepare has checked them before init is called.
#pragma once

#include <map>
#include <string>

namespace volvox::experiments {

double number(const std::map<std::string, std::string>& settings, const std::string& name);

}  // namespace volvox::experiments
