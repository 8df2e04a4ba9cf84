// What URDF needs before sdformat may have it. Internal to model/.
#pragma once

#include <map>
#include <string>

#include "volvox/base/math.h"
#include "volvox/model/xml.h"

namespace volvox::model {

struct PreparedUrdf {
  std::string text;  // for sdformat
  // Links without mass that a fixed joint holds: sdformat merges them into a neighbour. Where
  // each went, so that docks and sensors can stand on it all the same.
  struct Merged {
    std::string link;
    Pose pose;
  };
  std::map<std::string, Merged> merged;
};

// Checks a URDF (sdformat's reader prints what it does not like, without lines, and drops the
// rest) and asks for its fixed joints to be kept, which it would otherwise merge away.
PreparedUrdf prepare_urdf(const std::string& text, const XMLElement& robot, Report& report);

}  // namespace volvox::model
