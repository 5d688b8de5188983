#include "client/model_input.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "client/library_hint.h"
#include "graph/json.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

// A file that cannot be opened is the user's mistake; one that is too large has met a limit.
absl::StatusOr<std::string> ReadUserFile(const std::string& path, int64_t max_bytes) {
  absl::StatusOr<std::string> text = ReadFile(path, max_bytes);
  if (text.ok()) return text;
  const bool limit = absl::IsResourceExhausted(text.status());
  return UserError(limit ? Diagnostic::Kind::kLimit : Diagnostic::Kind::kUsage, std::string(text.status().message()));
}

// The path of `file` below `root`, both as the file system knows them; nothing if it is not there. `itself`: "." of the
// root is below it.
std::optional<std::string> PathBelow(const std::string& file, const std::string& root, bool itself = false) {
  std::error_code error;
  const fs::path real_file = fs::weakly_canonical(file, error);
  const fs::path real_root = fs::weakly_canonical(root, error);
  const fs::path relative = real_file.lexically_relative(real_root);
  if (error || relative.empty() || *relative.begin() == ".." || (relative == "." && !itself)) return std::nullopt;
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

absl::StatusOr<ModelInput> ModelInput::Load(const ModelArguments& arguments, const Limits& limits) {
  ModelInput input;
  input.path_ = arguments.path;
  python::SourceRequest& request = input.request_;
  request.entry = arguments.entry;
  request.method = arguments.method;
  request.inputs = arguments.inputs;
  if (!arguments.torch_version.empty()) request.torch_version = arguments.torch_version;
  for (const std::string& library : arguments.libraries) {
    if (!IsDirectory(library))
      return UserError(Diagnostic::Kind::kUsage, absl::StrCat("--library ", library, ": no such directory"));
    request.library_roots.push_back(fs::path(library).lexically_normal().string());
    std::string& root = request.library_roots.back();
    while (root.size() > 1 && root.back() == '/') root.pop_back();
  }
  for (const std::string& argument : arguments.arguments) {
    const size_t equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return UserError(Diagnostic::Kind::kUsage, absl::StrCat("--arg ", argument, ": is not NAME=EXPRESSION"));
    }
    request.arguments.emplace_back(argument.substr(0, equals), argument.substr(equals + 1));
  }
  if (!arguments.architecture.empty()) {
    COBRA_RETURN_IF_ERROR(input.LoadArchitecture(arguments));
    return input;
  }
  if (arguments.path.empty()) {
    return UserError(
        Diagnostic::Kind::kUsage, "no model is given",
        absl::StrCat("a file, a directory, or --arch SPACE:STRING with a space of ", nas::ArchitectureSpaces()));
  }
  if (!FileExists(arguments.path))
    return UserError(Diagnostic::Kind::kUsage, absl::StrCat(arguments.path, ": no such file or directory"));
  if (absl::EndsWith(arguments.path, ".onnx")) {
    COBRA_RETURN_IF_ERROR(input.LoadOnnx(arguments, limits));
    return input;
  }
  if (absl::EndsWith(arguments.path, ".tflite")) {
    COBRA_RETURN_IF_ERROR(input.LoadTflite(arguments, limits));
    return input;
  }
  if (absl::EndsWith(arguments.path, ".json")) {
    input.form_ = Form::kGraph;
    COBRA_ASSIGN_OR_RETURN(input.bytes_, ReadUserFile(arguments.path, int64_t{1} << 30));
    return input;
  }
  if (IsDirectory(arguments.path)) {
    COBRA_RETURN_IF_ERROR(input.LoadDirectory(arguments, limits));
  } else {
    COBRA_RETURN_IF_ERROR(input.LoadFile(arguments, limits));
  }
  if (arguments.entry.empty()) return input.NoEntry(limits);
  return input;
}

absl::Status ModelInput::NoEntry(const Limits& limits) const {
  std::vector<std::string> models;
  if (!request_.file.empty()) models = python::ModelsThere(request_, limits);
  const std::string first = models.empty() ? "resnet50()" : models[0];
  const std::string known =
      models.empty() ? "" : absl::StrCat("; ", path_, " has ", python::ModelList(std::move(models)));
  return UserError(Diagnostic::Kind::kUsage, "--entry: is missing",
                   absl::StrCat("an expression whose value is the model", known, ": --entry '", first, "'"));
}

absl::Status ModelInput::LoadArchitecture(const ModelArguments& arguments) {
  if (!arguments.path.empty() || !arguments.entry.empty() || !arguments.arguments.empty()) {
    return UserError(
        Diagnostic::Kind::kUsage,
        absl::StrCat("--arch ", arguments.architecture.substr(0, 40), ": is a model by itself"),
        "leave the file, --entry and --arg out; options follow the space: --arch nasbench201,classes=100:STRING");
  }
  form_ = Form::kArchitecture;
  architecture_.architecture = arguments.architecture;
  architecture_.inputs = arguments.inputs;
  return absl::OkStatus();
}

absl::Status ModelInput::LoadOnnx(const ModelArguments& arguments, const Limits& limits) {
  if (!arguments.entry.empty()) {
    return UserError(Diagnostic::Kind::kUsage,
                     absl::StrCat("--entry ", arguments.entry, ": an ONNX file holds one network"),
                     "leave --entry out");
  }
  form_ = Form::kOnnx;
  COBRA_ASSIGN_OR_RETURN(bytes_, ReadUserFile(arguments.path, limits.model_file_bytes));
  onnx_.name = fs::path(arguments.path).filename().string();
  onnx_.inputs = arguments.inputs;
  onnx_.arguments = request_.arguments;
  user_prefix_ = arguments.path.substr(0, arguments.path.size() - onnx_.name.size());
  return absl::OkStatus();
}

absl::Status ModelInput::LoadTflite(const ModelArguments& arguments, const Limits& limits) {
  if (!arguments.entry.empty() || !arguments.arguments.empty()) {
    return UserError(Diagnostic::Kind::kUsage,
                     absl::StrCat(arguments.path, ": a TensorFlow Lite file holds one network"),
                     "leave --entry and --arg out");
  }
  form_ = Form::kTflite;
  COBRA_ASSIGN_OR_RETURN(bytes_, ReadUserFile(arguments.path, limits.model_file_bytes));
  tflite_.name = fs::path(arguments.path).filename().string();
  tflite_.inputs = arguments.inputs;
  user_prefix_ = arguments.path.substr(0, arguments.path.size() - tflite_.name.size());
  return absl::OkStatus();
}

absl::Status ModelInput::LoadFile(const ModelArguments& arguments, const Limits& limits) {
  for (const std::string& root : request_.library_roots) {
    if (std::optional<std::string> below = PathBelow(arguments.path, root)) {
      library_file_ = *below;
      request_.file = absl::StrCat(root, "/", *below);
      return absl::OkStatus();
    }
  }
  COBRA_ASSIGN_OR_RETURN(std::string text, ReadUserFile(arguments.path, limits.file_bytes));
  place_ = PlaceOf(arguments.path, text);
  if (place_.folder.empty()) {
    const std::string name = fs::path(arguments.path).filename().string();
    user_prefix_ = arguments.path.substr(0, arguments.path.size() - name.size());
    request_.file = name;
    request_.bundle.emplace(name, std::move(text));
    return absl::OkStatus();
  }
  return LoadPlace(arguments.path, text, limits);
}

absl::Status ModelInput::LoadPlace(const std::string& path, const std::string& text, const Limits& limits) {
  user_prefix_ = absl::EndsWith(path, place_.file) ? path.substr(0, path.size() - place_.file.size())
                                                   : absl::StrCat(place_.folder, "/");
  if (place_.has_init) {
    request_.package = place_.folder;
    request_.file = absl::StrCat(place_.folder, "/", place_.file);
    return absl::OkStatus();
  }
  request_.file = place_.package.empty() ? place_.file : absl::StrCat(place_.package, "/", place_.file);
  COBRA_ASSIGN_OR_RETURN(request_.bundle, FilesOf(place_, text, limits));
  return absl::OkStatus();
}

absl::Status ModelInput::LoadDirectory(const ModelArguments& arguments, const Limits& limits) {
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
  if (!files.ok()) return UserError(Diagnostic::Kind::kUsage, std::string(files.status().message()));
  int64_t total_bytes = 0;
  for (const std::string& file : *files) {
    if (IsHidden(file)) continue;
    COBRA_ASSIGN_OR_RETURN(std::string text, ReadUserFile(absl::StrCat(user_prefix_, file), limits.file_bytes));
    total_bytes += static_cast<int64_t>(text.size());
    request_.bundle.emplace(file, std::move(text));
    if (total_bytes > limits.bundle_bytes || static_cast<int64_t>(request_.bundle.size()) > limits.bundle_files) {
      return UserError(Diagnostic::Kind::kLimit,
                       absl::StrCat(arguments.path, ": its Python files are more than the limits of ",
                                    limits.bundle_files, " files and ", limits.bundle_bytes, " bytes"),
                       "give the folder of the model alone, and the rest as --library DIR");
    }
  }
  COBRA_RETURN_IF_ERROR(ChooseFile(arguments));
  // A folder whose file imports relatively, or by the folder's name, is the package that it is.
  if (request_.file.empty() || !FileExists(absl::StrCat(user_prefix_, "__init__.py"))) return absl::OkStatus();
  const std::string file = absl::StrCat(user_prefix_, request_.file);
  const std::string text = request_.bundle.at(request_.file);
  Place place = PlaceOf(file, text);
  const bool is_inside = !place.package.empty() && PathBelow(arguments.path, place.folder, /*itself=*/true).has_value();
  if (!is_inside) return absl::OkStatus();
  place_ = std::move(place);
  path_ = file;
  request_.bundle.clear();
  return LoadPlace(file, text, limits);
}

absl::Status ModelInput::ChooseFile(const ModelArguments& arguments) {
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
  if (arguments.entry.empty()) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kUsage,
                   absl::StrCat("--entry ", arguments.entry, ": which of the ", request_.bundle.size(),
                                " Python files of ", arguments.path, " has it?"),
                   "write the module first: --entry 'package.module.Net()'");
}

absl::StatusOr<graph::Graph> ModelInput::Read(const Limits& limits) const {
  absl::StatusOr<graph::Graph> graph;
  switch (form_) {
    case Form::kSource: graph = python::ReadPythonModel(request_, limits); break;
    case Form::kGraph: graph = graph::GraphFromJson(bytes_, limits.graph); break;
    case Form::kTflite: graph = tflite::ReadTfliteModel(bytes_, tflite_, limits); break;
    case Form::kArchitecture: graph = nas::ReadArchitecture(architecture_, limits); break;
    case Form::kOnnx: graph = onnx::ReadOnnxModel(bytes_, onnx_, limits); break;
  }
  if (!graph.ok()) return WithLibraryHint(WithUserPaths(graph.status()));
  return graph;
}

namespace {

void FillArguments(const std::vector<std::pair<std::string, std::string>>& arguments,
                   google::protobuf::RepeatedPtrField<v1::SourceArgument>* out) {
  for (const auto& [name, expression] : arguments) {
    v1::SourceArgument* argument = out->Add();
    argument->set_name(name);
    argument->set_expression(expression);
  }
}

}  // namespace

absl::Status ModelInput::FillModel(v1::PredictRequest* request) const {
  switch (form_) {
    case Form::kSource: return FillSource(request->mutable_source());
    case Form::kGraph:
      return UserError(Diagnostic::Kind::kUsage, "--send source: the model is a graph file", "leave --send out");
    case Form::kTflite:
      request->mutable_tflite()->set_file(bytes_);
      request->mutable_tflite()->set_name(tflite_.name);
      for (const std::string& input : tflite_.inputs) request->mutable_tflite()->add_inputs(input);
      break;
    case Form::kArchitecture:
      request->mutable_architecture()->set_text(architecture_.architecture);
      for (const std::string& input : architecture_.inputs) request->mutable_architecture()->add_inputs(input);
      break;
    case Form::kOnnx: {
      v1::OnnxModel* onnx = request->mutable_onnx();
      onnx->set_file(bytes_);
      onnx->set_name(onnx_.name);
      for (const std::string& input : onnx_.inputs) onnx->add_inputs(input);
      FillArguments(onnx_.arguments, onnx->mutable_arguments());
      break;
    }
  }
  return absl::OkStatus();
}

absl::Status ModelInput::FillSource(v1::SourceModel* source) const {
  std::string main = library_file_.empty() ? request_.file : library_file_;
  std::map<std::string, std::string> files = request_.bundle;
  if (!request_.package.empty()) main = absl::StrCat(place_.package, "/", place_.file);
  // An installed package is large, and a server that is to read it has it in a library.
  if (!request_.package.empty() && !IsInstallationFolder(fs::path(request_.package).parent_path().string())) {
    COBRA_ASSIGN_OR_RETURN(std::string text, ReadUserFile(path_, Limits().file_bytes));
    COBRA_ASSIGN_OR_RETURN(files, FilesOf(place_, text, Limits()));
  }
  for (const auto& [path, text] : files) {
    v1::SourceFile* file = source->add_files();
    file->set_path(path);
    file->set_text(text);
  }
  source->set_file(main);
  source->set_entry(request_.entry);
  source->set_method(request_.method);
  for (const std::string& input : request_.inputs) source->add_inputs(input);
  FillArguments(request_.arguments, source->mutable_arguments());
  source->set_torch_version(request_.torch_version);
  return absl::OkStatus();
}

absl::Status ModelInput::WithUserPaths(const absl::Status& status) const {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value()) return status;
  diagnostic->position.file = UserPath(diagnostic->position.file);
  diagnostic->message = WithUserPath(diagnostic->message);
  for (DiagnosticFrame& frame : diagnostic->frames) frame.position.file = UserPath(frame.position.file);
  const absl::Status changed = DiagnosticToStatus(*diagnostic);
  absl::Status result(status.code(), changed.message());  // NOT_FOUND of an unknown target stays that
  changed.ForEachPayload(
      [&result](absl::string_view url, const absl::Cord& payload) { result.SetPayload(url, payload); });
  return result;
}

std::string ModelInput::WithUserPath(const std::string& message) const {
  const std::string before = "(imported at ";
  const size_t at = message.find(before);
  if (at == std::string::npos) return message;
  const size_t begin = at + before.size();
  const size_t end = message.rfind(':', message.find(')', begin));
  if (end == std::string::npos || end < begin) return message;
  return absl::StrCat(message.substr(0, begin), UserPath(message.substr(begin, end - begin)), message.substr(end));
}

absl::Status ModelInput::WithLibraryHint(const absl::Status& status) const {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value() || diagnostic->missing_module.empty()) return status;
  absl::string_view missing = diagnostic->missing_module;
  std::string hint;
  if (!place_.package.empty() && absl::ConsumePrefix(&missing, absl::StrCat(place_.package, "."))) {
    const std::string path = absl::StrCat(place_.folder, "/", absl::StrReplaceAll(missing, {{".", "/"}}));
    hint = absl::StrCat("there is neither ", path, ".py nor a folder of that name");
  } else {
    hint = LibraryHint(missing, path_, InstalledPackageFolders());
  }
  if (!hint.empty()) diagnostic->hint = hint;
  return DiagnosticToStatus(*diagnostic);
}

std::string ModelInput::UserPath(const std::string& file) const {
  const bool is_file = (form_ == Form::kOnnx && file == onnx_.name) || (form_ == Form::kTflite && file == tflite_.name);
  if (is_file) return absl::StrCat(user_prefix_, file);
  // Read here, a regular package's files go by their full paths; elsewhere a package's begin with its name.
  absl::string_view below = file;
  if (!request_.package.empty()) {
    if (!absl::ConsumePrefix(&below, absl::StrCat(place_.folder, "/")) &&
        !absl::ConsumePrefix(&below, absl::StrCat(place_.package, "/")))
      return file;
  } else if (request_.bundle.count(file) == 0) {
    return file;
  } else if (!place_.package.empty()) {
    absl::ConsumePrefix(&below, absl::StrCat(place_.package, "/"));
  }
  return below == place_.file ? path_ : absl::StrCat(user_prefix_, below);
}

std::optional<std::string> ModelInput::SourceText(const std::string& file) const {
  if (const auto it = request_.bundle.find(file); it != request_.bundle.end()) return it->second;
  // A library's file goes by its full path. Nothing else is opened: a graph file may name any path.
  std::vector<std::string> roots = request_.library_roots;
  if (!request_.package.empty()) roots.push_back(request_.package);
  for (const std::string& root : roots) {
    if (!absl::StartsWith(file, absl::StrCat(root, "/"))) continue;
    absl::StatusOr<std::string> text = ReadFile(file, Limits().file_bytes);
    if (text.ok()) return *std::move(text);
  }
  return std::nullopt;
}

}  // namespace cobra::client
