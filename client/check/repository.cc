#include "client/check/repository.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/file/descriptor.h"
#include "base/file/file.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"
#include "client/answer/repository_root.h"
#include "client/check/lfs_file.h"
#include "client/terminal/progress.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

constexpr char kNothing[] = "COBRA_NOTHING";  // a variable of git's environment that is empty
constexpr int kMostSubmoduleLevels = 10;
constexpr int64_t kMostListBytes = int64_t{512} << 20;  // of the files of a commit
constexpr int64_t kMostTextBytes = int64_t{1} << 20;

// What git prints to standard error goes to the user. A failure of git is an answer.
absl::StatusOr<ProgramResult> RunGit(const std::vector<std::string>& command, SubprocessOptions options = {}) {
  options.max_output_bytes = kMostListBytes;
  absl::StatusOr<ProgramResult> answer = RunToEnd(command, options);
  if (absl::IsNotFound(answer.status()) || (answer.ok() && answer->exit_status == 127))
    return UsageError("git: not found", "install git: earlier versions of a model are read from its repository");
  if (answer.ok() && answer->exit_status < 0) return OutputIfOk("git", *std::move(answer)).status();
  return answer;
}

absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& command, SubprocessOptions options = {}) {
  COBRA_ASSIGN_OR_RETURN(ProgramResult answer, RunGit(command, options));
  if (answer.exit_status == 0) return std::move(answer.output);
  // git has printed why
  return UsageError(absl::StrCat("git: failed with exit status ", answer.exit_status));
}

// git has printed why. Most often it does not read what another user owns, as in a container of CI.
absl::Status CannotOpen(const std::string& root) {
  struct stat status {};
  const bool is_anothers = stat(root.c_str(), &status) == 0 && status.st_uid != geteuid();
  if (!is_anothers) {
    return UsageError(absl::StrCat(WithoutEscapes(root), ": git cannot open this repository"),
                      absl::StrCat("git says why: git -C ", WithoutEscapes(root), " status"));
  }
  return UsageError(absl::StrCat(WithoutEscapes(root), ": belongs to another user, so git does not open it"),
                    absl::StrCat("if you trust it: git config --global --add safe.directory ", WithoutEscapes(root),
                                 "; in CI as a step before this one"));
}

std::string Trimmed(absl::string_view text) { return std::string(absl::StripSuffix(text, "\n")); }

struct TreeEntry {
  std::string mode, object, path;
};

// The answer of ls-tree -r -z: "100644 blob 1f2e...\tnet.py".
std::vector<TreeEntry> ParseTree(absl::string_view out) {
  std::vector<TreeEntry> entries;
  for (const absl::string_view row : absl::StrSplit(out, '\0', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(row, absl::MaxSplits('\t', 1));
    const std::vector<std::string> fields = absl::StrSplit(parts.first, ' ');
    if (fields.size() == 3) entries.push_back({fields[0], fields[2], std::string(parts.second)});
  }
  return entries;
}

// The other name of `path`: of a file itself, of a folder by a file in it that keeps its place
// there.
std::optional<std::string> OtherName(const std::vector<std::pair<std::string, std::string>>& names,
                                     const std::string& path) {
  for (const auto& [known, other] : names) {
    if (known == path) return other;
    absl::string_view below = known;
    if (!absl::ConsumePrefix(&below, absl::StrCat(path, "/"))) continue;
    absl::string_view folder = other;
    if (absl::ConsumeSuffix(&folder, absl::StrCat("/", below))) return std::string(folder);
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<Repository> Repository::Find(const std::string& path) {
  const std::string root = RepositoryRoot(path);
  if (root.empty()) {
    return UsageError(absl::StrCat(WithoutEscapes(path), ": is not in a git repository"),
                      "revisions are read from the repository that the model is in");
  }
  return At(root);
}

absl::StatusOr<Repository> Repository::At(std::string root) {
  Repository repository(std::move(root));
  COBRA_ASSIGN_OR_RETURN(const ProgramResult opened, RunGit(repository.Git({"rev-parse", "--git-dir"})));
  if (opened.exit_status != 0) return CannotOpen(repository.root_);
  COBRA_ASSIGN_OR_RETURN(
      const ProgramResult answer,
      RunGit(repository.Git({"config", "--null", "--name-only", "--get-regexp",
                             "^(filter\\..*\\.(clean|smudge|process|required)|remote\\..*\\.promisor)$"})));
  for (const absl::string_view key : absl::StrSplit(answer.output, '\0', absl::SkipEmpty())) {
    if (absl::StartsWith(key, "filter.")) {
      repository.filters_.emplace_back(key);
    } else {
      repository.is_partial_ = true;
    }
  }
  return repository;
}

// A hook's environment names the repository and the index of the command that it belongs to; the
// user's hooks have no business here. A configuration's `protocol.NAME.allow` counts more than
// ours, the variable more than both. A commit is what its name says, whatever refs/replace/ has in
// its place.
std::vector<std::string> Repository::Git(std::vector<std::string> arguments, const std::string& index) const {
  std::vector<std::string> command = {"env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_PREFIX"};
  if (index.empty()) {
    command.insert(command.end(), {"-u", "GIT_INDEX_FILE"});
  } else {
    command.push_back(absl::StrCat("GIT_INDEX_FILE=", index));
  }
  command.insert(command.end(), {"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
                                 "GIT_ALLOW_PROTOCOL=", "GIT_TERMINAL_PROMPT=0", absl::StrCat(kNothing, "="), "git",
                                 "--no-pager", "-C", root_, "-c", "core.hooksPath=/dev/null", "-c",
                                 "core.fsmonitor=false", "-c", "protocol.allow=never", "-c", "core.quotePath=false"});
  // Not -c, which ends a key at the first "=" that it has.
  for (const std::string& key : filters_) command.push_back(absl::StrCat("--config-env=", key, "=", kNothing));
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

absl::StatusOr<std::string> Repository::Commit(const std::string& revision) const {
  const std::string shown = WithoutEscapes(revision);
  constexpr char kShallow[] =
      "check the spelling. In CI the checkout may have only one commit: fetch-depth: 0 (GitHub), GIT_DEPTH: 0 "
      "(GitLab)";
  if (revision.empty() || revision[0] == '-' || revision == "...")  // of a variable that is empty
    return UsageError(absl::StrCat("'", shown, "': is not a revision"));
  if (const size_t dots = revision.find("..."); dots != std::string::npos) {
    std::vector<std::string> ends;
    for (const std::string& end : {revision.substr(0, dots), revision.substr(dots + 3)}) {
      COBRA_ASSIGN_OR_RETURN(ends.emplace_back(), Commit(end.empty() ? "HEAD" : end));
    }
    COBRA_ASSIGN_OR_RETURN(const ProgramResult answer, RunGit(Git({"merge-base", ends[0], ends[1]})));
    if (answer.exit_status == 0) return Trimmed(answer.output);
    return UsageError(absl::StrCat(shown, ": the two have no common ancestor here"), kShallow);
  }
  COBRA_ASSIGN_OR_RETURN(
      const ProgramResult answer,
      RunGit(Git({"rev-parse", "--verify", "--quiet", "--end-of-options", absl::StrCat(revision, "^{commit}")})));
  if (answer.exit_status == 0) return Trimmed(answer.output);
  return UsageError(absl::StrCat(shown, ": is not a revision of the repository ", root_), kShallow);
}

std::string Repository::Label(const std::string& revision, const std::string& commit) {
  const std::string shortened = commit.substr(0, 8);
  return absl::StartsWith(commit, revision) ? shortened : absl::StrCat(WithoutEscapes(revision), " (", shortened, ")");
}

absl::StatusOr<bool> Repository::Has(const std::string& commit, const std::string& path) const {
  if (path.empty()) return true;
  COBRA_ASSIGN_OR_RETURN(const std::string out,
                         OutputOf(Git({"--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", path})));
  return !out.empty();
}

absl::StatusOr<std::string> Repository::Text(const std::string& commit, const std::string& path) const {
  COBRA_ASSIGN_OR_RETURN(std::string text, OutputOf(Git({"cat-file", "blob", absl::StrCat(commit, ":", path)})));
  if (static_cast<int64_t>(text.size()) <= kMostTextBytes) return text;
  return UserError(Diagnostic::Kind::kLimit, absl::StrCat(path, ": is too large"));
}

absl::StatusOr<Repository::Renames> Repository::RenamesBetween(const std::string& from, const std::string& to,
                                                               const std::string& path) const {
  // Of a submodule git would ask another git, which its own configuration directs.
  std::vector<std::string> arguments = {"diff",
                                        "--no-ext-diff",
                                        "--no-textconv",
                                        "--ignore-submodules=all",
                                        "-M",
                                        "-l5000",
                                        "--diff-filter=R",
                                        "--name-status",
                                        "-z",
                                        "--full-index",
                                        from};
  std::string index;
  Renames renames;
  std::error_code error;
  if (!to.empty()) {
    arguments.push_back(to);
  } else {
    // A file that git does not know of is in no diff with the working tree. A copy of the index
    // takes it up.
    COBRA_ASSIGN_OR_RETURN(const std::string named, OutputOf(Git({"rev-parse", "--git-path", "index"})));
    const fs::path users = fs::path(root_) / Trimmed(named);
    std::string copy = (fs::temp_directory_path(error) / "cobra-index-XXXXXX").string();
    if (error) return absl::UnavailableError(absl::StrCat(copy, ": ", error.message()));
    const Descriptor file(::mkstemp(copy.data()));
    if (!file.valid()) return absl::ErrnoToStatus(errno, copy);
    index = copy;
    fs::remove(index, error);
    if (fs::exists(users, error)) fs::copy_file(users, index, fs::copy_options::overwrite_existing, error);
    if (fs::exists(fs::path(root_) / path, error)) {
      const auto added = RunGit(Git({"--literal-pathspecs", "add", "-N", "--force", "--", path}, index));
      if (!added.ok()) fs::remove(index, error);
      COBRA_RETURN_IF_ERROR(added.status());
    }
  }
  const absl::StatusOr<std::string> out = OutputOf(Git(std::move(arguments), index));
  if (!index.empty()) fs::remove(index, error);
  COBRA_RETURN_IF_ERROR(out.status());
  const std::vector<std::string> parts = absl::StrSplit(*out, '\0', absl::SkipEmpty());  // R095, old, new
  for (size_t i = 0; i + 2 < parts.size(); i += 3) renames.emplace_back(parts[i + 1], parts[i + 2]);
  return renames;
}

absl::StatusOr<std::optional<std::string>> Repository::EarlierPath(const std::string& path, const std::string& from,
                                                                   const std::string& to) const {
  COBRA_ASSIGN_OR_RETURN(const bool was_there, Has(from, path));
  if (was_there) return path;
  COBRA_ASSIGN_OR_RETURN(Renames renames, RenamesBetween(from, to, path));
  for (auto& [was, is] : renames) std::swap(was, is);
  return OtherName(renames, path);
}

absl::StatusOr<std::optional<std::string>> Repository::LaterPath(const std::string& path, const std::string& from,
                                                                 const std::string& to) const {
  COBRA_ASSIGN_OR_RETURN(const bool is_there, Has(to, path));
  if (is_there) return path;
  COBRA_ASSIGN_OR_RETURN(const Renames renames, RenamesBetween(from, to, path));
  return OtherName(renames, path);
}

absl::StatusOr<std::string> Repository::Export(const std::string& commit,
                                               const std::function<bool(absl::string_view)>& wanted,
                                               TemporaryFolder* temporary) const {
  const std::string folder = absl::StrCat(temporary->path(), "/", commit.substr(0, 12));
  const absl::MutexLock lock(temporary->writing());
  COBRA_RETURN_IF_ERROR(ExportInto(commit, folder, wanted, kMostSubmoduleLevels, temporary));
  return folder;
}

absl::Status Repository::WithMissing(const absl::Status& status, const std::string& commit) const {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value() || !is_partial_) return status;
  diagnostic->hint =
      absl::StrCat("this is a partial clone, and nothing is fetched here; fetch the contents first: git -C ", root_,
                   " archive ", commit.substr(0, 12), " > /dev/null");
  return DiagnosticToStatus(*diagnostic);
}

// Git LFS is a filter, which does not run: its files are taken from where it keeps them.
absl::Status Repository::FillLargeFiles(const std::string& commit, const std::string& folder,
                                        absl::string_view files) const {
  std::string objects;
  for (const absl::string_view path : absl::StrSplit(files, '\0', absl::SkipEmpty())) {
    const std::string file = absl::StrCat(folder, "/", path);
    const std::optional<LfsPointer> pointer = absl::EndsWith(path, ".py") ? std::nullopt : ReadLfsPointer(file);
    if (!pointer.has_value()) continue;
    if (objects.empty()) {
      COBRA_ASSIGN_OR_RETURN(const std::string common, OutputOf(Git({"rev-parse", "--git-common-dir"})));
      objects = (fs::path(root_) / Trimmed(common) / "lfs" / "objects").string();
    }
    if (FillLfsFile(*pointer, objects, file)) continue;
    Say(absl::StrCat("warning: ", WithoutEscapes(path), ": its contents at ", commit.substr(0, 8),
                     " are in Git LFS and were not fetched; fetch them: git lfs fetch origin ", commit.substr(0, 8),
                     "\n"));
  }
  return absl::OkStatus();
}

absl::Status Repository::ExportInto(const std::string& commit, const std::string& folder,
                                    const std::function<bool(absl::string_view)>& wanted, int depth,
                                    TemporaryFolder* temporary) const {
  SubprocessOptions options;
  options.cancelled = temporary->interrupted();
  COBRA_RETURN_IF_ERROR(MakeDirectories(folder));
  COBRA_ASSIGN_OR_RETURN(const std::string listed,
                         OutputOf(Git({"ls-tree", "-r", "-z", "--full-tree", commit}), options));
  std::string files;
  std::vector<TreeEntry> submodules;
  for (TreeEntry& entry : ParseTree(listed)) {
    if (entry.mode == "160000") {
      submodules.push_back(std::move(entry));
    } else if (wanted(entry.path)) {
      absl::StrAppend(&files, entry.path, absl::string_view("\0", 1));
    }
  }
  // An index of our own, by which git writes the files as it would into a checkout: with its line
  // ends, no filters. As its working tree git takes the new folder, for attributes of the user's
  // files are not those of that commit.
  const std::string index = absl::StrCat(folder, ".index"), list = absl::StrCat(folder, ".files");
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(list, files));
  COBRA_RETURN_IF_ERROR(OutputOf(Git({"read-tree", "--no-sparse-checkout", commit}, index), options).status());
  const Descriptor input(::open(list.c_str(), O_RDONLY | O_CLOEXEC));
  options.standard_input = input.get();
  COBRA_RETURN_IF_ERROR(WithMissing(
      OutputOf(Git({absl::StrCat("--work-tree=", folder), "checkout-index", "-q", "-f", "-z", "--stdin"}, index),
               options)
          .status(),
      commit));
  COBRA_RETURN_IF_ERROR(FillLargeFiles(commit, folder, files));
  for (const TreeEntry& submodule : submodules) {
    const std::string users = absl::StrCat(root_, "/", submodule.path);
    if (depth == 0 || !FileExists(absl::StrCat(users, "/.git"))) continue;  // nothing imports from it now either
    COBRA_ASSIGN_OR_RETURN(const Repository inner, At(users));
    const absl::StatusOr<ProgramResult> known =
        RunGit(inner.Git({"cat-file", "-e", absl::StrCat(submodule.object, "^{commit}")}));
    if (!known.ok() || known->exit_status != 0) {
      Say(absl::StrCat("warning: submodule ", WithoutEscapes(submodule.path), ": its commit ",
                       submodule.object.substr(0, 8), " is not here, so ", commit.substr(0, 8),
                       " has no such files; fetch it there\n"));
      continue;
    }
    COBRA_RETURN_IF_ERROR(inner.ExportInto(
        submodule.object, absl::StrCat(folder, "/", submodule.path),
        [&](absl::string_view path) { return wanted(absl::StrCat(submodule.path, "/", path)); }, depth - 1, temporary));
  }
  return absl::OkStatus();
}

}  // namespace cobra::client
