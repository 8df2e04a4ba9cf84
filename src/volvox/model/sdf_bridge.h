// The interface to libsdformat: adds line numbers to its errors, and makes the bits of its poses
// independent of the machine. Internal to model/.
// SI units, rotations as quaternions. The caller owns the result; the same text gives the same bits.
#pragma once

#include <ignition/math/Pose3.hh>
#include <sdf/Root.hh>

#include <string>

#include "volvox/base/math.h"
#include "volvox/model/xml.h"

namespace volvox::model {

// Parses a text with sdformat. `root` is the same text as XML, to find line numbers that sdformat does
// not give. False after reporting errors.
bool load_with_sdformat(const std::string& text, const XMLElement& root, sdf::Root& result, Report& report);

// sdformat converts angles into quaternions with the C library, whose last bit depends on the CPU.
// Rounding to a picometre (and 1e-12 of a quaternion) removes this difference, and restores decimal
// numbers such as 0.042 exactly.
Vec3 to_vec(const ignition::math::Vector3d& v);
Pose to_pose(const ignition::math::Pose3d& pose);

// Reports the errors of sdf::SemanticPose::Resolve and similar functions. False if there were errors.
bool report_sdf_errors(const sdf::Errors& errors, const XMLElement& root, Report& report);

}  // namespace volvox::model
