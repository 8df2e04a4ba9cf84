#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/text.h"
#include "volvox/meld/compiler.h"
#include "volvox/meld/programs.h"

namespace volvox::meld {
namespace {

constexpr std::size_t most_rules = 60'000;

void use_all(Compilation& c, const std::vector<Term>& terms) {
  for (const Term& term : terms) {
    if (term.kind == Term::Kind::fact) c.use(term.fact);
    use_all(c, term.body), use_all(c, term.head), use_all(c, term.each), use_all(c, term.others);
  }
}

// A predicate for the elements of lists, if there are any: the type, two words of the value, and the rest.
void add_lists(Compilation& c) {
  const auto& predicates = c.program.predicates;
  const auto& code = c.program.code;
  const bool needed =
      std::any_of(predicates.begin(), predicates.end(), [](const Predicate& p) { return p.has_lists; }) ||
      std::any_of(code.begin(), code.end(), [](const Instruction& i) { return i.op > Op::done; });
  if (!needed) return;
  Predicate elements;
  elements.name = "list'elements";
  elements.linear = true;
  c.program.lists = c.add(std::move(elements));
  c.program.predicates[c.program.lists].words = words_of_element;
}

std::uint64_t key_of(const Program& program) {
  std::string text = describe(program);
  for (const Instruction& i : program.code)
    text += fmt::format("{} {} {} {} {};", number_of(i.op), i.a, i.b, i.c, i.index);
  for (const Register r : program.constants) text += fmt::format("{},", r);
  for (const std::string& t : program.texts) text += t + ';';
  for (const std::int64_t d : program.delays_ms) text += fmt::format("{},", d);
  for (const Pattern& p : program.patterns) {
    text += fmt::format("p{}{}{}{}", p.predicate, p.linear, p.kept, p.not_the_trigger);
    for (const auto& part : p.parts)
      text += fmt::format(":{}.{}.{}.{}", number_of(part.test), part.word, part.reg, part.constant);
  }
  return hash_of(text);
}

}  // namespace

Result<std::shared_ptr<const Program>> compile(const Source& source) {
  Compilation c{source, {}, {}, {}, {}, {}};
  c.program.files = source.files;
  c.program.warnings = source.warnings;
  c.program.name = source.files.empty() ? "meld" : std::filesystem::path(source.files[0]).stem().string();
  c.program.delays_ms = {0};
  try {
    declare_predicates(c);
    if (source.rules.empty())
      c.fail({0, 1, 1}, "the program has no rules and no facts, so that nothing would happen",
             "write at least one, such as !seen(A). after type seen(node).");
    simplify_rules(c);
    localize_rules(c);
    if (c.rules.size() > most_rules)
      c.fail(c.rules[most_rules].place, "the program has too many rules and axioms",
             fmt::format("use at most {}", most_rules));
    for (const Rule& rule : c.rules) use_all(c, rule.body), use_all(c, rule.head);
    find_recursion(c);
    for (const Rule& rule : c.rules) c.program.rules.push_back({rule.place, RuleKind::derives, 0, {}});
    for (std::size_t i = 0; i < c.rules.size(); ++i) compile_rule(c, narrow<std::uint16_t>(i));
    add_lists(c);
  } catch (const CompileFailed& failed) {
    return failed.error;
  }
  c.program.key = key_of(c.program);
  return std::shared_ptr<const Program>(std::make_shared<Program>(std::move(c.program)));
}

Result<std::shared_ptr<const Program>> load_program(const std::filesystem::path& file, const ReadFile& read) {
  const auto source = parse(file, read);
  if (!source.ok()) return source.error();
  return compile(*source);
}

Result<std::shared_ptr<const Program>> load_program(const std::filesystem::path& file) {
  return load_program(file, [](const std::filesystem::path& path) { return read_file(path); });
}

Result<std::shared_ptr<const Program>> find_program(const std::string& name_or_file, const ReadFile& read) {
  for (const OwnProgram& own : own_programs())
    if (own.name == name_or_file)
      return load_program(own.name + ".meld",
                          [&](const std::filesystem::path&) { return Result<std::string>(own.text); });
  return load_program(name_or_file, read);
}

std::string describe(const Program& program) {
  std::string out;
  for (const Predicate& p : program.predicates) {
    if (p.name.find('\'') != std::string::npos) continue;
    const char* kind = p.action ? "action" : p.linear ? "linear" : p.recursive ? "persistent, recursive" : "persistent";
    const Predicate& kept = program.predicates[p.keeps];
    out += fmt::format("  {}(node", p.name);
    for (std::size_t i = 0; i < p.fields.size(); ++i) {
      const char* aggregate = "";
      if (kept.aggregate != Aggregate::none && kept.aggregate_field == i) {
        constexpr const char* names[] = {"", "min ", "max ", "sum ", "count ", "first "};
        aggregate = names[number_of(kept.aggregate)];
      }
      out += fmt::format(", {}{}", aggregate, name(p.fields[i].type));
    }
    out += fmt::format(")  {}{}\n", kind, p.role != Role::none && !p.action ? ", sensed" : "");
  }
  return out;
}

}  // namespace volvox::meld
