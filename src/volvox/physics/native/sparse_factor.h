// The Cholesky factor of a sparse symmetric matrix of 6x6 blocks: A = L L^T, the blocks
// eliminated in an order that keeps L sparse (least degree first). Laid out once for a
// pattern, computed anew for every set of values.
// One thread writes a factor; several may solve with it. The order of elimination depends on the pattern alone.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace volvox::physics::native {

using Block6 = std::array<double, 36>;  // by rows
using Vec6 = std::array<double, 6>;

class SparseFactor {
 public:
  // Rows 0 to count - 1; `edges` are the pairs whose block is not zero.
  SparseFactor(int count, const std::vector<std::pair<int, int>>& edges);

  // Where a row stands in the order of elimination.
  int place(int row) const { return place_[static_cast<std::size_t>(row)]; }

  void clear();
  void add_diagonal(int row, const Block6& block);
  // Adds to A(row, column) and, since A is symmetric, its transpose to A(column, row).
  void add(int row, int column, const Block6& block);
  void factor();

  // All in the order of elimination. x := L^-1 x, from `first` on; x := L^-T x.
  void forward(std::vector<Vec6>& x, int first = 0) const;
  void backward(std::vector<Vec6>& x) const;
  // The places in which (L^-1 E)^T is not zero, where E picks the block at `place`: the way
  // from there to the root of the elimination, ascending.
  std::span<const int> way(int place) const {
    return {way_.data() + first_way_[static_cast<std::size_t>(place)],
            way_.data() + first_way_[static_cast<std::size_t>(place) + 1]};
  }
  // Its six rows: for each place of the way `padded` numbers, six and zeros.
  static constexpr int padded = 8;
  void unit_rows(int place, double* rows) const;

 private:
  struct Update {
    int target;  // a block of the factor; negative: ~ a diagonal block
    int left, right;
  };
  int find(int row, int column) const;

  std::vector<int> order_, place_;
  std::vector<int> first_;  // by column: its first block below the diagonal
  std::vector<int> row_;    // of every block below the diagonal
  std::vector<int> way_;    // of all places, one behind the other
  std::vector<std::size_t> first_way_;
  std::vector<Update> updates_;
  std::vector<int> first_update_;  // by column
  std::vector<Block6> diagonal_;   // then the Cholesky factor of the pivot
  std::vector<Block6> inverse_;    // its inverse, lower
  std::vector<Block6> below_;
};

}  // namespace volvox::physics::native
