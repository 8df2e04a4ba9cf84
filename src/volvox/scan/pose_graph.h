// Poses in the plane that are related by measurements, and the poses that fit all measurements best (Gauss-Newton,
// as in graph-based SLAM). Metres and radians; deterministic, on the calling thread.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "volvox/scan/scan_log.h"

namespace volvox::scan {

// A symmetric 3 x 3 matrix over (x, y, heading), by rows: an information matrix or a covariance.
using Matrix3 = std::array<std::array<double, 3>, 3>;

struct Eigen3 {
  std::array<double, 3> values;                  // in any order
  std::array<std::array<double, 3>, 3> vectors;  // one a row, unit length
};
Eigen3 eigen(const Matrix3& symmetric);
Matrix3 inverse(const Matrix3& symmetric);  // of a positive definite matrix

// `to` was measured at `pose` in the frame of `from`, with this information (the inverse of the covariance). A
// direction without information is a direction that the measurement says nothing about.
struct PoseEdge {
  std::size_t from = 0, to = 0;
  Pose2 pose;
  Matrix3 information{};
  double tolerance = 0;  // squared error, in deviations, from which an edge loses weight; 0: it never does
};

// How far the edge is from the poses: the squared error, in deviations.
double squared_error(const PoseEdge& edge, const Pose2& from, const Pose2& to);

// Moves all poses but the first so that the sum of squared errors of the edges is least. Every pose must be connected
// with the first. Robust edges (tolerance) lose their weight as their error grows (Cauchy), so that a wrong one
// cannot bend the path.
void optimise(std::vector<Pose2>& poses, const std::vector<PoseEdge>& edges, int rounds = 10);

}  // namespace volvox::scan
