#include "client/model_input.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "graph/json.h"

namespace cobra {
namespace {

namespace fs = std::filesystem;

absl::Status Error(Diagnostic::Kind kind, std::string message, std::string hint = "") {
  Diagnostic d;
  d.kind = kind;
  d.message = std::move(message);
  d.hint = std::move(hint);
  return DiagnosticToStatus(d);
}

// A file that cannot be opened is the user's mistake; one that is too large has met a limit.
absl::StatusOr<std::string> ReadUserFile(const std::string& path, int64_t max_bytes) {
  absl::StatusOr<std::string> text = ReadFile(path, max_bytes);
  if (text.ok()) return text;
  const bool limit = absl::IsResourceExhausted(text.status());
  return Error(limit ? Diagnostic::Kind::kLimit : Diagnostic::Kind::kUsage, std::string(text.status().message()));
}

// The path of `file` below `root`, both as the file system knows them; nothing if it is not there.
std::optional<std::string> PathBelow(const std::string& file, const std::string& root) {
  std::error_code error;
  const fs::path real_file = fs::weakly_canonical(file, error);
  const fs::path real_root = fs::weakly_canonical(root, error);
  const fs::path relative = real_file.lexically_relative(real_root);
  if (error || relative.empty() || *relative.begin() == ".." || relative == ".") return std::nullopt;
  return relative.string();
}

// "net.blocks.Net(3)" -> the longest of net/blocks.py, net/blocks/__init__.py, net.py ... that the bundle has, and the
// rest of the expression.
std::optional<std::pair<std::string, std::string>> SplitEntry(const std::string& entry,
                                                              const std::map<std::string, std::string>& bundle) {
  std::optional<std::pair<std::string, std::string>> best;
  std::string path;
  for (size_t i = 0; i < entry.size(); ++i) {
    const char c = entry[i];
    if (c == '.') {
      for (const std::string& candidate : {absl::StrCat(path, ".py"), absl::StrCat(path, "/__init__.py")}) {
        if (bundle.count(candidate) > 0) best = {candidate, entry.substr(i + 1)};
      }
      path += '/';
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      path += c;
    } else {
      break;
    }
  }
  return best;
}

bool IsHidden(absl::string_view path) { return absl::StartsWith(path, ".") || absl::StrContains(path, "/."); }

}  // namespace

absl::StatusOr<ModelInput> ModelInput::Load(const ModelArguments& arguments, const InputLimits& limits) {
  ModelInput input;
  SourceRequest& request = input.request_;
  request.entry = arguments.entry;
  request.method = arguments.method;
  request.inputs = arguments.inputs;
  if (!arguments.torch_version.empty()) request.torch_version = arguments.torch_version;
  for (const std::string& library : arguments.libraries) {
    if (!IsDirectory(library))
      return Error(Diagnostic::Kind::kUsage, absl::StrCat("--library ", library, ": no such directory"));
    request.library_roots.push_back(fs::path(library).lexically_normal().string());
    std::string& root = request.library_roots.back();
    while (root.size() > 1 && root.back() == '/') root.pop_back();
  }
  for (const std::string& argument : arguments.arguments) {
    const size_t equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Error(Diagnostic::Kind::kUsage, absl::StrCat("--arg ", argument, ": is not NAME=EXPRESSION"));
    }
    request.arguments.emplace_back(argument.substr(0, equals), argument.substr(equals + 1));
  }
  if (!FileExists(arguments.path))
    return Error(Diagnostic::Kind::kUsage, absl::StrCat(arguments.path, ": no such file or directory"));
  for (const char* suffix : {".onnx", ".tflite"}) {
    if (!absl::EndsWith(arguments.path, suffix)) continue;
    return Error(Diagnostic::Kind::kUnsupported,
                 absl::StrCat(arguments.path, ": ", suffix, " files cannot be read by this version"),
                 "give the PyTorch source that it was exported from");
  }
  if (absl::EndsWith(arguments.path, ".json")) {
    COBRA_ASSIGN_OR_RETURN(input.graph_json_, ReadUserFile(arguments.path, int64_t{1} << 30));
    return input;
  }
  if (arguments.entry.empty()) {
    return Error(Diagnostic::Kind::kUsage, "--entry: is missing",
                 "an expression whose value is the model: --entry 'resnet50()'");
  }
  if (IsDirectory(arguments.path)) {
    COBRA_RETURN_IF_ERROR(input.LoadDirectory(arguments, limits));
  } else {
    COBRA_RETURN_IF_ERROR(input.LoadFile(arguments, limits));
  }
  return input;
}

absl::Status ModelInput::LoadFile(const ModelArguments& arguments, const InputLimits& limits) {
  for (const std::string& root : request_.library_roots) {
    if (std::optional<std::string> below = PathBelow(arguments.path, root)) {
      library_file_ = *below;
      request_.file = absl::StrCat(root, "/", *below);
      return absl::OkStatus();
    }
  }
  COBRA_ASSIGN_OR_RETURN(std::string text, ReadUserFile(arguments.path, limits.max_file_bytes));
  const std::string name = fs::path(arguments.path).filename().string();
  user_prefix_ = arguments.path.substr(0, arguments.path.size() - name.size());
  request_.file = name;
  request_.bundle.emplace(name, std::move(text));
  return absl::OkStatus();
}

absl::Status ModelInput::LoadDirectory(const ModelArguments& arguments, const InputLimits& limits) {
  user_prefix_ = absl::EndsWith(arguments.path, "/") ? arguments.path : absl::StrCat(arguments.path, "/");
  // A package of a library is the module that it is there.
  for (const std::string& root : request_.library_roots) {
    std::optional<std::string> below = PathBelow(absl::StrCat(user_prefix_, "__init__.py"), root);
    if (!below.has_value() || !FileExists(absl::StrCat(root, "/", *below))) continue;
    library_file_ = *below;
    request_.file = absl::StrCat(root, "/", *below);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> files = ListFiles(arguments.path, ".py");
  if (!files.ok()) return Error(Diagnostic::Kind::kUsage, std::string(files.status().message()));
  int64_t total_bytes = 0;
  for (const std::string& file : *files) {
    if (IsHidden(file)) continue;
    COBRA_ASSIGN_OR_RETURN(std::string text, ReadUserFile(absl::StrCat(user_prefix_, file), limits.max_file_bytes));
    total_bytes += static_cast<int64_t>(text.size());
    request_.bundle.emplace(file, std::move(text));
    if (total_bytes > limits.max_bundle_bytes || static_cast<int64_t>(request_.bundle.size()) > limits.max_files) {
      return Error(Diagnostic::Kind::kLimit,
                   absl::StrCat(arguments.path, ": its Python files are more than the limits of ", limits.max_files,
                                " files and ", limits.max_bundle_bytes, " bytes"),
                   "give the folder of the model alone, and the rest as --library DIR");
    }
  }
  if (auto split = SplitEntry(arguments.entry, request_.bundle)) {
    request_.file = split->first;
    request_.entry = split->second;
    return absl::OkStatus();
  }
  for (const char* name : {"__init__.py", "model.py"}) {
    if (request_.bundle.count(name) == 0) continue;
    request_.file = name;
    return absl::OkStatus();
  }
  if (request_.bundle.size() == 1) {
    request_.file = request_.bundle.begin()->first;
    return absl::OkStatus();
  }
  return Error(Diagnostic::Kind::kUsage,
               absl::StrCat("--entry ", arguments.entry, ": which of the ", request_.bundle.size(), " Python files of ",
                            arguments.path, " has it?"),
               "write the module first: --entry 'package.module.Net()'");
}

absl::StatusOr<Graph> ModelInput::Read(const python::Limits& limits) const {
  absl::StatusOr<Graph> graph = graph_json_.empty() ? ReadPythonModel(request_, limits) : GraphFromJson(graph_json_);
  if (!graph.ok()) return WithUserPaths(graph.status());
  return graph;
}

absl::Status ModelInput::FillSource(v1::SourceModel* source) const {
  if (!graph_json_.empty())
    return Error(Diagnostic::Kind::kUsage, "--send source: the model is a graph file", "leave --send out");
  for (const auto& [path, text] : request_.bundle) {
    v1::SourceFile* file = source->add_files();
    file->set_path(path);
    file->set_text(text);
  }
  source->set_file(library_file_.empty() ? request_.file : library_file_);
  source->set_entry(request_.entry);
  source->set_method(request_.method);
  for (const std::string& input : request_.inputs) source->add_inputs(input);
  for (const auto& [name, expression] : request_.arguments) {
    v1::SourceArgument* argument = source->add_arguments();
    argument->set_name(name);
    argument->set_expression(expression);
  }
  source->set_torch_version(request_.torch_version);
  return absl::OkStatus();
}

absl::Status ModelInput::WithUserPaths(const absl::Status& status) const {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value()) return status;
  const auto prefix = [this](SourcePosition* position) {
    if (request_.bundle.count(position->file) > 0) position->file = absl::StrCat(user_prefix_, position->file);
  };
  prefix(&diagnostic->position);
  for (DiagnosticFrame& frame : diagnostic->frames) prefix(&frame.position);
  return DiagnosticToStatus(*diagnostic);
}

}  // namespace cobra
