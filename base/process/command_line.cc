#include "base/process/command_line.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file/doc_path.h"
#include "base/process/completion.h"
#include "base/status_macros.h"
#include "base/text/similar_words.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"
#include "base/version.h"

namespace cobra {
namespace {

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> FlagNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(absl::StrCat("--", name));
  }
  return names;
}

absl::Status Usage(std::string message, std::string hint) {
  return UserError(Diagnostic::Kind::kUsage, std::move(message), std::move(hint));
}

absl::Status NotExpected(const std::string& word, const std::string& command, const std::vector<std::string>& known,
                         absl::string_view kind) {
  const std::string meant = NearestWord(word, known);
  if (meant == word) {
    return Usage(absl::StrCat(word, ": must come after the command"),
                 absl::StrCat("write it after: ", command, " ", word));
  }
  return Usage(
      absl::StrCat(word, ": ", command, " has no such ", kind),
      meant.empty() ? absl::StrCat(command, " --help lists what it has") : absl::StrCat("did you mean ", meant, "?"));
}

// Returns a required option that was not given, or nullptr.
const CLI::Option* Missing(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_required() && option->count() == 0) return option;
  }
  return nullptr;
}

// Hints begin with a small letter, descriptions of flags with a capital: "Names of ..." but not
// "JSON ...".
std::string AsHint(std::string description) {
  if (description.size() > 1 && absl::ascii_islower(description[1]))
    description[0] = absl::ascii_tolower(description[0]);
  return description;
}

absl::Status ParseErrorStatus(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    absl::StrAppend(&name, " ", command->get_name());
  }
  const std::vector<std::string> commands = CommandNames(*command);
  const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  // A mistyped flag makes another flag look missing, or its value look like an extra argument. So
  // report it first.
  const bool of_words = is_missing || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::vector<std::string> unknown = of_words ? app.remaining(/*recurse=*/true) : std::vector<std::string>();
  for (const std::string& word : unknown) {
    if (absl::StartsWith(word, "-") && word != "--") {
      return NotExpected(word.substr(0, word.find('=')), name, FlagNames(*command), "flag");
    }
  }
  if (!commands.empty()) {
    if (!unknown.empty()) return NotExpected(unknown[0], name, commands, "command");
    if (is_missing) {
      return Usage(absl::StrCat(name, ": which command?"),
                   absl::StrCat("one of ", absl::StrJoin(commands, ", "), "; ", name, " --help describes them"));
    }
  }
  if (!unknown.empty()) {
    return Usage(absl::StrCat(unknown[0], ": unexpected argument"), absl::StrCat(name, " --help lists its arguments"));
  }
  if (const CLI::Option* missing = is_missing ? Missing(*command) : nullptr) {
    return Usage(absl::StrCat(missing->get_name(), ": is missing"), AsHint(missing->get_description()));
  }
  return Usage(error.what(), absl::StrCat(name, " --help has the details"));
}

void AddCompletionFlag(CLI::App* app) {
  if (app->get_option_no_throw("--completion") != nullptr) return;  // parsed before
  // The same as --version to CLI11: a text is printed, and that is all.
  app->add_option_function<std::string>(
         "--completion",
         [app](const std::string& shell) {
           throw CLI::CallForVersion(CompletionScript(*app, shell), static_cast<int>(CLI::ExitCodes::Success));
         },
         "Print the completion script for a shell and exit")
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->trigger_on_parse();
}

// CLI11 takes the next word as the value of --flag= and calls the one behind it unexpected.
absl::Status CheckValues(int argc, const char* const* argv) {
  for (int i = 1; i < argc && absl::string_view(argv[i]) != "--"; ++i) {
    const absl::string_view word = argv[i];
    if (absl::StartsWith(word, "--") && word.find('=') == word.size() - 1)
      return Usage(absl::StrCat(word, ": has no value"), absl::StrCat(word.substr(0, word.size() - 1), " VALUE"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> ParseCommandLine(CLI::App* app, int argc, const char* const* argv) {
  app->set_version_flag("--version", absl::StrCat(app->get_name(), " ", Version()), "Print the version and exit");
  AddCompletionFlag(app);
  COBRA_RETURN_IF_ERROR(CheckValues(argc, argv));
  try {
    app->parse(argc, argv);
  } catch (const CLI::Success& asked) {
    std::ostringstream text;
    app->exit(asked, text, text);
    const bool ended = absl::EndsWith(text.str(), "\n");  // a footer has no end of line
    std::fprintf(stdout, "%s%s", WithDocPaths(text.str()).c_str(), ended ? "" : "\n");
    return false;
  } catch (const CLI::ParseError& error) {
    return ParseErrorStatus(*app, error);
  }
  return true;
}

CLI::Validator NotEmpty() {
  return CLI::Validator([](std::string& text) { return text.empty() ? std::string("is empty") : std::string(); }, "");
}

CLI::Validator AboveZero() {
  return CLI::Validator(
      [](std::string& text) {
        double value;
        return absl::SimpleAtod(text, &value) && value > 0 ? std::string()
                                                           : absl::StrCat(text, " is not a number above 0");
      },
      "ABOVE 0");
}

void AddConnectionFlags(CLI::App* app, ConnectionFiles* files) {
  app->add_option(
      "--tls-ca", files->tls_ca,
      "Authority of the server's certificate (PEM), or `system`: those that this machine trusts; enables TLS");
  app->add_option("--tls-cert", files->tls_cert, "Client certificate (PEM), instead of a token");
  app->add_option("--tls-key", files->tls_key, "Private key of --tls-cert (PEM)");
  app->add_option("--token-file", files->token_file, "File with the token for this server");
}

void PrintError(absl::string_view program, const absl::Status& status) {
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  const std::string text =
      diagnostic.has_value() ? RenderDiagnostic(*diagnostic) : absl::StrCat("error: ", status.message());
  const bool placed = !absl::StartsWith(text, "error: ");
  std::fprintf(stderr, "%s%s\n", placed ? "" : absl::StrCat(program, ": ").c_str(),
               WithoutEscapes(WithDocPaths(text)).c_str());
}

}  // namespace cobra
