#include "volvox/meld/rule_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "volvox/base/index.h"

namespace volvox::meld {
namespace {

class RuleCompiler : public ExpressionCompiler {
 public:
  RuleCompiler(Compilation& c, std::uint16_t rule) : ExpressionCompiler(c), rule_(c.rules[rule]), index_(rule) {}

  // From the fact at this place of the body; none: the rule is tried as a whole.
  void run(std::optional<std::size_t> trigger);

 private:
  std::string home_variable() const;
  void check_arguments(const Fact& fact, const Predicate& p) const;
  void check_home(const Term& term);
  std::uint32_t pattern(const Term& term, bool trigger);
  void conditions(std::vector<const Expression*>& waiting);
  void take_apart(const Value& v, const Expression& e);
  void take_list_apart(const Value& v, const Expression& e);
  bool condition(const Expression& e);
  void body(const std::vector<Term>& terms, std::optional<std::size_t> trigger);
  void heads(const std::vector<Term>& terms);
  void head(const Term& term);
  void assignment(const Term& term);
  void emit(const Fact& fact);
  void comprehension(const Term& term);
  void aggregate(const Term& term);
  void choice(const Term& term);

  const Rule& rule_;
  std::uint16_t index_;
  std::string home_;
  std::vector<std::pair<Value, Expression>> computed_;  // arguments of a matched fact that are computed
  std::vector<std::pair<Value, Expression>> lists_;     // those that are lists of variables
};

std::string first_home(const std::vector<Term>& terms) {
  for (const Term& term : terms) {
    if (term.kind == Term::Kind::fact && term.fact.arguments[0].kind == Expression::Kind::variable)
      return term.fact.arguments[0].name;
    if (term.kind == Term::Kind::comprehension || term.kind == Term::Kind::aggregate)
      if (std::string inner = first_home(term.body); !inner.empty()) return inner;
    if (std::string inner = first_home(term.head); !inner.empty()) return inner;
  }
  return "";
}

std::string RuleCompiler::home_variable() const {
  const std::string of_body = first_home(rule_.body);
  return of_body.empty() ? first_home(rule_.head) : of_body;
}

void RuleCompiler::check_arguments(const Fact& fact, const Predicate& p) const {
  if (fact.arguments.size() != p.fields.size() + 1)
    fail(fact.place,
         fmt::format("{} has {} arguments, but {} are given", p.name, p.fields.size() + 1, fact.arguments.size()),
         "give as many as its type has");
  if (fact.sign == '!' && p.linear)
    fail(fact.place, fmt::format("{} is linear, but is written with !", p.name), "remove the !");
  if ((fact.sign == '?' || fact.sign == '$') && !p.linear)
    fail(fact.place, fmt::format("{} is not linear, but is written with {}", p.name, fact.sign), "write ! instead");
}

void RuleCompiler::check_home(const Term& term) {
  const Expression& node = term.fact.arguments[0];
  if (node.kind == Expression::Kind::variable) {
    if (node.name == home_ || node.name == "_") return;
    fail(node.place, fmt::format("this fact is at {}, but the rule is at {}", node.name, home_),
         "let that node send it first, by a rule of its own");
  }
  const Value v = value(node, Type::node);
  const std::uint8_t same = new_register(node.place);
  put(Op::equal, same, home, v.reg);
  put(Op::test, same);
}

// Variables that are new get their values from the fact; others must be the same.
std::uint32_t RuleCompiler::pattern(const Term& term, bool trigger) {
  const Fact& fact = term.fact;
  const std::uint16_t predicate = c_.use(fact);
  const Predicate p = c_.program.predicates[predicate];
  if (p.action) fail(fact.place, fmt::format("{} is an action", p.name), "use it on the right of -o only");
  check_arguments(fact, p);
  if (!trigger) check_home(term);
  Pattern out;
  out.predicate = predicate;
  out.linear = p.linear;
  out.kept = fact.sign == '$';
  for (std::size_t i = 0; i < p.fields.size(); ++i) {
    const Expression& e = fact.arguments[i + 1];
    const Type type = p.fields[i].type;
    Pattern::Part part{Pattern::Test::bind, type, p.fields[i].word, 0, 0};
    if (e.kind == Expression::Kind::variable) {
      if (e.name == "_") continue;
      const auto it = variables_.find(e.name);
      if (it != variables_.end()) {
        if (it->second.type != type)
          fail(e.place,
               fmt::format("{} is of type {}, but this argument of {} is of type {}", e.name, name(it->second.type),
                           p.name, name(type)),
               "use another variable");
        part.test = Pattern::Test::same;
        part.reg = it->second.reg;
      } else {
        part.reg = new_register(e.place);
        variables_[e.name] = {part.reg, type};
      }
    } else if (const auto constant = folded(e, type)) {
      if (constant->second != type)
        fail(e.place,
             fmt::format("this argument of {} is of type {}, but {} is given", p.name, name(type),
                         name(constant->second)),
             "correct it, or the type");
      part.test = Pattern::Test::constant;
      part.constant = c_.add_constant(constant->first);
    } else if (e.kind == Expression::Kind::list && is_list(type)) {
      part.reg = new_register(e.place);
      lists_.push_back({{part.reg, type}, e});
    } else {
      part.reg = new_register(e.place);
      computed_.push_back({{part.reg, type}, e});
    }
    out.parts.push_back(part);
  }
  c_.program.patterns.push_back(std::move(out));
  return narrow<std::uint32_t>(c_.program.patterns.size() - 1);
}

// False: not all of its variables have values yet.
bool RuleCompiler::condition(const Expression& e) {
  if (e.kind == Expression::Kind::operation && e.op == Operator::equal) {
    for (const int side : {0, 1}) {
      const Expression &variable = e.parts[side], &other = e.parts[1 - side];
      if (variable.kind != Expression::Kind::variable || variable.name == "_" || variables_.contains(variable.name))
        continue;
      if (!known(other)) continue;
      if (other.kind == Expression::Kind::list && other.parts.empty()) continue;  // of what, a fact may say
      variables_[variable.name] = value(other);
      return true;
    }
  }
  if (!known(e)) return false;
  put(Op::test, value(e, Type::boolean).reg);
  return true;
}

// A value must be what an expression says. Variables that are new get their values from it.
void RuleCompiler::take_apart(const Value& v, const Expression& e) {
  if (e.kind == Expression::Kind::list && is_list(v.type)) return take_list_apart(v, e);
  if (e.kind == Expression::Kind::variable) {
    if (e.name == "_") return;
    const auto known = variables_.find(e.name);
    if (known == variables_.end()) {
      variables_[e.name] = v;
      return;
    }
  }
  computed_.push_back({v, e});
}

void RuleCompiler::take_list_apart(const Value& v, const Expression& e) {
  const std::size_t elements = e.parts.size() - (e.integer != 0 ? 1 : 0);
  const std::uint8_t empty = new_register(e.place), is_empty = new_register(e.place);
  put(Op::constant, empty, 0, 0, c_.add_constant(0));
  const auto type = narrow<std::uint32_t>(number_of(element_of(v.type)));
  Value list = v;
  for (std::size_t i = 0; i < elements; ++i) {
    put(Op::equal, is_empty, list.reg, empty);
    put(Op::negate, is_empty, is_empty);
    put(Op::test, is_empty);
    const Value first{new_register(e.place), element_of(v.type)}, rest{new_register(e.place), v.type};
    put(Op::first, first.reg, list.reg, 0, type);
    put(Op::rest, rest.reg, list.reg);
    take_apart(first, e.parts[i]);
    list = rest;
  }
  if (e.integer != 0) return take_apart(list, e.parts.back());
  put(Op::equal, is_empty, list.reg, empty);
  put(Op::test, is_empty);
}

void RuleCompiler::conditions(std::vector<const Expression*>& waiting) {
  for (const auto& [v, e] : std::exchange(lists_, {})) take_list_apart(v, e);
  for (auto it = computed_.begin(); it != computed_.end();) {
    if (!known(it->second)) {
      ++it;
      continue;
    }
    const Value v = value(it->second, it->first.type);
    const std::uint8_t same = new_register(it->second.place);
    put(v.type == Type::real ? Op::equal_real : Op::equal, same, it->first.reg, v.reg);
    put(Op::test, same);
    it = computed_.erase(it);
  }
  for (bool more = true; more;) {
    more = false;
    for (auto it = waiting.begin(); it != waiting.end(); ++it) {
      if (!condition(**it)) continue;
      waiting.erase(it);
      more = true;
      break;
    }
  }
}

void RuleCompiler::body(const std::vector<Term>& terms, std::optional<std::size_t> trigger) {
  std::vector<const Expression*> waiting;
  for (const Term& term : terms) {
    if (term.kind == Term::Kind::condition) waiting.push_back(&term.condition);
    else if (term.kind != Term::Kind::fact)
      fail(term.place, "this cannot be in the body of a rule", "write it on the right of -o");
  }
  if (trigger) {
    const Term& term = terms[*trigger];
    c_.program.plans.back().trigger = pattern(term, true);
    check_home(term);
  }
  conditions(waiting);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].kind != Term::Kind::fact || trigger == i) continue;
    const std::uint32_t p = pattern(terms[i], false);
    Pattern& made = c_.program.patterns[p];
    made.not_the_trigger = trigger && i < *trigger && made.predicate == c_.use(terms[*trigger].fact);
    put(Op::match, 0, 0, 0, p);
    conditions(waiting);
  }
  for (const auto& [v, e] : computed_) value(e);  // says which variable has no value
  for (const Expression* e : waiting) value(*e);
}

void RuleCompiler::heads(const std::vector<Term>& terms) {
  for (const Term& term : terms) head(term);
}

void RuleCompiler::head(const Term& term) {
  switch (term.kind) {
    case Term::Kind::fact: return emit(term.fact);
    case Term::Kind::comprehension: return comprehension(term);
    case Term::Kind::aggregate: return aggregate(term);
    case Term::Kind::choice: return choice(term);
    case Term::Kind::condition: return assignment(term);
  }
}

void RuleCompiler::assignment(const Term& term) {
  const Expression& e = term.condition;
  const bool assigns = e.kind == Expression::Kind::operation && e.op == Operator::equal &&
                       e.parts[0].kind == Expression::Kind::variable && !variables_.contains(e.parts[0].name);
  if (!assigns) fail(term.place, "a condition is on the right of the rule", "write it on the left");
  variables_[e.parts[0].name] = value(e.parts[1]);
}

void RuleCompiler::emit(const Fact& fact) {
  const std::uint16_t predicate = c_.use(fact);
  const Predicate p = c_.program.predicates[predicate];
  check_arguments(fact, p);
  if (senses(p.role))
    fail(fact.place, fmt::format("{} is what a catom senses, so no rule can make it", p.name), "use another predicate");
  if (fact.sign == '$') fail(fact.place, "'$' keeps a fact of the body", "remove it here");
  const Expression& node = fact.arguments[0];
  std::uint8_t target = home;
  const bool at_home = node.kind == Expression::Kind::variable && node.name == home_;
  if (!at_home) {
    target = value(node, Type::node).reg;
    if (c_.program.rules[index_].kind != RuleKind::begins) {
      Fact link;
      link.name = "neighbor";
      c_.use(link);  // it is needed to find the way
    }
  }
  std::vector<std::uint8_t> arguments;
  for (std::size_t i = 0; i < p.fields.size(); ++i)
    arguments.push_back(value(fact.arguments[i + 1], p.fields[i].type).reg);
  std::uint8_t first = arguments.empty() ? home : arguments[0];
  for (std::size_t i = 1; i < arguments.size(); ++i)
    if (arguments[i] != arguments[0] + i) first = home;
  if (first == home)
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::uint8_t reg = new_register(fact.place);
      if (i == 0) first = reg;
      put(Op::copy, reg, arguments[i]);
    }
  std::uint8_t delay = 0;
  if (fact.delay_ms > 0) {
    auto& delays = c_.program.delays_ms;
    auto it = std::find(delays.begin(), delays.end(), fact.delay_ms);
    if (it == delays.end()) it = delays.insert(delays.end(), fact.delay_ms);
    if (it - delays.begin() > 255) fail(fact.place, "the program has more than 255 delays", "use fewer");
    delay = narrow<std::uint8_t>(it - delays.begin());
    if (p.later == no_predicate) {
      Predicate later;
      later.name = p.name + "'later";
      later.place = fact.place;
      later.linear = true;
      later.delays = predicate;
      const std::uint16_t made = c_.add(std::move(later));
      c_.program.predicates[made].words = narrow<std::uint16_t>(4 + p.words);
      c_.program.predicates[predicate].later = made;
    }
  }
  put(Op::emit, target, first, delay, predicate);
  if (!c_.program.plans.empty() && p.recursive) c_.program.plans.back().recursive = true;
}

void RuleCompiler::comprehension(const Term& term) {
  const auto outer = variables_;
  const std::uint32_t loop = put(Op::loop);
  body(term.body, {});
  put(Op::commit);
  heads(term.head);
  put(Op::next);
  c_.program.code[loop].index = narrow<std::uint32_t>(c_.program.code.size());
  variables_ = outer;
}

void RuleCompiler::aggregate(const Term& term) {
  const auto outer = variables_;
  const std::uint8_t sum = new_register(term.place), any = new_register(term.place);
  const Register none = 0;
  put(Op::constant, sum, 0, 0, c_.add_constant(none));
  put(Op::constant, any, 0, 0, c_.add_constant(none));
  const std::uint32_t loop = put(Op::loop);
  body(term.body, {});
  put(Op::commit);
  Type type = Type::integer;
  const auto it = variables_.find(term.variable);
  if (term.aggregate == Aggregate::count) {
    put(Op::constant, any, 0, 0, c_.add_constant(1));
    put(Op::add, sum, sum, any);
  } else if (term.aggregate == Aggregate::collect) {
    if (it == variables_.end())
      fail(term.place, fmt::format("{} has no value in the body of the aggregate", term.variable),
           "let a fact give it one");
    type = list_of(it->second.type);
    put(Op::cons, sum, it->second.reg, sum, narrow<std::uint32_t>(number_of(it->second.type)));
  } else {
    if (it == variables_.end() || (it->second.type != Type::integer && it->second.type != Type::real))
      fail(term.place, fmt::format("{} is no number in the body of the aggregate", term.variable),
           "let a fact in it give it a value of type int or float");
    type = it->second.type;
    const bool is_real = type == Type::real;
    const std::uint8_t v = it->second.reg;
    if (term.aggregate == Aggregate::sum) {
      put(is_real ? Op::add_real : Op::add, sum, sum, v);
    } else {
      const bool min = term.aggregate == Aggregate::min;
      const std::uint32_t first = put(Op::jump_unless, any);
      put(is_real ? (min ? Op::lesser_real : Op::larger_real) : (min ? Op::lesser : Op::larger), sum, sum, v);
      const std::uint32_t end = put(Op::jump);
      c_.program.code[first].index = narrow<std::uint32_t>(c_.program.code.size());
      put(Op::copy, sum, v);
      c_.program.code[end].index = narrow<std::uint32_t>(c_.program.code.size());
    }
    put(Op::constant, any, 0, 0, c_.add_constant(1));
  }
  heads(term.each);
  put(Op::next);
  c_.program.code[loop].index = narrow<std::uint32_t>(c_.program.code.size());
  variables_ = outer;
  variables_[term.variable] = {sum, type};
  // Of nothing there is no least and no largest.
  const bool always =
      term.aggregate == Aggregate::count || term.aggregate == Aggregate::sum || term.aggregate == Aggregate::collect;
  const std::uint32_t skip = always ? 0 : put(Op::jump_unless, any);
  heads(term.head);
  if (!always) c_.program.code[skip].index = narrow<std::uint32_t>(c_.program.code.size());
  variables_ = outer;
}

void RuleCompiler::choice(const Term& term) {
  const std::uint8_t yes = value(term.condition, Type::boolean).reg;
  const std::uint32_t no = put(Op::jump_unless, yes);
  heads(term.head);
  const std::uint32_t end = put(Op::jump);
  c_.program.code[no].index = narrow<std::uint32_t>(c_.program.code.size());
  heads(term.others);
  c_.program.code[end].index = narrow<std::uint32_t>(c_.program.code.size());
}

void RuleCompiler::run(std::optional<std::size_t> trigger) {
  home_ = home_variable();
  RuleInfo& info = c_.program.rules[index_];
  if (!home_.empty()) variables_[home_] = {home, Type::node};
  const std::uint32_t begin = narrow<std::uint32_t>(c_.program.code.size());
  if (trigger) {
    Plan plan;
    plan.code = begin;
    plan.rule = index_;
    c_.program.plans.push_back(plan);
  } else {
    info.code = begin;
  }
  body(rule_.body, trigger);
  if (info.kind != RuleKind::derives) put(Op::commit);
  heads(rule_.head);
  put(Op::done);
}

}  // namespace

void compile_rule(Compilation& c, std::uint16_t index) {
  const Rule& rule = c.rules[index];
  RuleInfo& info = c.program.rules[index];
  bool facts = false, linear = false;
  for (const Term& term : rule.body) {
    if (term.kind != Term::Kind::fact) continue;
    facts = true;
    linear = linear || is_linear(c, term);
  }
  info.kind = !facts ? RuleKind::begins : linear ? RuleKind::uses : RuleKind::derives;
  if (info.kind == RuleKind::begins && rule.head.size() == 1 && rule.head[0].kind == Term::Kind::fact)
    if (const Expression& node = rule.head[0].fact.arguments[0]; node.kind == Expression::Kind::node)
      info.node = narrow<std::uint32_t>(node.integer);
  if (info.kind != RuleKind::derives) {
    RuleCompiler(c, index).run({});
    if (!linear) return;
    for (const Term& term : rule.body) {
      if (term.kind != Term::Kind::fact) continue;
      auto& rules = c.program.predicates[c.use(term.fact)].rules;
      if (rules.empty() || rules.back() != index) rules.push_back(index);
    }
    return;
  }
  for (std::size_t i = 0; i < rule.body.size(); ++i) {
    if (rule.body[i].kind != Term::Kind::fact) continue;
    RuleCompiler(c, index).run(i);
    c.program.predicates[c.use(rule.body[i].fact)].plans.push_back(narrow<std::uint32_t>(c.program.plans.size() - 1));
  }
}

}  // namespace volvox::meld
