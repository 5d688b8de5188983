// cobra-client: how long will this network take on that device?
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/command_line.h"
#include "client/commands.h"
#include "client/exit_code.h"

namespace cobra::client {
namespace {

constexpr char kModelCodes[] =
    "4 the model cannot be read (unsupported, or it depends on data),\n"
    "6 the model is wrong (a syntax error, or PyTorch raises too), 7 a limit was reached.";
constexpr char kServerCodes[] = "Exit codes: 0 fine, 2 usage, 3 no server answers, 7 not within --deadline-s.";

std::string PredictCodes(absl::string_view slow) {
  return absl::StrCat("Exit codes: 0 fine, 1 ", slow, ", 2 usage, 3 no server answers, ", kModelCodes,
                      "\n5 confidence below --min-confidence; where both hold, 5 wins over 1.");
}

// One value a flag: --input "[3x2,3x4]" --input 1x3.
void Repeatable(CLI::Option* option) { option->allow_extra_args(false); }

void AddModelFlags(CLI::App* command, ModelArguments* model) {
  command
      ->add_option("model", model->path,
                   "PyTorch source FILE.py, a DIRECTORY of it, FILE.onnx, FILE.tflite, or a graph FILE.json")
      ->type_name("FILE_OR_DIR");
  command
      ->add_option("--arch", model->architecture,
                   absl::StrCat("A network of a search space instead of a file; spaces: ", nas::ArchitectureSpaces()))
      ->type_name("SPACE:STRING");
  command->add_option("--entry", model->entry, "Expression whose value is the model: 'resnet50()'")->type_name("EXPR");
  Repeatable(command->add_option(
      "--input", model->inputs,
      "One per positional argument: 1x3x224x224, 1x128:int64, name=1x128:int64, [3x224x224,3x200x200]"));
  Repeatable(command->add_option("--arg", model->arguments, "Argument that is no tensor: name=EXPR; repeatable"));
  command->add_option("--method", model->method, "Method of the model that is run")->capture_default_str();
  Repeatable(
      command->add_option("--library", model->libraries,
                          "Folder that contains a package to import (dist-packages for an installed torchvision); "
                          "repeatable. What lies beside the model is found without"));
  command
      ->add_option("--limits-times", model->limits_times,
                   "Steps, memory and calls that reading may take, times what is usual (docs/reader.md)")
      ->check(CLI::Range(1.0, 1000.0))
      ->default_str("1");
  command->add_option("--torch-version", model->torch_version,
                      "What torch.__version__ says; default: the LibTorch built with");
}

void AddFormat(CLI::App* command, CommonFlags* common) {
  command
      ->add_option_function<std::string>(
          "--format", [common](const std::string& format) { common->json = format == "json"; }, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->default_str("table");
}

void AddServerFlags(CLI::App* command, CommonFlags* common) {
  command->add_option("--server", common->client.address, "Address of cobra-server, HOST:PORT")->capture_default_str();
}

void AddDeadline(CLI::App* command, CommonFlags* common) {
  command
      ->add_option_function<double>(
          "--deadline-s", [common](double s) { common->client.deadline = absl::Seconds(s); },
          "Give up after so many seconds")
      ->check(CLI::Range(0.001, 86400.0))
      ->default_str("60");
}

void AddMinConfidence(CLI::App* command, double* min_confidence) {
  command
      ->add_option(
          "--min-confidence", *min_confidence,
          "Exit with 5 when an answer is less sure (0 to 1); where a budget or a change is judged: 0.9 unless said")
      ->check(CLI::Range(0.0, 1.0));
}

void AddMaxIncrease(CLI::App* command, std::string* max_increase) {
  command->add_option("--max-increase", *max_increase, "Exit with 1 when the latency rose by more than this")
      ->type_name("PERCENT%")
      ->capture_default_str();
}

void AddPredictFlags(CLI::App* command, PredictFlags* flags) {
  CLI::Option* target =
      command->add_option("--target", flags->targets, "Names from `cobra-client targets`, separated by commas");
  target->required()->delimiter(',')->type_name("NAME[,NAME]");
  Repeatable(target);
  command
      ->add_option_function<std::string>(
          "--send", [flags](const std::string& what) { flags->send_source = what == "source"; },
          "graph: the model is read here; source: the server reads it")
      ->check(CLI::IsMember({"graph", "source"}))
      ->default_str("graph");
  command->add_flag("--breakdown", flags->breakdown, "The share of every call");
  command->add_flag("--keep-private", flags->keep_private,
                    "The server notes nothing of layers that its model does not know");
  command
      ->add_option(
          "--budget-ms", flags->budget_ms,
          "Exit with 1 when a prediction (latency_us itself, no end of its interval) is above so many milliseconds")
      ->check(AboveZero());
  AddMinConfidence(command, &flags->min_confidence);
  command->add_option("--baseline", flags->baseline, "Older result (--format json) to compare with, as `compare` does")
      ->type_name("OLD.json");
  AddMaxIncrease(command, &flags->max_increase);
}

void AddCompareFlags(CLI::App* command, CompareFlags* flags) {
  command->add_option("old", flags->before, "Result of `predict --format json`, better with --breakdown")
      ->type_name("OLD.json")
      ->required();
  command->add_option("new", flags->after, "The same of the changed model")->type_name("NEW.json")->required();
  AddMaxIncrease(command, &flags->max_increase);
  AddMinConfidence(command, &flags->min_confidence);
  command->add_flag("--different-models", flags->different_models, "Compare answers to two questions all the same");
  command->add_option("--top", flags->top, "How many of the modules that changed most are listed for each target")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
}

void AddExplainFlags(CLI::App* command, ExplainFlags* flags) {
  command
      ->add_option(
          "--target", flags->target,
          "One name from `cobra-client targets`: shares of the time that the server predicts; without it, of FLOP "
          "and bytes, and no server is needed")
      ->type_name("NAME");
  command->add_option("--top", flags->top, "How many of the slowest calls, alike ones together, the overview lists")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--by", flags->by,
                   "One list in full: layer (every call), module, op (operators), line (source lines); default: an "
                   "overview")
      ->check(CLI::IsMember({"layer", "module", "op", "line"}));
}

int Report(bool json, const absl::Status& status) {
  if (json) std::fprintf(stdout, "%s\n", ErrorJson(status).c_str());
  std::fprintf(stderr, "%s\n", ErrorText(status).c_str());
  return ExitCodeOf(status);
}

// Whether JSON is asked for on a command line that cannot be parsed.
bool AsksForJson(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    if (argument == "--format=json") return true;
    if (argument == "--format" && i + 1 < argc && absl::string_view(argv[i + 1]) == "json") return true;
  }
  return false;
}

int Main(int argc, char** argv) {
  CommonFlags common;
  ModelArguments graph_model;
  PredictFlags predict;
  CompareFlags compare;
  ExplainFlags explain;
  CalibrateFlags calibrate;
  std::function<absl::StatusOr<int>()> run;

  CLI::App app("Predicts the latency of neural networks.", "cobra-client");
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* what, const std::string& codes,
                       std::function<absl::StatusOr<int>()> command_run) {
    CLI::App* command = app.add_subcommand(name, what);
    command->footer(codes);
    command->callback([&run, command_run = std::move(command_run)] { run = command_run; });
    AddFormat(command, &common);
    return command;
  };
  const auto add_asking = [&](CLI::App* command) {
    AddServerFlags(command, &common);
    AddDeadline(command, &common);
  };

  CLI::App* command = add("predict", "Latency of a model on one or several targets",
                          PredictCodes("over --budget-ms, or slower than --baseline allows"),
                          [&] { return RunPredict(common, predict); });
  AddModelFlags(command, &predict.model);
  AddPredictFlags(command, &predict);
  add_asking(command);

  command =
      add("compare", "Two results of `predict --format json`: what became slower; needs no server",
          "Exit codes: 0 fine, 1 slower than --max-increase allows, 2 usage (a file is no result, or the two answer "
          "different\nquestions), 5 confidence below --min-confidence; where both hold, 5 wins over 1.",
          [&] { return RunCompare(common, compare); });
  AddCompareFlags(command, &compare);

  command = add("explain", "Where a model spends its time: modules, slowest calls, source lines",
                absl::StrCat("Exit codes: 0 fine, 2 usage, 3 no server answers, ", kModelCodes),
                [&] { return RunExplain(common, explain); });
  AddModelFlags(command, &explain.model);
  AddExplainFlags(command, &explain);
  add_asking(command);

  command =
      add("graph", "The graph of a model: operators, shapes, parameters, cost; needs no server",
          absl::StrCat("Exit codes: 0 fine, 2 usage, ", kModelCodes), [&] { return RunGraph(common, graph_model); });
  AddModelFlags(command, &graph_model);
  AddDeadline(command, &common);

  add_asking(add("targets", "What latencies are predicted for, with measured errors", kServerCodes,
                 [&] { return RunTargets(common); }));

  command = add("calibrate", "Measures this machine (about a minute) and makes the target this-machine",
                absl::StrCat(kServerCodes), [&] { return RunCalibrate(common, calibrate); });
  command
      ->add_option("--probe", calibrate.probe_file, "Output of `cobra-worker probe --json` to use instead of measuring")
      ->type_name("FILE.json");
  command->add_option("--worker", calibrate.worker, "cobra-worker program; default: the one beside this program");
  command->add_option("--name", calibrate.name, "Name of the target; default: this-machine");
  add_asking(command);

  add_asking(add("model", "The model version that the server has", kServerCodes, [&] { return RunModel(common); }));
  app.footer("cobra-client COMMAND --help has the flags and exit codes of each.");

  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) return Report(AsksForJson(argc, argv), parsed.status());
  if (!*parsed) return kExitOk;
  const absl::StatusOr<int> code = run();
  return code.ok() ? *code : Report(common.json, code.status());
}

}  // namespace
}  // namespace cobra::client

int main(int argc, char** argv) { return cobra::Main(argc, argv); }
