// Contacts side by side, against one by one; and a crowd that is solved so.
#include "volvox/physics/native/contact_batch.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/test/scenes.h"

namespace volvox::physics::native {
namespace {

// Eight contacts of sixteen islands, of which some are wider than others, some touch nothing that moves, and some lanes
// are empty.
class Eightfold {
 public:
  explicit Eightfold(std::mt19937_64& random) : random_(random) {
    batch_.columns_a = whole(1, most_columns), batch_.columns_b = whole(0, most_columns);
    // Loops over these numbers of columns are unrolled.
    if (whole(0, 1) == 1) batch_.columns_a = whole(6, 9), batch_.columns_b = whole(0, 1) * batch_.columns_a;
    batch_.first_block = batch_.first_row = 0;
    coordinates_ = numbers(2 * ContactBatch::lanes * most_columns);
    blocks_.assign(static_cast<std::size_t>(all_blocks() * ContactBatch::lanes), nothing_);
    rows_.assign(static_cast<std::size_t>(3 * (batch_.columns_a + batch_.columns_b) * ContactBatch::lanes), 0.0);
    for (int lane = 0; lane < ContactBatch::lanes; ++lane) {
      if (whole(0, 7) > 0) fill(lane);
    }
  }

  // What wide_solve makes of the same contacts.
  std::vector<RowContact> solve_one_by_one() {
    std::vector<RowContact> solved = contacts_;
    for (RowContact& c : solved) most_ = std::max(most_, wide_solve(c).change);
    return solved;
  }
  double solve(double (*kernel)(const Batches&)) {
    return kernel({&batch_, 1, blocks_.data(), rows_.data(), nothing_});
  }

  double most_ = 0;
  ContactBatch batch_{};
  std::vector<RowContact> contacts_;
  std::vector<int> lanes_;  // of the contacts
  std::vector<double> coordinates_;

 private:
  static constexpr int most_columns = ContactBatch::most_blocks * row_block;

  int whole(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  double number() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  std::vector<double> numbers(int count) {
    std::vector<double> all(static_cast<std::size_t>(count));
    for (double& x : all) x = number();
    return all;
  }
  int all_blocks() const { return ContactBatch::blocks(batch_.columns_a) + ContactBatch::blocks(batch_.columns_b); }

  void fill(int lane) {
    RowContact& c = contacts_.emplace_back();
    lanes_.push_back(lane);
    own_rows_.emplace_back();
    own_rows_.back().reserve(6 * most_columns);
    const int columns_a = whole(1, batch_.columns_a),
              columns_b = batch_.columns_b == 0 ? 0 : whole(0, batch_.columns_b);
    c.width_a = ContactBatch::blocks(columns_a) * row_block, c.width_b = ContactBatch::blocks(columns_b) * row_block;
    c.rows_a = side(lane, columns_a, 0, 0);
    c.rows_b = side(lane, columns_b, ContactBatch::blocks(batch_.columns_a), batch_.columns_a);
    c.a = coordinates_.data() + lane * most_columns;
    c.b = c.width_b > 0 ? coordinates_.data() + (ContactBatch::lanes + lane) * most_columns : nullptr;
    std::fill(std::begin(c.gram), std::end(c.gram), 0.0);
    wide_gram(c.rows_a, c.width_a, c.gram);
    if (c.width_b > 0) wide_gram(c.rows_b, c.width_b, c.gram);
    const bool pushes = whole(0, 1) == 1;
    for (int i = 0; i < 3; ++i)
      c.impulse[i] = pushes ? (i == 0 ? 1 + number() : 0.1 * number()) : 0, c.free[i] = number();
    c.target = number(), c.friction = 0.5 + 0.5 * number(), c.keep = 1 - 0.1 * whole(0, 1);
    c.normal_gain = c.keep / c.gram[0], c.tangent_gain = 0.7 / (c.gram[3] + c.gram[5]);
    for (int i = 0; i < 3; ++i) batch_.impulse[i][lane] = c.impulse[i], batch_.free[i][lane] = c.free[i];
    for (int i = 0; i < 6; ++i) batch_.gram[i][lane] = c.gram[i];
    batch_.target[lane] = c.target, batch_.friction[lane] = c.friction, batch_.normal_gain[lane] = c.normal_gain;
    batch_.keep[lane] = c.keep, batch_.tangent_gain[lane] = c.tangent_gain;
  }

  // Three rows, in a contact of their own and in the batch.
  double* side(int lane, int columns, int first_block, int first_column) {
    const int width = ContactBatch::blocks(columns) * row_block, all = batch_.columns_a + batch_.columns_b;
    std::vector<double>& rows = own_rows_.back();
    const std::size_t first = rows.size();
    rows.resize(first + static_cast<std::size_t>(3 * width), 0.0);
    double* own = rows.data() + first;
    double* coordinates = coordinates_.data() + (first_column == 0 ? lane : ContactBatch::lanes + lane) * most_columns;
    // Behind the last column there is nothing.
    std::fill(coordinates + columns, coordinates + most_columns, 0.0);
    for (int i = 0; i < ContactBatch::blocks(columns); ++i)
      blocks_[static_cast<std::size_t>((first_block + i) * ContactBatch::lanes + lane)] = coordinates + row_block * i;
    for (int direction = 0; direction < 3; ++direction) {
      for (int k = 0; k < columns; ++k) {
        own[direction * width + k] = number();
        rows_[static_cast<std::size_t>((direction * all + first_column + k) * ContactBatch::lanes + lane)] =
            own[direction * width + k];
      }
    }
    return own;
  }

  std::mt19937_64& random_;
  std::vector<std::vector<double>> own_rows_;  // of each contact
  std::vector<double*> blocks_;
  std::vector<double> rows_;
  double nothing_[row_block] = {};
};

TEST(ContactBatch, is_a_step_of_each_of_its_contacts) {
  std::mt19937_64 random(20261118);
  for (int i = 0; i < 2000; ++i) {
    Eightfold eight(random);
    const std::vector<double> before = eight.coordinates_;
    const std::vector<RowContact> solved = eight.solve_one_by_one();
    const std::vector<double> expected = eight.coordinates_;
    std::copy(before.begin(), before.end(), eight.coordinates_.begin());
    EXPECT_NEAR(eight.solve(solve_batches), eight.most_, 1e-12);
    for (std::size_t k = 0; k < expected.size(); ++k) ASSERT_NEAR(eight.coordinates_[k], expected[k], 1e-12);
    for (std::size_t k = 0; k < solved.size(); ++k) {
      for (int d = 0; d < 3; ++d) ASSERT_NEAR(eight.batch_.impulse[d][eight.lanes_[k]], solved[k].impulse[d], 1e-12);
    }
  }
}

TEST(ContactBatch, has_the_same_bits_on_every_instruction_set) {
  std::mt19937_64 random(20261119);
  for (int i = 0; i < 2000; ++i) {
    Eightfold eight(random);
    const std::vector<double> before = eight.coordinates_;
    const ContactBatch batch = eight.batch_;
    const double most = eight.solve(solve_batches_sse2);
    const std::vector<double> expected = eight.coordinates_;
    const ContactBatch expected_batch = eight.batch_;
    const std::pair<Isa, double (*)(const Batches&)> others[] = {{Isa::avx2, solve_batches_avx2},
                                                                 {Isa::avx512, solve_batches_avx512}};
    for (const auto& [set, kernel] : others) {
      if (best_isa() < set) continue;
      std::copy(before.begin(), before.end(), eight.coordinates_.begin());
      eight.batch_ = batch;
      EXPECT_EQ(eight.solve(kernel), most);
      // By their bits: numbers that are equal may differ in the sign of a zero.
      EXPECT_EQ(std::memcmp(eight.coordinates_.data(), expected.data(), expected.size() * sizeof expected[0]), 0);
      EXPECT_EQ(std::memcmp(eight.batch_.impulse, expected_batch.impulse, sizeof batch.impulse), 0);
    }
  }
}

// Boxes, some joined to others, in layers of which each lies across the gaps of the one below.
class Crowd {
 public:
  explicit Crowd(ThreadPool* threads) : bench({.threads = threads}) {
    bench.add(ground());
    for (int i = 0; i < 240; ++i) {
      const double shift = i / 48 % 2 == 0 ? 0 : 0.05;
      const Vec3 at{0.1 * (i % 8) + shift, 0.1 * (i / 8 % 6) + shift, 0.042 + 0.085 * (i / 48)};
      const Pose pose{at, Quat::rpy(0.01 * (i % 5), 0.01 * (i % 3), 0.02 * (i % 4))};
      bodies.push_back(bench.add(box(0.2 + 0.05 * (i % 4), {0.09, 0.09, 0.08}, pose)));
      if (i % 6 == 5)
        bench->add_joint(joint_at(JointType::revolute, bodies[bodies.size() - 2], last_, bodies.back(), pose,
                                  (last_.position + at) * 0.5, {0, 0, 1}));
      last_ = pose;
    }
  }
  std::uint64_t contacts_in_lanes() {
    for (const WorkCount& count : bench->work())
      if (std::string_view(count.what) == "batch_contacts") return count.count;
    return 0;
  }
  Bench bench;
  std::vector<BodyId> bodies;

 private:
  Pose last_;
};

TEST(Crowd, is_solved_side_by_side_and_neither_sinks_nor_flies_apart) {
  Crowd crowd(nullptr);
  crowd.bench.run(2);
  EXPECT_GT(crowd.contacts_in_lanes(), 10000u);
  double lowest = 1, fastest = 0;
  for (const BodyId id : crowd.bodies) {
    lowest = std::min(lowest, crowd.bench.pose(id).position.z);
    fastest = std::max(fastest, length(crowd.bench.velocity(id).linear));
  }
  EXPECT_GT(lowest, 0.04 - 1e-3);
  EXPECT_LT(fastest, 1);
}

TEST(Crowd, has_the_same_bits_at_any_number_of_threads) {
  Crowd one(nullptr);
  one.bench.run(0.3);
  EXPECT_GT(one.contacts_in_lanes(), 1000u);
  for (const int threads : {2, 5}) {
    ThreadPool pool(threads);
    Crowd many(&pool);
    many.bench.run(0.3);
    EXPECT_EQ(many.bench.hash(), one.bench.hash()) << threads;
  }
}

TEST(Crowd, has_the_same_bits_after_a_restore) {
  Crowd crowd(nullptr), other(nullptr);
  crowd.bench.run(0.2);
  SaveArchive saved;
  crowd.bench->archive(saved);
  LoadArchive loaded(saved.bytes());
  other.bench->archive(loaded);
  ASSERT_TRUE(loaded.ok()) << loaded.failure();
  other.bench.set_clock(12);
  crowd.bench.run(0.2), other.bench.run(0.2);
  EXPECT_EQ(other.bench.hash(), crowd.bench.hash());
}

}  // namespace
}  // namespace volvox::physics::native
