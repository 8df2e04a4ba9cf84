// What may stand between ${ and } in a world file: the name of a parameter, NAME:-DEFAULT, or arithmetic over numbers
// and parameters: + - * / %, parentheses, pi, and sqrt, abs, floor, ceil, round, min, max, sin, cos. Internal to
// model/.
// Angles in rad. Pure functions, with the same result on every machine.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace volvox::model {

struct ExpressionError {
  std::size_t at = 0;  // where in the text
  std::string what, fix;
};

using Expanded = std::variant<std::string, ExpressionError>;

// The text that takes its place. Values may contain ${...} themselves.
Expanded evaluate(std::string_view text, const std::map<std::string, std::string>& values);

// Replaces every ${...} in a value.
Expanded expand(std::string_view text, const std::map<std::string, std::string>& values);

// Whether the name is used in it.
bool mentions(std::string_view expression, std::string_view name);

bool is_identifier(std::string_view name);

}  // namespace volvox::model
