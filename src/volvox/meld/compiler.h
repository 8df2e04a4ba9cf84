// Internal: the steps from a Source to a Program.
// One thread compiles one program; nothing is shared. The same source gives the same program, with the same key.
#pragma once

#include <map>
#include <set>

#include "volvox/meld/program.h"

namespace volvox::meld {

// Left within the compiler only: errors come out as a Result.
struct CompileFailed {
  Error error;
};

// Source and program while they are compiled, and what all steps need.
struct Compilation {
  const Source& source;
  Program program;
  std::map<std::string, std::uint16_t> predicates;  // by their names in small letters
  std::map<std::string, const Constant*> constants;
  std::map<std::string, const Function*> functions;
  std::vector<Rule> rules;
  // Values of constants, by their names in small letters and whether a float is wanted.
  std::map<std::pair<std::string, bool>, std::optional<std::pair<Register, Type>>> folded{};

  [[noreturn]] void fail(const Place& place, const std::string& what, const std::string& fix) const {
    throw CompileFailed{source.error(place, what, fix)};
  }
  const Predicate* find(const std::string& name) const;
  // The predicate of a fact: one of the program's, or a known one, which is declared by being used.
  std::uint16_t use(const Fact& fact);
  std::uint16_t add(Predicate predicate);
  std::uint32_t add_constant(Register value);
};

void declare_predicates(Compilation& c);
// Expands comprehensions in rules without linear facts, and gives axioms a rule each.
void simplify_rules(Compilation& c);
// A body at two nodes becomes two rules: the other node sends what it knows to its neighbours.
void localize_rules(Compilation& c);
void find_recursion(Compilation& c);
void compile_rule(Compilation& c, std::uint16_t rule);

// Variables of an expression, and of all arguments of a fact but the first.
void add_variables(const Expression& e, std::set<std::string>& into);
bool is_linear(const Compilation& c, const Term& term);  // of a fact whose predicate is declared
Expression variable_named(const std::string& name, const Place& place);

}  // namespace volvox::meld
