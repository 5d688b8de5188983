#include "client/answer/repository_root.h"

#include <filesystem>
#include <system_error>

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

// Where a path would be if it is not there: its nearest folder that exists.
fs::path ExistingFolder(fs::path path) {
  std::error_code error;
  path = fs::absolute(path, error).lexically_normal();
  while (!path.empty() && path != path.parent_path() && !fs::is_directory(path, error)) path = path.parent_path();
  return path;
}

}  // namespace

std::string RepositoryRoot(const std::string& path) {
  std::error_code error;
  for (fs::path folder = fs::weakly_canonical(ExistingFolder(path), error); !folder.empty();
       folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) return folder.string();
    if (folder == folder.parent_path()) break;
  }
  return "";
}

std::optional<std::string> PathInFolder(const std::string& file, const std::string& folder) {
  std::error_code error;
  const fs::path relative =
      fs::weakly_canonical(fs::absolute(file, error), error).lexically_relative(fs::weakly_canonical(folder, error));
  if (error || relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative == "." ? std::string() : relative.string();
}

}  // namespace cobra::client
