#include "frontend/ncnn/param_file.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"

namespace cobra::ncnn {
namespace {

constexpr absl::string_view kMagic = "7767517";
// The same number as the first four bytes of a binary file, least significant first.
constexpr absl::string_view kBinaryMagic("\xDD\x85\x76\x00", 4);
constexpr int kFirstArrayKey = -23300;
constexpr int kKeys = 32;  // ncnn's NCNN_MAX_PARAM_COUNT

bool LooksReal(absl::string_view word) { return word.find_first_of(".eE") != absl::string_view::npos; }

// Words of a line one after the other, without a list of all of them.
class Words {
 public:
  explicit Words(absl::string_view line) : rest_(line) {}
  // Empty at the end of the line.
  absl::string_view Next() {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    size_t end = 0;
    while (end < rest_.size() && !absl::ascii_isspace(static_cast<unsigned char>(rest_[end]))) ++end;
    const absl::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }

 private:
  absl::string_view rest_;
};

class Parser {
 public:
  Parser(absl::string_view text, const std::string& file, const NcnnLimits& limits)
      : text_(text), file_name_(file), limits_(limits) {}

  absl::StatusOr<ParamFile> Parse() {
    COBRA_RETURN_IF_ERROR(ReadHead());
    for (absl::string_view line; NextLine(&line);) {
      if (absl::StripAsciiWhitespace(line).empty()) continue;
      COBRA_RETURN_IF_ERROR(ReadLayer(line));
    }
    COBRA_RETURN_IF_ERROR(too_long_);
    if (static_cast<int64_t>(out_.layers.size()) != layers_) {
      return Error(absl::StrCat("the file has ", out_.layers.size(), " layers, line 2 says ", layers_),
                   "it may be cut off, or edited without its second line");
    }
    return std::move(out_);
  }

 private:
  absl::Status Error(absl::string_view message, absl::string_view hint = "") const {
    return ParamFileError(file_name_, line_, message, hint);
  }
  // Of a file in another form than the one that is read.
  absl::Status WrongFile(std::string message, std::string hint) const {
    return UserError(Diagnostic::Kind::kUsage, std::move(message), std::move(hint), {file_name_});
  }
  // pnnx keeps its own view of a PyTorch model under the same number in the first line.
  absl::Status IsOfPnnx() const {
    absl::string_view stem = file_name_;
    stem = stem.substr(stem.rfind('/') + 1);
    const std::string other =
        absl::ConsumeSuffix(&stem, ".pnnx.param") ? absl::StrCat(stem, ".ncnn.param") : "the .ncnn.param file";
    return WrongFile(
        "this is pnnx's own form (.pnnx.param), with layers of PyTorch; ncnn's form is the one that is read",
        absl::StrCat("give ", Quotable(other), ", which pnnx writes beside it"));
  }
  absl::Status LimitError(std::string message) const {
    return UserError(Diagnostic::Kind::kLimit, std::move(message), "", {file_name_, line_});
  }

  // False at the end, or at a line that is too long (too_long_).
  bool NextLine(absl::string_view* line) {
    if (at_ >= text_.size()) return false;
    ++line_;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    *line = text_.substr(at_, end - at_);
    at_ = end + 1;
    if (static_cast<int64_t>(line->size()) <= limits_.max_line_bytes) return true;
    too_long_ = LimitError(LimitMessage("a line of the file", line->size(), limits_.max_line_bytes, "bytes"));
    return false;
  }

  absl::Status ReadHead() {
    if (absl::StartsWith(text_, kBinaryMagic)) {
      return WrongFile("this is ncnn's binary form (.param.bin); the text form is the one that is read",
                       "give the .param file that it was made from (ncnn2mem keeps it; pnnx and onnx2ncnn write it)");
    }
    absl::string_view line;
    if (!NextLine(&line) || absl::StripAsciiWhitespace(line) != kMagic) {
      COBRA_RETURN_IF_ERROR(too_long_);
      return Error(absl::StrCat("this is not an ncnn .param file: its first line is \"",
                                Quotable(absl::StripAsciiWhitespace(line)), "\" instead of ", kMagic),
                   "files without that number come from ncnn of 2017; convert the network again");
    }
    if (!NextLine(&line)) line = "";
    COBRA_RETURN_IF_ERROR(too_long_);
    Words words(line);
    if (!absl::SimpleAtoi(words.Next(), &layers_) || !absl::SimpleAtoi(words.Next(), &blobs_) ||
        !words.Next().empty() || layers_ < 1 || blobs_ < 1) {
      return Error(absl::StrCat("\"", Quotable(line), "\": two numbers expected, those of the layers and blobs"),
                   "the file may be cut off, or edited: download or convert it again");
    }
    if (layers_ > limits_.max_layers) return LimitError(LimitMessage("", layers_, limits_.max_layers, "layers"));
    if (blobs_ > limits_.max_blobs) return LimitError(LimitMessage("", blobs_, limits_.max_blobs, "blobs"));
    return absl::OkStatus();
  }

  absl::Status ReadLayer(absl::string_view line) {
    if (static_cast<int64_t>(out_.layers.size()) >= layers_) {
      // ncnn stops here. A line that it leaves out is no matter only if nothing would be computed
      // there.
      if (Words(line).Next() == "Noop") return absl::OkStatus();
      return Error(absl::StrCat("line 2 says ", layers_, " layers, here is one more"));
    }
    Layer& layer = out_.layers.emplace_back();
    layer.line = line_;
    Words words(line);
    layer.type = std::string(words.Next());
    if (out_.layers.size() == 1 && absl::StartsWith(layer.type, "pnnx.")) return IsOfPnnx();
    layer.name = std::string(words.Next());
    int bottoms = 0, tops = 0;
    if (!absl::SimpleAtoi(words.Next(), &bottoms) || !absl::SimpleAtoi(words.Next(), &tops) || bottoms < 0 ||
        tops < 0) {
      return Error(absl::StrCat("\"", Quotable(absl::StripAsciiWhitespace(line)),
                                "\": a layer's type, name, number of inputs and number of outputs expected"),
                   "the file may be cut off, or edited: download or convert it again");
    }
    for (const absl::string_view text : {layer.type, layer.name}) {
      if (static_cast<int64_t>(text.size()) > limits_.max_name_bytes)
        return LimitError(LimitMessage("a name", text.size(), limits_.max_name_bytes, "bytes"));
    }
    COBRA_RETURN_IF_ERROR(ReadBlobs(bottoms, "input", &words, &layer.bottoms));
    for (const int bottom : layer.bottoms) {
      if (!written_.contains(bottom)) {
        return Error(absl::StrCat("layer ", Quotable(layer.name), " reads blob ", Quotable(out_.blobs[bottom]),
                                  ", which no earlier layer computes"));
      }
      if (!read_.insert(bottom).second) {
        return Error(
            absl::StrCat("layer ", Quotable(layer.name), " reads blob ", Quotable(out_.blobs[bottom]), " again"),
            "ncnn needs a Split layer there, whose outputs are read once each; ncnnoptimize and the converters write "
            "it");
      }
    }
    COBRA_RETURN_IF_ERROR(ReadBlobs(tops, "output", &words, &layer.tops));
    for (const int top : layer.tops) {
      if (!written_.insert(top).second) {
        return Error(absl::StrCat("layer ", Quotable(layer.name), " computes blob ", Quotable(out_.blobs[top]),
                                  ", which is there already"));
      }
    }
    for (absl::string_view word = words.Next(); !word.empty(); word = words.Next())
      COBRA_RETURN_IF_ERROR(ReadParam(word, &layer));
    return absl::OkStatus();
  }

  absl::Status ReadBlobs(int count, absl::string_view what, Words* words, std::vector<int>* out) {
    for (int i = 0; i < count; ++i) {
      const absl::string_view name = words->Next();
      if (name.empty() || name.find('=') == 1) {
        // A value in place of a name: the line has fewer blobs than it says.
        return Error(absl::StrCat("the layer says ", count, " ", what, "s, the line names ", i));
      }
      if (static_cast<int64_t>(name.size()) > limits_.max_name_bytes)
        return LimitError(LimitMessage("a blob's name", name.size(), limits_.max_name_bytes, "bytes"));
      const auto [entry, is_new] = numbers_.try_emplace(name, static_cast<int>(out_.blobs.size()));
      if (is_new) {
        if (static_cast<int64_t>(out_.blobs.size()) >= blobs_)
          return Error(absl::StrCat("line 2 says ", blobs_, " blobs, ", Quotable(name), " is one more"));
        out_.blobs.emplace_back(name);
      }
      out->push_back(entry->second);
    }
    return absl::OkStatus();
  }

  absl::Status ReadParam(absl::string_view word, Layer* layer) {
    const size_t equals = word.find('=');
    int key = 0;
    if (equals == absl::string_view::npos || !absl::SimpleAtoi(word.substr(0, equals), &key))
      return Error(absl::StrCat("\"", Quotable(word), "\": KEY=VALUE with a number for the key expected"));
    const bool is_array = key <= kFirstArrayKey;
    if (is_array) key = kFirstArrayKey - key;
    if (key < 0 || key >= kKeys)
      return Error(absl::StrCat("\"", Quotable(word), "\": keys are 0 to ", kKeys - 1, ", of lists -23300 to -23331"));
    if (layer->Find(key) != nullptr) return Error(absl::StrCat("\"", Quotable(word), "\": this key is there already"));
    Param param;
    param.text = std::string(word.substr(equals + 1));
    absl::string_view value = param.text;
    if (is_array) {
      COBRA_RETURN_IF_ERROR(ReadList(word, value, &param));
    } else if (absl::StrContains(value, ',') && value[0] != '"') {
      COBRA_RETURN_IF_ERROR(ReadNumbers(word, absl::StripSuffix(value, ","), &param));
      param.kind = param.kind == Param::Kind::kReal ? Param::Kind::kReals : Param::Kind::kInts;
    } else if (!ReadNumber(value, &param)) {
      param.kind = Param::Kind::kText;
      param.numbers.clear();
    }
    layer->params.emplace_back(key, std::move(param));
    return absl::OkStatus();
  }

  // "3,1,2,3": how many, then the numbers.
  absl::Status ReadList(absl::string_view word, absl::string_view value, Param* param) {
    const size_t comma = std::min(value.find(','), value.size());
    int64_t count = 0;
    if (!absl::SimpleAtoi(value.substr(0, comma), &count) || count < 0)
      return Error(absl::StrCat("\"", Quotable(word), "\": a list begins with the number of its items"));
    value.remove_prefix(std::min(comma + 1, value.size()));
    if (!value.empty()) COBRA_RETURN_IF_ERROR(ReadNumbers(word, value, param));
    if (static_cast<int64_t>(param->numbers.size()) != count)
      return Error(absl::StrCat("\"", Quotable(word), "\": a list of ", count, " items with ", param->numbers.size()));
    param->kind = param->kind == Param::Kind::kReal ? Param::Kind::kReals : Param::Kind::kInts;
    return absl::OkStatus();
  }

  // Leaves kReal in `param` if one of the numbers is.
  absl::Status ReadNumbers(absl::string_view word, absl::string_view list, Param* param) {
    bool real = false;
    for (const absl::string_view item : absl::StrSplit(list, ',')) {
      if (++values_ > limits_.max_values)
        return LimitError(LimitMessage("lists of numbers", limits_.max_values, "numbers"));
      if (!ReadNumber(item, param)) return Error(absl::StrCat("\"", Quotable(word), "\": not a list of numbers"));
      real = real || param->kind == Param::Kind::kReal;
    }
    param->kind = real ? Param::Kind::kReal : Param::Kind::kInt;
    return absl::OkStatus();
  }

  // Appends a number: an integer of 32 bits, or a finite real.
  static bool ReadNumber(absl::string_view word, Param* param) {
    double number = 0;
    int32_t integer = 0;
    if (word.empty() || !(absl::ascii_isdigit(static_cast<unsigned char>(word.back())) || word.back() == '.'))
      return false;  // "inf", "nan"
    const bool real = LooksReal(word);
    if (real ? !absl::SimpleAtod(word, &number) : !absl::SimpleAtoi(word, &integer)) return false;
    if (real &&
        !(number >= -std::numeric_limits<float>::max() * 1.01 && number <= std::numeric_limits<float>::max() * 1.01)) {
      return false;
    }
    param->kind = real ? Param::Kind::kReal : Param::Kind::kInt;
    param->numbers.push_back(real ? number : integer);
    return true;
  }

  const absl::string_view text_;
  const std::string& file_name_;
  const NcnnLimits& limits_;
  size_t at_ = 0;
  int line_ = 0;
  absl::Status too_long_;
  int64_t layers_ = 0, blobs_ = 0;  // as the file says
  int64_t values_ = 0;              // of lists, so far
  ParamFile out_;
  absl::flat_hash_map<std::string, int> numbers_;  // of blobs, by name
  absl::flat_hash_set<int> written_, read_;        // blobs that a layer computes, that one reads
};

}  // namespace

std::vector<double> Param::AsReals() const {
  if (kind == Kind::kReal || kind == Kind::kReals) return numbers;
  std::vector<double> reals;
  for (const double number : numbers) {
    const auto bits = static_cast<int32_t>(number);
    float real;
    std::memcpy(&real, &bits, sizeof(real));
    reals.push_back(static_cast<double>(real));
  }
  return reals;
}

const Param* Layer::Find(int key) const {
  for (const auto& [k, param] : params) {
    if (k == key) return &param;
  }
  return nullptr;
}

int64_t Layer::Int(int key, int64_t fallback) const {
  const Param* param = Find(key);
  return param == nullptr ? fallback : static_cast<int64_t>(param->numbers[0]);
}

double Layer::Real(int key, double fallback) const {
  const Param* param = Find(key);
  return param == nullptr ? fallback : param->AsReals()[0];
}

std::vector<int64_t> Layer::Ints(int key) const {
  const Param* param = Find(key);
  if (param == nullptr) return {};
  return {param->numbers.begin(), param->numbers.end()};
}

std::vector<double> Layer::Reals(int key) const {
  const Param* param = Find(key);
  return param == nullptr ? std::vector<double>() : param->AsReals();
}

absl::StatusOr<ParamFile> ParseParamFile(absl::string_view text, const std::string& file, const NcnnLimits& limits) {
  return Parser(text, file, limits).Parse();
}

absl::Status ParamFileError(const std::string& file, int line, absl::string_view message, absl::string_view hint) {
  return UserError(Diagnostic::Kind::kModelError, std::string(message), std::string(hint), {file, line});
}

std::string Quotable(absl::string_view text) {
  std::string out(text.substr(0, 200));
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 32 || c == 127; }, '?');
  return out;
}

}  // namespace cobra::ncnn
