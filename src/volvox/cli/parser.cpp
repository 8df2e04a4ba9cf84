#include "volvox/cli/parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace volvox::cli {
namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : subcommands(command)) names.push_back(sub->get_name());
  return names;
}

// "run", "scan build", ...: the commands that have this option.
void find_commands_with(const std::string& option, const CLI::App& command, const std::string& name,
                        std::vector<std::string>& found) {
  if (find_option(command, option) != nullptr && !name.empty()) found.push_back("volvox " + name);
  for (const CLI::App* sub : subcommands(command))
    find_commands_with(option, *sub, name.empty() ? sub->get_name() : name + " " + sub->get_name(), found);
}

Error unknown_option(const std::string& option, const CLI::App& command, const std::string& name, const CLI::App& app) {
  // Compared without the dashes, which all have in common; one letter resembles every other.
  const std::string letters = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  std::vector<std::string> known, others;
  for (const CLI::Option* o : command.get_options())
    known.insert(known.end(), o->get_lnames().begin(), o->get_lnames().end());
  find_commands_with(option, app, "", others);
  std::string fix;
  if (const std::string nearest = letters.size() > 1 ? nearest_name(letters, known) : ""; !nearest.empty())
    fix += fmt::format("did you mean --{}? ", nearest);
  if (!others.empty()) fix += fmt::format("{} is an option of {}. ", option, fmt::join(others, ", "));
  return Error(fmt::format("{} has no option '{}'", name, option),
               fmt::format("{}{}ee: {} --help", fix, fix.empty() ? "s" : "S", name));
}

}  // namespace

std::vector<std::string> option_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// A flag may take a value only after '='.
bool takes_value(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& known : option_names(*option))
      if (known == name) return option;
  return nullptr;
}

const CLI::App* find_subcommand(const CLI::App& command, const std::string& name) {
  for (const CLI::App* sub : subcommands(command))
    if (sub->get_name() == name) return sub;
  return nullptr;
}

void refuse_values_of_flags(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (!option->get_positional() && !takes_value(*option) && !option->get_type_name().starts_with('['))
      option->disable_flag_override();
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) refuse_values_of_flags(*sub);
}

Error explain(const CLI::ParseError& error, const CLI::App& app, const std::string& first_word) {
  std::string name = "volvox";  // with its subcommand, as far as it was parsed
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty())
    command = command->get_subcommands().front(), name += " " + command->get_name();
  // An option of which the parser complains may belong to a subcommand that it has not taken for one.
  if (command == &app)
    if (const CLI::App* known = find_subcommand(app, first_word)) command = known, name += " " + first_word;

  std::string word, option;
  for (const std::string& rest : app.remaining(true)) {
    std::string& first = rest.starts_with('-') ? option : word;
    if (first.empty()) first = rest.substr(0, rest.starts_with('-') ? rest.find('=') : std::string::npos);
  }
  const bool lacks_subcommand = command == &app || command->get_require_subcommand_min() > 0;
  if (!word.empty() && lacks_subcommand && command->get_subcommands().empty()) {
    const std::string meant = nearest_name(word, subcommand_names(*command));
    return Error(
        fmt::format("{} has no subcommand '{}'", name, word),
        meant.empty() ? fmt::format("see: {} --help", name) : fmt::format("did you mean: {} {}?", name, meant));
  }
  if (!option.empty()) return unknown_option(option, *command, name, app);
  const std::string said = error.what();
  if (const auto flag = said.find(" was given a disallowed flag override"); flag != std::string::npos)
    return Error(fmt::format("--{} takes no value", said.substr(0, flag)),
                 fmt::format("write --{} alone; see: {} --help", said.substr(0, flag), name));
  return Error(error.what(), fmt::format("see: {} --help", name));
}

}  // namespace volvox::cli
