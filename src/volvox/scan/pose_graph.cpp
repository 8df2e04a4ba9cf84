#include "volvox/scan/pose_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "volvox/base/math.h"

namespace volvox::scan {
namespace {

using Vector3 = std::array<double, 3>;

Matrix3 transposed(const Matrix3& a) {
  Matrix3 result{};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) result[i][k] = a[k][i];
  return result;
}

Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 result{};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) result[i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k];
  return result;
}

Vector3 product(const Matrix3& a, const Vector3& x) {
  Vector3 result{};
  for (int i = 0; i < 3; ++i) result[i] = a[i][0] * x[0] + a[i][1] * x[1] + a[i][2] * x[2];
  return result;
}

void add(Matrix3& a, const Matrix3& b, double factor = 1) {
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) a[i][k] += factor * b[i][k];
}

void add(Vector3& a, const Vector3& b, double factor = 1) {
  for (int i = 0; i < 3; ++i) a[i] += factor * b[i];
}

Vector3 error_of(const PoseEdge& edge, const Pose2& from, const Pose2& to) {
  const Pose2 is = from.inverse() * to;
  return {is.position.x - edge.pose.position.x, is.position.y - edge.pose.position.y,
          wrapped(is.heading - edge.pose.heading)};
}

// The equations A x = b of one round, a 3 x 3 block for every pair of poses that share an edge.
class Equations {
 public:
  explicit Equations(std::size_t poses) : diagonal_(poses), right_(poses), rows_(poses) {}

  void add_edge(const PoseEdge& edge, const Pose2& from, const Pose2& to) {
    const Vector3 error = error_of(edge, from, to);
    double squared = 0;
    const Vector3 pull = product(edge.information, error);
    for (int i = 0; i < 3; ++i) squared += error[i] * pull[i];
    const double weight = edge.tolerance > 0 ? 1 / (1 + squared / edge.tolerance) : 1;
    const double c = volvox::cos(from.heading), s = volvox::sin(from.heading);
    const Pose2 is = from.inverse() * to;
    const Matrix3 j_from = {{{-c, -s, is.position.y}, {s, -c, -is.position.x}, {0, 0, -1}}};
    const Matrix3 j_to = {{{c, s, 0}, {-s, c, 0}, {0, 0, 1}}};
    const Matrix3 from_information = product(transposed(j_from), edge.information),
                  to_information = product(transposed(j_to), edge.information);
    add(diagonal_[edge.from], product(from_information, j_from), weight);
    add(diagonal_[edge.to], product(to_information, j_to), weight);
    add(block(edge.from, edge.to), product(from_information, j_to), weight);
    add(block(edge.to, edge.from), product(to_information, j_from), weight);
    add(right_[edge.from], product(from_information, error), -weight);
    add(right_[edge.to], product(to_information, error), -weight);
  }
  void hold(std::size_t pose) {
    for (int i = 0; i < 3; ++i) diagonal_[pose][i][i] += 1e12;
  }

  // Eliminates the poses one by one, always one with the fewest neighbours, so that few new blocks appear.
  std::vector<Vector3> solve() {
    std::set<std::pair<std::size_t, std::size_t>> queue;  // number of neighbours, pose
    for (std::size_t i = 0; i < rows_.size(); ++i) queue.insert({rows_[i].size(), i});
    std::vector<std::size_t> order;
    std::vector<Matrix3> inverses(rows_.size());
    while (!queue.empty()) {
      const std::size_t k = queue.begin()->second;
      queue.erase(queue.begin());
      order.push_back(k);
      for (int i = 0; i < 3; ++i) diagonal_[k][i][i] += 1e-9;  // a pose that nothing determines stays where it is
      inverses[k] = inverse(diagonal_[k]);
      for (const auto& [i, a_ki] : rows_[k]) queue.erase({rows_[i].size(), i});
      for (const auto& [i, a_ki] : rows_[k]) {
        const Matrix3 l = product(rows_[i].at(k), inverses[k]);
        add(right_[i], product(l, right_[k]), -1);
        rows_[i].erase(k);
        for (const auto& [j, a_kj] : rows_[k]) {
          if (i == j) add(diagonal_[i], product(l, a_kj), -1);
          else add(rows_[i][j], product(l, a_kj), -1);
        }
      }
      for (const auto& [i, a_ki] : rows_[k]) queue.insert({rows_[i].size(), i});
    }
    std::vector<Vector3> x(rows_.size());
    for (auto k = order.rbegin(); k != order.rend(); ++k) {
      Vector3 rest = right_[*k];
      for (const auto& [i, a_ki] : rows_[*k]) add(rest, product(a_ki, x[i]), -1);
      x[*k] = product(inverses[*k], rest);
    }
    return x;
  }

 private:
  Matrix3& block(std::size_t row, std::size_t column) { return rows_[row][column]; }

  std::vector<Matrix3> diagonal_;
  std::vector<Vector3> right_;
  std::vector<std::map<std::size_t, Matrix3>> rows_;
};

}  // namespace

Eigen3 eigen(const Matrix3& symmetric) {
  // Jacobi rotations.
  Matrix3 a = symmetric;
  Eigen3 result{{}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  for (int round = 0; round < 20; ++round) {
    if (std::fabs(a[0][1]) + std::fabs(a[0][2]) + std::fabs(a[1][2]) < 1e-300) break;
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int i = 0; i < 3; ++i) {
          const double x = a[i][p], y = a[i][q];
          a[i][p] = c * x - s * y, a[i][q] = s * x + c * y;
        }
        for (int i = 0; i < 3; ++i) {
          const double x = a[p][i], y = a[q][i];
          a[p][i] = c * x - s * y, a[q][i] = s * x + c * y;
        }
        for (int i = 0; i < 3; ++i) {
          double &x = result.vectors[p][i], &y = result.vectors[q][i];
          const double before = x;
          x = c * before - s * y, y = s * before + c * y;
        }
      }
    }
  }
  for (int i = 0; i < 3; ++i) result.values[i] = a[i][i];
  return result;
}

Matrix3 inverse(const Matrix3& m) {
  const double a = m[1][1] * m[2][2] - m[1][2] * m[2][1], b = m[0][2] * m[2][1] - m[0][1] * m[2][2],
               c = m[0][1] * m[1][2] - m[0][2] * m[1][1];
  const double determinant = m[0][0] * a + m[1][0] * b + m[2][0] * c;
  const double f = determinant != 0 ? 1 / determinant : 0;
  Matrix3 result = {{{a, b, c},
                     {m[1][2] * m[2][0] - m[1][0] * m[2][2], m[0][0] * m[2][2] - m[0][2] * m[2][0],
                      m[0][2] * m[1][0] - m[0][0] * m[1][2]},
                     {m[1][0] * m[2][1] - m[1][1] * m[2][0], m[0][1] * m[2][0] - m[0][0] * m[2][1],
                      m[0][0] * m[1][1] - m[0][1] * m[1][0]}}};
  for (auto& row : result)
    for (double& value : row) value *= f;
  return result;
}

double squared_error(const PoseEdge& edge, const Pose2& from, const Pose2& to) {
  const Vector3 error = error_of(edge, from, to), pull = product(edge.information, error);
  return error[0] * pull[0] + error[1] * pull[1] + error[2] * pull[2];
}

void optimise(std::vector<Pose2>& poses, const std::vector<PoseEdge>& edges, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    Equations equations(poses.size());
    for (const PoseEdge& edge : edges) equations.add_edge(edge, poses[edge.from], poses[edge.to]);
    equations.hold(0);
    const std::vector<Vector3> change = equations.solve();
    double most = 0;
    for (std::size_t i = 0; i < poses.size(); ++i) {
      poses[i].position = poses[i].position + Vec2{change[i][0], change[i][1]};
      poses[i].heading = wrapped(poses[i].heading + change[i][2]);
      most = std::max({most, std::fabs(change[i][0]), std::fabs(change[i][1]), std::fabs(change[i][2])});
    }
    if (most < 1e-6) break;
  }
}

}  // namespace volvox::scan
