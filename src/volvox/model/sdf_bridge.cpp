#include "volvox/model/sdf_bridge.h"

#include <console_bridge/console.h>
#include <fmt/format.h>
#include <sdf/Console.hh>
#include <sdf/ParserConfig.hh>

#include <cmath>
#include <exception>

namespace volvox::model {
namespace {

double rounded(double x) {
  constexpr double scale = 1e12;
  return std::fabs(x) < 1e3 ? std::nearbyint(x * scale) / scale : x;
}

// The words that sdformat puts in brackets or after "named": mostly names of elements.
std::vector<std::string> names_in(const std::string& message) {
  std::vector<std::string> names;
  for (std::size_t open = message.find('['); open != std::string::npos; open = message.find('[', open + 1)) {
    const std::size_t close = message.find(']', open);
    if (close == std::string::npos) break;
    names.push_back(message.substr(open + 1, close - open - 1));
  }
  if (const std::size_t at = message.find("named "); at != std::string::npos) {
    names.push_back(message.substr(at + 6, message.find_first_of(" .,", at + 6) - at - 6));
  }
  return names;
}

int line_of_name(const XMLElement& element, const std::string& name) {
  const char* own = element.Attribute("name");
  if (own != nullptr && name == own) return element.GetLineNum();
  for (const XMLElement* child = element.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
    if (const int line = line_of_name(*child, name); line > 0) return line;
  }
  return 0;
}

int line_of(const sdf::Error& error, const XMLElement& root) {
  if (error.LineNumber().value_or(0) > 0) return *error.LineNumber();
  for (const std::string& name : names_in(error.Message())) {
    if (const int line = line_of_name(root, name); line > 0) return line;
  }
  return 0;
}

std::string one_line(std::string message) {
  for (char& c : message) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  while (!message.empty() && message.back() == ' ') message.pop_back();
  return message;
}

constexpr const char* see_specification = "compare it with the SDF specification, sdformat.org/spec";

}  // namespace

bool report_sdf_errors(const sdf::Errors& errors, const XMLElement& root, Report& report) {
  bool fine = true, said_why = false;
  for (const sdf::Error& error : errors) {
    const std::string message = one_line(error.Message());
    if (message.find("not defined in SDF") != std::string::npos) {
      const std::vector<std::string> names = names_in(message);
      report.warn(line_of(error, root),
                  fmt::format("SDF has no element <{}> in <{}>; it is ignored", names.empty() ? "?" : names[0],
                              names.size() < 2 ? "?" : names[1]),
                  std::string("correct its spelling, or remove it; ") + see_specification);
      continue;
    }
    fine = false;
    // sdformat repeats a mistake for every enclosing element; the first report has the place.
    if (said_why && message.starts_with("Error reading element")) continue;
    if (message.starts_with("Unable to read SDF string")) continue;
    said_why = true;
    report.error(line_of(error, root), message, see_specification);
  }
  if (!fine && !said_why) report.error(root, "sdformat cannot read this file", see_specification);
  return fine;
}

bool load_with_sdformat(const std::string& text, const XMLElement& root, sdf::Root& result, Report& report) {
  sdf::Console::Instance()->SetQuiet(true);
  console_bridge::noOutputHandler();  // what is no good SDF, sdformat tries to read as URDF, whose parser prints
  sdf::ParserConfig config;
  // Otherwise a misspelt <colision> would only be printed on the console, which is silenced above.
  config.SetUnrecognizedElementsPolicy(sdf::EnforcementPolicy::ERR);
  try {
    return report_sdf_errors(result.LoadSdfString(text, config), root, report);
  } catch (const std::exception& failure) {
    report.error(root, fmt::format("sdformat cannot read this file: {}", one_line(failure.what())), see_specification);
  }
  return false;
}

Vec3 to_vec(const ignition::math::Vector3d& v) { return {rounded(v.X()), rounded(v.Y()), rounded(v.Z())}; }

Pose to_pose(const ignition::math::Pose3d& pose) {
  const ignition::math::Quaterniond& q = pose.Rot();
  return {to_vec(pose.Pos()), normalized(Quat{rounded(q.W()), rounded(q.X()), rounded(q.Y()), rounded(q.Z())})};
}

}  // namespace volvox::model
