// The language: what programs mean on one catom, and what is said about wrong ones.
#include "meld_bench.h"
#include "volvox/base/random.h"

namespace volvox::meld {
namespace {

TEST(MeldLanguage, AxiomsAndRules) {
  EXPECT_EQ(outcome("type a(node, int). type b(node, int). !a(X, 2). !a(X, N), N > 1 -o !b(X, N * 10 - 1)."),
            "a(2) b(19)");
  EXPECT_EQ(outcome("type a(node, int). type b(node, int). !a(X, 2). !b(X, N) :- !a(X, N)."), "a(2) b(2)");
  EXPECT_EQ(outcome("type linear a(node, int). a(X, 5). a(X, N), N > 0 -o a(X, N-1)."), "a(0)");
  EXPECT_EQ(outcome("type linear a(node). type linear b(node). a(X). a(X). a(X), a(X) -o b(X)."), "b()");
  EXPECT_EQ(outcome("type linear a(node). type linear b(node). a(X). b(X). $a(X), b(X) -o 1."), "a()");
  EXPECT_EQ(outcome("type linear a(node). type linear b(node). a(X). a(X) -o."), "");
}

TEST(MeldLanguage, ValuesOfAllTypes) {
  EXPECT_EQ(outcome("type a(node, float, bool, string, node). !a(X, 1.5, true, \"hi\", X)."), "a(1.5, true, hi, @0)");
  EXPECT_EQ(outcome("type a(node, float). !a(X, 2)."), "a(2)");
  EXPECT_EQ(outcome("type a(node, int). const c = 3. const top-left = c + 1. !a(X, top-left)."), "a(4)");
  EXPECT_EQ(outcome("type a(node, int). fun double(int N): int = N + N. !a(X, double(3) % 4)."), "a(2)");
  EXPECT_EQ(outcome("type a(node, int). !a(X, if 1 < 2 then 7 else 8 end)."), "a(7)");
  EXPECT_EQ(outcome("type a(node, int). !a(X, let Y = 3 in Y * Y end)."), "a(9)");
  EXPECT_EQ(outcome("type a(node, int). type b(node). !a(X, -3). !a(X, N), (N = -3 || N = 4) && ~(N > 0) -o !b(X)."),
            "a(-3) b()");
  EXPECT_EQ(outcome("type a(node, int). !a(X, 2147483647 + 1)."), "a(-2147483648)");
  EXPECT_EQ(outcome("type a(node, int). !a(X, float2int(fabs(float(3 - 10) / 2.0)))."), "a(3)");
}

TEST(MeldLanguage, Aggregates) {
  const std::string facts = " !v(X, 4). !v(X, 9). !v(X, 1). !v(X, N) -o !best(X, N).";
  EXPECT_EQ(outcome("type v(node, int). type best(node, min int)." + facts), "best(1) v(1) v(4) v(9)");
  EXPECT_EQ(outcome("type v(node, int). type best(node, max int)." + facts), "best(9) v(1) v(4) v(9)");
  EXPECT_EQ(outcome("type v(node, int). type best(node, sum int)." + facts), "best(14) v(1) v(4) v(9)");
  EXPECT_EQ(outcome("type v(node, int). type best(node, count int)." + facts), "best(3) v(1) v(4) v(9)");
  EXPECT_EQ(outcome("type v(node, int). type best(node, first int)." + facts), "best(4) v(1) v(4) v(9)");
  EXPECT_EQ(outcome("type g(node, int, max float). !g(X, 1, 0.5). !g(X, 1, 2.5). !g(X, 2, 0.25)."),
            "g(1, 2.5) g(2, 0.25)");
}

TEST(MeldLanguage, AggregatesOfARule) {
  const std::string facts = "type linear a(node). type linear b(node, int). type c(node, int). b(X, 3). b(X, 5). a(X).";
  EXPECT_EQ(outcome(facts + "a(X) -o [sum => N | . | b(X, N) | !c(X, N)]."), "c(8)");
  EXPECT_EQ(outcome(facts + "a(X) -o [count => N | M | b(X, M) | !c(X, N)]."), "c(2)");
  EXPECT_EQ(outcome(facts + "a(X) -o [min => N | b(X, N) | b(X, N + 1) | !c(X, N)]."), "b(4) b(6) c(3)");
  EXPECT_EQ(
      outcome(
          "type linear a(node). type b(node, int). type c(node, int). a(X). a(X) -o [max => N | !b(X, N) | !c(X, N)]."),
      "");
}

TEST(MeldLanguage, ComprehensionsAndChoices) {
  EXPECT_EQ(outcome("type linear a(node). type linear b(node, int). type linear c(node, int). b(X, 1). b(X, 2). a(X)."
                    "a(X) -o {N | b(X, N) | c(X, N + 10)}."),
            "c(11) c(12)");
  EXPECT_EQ(outcome("type linear a(node, int). type linear yes(node). type linear no(node). a(X, 1). a(X, 2)."
                    "a(X, N) -o (if N = 1 then yes(X) otherwise no(X) end)."),
            "no() yes()");
  // Pairs in a comprehension use each fact once.
  EXPECT_EQ(outcome("type linear a(node). type linear b(node, int). type linear c(node). b(X, 1). b(X, 2). b(X, 3). "
                    "b(X, 4). a(X)."
                    "a(X) -o {N, M | b(X, N), b(X, M) | c(X)}."),
            "c() c()");
}

TEST(MeldLanguage, RulesComeInTheOrderOfTheProgram) {
  EXPECT_EQ(outcome("type linear a(node). type linear b(node). type linear c(node). a(X). a(X) -o b(X). a(X) -o c(X)."),
            "b()");
}

TEST(MeldLanguage, ErrorsNameFileLineColumnAndFix) {
  EXPECT_EQ(error_of("type a(node, int).\n!a(X, 1.5)."),
            "test.meld:2: column 7: this is of type float, but int is needed here\n  fix: convert it: float2int(...)");
  EXPECT_NE(error_of("type a(node, int).\n\n  !b(X, 1).").find("test.meld:3: column 4: there is no predicate named b"),
            std::string::npos);
  EXPECT_NE(error_of("type a(node, int).\n!a(X).").find("a has 2 arguments, but 1 are given"), std::string::npos);
  EXPECT_NE(error_of("type a(node, int).\n!a(X, Y).").find("the variable Y has no value"), std::string::npos);
  EXPECT_NE(error_of("type a(node, int).\n!a(X, c).").find("there is no constant named c"), std::string::npos);
  EXPECT_NE(error_of("type a(int).").find("the first field of a is no node"), std::string::npos);
  EXPECT_NE(
      error_of("type a(node, int)").find("test.meld:1: column 18: here is the end of the file, but '.' is needed"),
      std::string::npos);
  EXPECT_NE(error_of("type a(node).\ninclude #there.meld\n")
                .find("test.meld:2: column 1: the file there.meld cannot be included"),
            std::string::npos);
  EXPECT_NE(error_of("").find("test.meld:1: column 1: the program has no rules and no facts"), std::string::npos);
  EXPECT_NE(error_of("type a(node).").find("the program has no rules and no facts"), std::string::npos);
  EXPECT_NE(error_of("/* no end").find("test.meld:1: column 1: this comment does not end"), std::string::npos);
  EXPECT_NE(error_of("type linear a(node).\n!a(X).").find("a is linear, but is written with !"), std::string::npos);
  EXPECT_NE(error_of("type neighbor(node, int).").find("write it as: type neighbor(node, node, int)."),
            std::string::npos);
  EXPECT_NE(error_of("type linear a(node, min int).").find("is linear and has an aggregate"), std::string::npos);
  EXPECT_NE(error_of("type a(node, array int).").find("column 14: the type array cannot be run here"),
            std::string::npos);
  EXPECT_NE(error_of("const c = c. type a(node, int). !a(X, c).").find("is defined by itself"), std::string::npos);
  EXPECT_NE(error_of("fun f(int N): int = f(N). type a(node, int). !a(X, f(1)).").find("calls itself"),
            std::string::npos);
  EXPECT_NE(error_of("type a(node, node). type linear b(node). !a(X, Y), b(Y) -o 1.")
                .find("linear fact b is at another node"),
            std::string::npos);
  EXPECT_NE(error_of("type a(node). !neighbor(X, X, 1).").find("no rule can make it"), std::string::npos);
}

TEST(MeldLanguage, EndlessProgramsAreEndedAndNamed) {
  const std::string loop = outcome("type linear a(node).\na(X).\na(X) -o a(X).");
  EXPECT_NE(loop.find("catom 0 at (0, 0, 0)"), std::string::npos) << loop;
  EXPECT_NE(loop.find("the rule at test.meld:3:1 does not stop: more than 1000000 steps"), std::string::npos) << loop;
  const std::string growth = outcome("type a(node, int).\n!a(X, 0).\n!a(X, N) -o !a(X, N + 1).");
  EXPECT_NE(growth.find("test.meld:3:1"), std::string::npos) << growth;
  EXPECT_NE(
      outcome("type linear a(node, int).\na(X, 0).\na(X, N) -o a(X, 1 / N).").find("test.meld:3:1 divides by zero"),
      std::string::npos);
  const std::string many = outcome("type linear a(node, int).\na(X, 0).\n$a(X, N) -o a(X, N + 1).");
  EXPECT_NE(many.find("test.meld:3:1"), std::string::npos) << many;
}

// Programs that were damaged at random are refused, or run; nothing else happens.
TEST(MeldLanguage, DamagedProgramsNeverCrash) {
  const std::vector<std::string> pieces = {
      "!",   "(",    ")",     "{",          "}",       "|",    "-o",  ":-",  ".", ",",        "[",
      "]",   "@1",   "@+5ms", "type ",      "linear ", "node", "int", "X",   "_", "0",        "-1",
      "1.5", "min ", "sum ",  "include #a", "const ",  "\"",   "/*",  "if ", "A", "neighbor", "\n"};
  int compiled_ones = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    RandomStream random(seed, 0, "damage");
    const auto& programs = own_programs();
    std::string text = programs[random.bits() % programs.size()].text;
    const std::size_t changes = 1 + random.bits() % 4;
    for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
      const std::size_t at = random.bits() % text.size();
      switch (random.bits() % 4) {
        case 0: text.erase(at, 1 + random.bits() % 6); break;
        case 1: text.insert(at, pieces[random.bits() % pieces.size()]); break;
        case 2: text[at] = static_cast<char>(random.bits() % 256); break;
        default: text.insert(at, text.substr(random.bits() % text.size(), random.bits() % 30));
      }
    }
    const auto program = compiled(text);
    if (!program.ok()) {
      const auto& first = program.error().diagnostics().front();
      EXPECT_FALSE(first.what.empty());
      EXPECT_FALSE(first.fix.empty());
      continue;
    }
    ++compiled_ones;
    MachineOptions options;
    options.most_steps = 3000;
    Bench bench(text, lattice::Kind::hex, options);
    bench.box(3, 3);
    bench.start();
    (void)bench.run(4);
  }
  EXPECT_GT(compiled_ones, 400);
}

}  // namespace
}  // namespace volvox::meld
