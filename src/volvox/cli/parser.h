// The parser of the command line: what it knows, for its help, its man page, its errors and the completions.
// For one thread, before any command runs. The texts are the same on every machine.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "volvox/cli/commands.h"

namespace volvox::cli {

// As a user writes them: "-o", "--output"; none for a positional.
std::vector<std::string> option_names(const CLI::Option& option);
bool takes_value(const CLI::Option& option);
// Null: there is none.
const CLI::Option* find_option(const CLI::App& command, const std::string& name);
const CLI::App* find_subcommand(const CLI::App& command, const std::string& name);

// What was not understood, and what may have been meant.
Error explain(const CLI::ParseError& error, const CLI::App& app, const std::string& first_word);

// A flag that stands for yes takes no value: --record=3 is a mistake. Those that take one say so by their type, [=...].
void refuse_values_of_flags(CLI::App& app);

// `volvox help --man`: all commands and options, as a man page; or one command alone, by its words.
std::string man_page(const CLI::App& app, const std::vector<std::string>& command = {});

// `volvox complete WORD...`, which only the scripts of completions call: prints what may stand in place of the last
// word, a line each, with a tab and its description.
int complete_command(const CLI::App& app, const std::vector<std::string>& words, const sim::Library& library);

}  // namespace volvox::cli
