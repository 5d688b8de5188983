// What the user named on the command line, as a model to read: here, or by the server (PredictRequest.model).
#ifndef COBRA_CLIENT_MODEL_INPUT_H_
#define COBRA_CLIENT_MODEL_INPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/neighbours.h"
#include "cobra/v1/cobra.pb.h"
#include "frontend/nas/reader.h"
#include "frontend/onnx/reader.h"
#include "frontend/python/reader.h"
#include "frontend/tflite/reader.h"
#include "graph/graph.h"

namespace cobra::client {

struct ModelArguments {
  std::string path;          // FILE_OR_DIR, or
  std::string architecture;  // SPACE:STRING
  std::string entry;
  std::string method = "forward";
  std::vector<std::string> inputs;
  std::vector<std::string> arguments;  // "name=EXPR"
  std::vector<std::string> libraries;
  double limits_times = 1;    // reading may cost so many times what it usually may
  std::string torch_version;  // empty: that of the LibTorch we are built with
};

class ModelInput {
 public:
  // FILE inside one of the libraries: the module that it is there. Another FILE: with what it imports from where it
  // lies (neighbours.h). DIR: a bundle of all *.py files below it (hidden folders left out), or the package that it is,
  // if its file imports as one of that does (neighbours.h); the module in whose name space the entry is evaluated is
  // the longest dotted prefix of the entry that is a file of the bundle ("net.blocks.Net(3)": net/blocks.py), else
  // __init__.py, model.py, or the only file. FILE.onnx: an ONNX network. FILE.tflite: a TensorFlow Lite one. FILE.json:
  // a graph. An architecture stands for itself. Errors are Diagnostics.
  static absl::StatusOr<ModelInput> Load(const ModelArguments& arguments, const Limits& limits = {});

  // Reads the model in this process.
  absl::StatusOr<graph::Graph> Read(const Limits& limits = {}) const;
  // For a server that is to read it: the bundle's text, or, for a library's file, its path below the library; another
  // format's file as it is. A usage Diagnostic for a graph file.
  absl::Status FillModel(v1::PredictRequest* request) const;
  // Paths of the bundle become those that the user typed, in the diagnostic of `status` too.
  absl::Status WithUserPaths(const absl::Status& status) const;
  // A file that a node's origin names, as the user typed it; and its text, if this machine has it.
  std::string UserPath(const std::string& file) const;
  std::optional<std::string> SourceText(const std::string& file) const;

 private:
  // The form of the model: one reader each. A new one: a case in Load, Read and FillModel.
  enum class Form { kSource, kGraph, kOnnx, kTflite, kArchitecture };

  absl::Status LoadArchitecture(const ModelArguments& arguments);
  absl::Status LoadOnnx(const ModelArguments& arguments, const Limits& limits);
  absl::Status LoadTflite(const ModelArguments& arguments, const Limits& limits);
  absl::Status LoadFile(const ModelArguments& arguments, const Limits& limits);
  absl::Status LoadDirectory(const ModelArguments& arguments, const Limits& limits);
  // Of LoadDirectory: request_.file, among the bundle's.
  absl::Status ChooseFile(const ModelArguments& arguments);
  // The file `path`, which stands at place_, as the package's or the script that it is.
  absl::Status LoadPlace(const std::string& path, const std::string& text, const Limits& limits);
  // --entry is missing, and what it could be.
  absl::Status NoEntry(const Limits& limits) const;

  absl::Status FillSource(v1::SourceModel* source) const;
  // "timm was not found (imported at net.py:4) ...", with the file as the user typed it.
  std::string WithUserPath(const std::string& message) const;
  // What --library would have helped, for an import that this process did not find.
  absl::Status WithLibraryHint(const absl::Status& status) const;

  Form form_ = Form::kSource;
  python::SourceRequest request_;
  onnx::OnnxRequest onnx_;
  tflite::TfliteRequest tflite_;
  nas::ArchitectureRequest architecture_;
  std::string path_;          // as the user typed it
  std::string library_file_;  // path below a library root, if `request_.file` is one of a library
  std::string user_prefix_;   // before a bundle path: what the user typed
  Place place_;               // of a FILE that is in no library
  std::string bytes_;         // of a graph's, an ONNX or a TensorFlow Lite file
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_MODEL_INPUT_H_
