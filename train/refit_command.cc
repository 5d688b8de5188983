#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/file/data_path.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/without_escapes.h"
#include "model/training/evaluation/evaluate.h"
#include "model/training/evaluation/gate.h"
#include "model/training/refit.h"
#include "model/training/rows/dataset.h"
#include "store/store.h"
#include "train/commands.h"

namespace cobra::train {
namespace {

struct RefitArguments {
  std::string model = DataPath("model/pretrained"), rows = DataPath("data/measurements/cpu-epyc-genoa-1t"), store,
              target, out, publish;
  bool json = false;
  training::RefitOptions options;
};

// Replaces one directory by another atomically, so that a server that loads it sees the old or the
// new version. The old one is kept beside it.
absl::Status Publish(const std::string& from, const std::string& to) {
  const std::string fresh = absl::StrCat(to, ".new");
  COBRA_RETURN_IF_ERROR(MakeDirectories(fresh));
  for (const char* name : {"manifest.json", "tensors.safetensors", "gate.json"}) {
    COBRA_ASSIGN_OR_RETURN(const std::string file, ReadFile(absl::StrCat(from, "/", name)));
    COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(fresh, "/", name), file));
  }
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
    return absl::InternalError(absl::StrCat(to, ": cannot be replaced by ", fresh, ": ", std::strerror(errno)));
  }
  const std::string old = absl::StrCat(to, ".old");
  std::error_code ignored;
  std::filesystem::remove_all(old, ignored);
  std::filesystem::rename(fresh, old, ignored);
  return absl::OkStatus();
}

// Which rows of the store nothing is learned from.
void ReportLeftOut(const training::Dataset& fresh) {
  constexpr size_t kNamed = 5;
  if (fresh.unreadable > 0)
    LogWarning(absl::StrCat(Counted(fresh.unreadable, "measurement"), " left out: not readable"));
  if (fresh.held.empty()) return;
  LogWarning(absl::StrCat(Counted(static_cast<int64_t>(fresh.held.size()), "measurement"),
                          fresh.held.size() == 1 ? " is" : " are",
                          " held until a second measurement agrees; nothing is learned from them"));
  for (size_t i = 0; i < std::min(kNamed, fresh.held.size()); ++i) LogWarning(absl::StrCat("held: ", fresh.held[i]));
}

// Refits, evaluates and publishes. Exit code 1 and the report if the new version is refused.
absl::Status RunRefit(const RefitArguments& a) {
  COBRA_ASSIGN_OR_RETURN(const training::Dataset known, training::LoadMeasurements(a.rows));
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<store::Store> store, store::OpenStore(a.store));
  const std::string target = a.target.empty() ? known.target.name : a.target;
  COBRA_ASSIGN_OR_RETURN(training::Dataset fresh, training::LoadStoreMeasurements(store.get(), target));
  std::set<std::string> old;
  for (const training::Sample& s : known.samples) old.insert(s.fingerprint());
  const auto is_old = [&](const training::Sample& s) { return old.count(s.fingerprint()) > 0; };
  fresh.samples.erase(std::remove_if(fresh.samples.begin(), fresh.samples.end(), is_old), fresh.samples.end());
  ReportLeftOut(fresh);
  if (fresh.samples.empty()) {
    return absl::NotFoundError(absl::StrCat(a.store, ": nothing new was measured for ", target,
                                            fresh.held.empty() ? "" : " that is not held"));
  }
  COBRA_RETURN_IF_ERROR(training::HoldOutSome(&fresh.samples));
  COBRA_RETURN_IF_ERROR(training::Refit(a.model, known, fresh, a.options, a.out));
  training::Dataset both = known;
  both.samples.insert(both.samples.end(), fresh.samples.begin(), fresh.samples.end());
  COBRA_RETURN_IF_ERROR(training::FinishVersion(a.out, {&both, 1}).status());
  COBRA_ASSIGN_OR_RETURN(const training::GateReport report, training::CompareVersions(a.model, a.out, known, fresh));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(a.out, "/gate.json"), training::GateReportToJson(report)));
  std::printf("%s\n", a.json ? training::GateReportToJson(report).c_str()
                             : WithoutEscapes(training::GateReportToTable(report)).c_str());
  if (!report.passed)
    return absl::FailedPreconditionError(absl::StrCat("the new version is not published: ", report.reason));
  return a.publish.empty() ? absl::OkStatus() : Publish(a.out, a.publish);
}

}  // namespace

Command AddRefit(CLI::App* app) {
  const auto a = std::make_shared<RefitArguments>();
  CLI::App* command = app->add_subcommand(
      "refit", "Trains a version on newer measurements of workers, and publishes the result if it is better");
  command->add_option("--store", a->store, "The server's store: a file, or postgresql://...")->required();
  command->add_option("--model", a->model, "The version that is serving")->default_str("the shipped weights");
  command->add_option("--rows", a->rows, "Measurements that it was trained and evaluated on")
      ->default_str("data/measurements/cpu-epyc-genoa-1t");
  command->add_option("--target", a->target, "Name of the target; default: that of the rows");
  command->add_option("--out", a->out, "Directory of the new version and its report (gate.json)")->required();
  command->add_option("--publish", a->publish,
                      "Directory that a server serves: replaced atomically if the new version is better");
  command->add_option("--seconds", a->options.seconds, "Processor time of training, in seconds")->capture_default_str();
  command->add_option("--steps", a->options.max_steps, "Maximum steps of training")->capture_default_str();
  command->add_option("--seed", a->options.seed, "Seed of the batches")->capture_default_str();
  command->add_flag("--json", a->json, "The gate's report as JSON instead of a table");
  return {command, [a] { return RunRefit(*a); }};
}

}  // namespace cobra::train
