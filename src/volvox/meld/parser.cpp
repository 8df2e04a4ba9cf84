#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "volvox/base/index.h"
#include "volvox/meld/lexer.h"

namespace volvox::meld {
namespace {

using Kind = Token::Kind;

// Left by an exception within the parser only: errors come out as a Result.
struct Failed {
  Error error;
};

constexpr int deepest = 200;   // of brackets within brackets
constexpr int highest = 1000;  // of expressions
constexpr std::size_t most_files = 1000;

class Parser {
 public:
  Parser(Source& source, const ReadFile& read) : source_(source), read_(read) {}

  void file(const std::filesystem::path& path, const Place* from) {
    const std::string name = path.lexically_normal().generic_string();
    if (!seen_.insert(name).second) return;
    if (source_.files.size() >= most_files) fail(*from, "too many files are included", "include fewer");
    auto text = read_(path);
    if (!text.ok()) {
      if (from == nullptr) throw Failed{text.error()};
      fail(*from, fmt::format("the file {} cannot be included: {}", name, text.error().diagnostics().front().what),
           "give the path from the folder of this file, as in: include #folder/file.meld");
    }
    const auto number = narrow<std::uint32_t>(source_.files.size());
    source_.files.push_back(name);
    auto tokens = tokens_of(*text, number, source_);
    if (!tokens.ok()) throw Failed{tokens.error()};
    auto outer_tokens = std::move(tokens_);
    const std::size_t outer_at = at_;
    tokens_ = std::move(*tokens);
    at_ = 0;
    folder_of_file(path);
    tokens_ = std::move(outer_tokens);
    at_ = outer_at;
  }

 private:
  void folder_of_file(const std::filesystem::path& path) {
    while (now().kind != Kind::end) {
      if (is_name("include")) {
        const Place place = take().place;
        if (now().kind != Kind::file) unexpected("a file, as in: include #folder/file.meld");
        const std::string name = take().text;
        file(path.parent_path() / name, &place);
      } else {
        statement();
      }
    }
  }

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead(std::size_t n) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  const Token& take() {
    const Token& token = tokens_[at_];
    if (token.kind != Kind::end) ++at_;
    return token;
  }
  bool is_sign(std::string_view sign) const { return now().kind == Kind::sign && now().text == sign; }
  bool is_name(std::string_view name) const { return now().kind == Kind::name && now().text == name; }
  bool take_sign(std::string_view sign) {
    if (!is_sign(sign)) return false;
    take();
    return true;
  }
  bool take_name(std::string_view name) {
    if (!is_name(name)) return false;
    take();
    return true;
  }
  [[noreturn]] void fail(const Place& place, const std::string& what, const std::string& fix) const {
    throw Failed{source_.error(place, what, fix)};
  }
  [[noreturn]] void unexpected(const std::string& wanted) const {
    const std::string found = now().kind == Kind::end ? "the end of the file" : fmt::format("'{}'", now().text);
    fail(now().place, fmt::format("here is {}, but {} is needed", found, wanted),
         "correct the line, or the one before");
  }
  [[noreturn]] void unsupported(const Place& place, const std::string& what) const {
    fail(place, what + " cannot be run here", "see docs/meld.md for what can");
  }
  void expect(std::string_view sign) {
    if (!take_sign(sign)) unexpected(fmt::format("'{}'", sign));
  }
  std::string expect_name() {
    if (now().kind != Kind::name) unexpected("a name that begins with a small letter");
    return take().text;
  }
  std::string expect_variable() {
    if (now().kind != Kind::variable) unexpected("a variable, which begins with a capital letter");
    return take().text;
  }

  void statement() {
    if (is_name("type")) return declaration();
    if (is_name("const")) return constant();
    if (is_name("fun")) return function();
    if (is_name("extern")) unsupported(now().place, "an extern function");
    if (is_name("export") || is_name("import")) unsupported(now().place, "export and import");
    if (is_name("node") && ahead(1).kind == Kind::name) unsupported(now().place, "a type of nodes");
    const bool directive = is_name("priority") || is_name("index") || is_name("compact");
    if (directive && !(ahead(1).kind == Kind::sign && ahead(1).text == "(")) return skip_directive();
    rule();
  }

  // They say in which order to compute, which does not matter here.
  void skip_directive() {
    source_.warnings.push_back(source_
                                   .error(now().place, fmt::format("'{}' has no effect here", now().text),
                                          "leave it: rules are tried in the order of the program")
                                   .diagnostics()
                                   .front());
    while (now().kind != Kind::end && !is_sign(".")) take();
    expect(".");
  }

  Type type() {
    const Token& token = take();
    if (token.kind == Kind::name) {
      if (token.text == "int") return Type::integer;
      if (token.text == "float") return Type::real;
      if (token.text == "node") return Type::node;
      if (token.text == "bool") return Type::boolean;
      if (token.text == "string") return Type::text;
      if (token.text == "list") return list_type(token.place);
      if (token.text == "array" || token.text == "thread")
        unsupported(token.place, fmt::format("the type {}", token.text));
    }
    if (token.text == ":(") unsupported(token.place, "a struct");
    fail(token.place, fmt::format("'{}' is no type", token.text),
         "types are: int, float, node, bool, string, and list of one of them");
  }

  Type list_type(const Place& place) {
    const Deeper deeper(*this);
    const Type element = type();
    if (number_of(element) >= list_step * deepest_lists)
      fail(place, "these lists are nested too deep", fmt::format("use at most {} levels", deepest_lists));
    return list_of(element);
  }

  Aggregate aggregate_named(const std::string& name) const {
    if (name == "min") return Aggregate::min;
    if (name == "max") return Aggregate::max;
    if (name == "sum") return Aggregate::sum;
    if (name == "count") return Aggregate::count;
    if (name == "first") return Aggregate::first;
    return Aggregate::none;
  }

  void declaration() {
    take();
    Declaration d;
    for (;; take()) {
      if (is_name("linear")) d.linear = true;
      else if (is_name("route")) d.route = true;
      else if (is_name("action")) d.action = true;
      else if (!is_name("persistent")) break;
    }
    d.place = now().place;
    if (is_sign(":(") || (ahead(1).kind == Kind::name && ahead(2).text == "."))
      unsupported(now().place, "a type with a name of its own");
    d.name = expect_name();
    expect("(");
    do {
      Declaration::Field field;
      if (now().kind == Kind::name) field.aggregate = aggregate_named(now().text);
      if (field.aggregate != Aggregate::none) take();
      field.type = type();
      d.fields.push_back(field);
      if (now().kind == Kind::variable) take();  // a name that only explains
    } while (take_sign(","));
    expect(")");
    expect(".");
    source_.declarations.push_back(std::move(d));
  }

  void constant() {
    take();
    Constant c;
    c.place = now().place;
    c.name = expect_name();
    expect("=");
    c.value = expression();
    expect(".");
    source_.constants.push_back(std::move(c));
  }

  void function() {
    take();
    Function f;
    f.place = now().place;
    f.name = expect_name();
    expect("(");
    do {
      f.types.push_back(type());
      f.parameters.push_back(expect_variable());
    } while (take_sign(","));
    expect(")");
    expect(":");
    f.type = type();
    expect("=");
    f.body = expression();
    expect(".");
    source_.functions.push_back(std::move(f));
  }

  void rule() {
    Rule r;
    r.place = now().place;
    if (is_sign("[") && ahead(1).text == ":") unsupported(now().place, "a selector such as [:min X | ...]");
    if (!is_sign(":-")) r.head = terms(false);
    if (take_sign(":-")) {
      r.body = terms(false);
    } else if (take_sign("-o")) {
      r.body = std::move(r.head);
      r.head.clear();
      if (!is_sign(".")) r.head = terms(true);
    }
    if (!is_sign(".")) unexpected("',', '-o', ':-' or '.'");
    take();
    source_.rules.push_back(std::move(r));
  }

  std::vector<Term> terms(bool head) {
    std::vector<Term> list;
    if (head && now().kind == Kind::integer && now().integer == 1 && !operates(ahead(1))) {
      take();
      return list;
    }
    do list.push_back(term());
    while (take_sign(","));
    return list;
  }

  static bool operates(const Token& token) {
    static const std::set<std::string, std::less<>> signs = {"+", "-",  "*", "/",  "%",  "=",  "<>",
                                                             "<", "<=", ">", ">=", "||", "&&", "++"};
    return token.kind == Kind::sign && signs.contains(token.text);
  }

  // Whether "name(...)" is a value in a comparison, and no fact.
  bool call_in_condition() const {
    std::size_t i = at_ + 1;
    int open = 0;
    for (; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != Kind::sign) continue;
      if (tokens_[i].text == "(" || tokens_[i].text == ":(") ++open;
      if (tokens_[i].text == ")" && --open == 0) break;
    }
    return i + 1 < tokens_.size() && operates(tokens_[i + 1]);
  }

  Term term() {
    const Deeper deeper(*this);
    Term t;
    t.place = now().place;
    const bool sign = is_sign("!") || is_sign("$") || is_sign("?");
    const bool call =
        now().kind == Kind::name && ahead(1).kind == Kind::sign && ahead(1).text == "(" && now().text != "float";
    if (is_name("exists")) unsupported(now().place, "a new node (exists)");
    if (is_sign("{")) return comprehension();
    if (is_sign("[")) return aggregate();
    if (is_sign("(") && ahead(1).kind == Kind::name && ahead(1).text == "if") return choice();
    if (sign || (call && !call_in_condition())) {
      t.fact = fact();
      return t;
    }
    t.kind = Term::Kind::condition;
    t.condition = condition();
    return t;
  }

  Fact fact() {
    Fact f;
    if (now().kind == Kind::sign) f.sign = take().text[0];
    f.place = now().place;
    f.name = expect_name();
    expect("(");
    do f.arguments.push_back(expression());
    while (take_sign(","));
    expect(")");
    if (now().kind == Kind::delay) f.delay_ms = std::max<std::int64_t>(1, take().integer);
    return f;
  }

  void variables() {
    if (take_sign(".")) return;
    do expect_variable();
    while (take_sign(","));
  }

  Term comprehension() {
    Term t;
    t.kind = Term::Kind::comprehension;
    t.place = take().place;
    variables();
    expect("|");
    t.body = terms(false);
    expect("|");
    if (!is_sign("}")) t.head = terms(true);
    expect("}");
    return t;
  }

  Term aggregate() {
    Term t;
    t.kind = Term::Kind::aggregate;
    t.place = take().place;
    const Place place = now().place;
    const std::string how = expect_name();
    t.aggregate = how == "collect" ? Aggregate::collect : aggregate_named(how);
    if (t.aggregate == Aggregate::none || t.aggregate == Aggregate::first)
      unsupported(place, fmt::format("the aggregate '{}'", how));
    expect("=>");
    t.variable = expect_variable();
    if (is_sign(",")) unsupported(now().place, "a list of aggregates");
    expect("|");
    const bool listed = is_sign(".") || (now().kind == Kind::variable && !operates(ahead(1)));
    if (listed) {
      variables();
      expect("|");
    }
    t.body = terms(false);
    if (take_sign("|") && !is_sign("|")) t.head = terms(true);
    if (take_sign("|")) {
      t.each = std::move(t.head);
      t.head = terms(true);
    }
    expect("]");
    return t;
  }

  Term choice() {
    Term t;
    t.kind = Term::Kind::choice;
    t.place = take().place;
    take();  // if
    t.condition = condition();
    if (!take_name("then")) unexpected("'then'");
    t.head = terms(true);
    if (!take_name("otherwise")) unexpected("'otherwise'");
    t.others = terms(true);
    if (!take_name("end")) unexpected("'end'");
    expect(")");
    return t;
  }

  // Operators, those that bind least first.
  Expression condition() { return binary(0); }
  Expression expression() { return binary(3); }

  Operator operator_at(int level) const {
    if (level == 2 && is_name("in")) return Operator::contains;
    if (now().kind != Kind::sign) return Operator::no_operator;
    const std::string& s = now().text;
    if (level == 0) return s == "||" ? Operator::either : Operator::no_operator;
    if (level == 1) return s == "&&" ? Operator::both : Operator::no_operator;
    if (level == 2) {
      if (s == "=") return Operator::equal;
      if (s == "<>") return Operator::not_equal;
      if (s == "<") return Operator::less;
      if (s == "<=") return Operator::less_equal;
      if (s == ">") return Operator::greater;
      if (s == ">=") return Operator::greater_equal;
    }
    if (level == 3 && s == "++") return Operator::join;
    if (level == 3 && s == "+") return Operator::add;
    if (level == 3 && s == "-") return Operator::subtract;
    if (level == 4 && s == "*") return Operator::multiply;
    if (level == 4 && s == "/") return Operator::divide;
    if (level == 4 && s == "%") return Operator::remainder;
    return Operator::no_operator;
  }

  // All that walks through an expression does so by recursion, and a sum of many is as deep as it is long.
  Expression measured(Expression e) const {
    for (const Expression& part : e.parts) e.height = std::max(e.height, part.height + 1);
    if (e.height > highest)
      fail(e.place, "this expression is nested too deep", "split it, by a constant or a function");
    return e;
  }

  Expression binary(int level) {
    if (level == 5) return measured(operand());
    const Deeper deeper(*this);
    Expression left = binary(level + 1);
    int length = 0;
    while (operator_at(level) != Operator::no_operator) {
      if (++length > deepest) fail(now().place, "this expression is too long", "split it, by a constant or a function");
      Expression both;
      both.kind = Expression::Kind::operation;
      both.place = now().place;
      both.op = operator_at(level);
      take();
      both.parts.push_back(std::move(left));
      both.parts.push_back(binary(level + 1));
      left = measured(std::move(both));
      if (level == 2) break;
    }
    return left;
  }

  Expression operand() {
    const Deeper deeper(*this);
    Expression e;
    const Token& token = now();
    e.place = token.place;
    if (take_sign("(")) {
      e = condition();
      expect(")");
      return e;
    }
    if (take_sign("~")) {
      e.kind = Expression::Kind::operation;
      e.op = Operator::negate;
      e.parts.push_back(measured(operand()));
      if (!take_name("in")) return e;
      Expression contains;  // ~ X in L: it is not in L
      contains.kind = Expression::Kind::operation;
      contains.place = e.place;
      contains.op = Operator::contains;
      contains.parts = {std::move(e.parts[0]), binary(3)};
      e.parts = {measured(std::move(contains))};
      return e;
    }
    if (is_sign("[")) return list();
    if (is_sign(":(")) unsupported(token.place, "a struct");
    if (is_sign("@")) return node();
    if (take_sign("-")) {  // of something that is no number
      e.kind = Expression::Kind::operation;
      e.op = Operator::subtract;
      Expression zero;
      zero.place = e.place;
      e.parts = {zero, measured(operand())};
      return e;
    }
    switch (token.kind) {
      case Kind::integer: e.kind = Expression::Kind::integer; break;
      case Kind::real: e.kind = Expression::Kind::real; break;
      case Kind::text: e.kind = Expression::Kind::text; break;
      case Kind::variable: e.kind = Expression::Kind::variable; break;
      case Kind::name: return named();
      default: unexpected("a value");
    }
    e.name = token.text, e.integer = token.integer, e.real = token.real;
    take();
    return e;
  }

  // [a, b], [a, b | rest] or []
  Expression list() {
    Expression e;
    e.place = take().place;
    e.kind = Expression::Kind::list;
    if (take_sign("]")) return e;
    do e.parts.push_back(expression());
    while (take_sign(","));
    if (take_sign("|")) {
      e.integer = 1;
      e.parts.push_back(expression());
    }
    expect("]");
    return e;
  }

  Expression node() {
    Expression e;
    e.place = take().place;
    e.kind = Expression::Kind::node;
    if (now().kind == Kind::name) unsupported(now().place, fmt::format("'@{}'", now().text));
    if (now().kind != Kind::integer || now().integer < 0) unexpected("the number of a node, as in @3");
    e.integer = take().integer;
    return e;
  }

  Expression named() {
    Expression e;
    e.place = now().place;
    if (is_name("true") || is_name("false")) {
      e.kind = Expression::Kind::boolean;
      e.integer = take().text == "true" ? 1 : 0;
      return e;
    }
    if (take_name("nil")) {
      e.kind = Expression::Kind::list;
      return e;
    }
    if (take_name("if")) {
      e.kind = Expression::Kind::choice;
      e.parts.push_back(condition());
      if (!take_name("then")) unexpected("'then'");
      e.parts.push_back(expression());
      if (!take_name("else")) unexpected("'else'");
      e.parts.push_back(expression());
      if (!take_name("end")) unexpected("'end'");
      return e;
    }
    if (take_name("let")) {
      e.kind = Expression::Kind::let;
      e.name = expect_variable();
      expect("=");
      e.parts.push_back(expression());
      if (!take_name("in")) unexpected("'in'");
      e.parts.push_back(expression());
      if (!take_name("end")) unexpected("'end'");
      return e;
    }
    e.kind = Expression::Kind::name;
    e.name = take().text;
    if (!take_sign("(")) return e;
    e.kind = Expression::Kind::call;
    do e.parts.push_back(expression());
    while (take_sign(","));
    expect(")");
    return e;
  }

  struct Deeper {
    explicit Deeper(Parser& p) : parser(p) {
      if (++parser.depth_ > 6 * deepest)
        parser.fail(parser.now().place, "brackets are nested too deep", "split it, by a constant or a function");
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser;
  };

  Source& source_;
  const ReadFile& read_;
  std::set<std::string> seen_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Source> parse(const std::filesystem::path& file, const ReadFile& read) {
  Source source;
  try {
    Parser(source, read).file(file, nullptr);
  } catch (const Failed& failed) {
    return failed.error;
  }
  return source;
}

}  // namespace volvox::meld
