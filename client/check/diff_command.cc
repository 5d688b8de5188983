#include "client/check/diff_command.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "client/answer/repository_root.h"
#include "client/check/repository.h"
#include "client/check/temporary_folder.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

constexpr char kWorkingTree[] = "the working tree";
constexpr char kGrammar[] = "diff MODEL; diff REV MODEL; diff REV REV MODEL; diff FILE FILE; a file may be REV:PATH";

// A side with the repository that it is in, if it needs one.
struct Located {
  std::optional<Repository> repository;
  std::string commit;  // empty: the working tree
  std::string path;    // of a commit: below the root; of the working tree: as typed
  bool is_there = true;
  FileVersion version;
};

absl::StatusOr<Located> Locate(const DiffSide& side) {
  Located located;
  located.path = side.path;
  if (side.revision.empty()) {
    located.version = {side.is_explicit ? side.path : kWorkingTree, RepositoryRoot(side.path), false};
    located.is_there = FileExists(side.path);
    return located;
  }
  COBRA_ASSIGN_OR_RETURN(located.repository, Repository::Find(side.from_root ? "." : side.path));
  COBRA_ASSIGN_OR_RETURN(located.commit, located.repository->Commit(side.revision));
  located.version.label = Repository::Label(side.revision, located.commit);
  located.version.exported = true;
  const std::string& root = located.repository->root();
  const bool from_folder = absl::StartsWith(side.path, "./") || absl::StartsWith(side.path, "../");
  const std::string file = side.from_root && !from_folder ? absl::StrCat(root, "/", side.path) : side.path;
  const std::optional<std::string> below = PathInFolder(file, root);
  if (!below.has_value())
    return UsageError(absl::StrCat(side.path, ": is outside of the repository ", root), "revisions have no such file");
  located.path = *below;
  COBRA_ASSIGN_OR_RETURN(located.is_there, located.repository->Has(located.commit, located.path));
  if (!located.is_there && side.is_explicit)
    return UsageError(absl::StrCat(side.revision, ":", side.path, ": no such file at ", located.version.label),
                      absl::StrCat("git -C ", root, " ls-tree -r --name-only ", side.revision, " lists them"));
  return located;
}

// A model that a revision has under another name, or not at all.
absl::Status FollowRename(Located* before, Located* after, std::vector<std::string>* notes) {
  if (before->is_there == after->is_there || before->commit.empty()) return absl::OkStatus();
  const Repository& repository = *before->repository;
  if (!before->is_there) {
    const std::string path_now =
        after->commit.empty() ? PathInFolder(after->path, repository.root()).value_or(after->path) : after->path;
    COBRA_ASSIGN_OR_RETURN(const auto was, repository.EarlierPath(path_now, before->commit, after->commit));
    if (!was.has_value()) return absl::OkStatus();
    before->path = *was;
    before->is_there = true;
    notes->push_back(absl::StrCat("renamed from ", *was));
    return absl::OkStatus();
  }
  if (after->commit.empty()) return absl::OkStatus();  // the user named a file that the working tree does not have
  COBRA_ASSIGN_OR_RETURN(const auto is, repository.LaterPath(before->path, before->commit, after->commit));
  if (!is.has_value()) return absl::OkStatus();
  after->path = *is;
  after->is_there = true;
  notes->push_back(absl::StrCat("renamed to ", *is));
  return absl::OkStatus();
}

// The model's arguments at that side; a commit is exported.
absl::StatusOr<ModelArguments> ArgumentsAt(const ModelArguments& model, Located* located, TemporaryFolder* temporary) {
  ModelArguments arguments = model;
  arguments.path = located->path;
  if (located->commit.empty()) return arguments;
  const Repository& repository = *located->repository;
  COBRA_ASSIGN_OR_RETURN(located->version.root,
                         repository.Export(located->commit, WantedFiles({located->path}), temporary));
  return InExported(arguments, repository.root(), ".", located->version.root, located->path);
}

absl::StatusOr<CheckQuestion> QuestionOf(const DiffFlags& flags) {
  CheckQuestion question;
  COBRA_ASSIGN_OR_RETURN(question.thresholds.max_increase, ParseIncrease("--max-increase", flags.max_increase));
  if (!flags.noise.empty()) {
    COBRA_ASSIGN_OR_RETURN(question.thresholds.noise, ParseIncrease("--noise", flags.noise));
  }
  question.thresholds.min_confidence = flags.min_confidence;
  if (flags.budget_ms > 0) question.budgets_ms[""] = flags.budget_ms;
  question.ask = flags.ask;
  question.targets = flags.targets;
  return question;
}

}  // namespace

absl::StatusOr<DiffSides> ParseDiffSides(const std::vector<std::string>& arguments,
                                         const std::function<bool(const std::string&)>& exists) {
  // A file, or REV:PATH; nullopt: a revision, if anything.
  const auto file_of = [&](const std::string& text) -> std::optional<DiffSide> {
    if (exists(text)) return DiffSide{"", text};
    const size_t colon = text.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
    return DiffSide{text.substr(0, colon), text.substr(colon + 1), true};
  };
  const auto at = [](const std::string& revision, const std::string& path) {
    return DiffSide{revision, path, false, false};
  };
  if (arguments.size() == 1) return DiffSides{at("HEAD", arguments[0]), at("", arguments[0])};
  if (arguments.size() == 3) return DiffSides{at(arguments[0], arguments[2]), at(arguments[1], arguments[2])};
  if (arguments.size() != 2) return UsageError("diff: takes one to three arguments", kGrammar);
  const std::string& first = arguments[0];
  const std::string& second = arguments[1];
  const std::optional<DiffSide> before = file_of(first), after = file_of(second);
  if (before.has_value() && after.has_value()) return DiffSides{*before, *after};
  if (before.has_value()) return UsageError(absl::StrCat(second, ": no such file"), kGrammar);
  // As in git: A...B is what B changed since it left A.
  const size_t dots = first.find("...");
  const std::string end = dots == std::string::npos ? "" : first.substr(dots + 3);
  return DiffSides{at(first, second), at(end, second)};
}

absl::StatusOr<int> RunDiff(const CommonFlags& common, const DiffFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_ASSIGN_OR_RETURN(CheckQuestion question, QuestionOf(flags));
  COBRA_ASSIGN_OR_RETURN(const DiffSides sides, ParseDiffSides(flags.versions, FileExists));
  COBRA_RETURN_IF_ERROR(
      CheckReportFlags(flags.report, {sides.before.path, sides.after.path}, common.client.connection));
  COBRA_ASSIGN_OR_RETURN(Located before, Locate(sides.before));
  COBRA_ASSIGN_OR_RETURN(Located after, Locate(sides.after));
  COBRA_RETURN_IF_ERROR(FollowRename(&before, &after, &question.notes));
  if (!before.is_there && !after.is_there) {
    return UsageError(absl::StrCat(sides.after.path, ": no such file, neither at ", before.version.label, " nor at ",
                                   after.version.label),
                      kGrammar);
  }
  std::unique_ptr<TemporaryFolder> temporary;
  if (!before.commit.empty() || !after.commit.empty()) {
    COBRA_ASSIGN_OR_RETURN(temporary, TemporaryFolder::Create());
  }
  CheckReport report{before.version.label, after.version.label, {}};
  if (!after.is_there) {
    CheckedModel& gone = report.models.emplace_back();
    gone.name = gone.file = before.path;
    gone.status = CheckedModel::Status::kGone;
    return PrintReport(report, flags.report);
  }
  COBRA_ASSIGN_OR_RETURN(question.after, ArgumentsAt(flags.model, &after, temporary.get()));
  question.name = sides.after.path;
  question.file = after.commit.empty() ? PathInFolder(after.path, after.version.root).value_or(after.path) : after.path;
  if (before.is_there) {
    COBRA_ASSIGN_OR_RETURN(question.before, ArgumentsAt(flags.model, &before, temporary.get()));
    if (!flags.old_entry.empty()) question.before->entry = flags.old_entry;
  }
  question.is_new = !before.is_there;
  question.before_version = before.version;
  question.after_version = after.version;
  if (question.targets.empty()) {
    COBRA_ASSIGN_OR_RETURN(question.targets, TargetsOfCheck(common));
  }
  COBRA_ASSIGN_OR_RETURN(CheckedModel model, AskAndCompare(common, question));
  // The answer to one question is that of `predict`: the error itself.
  COBRA_RETURN_IF_ERROR(model.error);
  report.models.push_back(std::move(model));
  return PrintReport(report, flags.report);
}

}  // namespace cobra::client
