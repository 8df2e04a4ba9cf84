// Between libsdformat and us: its errors with lines, its poses with bits that do not depend
// on the machine. Internal to model/.
#pragma once

#include <ignition/math/Pose3.hh>
#include <sdf/Root.hh>

#include <string>

#include "volvox/base/math.h"
#include "volvox/model/xml.h"

namespace volvox::model {

// Hands a text to sdformat. `root` is the same text as XML, to find lines that sdformat does
// not give. False after reporting why it was refused.
bool load_with_sdformat(const std::string& text, const XMLElement& root, sdf::Root& result, Report& report);

// sdformat turns angles into quaternions with the C library, whose last bit depends on the
// processor. Rounding to a picometre (and 1e-12 of a quaternion) removes that bit, and gives
// back decimal numbers such as 0.042 exactly.
Vec3 to_vec(const ignition::math::Vector3d& v);
Pose to_pose(const ignition::math::Pose3d& pose);

// What sdf::SemanticPose::Resolve and its like report.
bool report_sdf_errors(const sdf::Errors& errors, const XMLElement& root, Report& report);

}  // namespace volvox::model
