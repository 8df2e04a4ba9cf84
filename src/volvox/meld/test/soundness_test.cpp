// What hostile or unusual programs must not do: crash the compiler, hang a tick, or leave wrong facts behind.
#include <set>
#include <sstream>

#include "meld_bench.h"

namespace volvox::meld {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// Long sums in brackets in brackets: a tree of expressions 40,000 deep.
TEST(MeldHostile, ExpressionsThatAreTooDeepAreRefused) {
  const std::string deep = repeated("(", 190) + "1" + repeated(repeated("+1", 190) + ")", 190);
  EXPECT_NE(error_of("type a(node, int).\n!a(X, " + deep + ").").find("too deep"), std::string::npos);
  EXPECT_NE(error_of("const c = " + deep + ".").find("too deep"), std::string::npos);
}

// Each constant names the one before twice: 2^90 sums, if each were computed anew.
TEST(MeldHostile, ConstantsAreComputedOnce) {
  std::string text = "type a(node, int). const c0 = 1.";
  for (int i = 1; i <= 90; ++i)
    text += " const c" + std::to_string(i) + " = c" + std::to_string(i - 1) + " + c" + std::to_string(i - 1) + ".";
  EXPECT_EQ(outcome(text + " !a(X, c30)."), "a(1073741824)");
  EXPECT_EQ(outcome(text + " !a(X, c90)."), "a(0)");
}

// 700 groups of an aggregate change in one tick.
TEST(MeldHostile, AggregatesOfManyGroupsTakeFewSteps) {
  std::string text =
      "type g(node, int, min int). type linear a(node, int). a(X, 700). "
      "a(X, N), N > 0 -o !g(X, N, N), a(X, N - 1).";
  const std::string facts = outcome(text);
  EXPECT_NE(facts.find("g(700, 700)"), std::string::npos) << facts.substr(0, 300);
}

TEST(MeldSound, DelayedFactsOfAnAggregateLeaveOneBest) {
  std::string heads;
  for (int i = 0; i < 40; ++i)
    heads += (i == 0 ? "" : ", ") + std::string("!later(X, N + ") + std::to_string(i) + ")@+100ms";
  Bench bench(
      "type best(node, min int). type later(node, int). type linear n(node, int). n(X, 20). !best(X, 50). "
      "tap(X), n(X, N) -o !best(X, N), n(X, N - 10). !best(X, N) -o " +
      heads + ".");
  bench.box(1);
  bench.start();
  for (int tap = 0; tap < 2; ++tap) {
    EXPECT_EQ(bench.run(20), "");
    bench.modules->tap(bench.world, 0u);
  }
  EXPECT_EQ(bench.run(20), "");
  EXPECT_TRUE(bench.has(0, "best(10)"));
  EXPECT_TRUE(bench.has(0, "later(49)"));
  EXPECT_FALSE(bench.has(0, "later(50)"));  // it followed from best(20)
}

// r(3) gets a shorter derivation: what else its rule made is not made again.
TEST(MeldSound, AShorterDerivationMakesNoLinearFactTwice) {
  Bench bench(
      "type r(node, int). type linear mark(node, int). !r(X, 5). tap(X) -o !r(X, 3). "
      "!r(X, N), N > 0 -o !r(X, N - 1), mark(X, N).");
  bench.box(1);
  bench.start();
  EXPECT_EQ(bench.run(3), "");
  const std::string before = bench.facts(0);
  EXPECT_EQ(before, "mark(1) mark(2) mark(3) mark(4) mark(5) r(0) r(1) r(2) r(3) r(4) r(5)");
  bench.modules->tap(bench.world, 0u);
  EXPECT_EQ(bench.run(3), "");
  EXPECT_EQ(bench.facts(0), before);
}

// Deeper than any number of catoms and rules would suggest.
TEST(MeldSound, DeepDerivationsAreNotCut) {
  MachineOptions options;
  options.most_steps = 100'000'000;
  Bench bench("type n(node, int). !n(X, 0). !n(X, N), N < 6000 -o !n(X, N + 1).", lattice::Kind::cubic, options);
  bench.box(1);
  bench.start();
  EXPECT_EQ(bench.run(3), "");
  EXPECT_TRUE(bench.has(0, "n(6000)"));
}

// Facts on their way around a ring whose source is gone end after about as many ticks as there are facts.
TEST(MeldSound, RingsWithoutSourceEndSoon) {
  Bench bench(
      "type r(node). type s(node). !neighborCount(A, 1) -o !s(A). !s(A) -o !r(A). "
      "!r(A), !neighbor(A, B, _) -o !r(B).",
      lattice::Kind::square);
  std::vector<lattice::Cell> cells = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}};
  ASSERT_TRUE(bench.world.add(cells).ok());
  bench.start();
  EXPECT_EQ(bench.run(50), "");
  for (std::uint32_t i = 1; i < 5; ++i) EXPECT_TRUE(bench.has(i, "r()"));
  ASSERT_TRUE(bench.world.remove(0u).ok());
  EXPECT_EQ(bench.run(200), "");
  EXPECT_TRUE(bench.world.idle());
  for (std::uint32_t i = 1; i < 5; ++i) EXPECT_EQ(bench.facts(i), "");
}

// What a rule without linear facts made of chance goes when its reason goes.
TEST(MeldSound, RandomNumbersOfADerivationCanBeTakenBack) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Bench bench("type v(node, int). !neighborCount(A, 1) -o !v(A, randint(1000000)).", lattice::Kind::square, {}, seed);
    bench.box(2);
    bench.start();
    EXPECT_EQ(bench.run(5), "");
    const std::string first = bench.facts(0);
    EXPECT_NE(first, "");
    EXPECT_NE(first, bench.facts(1));
    ASSERT_TRUE(bench.world.remove(1u).ok());
    EXPECT_EQ(bench.run(5), "");
    EXPECT_EQ(bench.facts(0), "") << "seed " << seed;
  }
}

// Each match draws a number of its own, and the same again when it is taken back.
TEST(MeldSound, EveryMatchOfADerivationDrawsItsOwnRandomNumber) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Bench bench("type v(node, int, int). !neighbor(A, B, P) -o !v(A, P, randint(1000000)).", lattice::Kind::square, {},
                seed);
    std::vector<lattice::Cell> cells = {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    ASSERT_TRUE(bench.world.add(cells).ok());
    bench.start();
    EXPECT_EQ(bench.run(5), "");
    std::set<std::string> numbers;
    std::istringstream facts(bench.facts(0));
    for (std::string word; facts >> word;)
      if (word.ends_with(')')) numbers.insert(word);  // "v(0," "511241)"
    EXPECT_EQ(numbers.size(), 4u) << bench.facts(0);
    for (std::uint32_t i = 1; i < 5; ++i) ASSERT_TRUE(bench.world.remove(i).ok());
    EXPECT_EQ(bench.run(5), "");
    EXPECT_EQ(bench.facts(0), "") << "seed " << seed;
  }
}

TEST(MeldHostile, AnIncludeThatIsNoFileIsRefused) {
  const auto program = load_program("/dev/zero");
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.error().text().find("not a file"), std::string::npos) << program.error().text();
}

// A node that no world can have is nobody's neighbour.
TEST(MeldSound, FactsForNodesBeyondAllNumbersAreLost) {
  MachineOptions options;
  options.reach_all = true;
  Bench bench("type linear a(node). type linear go(node). go(@1). go(X) -o a(@2147483648).", lattice::Kind::cubic,
              options);
  bench.box(2);
  bench.start();
  EXPECT_EQ(bench.run(5), "");
  EXPECT_EQ(bench.facts(0), "");
  EXPECT_EQ(bench.modules->lost(), 1u);
}

}  // namespace
}  // namespace volvox::meld
