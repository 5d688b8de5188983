// The command line of cobra-client: what the flags of each command are set to, and the groups of
// flags that commands share.
#ifndef COBRA_CLIENT_PROGRAM_COMMAND_LINE_FLAGS_H_
#define COBRA_CLIENT_PROGRAM_COMMAND_LINE_FLAGS_H_

#include <functional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "client/adapt/adapt_command.h"
#include "client/adapt/calibrate_command.h"
#include "client/adapt/targets_command.h"
#include "client/ask/predict_command.h"
#include "client/ask/report_command.h"
#include "client/check/check_command.h"
#include "client/check/diff_command.h"
#include "client/compare/compare_command.h"
#include "client/doctor/admin.h"
#include "client/explain/explain_command.h"
#include "client/explain/graph_command.h"
#include "client/request/common_flags.h"
#include "client/series/history_command.h"
#include "client/series/sweep_command.h"

namespace cobra::client {

inline constexpr char kModelCodes[] =
    "4 model cannot be read (unsupported, or data-dependent),\n"
    "6 error in the model (a syntax error, or PyTorch raises too), 7 limit reached.";
inline constexpr char kServerCodes[] =
    "Exit codes: 0 success, 2 usage error, 3 server unavailable, 7 --deadline-s passed.";

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

// Formats that a command has besides table and json.
struct MoreFormats {
  std::vector<std::string> names;
  const char* help = "table or json";
  std::string* format = nullptr;  // set to one of them
  const char* usual = "table";
};

// A command with its --format and --color; `run` is what it does, `codes` what --help says of its
// exit codes.
CLI::App* AddCommand(CLI::App* app, Flags* flags, const char* name, const char* what, const std::string& codes,
                     std::function<absl::StatusOr<int>()> run, const MoreFormats& more = {});

// One value per flag: --input "[3x2,3x4]" --input 1x3.
void Repeatable(CLI::Option* option);
// How models are read, whichever they are.
void AddReadingFlags(CLI::App* command, ModelArguments* model);
// What is run of a model, with which inputs.
void AddEntryFlags(CLI::App* command, ModelArguments* model);
// One model, and how it is read.
void AddModelFlags(CLI::App* command, ModelArguments* model);
// Which targets are asked about, and how. `without`: what happens without --target; empty: it is
// required.
void AddQuestionFlags(CLI::App* command, std::vector<std::string>* targets, AskFlags* ask, const char* without = "");
// Of the commands whose predictions are stored, and of `history`.
void AddLabels(CLI::App* command, CommonFlags* common,
               const char* what =
                   "Stored with the predictions of the call, for `history` and your own queries: "
                   "NAME=VALUE; repeatable");
void AddMinConfidence(CLI::App* command, double* min_confidence);
CLI::Option* AddMaxIncrease(CLI::App* command, std::string* max_increase);
// Of the commands whose answer is numbers.
void AddQuiet(CLI::App* command, CommonFlags* common, const char* what);
void AddServerFlags(CLI::App* command, CommonFlags* common);
void AddDeadline(CLI::App* command, CommonFlags* common, const char* what = "Give up after this many seconds");
// Flags of the commands that call a server.
void AddAskingFlags(CLI::App* command, Flags* flags);

// The commands, in the order in which --help lists them: those about a model, then those about
// targets and servers.
void AddModelCommands(CLI::App* app, Flags* flags);
void AddServerCommands(CLI::App* app, Flags* flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_PROGRAM_COMMAND_LINE_FLAGS_H_
