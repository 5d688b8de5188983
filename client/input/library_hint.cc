#include "client/input/library_hint.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/text/similar_words.h"
#include "client/input/local_imports.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

// PREFIX/lib/python3*/KIND
void AddVersions(const char* prefix, const char* kind, std::vector<std::string>* folders) {
  if (prefix == nullptr || *prefix == '\0') return;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(prefix) / "lib", error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("python3", 0) == 0 && fs::is_directory(entry.path() / kind, error)) {
      folders->push_back((entry.path() / kind).string());
    }
  }
}

// A hint if the missing name is almost that of a neighbouring file or folder.
std::string MisspelledHint(const std::string& top, const fs::path& model, const std::string& model_path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(model, error);
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(is_folder ? model : model.parent_path(), error)) {
    const fs::path& path = entry.path();
    const bool is_package = entry.is_directory(error) && FileExists((path / "__init__.py").string());
    if (is_package || (path.extension() == ".py" && path.filename() != model.filename()))
      names.push_back(path.stem().string());
  }
  std::sort(names.begin(), names.end());
  const std::string nearest = NearestName(top, std::vector<absl::string_view>(names.begin(), names.end()));
  if (nearest.empty()) return "";
  return absl::StrCat("there is no ", top, ".py ", is_folder ? "in " : "beside ", model_path, ", but ", nearest,
                      ": did you mean that? Otherwise pass the folder of ", top, " with --library DIR");
}

}  // namespace

std::vector<std::string> InstalledPackageFolders() {
  std::vector<std::string> folders;
  AddVersions(std::getenv("VIRTUAL_ENV"), "site-packages", &folders);
  AddVersions(std::getenv("CONDA_PREFIX"), "site-packages", &folders);
  if (const char* home = std::getenv("HOME")) {
    AddVersions(absl::StrCat(home, "/.local").c_str(), "site-packages", &folders);
  }
  AddVersions("/usr/local", "dist-packages", &folders);
  AddVersions("/usr/local", "site-packages", &folders);
  AddVersions("/usr", "dist-packages", &folders);
  AddVersions("/usr", "site-packages", &folders);
  return folders;
}

std::string PackageAsLibraryHint(absl::string_view missing, const std::vector<std::string>& libraries) {
  const std::string top(missing.substr(0, missing.find('.')));
  if (top.empty()) return "";
  for (const std::string& library : libraries) {
    std::error_code error;
    const fs::path folder = fs::absolute(library, error).lexically_normal();
    if (folder.filename() != top || !FileExists((folder / "__init__.py").string())) continue;
    return absl::StrCat(library, " is the package itself: give the folder that contains it, --library ",
                        folder.parent_path().string());
  }
  return "";
}

std::string LibraryHint(absl::string_view missing, const std::string& model_path,
                        const std::vector<std::string>& installed) {
  if (missing.empty()) return "";
  const std::string top(missing.substr(0, missing.find('.')));  // "" for a relative import
  std::error_code error;
  const fs::path model = fs::absolute(model_path, error).lexically_normal();
  fs::path folder = fs::is_directory(model, error) ? model : model.parent_path();

  fs::path root = folder;
  std::string package;
  while (FileExists((root / "__init__.py").string()) && root.has_relative_path()) {
    package = root.filename().string();
    root = root.parent_path();
  }
  if (!package.empty() && (top.empty() || top == package)) {
    return absl::StrCat(model_path, " is part of the package ", package, ": add --library ", root.string());
  }
  if (top.empty()) return "";
  for (int i = 0; i <= kFoldersAbove && folder.has_relative_path(); ++i, folder = folder.parent_path()) {
    if (HasModule(folder.string(), top))
      return absl::StrCat(top, " is in ", folder.string(), ": add --library ", folder.string());
  }
  for (const std::string& candidate : installed) {
    if (HasModule(candidate, top)) return absl::StrCat(top, " is in ", candidate, ": add --library ", candidate);
  }
  return MisspelledHint(top, model, model_path);
}

}  // namespace cobra::client
