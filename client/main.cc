// cobra-client: how long will this network take on that device?
#include <cstdio>
#include <functional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "client/commands.h"
#include "client/exit_code.h"

namespace cobra {
namespace {

constexpr char kFooter[] =
    "Exit codes: 0 fine, 1 over --budget-ms, 2 usage, 3 server unavailable, 4 model cannot be read (unsupported or "
    "data-dependent),\n"
    "5 confidence below --min-confidence, 6 the model is wrong (syntax error, or PyTorch raises too), 7 a limit was "
    "reached.";

// One value a flag: --input "[3x2,3x4]" --input 1x3.
void Repeatable(CLI::Option* option) { option->allow_extra_args(false); }

void AddModelFlags(CLI::App* command, ModelArguments* model) {
  command
      ->add_option("model", model->path,
                   "PyTorch source FILE.py, a DIRECTORY of it, FILE.onnx, FILE.tflite, or a graph FILE.json")
      ->type_name("FILE_OR_DIR");
  command
      ->add_option("--arch", model->architecture,
                   absl::StrCat("A network of a search space instead of a file; spaces: ", ArchitectureSpaces()))
      ->type_name("SPACE:STRING");
  command->add_option("--entry", model->entry, "Expression whose value is the model: 'resnet50()'")->type_name("EXPR");
  Repeatable(command->add_option(
      "--input", model->inputs,
      "One per positional argument: 1x3x224x224, 1x128:int64, name=1x128:int64, [3x224x224,3x200x200]"));
  Repeatable(command->add_option("--arg", model->arguments, "Argument that is no tensor: name=EXPR; repeatable"));
  command->add_option("--method", model->method, "The method that is run")->capture_default_str();
  Repeatable(command->add_option("--library", model->libraries,
                                 "Directory to import from (an installed torchvision); repeatable"));
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
  command->add_option("--server", common->client.address, "Address of cobra-server")->capture_default_str();
}

void AddDeadline(CLI::App* command, CommonFlags* common) {
  command
      ->add_option_function<double>(
          "--deadline-s", [common](double s) { common->client.deadline = absl::Seconds(s); },
          "Give up after so many seconds")
      ->check(CLI::Range(0.001, 86400.0))
      ->default_str("60");
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
  command->add_flag("--keep-private", flags->keep_private, "The server notes nothing of layers that its model does not know");
  command->add_option("--budget-ms", flags->budget_ms, "Exit with 1 when a target takes longer")
      ->check(CLI::PositiveNumber);
  command->add_option("--min-confidence", flags->min_confidence, "Exit with 5 when an answer is less sure (0 to 1); with --budget-ms: 0.9 unless said")
      ->check(CLI::Range(0.0, 1.0));
}

void AddExplainFlags(CLI::App* command, ExplainFlags* flags) {
  command
      ->add_option(
          "--target", flags->target,
          "A name from `cobra-client targets`: shares of the time that the server predicts; without it, of FLOP "
          "and bytes, and no server is needed")
      ->type_name("NAME");
  command->add_option("--top", flags->top, "How many of the slowest calls the overview lists")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--by", flags->by,
                   "One list in full: layer (every call), module, op (operators), line (source lines); default: an "
                   "overview")
      ->check(CLI::IsMember({"layer", "module", "op", "line"}));
}

int Report(const CommonFlags& common, const absl::StatusOr<int>& result) {
  if (result.ok()) return *result;
  if (common.json) std::fprintf(stdout, "%s\n", ErrorJson(result.status()).c_str());
  std::fprintf(stderr, "%s\n", ErrorText(result.status()).c_str());
  return ExitCodeOf(result.status());
}

int Main(int argc, char** argv) {
  CommonFlags common;
  ModelArguments graph_model;
  PredictFlags predict;
  ExplainFlags explain;
  CalibrateFlags calibrate;
  std::function<absl::StatusOr<int>()> run;

  CLI::App app("Predicts the latency of neural networks.", "cobra-client");
  app.footer(kFooter);
  app.require_subcommand(1);

  CLI::App* command = app.add_subcommand("predict", "Latency of a model on one or several targets");
  AddModelFlags(command, &predict.model);
  AddPredictFlags(command, &predict);
  AddServerFlags(command, &common);
  AddDeadline(command, &common);
  AddFormat(command, &common);
  command->callback([&] { run = [&] { return RunPredict(common, predict); }; });

  command = app.add_subcommand("graph", "The graph of a model: operators, shapes, parameters, cost; needs no server");
  AddModelFlags(command, &graph_model);
  AddDeadline(command, &common);
  AddFormat(command, &common);
  command->callback([&] { run = [&] { return RunGraph(common, graph_model); }; });

  command = app.add_subcommand("explain", "Where a model spends its time: modules, slowest calls, source lines");
  AddModelFlags(command, &explain.model);
  AddExplainFlags(command, &explain);
  AddServerFlags(command, &common);
  AddDeadline(command, &common);
  AddFormat(command, &common);
  command->callback([&] { run = [&] { return RunExplain(common, explain); }; });

  command = app.add_subcommand("targets", "What latencies are predicted for, with measured errors");
  AddServerFlags(command, &common);
  AddDeadline(command, &common);
  AddFormat(command, &common);
  command->callback([&] { run = [&] { return RunTargets(common); }; });

  command = app.add_subcommand("calibrate", "Measures this machine (a minute) and makes the target this-machine");
  command
      ->add_option("--probe", calibrate.probe_file, "Output of `cobra-worker probe --json` to use instead of measuring")
      ->type_name("FILE.json");
  command->add_option("--worker", calibrate.worker, "cobra-worker program; default: the one beside this program");
  command->add_option("--name", calibrate.name, "Name of the target; default: this-machine");
  AddServerFlags(command, &common);
  AddDeadline(command, &common);
  AddFormat(command, &common);
  command->callback([&] { run = [&] { return RunCalibrate(common, calibrate); }; });

  command = app.add_subcommand("model", "The model version that the server has");
  AddServerFlags(command, &common);
  AddDeadline(command, &common);
  AddFormat(command, &common);
  command->callback([&] { run = [&] { return RunModel(common); }; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return Report(common, run());
}

}  // namespace
}  // namespace cobra

int main(int argc, char** argv) { return cobra::Main(argc, argv); }
