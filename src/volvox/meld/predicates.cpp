#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/meld/compiler.h"

namespace volvox::meld {
namespace {

constexpr std::size_t most_predicates = 1000, most_fields = 50;

struct Known {
  const char* name;
  Role role;
  bool linear, action;
  std::vector<Type> types;  // without the node
};

const std::vector<Known>& known() {
  using enum Type;
  static const std::vector<Known> all = {
      {"neighbor", Role::neighbor, false, false, {node, integer}},
      {"vacant", Role::vacant, false, false, {integer}},
      {"neighborcount", Role::neighbor_count, false, false, {integer}},
      {"tap", Role::tap, true, false, {}},
      {"moved", Role::moved, true, false, {}},
      {"blocked", Role::blocked, true, false, {}},
      {"setcolor", Role::set_color, false, true, {integer, integer, integer}},
      {"setcolor2", Role::set_color_number, false, true, {integer}},
      {"roll", Role::roll, false, true, {integer, integer}},
      {"slide", Role::slide, false, true, {integer, integer}},
      {"rotate", Role::rotate, false, true, {integer, integer}},
      // They say in which order to compute, or print; they do nothing here.
      {"set-priority", Role::none, false, true, {real}},
      {"add-priority", Role::none, false, true, {real}},
      {"set-default-priority", Role::none, false, true, {real}},
      {"remove-priority", Role::none, false, true, {}},
      {"schedule-next", Role::none, false, true, {}},
      {"set-static", Role::none, false, true, {}},
      {"set-moving", Role::none, false, true, {}},
      {"set-affinity", Role::none, false, true, {node}},
      {"set-cpu", Role::none, false, true, {integer}},
      {"write-string", Role::none, false, true, {text}},
  };
  return all;
}

const Known* find_known(const std::string& name) {
  for (const Known& k : known())
    if (k.name == name) return &k;
  return nullptr;
}

std::string text(const std::vector<Type>& types) {
  std::string out = "node";
  for (const Type type : types) out += fmt::format(", {}", name(type));
  return out;
}

void lay_out(Predicate& p) {
  std::uint16_t word = 0;
  for (Field& field : p.fields) {
    field.word = narrow<std::uint8_t>(word);
    word = narrow<std::uint16_t>(word + (field.type == Type::real ? 2 : 1));
    p.has_lists = p.has_lists || is_list(field.type);
  }
  p.header = p.linear || p.action || senses(p.role) ? 0 : 2;
  p.words = p.header == 0 && word == 0 ? 1 : word;  // a fact has a word at least
}

Predicate of_known(const Known& k, const std::string& name) {
  Predicate p;
  p.name = name;
  p.role = k.role, p.linear = k.linear, p.action = k.action;
  for (const Type type : k.types) p.fields.push_back({type, 0});
  return p;
}

void check_known(const Compilation& c, const Declaration& d, Predicate& p) {
  const Known* k = find_known(lower(d.name));
  if (k == nullptr) return;
  std::vector<Type> types;
  for (const Field& field : p.fields) types.push_back(field.type);
  if (types != k->types || p.aggregate != Aggregate::none)
    c.fail(d.place, fmt::format("{} is known, but not with these types", d.name),
           fmt::format("write it as: type {}({}).", d.name, text(k->types)));
  if (p.linear && senses(k->role))
    c.fail(d.place, fmt::format("{} is linear here, but what a catom senses stays as long as it is so", d.name),
           fmt::format("write it as: type {}({}).", d.name, text(k->types)));
  p.role = k->role;
  p.action = k->action;
}

void declare(Compilation& c, const Declaration& d) {
  if (d.fields[0].type != Type::node || d.fields[0].aggregate != Aggregate::none)
    c.fail(d.place, fmt::format("the first field of {} is no node", d.name),
           "begin its types with node: a fact is at a node");
  if (d.fields.size() > most_fields)
    c.fail(d.place, fmt::format("{} has {} fields", d.name, d.fields.size()),
           fmt::format("use at most {}", most_fields));
  Predicate p;
  p.name = d.name;
  p.place = d.place;
  p.linear = d.linear, p.action = d.action;
  for (std::size_t i = 1; i < d.fields.size(); ++i) {
    const auto& field = d.fields[i];
    p.fields.push_back({field.type, 0});
    if (field.aggregate == Aggregate::none) continue;
    if (p.aggregate != Aggregate::none)
      c.fail(d.place, fmt::format("{} has two aggregates", d.name), "use two predicates");
    if (d.linear || d.action)
      c.fail(d.place, fmt::format("{} is linear and has an aggregate", d.name),
             "leave 'linear' out, or aggregate in a rule: [min => X | ...]");
    if (field.type != Type::integer && field.type != Type::real)
      c.fail(d.place, fmt::format("{} aggregates values of type {}", d.name, name(field.type)), "use int or float");
    if (field.aggregate == Aggregate::count && field.type != Type::integer)
      c.fail(d.place, fmt::format("{} counts in floats", d.name), "write: count int");
    p.aggregate = field.aggregate;
    p.aggregate_field = narrow<std::uint8_t>(i - 1);
  }
  check_known(c, d, p);
  const auto same = c.predicates.find(lower(d.name));
  if (same != c.predicates.end()) {
    const Predicate& other = c.program.predicates[same->second];
    const bool equal = other.linear == p.linear && other.aggregate == p.aggregate &&
                       other.aggregate_field == p.aggregate_field &&
                       std::equal(other.fields.begin(), other.fields.end(), p.fields.begin(), p.fields.end(),
                                  [](const Field& a, const Field& b) { return a.type == b.type; });
    if (!equal)
      c.fail(d.place,
             fmt::format("{} is declared before, in {}:{}, with other types", d.name, c.source.files[other.place.file],
                         other.place.line),
             "declare it once, or give this one another name");
    return;
  }
  c.add(std::move(p));
}

}  // namespace

std::uint16_t Compilation::add(Predicate p) {
  if (program.predicates.size() >= most_predicates)
    fail(p.place, "the program has too many predicates", fmt::format("use at most {}", most_predicates));
  lay_out(p);
  const auto index = narrow<std::uint16_t>(program.predicates.size());
  p.keeps = p.result = index;
  predicates[lower(p.name)] = index;
  const bool adds_up = p.aggregate == Aggregate::sum || p.aggregate == Aggregate::count;
  program.predicates.push_back(std::move(p));
  if (!adds_up) return index;
  Predicate parts = program.predicates[index];
  parts.name += "'parts";
  parts.result = index;
  parts.keeps = narrow<std::uint16_t>(index + 1);
  program.predicates[index].keeps = parts.keeps;
  program.predicates[index].aggregate = Aggregate::none;
  program.predicates.push_back(std::move(parts));
  return index;
}

std::uint32_t Compilation::add_constant(Register value) {
  for (std::size_t i = program.constants.size(), tried = 0; i-- > 0 && tried < 64; ++tried)
    if (program.constants[i] == value) return narrow<std::uint32_t>(i);
  program.constants.push_back(value);
  return narrow<std::uint32_t>(program.constants.size() - 1);
}

const Predicate* Compilation::find(const std::string& name) const {
  const auto it = predicates.find(lower(name));
  return it == predicates.end() ? nullptr : &program.predicates[it->second];
}

std::uint16_t Compilation::use(const Fact& fact) {
  const std::string key = lower(fact.name);
  if (const auto it = predicates.find(key); it != predicates.end()) return it->second;
  if (const Known* k = find_known(key)) return add(of_known(*k, fact.name));
  std::vector<std::string> names;
  for (const Predicate& p : program.predicates) names.push_back(p.name);
  const std::string nearest = nearest_name(fact.name, names);
  fail(fact.place, fmt::format("there is no predicate named {}", fact.name),
       nearest.empty() ? fmt::format("declare it, as in: type {}(node, int).", fact.name)
                       : fmt::format("did you mean {}? Or declare it, as in: type {}(node, int).", nearest, fact.name));
}

void declare_predicates(Compilation& c) {
  for (const Declaration& d : c.source.declarations) declare(c, d);
  for (const Constant& constant : c.source.constants) {
    const auto [it, is_new] = c.constants.emplace(lower(constant.name), &constant);
    if (!is_new)
      c.fail(constant.place,
             fmt::format("the constant {} is defined before, in line {}", constant.name, it->second->place.line),
             "define it once");
  }
  for (const Function& function : c.source.functions)
    if (!c.functions.emplace(lower(function.name), &function).second)
      c.fail(function.place, fmt::format("the function {} is defined twice", function.name), "define it once");
}

std::uint16_t Program::with(Role role) const {
  for (const std::uint16_t i : indices<std::uint16_t>(predicates))
    if (predicates[i].role == role) return i;
  return no_predicate;
}

std::uint16_t Program::named(const std::string& wanted) const {
  for (const std::uint16_t i : indices<std::uint16_t>(predicates))
    if (lower(predicates[i].name) == lower(wanted)) return i;
  return no_predicate;
}

std::string Program::where(std::uint16_t rule) const {
  const Place& place = rules[rule].place;
  return fmt::format("{}:{}:{}", place.file < files.size() ? files[place.file] : name, place.line, place.column);
}

}  // namespace volvox::meld
