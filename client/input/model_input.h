// The model that the user named on the command line, to be read here or by the server
// (PredictRequest.model).
#ifndef COBRA_CLIENT_INPUT_MODEL_INPUT_H_
#define COBRA_CLIENT_INPUT_MODEL_INPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "client/input/local_imports.h"
#include "client/input/model_arguments.h"
#include "cobra/v1/cobra.pb.h"
#include "frontend/model_source.h"
#include "frontend/python/runtime/interpreter/data_files.h"
#include "graph/graph.h"

namespace cobra::client {

class ModelInput {
 public:
  // FILE inside one of the libraries is loaded as a module of that library. Another FILE is loaded
  // with its local imports (local_imports.h). DIR is a bundle of all *.py files below it, without
  // hidden folders; it is loaded as a package if its file imports like a module of that package.
  // The entry is evaluated in the module named by the longest dotted prefix of the entry that is a
  // file of the bundle ("net.blocks.Net(3)": net/blocks.py), or else in __init__.py, model.py, or
  // the only file. FILE.onnx is an ONNX network, FILE.tflite a TensorFlow Lite one, FILE.param one
  // of ncnn, FILE.json a graph. Errors are Diagnostics.
  static absl::StatusOr<ModelInput> Load(const ModelArguments& arguments, const Limits& limits = {});

  // Whether it is a program, which may be another network for another version of PyTorch.
  bool is_program() const { return std::holds_alternative<python::SourceRequest>(source_); }
  void set_torch_version(const std::string& version);
  // The entry of a program: as given, or that of the file's only model.
  std::string entry() const;
  // Reads the model in this process.
  absl::StatusOr<graph::Graph> Read(const Limits& limits = {}) const;
  // Fills the request for a server that reads the model. The request gets the bundle's text; or,
  // for a library's file, its path below the library; or the bytes of another format's file. A
  // usage Diagnostic for a graph file.
  absl::Status FillModel(v1::PredictRequest* request) const;
  // Replaces paths of the bundle by those that the user typed, in the diagnostic of `status` too.
  absl::Status WithUserPaths(const absl::Status& status) const;
  // The file of a node's origin, as the user typed it; and its text, if this machine has it.
  std::string UserPath(const std::string& file) const;
  std::optional<std::string> SourceText(const std::string& file) const;
  // The folders that its own files are in, of a package all of them.
  std::vector<std::string> Folders() const;
  // The model's own files: what it is read from, with the imports from beside it, as the user could
  // type them.
  std::vector<std::string> Files() const;
  // Whether both are programs that are wholly made of the same text, so that nothing has changed
  // between them.
  bool HasSameText(const ModelInput& other) const;

 private:
  // Each sets source_ for its form, from what Load has put into program().
  absl::Status LoadArchitecture(const ModelArguments& arguments);
  absl::Status LoadOnnx(const ModelArguments& arguments, const Limits& limits);
  absl::Status LoadTflite(const ModelArguments& arguments, const Limits& limits);
  absl::Status LoadNcnn(const ModelArguments& arguments, const Limits& limits);
  absl::Status LoadGraph(const ModelArguments& arguments, const Limits& limits);
  absl::Status LoadPython(const ModelArguments& arguments, const Limits& limits);

  // A part of LoadPython.
  absl::Status LoadFile(const ModelArguments& arguments, const Limits& limits);
  absl::Status LoadDirectory(const ModelArguments& arguments, const Limits& limits);
  // A part of LoadDirectory: chooses the program's file among those of the bundle.
  absl::Status ChooseFile(const ModelArguments& arguments);
  // Loads the file `path` at place_, as a module of its package or as a script.
  absl::Status LoadLocatedFile(const std::string& path, const std::string& text, const Limits& limits);
  // Without --entry: the file's only model, or an error with the possible entries.
  absl::Status ChooseEntry(const Limits& limits);

  // `path` is that of an ONNX, a TensorFlow Lite or an ncnn file.
  void NameModelFile(const std::string& path);
  // The program for another machine: with paths of the bundle or of a library only.
  absl::StatusOr<python::SourceRequest> Portable(python::SourceRequest program) const;
  // What the program may read in addition to its code, on this machine.
  python::DataFolder Data() const;
  // Adds what the program reads beside its code, and what is in the folders that it lists.
  absl::Status AddData(const python::SourceRequest& local, python::SourceRequest* portable) const;
  // "timm was not found (imported at net.py:4) ...", with the file as the user typed it.
  std::string WithUserPath(const std::string& message) const;
  // Adds a hint which --library contains an import that this process did not find.
  absl::Status WithLibraryHint(const absl::Status& status) const;
  // Adds which models a folder has, if the entry names none of its file.
  absl::Status WithEntryHint(const absl::Status& status) const;

  // REQUIRES: the source is Python, which is the case before another form is loaded.
  python::SourceRequest& program() { return std::get<python::SourceRequest>(source_); }

  frontend::ModelSource source_;
  std::vector<std::string> library_roots_;
  std::string path_;                  // as the user typed it
  std::string library_file_;          // path below a library root, if the program's file is one of a library
  std::string model_file_;            // name of an ONNX or a TensorFlow Lite file, as messages call it
  std::string user_prefix_;           // before a bundle path or model_file_: what the user typed
  std::vector<std::string> classes_;  // of a DIR: model_classes.h
  ModelLocation place_;               // of a FILE outside of all libraries
  bool has_torch_version_ = false;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_MODEL_INPUT_H_
