// cobra-client: how long will this network take on that device?
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/command_line.h"
#include "base/diagnostic.h"
#include "client/adapt_command.h"
#include "client/admin.h"
#include "client/check_flags.h"
#include "client/check_formats.h"
#include "client/commands.h"
#include "client/doctor.h"
#include "client/exit_code.h"
#include "client/history_command.h"
#include "client/list_command.h"
#include "client/next_step.h"
#include "client/progress.h"
#include "client/report_command.h"
#include "client/shell_word.h"
#include "client/sweep_command.h"
#include "client/terminal.h"
#include "client/watch_command.h"
#include "frontend/python/cached_tokens.h"
#include "frontend/python/torch/torch_version.h"

namespace cobra::client {
namespace {

constexpr char kModelCodes[] =
    "4 model cannot be read (unsupported, or data-dependent),\n"
    "6 error in the model (a syntax error, or PyTorch raises too), 7 limit reached.";
constexpr char kServerCodes[] = "Exit codes: 0 success, 2 usage error, 3 server unavailable, 7 --deadline-s passed.";

std::string PredictCodes(absl::string_view slow) {
  return absl::StrCat("Exit codes: 0 success, 1 ", slow, ", 2 usage error, 3 server unavailable, ", kModelCodes,
                      "\n5 confidence below --min-confidence; if 1 and 5 both apply, the code is 5.");
}

// One value per flag: --input "[3x2,3x4]" --input 1x3.
void Repeatable(CLI::Option* option) { option->allow_extra_args(false); }

// How models are read, whichever they are.
void AddReadingFlags(CLI::App* command, ModelArguments* model) {
  command->add_option("--method", model->method, "Method of the model to run")->capture_default_str();
  Repeatable(
      command->add_option("--library", model->libraries,
                          "Folder that contains a package to import (dist-packages for an installed torchvision); "
                          "repeatable. Modules beside the model need none"));
  command
      ->add_option("--limits-times", model->limits_times,
                   "Limits of steps, memory and calls for reading the model, in those of a server (docs/reader.md)")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  command->add_option("--torch-version", model->torch_version,
                      absl::StrCat("Value of torch.__version__; default: that of each target's runtime, without a "
                                   "target ",
                                   python::kNewestTorchVersion));
  command
      ->add_option("--cached-tokens", model->cached_tokens,
                   "One step of a decoder after so many tokens: past_key_values of the model's own kind")
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
          "eval, or train: as after model.train(), without gradients")
      ->check(CLI::IsMember({"eval", "train"}))
      ->default_str("eval");
}

void AddModelFlags(CLI::App* command, ModelArguments* model) {
  command
      ->add_option(
          "model", model->path,
          "PyTorch source (FILE.py or a DIRECTORY), FILE.onnx, FILE.tflite, ncnn's FILE.param, or a graph FILE.json")
      ->type_name("FILE_OR_DIR");
  command
      ->add_option("--arch", model->architecture,
                   absl::StrCat("Architecture of a search space, not a file; spaces: ", nas::ArchitectureSpaces()))
      ->type_name("SPACE:STRING");
  AddEntryFlags(command, model);
}

// Formats that a command has besides table and json.
struct MoreFormats {
  std::vector<std::string> names;
  const char* help = "table or json";
  std::string* format = nullptr;  // set to one of them
  const char* usual = "table";
};

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
  CLI::Option* server =
      command
          ->add_option("--server", common->client.address,
                       "Address of cobra-server, HOST:PORT. Without it, where none answers at the default address, one "
                       "is started for this user")
          ->envname("COBRA_SERVER")
          ->capture_default_str();
  server->each([common](const std::string&) { common->client.own_server = OwnServer::kNo; });
  command->add_flag_callback(
      "--no-start",
      [common] {
        OwnServer& own = common->client.own_server;
        own = std::min(own, OwnServer::kFind);
      },
      "Start no server; one that runs for this user is asked");
  AddConnectionFlags(command, &common->client.connection);
}

// Of the commands whose predictions are stored, and of `history`.
void AddLabels(CLI::App* command, CommonFlags* common,
               const char* what =
                   "Stored with the predictions of the call, for `history` and your own queries: "
                   "NAME=VALUE; repeatable") {
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

void AddDeadline(CLI::App* command, CommonFlags* common, const char* what = "Give up after this many seconds") {
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
          "Exit with 5 when the confidence (0 to 1) is lower; default where a budget or a change is checked: 0.9")
      ->check(CLI::Range(0.0, 1.0));
}

CLI::Option* AddMaxIncrease(CLI::App* command, std::string* max_increase) {
  return command
      ->add_option("--max-increase", *max_increase, "Exit with 1 when the latency increased by more than this")
      ->type_name("PERCENT%")
      ->capture_default_str();
}

// The formats of a report, for --format.
MoreFormats ReportFormats(std::string* format) {
  return {CiFormats(), "table, json, markdown, junit, sarif, github-benchmark or bencher (docs/ci.md)", format};
}

// Which targets are asked about, and how.
void AddQuestionFlags(CLI::App* command, std::vector<std::string>* targets, AskFlags* ask, const char* without = "") {
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
                      "Version of `cobra-client model` that is to answer; fails if another one serves");
}

void AddPredictFlags(CLI::App* command, PredictFlags* flags) {
  AddQuestionFlags(command, &flags->targets, &flags->ask,
                   "; without: this-machine if it is calibrated, else all trained ones");
  command->add_flag("--breakdown", flags->ask.breakdown, "Print the share of every call");
  command
      ->add_option(
          "--budget-ms", flags->budget_ms,
          "Exit with 1 when a prediction (latency_us, not an end of its interval) exceeds this many milliseconds")
      ->check(AboveZero());
  AddMinConfidence(command, &flags->min_confidence);
  CLI::Option* baseline =
      command
          ->add_option("--baseline", flags->baseline, "Earlier result (--format json) to compare with (see `compare`)")
          ->type_name("OLD.json");
  AddMaxIncrease(command, &flags->max_increase)->needs(baseline);
  CLI::Option* list = command
                          ->add_option("--list", flags->list,
                                       "Many models instead of one: row,model,entry,inputs,arguments,mode "
                                       "(docs/lists_and_sweeps.md)")
                          ->type_name("LIST.csv");
  command
      ->add_option("--out", flags->out,
                   "With --list: row,latency_ms,low_ms,high_ms,confidence,error; -: standard output")
      ->type_name("PRED.csv")
      ->capture_default_str()
      ->needs(list);
}

void AddCompareFlags(CLI::App* command, CompareFlags* flags) {
  command->add_option("old", flags->before, "Result of `predict --format json`, preferably with --breakdown")
      ->type_name("OLD.json")
      ->required();
  command
      ->add_option("new", flags->after,
                   "Result of `predict --format json` for the changed model: compare OLD.json NEW.json")
      ->type_name("NEW.json")
      ->required();
  AddMaxIncrease(command, &flags->max_increase);
  AddMinConfidence(command, &flags->min_confidence);
  command->add_flag("--different-models", flags->different_models, "Compare results of different requests anyway");
  command->add_option("--top", flags->top, "How many modules to list for each target, those that changed most first")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
}

void AddExplainFlags(CLI::App* command, ExplainFlags* flags) {
  CLI::Option* target = command
                            ->add_option("--target", flags->target,
                                         "One name from `cobra-client targets`: shares of the predicted time. Without "
                                         "it: shares of FLOP and bytes, "
                                         "and no server is needed")
                            ->type_name("NAME");
  CLI::Option* targets = command->add_option("--targets", flags->targets,
                                             "Several, separated by commas: which suits the model best, by how much, "
                                             "and the time of each operator on each of them");
  targets->delimiter(',')->type_name("NAME,NAME")->excludes(target);
  command->add_option("--top", flags->top, "How many groups of the slowest calls the overview lists")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--by", flags->by,
                   "Print one complete list: layer (every call), module, op (operators), line (source lines); default: "
                   "an overview")
      ->check(CLI::IsMember({"layer", "module", "op", "line"}));
}

int Report(bool json, ColorChoice color, const absl::Status& status) {
  if (json) std::fprintf(stdout, "%s\n", ErrorJson(status).c_str());
  Say(absl::StrCat(PaintedMessage(ErrorText(status), StandardErrorStyle(color).color), "\n"));
  return ExitCodeOf(status);
}

// The command line with the inputs that the model's file proposes.
void Propose(const absl::Status& status, int argc, char** argv) {
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value() || diagnostic->example_inputs.empty()) return;
  std::string line = "cobra-client";
  for (int i = 1; i < argc; ++i) absl::StrAppend(&line, " ", ShellWord(argv[i]));
  Say(absl::StrCat("try: ", line, diagnostic->example_inputs, "\n"));
}

// Whether a command line that cannot be parsed has --format json.
bool HasJsonFlag(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    if (argument == "--format=json") return true;
    if (argument == "--format" && i + 1 < argc && absl::string_view(argv[i + 1]) == "json") return true;
  }
  return false;
}

struct Flags {
  CommonFlags common;
  GraphFlags graph;
  PredictFlags predict;
  CompareFlags compare;
  DiffFlags diff;
  CheckFlags check;
  ExplainFlags explain;
  SweepFlags sweep;
  HistoryFlags history;
  PageFlags report;
  CalibrateFlags calibrate;
  AdaptFlags adapt;
  ObserveFlags observe;
  TargetsFlags targets;
  AdminFlags admin;
  bool watch = false;
  std::function<absl::StatusOr<int>()> run;  // the command that is given
};

CLI::App* AddCommand(CLI::App* app, Flags* flags, const char* name, const char* what, const std::string& codes,
                     std::function<absl::StatusOr<int>()> run, const MoreFormats& more = {}) {
  CLI::App* command = app->add_subcommand(name, what);
  command->footer(codes);
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

void AddPredict(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(
      app, flags, "predict", "Latency of a model on one or several targets",
      absl::StrCat(PredictCodes("over --budget-ms, or slower than --baseline allows"),
                   "\nWith --list: 0 if any row is answered, 4 if none is."),
      [flags] {
        if (flags->watch) return RunPredictWatch(flags->common, flags->predict);
        return flags->predict.list.empty() ? RunPredict(flags->common, flags->predict)
                                           : RunPredictList(flags->common, flags->predict);
      },
      ReportFormats(&flags->predict.format));
  AddModelFlags(command, &flags->predict.model);
  AddPredictFlags(command, &flags->predict);
  command->add_flag(
      "--watch", flags->watch,
      "Predict again whenever the model's file, or one that it imports from beside it, changes; Ctrl-C ends");
  AddAskingFlags(command, flags);
  AddQuiet(command, &flags->common, "Print only the latency in milliseconds, a line for each target, and no notes");
  AddLabels(command, &flags->common);
}

void AddCompare(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(
      app, flags, "compare", "Compares two results of `predict --format json`; needs no server",
      "Exit codes: 0 success, 1 slower than --max-increase allows, 2 usage error (a file is not a result, or the two "
      "are of\ndifferent requests), 5 confidence below --min-confidence; if 1 and 5 both apply, the code is 5.",
      [flags] { return RunCompare(flags->common, flags->compare); }, ReportFormats(&flags->compare.format));
  AddCompareFlags(command, &flags->compare);
}

void AddDiff(CLI::App* app, Flags* flags) {
  DiffFlags& diff = flags->diff;
  CLI::App* command = AddCommand(
      app, flags, "diff", "Compares two versions of a model: git revisions of its file, or two files",
      absl::StrCat(PredictCodes("slower than --max-increase allows, or over --budget-ms"),
                   "\nA model that is new or gone is no failure. docs/ci.md"),
      [flags] {
        if (flags->common.json) flags->diff.report.format = "json";
        return RunDiff(flags->common, flags->diff);
      },
      ReportFormats(&diff.report.format));
  AddDiffFlags(command, &diff);
  AddEntryFlags(command, &diff.model);
  AddQuestionFlags(command, &diff.targets, &diff.ask, "; without: this-machine, if it is calibrated");
  AddMaxIncrease(command, &diff.max_increase);
  AddMinConfidence(command, &diff.min_confidence);
  AddAskingFlags(command, flags);
  AddLabels(command, &flags->common);
}

void AddCheck(CLI::App* app, Flags* flags) {
  CheckFlags& check = flags->check;
  CLI::App* command = AddCommand(
      app, flags, "check", "Checks the models of a repository, which cobra.toml lists, against budgets and a revision",
      absl::StrCat(
          "Exit codes: that of the first model that cannot be read; else 5 if a prediction is not trusted; else "
          "1 if a\nmodel is slower than allowed or over its budget; else 0. 2 usage error, 3 server "
          "unavailable,\n",
          kModelCodes, "\nA model that is new or gone is no failure. docs/ci.md"),
      [flags] {
        if (flags->common.json) flags->check.report.format = "json";
        return RunCheck(flags->common, flags->check);
      },
      ReportFormats(&check.report.format));
  AddCheckFlags(command, &check);
  AddAskingFlags(command, flags);
  AddLabels(command, &flags->common);
}

void AddExplain(CLI::App* app, Flags* flags) {
  CLI::App* command =
      AddCommand(app, flags, "explain", "Where a model spends its time: modules, slowest calls, source lines",
                 absl::StrCat("Exit codes: 0 success, 2 usage error, 3 server unavailable, ", kModelCodes),
                 [flags] { return RunExplain(flags->common, flags->explain); });
  AddModelFlags(command, &flags->explain.model);
  AddExplainFlags(command, &flags->explain);
  AddAskingFlags(command, flags);
  AddLabels(command, &flags->common);
}

void AddSweep(CLI::App* app, Flags* flags) {
  SweepFlags& sweep = flags->sweep;
  CLI::App* command = AddCommand(
      app, flags, "sweep", "Latency and throughput of a model by batch, the knee, where memory ends",
      absl::StrCat("Exit codes: 0 any batch is answered; else that of the first error: 2 usage error, 3 server "
                   "unavailable,\n",
                   kModelCodes),
      [flags] { return RunSweep(flags->common, flags->sweep); },
      {{"svg"}, "table, json, svg (a picture)", &sweep.format});
  AddModelFlags(command, &sweep.model);
  AddQuestionFlags(command, &sweep.targets, &sweep.ask, "; without: this-machine");
  command
      ->add_option("--batch", sweep.batches,
                   "Sizes: 1,2,4,8 or 1..256 (doubling) or 8,16,24,...,64. The batch is the leading dimension of the "
                   "first --input and of all tensors with the same; or B in their sizes: --input 128xBx512")
      ->type_name("SIZES")
      ->capture_default_str();
  command->add_option("--memory-gb", sweep.memory_gb, "Memory of the targets, in 10^9 bytes; default: what they say")
      ->check(AboveZero());
  command->add_option("--out", sweep.out, "File to write; -: standard output")
      ->type_name("FILE")
      ->capture_default_str();
  AddAskingFlags(command, flags);
  AddQuiet(command, &flags->common,
           "Print only the batch and its latency in milliseconds, a line for each, and no notes");
  AddLabels(command, &flags->common);
}

void AddHistory(CLI::App* app, Flags* flags) {
  HistoryFlags& history = flags->history;
  CLI::App* command = AddCommand(app, flags, "history", "Stored predictions with labels: a model over commits",
                                 kServerCodes, [flags] { return RunHistory(flags->common, flags->history); },
                                 {{"svg"}, "table, json, svg (a picture)", &history.format});
  command
      ->add_option("--by", history.by,
                   "The label that tells predictions apart; of those with one value the newest counts")
      ->type_name("NAME")
      ->capture_default_str();
  Repeatable(command->add_option("--target", history.targets, "Of these targets; default: all")
                 ->delimiter(',')
                 ->type_name("NAME[,NAME]"));
  command->add_option("--since", history.since, "None before: 30d, 12h, 2026-11-25")->type_name("TIME");
  command->add_option("--limit", history.limit, "The newest so many predictions")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--out", history.out, "File to write; -: standard output")
      ->type_name("FILE")
      ->capture_default_str();
  AddLabels(command, &flags->common, "Only predictions with this label: NAME=VALUE; repeatable");
  AddAskingFlags(command, flags);
}

void AddReport(CLI::App* app, Flags* flags) {
  PageFlags& report = flags->report;
  CLI::App* command = AddCommand(
      app, flags, "report", "One HTML page: the network as a picture, where its time goes, targets beside each other",
      absl::StrCat("Exit codes: 0 success, 2 usage error, 3 server unavailable, ", kModelCodes),
      [flags] { return RunReport(flags->common, flags->report); },
      {{}, "html, or json: what the page shows (docs/report.md)", nullptr, "html"});
  AddModelFlags(command, &report.model);
  AddQuestionFlags(command, &report.targets, &report.ask,
                   "; at most 8; without: this-machine if it is calibrated, else all trained ones");
  command->remove_option(command->get_option("--send"));  // a page needs the graph, which is read here
  command->add_option("--batch", report.batches, "Batches of the sweep, as of `sweep`")
      ->type_name("SIZES")
      ->capture_default_str();
  command->add_flag("--no-sweep", report.no_sweep, "Do not ask about other batches");
  command->add_option("--out", report.out, "File to write; -: standard output")
      ->type_name("FILE.html")
      ->capture_default_str();
  AddAskingFlags(command, flags);
  AddLabels(command, &flags->common);
}

void AddGraph(CLI::App* app, Flags* flags) {
  CLI::App* command =
      AddCommand(app, flags, "graph", "The graph of a model: operators, shapes, parameters, cost; needs no server",
                 absl::StrCat("Exit codes: 0 success, 2 usage error, ", kModelCodes),
                 [flags] { return RunGraph(flags->common, flags->graph); },
                 {{"onnx", "ncnn", "python", "svg"},
                  "table, json; onnx, ncnn, python: write a file; svg: a picture",
                  &flags->graph.file.format});
  AddModelFlags(command, &flags->graph.model);
  command
      ->add_option("--out", flags->graph.file.path,
                   "With --format onnx, ncnn, python or svg: the file to write; of svg without it: standard output. "
                   "Weights, random numbers, go beside it: "
                   "of ONNX into "
                   ".safetensors, of ncnn's .param into .bin")
      ->type_name("FILE");
  command->add_flag("--overwrite", flags->graph.file.overwrite,
                    "Replace the files of --out if they exist; without it that is an error");
  command->add_option("--weights-seed", flags->graph.seed, "With --format onnx or ncnn: other numbers")
      ->capture_default_str();
  AddDeadline(command, &flags->common);
}

void AddTargets(CLI::App* app, Flags* flags) {
  TargetsFlags& targets = flags->targets;
  CLI::App* command = AddCommand(app, flags, "targets", "Lists the targets with their measured errors", kServerCodes,
                                 [flags] { return RunTargets(flags->common, flags->targets); },
                                 {{"markdown", "names"},
                                  "table, json, markdown (a card of each trained target), names (one a line)",
                                  &targets.format});
  command->add_option("--name", targets.name, "Only those with this in their names");
  command->add_option("--device", targets.device, "Only those with this in their devices' names: EPYC");
  command->add_option("--runtime", targets.runtime, "Only those with this in their runtimes' names: onnxruntime");
  command->add_option("--kind", targets.kind, "Only those of this kind: cpu, gpu");
  command->add_option("--precision", targets.precision, "Only those of this precision: float32");
  CLI::Option* calibrated = command->add_flag("--calibrated", targets.calibrated, "Only calibrated ones");
  command->add_flag("--trained", targets.trained, "Only trained ones")->excludes(calibrated);
  AddAskingFlags(command, flags);
}

void AddAdmin(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(app, flags, "admin", "Operates a server: reload, versions, caches, flush, drain",
                                 kServerCodes, [flags] { return RunAdmin(flags->common, flags->admin); });
  static const std::map<std::string, AdminAction> kActions = {{"reload", AdminAction::kReload},
                                                              {"versions", AdminAction::kVersions},
                                                              {"caches", AdminAction::kCaches},
                                                              {"flush", AdminAction::kFlush},
                                                              {"drain", AdminAction::kDrain}};
  command
      ->add_option_function<std::string>(
          "action", [flags](const std::string& name) { flags->admin.action = kActions.at(name); },
          "reload: load the model directory again; versions: those that were loaded; caches: what they hold; flush: "
          "empty them; drain: stop the server as SIGTERM does")
      ->check(CLI::IsMember(kActions))
      ->type_name("ACTION")
      ->required();
  command->add_option("--cache", flags->admin.caches, "Of flush: reply, network, prediction, embedding; default: all")
      ->delimiter(',')
      ->type_name("NAME[,NAME]");
  AddAskingFlags(command, flags);
}

void AddCalibrate(CLI::App* app, Flags* flags) {
  CLI::App* command =
      AddCommand(app, flags, "calibrate", "Measures this machine (for a minute) and creates the target this-machine",
                 kServerCodes, [flags] { return RunCalibrate(flags->common, flags->calibrate); });
  CalibrateFlags& calibrate = flags->calibrate;
  command
      ->add_option("--probe", calibrate.probe_file, "Output of `cobra-worker probe --json` to use instead of measuring")
      ->type_name("FILE.json");
  command->add_option("--worker", calibrate.worker, "cobra-worker program; default: the one beside this program");
  command->add_option("--runner", calibrate.runner,
                      "Measure in this runtime, not in LibTorch: torch, onnxruntime, openvino, ncnn, or a "
                      "command (docs/runners.md)");
  command->add_option("--threads", calibrate.threads, "Threads of one operator")->capture_default_str();
  command
      ->add_option(
          "--core", calibrate.core,
          "Processor to measure on; with several threads, the first one; default: the first that this process may use")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--budget", calibrate.budget,
                   "Time for measuring: the more, the better; 1m, 5m, 30m. The first half minute's part is always "
                   "measured, which takes longer on a slow or busy machine")
      ->capture_default_str();
  command->add_option("--name", calibrate.name, "Name of the target")->capture_default_str();
  command->add_flag("--undo", calibrate.undo,
                    "Withdraw the version of the target that serves; the one before it serves again");
  AddServerFlags(command, &flags->common);
  AddDeadline(command, &flags->common, "Time limit of the server's answer; measuring does not count");
}

void AddAdapt(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(
      app, flags, "adapt", "Makes a target for a device, from its data sheet and networks that were timed on it",
      absl::StrCat("Exit codes: 0 success, 2 usage error (also rows or a data sheet that are refused), 3 server ",
                   "unavailable,\n", kModelCodes),
      [flags] { return RunAdapt(flags->common, flags->adapt); });
  AdaptFlags& adapt = flags->adapt;
  command->add_option("--name", adapt.name, "Name of the target");
  command
      ->add_option("--spec", adapt.spec,
                   "Its data sheet: device, kind, runtime, precision, threads, and whatever numbers are known "
                   "(docs/adding-a-device.md)")
      ->type_name("SPEC.json");
  command
      ->add_option("--samples", adapt.samples,
                   "Up to 50 networks that were timed: row,model,entry,inputs,arguments,mode,latency_ms")
      ->type_name("SAMPLES.csv");
  command->add_flag("--skip-refused", adapt.skip_refused, "Leave rows out that are refused, instead of all");
  command->add_option("--suggest", adapt.suggest, "Print which so many networks of --list to time first")
      ->check(CLI::Range(1, 100));
  command->add_option("--list", adapt.list, "Networks to choose from: row,model,entry,inputs,arguments,mode")
      ->type_name("LIST.csv");
  command->add_option("--export", adapt.export_file, "Write the target --name and its timings into this file")
      ->type_name("FILE.json.gz");
  command->add_option("--import", adapt.import_file, "Make the target from a file of --export")
      ->type_name("FILE.json.gz");
  AddReadingFlags(command, &adapt.of_all);
  AddAskingFlags(command, flags);
}

void AddObserve(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(
      app, flags, "observe", "Adds timings of networks to a target that adapt or calibrate has made",
      absl::StrCat("Exit codes: 0 success, 2 usage error (also rows that are refused), 3 server unavailable,\n",
                   kModelCodes),
      [flags] { return RunObserve(flags->common, flags->observe); });
  ObserveFlags& observe = flags->observe;
  AddModelFlags(command, &observe.model);
  command->add_option("--target", observe.target, "Name of the target")->required();
  command
      ->add_option_function<double>(
          "--latency-ms",
          [&observe](double ms) {
            observe.latency_ms = ms;
            observe.has_latency = true;
          },
          "Time of one forward pass of the model: the median")
      ->type_name("MS");
  command
      ->add_option("--samples", observe.samples,
                   "Many timings instead: row,model,entry,inputs,arguments,mode,latency_ms. Of rows with one model the "
                   "median counts")
      ->type_name("LOG.csv");
  command->add_flag("--skip-refused", observe.skip_refused, "Leave rows out that are refused, instead of all");
  AddAskingFlags(command, flags);
}

void AddModel(CLI::App* app, Flags* flags) {
  AddAskingFlags(AddCommand(app, flags, "model", "Describes the model version of the server", kServerCodes,
                            [flags] { return RunModel(flags->common); }),
                 flags);
}

void AddDoctor(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(app, flags, "doctor",
                                 "Looks for what is wrong with server, weights, calibration and machine, and says "
                                 "how to mend it; starts nothing",
                                 "Exit codes: 0 nothing fails, 1 something does, 2 usage error.",
                                 [flags] { return RunDoctor(flags->common); });
  AddServerFlags(command, &flags->common);
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Predicts the latency of neural networks.", "cobra-client");
  app.require_subcommand(1);
  // In the order in which --help lists them.
  for (const auto add : {AddPredict, AddReport, AddSweep, AddCompare, AddDiff, AddCheck, AddExplain, AddHistory,
                         AddGraph, AddTargets, AddCalibrate, AddAdapt, AddObserve, AddModel, AddDoctor, AddAdmin})
    add(&app, &flags);
  app.footer("cobra-client COMMAND --help lists the flags and exit codes of a command.");

  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    return Report(HasJsonFlag(argc, argv), flags.common.color, WithNextStep(parsed.status(), words));
  }
  if (!*parsed) return kExitOk;
  const absl::StatusOr<int> code = flags.run();
  if (code.ok()) return *code;
  const int exit_code = Report(flags.common.json, flags.common.color, code.status());
  Propose(code.status(), argc, argv);
  return exit_code;
}

}  // namespace
}  // namespace cobra::client

int main(int argc, char** argv) { return cobra::client::Main(argc, argv); }
