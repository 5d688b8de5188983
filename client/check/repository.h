// Earlier versions of the user's files from git, in a separate folder. The user's checkout, index
// and branches are never written to.
// An untrusted folder may have a .git whose configuration names programs. git runs none of them
// here: no filters, hooks, monitors of files, external diffs or conversions to text, and it fetches
// nothing.
#ifndef COBRA_CLIENT_CHECK_REPOSITORY_H_
#define COBRA_CLIENT_CHECK_REPOSITORY_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/check/temporary_folder.h"

namespace cobra::client {

class Repository {
 public:
  // The repository that `path`, which need not exist, is in. A usage Diagnostic if it is in none.
  static absl::StatusOr<Repository> Find(const std::string& path);

  const std::string& root() const { return root_; }
  // The commit of "origin/main", 40 digits. "A...B", "A...": the merge base of the two, HEAD where
  // one is left out.
  absl::StatusOr<std::string> Commit(const std::string& revision) const;
  // "origin/main (3f2a1b0)".
  static std::string Label(const std::string& revision, const std::string& commit);

  // Whether a commit has the file or folder, a path below the root.
  absl::StatusOr<bool> Has(const std::string& commit, const std::string& path) const;
  // The text of a file of a commit.
  absl::StatusOr<std::string> Text(const std::string& commit, const std::string& path) const;
  // Where `path`, of commit `to` or (empty) of the working tree, was in commit `from`: there too,
  // or under the name that git takes for its earlier one. nullopt: nowhere.
  absl::StatusOr<std::optional<std::string>> EarlierPath(const std::string& path, const std::string& from,
                                                         const std::string& to) const;
  // The reverse: where a path of commit `from` is in `to`.
  absl::StatusOr<std::optional<std::string>> LaterPath(const std::string& path, const std::string& from,
                                                       const std::string& to) const;

  // Writes files of a commit into a folder below `temporary`, those that `wanted` says of their
  // paths; submodules as they were at that commit, where they are checked out. Returns the folder.
  absl::StatusOr<std::string> Export(const std::string& commit, const std::function<bool(absl::string_view)>& wanted,
                                     TemporaryFolder* temporary) const;

 private:
  using Renames = std::vector<std::pair<std::string, std::string>>;

  explicit Repository(std::string root) : root_(std::move(root)) {}
  // Of a folder with a .git.
  static absl::StatusOr<Repository> At(std::string root);
  std::vector<std::string> Git(std::vector<std::string> arguments, const std::string& index = "") const;
  // Old and new names. `path`: one that a working tree has and git may not know of yet.
  absl::StatusOr<Renames> RenamesBetween(const std::string& from, const std::string& to, const std::string& path) const;
  absl::Status FillLargeFiles(const std::string& commit, const std::string& folder, absl::string_view files) const;
  absl::Status ExportInto(const std::string& commit, const std::string& folder,
                          const std::function<bool(absl::string_view)>& wanted, int depth,
                          TemporaryFolder* temporary) const;

  // An error with the command that fetches contents missing from a partial clone.
  absl::Status WithMissing(const absl::Status& status, const std::string& commit) const;

  std::string root_;
  std::vector<std::string> filters_;  // keys of the configuration that name programs: "filter.lfs.smudge"
  bool is_partial_ = false;           // a clone that leaves contents at its remote
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CHECK_REPOSITORY_H_
