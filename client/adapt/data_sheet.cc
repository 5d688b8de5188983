#include "client/adapt/data_sheet.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/device_name.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/similar_words.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"
#include "client/terminal/progress.h"
#include "google/protobuf/descriptor.h"
#include "proto/target_json.h"

namespace cobra::client {
namespace {

constexpr int64_t kMaxSpecBytes = 1 << 20;

std::vector<absl::string_view> FieldNames() {
  std::vector<absl::string_view> names;
  const google::protobuf::Descriptor& fields = *v1::TargetSpec::descriptor();
  for (int i = 0; i < fields.field_count(); ++i) names.push_back(fields.field(i)->name());
  return names;
}

// The data sheet of --spec: a file, or the text itself, which begins as no file's name does.
bool IsSheetItself(absl::string_view given) { return absl::StartsWith(absl::StripLeadingAsciiWhitespace(given), "{"); }

absl::StatusOr<std::string> SheetText(const std::string& given) {
  if (IsSheetItself(given)) return given;
  return ReadNamed("--spec", given, kMaxSpecBytes);
}

}  // namespace

absl::StatusOr<std::string> ReadNamed(const char* flag, const std::string& path, int64_t most) {
  absl::StatusOr<std::string> text = ReadMaybeCompressed(path, most);
  if (!text.ok()) return UsageError(absl::StrCat(flag, " ", text.status().message()));
  return text;
}

absl::StatusOr<v1::TargetSpec> LoadSpec(const std::string& given) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, SheetText(given));
  const std::string path = IsSheetItself(given) ? "--spec" : given;
  std::vector<std::string> ignored;
  absl::StatusOr<v1::TargetSpec> spec = proto::TargetSpecFromJson(text, &ignored);
  if (!spec.ok()) {
    return UsageError(absl::StrCat(path, ": ", spec.status().message()),
                      R"(for example {"device": "Some Board", "kind": "cpu", "runtime": "ncnn", "threads": 4})");
  }
  for (const std::string& name : ignored) {
    // A field that is misspelled must not be ignored: the answers would be those of another device.
    if (const std::string meant = NearestName(name, FieldNames()); !meant.empty()) {
      return UsageError(absl::StrCat(path, ": ", WithoutEscapes(name), ": no such field"),
                        absl::StrCat("did you mean ", meant, "?"));
    }
  }
  if (const auto busy = std::find(ignored.begin(), ignored.end(), "disturbed"); busy != ignored.end()) {
    ignored.erase(busy);
    Say(absl::StrCat(
        "warning: ", WithoutEscapes(path),
        ": other programs ran while its speeds were measured; describe the machine again when it is idle\n"));
  }
  if (!ignored.empty()) Say(absl::StrCat(WithoutEscapes(path), ": ignored: ", absl::StrJoin(ignored, ", "), "\n"));
  return spec;
}

std::string AssumedText(const std::string& given, const v1::TargetSpec& taken) {
  const absl::StatusOr<std::string> text = SheetText(given);
  if (!text.ok() || absl::StrContains(*text, "\"precision\"")) return "";
  std::string usual;
  if (taken.kind() == "gpu" && absl::StartsWith(taken.runtime(), "torch"))
    usual = "PyTorch's default from Ampere on is tf32-convolutions, and amp-float16 is its autocast";
  if (absl::StartsWith(taken.runtime(), "ncnn")) usual = "ncnn computes in float16 where the device can";
  if (usual.empty()) return "";
  return absl::StrCat("precision is not given, so it is ", taken.precision(), "; ", usual, "\n");
}

std::string MeasuredAlreadyText(Client* client, const v1::TargetSpec& spec) {
  constexpr size_t kMost = 6;
  const absl::StatusOr<v1::ListTargetsResponse> listed = client->ListTargets({});
  constexpr size_t kFewestLetters = 4;
  if (!listed.ok() || spec.device().size() < kFewestLetters) return "";
  std::vector<std::string> names;
  for (const v1::Target& target : listed->targets()) {
    const v1::TargetSpec& known = target.spec();
    if (target.calibrated() || known.kind() != spec.kind() || !DeviceNameHas(known.device(), spec.device())) continue;
    names.push_back(known.name());
  }
  if (names.empty()) return "";
  const std::string more = names.size() > kMost ? absl::StrCat(" and ", names.size() - kMost, " more") : "";
  names.resize(std::min(names.size(), kMost));
  return absl::StrCat("measured already, with its own software and threads: ", absl::StrJoin(names, ", "), more, "\n");
}

}  // namespace cobra::client
