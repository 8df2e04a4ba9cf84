// Completions for shells. The scripts only ask `volvox complete WORD...` what may stand in place of the last word. The
// answer comes from the parser itself, so that no list of commands and options can go stale.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "volvox/base/text.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/parser.h"
#include "volvox/evolve/task.h"
#include "volvox/model/reader.h"

namespace volvox::cli {
namespace fs = std::filesystem;

namespace {

constexpr const char* bash_script = R"SH(# Completes the volvox command in bash: source <(volvox completion bash)
_volvox() {
  local line word glued= typed=
  local -a words=()
  # bash takes --engine=bullet for three words, and puts its reply in place of the last of them.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ ${#words[@]} -gt 0 && ( $word == = || -n $glued ) ]]; then words[-1]+=$word; else words+=("$word"); fi
    if [[ $word == = ]]; then glued=1; else glued=; fi
  done
  if [[ ${words[-1]} != "${COMP_WORDS[COMP_CWORD]}" ]]; then typed=${words[-1]%"${COMP_WORDS[COMP_CWORD]#=}"}; fi
  COMPREPLY=()
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    COMPREPLY+=("$(printf %q "${line#"$typed"}")")
  done < <("${COMP_WORDS[0]/#\~/$HOME}" complete "${words[@]}" 2>/dev/null)
  [[ ${COMPREPLY[0]} == *[=/] ]] && compopt -o nospace
}
complete -o default -F _volvox volvox
)SH";

constexpr const char* zsh_script = R"SH(#compdef volvox
# Completes the volvox command in zsh: source <(volvox completion zsh), after compinit
_volvox() {
  local line found=1
  local -a whole open
  for line in "${(@f)$(${(Q)~words[1]} complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    case ${line%%$'\t'*} in
      *[=/]) open+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) whole+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  (( $#whole )) && _describe 'volvox' whole && found=0
  (( $#open )) && _describe 'volvox' open -S '' && found=0
  (( found )) && _files && found=0
  return found
}
if [[ ${funcstack[1]} == _volvox ]]; then
  _volvox "$@"
else
  compdef _volvox volvox
fi
)SH";

constexpr const char* fish_script = R"SH(# Completes the volvox command in fish: volvox completion fish | source
function __volvox_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct | string replace -r '^["\']' '' | string unescape)
    $words[1] complete $words[2..-1] "$word" 2>/dev/null
end
complete -c volvox -f -a '(__volvox_complete)'
)SH";

struct Candidate {
  std::string word, about;
};
using Candidates = std::vector<Candidate>;

void add_words(Candidates& to, const std::vector<std::string>& words, const std::string& ending = "") {
  for (const std::string& word : words) to.push_back({word + ending, ""});
}

// Files in the folder that the word begins with, and folders, which may hold some. No endings: folders only.
void add_files(Candidates& to, const std::string& word, const std::vector<std::string>& endings) {
  const auto slash = word.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : word.substr(0, slash + 1);
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with('.') && !word.substr(folder.size()).starts_with('.')) continue;
    std::error_code ignored;
    if (it->is_directory(ignored)) to.push_back({folder + name + "/", ""});
    else if (std::any_of(endings.begin(), endings.end(), [&](const std::string& e) { return name.ends_with(e); }))
      to.push_back({folder + name, ""});
  }
}

void add_subcommands(Candidates& to, const CLI::App& command) {
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    to.push_back({sub->get_name(), sub->get_description()});
}

// Where the command line stands before its last word.
struct Place {
  const CLI::App* command;
  const CLI::Option* option = nullptr;        // which expects a value
  std::vector<std::string> positionals = {};  // of the command
};

Place follow(const CLI::App& app, const std::vector<std::string>& words) {
  Place place{&app};
  for (const std::string& word : words) {
    if (place.option != nullptr) {
      place.option = nullptr;
    } else if (word.starts_with('-')) {
      const CLI::Option* option = find_option(*place.command, word.substr(0, word.find('=')));
      if (option != nullptr && takes_value(*option) && word.find('=') == std::string::npos) place.option = option;
    } else if (const CLI::App* sub = find_subcommand(*place.command, word)) {
      place = Place{sub};
    } else {
      place.positionals.push_back(word);
    }
  }
  return place;
}

// What an option or a positional accepts; anything that is not listed here is a file, or free text.
Candidates values_of(const CLI::Option& option, const Place& place, const std::string& word,
                     const sim::Library& library) {
  const std::string& name = option.get_single_name();
  const std::pair<std::string, std::vector<std::string>> fixed[] = {
      {"camera", {"corner", "front", "back", "left", "right", "top"}},
      {"docks", {"none", "state", "load"}},
      {"method", {"gsrm", "gg", "pf", "mixed"}},
      {"mode", {"exact", "culled", "wired"}},
      {"layout", {"grid", "random"}},
      {"shell", {"bash", "zsh", "fish"}},
      {"kind", {"behavior", "robot", "experiment", "task", "codemodule"}},
      {"lattice", {"square", "hex", "cubic", "bcc", "fcc"}},
      {"what", kinds_of_things()},
      {"engine", names_of("engines", library)},
      {"engines", names_of("engines", library)},
      {"precision", {"mixed", "double"}},
      {"device", {"auto", "cpu", "cuda"}},
      {"renderer", names_of("renderers", library)},
      {"behavior", names_of("behaviors", library)}};
  Candidates found;
  for (const auto& [known, values] : fixed)
    if (name == known) return add_words(found, values), found;
  const std::vector<std::string> worlds = {".sdf", ".urdf", ".world"};
  // By what is in them, as far as their names tell.
  const std::pair<std::string, std::vector<std::string>> kinds_of_files[] = {
      {"restore", {".snap"}},
      {"plugin", {".so"}},
      {"folder", {".mcap"}},
      {"cells", {".csv", ".png", ".jpg", ".stl", ".obj", ".ply", ".off"}}};
  for (const auto& [known, endings] : kinds_of_files)
    if (name == known) return add_files(found, word, endings), found;
  if (name == "command") {  // of help: the commands again
    const CLI::App& app = *place.command->get_parent();
    add_subcommands(found, *follow(app, place.positionals).command);
  } else if (name == "set" || name == "vary") {
    if (place.positionals.empty()) return found;
    const std::string& experiment = place.positionals.front();
    const auto equals = word.find('=');
    if (equals == std::string::npos) add_words(found, parameters_of(experiment, library), "=");
    else
      for (const std::string& value : values_of_parameter(experiment, word.substr(0, equals), library))
        found.push_back({word.substr(0, equals + 1) + value, ""});
  } else if (name == "experiment" || (name == "scenes" && option.get_positional())) {
    add_words(found, names_of("experiments", library));
    std::vector<std::string> programs = worlds;
    programs.insert(programs.end(), {".meld", ".json"});
    add_files(found, word, programs);
  } else if (name == "task") {
    add_words(found, evolve::task_names());
    add_files(found, word, {".json"});
  } else if (name == "robot") {
    add_words(found, names_of("robots", library));
    add_files(found, word, {".sdf", ".urdf", ".world", ".json"});
  } else if (name == "thing") {
    add_words(found, names_of("", library));
    add_files(found, word, worlds);
  } else if (option.get_type_name() == "DIR") {
    add_files(found, word, {});
  } else if (option.get_positional() || option.get_type_name() == "FILE") {
    add_files(found, word, {""});
  }
  return found;
}

Candidates candidates(const CLI::App& app, std::vector<std::string> words, const sim::Library& library) {
  const std::string word = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  const Place place = follow(app, words);
  if (place.option != nullptr) return values_of(*place.option, place, word, library);
  Candidates found;
  if (const auto equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = find_option(*place.command, word.substr(0, equals));
    if (option == nullptr || !takes_value(*option)) return found;
    for (Candidate& value : values_of(*option, place, word.substr(equals + 1), library))
      found.push_back({word.substr(0, equals + 1) + value.word, value.about});
    return found;
  }
  if (word.starts_with('-')) {
    for (const CLI::Option* option : place.command->get_options())
      for (const std::string& name : option_names(*option)) found.push_back({name, option->get_description()});
    return found;
  }
  if (place.positionals.empty()) add_subcommands(found, *place.command);
  std::vector<const CLI::Option*> positionals;
  for (const CLI::Option* option : place.command->get_options())
    if (option->get_positional()) positionals.push_back(option);
  if (!positionals.empty()) {
    const std::size_t at = std::min(place.positionals.size(), positionals.size() - 1);
    const Candidates values = values_of(*positionals[at], place, word, library);
    found.insert(found.end(), values.begin(), values.end());
  }
  return found;
}

}  // namespace

int completion_command(const std::string& shell) {
  for (const auto& [name, script] : {std::pair("bash", bash_script), {"zsh", zsh_script}, {"fish", fish_script}})
    if (shell == name) return std::fputs(script, stdout), done;
  return complain(
      Error(fmt::format("there is no completion for '{}'", shell), "use one of: volvox completion bash, zsh, fish"));
}

int complete_command(const CLI::App& app, const std::vector<std::string>& words, const sim::Library& library) {
  const std::string word = words.empty() ? "" : words.back();
  for (Candidate& found : candidates(app, words, library)) {
    if (!found.word.starts_with(word) || printable(found.word) != found.word) continue;
    std::replace(found.about.begin(), found.about.end(), '\n', ' ');
    fmt::print("{}\t{}\n", found.word, printable(found.about));
  }
  return done;
}

}  // namespace volvox::cli
