// A compiled program: predicates, and rules as a compact code for the machine (machine.h). Immutable, shared by all
// catoms and threads.
#pragma once

#include <memory>
#include <optional>

#include "volvox/base/index.h"
#include "volvox/meld/syntax.h"

namespace volvox::meld {

// What a predicate means beyond the program: what a catom senses, and what it does.
enum class Role : std::uint8_t {
  none,
  neighbor,
  vacant,
  neighbor_count,
  tap,
  moved,
  blocked,  // senses
  set_color,
  set_color_number,
  roll,
  slide,
  rotate  // actions
};
constexpr bool senses(Role role) { return role >= Role::neighbor && role <= Role::neighbor_count; }

struct Field {
  Type type = Type::unknown;
  std::uint8_t word = 0;  // where it begins in the words of a fact
};

inline constexpr std::uint16_t no_predicate = 0xffff;

// Facts are words of 32 bits. Facts that are derived have two more in front: their support (derivation.h) and count.
struct Predicate {
  std::string name;
  Place place;
  Role role = Role::none;
  bool linear = false, action = false;
  bool recursive = false;  // its facts may support each other, so they carry depths
  Aggregate aggregate = Aggregate::none;
  std::uint8_t aggregate_field = 0;
  std::vector<Field> fields;            // without the node
  bool has_lists = false;               // a field is one
  std::uint16_t words = 0;              // of the fields
  std::uint16_t header = 0;             // 0 or 2
  std::uint16_t keeps = 0;              // the predicate that holds what was derived: another one for sums and counts
  std::uint16_t result = 0;             // the reverse
  std::uint16_t later = no_predicate;   // holds its facts that are not due yet
  std::uint16_t delays = no_predicate;  // this holds facts of that predicate until they are due
  std::vector<std::uint32_t> plans;     // what a new or vanished fact leads to
  std::vector<std::uint16_t> rules;     // with linear facts, which a new fact may enable

  std::uint16_t stride() const { return narrow<std::uint16_t>(header + words); }
};

enum class Op : std::uint8_t {
  match,   // index: a pattern. Each fact that matches is tried; when none is left, the match before goes on
  test,    // a: a register. False: the match before goes on
  commit,  // the linear facts that were matched are used up
  loop,
  next,  // what is between is done for all matches; index of loop: where it goes on
  jump,
  jump_unless,  // index; a: a register
  emit,         // index: a predicate; a: a register with the node; b: the first argument; c: delay, or 0
  constant,     // a = constants[index]
  copy,         // a = b
  call,         // a = function `index` of b, ...
  add,
  subtract,
  multiply,
  divide,
  remainder,  // a = b op c, whole numbers
  add_real,
  subtract_real,
  multiply_real,
  divide_real,
  equal,
  less,
  less_equal,
  equal_real,
  less_real,
  less_equal_real,
  both,
  either,
  negate,
  lesser,
  larger,
  lesser_real,
  larger_real,  // a = the lesser, larger of b and c
  done,
  // Of lists. New ones come at the end: the key of a program, which is in snapshots, has the numbers.
  cons,      // a = the list of b, of type `index`, and the list c
  first,     // a = the first of list b, which is not empty, of type `index`
  rest,      // a = list b without it
  join,      // a = list b and then list c, of elements of type `index`
  contains,  // a = whether b, of type `index`, is in list c
};

inline constexpr std::uint16_t words_of_element = 4;  // of a list

struct Instruction {
  Op op = Op::done;
  std::uint8_t a = 0, b = 0, c = 0;
  std::uint32_t index = 0;
};
static_assert(sizeof(Instruction) == 8);

// What a fact must be to match.
struct Pattern {
  enum class Test : std::uint8_t { bind, same, constant };
  struct Part {
    Test test = Test::bind;
    Type type = Type::integer;
    std::uint8_t word = 0;
    std::uint8_t reg = 0;
    std::uint32_t constant = 0;
  };
  std::uint16_t predicate = 0;
  bool linear = false, kept = false;  // kept: it is linear, but stays
  bool not_the_trigger = false;       // a rule uses the predicate twice: each pair of facts is found once
  std::vector<Part> parts;
};

// A rule without linear facts is run for each fact that comes or goes, from its place in the body.
struct Plan {
  std::uint32_t code = 0;
  std::uint16_t rule = 0;
  std::uint32_t trigger = 0;  // a pattern
  bool recursive = false;     // a head carries a depth
};

enum class RuleKind : std::uint8_t { derives, uses, begins };  // without and with linear facts; no facts: at the start

struct RuleInfo {
  Place place;
  RuleKind kind = RuleKind::derives;
  std::uint32_t code = 0;               // of `uses` and `begins`
  std::optional<std::uint32_t> node{};  // of `begins`: only there
};

enum class FunctionId : std::uint8_t {
  node_to_int,
  to_real,
  to_int,
  absolute,
  absolute_real,
  power,
  random,
  square_root,
  length,  // of lists; c: the type of the elements
  element,
  last,
  without,
  reversed,
  sorted,
  without_duplicates
};

// A whole number, sign-extended; a float's bits; a node; 0 or 1; a text's number; a list (machine_lists.cpp).
using Register = std::uint64_t;

struct Program {
  std::string name;
  std::vector<std::string> files;
  std::vector<Predicate> predicates;
  std::vector<Instruction> code;
  std::vector<Pattern> patterns;
  std::vector<Plan> plans;
  std::vector<RuleInfo> rules;
  std::vector<Register> constants;
  std::vector<std::string> texts;
  std::vector<std::int64_t> delays_ms;  // of emit, the first is 0
  std::vector<Diagnostic> warnings;
  std::uint16_t lists = no_predicate;  // whose facts are the elements of lists; none: the program has no lists
  std::uint64_t key = 0;               // two programs with the same key are the same

  // By role, or no_predicate.
  std::uint16_t with(Role role) const;
  std::uint16_t named(const std::string& wanted) const;  // or no_predicate
  std::string where(std::uint16_t rule) const;           // "file:line:column"
};

// Errors have file, line, column and what to do.
Result<std::shared_ptr<const Program>> compile(const Source& source);
Result<std::shared_ptr<const Program>> load_program(const std::filesystem::path& file, const ReadFile& read);
Result<std::shared_ptr<const Program>> load_program(const std::filesystem::path& file);

// What `volvox info` shows: predicates, rules and the size of the code.
std::string describe(const Program& program);

}  // namespace volvox::meld
