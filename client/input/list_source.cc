#include "client/input/list_source.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/csv.h"
#include "base/file/data_path.h"
#include "base/file/file.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kEndings[] = {".onnx", ".tflite", ".param"};
constexpr int64_t kMostFiles = 100'000;

absl::StatusOr<std::string> ListOfFolder(const std::string& folder, absl::string_view flag) {
  std::vector<std::string> files;
  std::error_code failed;
  int64_t seen = 0;
  const auto end = fs::recursive_directory_iterator();
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, failed);
       !failed && it != end; it.increment(failed)) {
    if (++seen > kMostFiles)
      return UserError(Diagnostic::Kind::kLimit,
                       absl::StrCat(flag, " ", folder, ": ", LimitMessage("a folder of models", kMostFiles, "files")));
    const std::string name = it->path().string();
    std::error_code unknown;
    if (it->is_regular_file(unknown) &&
        absl::c_any_of(kEndings, [&name](absl::string_view ending) { return absl::EndsWith(name, ending); }))
      files.push_back(it->path().lexically_relative(folder).string());
  }
  if (failed) return UsageError(absl::StrCat(flag, " ", folder, ": ", failed.message()));
  if (files.empty()) {
    return UsageError(absl::StrCat(flag, " ", folder, ": has no file .onnx, .tflite or .param"),
                      "programs need an entry each: a list with the columns row,model,entry,inputs");
  }
  std::sort(files.begin(), files.end());
  std::string text = "row,model\n";
  for (const std::string& file : files) text += CsvLine({file, file});
  return text;
}

}  // namespace

absl::StatusOr<ListSource> ReadListSource(const std::string& given, absl::string_view flag, int64_t most_bytes) {
  if (IsDirectory(given)) {
    absl::StatusOr<std::string> text = ListOfFolder(given, flag);
    if (!text.ok()) return text.status();
    return ListSource{given, given, *std::move(text), false};
  }
  const bool is_shipped = absl::c_linear_search(kShippedLists, given) && !FileExists(given);
  const std::string path = is_shipped ? DataPath(absl::StrCat("data/lists/", given, ".csv")) : given;
  absl::StatusOr<std::string> text = ReadMaybeCompressed(path, most_bytes);
  if (!text.ok()) {
    return UserError(absl::IsResourceExhausted(text.status()) ? Diagnostic::Kind::kLimit : Diagnostic::Kind::kUsage,
                     absl::StrCat(flag, " ", text.status().message()));
  }
  return ListSource{path, fs::path(path).parent_path().string(), *std::move(text),
                    is_shipped && given == kTorchvisionList};
}

}  // namespace cobra::client
