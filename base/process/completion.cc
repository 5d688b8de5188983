#include "base/process/completion.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace cobra {
namespace {

constexpr char kListTargets[] = " targets --no-start --deadline-s 1 --format names 2>/dev/null";

struct Flag {
  std::string name;  // "--format"
  std::string help;
  bool takes_value = false;
  std::vector<std::string> values;  // the only ones that are valid; empty: not a list
};

struct Command {
  std::string name, help;  // of the program itself: no name
  std::vector<Flag> flags;
  std::vector<std::string> words;  // that a positional may be
};

// Lists of completions show a line each.
std::string FirstSentence(std::string text) {
  text = text.substr(0, text.find('\n'));
  for (const absl::string_view end : {"; ", ". ", ": "}) text = text.substr(0, text.find(std::string(end)));
  return text;
}

// CLI11 writes the words of an IsMember after the type: "TEXT:{table,json}".
std::vector<std::string> ValidValues(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find(":{"), end = type.find('}', begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return absl::StrSplit(type.substr(begin + 2, end - begin - 2), ',', absl::SkipEmpty());
}

Command Describe(const CLI::App& app, std::string name) {
  Command command{std::move(name), FirstSentence(app.get_description()), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      for (std::string& word : ValidValues(*option)) command.words.push_back(std::move(word));
      continue;
    }
    for (const std::string& long_name : option->get_lnames()) {
      command.flags.push_back({absl::StrCat("--", long_name), FirstSentence(option->get_description()),
                               option->get_items_expected_max() > 0, ValidValues(*option)});
    }
  }
  return command;
}

// The program itself first.
std::vector<Command> CommandsOf(const CLI::App& app) {
  std::vector<Command> commands = {Describe(app, "")};
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(Describe(*sub, sub->get_name()));
  return commands;
}

bool HasTargets(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (command.name == "targets") return true;
  }
  return false;
}

// A function's name: "cobra_client".
std::string Identifier(const std::string& program) { return absl::StrReplaceAll(program, {{"-", "_"}}); }

std::string Names(const std::vector<Command>& commands) {
  return absl::StrJoin(commands.begin() + 1, commands.end(), " ",
                       [](std::string* out, const Command& c) { out->append(c.name); });
}

std::string Bash(const std::string& program, const std::vector<Command>& commands) {
  const std::string function = absl::StrCat("_", Identifier(program));
  std::string text =
      absl::StrCat("# bash completion of ", program, "\n", function, "() {\n",
                   "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
                   "command=${COMP_WORDS[1]}\n  local flags words\n",
                   // "=" is a word of its own, as in --target=NAME
                   "  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n", "  [[ $word == = ]] && word=\n",
                   "  (( COMP_CWORD > 1 )) || command=\n  case $command in\n");
  for (size_t i = 1; i <= commands.size(); ++i) {
    const Command& c = commands[i % commands.size()];  // the program itself last
    absl::StrAppend(&text, "    ", c.name.empty() ? "*" : c.name, ")\n      flags='",
                    absl::StrJoin(c.flags, " ", [](std::string* out, const Flag& f) { out->append(f.name); }),
                    "'\n      words='", c.name.empty() ? Names(commands) : absl::StrJoin(c.words, " "), "'\n");
    absl::StrAppend(&text, "      case $before in\n");
    for (const Flag& flag : c.flags) {
      if (flag.name == "--target" && HasTargets(commands)) {
        // Not `compgen -W`, which expands what is in its list: a server's names must not run as
        // commands. Of a list, "A,B", the last name is completed.
        absl::StrAppend(&text, "        --target) local name given=; [[ $word == *,* ]] && given=${word%,*},; ",
                        "COMPREPLY=(); while IFS= read -r name; do ",
                        "[[ $name == \"${word##*,}\"* ]] && COMPREPLY+=(\"$given$name\"); done < <(", program,
                        kListTargets, "); return ;;\n");
      } else if (!flag.values.empty()) {
        absl::StrAppend(&text, "        ", flag.name, ") COMPREPLY=($(compgen -W '", absl::StrJoin(flag.values, " "),
                        "' -- \"$word\")); return ;;\n");
      } else if (flag.takes_value) {
        absl::StrAppend(&text, "        ", flag.name, ") return ;;\n");
      }
    }
    absl::StrAppend(&text, "      esac ;;\n");
  }
  absl::StrAppend(&text, "  esac\n  [[ $word == -* ]] && words=$flags\n",
                  "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n", "complete -o bashdefault -o default -F ",
                  function, " ", program, "\n");
  return text;
}

// In single quotes, as zsh and fish read them.
std::string Quoted(absl::string_view text, bool for_fish) {
  return absl::StrCat(
      "'", absl::StrReplaceAll(text, {{"\\", for_fish ? "\\\\" : "\\"}, {"'", for_fish ? "\\'" : "'\\''"}}), "'");
}

// An entry of _describe: name and help have a colon between them.
std::string ZshEntry(absl::string_view name, absl::string_view help) {
  return Quoted(absl::StrCat(absl::StrReplaceAll(name, {{":", "\\:"}}), ":", help), /*for_fish=*/false);
}

std::string Zsh(const std::string& program, const std::vector<Command>& commands) {
  std::string text =
      absl::StrCat("#compdef ", program, "\n# zsh completion of ", program, "\n", "local -a words_ flags\n",
                   "local before=${words[CURRENT-1]}\n",
                   "if [[ ${words[CURRENT]} == --*=* ]]; then before=${words[CURRENT]%%=*}; compset -P '*='; fi\n",
                   "case ${${words[2]}:#-*} in\n");
  for (size_t i = 1; i <= commands.size(); ++i) {
    const Command& c = commands[i % commands.size()];
    absl::StrAppend(&text, "  ", c.name.empty() ? "*" : c.name, ")\n    flags=(");
    for (const Flag& flag : c.flags) absl::StrAppend(&text, "\n      ", ZshEntry(flag.name, flag.help));
    absl::StrAppend(&text, ")\n    words_=(");
    if (c.name.empty()) {
      for (size_t k = 1; k < commands.size(); ++k)
        absl::StrAppend(&text, "\n      ", ZshEntry(commands[k].name, commands[k].help));
    }
    for (const std::string& word : c.words) absl::StrAppend(&text, "\n      ", Quoted(word, false));
    absl::StrAppend(&text, ")\n    case $before in\n");
    for (const Flag& flag : c.flags) {
      if (flag.name == "--target" && HasTargets(commands)) {
        absl::StrAppend(&text, "      --target) compset -P '*,'; compadd -- ${(f)\"$(", program, kListTargets,
                        ")\"}; return ;;\n");
      } else if (!flag.values.empty()) {
        absl::StrAppend(&text, "      ", flag.name, ") compadd -- ", absl::StrJoin(flag.values, " "), "; return ;;\n");
      } else if (flag.takes_value) {
        absl::StrAppend(&text, "      ", flag.name, ") _files; return ;;\n");
      }
    }
    absl::StrAppend(&text, "    esac ;;\n");
  }
  absl::StrAppend(&text, "esac\n", "if [[ ${words[CURRENT]} == -* ]]; then _describe flag flags; return; fi\n",
                  "(( CURRENT > 2 )) || { _describe command words_ && return }\n",
                  "(( ${#words_} && CURRENT > 2 )) && _describe word words_\n", "_files\n");
  return text;
}

std::string Fish(const std::string& program, const std::vector<Command>& commands) {
  std::string text = absl::StrCat("# fish completion of ", program, "\n");
  for (const Command& c : commands) {
    const std::string where =
        c.name.empty() ? "__fish_use_subcommand" : absl::StrCat("__fish_seen_subcommand_from ", c.name);
    if (!c.name.empty()) {
      absl::StrAppend(&text, "complete -c ", program, " -n __fish_use_subcommand -a ", c.name, " -d ",
                      Quoted(c.help, true), "\n");
    }
    for (const std::string& word : c.words)
      absl::StrAppend(&text, "complete -c ", program, " -n ", Quoted(where, true), " -a ", word, "\n");
    for (const Flag& flag : c.flags) {
      absl::StrAppend(&text, "complete -c ", program, " -n ", Quoted(where, true), " -l ", flag.name.substr(2),
                      flag.takes_value ? " -r" : "", " -d ", Quoted(flag.help, true));
      if (flag.name == "--target" && HasTargets(commands)) {
        absl::StrAppend(&text, " -f -a '(__fish_complete_list , \"", program, kListTargets, "\")'");
      } else if (!flag.values.empty()) {
        absl::StrAppend(&text, " -f -a ", Quoted(absl::StrJoin(flag.values, " "), true));
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace

std::string CompletionScript(const CLI::App& app, absl::string_view shell) {
  const std::vector<Command> commands = CommandsOf(app);
  if (shell == "zsh") return Zsh(app.get_name(), commands);
  return shell == "fish" ? Fish(app.get_name(), commands) : Bash(app.get_name(), commands);
}

}  // namespace cobra
