#include "client/program/command_line_flags.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/process/command_line.h"
#include "client/program/examples.h"
#include "client/terminal/progress.h"
#include "client/terminal/terminal.h"
#include "frontend/python/cached_tokens.h"
#include "frontend/python/syntax/python_version.h"
#include "frontend/python/torch/names/torch_version.h"

namespace cobra::client {

// One value per flag: --input "[3x2,3x4]" --input 1x3.
void Repeatable(CLI::Option* option) { option->allow_extra_args(false); }

// The message is an error of CLI11's, which names the flag.
CLI::Validator CheckPythonVersion() {
  return CLI::Validator(
      [](std::string& text) {
        const auto minor = python::ReadPythonVersion(text);
        return minor.ok() ? std::string()
                          : absl::StrCat(text.substr(0, 40), " is not from 3.", python::kOldestPython, " to 3.",
                                         python::kNewestPython);
      },
      "");
}

// How models are read, whichever they are.
void AddReadingFlags(CLI::App* command, ModelArguments* model) {
  command->add_option("--method", model->method, "Method of the model to run")->capture_default_str();
  Repeatable(
      command->add_option("--library", model->libraries,
                          "Folder that contains a package to import (dist-packages for an installed torchvision); "
                          "repeatable. Modules next to the model need none"));
  command
      ->add_option(
          "--limits-times", model->limits_times,
          "Limits of steps, memory and calls for reading the model, as a multiple of a server's (docs/reader.md)")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  command->add_option("--torch-version", model->torch_version,
                      absl::StrCat("Value of torch.__version__; default: that of each target's runtime, without a "
                                   "target ",
                                   python::kNewestTorchVersion));
  command
      ->add_option_function<std::string>(
          "--python-version",
          [](const std::string& text) { python::SetPythonVersion(*python::ReadPythonVersion(text)); },
          absl::StrCat("Python version with which the model is read, 3.", python::kOldestPython, " to 3.",
                       python::kNewestPython, "; default: the oldest that accepts it"))
      ->check(CheckPythonVersion())
      ->type_name("3.N");
  command
      ->add_option("--cached-tokens", model->cached_tokens,
                   "One step of a decoder after this many tokens: past_key_values of the model's own type")
      ->check(CLI::Range(int64_t{1}, python::kMaxCachedTokens));
}

// What is asked of a model that is a file.
void AddEntryFlags(CLI::App* command, ModelArguments* model) {
  command->add_option("--entry", model->entry, "Expression whose value is the model: 'resnet50()'")->type_name("EXPR");
  Repeatable(command->add_option(
      "--input", model->inputs,
      "One per positional argument: 1x3x224x224, 1x128:int64, name=1x128:int64, [3x224x224,3x200x200]"));
  Repeatable(command->add_option("--arg", model->arguments, "Argument that is not a tensor: name=EXPR; repeatable"));
  AddReadingFlags(command, model);
  command
      ->add_option_function<std::string>(
          "--mode", [model](const std::string& mode) { model->training = mode == "train"; },
          "eval, or train: the forward pass as after model.train(), without gradients")
      ->check(CLI::IsMember({"eval", "train"}))
      ->default_str("eval");
}

void AddModelFlags(CLI::App* command, ModelArguments* model) {
  command
      ->add_option("model", model->path,
                   "PyTorch source (FILE.py or a DIRECTORY), FILE.onnx, FILE.tflite, ncnn's FILE.param, a graph "
                   "FILE.json, or a built-in model by its name (torchvision:resnet18, ncnn:mobilenet)")
      ->type_name("FILE_OR_DIR");
  command
      ->add_option("--arch", model->architecture,
                   absl::StrCat("Architecture of a search space, not a file; spaces: ", nas::ArchitectureSpaces()))
      ->type_name("SPACE:STRING");
  AddEntryFlags(command, model);
}

void AddFormat(CLI::App* command, CommonFlags* common, const MoreFormats& more) {
  const auto take_format = [common, written = more.format](const std::string& format) {
    common->json = format == "json";
    if (written != nullptr && format != "table" && format != "json") *written = format;
  };
  std::vector<std::string> formats{more.usual, "json"};
  formats.insert(formats.end(), more.names.begin(), more.names.end());
  command->add_option_function<std::string>("--format", take_format, more.help)
      ->check(CLI::IsMember(formats))
      ->default_str(more.usual);
}

void AddColor(CLI::App* command, CommonFlags* common) {
  static const std::map<std::string, ColorChoice> kChoices = {
      {"auto", ColorChoice::kAuto}, {"always", ColorChoice::kAlways}, {"never", ColorChoice::kNever}};
  command
      ->add_option_function<std::string>(
          "--color", [common](const std::string& name) { common->color = kChoices.at(name); },
          "auto (on a terminal, unless NO_COLOR is set), always, never")
      ->check(CLI::IsMember(kChoices))
      ->default_str("auto");
}

// Of the commands whose answer is numbers.
void AddQuiet(CLI::App* command, CommonFlags* common, const char* what) {
  command->add_flag_callback(
      "-q,--quiet",
      [common] {
        common->quiet = true;
        BeQuiet();
      },
      what);
}

void AddServerFlags(CLI::App* command, CommonFlags* common) {
  common->client.own_server = OwnServer::kStart;
  CLI::Option* server = command
                            ->add_option("--server", common->client.address,
                                         "Address of cobra-server, HOST:PORT; own: this user's server. Without it, if "
                                         "none answers at the default address, one is started for this user")
                            ->envname("COBRA_SERVER")
                            ->capture_default_str();
  server->each([common](const std::string& address) {
    if (address != kOwnServer) common->client.own_server = OwnServer::kNo;
  });
  command->add_flag_callback(
      "--no-start",
      [common] {
        OwnServer& own = common->client.own_server;
        own = std::min(own, OwnServer::kFind);
      },
      "Do not start a server; one that already runs for this user is used");
  AddConnectionFlags(command, &common->client.connection);
}

// Of the commands whose predictions are stored, and of `history`.
void AddLabels(CLI::App* command, CommonFlags* common, const char* what) {
  const auto take_labels = [common](const std::vector<std::string>& labels) {
    for (const std::string& label : labels) {
      const size_t equals = label.find('=');
      if (equals == std::string::npos)
        throw CLI::ValidationError("--label", absl::StrCat(label, ": is not NAME=VALUE"));
      common->client.labels.emplace_back(label.substr(0, equals), label.substr(equals + 1));
    }
  };
  CLI::Option* label = command->add_option_function<std::vector<std::string>>("--label", take_labels, what);
  Repeatable(label->type_name("NAME=VALUE"));
}

void AddDeadline(CLI::App* command, CommonFlags* common, const char* what) {
  command
      ->add_option_function<double>(
          "--deadline-s", [common](double s) { common->client.deadline = absl::Seconds(s); }, what)
      ->check(CLI::Range(0.001, 86400.0))
      ->default_str("60");
}

void AddMinConfidence(CLI::App* command, double* min_confidence) {
  command
      ->add_option(
          "--min-confidence", *min_confidence,
          "Exit with 5 when the confidence (0 to 1) is lower; without it, when a budget or a change is checked and the "
          "prediction extrapolates")
      ->check(CLI::Range(0.0, 1.0));
}

CLI::Option* AddMaxIncrease(CLI::App* command, std::string* max_increase) {
  return command
      ->add_option("--max-increase", *max_increase, "Exit with 1 when the latency increased by more than this")
      ->type_name("PERCENT%")
      ->capture_default_str();
}

// Which targets are asked about, and how.
void AddQuestionFlags(CLI::App* command, std::vector<std::string>* targets, AskFlags* ask, const char* without) {
  CLI::Option* target = command->add_option(
      "--target", *targets, absl::StrCat("Names from `cobra-client targets`, separated by commas", without));
  target->required(*without == '\0')->delimiter(',')->type_name("NAME[,NAME]");
  Repeatable(target);
  command
      ->add_option_function<std::string>(
          "--send", [ask](const std::string& what) { ask->send_source = what == "source"; },
          "graph: read the model here and send the graph; source: let the server read it")
      ->check(CLI::IsMember({"graph", "source"}))
      ->default_str("graph");
  command->add_flag("--keep-private", ask->keep_private,
                    "Do not enqueue measurements of layers that the server's model does not know");
  command->add_option("--model-version", ask->model_version,
                      "Model version that must answer (see `cobra-client model`); fails if another one serves");
}

CLI::App* AddCommand(CLI::App* app, Flags* flags, const char* name, const char* what, const std::string& codes,
                     std::function<absl::StatusOr<int>()> run, const MoreFormats& more) {
  CLI::App* command = app->add_subcommand(name, what);
  command->footer(absl::StrCat(codes, "\n\n", ExamplesOf(name)));
  command->callback([flags, run = std::move(run)] { flags->run = run; });
  AddFormat(command, &flags->common, more);
  AddColor(command, &flags->common);
  return command;
}

// Flags of the commands that call a server.
void AddAskingFlags(CLI::App* command, Flags* flags) {
  AddServerFlags(command, &flags->common);
  AddDeadline(command, &flags->common);
}

}  // namespace cobra::client
