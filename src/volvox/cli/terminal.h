// Output for a terminal: colour, errors and the log on standard error. Progress: progress.h.
// For one thread at a time; a Log calls print_log under its own lock.
#pragma once

#include <string>
#include <string_view>

#include "volvox/base/log.h"
#include "volvox/report/table.h"

namespace volvox::cli {

bool is_terminal(int descriptor);
// Honours NO_COLOR, and is plain where standard error is not a terminal. The text may come from outside: see
// printable().
std::string bold(const std::string& text);
std::string dim(const std::string& text);
std::string red(const std::string& text);

// "volvox: TEXT" on standard error. The text may come from outside: a terminal obeys nothing in it.
void print_error(std::string_view text);
// A text as one word of a command that somebody may copy into a shell; in quotes where it needs them.
std::string shell_word(const std::string& text);
void print_log(LogLevel level, std::string_view line);  // likewise

using report::number;

}  // namespace volvox::cli
