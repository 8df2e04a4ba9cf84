#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/meld/compiler.h"

namespace volvox::meld {

void add_variables(const Expression& e, std::set<std::string>& into) {
  if (e.kind == Expression::Kind::variable && e.name != "_") into.insert(e.name);
  for (const Expression& part : e.parts) add_variables(part, into);
}

bool is_linear(const Compilation& c, const Term& term) {
  const Predicate* predicate = term.kind == Term::Kind::fact ? c.find(term.fact.name) : nullptr;
  return predicate != nullptr && predicate->linear;
}

Expression variable_named(const std::string& name, const Place& place) {
  Expression e;
  e.kind = Expression::Kind::variable;
  e.name = name;
  e.place = place;
  return e;
}

namespace {

bool has_facts(const std::vector<Term>& terms) {
  return std::any_of(terms.begin(), terms.end(), [](const Term& t) { return t.kind == Term::Kind::fact; });
}

// Declares the known predicates of these facts up to the first linear one. Predicates are numbered in the order of
// their first use; another order would give programs other keys, and snapshots would not fit any more.
void use_up_to_linear(Compilation& c, const std::vector<Term>& terms) {
  for (const Term& term : terms) {
    if (term.kind == Term::Kind::fact) c.use(term.fact);
    if (is_linear(c, term)) return;
  }
}

// "name(X)" alone is a fact, or a function that says yes or no.
void tell_facts_from_calls(const Compilation& c, std::vector<Term>& terms) {
  for (Term& term : terms) {
    tell_facts_from_calls(c, term.body);
    if (term.kind != Term::Kind::fact || term.fact.sign != ' ') continue;
    const auto f = c.functions.find(lower(term.fact.name));
    if (f == c.functions.end() || c.predicates.contains(lower(term.fact.name))) continue;
    term.kind = Term::Kind::condition;
    term.condition = {};
    term.condition.kind = Expression::Kind::call;
    term.condition.place = term.fact.place;
    term.condition.name = term.fact.name;
    term.condition.parts = term.fact.arguments;
  }
}

// In a rule without linear facts, {X | body | head} is a rule of its own, so that it follows what comes and goes.
void split_comprehensions(Compilation& c, const Rule& rule, std::vector<Rule>& into) {
  Rule rest = rule;
  rest.head.clear();
  for (const Term& term : rule.head) {
    if (term.kind == Term::Kind::aggregate)
      c.fail(term.place, "an aggregate in a rule without linear facts",
             "declare it in a type, as in: type best(node, min int). Or add a linear fact to the rule");
    if (term.kind != Term::Kind::comprehension) {
      rest.head.push_back(term);
      continue;
    }
    Rule own = rule;
    use_up_to_linear(c, term.body);
    for (const Term& t : term.body) {
      if (is_linear(c, t))
        c.fail(t.place,
               fmt::format("the linear fact {} is in a comprehension of a rule without linear facts", t.fact.name),
               "add a linear fact to the rule");
      own.body.push_back(t);
    }
    own.head = term.head;
    split_comprehensions(c, own, into);
  }
  if (!rest.head.empty()) into.push_back(std::move(rest));
}

std::string home_of(const Term& term) {
  const Expression& first = term.fact.arguments[0];
  return first.kind == Expression::Kind::variable ? first.name : "";
}

class Localizer {
 public:
  Localizer(Compilation& c, Rule& rule, std::vector<Rule>& into) : c_(c), rule_(rule), into_(into) {}

  void run() {
    find_homes();
    if (homes_.size() < 2) return;
    const std::string home = choose_home();
    for (const std::string& other : homes_)
      if (other != home) send_from(other, home);
  }

 private:
  void find_homes() {
    for (const Term& term : rule_.body) {
      if (term.kind != Term::Kind::fact) continue;
      if (const std::string home = home_of(term); std::find(homes_.begin(), homes_.end(), home) == homes_.end())
        homes_.push_back(home);
    }
  }

  // The node whose own facts name all the others.
  std::string choose_home() const {
    for (const std::string& home : homes_) {
      std::set<std::string> named = {home};
      for (const Term& term : rule_.body) {
        if (term.kind != Term::Kind::fact || home_of(term) != home) continue;
        for (std::size_t i = 1; i < term.fact.arguments.size(); ++i) add_variables(term.fact.arguments[i], named);
      }
      if (std::all_of(homes_.begin(), homes_.end(), [&](const std::string& other) { return named.contains(other); }))
        return home;
    }
    c_.fail(rule_.place, "the body of this rule is at several nodes, and none of them knows the others",
            "add a fact that joins them, such as !neighbor(A, B, _)");
  }

  // Facts at `other` become one hidden fact at the home, which `other` derives at all its neighbours.
  void send_from(const std::string& other, const std::string& home) {
    Rule sends;
    sends.place = rule_.place;
    std::set<std::string> variables;
    std::vector<Term> rest;
    std::size_t place = 0;
    for (Term& term : rule_.body) {
      if (term.kind != Term::Kind::fact || home_of(term) != other) {
        rest.push_back(std::move(term));
        continue;
      }
      c_.use(term.fact);
      if (is_linear(c_, term))
        c_.fail(term.place, fmt::format("the linear fact {} is at another node than the rule", term.fact.name),
                "let that node send it first, by a rule of its own");
      if (sends.body.empty()) place = rest.size();
      for (std::size_t i = 1; i < term.fact.arguments.size(); ++i) {
        const Expression& argument = term.fact.arguments[i];
        std::set<std::string> used;
        add_variables(argument, used);
        if (argument.kind != Expression::Kind::variable && !used.empty())
          c_.fail(argument.place, "this is computed at another node than the fact",
                  "use a variable here, and compare it later");
        variables.insert(used.begin(), used.end());
      }
      sends.body.push_back(std::move(term));
    }
    variables.erase(other);
    Term hidden;
    hidden.place = rule_.place;
    hidden.fact.place = rule_.place;
    hidden.fact.sign = '!';
    hidden.fact.name = declare_hidden(sends, variables);
    hidden.fact.arguments = {variable_named(home, rule_.place), variable_named(other, rule_.place)};
    for (const std::string& v : variables) hidden.fact.arguments.push_back(variable_named(v, rule_.place));
    rest.insert(rest.begin() + place, hidden);
    rule_.body = std::move(rest);
    // The receiver has another name there, because the fact may name the home, too.
    hidden.fact.arguments[0] = variable_named("Receiver'", rule_.place);
    sends.body.insert(sends.body.begin(), link_back(other, home));
    sends.head = {hidden};
    into_.push_back(std::move(sends));
  }

  // Who is to be told: all neighbours, or those that have a fact of the program's own which names this node.
  Term link_back(const std::string& other, const std::string& home) {
    Term link;
    link.place = rule_.place;
    link.fact.place = rule_.place;
    link.fact.sign = '!';
    link.fact.name = "neighbor";
    link.fact.arguments = {variable_named(other, rule_.place), variable_named("Receiver'", rule_.place)};
    const auto joins = [&](const Term& term) {
      return term.kind == Term::Kind::fact && home_of(term) == home &&
             std::any_of(term.fact.arguments.begin() + 1, term.fact.arguments.end(),
                         [&](const Expression& e) { return e.kind == Expression::Kind::variable && e.name == other; });
    };
    const auto joint = std::find_if(rule_.body.begin(), rule_.body.end(), joins);
    const auto is_link = [&](std::uint16_t predicate) {
      const Predicate& p = c_.program.predicates[predicate];
      return p.linear || p.role == Role::neighbor;
    };
    const bool is_neighbor = joint == rule_.body.end() || is_link(c_.use(joint->fact));
    if (is_neighbor) {
      link.fact.arguments.push_back(variable_named("_", rule_.place));
      return link;
    }
    Predicate p;
    p.name = fmt::format("named-by'{}", c_.program.predicates.size());
    p.place = rule_.place;
    p.fields.push_back({Type::node, 0});
    c_.add(p);
    link.fact.name = p.name;
    Rule tells{rule_.place, {*joint}, {link}};
    tells.head[0].fact.arguments[1] = variable_named(home, rule_.place);
    into_.push_back(std::move(tells));
    return link;
  }

  std::string declare_hidden(const Rule& sends, const std::set<std::string>& variables) {
    Predicate p;
    p.name = fmt::format("from-neighbor'{}", c_.program.predicates.size());
    p.place = rule_.place;
    p.fields.push_back({Type::node, 0});
    for (const std::string& v : variables) p.fields.push_back({type_of(v, sends), 0});
    c_.add(p);
    return p.name;
  }

  Type type_of(const std::string& variable, const Rule& rule) {
    for (const Term& term : rule.body) {
      const Predicate& p = c_.program.predicates[c_.use(term.fact)];
      for (std::size_t i = 1; i < term.fact.arguments.size() && i <= p.fields.size(); ++i)
        if (const Expression& e = term.fact.arguments[i]; e.kind == Expression::Kind::variable && e.name == variable)
          return p.fields[i - 1].type;
    }
    c_.fail(rule.place, fmt::format("the variable {} has no value at the other node", variable), "take it from a fact");
  }

  Compilation& c_;
  Rule& rule_;
  std::vector<Rule>& into_;
  std::vector<std::string> homes_;
};

}  // namespace

void simplify_rules(Compilation& c) {
  std::vector<Rule> rules;
  for (Rule rule : c.source.rules) {
    tell_facts_from_calls(c, rule.body);
    use_up_to_linear(c, rule.body);
    if (rule.body.empty()) {
      for (Term& head : rule.head) {
        if (head.kind == Term::Kind::condition)
          c.fail(head.place, "this is no fact", "write a fact, or a rule with -o");
        rules.push_back({head.place, {}, {std::move(head)}});
      }
    } else if (has_facts(rule.body) &&
               std::none_of(rule.body.begin(), rule.body.end(), [&](const Term& t) { return is_linear(c, t); })) {
      split_comprehensions(c, rule, rules);
    } else {
      rules.push_back(std::move(rule));
    }
  }
  c.rules = std::move(rules);
}

void localize_rules(Compilation& c) {
  std::vector<Rule> added;
  for (Rule& rule : c.rules) Localizer(c, rule, added).run();
  c.rules.insert(c.rules.end(), added.begin(), added.end());
}

// A predicate is recursive if a derived fact of it may lead to another one.
void find_recursion(Compilation& c) {
  const std::size_t n = c.program.predicates.size();
  std::vector<std::set<std::uint16_t>> leads(n);
  const auto each_head = [&](const std::vector<Term>& heads, const auto& visit, const auto& self) -> void {
    for (const Term& head : heads) {
      if (head.kind == Term::Kind::fact) visit(c.use(head.fact));
      self(head.head, visit, self);
      self(head.others, visit, self);
    }
  };
  for (const Rule& rule : c.rules) {
    if (!has_facts(rule.body) ||
        std::any_of(rule.body.begin(), rule.body.end(), [&](const Term& t) { return is_linear(c, t); }))
      continue;
    for (const Term& term : rule.body) {
      if (term.kind != Term::Kind::fact) continue;
      const std::uint16_t from = c.use(term.fact);
      each_head(
          rule.head, [&](std::uint16_t to) { leads[from].insert(to); }, each_head);
    }
  }
  for (std::size_t start = 0; start < n; ++start) {
    std::set<std::uint16_t> reached;
    std::vector<std::uint16_t> open(leads[start].begin(), leads[start].end());
    while (!open.empty()) {
      const std::uint16_t p = open.back();
      open.pop_back();
      if (!reached.insert(p).second) continue;
      open.insert(open.end(), leads[p].begin(), leads[p].end());
    }
    Predicate& p = c.program.predicates[start];
    if (reached.contains(narrow<std::uint16_t>(start)) && p.header > 0) p.recursive = true;
  }
  for (Predicate& p : c.program.predicates)
    if (c.program.predicates[p.result].recursive) p.recursive = true;
}

}  // namespace volvox::meld
