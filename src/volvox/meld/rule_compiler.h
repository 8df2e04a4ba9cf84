// Internal: the code of one rule.
// One thread; keeps references to the compilation while a rule is compiled.
#pragma once

#include "volvox/meld/compiler.h"

namespace volvox::meld {

struct ListFunction;

struct Value {
  std::uint8_t reg = 0;
  Type type = Type::unknown;
};

// Expressions to registers, with the types of variables.
class ExpressionCompiler {
 public:
  explicit ExpressionCompiler(Compilation& c) : c_(c) {}

 protected:
  static constexpr std::uint8_t home = 0;  // the register of the catom's own number

  std::uint8_t new_register(const Place& place);
  std::uint32_t put(Op op, std::uint8_t a = 0, std::uint8_t b = 0, std::uint8_t c = 0, std::uint32_t index = 0);
  // Its value, of the type that is expected, if one is; whole numbers in the program may stand for floats.
  Value value(const Expression& e, Type expected = Type::unknown);
  // Without code: numbers, names of constants, and what is computed of them.
  std::optional<std::pair<Register, Type>> folded(const Expression& e, Type expected);
  bool known(const Expression& e) const;  // all its variables have values
  [[noreturn]] void fail(const Place& place, const std::string& what, const std::string& fix) const {
    c_.fail(place, what, fix);
  }

  Compilation& c_;
  std::map<std::string, Value> variables_;

 private:
  std::optional<std::pair<Register, Type>> fold(const Expression& e, Type expected);
  Value operation(const Expression& e, Type expected);
  Value comparison(const Expression& e);
  Value call(const Expression& e);
  Value own_function(const Expression& e, const Function& f);
  Value choice(const Expression& e, Type expected);
  Value let(const Expression& e, Type expected);
  Value list(const Expression& e, Type expected);
  Value list_value(const Expression& e, Type expected);
  Value list_call(const Expression& e, const ListFunction& f);
  void check_type(const Expression& e, Type found, Type expected) const;

  int registers_ = 1;
  int depth_ = 0;   // of functions and constants that name others
  int levels_ = 0;  // of what is folded
};

}  // namespace volvox::meld
