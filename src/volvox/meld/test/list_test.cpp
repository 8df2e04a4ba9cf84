// Lists: values, patterns, functions, messages, snapshots, and that what nobody uses is forgotten.
#include "meld_bench.h"

namespace volvox::meld {
namespace {

TEST(Lists, AreMadeAndTakenApart) {
  EXPECT_EQ(outcome("type linear a(node, list int). type linear b(node, int, list int).\n"
                    "a(@0, [1, 2, 3]).\n"
                    "a(A, [X | L]) -o b(A, X, L)."),
            "b(1, [2, 3])");
  EXPECT_EQ(outcome("type linear a(node, list int). type linear b(node, int).\n"
                    "a(@0, [7]). a(@0, [7, 8]). a(@0, []).\n"
                    "a(A, [X]) -o b(A, X)."),
            "a([7, 8]) a([]) b(7)");
  EXPECT_EQ(outcome("type linear a(node, list int, int). type linear b(node, int).\n"
                    "a(@0, [4, 5, 4], 5).\n"
                    "a(A, [X, Y, X | L], Y), L = [] -o b(A, X)."),
            "b(4)");
  EXPECT_EQ(outcome("type linear a(node, list float). type linear b(node, float).\n"
                    "const c = [1.5, -2].\n"
                    "a(@0, c). a(A, [X, Y]) -o b(A, X + Y)."),
            "b(-0.5)");
  EXPECT_EQ(outcome("type linear a(node, list list int). type linear b(node, list int, int).\n"
                    "a(@0, [[1, 2], [], [3]]). a(A, [X, Y | [[Z]]]), Y = [] -o b(A, X, Z)."),
            "b([1, 2], 3)");
  EXPECT_EQ(outcome("type linear a(node, list node). a(@0, [@1, @0])."), "a([@1, @0])");
  EXPECT_EQ(outcome("type linear a(node, list int). a(@0, nil)."), "a([])");
}

TEST(Lists, AreEqualIfTheirElementsAre) {
  EXPECT_EQ(outcome("type linear a(node, list int). type linear b(node, list int). type linear same(node, list int).\n"
                    "a(@0, [1, 2]). b(@0, [1] ++ [2]).\n"
                    "a(A, L), b(A, L) -o same(A, L)."),
            "same([1, 2])");
}

TEST(Lists, HaveFunctions) {
  const auto computed = [](const std::string& value, const std::string& type) {
    return outcome("type linear go(node, list int). type linear out(node, " + type +
                   "). go(@0, [3, 1, 2, 3]).\ngo(A, L) -o out(A, " + value + ").");
  };
  EXPECT_EQ(computed("llength(L)", "int"), "out(4)");
  EXPECT_EQ(computed("lnth(L, 2)", "int"), "out(2)");
  EXPECT_EQ(computed("llast(L)", "int"), "out(3)");
  EXPECT_EQ(computed("lreverse(L)", "list int"), "out([3, 2, 1, 3])");
  EXPECT_EQ(computed("lsort(L)", "list int"), "out([1, 2, 3, 3])");
  EXPECT_EQ(computed("lremove(L, 3)", "list int"), "out([1, 2])");
  EXPECT_EQ(computed("lremoveduplicates(L)", "list int"), "out([3, 1, 2])");
  EXPECT_EQ(computed("if 2 in L then 1 else 0 end", "int"), "out(1)");
  EXPECT_EQ(computed("if ~ 9 in L then 1 else 0 end", "int"), "out(1)");
  EXPECT_EQ(computed("L ++ [9]", "list int"), "out([3, 1, 2, 3, 9])");
  EXPECT_NE(computed("lnth(L, 4)", "int").find("test.meld:2:1 wants element 4 of a list of 4"), std::string::npos);
}

TEST(Lists, AreCollected) {
  EXPECT_EQ(outcome("type linear go(node). type linear b(node, int). type linear c(node, list int).\n"
                    "b(@0, 1). b(@0, 2). b(@0, 3). go(@0).\n"
                    "go(A) -o [collect => L | b(A, L) | | c(A, lsort(L))]."),
            "c([1, 2, 3])");
  EXPECT_EQ(outcome("type linear go(node). type linear b(node, int). type linear c(node, list int).\n"
                    "go(@0). go(A) -o [collect => L | b(A, L) | | c(A, L)]."),
            "c([])");
}

constexpr const char* sorts =
    "type linear down(node, list int). type linear pivot(node, list int, int, list int, list int).\n"
    "type linear up(node, list int). type linear halves(node, list int, int, list int).\n"
    "down(A, []) -o up(A, []).\n"
    "down(A, [X | L]) -o pivot(A, L, X, [], []).\n"
    "pivot(A, [Y | L], X, S, G), Y < X -o pivot(A, L, X, [Y | S], G).\n"
    "pivot(A, [Y | L], X, S, G), Y >= X -o pivot(A, L, X, S, [Y | G]).\n"
    "pivot(A, [], X, S, G) -o up(A, lsort(S) ++ [X | lsort(G)]).\n";

TEST(Lists, OfManyElementsAreSortedWithinTheSteps) {
  std::string list;
  for (int i = 0; i < 200; ++i) list += (i == 0 ? "" : ", ") + std::to_string(i * 37 % 101);
  const std::string found = outcome(sorts + std::string("down(@0, [") + list + "]).");
  EXPECT_EQ(found.substr(0, 20), "up([0, 0, 1, 1, 2, 2");
}

// The way from catom 0, as a list of nodes: neighbours tell each other lists.
constexpr const char* ways =
    "type route neighbor(node, node, int). type way(node, list node). type known(node, min int).\n"
    "!way(@0, [@0]). !known(@0, 1).\n"
    "!way(A, L), !neighbor(A, B, _), ~ B in L, llength(L) < 6 -o !way(B, [B | L]).\n";

TEST(Lists, GoToNeighborsAndAreTakenBack) {
  Bench bench(ways, lattice::Kind::square);
  bench.box(3, 2);
  bench.start();
  ASSERT_EQ(bench.run(), "");
  EXPECT_TRUE(bench.has(5, "way([@5, @2, @1, @0])")) << bench.facts(5);
  EXPECT_TRUE(bench.has(5, "way([@5, @4, @3, @0])"));
  EXPECT_TRUE(bench.has(5, "way([@5, @4, @1, @0])"));
  ASSERT_TRUE(bench.world.remove(lattice::CatomId(1)).ok());
  ASSERT_EQ(bench.run(), "");
  EXPECT_EQ(bench.facts(5), "way([@5, @4, @3, @0])");
  EXPECT_EQ(bench.facts(2), "way([@2, @5, @4, @3, @0])");
}

TEST(Lists, GiveTheSameHashAtAnyNumberOfThreadsAndAfterASnapshot) {
  const auto made = [](int threads) {
    auto bench = std::make_unique<Bench>(ways, lattice::Kind::square, MachineOptions{}, 3, threads);
    bench->box(4, 3);
    bench->start();
    return bench;
  };
  const auto one = made(1), two = made(2), restored = made(1);
  ASSERT_TRUE(one->world.run(3).ok());
  SaveArchive ar;
  one->world.archive(ar);
  ASSERT_EQ(one->run(), "");
  ASSERT_EQ(two->run(), "");
  EXPECT_EQ(one->world.hash(), two->world.hash());
  LoadArchive back(ar.bytes());
  restored->world.archive(back);
  ASSERT_TRUE(back.ok()) << back.failure();
  ASSERT_EQ(restored->run(), "");
  EXPECT_EQ(restored->world.hash(), one->world.hash());
}

// Bytes of a snapshot that are changed are refused, or give another list, but nothing worse.
TEST(Lists, DamagedSnapshotsAreRefusedOrHarmless) {
  Bench bench(ways, lattice::Kind::square);
  bench.box(2, 2);
  bench.start();
  ASSERT_TRUE(bench.world.run(3).ok());
  SaveArchive ar;
  bench.world.archive(ar);
  for (std::size_t at = 0; at < ar.bytes().size(); ++at) {
    auto bytes = ar.bytes();
    bytes[at] ^= std::byte{0x11};
    LoadArchive back(bytes);
    Bench other(ways, lattice::Kind::square);
    other.box(2, 2);
    other.start();
    other.world.archive(back);
    if (!back.ok()) continue;
    for (std::uint32_t i = 0; i < other.world.ensemble().count(); ++i)
      if (other.world.ensemble().has(i)) (void)other.facts(i);
    (void)other.world.run(5);
  }
}

TEST(Lists, ThatNobodyUsesAreForgotten) {
  Bench bench(
      "type linear a(node, int, list int). type route neighbor(node, node, int).\n"
      "a(@0, 0, []). a(A, N, L), N < 300, llength(L) < 20 -o a(A, N + 1, [N | L])@+100ms.\n"
      "a(A, N, L), N < 300, llength(L) >= 20 -o a(A, N, [])@+100ms.",
      lattice::Kind::square);
  bench.box(1);
  bench.start();
  ASSERT_EQ(bench.run(10'000), "");
  EXPECT_LT(bench.modules->facts_stored(), 40u) << "the elements of old lists are still there";
  EXPECT_NE(bench.facts(0).find("a(300"), std::string::npos) << bench.facts(0);
}

TEST(Lists, MistakesAreNamed) {
  EXPECT_NE(error_of("type a(node, list int).\n!a(@0, [1.5]).").find("column 9: this is of type float, but int"),
            std::string::npos);
  EXPECT_NE(error_of("type a(node, int).\n!a(@0, [1]).").find("this is of type list int, but int is needed here"),
            std::string::npos);
  EXPECT_NE(error_of("type linear a(node, list int). type b(node).\na(A, L), L < [1] -o !b(A).").find("have no order"),
            std::string::npos);
  EXPECT_NE(
      error_of("type linear a(node, int). type b(node, int).\na(A, N) -o !b(A, llength(N)).").find("a list is needed"),
      std::string::npos);
  EXPECT_NE(error_of("type linear a(node, int). type b(node, int).\na(A, N) -o !b(A, llength([])).")
                .find("nothing says of what"),
            std::string::npos);
  std::string deep = "type a(node, ";
  for (int i = 0; i < 40; ++i) deep += "list ";
  EXPECT_NE(error_of(deep + "int).\n!a(@0, []).").find("nested too deep"), std::string::npos);
}

}  // namespace
}  // namespace volvox::meld
