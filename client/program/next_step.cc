#include "client/program/next_step.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/text/shell_word.h"
#include "base/text/similar_words.h"
#include "base/user_error.h"
#include "client/input/input_errors.h"

namespace cobra::client {
namespace {

// "1x3x224x224", "3,224,224:int64"
bool IsShape(absl::string_view word) {
  word = word.substr(0, word.find(':'));
  return absl::StrContains(word, "x") && !word.empty() && absl::ascii_isdigit(word[0]) &&
         word.find_first_not_of("0123456789x") == absl::string_view::npos;
}

// Names that other programs have for what is written in another way here.
struct OtherName {
  absl::string_view flags;  // between blanks
  absl::string_view hint;
};
constexpr OtherName kOtherNames[] = {
    {" --device --gpu --hardware --platform --runtime --backend --compile ",
     "the device and its runtime are a target: --target NAME; cobra-client targets lists them"},
    {" --batch --batch-size --bs -b ",
     "the batch is the first size of --input: 8x3x224x224; cobra-client sweep asks about several"},
    {" --precision --dtype --fp16 --half --bf16 --amp --int8 ",
     "the precision is that of the target: --target NAME (cobra-client targets --precision float16 lists some); that "
     "of an input follows its shape: --input 1x3x224x224:float16"},
    {" --shape --shapes --input-shape --input-size --size --imgsz --img-size --image-size ",
     "the shape of an input is --input 1x3x224x224"},
    {" --model --file --path ", "the model's file needs no flag: cobra-client predict net.py"},
    {" --class --cls --module --model-name ", "which model of a file is --entry 'Net()'"},
    {" --weights --checkpoint --ckpt --pretrained ", "trained weights are not read: a latency does not need them"},
    {" --json --csv --markdown ", "the form of the output is --format json"},
    {" --output -o ", "a file for the output is --out FILE, where the command writes one; otherwise: > FILE"},
    {" --host --port --address --url ", "the server is --server HOST:PORT"}};

// The hint to "--device: cobra-client predict has no such flag"; "" if nothing is known of that
// name.
std::string WordedHere(absl::string_view message) {
  const size_t colon = message.find(": ");
  if (colon == absl::string_view::npos || !absl::EndsWith(message, "has no such flag")) return "";
  const std::string flag = absl::StrCat(" ", message.substr(0, std::min(colon, message.find('='))), " ");
  for (const OtherName& other : kOtherNames) {
    if (absl::StrContains(other.flags, flag)) return std::string(other.hint);
  }
  return "";
}

std::string Joined(const std::vector<std::string>& words) {
  std::string line = "cobra-client";
  for (const std::string& word : words) absl::StrAppend(&line, " ", ShellWord(word));
  return line;
}

// The whole command that was probably meant; empty if the words do not tell.
std::string CommandMeant(absl::string_view message, std::vector<std::string> words) {
  if (words.empty()) return "cobra-client predict net.py --input 1x3x224x224";
  if (words[0] == "help")
    return words.size() > 1 ? absl::StrCat("cobra-client ", words[1], " --help") : "cobra-client --help";
  if (words[0] == "version") return "cobra-client --version";
  if (IsModelFile(words[0]) || (FileExists(words[0]) && !absl::StartsWith(words[0], "-"))) {
    words.insert(words.begin(), "predict");
    return Joined(words);
  }
  constexpr absl::string_view kUnexpected = ": unexpected argument";
  if (message.size() <= kUnexpected.size() || message.substr(message.size() - kUnexpected.size()) != kUnexpected)
    return "";
  const std::string word(message.substr(0, message.size() - kUnexpected.size()));
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) return "";
  if (IsShape(word)) {
    words.insert(at, "--input");
    return Joined(words);
  }
  if (at - words.begin() < 2 || *(at - 2) != "--target") return "";
  *(at - 1) = absl::StrCat(absl::StripSuffix(*(at - 1), ","), ",", word);  // "--target a b"
  words.erase(at);
  return Joined(words);
}

}  // namespace

absl::Status WithNextStep(const absl::Status& status, const std::vector<std::string>& words) {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value() || diagnostic->kind != Diagnostic::Kind::kUsage) return status;
  if (const std::string said = WordedHere(diagnostic->message); !said.empty()) {
    diagnostic->hint = said;
    return DiagnosticToStatus(*diagnostic);
  }
  const std::string meant = CommandMeant(diagnostic->message, words);
  if (meant.empty()) return status;
  diagnostic->hint =
      words.empty() ? absl::StrCat(diagnostic->hint, "; for example: ", meant) : absl::StrCat("did you mean: ", meant);
  return DiagnosticToStatus(*diagnostic);
}

}  // namespace cobra::client
