#include "client/input/input_errors.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/text/similar_words.h"
#include "base/user_error.h"
#include "frontend/python/syntax/python_version.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

std::string FirstOf(const std::vector<std::string>& values) { return values.empty() ? "" : values.front(); }

struct OtherFile {
  absl::string_view ending;
  absl::string_view what;  // after the file's name
  absl::string_view hint;
};

constexpr absl::string_view kWeightsHint =
    "give the .py file that defines the model (for ncnn the .param file), or export the model to ONNX "
    "(torch.onnx.export)";
constexpr absl::string_view kConvertHint =
    "convert it to ONNX (tf2onnx) or to TensorFlow Lite (tf.lite.TFLiteConverter)";

// Files that people have of a model, and that are none of the forms.
constexpr OtherFile kOtherFiles[] = {
    {".pt", "holds weights, not the program", kWeightsHint},
    {".pth", "holds weights, not the program", kWeightsHint},
    {".bin", "holds weights, not the program", kWeightsHint},
    {".ckpt", "holds weights, not the program", kWeightsHint},
    {".safetensors", "holds weights, not the program", kWeightsHint},
    {".pt2", "is a program that torch.export saved", kWeightsHint},
    {".ipynb", "is a notebook", "save it as a .py file (jupyter nbconvert --to script), with only the model"},
    {".pb", "is a TensorFlow graph", kConvertHint},
    {".h5", "is a Keras model", kConvertHint},
    {".keras", "is a Keras model", kConvertHint},
    {".caffemodel", "is a Caffe model", "convert it to ncnn's .param (caffe2ncnn) or to ONNX"},
    {".prototxt", "is a Caffe model", "convert it to ncnn's .param (caffe2ncnn) or to ONNX"},
    {".mlmodel", "is a Core ML model", "give the model that it was converted from"},
};

bool IsName(absl::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-'; });
}

}  // namespace

absl::Status CheckOptions(const ModelArguments& arguments, const FileForm& form, absl::string_view model) {
  struct Option {
    absl::string_view name;
    std::string value;  // empty: not given
    bool taken = false;
  };
  const Option options[] = {
      {"--input", FirstOf(arguments.inputs), form.takes_inputs},
      {"--arg", FirstOf(arguments.arguments), form.takes_arguments},
      {"--entry", arguments.entry},
      {"--method", arguments.method == ModelArguments().method ? "" : arguments.method},
      {"--library", FirstOf(arguments.libraries)},
      {"--torch-version", arguments.torch_version},
      {"--python-version", python::PythonVersionText()},
      {"--cached-tokens", arguments.cached_tokens == 0 ? "" : absl::StrCat(arguments.cached_tokens)},
      {"--mode", arguments.training ? "train" : ""},
  };
  for (const Option& option : options) {
    if (option.value.empty() || option.taken) continue;
    return UsageError(
        absl::StrCat(option.name, " ", option.value.substr(0, 100), ": ", model, " is ", form.name, ", ", form.why),
        absl::StrCat("leave ", option.name, " out", form.otherwise));
  }
  return absl::OkStatus();
}

absl::Status NotAModel(const std::string& path) {
  const std::string lower = absl::AsciiStrToLower(path);
  for (const OtherFile& other : kOtherFiles) {
    if (absl::EndsWith(lower, other.ending))
      return UsageError(absl::StrCat(path, ": ", other.what), std::string(other.hint));
  }
  return UsageError(absl::StrCat(path, ": is not a .py, .onnx, .tflite, .param or .json file"),
                    "rename it: the extension decides how a file is read");
}

absl::StatusOr<std::vector<std::string>> LibraryRoots(const std::vector<std::string>& libraries) {
  std::vector<std::string> roots;
  for (const std::string& library : libraries) {
    if (!IsDirectory(library)) {
      return UsageError(absl::StrCat("--library ", library, ": no such directory"),
                        "give the folder that contains the package, such as dist-packages for torchvision");
    }
    std::string& root = roots.emplace_back(fs::path(library).lexically_normal().string());
    while (root.size() > 1 && root.back() == '/') root.pop_back();
  }
  return roots;
}

bool IsModelFile(const std::string& path) {
  for (const char* ending : {".py", ".onnx", ".tflite", ".param"}) {
    if (absl::EndsWith(path, ending)) return true;
  }
  return false;
}

absl::Status NoSuchModel(const std::string& path) {
  std::string hint;
  const fs::path typed(path);
  std::vector<std::string> names;
  std::error_code error;
  const fs::path folder = typed.has_parent_path() ? typed.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (IsModelFile(name) || entry.is_directory(error)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  const std::string nearest = NearestWord(typed.filename().string(), names);
  if (!nearest.empty()) {
    hint = absl::StrCat("did you mean ", typed.has_parent_path() ? (folder / nearest).string() : nearest, "?");
  } else if (IsName(path)) {
    hint = "give the file that defines the model: net.py, net.onnx, net.tflite, net.param; cobra-client predict --help";
  }
  return UsageError(absl::StrCat(path, ": no such file or directory"), std::move(hint));
}

absl::Status CheckIsFile(const std::string& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::regular || type == fs::file_type::directory || type == fs::file_type::not_found)
    return absl::OkStatus();
  return UsageError(absl::StrCat(path, ": is ",
                                 type == fs::file_type::fifo     ? "a pipe"
                                 : type == fs::file_type::socket ? "a socket"
                                                                 : "a device",
                                 ", not a file"),
                    "it is found by its name and may be read several times: write it into a file first");
}

}  // namespace cobra::client
