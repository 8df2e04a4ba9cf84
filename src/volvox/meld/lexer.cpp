#include "volvox/meld/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "volvox/base/index.h"
#include "volvox/base/letters.h"

namespace volvox::meld {
namespace {

constexpr std::size_t largest_program = 64'000'000;  // bytes

bool is_word(char c) { return is_letter_or_digit(c) || c == '_'; }

class Lexer {
 public:
  Lexer(const std::string& text, std::uint32_t file, const Source& source)
      : text_(text), file_(file), source_(source) {}

  Result<std::vector<Token>> run() {
    if (text_.size() > largest_program)
      return source_.error({file_, 1, 1}, fmt::format("the program has {} bytes", text_.size()),
                           fmt::format("a program may have {}", largest_program));
    while (!failed_) {
      skip();
      if (failed_) break;
      begin_ = at_;
      begin_line_ = line_, begin_column_ = column();
      if (at_ >= text_.size()) {
        add(Token::Kind::end);
        return std::move(tokens_);
      }
      one();
    }
    return *failed_;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::uint32_t column() const { return narrow<std::uint32_t>(at_ - line_begin_ + 1); }
  Place place() const { return {file_, begin_line_, begin_column_}; }
  void fail(const std::string& what, const std::string& fix) { failed_ = source_.error(place(), what, fix); }
  void advance(std::size_t n = 1) {
    for (; n > 0 && at_ < text_.size(); --n)
      if (text_[at_++] == '\n') ++line_, line_begin_ = at_;
  }
  Token& add(Token::Kind kind) {
    tokens_.push_back({kind, place(), text_.substr(begin_, at_ - begin_), 0, 0});
    return tokens_.back();
  }

  void skip() {
    for (;;) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        advance();
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') advance();
      } else if (c == '/' && peek(1) == '*') {
        begin_line_ = line_, begin_column_ = column();
        const auto end = text_.find("*/", at_ + 2);
        if (end == std::string::npos) return fail("this comment does not end", "end it with */");
        advance(end + 2 - at_);
      } else {
        return;
      }
    }
  }

  void one() {
    const char c = peek();
    if (c == '"') return text();
    if (c == '#') return file();
    if (is_digit(c) || (c == '-' && is_digit(peek(1)) && !after_value())) return number();
    if (is_small_letter(c) || c == '\'') return small_name();
    if (is_capital(c) || c == '_') {
      while (is_word(peek())) advance();
      add(Token::Kind::variable);
      return;
    }
    if (c == '@' && peek(1) == '+') return delay();
    sign();
  }

  // A name may have hyphens, so "a-b" is one name; "-o" after a space is an arrow.
  void small_name() {
    advance();
    while (is_word(peek()) || peek() == '?' || (peek() == '-' && is_word(peek(1)))) advance();
    add(Token::Kind::name);
  }
  void text() {
    advance();
    while (at_ < text_.size() && peek() != '"' && peek() != '\n') advance();
    if (peek() != '"') return fail("this text does not end", "end it with \" in the same line");
    advance();
    Token& token = add(Token::Kind::text);
    token.text = token.text.substr(1, token.text.size() - 2);
  }
  void file() {
    advance();
    while (at_ < text_.size() && peek() != '\n' && peek() != '\r') advance();
    Token& token = add(Token::Kind::file);
    const auto end = token.text.find_last_not_of(" \t");
    token.text = token.text.substr(1, end == std::string::npos ? 0 : end);
  }
  // After a value, "-" is a subtraction.
  bool after_value() const {
    if (tokens_.empty()) return false;
    const Token& last = tokens_.back();
    if (last.kind == Token::Kind::sign) return last.text == ")" || last.text == "]";
    return last.kind != Token::Kind::end && last.kind != Token::Kind::delay;
  }
  void number() {
    if (peek() == '-') advance();
    while (is_digit(peek())) advance();
    bool real = false;
    if (peek() == '.' && is_digit(peek(1))) {
      real = true;
      advance();
      while (is_digit(peek())) advance();
    }
    Token& token = add(real ? Token::Kind::real : Token::Kind::integer);
    const char* end = token.text.data() + token.text.size();
    const auto error = real ? std::from_chars(token.text.data(), end, token.real).ec
                            : std::from_chars(token.text.data(), end, token.integer).ec;
    const bool fits = real || (token.integer >= -2147483648LL && token.integer <= 4294967295LL);
    if (error != std::errc{} || !fits)
      fail(fmt::format("the number {} is too large", token.text), "whole numbers have 32 bits");
  }
  void delay() {
    advance(2);
    const std::size_t digits = at_;
    while (is_digit(peek())) advance();
    std::int64_t value = 0;
    const auto read = std::from_chars(text_.data() + digits, text_.data() + at_, value);
    const bool ms = peek() == 'm' && peek(1) == 's';
    if (read.ec != std::errc{} || value > 1'000'000'000 || (!ms && peek() != 's'))
      return fail("this is no delay", "write it as @+500ms or @+2s");
    advance(ms ? 2 : 1);
    add(Token::Kind::delay).integer = ms ? value : 1000 * value;
  }
  void sign() {
    static constexpr std::array<std::string_view, 10> doubles = {"-o", "=>", ":-", "||", "&&",
                                                                 "++", "<=", "<>", ">=", ":("};
    for (const std::string_view two : doubles) {
      if (text_.compare(at_, 2, two) != 0) continue;
      if (two == "-o" && is_word(peek(2))) continue;
      advance(2);
      add(Token::Kind::sign);
      return;
    }
    constexpr std::string_view singles = ",[]{}~.@!?$:()|+-*%/<>=";
    const char c = peek();
    if (singles.find(c) == std::string_view::npos || c == '\0') {
      const bool plain = c > ' ' && c < 127;
      return fail(plain ? fmt::format("'{}' means nothing here", c)
                        : fmt::format("a byte with the value {} means nothing here", byte_value(c)),
                  "remove it");
    }
    advance();
    add(Token::Kind::sign);
  }

  const std::string& text_;
  std::uint32_t file_;
  const Source& source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0, begin_ = 0, line_begin_ = 0;
  std::uint32_t line_ = 1, begin_line_ = 1, begin_column_ = 1;
  std::optional<Error> failed_;
};

}  // namespace

std::string lower(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = small_letter(c);
  return out;
}

std::string name(Type type) {
  if (is_list(type)) return "list " + name(element_of(type));
  switch (type) {
    case Type::integer: return "int";
    case Type::real: return "float";
    case Type::node: return "node";
    case Type::boolean: return "bool";
    case Type::text: return "string";
    case Type::unknown: break;
  }
  return "unknown";
}

Error Source::error(const Place& place, const std::string& what, const std::string& fix) const {
  const std::string file = place.file < files.size() ? files[place.file] : "";
  return Diagnostic{file, narrow<int>(place.line), fmt::format("column {}: {}", place.column, what), fix};
}

Result<std::vector<Token>> tokens_of(const std::string& text, std::uint32_t file, const Source& source) {
  return Lexer(text, file, source).run();
}

}  // namespace volvox::meld
