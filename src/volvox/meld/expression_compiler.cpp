#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "volvox/base/index.h"
#include "volvox/meld/registers.h"
#include "volvox/meld/rule_compiler.h"

namespace volvox::meld {

// Functions of lists: what they take beside the list (element: one of its elements), and what they give.
struct ListFunction {
  const char* name;
  FunctionId id;
  enum class Of : std::uint8_t { nothing, list, element, integer };
  Of takes, gives;
};

namespace {

using Kind = Expression::Kind;

constexpr ListFunction list_functions[] = {
    {"llength", FunctionId::length, ListFunction::Of::nothing, ListFunction::Of::integer},
    {"lnth", FunctionId::element, ListFunction::Of::integer, ListFunction::Of::element},
    {"llast", FunctionId::last, ListFunction::Of::nothing, ListFunction::Of::element},
    {"lremove", FunctionId::without, ListFunction::Of::element, ListFunction::Of::list},
    {"lreverse", FunctionId::reversed, ListFunction::Of::nothing, ListFunction::Of::list},
    {"lsort", FunctionId::sorted, ListFunction::Of::nothing, ListFunction::Of::list},
    {"lremoveduplicates", FunctionId::without_duplicates, ListFunction::Of::nothing, ListFunction::Of::list},
};

constexpr int deepest_calls = 100, deepest_levels = 2000;
constexpr std::size_t longest_code = 1 << 22;

struct KnownFunction {
  const char* name;
  FunctionId id;
  Type result;
  std::vector<Type> types;
};
const std::vector<KnownFunction>& known_functions() {
  using enum Type;
  static const std::vector<KnownFunction> all = {
      {"node2int", FunctionId::node_to_int, integer, {node}},
      {"float", FunctionId::to_real, real, {integer}},
      {"int2float", FunctionId::to_real, real, {integer}},
      {"float2int", FunctionId::to_int, integer, {real}},
      {"abs", FunctionId::absolute, integer, {integer}},
      {"fabs", FunctionId::absolute_real, real, {real}},
      {"intpower", FunctionId::power, integer, {integer, integer}},
      {"randint", FunctionId::random, integer, {integer}},
      {"sqrt", FunctionId::square_root, real, {real}},
  };
  return all;
}

}  // namespace

std::uint8_t ExpressionCompiler::new_register(const Place& place) {
  if (registers_ > 250) fail(place, "this rule has too many variables and values", "split it into two rules");
  return narrow<std::uint8_t>(registers_++);
}

std::uint32_t ExpressionCompiler::put(Op op, std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint32_t index) {
  if (c_.program.code.size() >= longest_code) fail({}, "the program is too long", "split it");
  c_.program.code.push_back({op, a, b, c, index});
  return narrow<std::uint32_t>(c_.program.code.size() - 1);
}

bool ExpressionCompiler::known(const Expression& e) const {
  if (e.kind == Kind::variable) return variables_.contains(e.name);
  if (e.kind == Kind::let) {
    // The variable of a let is known in its body.
    if (!known(e.parts[0])) return false;
    std::set<std::string> used;
    add_variables(e.parts[1], used);
    used.erase(e.name);
    return std::all_of(used.begin(), used.end(), [&](const auto& v) { return variables_.contains(v); });
  }
  return std::all_of(e.parts.begin(), e.parts.end(), [&](const Expression& part) { return known(part); });
}

void ExpressionCompiler::check_type(const Expression& e, Type found, Type expected) const {
  if (expected == Type::unknown || found == expected) return;
  std::string fix = fmt::format("use a value of type {}", name(expected));
  if (found == Type::integer && expected == Type::real) fix = "convert it: float(...)";
  if (found == Type::real && expected == Type::integer) fix = "convert it: float2int(...)";
  if (found == Type::node && expected == Type::integer) fix = "convert it: node2int(...)";
  fail(e.place, fmt::format("this is of type {}, but {} is needed here", name(found), name(expected)), fix);
}

std::optional<std::pair<Register, Type>> ExpressionCompiler::folded(const Expression& e, Type expected) {
  if (++levels_ > deepest_levels)
    fail(e.place, "this is nested too deep, with the constants that it names", "give a constant its value");
  auto value = fold(e, expected);
  --levels_;
  return value;
}

std::optional<std::pair<Register, Type>> ExpressionCompiler::fold(const Expression& e, Type expected) {
  switch (e.kind) {
    case Kind::integer:
      if (expected == Type::real) return std::pair(std::bit_cast<Register>(real(e.integer)), Type::real);
      return std::pair(whole(e.integer), Type::integer);
    case Kind::real: return std::pair(std::bit_cast<Register>(e.real), Type::real);
    case Kind::boolean: return std::pair<Register, Type>(e.integer, Type::boolean);
    case Kind::node: return std::pair<Register, Type>(e.integer, Type::node);
    case Kind::text: {
      auto& texts = c_.program.texts;
      auto it = std::find(texts.begin(), texts.end(), e.name);
      if (it == texts.end()) it = texts.insert(texts.end(), e.name);
      return std::pair(narrow<Register>(it - texts.begin()), Type::text);
    }
    case Kind::name: {
      const auto it = c_.constants.find(lower(e.name));
      if (it == c_.constants.end()) {
        std::vector<std::string> names;
        for (const auto& [name, constant] : c_.constants) names.push_back(constant->name);
        const std::string nearest = nearest_name(e.name, names);
        fail(e.place, fmt::format("there is no constant named {}", e.name),
             nearest.empty()
                 ? fmt::format("define it, as in: const {} = 1. Variables begin with a capital letter", e.name)
                 : fmt::format("did you mean {}?", nearest));
      }
      const std::pair key(lower(e.name), expected == Type::real);
      if (const auto known = c_.folded.find(key); known != c_.folded.end()) return known->second;
      if (++depth_ > deepest_calls)
        fail(it->second->place, fmt::format("the constant {} is defined by itself, or by too many others", e.name),
             "give it a value");
      auto value = folded(it->second->value, expected);
      --depth_;
      c_.folded[key] = value;
      if (!value && it->second->value.kind == Kind::list) return std::nullopt;  // it is made where it is used
      if (!value) fail(it->second->place, fmt::format("the constant {} is not constant", e.name), "give it a value");
      return value;
    }
    case Kind::operation: break;
    default: return std::nullopt;
  }
  if (e.parts.size() != 2 || e.op > Operator::multiply) return std::nullopt;
  const auto a = folded(e.parts[0], Type::unknown), b = folded(e.parts[1], Type::unknown);
  if (!a || !b || a->second != Type::integer || b->second != Type::integer) return std::nullopt;
  const std::int64_t x = number(a->first), y = number(b->first);
  const std::int64_t result = e.op == Operator::add ? x + y : e.op == Operator::subtract ? x - y : x * y;
  return std::pair(whole(result), Type::integer);
}

Value ExpressionCompiler::value(const Expression& e, Type expected) {
  if (const auto constant = folded(e, expected)) {
    check_type(e, constant->second, expected);
    const Value v{new_register(e.place), constant->second};
    put(Op::constant, v.reg, 0, 0, c_.add_constant(constant->first));
    return v;
  }
  Value v;
  switch (e.kind) {
    case Kind::variable: {
      const auto it = variables_.find(e.name);
      if (it == variables_.end())
        fail(e.place, e.name == "_" ? "'_' has no value" : fmt::format("the variable {} has no value", e.name),
             "let a fact in the body of the rule give it one");
      v = it->second;
      break;
    }
    case Kind::call: v = call(e); break;
    case Kind::operation: v = operation(e, expected); break;
    case Kind::choice: v = choice(e, expected); break;
    case Kind::let: v = let(e, expected); break;
    case Kind::list: v = list(e, expected); break;
    case Kind::name: v = value(c_.constants.at(lower(e.name))->value, expected); break;
    default: break;
  }
  check_type(e, v.type, expected);
  return v;
}

Value ExpressionCompiler::operation(const Expression& e, Type expected) {
  const std::uint8_t out = new_register(e.place);
  if (e.op == Operator::negate) {
    put(Op::negate, out, value(e.parts[0], Type::boolean).reg);
    return {out, Type::boolean};
  }
  if (e.op == Operator::both || e.op == Operator::either) {
    const Value a = value(e.parts[0], Type::boolean), b = value(e.parts[1], Type::boolean);
    put(e.op == Operator::both ? Op::both : Op::either, out, a.reg, b.reg);
    return {out, Type::boolean};
  }
  if (compares(e.op)) return comparison(e);
  if (e.op == Operator::join) {
    const Value a = list_value(e.parts[0], expected), b = value(e.parts[1], a.type);
    put(Op::join, out, a.reg, b.reg, narrow<std::uint32_t>(number_of(element_of(a.type))));
    return {out, a.type};
  }
  if (e.op == Operator::contains) {
    const Value in = list_value(e.parts[1], Type::unknown), one = value(e.parts[0], element_of(in.type));
    put(Op::contains, out, one.reg, in.reg, narrow<std::uint32_t>(number_of(one.type)));
    return {out, Type::boolean};
  }
  // A number may stand for a float, if the other side is one.
  const bool swap = e.parts[0].kind == Kind::integer || e.parts[0].kind == Kind::name;
  const Type wanted = expected == Type::real ? Type::real : Type::unknown;
  Value a, b;
  if (swap) {
    b = value(e.parts[1], wanted);
    a = value(e.parts[0], b.type);
  } else {
    a = value(e.parts[0], wanted);
    b = value(e.parts[1], a.type);
  }
  if (a.type != Type::integer && a.type != Type::real)
    fail(e.place, fmt::format("nothing is computed of values of type {}", name(a.type)), "use int or float");
  const bool whole = a.type == Type::integer;
  Op op = Op::add;
  switch (e.op) {
    case Operator::add: op = whole ? Op::add : Op::add_real; break;
    case Operator::subtract: op = whole ? Op::subtract : Op::subtract_real; break;
    case Operator::multiply: op = whole ? Op::multiply : Op::multiply_real; break;
    case Operator::divide: op = whole ? Op::divide : Op::divide_real; break;
    default:
      if (!whole) fail(e.place, "% is for whole numbers", "use int");
      op = Op::remainder;
  }
  put(op, out, a.reg, b.reg);
  return {out, a.type};
}

Value ExpressionCompiler::comparison(const Expression& e) {
  const bool swap = e.parts[0].kind == Kind::integer || e.parts[0].kind == Kind::name;
  Value a, b;
  if (swap) {
    b = value(e.parts[1]);
    a = value(e.parts[0], b.type);
  } else {
    a = value(e.parts[0]);
    b = value(e.parts[1], a.type);
  }
  const bool ordered = e.op != Operator::equal && e.op != Operator::not_equal;
  if (ordered && (a.type == Type::boolean || a.type == Type::text || is_list(a.type)))
    fail(e.place, fmt::format("values of type {} have no order", name(a.type)), "compare them by = or <>");
  const bool is_real = a.type == Type::real;
  if (e.op == Operator::greater || e.op == Operator::greater_equal) std::swap(a, b);
  Op op = is_real ? Op::equal_real : Op::equal;
  if (e.op == Operator::less || e.op == Operator::greater) op = is_real ? Op::less_real : Op::less;
  if (e.op == Operator::less_equal || e.op == Operator::greater_equal)
    op = is_real ? Op::less_equal_real : Op::less_equal;
  const std::uint8_t out = new_register(e.place);
  put(op, out, a.reg, b.reg);
  if (e.op == Operator::not_equal) put(Op::negate, out, out);
  return {out, Type::boolean};
}

Value ExpressionCompiler::call(const Expression& e) {
  if (const auto own = c_.functions.find(lower(e.name)); own != c_.functions.end())
    return own_function(e, *own->second);
  for (const ListFunction& f : list_functions)
    if (lower(e.name) == f.name) return list_call(e, f);
  const auto& all = known_functions();
  const auto it = std::find_if(all.begin(), all.end(), [&](const KnownFunction& f) { return lower(e.name) == f.name; });
  if (it == all.end()) {
    std::vector<std::string> names;
    for (const KnownFunction& f : all) names.emplace_back(f.name);
    for (const ListFunction& f : list_functions) names.emplace_back(f.name);
    for (const auto& [name, f] : c_.functions) names.push_back(f->name);
    std::string list;
    for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
    fail(e.place, fmt::format("there is no function named {}", e.name), "these are known: " + list);
  }
  if (e.parts.size() != it->types.size())
    fail(e.place, fmt::format("{} takes {} values, not {}", e.name, it->types.size(), e.parts.size()), "correct it");
  std::vector<std::uint8_t> arguments;
  for (std::size_t i = 0; i < e.parts.size(); ++i) arguments.push_back(value(e.parts[i], it->types[i]).reg);
  const std::uint8_t first = new_register(e.place);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    put(Op::copy, i == 0 ? first : new_register(e.place), arguments[i]);
  put(Op::call, first, first, 0, narrow<std::uint32_t>(number_of(it->id)));
  return {first, it->result};
}

Value ExpressionCompiler::list_value(const Expression& e, Type expected) {
  const Value v = value(e, expected);
  if (!is_list(v.type))
    fail(e.place, fmt::format("this is of type {}, but a list is needed here", name(v.type)), "use a list");
  return v;
}

Value ExpressionCompiler::list_call(const Expression& e, const ListFunction& f) {
  using Of = ListFunction::Of;
  const std::size_t takes = f.takes == Of::nothing ? 1 : 2;
  if (e.parts.size() != takes)
    fail(e.place, fmt::format("{} takes {} values, not {}", e.name, takes, e.parts.size()), "correct it");
  const Value of = list_value(e.parts[0], Type::unknown);
  const Type element = element_of(of.type);
  const auto type = [&](Of what) { return what == Of::list ? of.type : what == Of::element ? element : Type::integer; };
  const Value other = takes == 2 ? value(e.parts[1], type(f.takes)) : of;
  const std::uint8_t first = new_register(e.place), second = new_register(e.place);
  put(Op::copy, first, of.reg);
  put(Op::copy, second, other.reg);
  put(Op::call, first, first, narrow<std::uint8_t>(number_of(element)), narrow<std::uint32_t>(number_of(f.id)));
  return {first, type(f.gives)};
}

// From its end: each value is put before the rest. Long lists need no more registers than short ones.
Value ExpressionCompiler::list(const Expression& e, Type expected) {
  Type type = is_list(expected) ? expected : Type::unknown;
  const std::uint8_t out = new_register(e.place);
  std::size_t elements = e.parts.size();
  if (e.integer != 0) {
    const Value rest = list_value(e.parts[--elements], type);
    type = rest.type;
    put(Op::copy, out, rest.reg);
  } else {
    put(Op::constant, out, 0, 0, c_.add_constant(0));
  }
  for (std::size_t i = elements; i-- > 0;) {
    const int registers = registers_;
    const Value v = value(e.parts[i], type == Type::unknown ? Type::unknown : element_of(type));
    if (type == Type::unknown) type = list_of(v.type);
    put(Op::cons, out, v.reg, out, narrow<std::uint32_t>(number_of(v.type)));
    registers_ = registers;
  }
  if (type == Type::unknown)
    fail(e.place, "this list is empty, and nothing says of what it is a list", "use it where a type is known");
  if (number_of(type) >= list_step * (deepest_lists + 1))
    fail(e.place, "these lists are nested too deep", fmt::format("use at most {} levels", deepest_lists));
  return {out, type};
}

// Its body is compiled in its place.
Value ExpressionCompiler::own_function(const Expression& e, const Function& f) {
  if (e.parts.size() != f.parameters.size())
    fail(e.place, fmt::format("{} takes {} values, not {}", f.name, f.parameters.size(), e.parts.size()), "correct it");
  std::map<std::string, Value> inner;
  for (std::size_t i = 0; i < e.parts.size(); ++i) inner[f.parameters[i]] = value(e.parts[i], f.types[i]);
  if (++depth_ > deepest_calls)
    fail(f.place, fmt::format("the function {} calls itself", f.name), "use rules for that");
  std::swap(inner, variables_);
  const Value result = value(f.body, f.type);
  std::swap(inner, variables_);
  --depth_;
  return result;
}

Value ExpressionCompiler::choice(const Expression& e, Type expected) {
  const std::uint8_t out = new_register(e.place);
  const std::uint32_t no = put(Op::jump_unless, value(e.parts[0], Type::boolean).reg);
  // jump_unless was made after the condition's code: its register is right.
  const Value yes = value(e.parts[1], expected);
  put(Op::copy, out, yes.reg);
  const std::uint32_t end = put(Op::jump);
  c_.program.code[no].index = narrow<std::uint32_t>(c_.program.code.size());
  const Value other = value(e.parts[2], yes.type);
  put(Op::copy, out, other.reg);
  c_.program.code[end].index = narrow<std::uint32_t>(c_.program.code.size());
  return {out, yes.type};
}

Value ExpressionCompiler::let(const Expression& e, Type expected) {
  const Value v = value(e.parts[0]);
  const auto outer = variables_;
  variables_[e.name] = v;
  const Value result = value(e.parts[1], expected);
  variables_ = outer;
  return result;
}

}  // namespace volvox::meld
