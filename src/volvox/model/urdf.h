// Prepares a URDF for sdformat. Internal to model/.
// Poses in m and rad, in the frame of the link that remains. The document is not changed.
// Any thread, one a document. The same text gives the same result.
#pragma once

#include <map>
#include <string>

#include "volvox/base/math.h"
#include "volvox/model/xml.h"

namespace volvox::model {

struct PreparedUrdf {
  std::string text;  // for sdformat
  // Links without mass on fixed joints, which sdformat merges into a neighbour: the link and the pose in
  // it, so that docks and sensors may still refer to them.
  struct Merged {
    std::string link;
    Pose pose;
  };
  std::map<std::string, Merged> merged;
};

// Checks a URDF, because sdformat's reader prints some mistakes without line numbers and ignores others,
// and adds the request to keep its fixed joints, which sdformat would otherwise merge.
PreparedUrdf prepare_urdf(const std::string& text, const XMLElement& robot, Report& report);

}  // namespace volvox::model
