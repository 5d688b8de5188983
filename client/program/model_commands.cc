#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/process/command_line.h"
#include "client/ask/list_command.h"
#include "client/ask/watch_command.h"
#include "client/compare/check_formats.h"
#include "client/program/command_line_flags.h"

namespace cobra::client {
namespace {

// The formats of a report, for --format.
MoreFormats ReportFormats(std::string* format) {
  return {CiFormats(), "table, json, markdown, junit, sarif, code-quality, github-benchmark or bencher (docs/ci.md)",
          format};
}

std::string PredictCodes(absl::string_view slow) {
  return absl::StrCat("Exit codes: 0 success, 1 ", slow, ", 2 usage error, 3 server unavailable, ", kModelCodes,
                      "\n5 confidence below --min-confidence; if 1 and 5 both apply, the code is 5.");
}

void AddPredictFlags(CLI::App* command, PredictFlags* flags) {
  AddQuestionFlags(command, &flags->targets, &flags->ask,
                   "; default: this-machine if it is calibrated, else all trained ones");
  command->add_flag("--all", flags->all, "Without --target, show all of them, not the ten fastest");
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
  CLI::Option* target = command->add_option("--target", flags->targets,
                                            "One name from `cobra-client targets`: shares of the predicted time. "
                                            "Several: which is fastest, and by how much, and the time of each "
                                            "operator on each. Without it: shares of FLOP and bytes, and no server is "
                                            "needed");
  Repeatable(target->delimiter(',')->type_name("NAME[,NAME]"));
  command->add_option("--top", flags->top, "How many groups of the slowest calls the overview lists")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--by", flags->by,
                   "Print one complete list: layer (every call), module, op (operators), line (source lines); default: "
                   "an overview")
      ->check(CLI::IsMember({"layer", "module", "op", "line"}));
}

void AddReportFlags(CLI::App* command, ReportFlags* report) {
  command
      ->add_option("--report", report->reports,
                   "Also write the report to a file, in any of the formats; repeatable: "
                   "--report sarif=latency.sarif")
      ->type_name("FORMAT=FILE")
      ->allow_extra_args(false);
  command->add_option("--top", report->top, "How many modules and lines to list for each target")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
}

void AddDiffFlags(CLI::App* command, DiffFlags* flags) {
  command
      ->add_option("model", flags->versions,
                   "As for git diff: MODEL (HEAD and the working tree), REV MODEL (REV and the working tree), REV REV "
                   "MODEL, REV...REV MODEL (since their merge base); or OLD NEW, each a file or REV:PATH")
      ->type_name("[REV [REV]] MODEL")
      ->expected(1, 3)
      ->check(NotEmpty())
      ->required();
  command->add_option("--old-entry", flags->old_entry, "The entry of the old version, if it differs")
      ->type_name("EXPR");
  command
      ->add_option("--budget-ms", flags->budget_ms, "Exit with 1 when the new version exceeds this many milliseconds")
      ->check(AboveZero());
  command->add_option("--noise", flags->noise, "Changes up to this are attributed to the predictor's error: no failure")
      ->type_name("PERCENT%");
  AddReportFlags(command, &flags->report);
}

void AddCheckFlags(CLI::App* command, CheckFlags* flags) {
  command->add_option("suite", flags->suite, "Default: cobra.toml in this folder or above")->type_name("FILE.toml");
  command
      ->add_option("--against", flags->against,
                   "Revision to compare with: origin/main, or origin/main... for the commit where this branch left it")
      ->check(NotEmpty())
      ->type_name("REV");
  command->add_option("--only", flags->only, "Check only these models")
      ->delimiter(',')
      ->type_name("NAME[,NAME]")
      ->allow_extra_args(false);
  command->add_option("--target", flags->targets, "Targets instead of those of the suite")
      ->delimiter(',')
      ->type_name("NAME[,NAME]")
      ->allow_extra_args(false);
  command->add_flag("--keep-private", flags->ask.keep_private,
                    "Do not enqueue measurements of layers that the server's model does not know");
  command->add_option("--model-version", flags->ask.model_version,
                      "Model version that must answer (see `cobra-client model`); fails if another one serves");
  AddReportFlags(command, &flags->report);
}

void AddPredict(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(
      app, flags, "predict", "Latency of a model on one or several targets",
      absl::StrCat(PredictCodes("over --budget-ms, or slower than --baseline allows"),
                   "\nWith --list: 0 if at least one row is answered, else 4."),
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
      "Predict again whenever the model's file, or a neighbouring file that it imports, changes; Ctrl-C ends");
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
                   "\nA new or removed model is not a failure. docs/ci.md"),
      [flags] {
        if (flags->common.json) flags->diff.report.format = "json";
        return RunDiff(flags->common, flags->diff);
      },
      ReportFormats(&diff.report.format));
  AddDiffFlags(command, &diff);
  AddEntryFlags(command, &diff.model);
  AddQuestionFlags(command, &diff.targets, &diff.ask, "; default: this-machine, if it is calibrated");
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
          kModelCodes, "\nA new or removed model is not a failure. docs/ci.md"),
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
      absl::StrCat(
          "Exit codes: 0 at least one batch is answered; else that of the first error: 2 usage error, 3 server "
          "unavailable,\n",
          kModelCodes),
      [flags] { return RunSweep(flags->common, flags->sweep); },
      {{"svg"}, "table, json, svg (a picture)", &sweep.format});
  AddModelFlags(command, &sweep.model);
  AddQuestionFlags(command, &sweep.targets, &sweep.ask, "; default: this-machine");
  command
      ->add_option("--batch", sweep.batches,
                   "Sizes: 1,2,4,8 or 1..256 (doubling) or 8,16,24,...,64. The batch is the leading dimension of the "
                   "first --input and of all tensors with the same; or B in their sizes: --input 128xBx512")
      ->type_name("SIZES")
      ->capture_default_str();
  command->add_option("--memory-gb", sweep.memory_gb, "Memory of the targets, in 10^9 bytes; default: as they state it")
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
  CLI::App* command = AddCommand(app, flags, "history", "Stored labelled predictions: a model's latency over commits",
                                 kServerCodes, [flags] { return RunHistory(flags->common, flags->history); },
                                 {{"svg"}, "table, json, svg (a picture)", &history.format});
  command
      ->add_option("--by", history.by,
                   "The label that identifies predictions; of those with the same value the newest counts")
      ->type_name("NAME")
      ->capture_default_str();
  Repeatable(command->add_option("--target", history.targets, "Only for these targets; default: all")
                 ->delimiter(',')
                 ->type_name("NAME[,NAME]"));
  command->add_option("--since", history.since, "None older than: 30d, 12h, 2026-11-25")->type_name("TIME");
  command->add_option("--limit", history.limit, "At most this many, the newest ones")
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
      app, flags, "report", "One HTML page: the network as a picture, where its time goes, targets side by side",
      absl::StrCat("Exit codes: 0 success, 2 usage error, 3 server unavailable, ", kModelCodes),
      [flags] { return RunReport(flags->common, flags->report); },
      {{}, "html, or json: what the page shows (docs/report.md)", nullptr, "html"});
  AddModelFlags(command, &report.model);
  AddQuestionFlags(command, &report.targets, &report.ask,
                   "; at most 8; default: this-machine if it is calibrated, else the eight fastest");
  command->remove_option(command->get_option("--send"));  // a page needs the graph, which is read here
  command->add_option("--batch", report.batches, "Batches of the sweep, as for `sweep`")
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
                   "With --format onnx, ncnn, python or svg: the file to write; svg: default standard output. Random "
                   "weights are written next to it: for ONNX to .safetensors, for ncnn's .param to .bin")
      ->type_name("FILE");
  command->add_flag("--overwrite", flags->graph.file.overwrite,
                    "Replace the files of --out if they exist; without it that is an error");
  command->add_option("--weights-seed", flags->graph.seed, "With --format onnx or ncnn: seed of the random weights")
      ->capture_default_str();
  AddDeadline(command, &flags->common);
}

}  // namespace

void AddModelCommands(CLI::App* app, Flags* flags) {
  for (const auto add :
       {AddPredict, AddReport, AddSweep, AddCompare, AddDiff, AddCheck, AddExplain, AddHistory, AddGraph})
    add(app, flags);
}

}  // namespace cobra::client
