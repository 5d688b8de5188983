#include "client/input/input_proposal.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/diagnostic.h"
#include "client/input/model_input.h"

namespace cobra::client {
namespace {

constexpr absl::Duration kAll = absl::Seconds(4), kOne = absl::Seconds(2);
constexpr char kImage[] = "1x3x224x224", kTokens[] = "1x128:int64", kTime[] = "1";

// An image, tokens, a vector; of two an image and a step, tokens and their mask.
std::vector<std::vector<std::string>> UsualInputs(int missing) {
  if (missing == 1) return {{kImage}, {kTokens}, {"1x16"}, {"1x16x64"}, {"1x1x28x28"}, {"1x3x16x112x112"}};
  if (missing == 2)
    return {{kTokens, kTokens}, {kImage, kTime}, {kImage, "1:int64"}, {kImage, kImage}, {"1x16x64", "1x16x64"}};
  if (missing == 3) return {{kTokens, kTokens, kTokens}, {"1x16x64", "1x16x64", "1x16x64"}};
  return {};
}

absl::Status Try(ModelArguments model, const std::vector<std::string>& inputs) {
  model.inputs.insert(model.inputs.end(), inputs.begin(), inputs.end());
  const Limits limits = LimitsOf(model, kOne);
  const absl::StatusOr<ModelInput> input = ModelInput::Load(model, limits);
  return input.ok() ? input->Read(limits).status() : input.status();
}

std::string MessageOf(const absl::Status& status) {
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  return diagnostic.has_value() ? diagnostic->message : "";
}

// The first usual inputs that the model takes, corrected by what it says about those that it does
// not take.
std::vector<std::string> FindInputs(const ModelArguments& model, int missing) {
  const absl::Time end = absl::Now() + kAll;
  std::vector<std::vector<std::string>> tries = UsualInputs(missing);
  std::set<std::string> tried;
  for (size_t i = 0; i < tries.size() && absl::Now() < end; ++i) {
    const std::vector<std::string> inputs = tries[i];
    if (!tried.insert(absl::StrJoin(inputs, " ")).second) continue;
    const absl::Status status = Try(model, inputs);
    if (status.ok()) return inputs;
    std::vector<std::string> corrected = inputs;
    corrected[0] = CorrectedInput(MessageOf(status), inputs[0]);
    if (!corrected[0].empty()) tries.insert(tries.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(corrected));
  }
  return {};
}

}  // namespace

int MissingInputs(absl::string_view message) {
  static const std::regex kMissing(R"(\(\) missing (\d+) required positional argument)");
  std::cmatch found;
  int missing = 0;
  if (!std::regex_search(message.begin(), message.end(), found, kMissing) ||
      !absl::SimpleAtoi(found[1].str(), &missing))
    return 0;
  return missing;
}

std::string CorrectedInput(absl::string_view message, absl::string_view tried) {
  static const std::regex kChannels(R"(to have (\d+) channels, but got)"), kSizes(R"(^1x\d+x(\d+)x(\d+)$)"),
      kProduct(R"(cannot be multiplied \(\d+x\d+ and (\d+)x\d+\))");
  std::cmatch wanted, sizes;
  if (std::regex_search(message.begin(), message.end(), wanted, kChannels)) {
    if (std::regex_match(tried.begin(), tried.end(), sizes, kSizes))
      return absl::StrCat("1x", wanted[1].str(), "x", sizes[1].str(), "x", sizes[2].str());
  } else if (std::regex_search(message.begin(), message.end(), wanted, kProduct)) {
    if (absl::StrContains(tried, "x16x")) return absl::StrCat("1x16x", wanted[1].str());
    if (tried == "1x16") return absl::StrCat("1x", wanted[1].str());
  }
  return "";
}

absl::Status WithProposedInputs(const absl::Status& status, const ModelArguments& model) {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value() || diagnostic->kind != Diagnostic::Kind::kUsage || !diagnostic->example_inputs.empty())
    return status;
  const int missing = MissingInputs(diagnostic->message);
  if (missing == 0) return status;
  const std::vector<std::string> inputs = FindInputs(model, missing);
  for (const std::string& input : inputs) absl::StrAppend(&diagnostic->example_inputs, " --input ", input);
  if (inputs.empty())
    absl::StrAppend(&diagnostic->hint, "; usual ones: --input ", kImage, " (an image), --input ", kTokens, " (tokens)");
  return DiagnosticToStatus(*diagnostic);
}

}  // namespace cobra::client
