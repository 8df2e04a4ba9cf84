#include "volvox/physics/native/sparse_factor.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace volvox::physics::native {
namespace {

double& at(Block6& m, int i, int j) { return m[static_cast<std::size_t>(6 * i + j)]; }
double at(const Block6& m, int i, int j) { return m[static_cast<std::size_t>(6 * i + j)]; }

// c -= a b^T
void subtract_product(Block6& c, const Block6& a, const Block6& b) {
  for (int i = 0; i < 6; ++i) {
    double row[6] = {};
    for (int k = 0; k < 6; ++k) {
      const double x = at(a, i, k);
      for (int j = 0; j < 6; ++j) row[j] += x * at(b, j, k);
    }
    for (int j = 0; j < 6; ++j) at(c, i, j) -= row[j];
  }
}

void cholesky(Block6& m, Block6& inverse) {
  inverse.fill(0);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      double s = at(m, i, j);
      for (int k = 0; k < j; ++k) s -= at(m, i, k) * at(m, j, k);
      at(m, i, j) = i == j ? std::sqrt(s) : s / at(m, j, j);
    }
    for (int j = i + 1; j < 6; ++j) at(m, i, j) = 0;
  }
  for (int j = 0; j < 6; ++j) {
    at(inverse, j, j) = 1 / at(m, j, j);
    for (int i = j + 1; i < 6; ++i) {
      double s = 0;
      for (int k = j; k < i; ++k) s -= at(m, i, k) * at(inverse, k, j);
      at(inverse, i, j) = s / at(m, i, i);
    }
  }
}

}  // namespace

SparseFactor::SparseFactor(int count, const std::vector<std::pair<int, int>>& edges)
    : place_(static_cast<std::size_t>(count), -1) {
  std::vector<std::set<int>> near(static_cast<std::size_t>(count));
  for (const auto& [a, b] : edges)
    near[static_cast<std::size_t>(a)].insert(b), near[static_cast<std::size_t>(b)].insert(a);
  // Of equal degree, that which stands on the shortest way is taken first: the ways stay short.
  std::vector<int> height(static_cast<std::size_t>(count), 0);
  std::set<std::tuple<std::size_t, int, int>> waiting;  // degree, height, row
  const auto key = [&](int row) {
    return std::tuple(near[static_cast<std::size_t>(row)].size(), height[static_cast<std::size_t>(row)], row);
  };
  for (int i = 0; i < count; ++i) waiting.insert(key(i));
  std::vector<std::vector<int>> columns;
  while (!waiting.empty()) {
    const int row = std::get<2>(*waiting.begin());
    waiting.erase(waiting.begin());
    place_[static_cast<std::size_t>(row)] = static_cast<int>(order_.size());
    order_.push_back(row);
    const std::set<int>& around = near[static_cast<std::size_t>(row)];
    columns.emplace_back(around.begin(), around.end());
    // Its neighbours become neighbours of each other.
    for (int a : around) {
      std::set<int>& others = near[static_cast<std::size_t>(a)];
      waiting.erase(key(a));
      others.erase(row);
      height[static_cast<std::size_t>(a)] =
          std::max(height[static_cast<std::size_t>(a)], height[static_cast<std::size_t>(row)] + 1);
      for (int b : around) {
        if (b != a) others.insert(b);
      }
      waiting.insert(key(a));
    }
  }
  for (std::vector<int>& column : columns) {
    first_.push_back(static_cast<int>(row_.size()));
    for (int& r : column) r = place_[static_cast<std::size_t>(r)];
    std::sort(column.begin(), column.end());
    row_.insert(row_.end(), column.begin(), column.end());
  }
  first_.push_back(static_cast<int>(row_.size()));
  for (int k = 0; k < count; ++k) {
    first_way_.push_back(way_.size());
    for (int at = k;; at = row_[static_cast<std::size_t>(first_[static_cast<std::size_t>(at)])]) {
      way_.push_back(at);
      if (first_[static_cast<std::size_t>(at)] == first_[static_cast<std::size_t>(at) + 1]) break;
    }
  }
  first_way_.push_back(way_.size());
  for (int k = 0; k < count; ++k) {
    first_update_.push_back(static_cast<int>(updates_.size()));
    const int begin = first_[static_cast<std::size_t>(k)], end = first_[static_cast<std::size_t>(k) + 1];
    for (int i = begin; i < end; ++i) {
      for (int j = begin; j <= i; ++j) {
        const int row = row_[static_cast<std::size_t>(i)], column = row_[static_cast<std::size_t>(j)];
        updates_.push_back({row == column ? ~row : find(row, column), i, j});
      }
    }
  }
  first_update_.push_back(static_cast<int>(updates_.size()));
  diagonal_.resize(static_cast<std::size_t>(count));
  inverse_.resize(static_cast<std::size_t>(count));
  below_.resize(row_.size());
}

// The block at (row, column), both by place, row below column.
int SparseFactor::find(int row, int column) const {
  const auto begin = row_.begin() + first_[static_cast<std::size_t>(column)],
             end = row_.begin() + first_[static_cast<std::size_t>(column) + 1];
  return static_cast<int>(std::lower_bound(begin, end, row) - row_.begin());
}

void SparseFactor::clear() {
  for (Block6& block : diagonal_) block.fill(0);
  for (Block6& block : below_) block.fill(0);
}

void SparseFactor::add_diagonal(int row, const Block6& block) {
  Block6& d = diagonal_[static_cast<std::size_t>(place(row))];
  for (std::size_t i = 0; i < 36; ++i) d[i] += block[i];
}

void SparseFactor::add(int row, int column, const Block6& block) {
  const int r = place(row), c = place(column);
  Block6& target = below_[static_cast<std::size_t>(find(std::max(r, c), std::min(r, c)))];
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) (r > c ? at(target, i, j) : at(target, j, i)) += at(block, i, j);
  }
}

void SparseFactor::factor() {
  for (std::size_t k = 0; k < diagonal_.size(); ++k) {
    cholesky(diagonal_[k], inverse_[k]);
    for (int i = first_[k]; i < first_[k + 1]; ++i) {
      Block6& block = below_[static_cast<std::size_t>(i)];
      // L_ik = A_ik L_kk^-T
      Block6 scaled;
      for (int r = 0; r < 6; ++r) {
        for (int c = 0; c < 6; ++c) {
          double s = 0;
          for (int m = 0; m <= c; ++m) s += at(block, r, m) * at(inverse_[k], c, m);
          at(scaled, r, c) = s;
        }
      }
      block = scaled;
    }
    for (int u = first_update_[k]; u < first_update_[k + 1]; ++u) {
      const Update& update = updates_[static_cast<std::size_t>(u)];
      Block6& target = update.target < 0 ? diagonal_[static_cast<std::size_t>(~update.target)]
                                         : below_[static_cast<std::size_t>(update.target)];
      subtract_product(target, below_[static_cast<std::size_t>(update.left)],
                       below_[static_cast<std::size_t>(update.right)]);
    }
  }
}

void SparseFactor::forward(std::vector<Vec6>& x, int first) const {
  for (std::size_t k = static_cast<std::size_t>(first); k < diagonal_.size(); ++k) {
    Vec6 t{};
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j <= i; ++j)
        t[static_cast<std::size_t>(i)] += at(inverse_[k], i, j) * x[k][static_cast<std::size_t>(j)];
    }
    x[k] = t;
    for (int b = first_[k]; b < first_[k + 1]; ++b) {
      Vec6& y = x[static_cast<std::size_t>(row_[static_cast<std::size_t>(b)])];
      const Block6& block = below_[static_cast<std::size_t>(b)];
      for (int i = 0; i < 6; ++i) {
        double s = 0;
        for (int j = 0; j < 6; ++j) s += at(block, i, j) * t[static_cast<std::size_t>(j)];
        y[static_cast<std::size_t>(i)] -= s;
      }
    }
  }
}

void SparseFactor::backward(std::vector<Vec6>& x) const {
  for (std::size_t k = diagonal_.size(); k-- > 0;) {
    Vec6 t = x[k];
    for (int b = first_[k]; b < first_[k + 1]; ++b) {
      const Vec6& y = x[static_cast<std::size_t>(row_[static_cast<std::size_t>(b)])];
      const Block6& block = below_[static_cast<std::size_t>(b)];
      for (int j = 0; j < 6; ++j) {
        for (int i = 0; i < 6; ++i) t[static_cast<std::size_t>(j)] -= at(block, i, j) * y[static_cast<std::size_t>(i)];
      }
    }
    for (int j = 0; j < 6; ++j) {
      double s = 0;
      for (int i = j; i < 6; ++i) s += at(inverse_[k], i, j) * t[static_cast<std::size_t>(i)];
      x[k][static_cast<std::size_t>(j)] = s;
    }
  }
}

void SparseFactor::unit_rows(int place, double* rows) const {
  const std::span<const int> places = way(place);
  const std::size_t width = places.size() * padded;
  std::fill(rows, rows + 6 * width, 0.0);
  for (std::size_t r = 0; r < 6; ++r) rows[r * width + r] = 1;
  for (std::size_t m = 0; m < places.size(); ++m) {
    const std::size_t k = static_cast<std::size_t>(places[m]);
    const Block6& inverse = inverse_[k];
    double t[6][6];
    for (std::size_t r = 0; r < 6; ++r) {
      double* x = rows + r * width + padded * m;
      for (int i = 0; i < 6; ++i) {
        t[r][i] = 0;
        for (int j = 0; j <= i; ++j) t[r][i] += at(inverse, i, j) * x[j];
      }
      std::copy(t[r], t[r] + 6, x);
    }
    std::size_t where = m + 1;
    for (int b = first_[k]; b < first_[k + 1]; ++b) {
      while (places[where] != row_[static_cast<std::size_t>(b)]) ++where;
      const Block6& block = below_[static_cast<std::size_t>(b)];
      for (std::size_t r = 0; r < 6; ++r) {
        double* y = rows + r * width + padded * where;
        for (int i = 0; i < 6; ++i) {
          double s = 0;
          for (int j = 0; j < 6; ++j) s += at(block, i, j) * t[r][j];
          y[i] -= s;
        }
      }
    }
  }
}

}  // namespace volvox::physics::native
