#include "client/check/check_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file/doc_path.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/similar_words.h"
#include "base/user_error.h"
#include "client/answer/exit_code.h"
#include "client/answer/repository_root.h"
#include "client/check/repository.h"
#include "client/check/suite.h"
#include "client/check/suite_words.h"
#include "client/check/temporary_folder.h"
#include "client/client.h"
#include "client/input/input_errors.h"
#include "client/input/model_input.h"
#include "client/request/target_names.h"
#include "client/terminal/progress.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

constexpr char kSuiteName[] = "cobra.toml";
constexpr int64_t kMostSuiteBytes = int64_t{2} << 20;  // ParseSuite() has the limit

absl::StatusOr<std::string> FindSuite(const std::string& named) {
  if (!named.empty()) return IsDirectory(named) ? absl::StrCat(named, "/", kSuiteName) : named;
  std::error_code error;
  fs::path up;
  for (fs::path folder = fs::current_path(error); !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / kSuiteName, error)) return (up / kSuiteName).string();
    if (fs::exists(folder / ".git", error) || folder == folder.parent_path()) break;
    up /= "..";
  }
  return UsageError(
      "cobra.toml: not found in this folder, nor above it in the repository",
      absl::StrCat("name the file: cobra-client check FILE.toml; ", DocPath("docs/ci.md"), " says what is in it"));
}

// The suite in the working tree, and the repository's old version of it.
struct Suite {
  std::string path;    // as the user typed it
  std::string folder;  // of it; the paths of its models begin there
  std::vector<SuiteModel> models;
};

absl::StatusOr<Suite> LoadSuite(const CheckFlags& flags) {
  Suite suite;
  COBRA_ASSIGN_OR_RETURN(suite.path, FindSuite(flags.suite));
  suite.folder = fs::path(suite.path).parent_path().string();
  COBRA_RETURN_IF_ERROR(CheckIsFile(suite.path));
  const absl::StatusOr<std::string> text = ReadFile(suite.path, kMostSuiteBytes);
  if (!text.ok())
    return UsageError(std::string(text.status().message()), absl::StrCat(DocPath("docs/ci.md"), " says what is in it"));
  COBRA_ASSIGN_OR_RETURN(suite.models, ParseSuite(*text, suite.path));
  if (flags.only.empty()) return suite;
  std::vector<std::string> names;
  for (const SuiteModel& model : suite.models) names.push_back(model.name);
  for (const std::string& name : flags.only) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return UsageError(absl::StrCat("--only ", name, ": no such model in ", suite.path),
                        absl::StrCat("models: ", SimilarNames(name, names)));
  }
  return suite;
}

// The earlier version that a suite is compared with.
class Earlier {
 public:
  Earlier(Repository repository, std::string commit, const Suite& suite)
      : repository_(std::move(repository)), commit_(std::move(commit)), suite_(suite) {}

  // Reads the suite of then. It is not an error now if there was none, or if it has an error.
  absl::Status Load() {
    const std::optional<std::string> path = PathInFolder(suite_.path, repository_.root());
    if (!path.has_value()) return absl::OkStatus();
    COBRA_ASSIGN_OR_RETURN(const bool was_there, repository_.Has(commit_, *path));
    if (!was_there) return absl::OkStatus();
    COBRA_ASSIGN_OR_RETURN(const std::string text, repository_.Text(commit_, *path));
    absl::StatusOr<std::vector<SuiteModel>> models = ParseSuite(text, absl::StrCat(commit_.substr(0, 8), ":", *path));
    if (!models.ok()) {
      Say(absl::StrCat("warning: the old suite is not used: ", models.status().message(), "\n"));
      return absl::OkStatus();
    }
    has_suite_ = true;
    models_ = *std::move(models);
    return absl::OkStatus();
  }

  struct Version {
    ModelArguments model;  // as the suite wrote it
    std::string path;      // below the root; empty: outside of the repository, or an architecture
    std::string note;
  };
  // nullopt: the model is new.
  absl::StatusOr<std::optional<Version>> Of(const SuiteModel& model) {
    const SuiteModel* old = ByName(models_, model.name);
    if (old == nullptr && has_suite_) {
      COBRA_ASSIGN_OR_RETURN(old, Renamed(model));
      if (old == nullptr) return std::nullopt;
    }
    if (old != nullptr) {
      followed_.insert(old->name);
      Version version{old->model, PathOf(old->model), ""};
      if (old->name != model.name)
        version.note = absl::StrCat("renamed from ", old->name);
      else if (old->model.path != model.model.path)
        version.note = absl::StrCat("its file was ", old->model.path);
      return version;
    }
    Version version{model.model, PathOf(model.model), ""};
    if (version.path.empty()) return version;
    COBRA_ASSIGN_OR_RETURN(const auto earlier, repository_.EarlierPath(version.path, commit_, ""));
    if (!earlier.has_value()) return std::nullopt;
    if (*earlier != version.path) version.note = absl::StrCat("its file was ", *earlier);
    version.path = *earlier;
    return version;
  }

  // Models of then that Of() has not met.
  std::vector<SuiteModel> Gone() const {
    std::vector<SuiteModel> gone;
    for (const SuiteModel& model : models_) {
      if (followed_.count(model.name) == 0) gone.push_back(model);
    }
    return gone;
  }

  absl::StatusOr<std::string> Export(const std::vector<std::string>& paths, TemporaryFolder* temporary) const {
    return repository_.Export(commit_, WantedFiles(paths), temporary);
  }
  const Repository& repository() const { return repository_; }

 private:
  static const SuiteModel* ByName(const std::vector<SuiteModel>& models, const std::string& name) {
    const auto it = std::find_if(models.begin(), models.end(), [&](const SuiteModel& m) { return m.name == name; });
    return it == models.end() ? nullptr : &*it;
  }

  std::string PathOf(const ModelArguments& model) const {
    if (model.path.empty()) return "";
    return PathInFolder((fs::path(suite_.folder) / model.path).string(), repository_.root()).value_or("");
  }

  // The old model, of another name that is gone, whose file became this model's and that was asked
  // about alike.
  absl::StatusOr<const SuiteModel*> Renamed(const SuiteModel& model) const {
    for (const SuiteModel& old : models_) {
      if (followed_.count(old.name) > 0 || ByName(suite_.models, old.name) != nullptr) continue;
      if (old.model.inputs != model.model.inputs || old.model.architecture != model.model.architecture) continue;
      if (old.model.path != model.model.path) {
        const std::string path = PathOf(model.model);
        if (path.empty()) continue;
        COBRA_ASSIGN_OR_RETURN(const auto earlier, repository_.EarlierPath(path, commit_, ""));
        if (earlier != PathOf(old.model)) continue;
      } else if (old.model.entry != model.model.entry) {
        continue;  // another model of the same file
      }
      return &old;
    }
    return nullptr;
  }

  const Repository repository_;
  const std::string commit_;
  const Suite& suite_;
  bool has_suite_ = false;
  std::vector<SuiteModel> models_;
  std::set<std::string> followed_;  // old names
};

CheckQuestion QuestionOf(const CheckFlags& flags, const Suite& suite, const SuiteModel& model) {
  CheckQuestion q;
  q.name = model.name;
  q.after_version = {"the working tree", RepositoryRoot(suite.path), false};
  q.file =
      q.after_version.root.empty() ? suite.path : PathInFolder(suite.path, q.after_version.root).value_or(suite.path);
  q.line = model.line;
  q.after = model.model;
  const auto from_suite = [&](std::string* path) { *path = (fs::path(suite.folder) / *path).string(); };
  if (!q.after.path.empty()) from_suite(&q.after.path);
  for (std::string& library : q.after.libraries) from_suite(&library);
  q.targets = flags.targets.empty() ? model.targets : flags.targets;
  q.ask = flags.ask;
  q.thresholds = model.thresholds;
  q.budgets_ms = model.budgets_ms;
  q.tolerate_before = true;
  return q;
}

bool IsAsked(const CheckFlags& flags, const std::string& name) {
  return flags.only.empty() || std::find(flags.only.begin(), flags.only.end(), name) != flags.only.end();
}

// Adds what is to be compared to the questions, and to the report the models that are gone.
absl::Status AddEarlier(const CheckFlags& flags, const Suite& suite, TemporaryFolder* temporary,
                        std::vector<CheckQuestion>* questions, CheckReport* report) {
  COBRA_ASSIGN_OR_RETURN(Repository repository, Repository::Find(suite.path));
  COBRA_ASSIGN_OR_RETURN(const std::string commit, repository.Commit(flags.against));
  report->before = Repository::Label(flags.against, commit);
  Earlier earlier(std::move(repository), commit, suite);
  COBRA_RETURN_IF_ERROR(earlier.Load());
  std::vector<std::optional<Earlier::Version>> versions;
  std::vector<std::string> paths;
  for (const SuiteModel& model : suite.models) {  // all of them: a model that is not asked about is not gone either
    COBRA_ASSIGN_OR_RETURN(versions.emplace_back(), earlier.Of(model));
    if (versions.back().has_value()) paths.push_back(versions.back()->path);
  }
  COBRA_ASSIGN_OR_RETURN(const std::string exported, earlier.Export(paths, temporary));
  size_t next = 0;
  for (size_t i = 0; i < suite.models.size(); ++i) {
    if (!IsAsked(flags, suite.models[i].name)) continue;
    CheckQuestion& q = (*questions)[next++];
    q.is_new = !versions[i].has_value();
    if (q.is_new) continue;
    q.before = InExported(versions[i]->model, earlier.repository().root(), suite.folder, exported, versions[i]->path);
    q.before_version = {report->before, exported, true};
    if (!versions[i]->note.empty()) q.notes.push_back(versions[i]->note);
    if (versions[i]->path.empty() && !versions[i]->model.path.empty())
      q.notes.push_back("the file is outside of the repository, which has no earlier version of it");
  }
  if (!flags.only.empty()) return absl::OkStatus();
  for (const SuiteModel& model : earlier.Gone()) {
    CheckedModel& gone = report->models.emplace_back();
    gone.name = model.name;
    gone.file = PathInFolder(suite.path, earlier.repository().root()).value_or(suite.path);
    gone.status = CheckedModel::Status::kGone;
  }
  return absl::OkStatus();
}

// A target that does not exist is not a fault of a model: one error, not one a model.
absl::Status CheckNamedTargets(const CommonFlags& common, const std::vector<CheckQuestion>& questions) {
  std::vector<std::string> names;
  for (const CheckQuestion& question : questions)
    names.insert(names.end(), question.targets.begin(), question.targets.end());
  if (names.empty()) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse listed, Client::Connect(common.client)->ListTargets({}));
  return CheckTargets(common.client, listed, names);
}

}  // namespace

absl::StatusOr<int> RunCheck(const CommonFlags& common, const CheckFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_ASSIGN_OR_RETURN(const Suite suite, LoadSuite(flags));
  std::vector<CheckQuestion> questions;
  std::vector<std::string> read = {suite.path};
  for (const SuiteModel& model : suite.models) {
    if (!model.model.path.empty()) read.push_back((fs::path(suite.folder) / model.model.path).string());
    if (IsAsked(flags, model.name)) questions.push_back(QuestionOf(flags, suite, model));
  }
  COBRA_RETURN_IF_ERROR(CheckReportFlags(flags.report, read, common.client.connection));
  COBRA_RETURN_IF_ERROR(CheckNamedTargets(common, questions));
  CheckReport report;
  report.after = "the working tree";
  std::unique_ptr<TemporaryFolder> temporary;
  if (!flags.against.empty()) {
    COBRA_ASSIGN_OR_RETURN(temporary, TemporaryFolder::Create());
    COBRA_RETURN_IF_ERROR(AddEarlier(flags, suite, temporary.get(), &questions, &report));
  }
  std::vector<CheckedModel> models;
  std::vector<std::string> usual;
  for (CheckQuestion& question : questions) {
    if (question.targets.empty() && usual.empty()) {
      COBRA_ASSIGN_OR_RETURN(usual, TargetsOfCheck(common));
    }
    if (question.targets.empty()) question.targets = usual;
    COBRA_ASSIGN_OR_RETURN(models.emplace_back(), AskAndCompare(common, question));
    models.back().error = InSuiteKeys(models.back().error);
  }
  report.models.insert(report.models.begin(), std::make_move_iterator(models.begin()),
                       std::make_move_iterator(models.end()));
  return PrintReport(report, flags.report);
}

}  // namespace cobra::client
