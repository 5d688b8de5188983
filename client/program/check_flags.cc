#include "client/program/check_flags.h"

namespace cobra::client {
namespace {

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

}  // namespace

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

}  // namespace cobra::client
