// The man page, made from the parser: what the help says of each command, in the form of man(7).
#include <fmt/format.h>

#include "volvox/cli/parser.h"
#include "volvox/cli/version.h"

namespace volvox::cli {
namespace {

constexpr const char* description =
    R"(A module is an embodied agent with a body (links, joints, docks) and a mind (percepts, actions, a behavior), and a
robot is whatever its modules dock into.
.B volvox run
simulates an experiment, named by its path under experiments/ such as
.IR remod3d/snake ,
or a world or robot in an SDF or URDF file. It shows its progress on standard error, prints a table of results, and
writes a folder with
.IR summary.json ,
.I metrics.csv
and
.IR report.html .
The same experiment, options and seed give the same bits every time, at any number of threads.
)";

constexpr const char* ending = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
the run failed; the message names the module and the time
.TP
.B 2
bad input; the message names the file, the line and what to do
.SH ENVIRONMENT
.TP
.B VOLVOX_RESOURCE_PATH
folders, separated by colons, that hold robots/ and experiments/ of your own
.TP
.B VOLVOX_PLUGIN_PATH
folders, separated by colons, whose plugins are loaded
.TP
.B VOLVOX_ISA
sse2, avx2 or avx512: the instruction set of the hot loops; the bits are the same
.TP
.B VOLVOX_LOG_LEVEL
debug, info, warning or error
.TP
.B NO_COLOR
no colour on the terminal
)";

// A backslash and, at the beginning of a line, a dot or a quote mean something to man; a plain minus is not a hyphen.
std::string escaped(const std::string& text) {
  std::string roff;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (roff.empty() || roff.back() == '\n')) roff += "\\&";
    if (c == '\\') roff += "\\e";
    else if (c == '-') roff += "\\-";
    else roff += c;
  }
  return roff;
}

void add_option(std::string& page, const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option_names(option)) names += (names.empty() ? "" : ", ") + escaped(name);
  if (option.get_positional()) names = escaped(option.get_single_name());
  const std::string type = option.get_positional() ? "" : escaped(option.get_type_name());
  const std::string given = option.get_default_str();
  page += fmt::format(".TP\n\\fB{}\\fR{}{}\n{}{}\n", names, type.empty() || type.starts_with('[') ? "" : " ",
                      type.empty() ? "" : "\\fI" + type + "\\fR", escaped(option.get_description()),
                      given.empty() ? "" : " (" + escaped(given) + ")");
}

void add_command(std::string& page, const CLI::App& command, const std::string& name) {
  std::string arguments;
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) arguments += " \\fI" + escaped(option->get_single_name()) + "\\fR";
  page += fmt::format(".SS \"{}\"\n\\fB{}\\fR{} [options]\n.PP\n{}\n", name, name, arguments,
                      escaped(command.get_description()));
  for (const bool positional : {true, false})
    for (const CLI::Option* option : command.get_options())
      if (option->get_positional() == positional) add_option(page, *option);
  if (!command.get_footer().empty())
    page += fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(command.get_footer().substr(1)));
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    add_command(page, *sub, name + " " + sub->get_name());
}

}  // namespace

std::string man_page(const CLI::App& app, const std::vector<std::string>& command) {
  std::string page = fmt::format(
      ".TH VOLVOX 1 \"\" \"Volvox {}\" \"User Commands\"\n.SH NAME\nvolvox \\- simulate modular, self\\-reconfigurable "
      "robots\n.SH SYNOPSIS\n.B volvox\n.I command\n.RI [ options ]\n.SH DESCRIPTION\n{}.SH COMMANDS\n",
      version, description);
  const CLI::App* only = &app;
  std::string name = "volvox";
  for (const std::string& word : command)
    if (const CLI::App* sub = find_subcommand(*only, word)) only = sub, name += " " + word;
  if (only != &app) add_command(page, *only, name);
  else
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
      add_command(page, *sub, "volvox " + sub->get_name());
  return page + ending;
}

}  // namespace volvox::cli
