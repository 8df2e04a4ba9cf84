// What the parser makes of a program: declarations, constants, functions and rules, each with its place in a file.
// Plain values that own all they hold; the same text gives the same tree.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::meld {

struct Place {
  std::uint32_t file = 0, line = 0, column = 0;  // file: of Source::files
};

// A list of a type is that type plus `list_step`; so lists of lists have types, too.
enum class Type : std::uint8_t { unknown, integer, real, node, boolean, text };
inline constexpr std::uint8_t list_step = 8, deepest_lists = 8;
constexpr bool is_list(Type type) { return static_cast<std::uint8_t>(type) >= list_step; }
constexpr Type list_of(Type element) { return static_cast<Type>(static_cast<std::uint8_t>(element) + list_step); }
constexpr Type element_of(Type list) { return static_cast<Type>(static_cast<std::uint8_t>(list) - list_step); }
std::string name(Type type);

enum class Operator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  both,
  either,
  negate,
  join,      // of two lists
  contains,  // a value in a list
  no_operator
};
constexpr bool compares(Operator op) { return op >= Operator::equal && op <= Operator::greater_equal; }

struct Expression {
  enum class Kind : std::uint8_t {
    integer,
    real,
    boolean,
    text,
    node,
    variable,
    name,
    call,
    operation,
    choice,
    let,
    list
  };
  Kind kind = Kind::integer;
  Place place;
  Operator op = Operator::no_operator;
  Type type = Type::unknown;
  std::int64_t integer = 0;  // also of boolean and node; of a list, 1 if the last part is its rest
  double real = 0;
  std::string name;               // of a variable, constant or function; a text
  std::vector<Expression> parts;  // of choice: condition, value, value; of let: value, body
  int height = 0;                 // of the tree of its parts
};

enum class Aggregate : std::uint8_t { none, min, max, sum, count, first, collect };  // collect: in rules only

struct Fact {
  std::string name;
  Place place;
  std::vector<Expression> arguments;
  char sign = ' ';  // '!', '?' or '$': persistent, linear, linear that is kept
  std::int64_t delay_ms = 0;
};

struct Term {
  enum class Kind : std::uint8_t { fact, condition, comprehension, aggregate, choice };
  Kind kind = Kind::fact;
  Place place;
  Fact fact;
  Expression condition;
  Aggregate aggregate = Aggregate::none;
  std::string variable;                        // of the aggregate
  std::vector<Term> body, head, each, others;  // each: an aggregate's heads for every match; others: of a choice
};

struct Rule {
  Place place;
  std::vector<Term> body, head;
};

struct Declaration {
  struct Field {
    Type type = Type::unknown;
    Aggregate aggregate = Aggregate::none;
  };
  std::string name;
  Place place;
  bool linear = false, action = false, route = false;
  std::vector<Field> fields;  // the first is the node
};

struct Constant {
  std::string name;
  Place place;
  Expression value;
};

struct Function {
  std::string name;
  Place place;
  Type type = Type::unknown;
  std::vector<std::string> parameters;
  std::vector<Type> types;
  Expression body;
};

struct Source {
  std::vector<std::string> files;  // the program first, then what it includes
  std::vector<Declaration> declarations;
  std::vector<Constant> constants;
  std::vector<Function> functions;
  std::vector<Rule> rules;
  std::vector<Diagnostic> warnings;

  Error error(const Place& place, const std::string& what, const std::string& fix) const;
};

using ReadFile = std::function<Result<std::string>(const std::filesystem::path&)>;

// The program and what it includes. All that is wrong with the grammar: the first error is reported.
Result<Source> parse(const std::filesystem::path& file, const ReadFile& read);

// Names of predicates, constants and functions are the same in capitals and small letters.
std::string lower(std::string_view name);

}  // namespace volvox::meld
