#include "model/predict/target/target_hint.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/text/shell_word.h"
#include "base/text/similar_words.h"
#include "model/predict/target/device_table.h"

namespace cobra::predict {
namespace {

constexpr size_t kLongest = 100, kMostShown = 8;
constexpr char kListsAll[] = "`cobra-client targets` lists all";

// What people write of a precision, beside a GPU's name.
constexpr std::pair<absl::string_view, absl::string_view> kPrecisions[] = {
    {"amp", "amp-float16"}, {"float32", "float32"}, {"fp32", "float32"},     {"f32", "float32"},
    {"tf32", "tf32"},       {"float16", "float16"}, {"fp16", "float16"},     {"f16", "float16"},
    {"half", "float16"},    {"bf16", "bfloat16"},   {"bfloat16", "bfloat16"}};
// Other words of targets' names.
constexpr absl::string_view kSoftware[] = {"torch", "pytorch", "cuda",   "eager",     "inductor",
                                           "train", "compile", "nvidia", "inference", "autocast"};

// The words of a name that are of a device, and the precision that the others say; "" if none does.
std::vector<std::string> WordsOfDevice(absl::string_view name, std::string* precision) {
  std::vector<std::string> words;
  for (std::string& word : DeviceWords(name, true)) {
    const auto named = absl::c_find_if(kPrecisions, [&](const auto& pair) { return pair.first == word; });
    if (named != std::end(kPrecisions)) {
      if (precision->empty() || word == "amp") *precision = std::string(named->second);
      continue;
    }
    const bool is_version = word.size() <= 2 && absl::c_all_of(word, absl::ascii_isdigit);  // of "torch-2.5"
    if (!is_version && !absl::c_linear_search(kSoftware, word)) words.push_back(std::move(word));
  }
  return words;
}

// Targets of the device, by the words of their names.
std::vector<std::string> MeasuredOn(const std::vector<std::string>& words, const std::vector<std::string>& known) {
  std::vector<std::string> measured;
  for (const std::string& target : known) {
    const std::vector<std::string> of_target = DeviceWords(target, true);
    const bool has_all =
        absl::c_all_of(words, [&](const std::string& word) { return absl::c_linear_search(of_target, word); });
    if (has_all) measured.push_back(target);
  }
  return measured;
}

// Autocast, in which most GPUs were measured, where there are units that are faster in it.
absl::string_view UsualPrecision(const std::string& gpu) {
  const auto peak = [&](const char* precision) {
    TargetSpec sheet;
    sheet.kind = "gpu";
    sheet.device = gpu;
    sheet.precision = precision;
    return FilledFromTable(std::move(sheet)).peak_gflops;
  };
  return peak("amp-float16") > peak("float32") ? "amp-float16" : "float32";
}

// What a person may have meant as the new target's name, as names of targets are written.
std::string NewName(absl::string_view name) {
  std::string text = absl::AsciiStrToLower(name);
  for (char& c : text) c = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '-';
  return std::string(absl::StripPrefix(text, "nvidia-"));
}

}  // namespace

std::string UnknownTargetHint(absl::string_view name, const std::vector<std::string>& known) {
  std::string precision;
  const std::vector<std::string> words = WordsOfDevice(name.substr(0, kLongest), &precision);
  const std::vector<std::string> gpus = GpusNamed(absl::StrJoin(words, " "));
  // A word of makers alone ("titan") is not a device.
  const bool has_number =
      absl::c_any_of(words, [](const std::string& word) { return absl::c_any_of(word, absl::ascii_isdigit); });
  if (gpus.empty() || !has_number) {
    return absl::StrCat("targets: ", SimilarNames(name, known), "; ", kListsAll,
                        ", `cobra-client adapt` makes one: of most GPUs from their name");
  }
  std::vector<std::string> measured = MeasuredOn(words, known);
  std::string hint;
  if (!measured.empty()) {
    const size_t more = measured.size() - std::min(measured.size(), kMostShown);
    measured.resize(measured.size() - more);
    hint = absl::StrCat("targets: ", absl::StrJoin(measured, ", "),
                        more > 0 ? absl::StrCat(" and ", more, " more") : "", "; ");
  }
  if (precision.empty()) precision = std::string(UsualPrecision(gpus[0]));
  const std::string spec = absl::StrCat("{\"device\": \"", gpus[0], R"(", "kind": "gpu", "runtime": "torch-2.9", )",
                                        "\"precision\": \"", precision, "\"}");
  absl::StrAppend(&hint, measured.empty() ? "nobody measured it; a" : "a",
                  "n estimate from its data sheet: ", "cobra-client adapt --name ", NewName(name.substr(0, kLongest)),
                  " --spec ", ShellWord(spec));
  if (gpus.size() > 1) absl::StrAppend(&hint, " (or ", absl::StrJoin(gpus.begin() + 1, gpus.end(), ", "), ")");
  return hint;
}

}  // namespace cobra::predict
