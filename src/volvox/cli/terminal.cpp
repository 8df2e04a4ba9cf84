#include "volvox/cli/terminal.h"
#include "volvox/base/letters.h"
#include "volvox/base/text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace volvox::cli {

bool is_terminal(int descriptor) { return isatty(descriptor) != 0; }

namespace {

std::string styled(const char* code, const std::string& text) {
  static const bool wanted =
      is_terminal(STDERR_FILENO) && is_terminal(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr;
  return wanted ? fmt::format("\x1b[{}m{}\x1b[0m", code, printable(text)) : printable(text);
}

}  // namespace

std::string bold(const std::string& text) { return styled("1", text); }
std::string dim(const std::string& text) { return styled("2", text); }
std::string red(const std::string& text) { return styled("31", text); }

void print_error(std::string_view text) {
  std::fputs(fmt::format("{} {}\n", red("volvox:"), printable(text)).c_str(), stderr);
}

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return is_letter_or_digit(c) || std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

void print_log(LogLevel level, std::string_view line) {
  std::fputs(
      (level == LogLevel::info ? printable(line) + "\n" : fmt::format("volvox: {}: {}\n", name(level), printable(line)))
          .c_str(),
      stderr);
}

}  // namespace volvox::cli
