#include "client/input/model_input.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "base/with_code.h"
#include "client/input/input_errors.h"
#include "client/input/library_hint.h"
#include "client/input/model_classes.h"
#include "client/input/named_model.h"
#include "client/input/onnx_file.h"
#include "client/terminal/progress.h"
#include "frontend/python/runtime/interpreter/data_files.h"
#include "frontend/python/runtime/interpreter/read_notes.h"
#include "frontend/python/syntax/python_version.h"
#include "proto/model_source_proto.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxGraphFileBytes = int64_t{1} << 30;

constexpr FileForm kOnnxForm{.name = "an ONNX file", .why = "which holds one network", .takes_arguments = true};
constexpr FileForm kTfliteForm{.name = "a TensorFlow Lite file", .why = "which holds one network"};
constexpr FileForm kNcnnForm{.name = "an ncnn .param file", .why = "which holds one network"};
constexpr FileForm kGraphForm{.name = "a graph", .why = "which is read as it is", .takes_inputs = false};
constexpr FileForm kArchitectureForm{
    .name = "an architecture", .why = "which is a complete network for inference", .otherwise = ""};

// A file that cannot be opened is the user's mistake; one that is too large exceeds a limit.
absl::StatusOr<std::string> ReadUserFile(const std::string& path, int64_t max_bytes) {
  absl::StatusOr<std::string> text = ReadFile(path, max_bytes);
  if (text.ok()) return text;
  const bool limit = absl::IsResourceExhausted(text.status());
  return UserError(limit ? Diagnostic::Kind::kLimit : Diagnostic::Kind::kUsage, std::string(text.status().message()));
}

// The path of `file` below `root`, with links resolved in both; nullopt if it is not below.
// `itself`: the root itself (".") counts as below.
std::optional<std::string> PathBelow(const std::string& file, const std::string& root, bool itself = false) {
  std::error_code error;
  const fs::path real_file = fs::weakly_canonical(file, error);
  const fs::path real_root = fs::weakly_canonical(root, error);
  const fs::path relative = real_file.lexically_relative(real_root);
  if (error || relative.empty() || *relative.begin() == ".." || (relative == "." && !itself)) return std::nullopt;
  return relative.string();
}

// "net.blocks.Net(3)" -> the longest of net/blocks.py, net/blocks/__init__.py, net.py ... that the
// bundle has, and the rest of the expression.
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

// Makes the folders that lead to `file` packages, as Python does for a folder without an
// __init__.py.
void MakePackages(absl::string_view file, std::map<std::string, std::string>* bundle) {
  for (size_t slash = file.find('/'); slash != absl::string_view::npos; slash = file.find('/', slash + 1))
    bundle->try_emplace(absl::StrCat(file.substr(0, slash), "/__init__.py"));
}

constexpr char kOmitSend[] = "omit --send source to read the model here and send its graph";

// Whether the program may look at files beside its code: a word of those that do so is in its text.
bool MayReadFiles(const std::map<std::string, std::string>& bundle) {
  for (const auto& [path, text] : bundle) {
    for (const char* word : {"open", "read_text", "read_bytes", "get_data", "glob", "scandir", "listdir", "iterdir",
                             "walk", "resources", "exists", "isfile", "isdir", "is_file", "is_dir", "getsize"}) {
      if (absl::StrContains(text, word)) return true;
    }
  }
  return false;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> NamedExpressions(
    const std::vector<std::string>& arguments) {
  std::vector<std::pair<std::string, std::string>> expressions;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return UsageError(absl::StrCat("--arg ", argument, ": is not NAME=EXPRESSION"));
    }
    expressions.emplace_back(argument.substr(0, equals), argument.substr(equals + 1));
  }
  return expressions;
}

// What the name stands for; what is given besides counts more.
absl::StatusOr<ModelArguments> OfNamedModel(ModelArguments arguments) {
  const std::string name = std::move(arguments.path);
  COBRA_ASSIGN_OR_RETURN(const NamedModel named, FindNamedModel(name));
  COBRA_ASSIGN_OR_RETURN(arguments.path, FileOfNamedModel(named, name, arguments.libraries));
  if (!named.of_library) arguments.libraries.clear();  // of no use to a file of ncnn
  if (arguments.entry.empty()) arguments.entry = named.entry;
  if (arguments.inputs.empty()) arguments.inputs = absl::StrSplit(named.inputs, ' ', absl::SkipEmpty());
  return arguments;
}

}  // namespace

absl::StatusOr<ModelInput> ModelInput::Load(const ModelArguments& arguments, const Limits& limits) {
  ModelInput input;
  input.path_ = arguments.path;
  COBRA_ASSIGN_OR_RETURN(input.library_roots_, LibraryRoots(arguments.libraries));
  python::SourceRequest& program = input.program();
  program.entry = arguments.entry;
  program.method = arguments.method;
  program.inputs = arguments.inputs;
  program.library_roots = input.library_roots_;
  if (!arguments.torch_version.empty()) input.set_torch_version(arguments.torch_version);
  program.training = arguments.training;
  program.keep_values = arguments.keep_values;
  program.cached_tokens = arguments.cached_tokens;
  COBRA_ASSIGN_OR_RETURN(program.arguments, NamedExpressions(arguments.arguments));

  if (!arguments.architecture.empty()) {
    COBRA_RETURN_IF_ERROR(input.LoadArchitecture(arguments));
    return input;
  }
  if (arguments.path.empty()) {
    return UsageError("no model is given", absl::StrCat("a file, a directory, or --arch SPACE:STRING with a space of ",
                                                        nas::ArchitectureSpaces()));
  }
  if (!FileExists(arguments.path)) {
    if (!IsModelName(arguments.path)) return NoSuchModel(arguments.path);
    COBRA_ASSIGN_OR_RETURN(const ModelArguments placed, OfNamedModel(arguments));
    return Load(placed, limits);
  }
  COBRA_RETURN_IF_ERROR(CheckIsFile(arguments.path));
  using Loader = absl::Status (ModelInput::*)(const ModelArguments&, const Limits&);
  constexpr std::pair<const char*, Loader> kLoaders[] = {
      {".onnx", &ModelInput::LoadOnnx},
      {".tflite", &ModelInput::LoadTflite},
      {".param", &ModelInput::LoadNcnn},
      {".param.bin", &ModelInput::LoadNcnn},  // the reader says what to do about it
      {".json", &ModelInput::LoadGraph}};
  Loader load = &ModelInput::LoadPython;
  for (const auto& [ending, loader] : kLoaders) {
    if (absl::EndsWith(arguments.path, ending)) load = loader;
  }
  COBRA_RETURN_IF_ERROR((input.*load)(arguments, limits));
  return input;
}

absl::Status ModelInput::LoadPython(const ModelArguments& arguments, const Limits& limits) {
  COBRA_RETURN_IF_ERROR(IsDirectory(arguments.path) ? LoadDirectory(arguments, limits) : LoadFile(arguments, limits));
  return arguments.entry.empty() ? ChooseEntry(limits) : absl::OkStatus();
}

absl::Status ModelInput::ChooseEntry(const Limits& limits) {
  python::SourceRequest& program = this->program();
  python::ModelChoice choice;
  if (!program.file.empty()) {
    python::DataFolder data = Data();
    const python::DataFolderScope scope(&data);
    absl::StatusOr<python::ModelChoice> found = python::ListModels(program, limits);
    if (!found.ok()) return WithLibraryHint(WithUserPaths(found.status()));
    choice = *std::move(found);
  }
  if (choice.names.empty()) choice.names = classes_;
  if (!choice.only.empty()) {
    program.entry = choice.only;
    return absl::OkStatus();
  }
  std::string hint = "an expression whose value is the model";
  if (choice.names.empty() && !program.file.empty()) {
    absl::StrAppend(&hint, "; ", path_, " defines none");
    for (const std::string& missing : choice.missing_modules) {
      const std::string where = LibraryHint(missing, path_, InstalledPackageFolders());
      absl::StrAppend(
          &hint, ", but imports ", missing, ", which was not found: ",
          where.empty() ? absl::StrCat("name the folder that ", missing, " is in with --library DIR") : where);
    }
  } else if (!choice.names.empty()) {
    const std::string first = choice.names[0];
    const bool of_class = choice.names == classes_;  // whose arguments are unknown
    const bool needs_arguments = of_class || (absl::EndsWith(first, ")") && !absl::EndsWith(first, "()"));
    const std::string example =
        choice.initial.empty() ? absl::StrCat(first.substr(0, first.find('(')), "(...)") : choice.initial;
    absl::StrAppend(&hint, "; ", path_, " has ", python::ModelList(std::move(choice.names)),
                    needs_arguments && choice.initial.empty() ? "; fill in its arguments" : "", ": --entry '",
                    needs_arguments ? example : first, "'");
  }
  return UsageError("--entry: is missing", std::move(hint));
}

absl::Status ModelInput::LoadArchitecture(const ModelArguments& arguments) {
  const std::string shown = arguments.architecture.substr(0, 40);
  if (!arguments.path.empty()) {
    return UsageError(absl::StrCat("--arch ", shown, ": cannot be combined with ", arguments.path),
                      "give one of the two");
  }
  COBRA_RETURN_IF_ERROR(CheckOptions(arguments, kArchitectureForm, shown));
  source_ = nas::ArchitectureRequest{arguments.architecture, arguments.inputs};
  return absl::OkStatus();
}

absl::Status ModelInput::LoadOnnx(const ModelArguments& arguments, const Limits& limits) {
  COBRA_RETURN_IF_ERROR(CheckOptions(arguments, kOnnxForm, arguments.path));
  frontend::OnnxFile file;
  COBRA_ASSIGN_OR_RETURN(file.bytes, ReadOnnxFile(arguments.path, limits));
  NameModelFile(arguments.path);
  file.request = {model_file_, arguments.inputs, program().arguments, arguments.keep_values};
  source_ = std::move(file);
  return absl::OkStatus();
}

absl::Status ModelInput::LoadTflite(const ModelArguments& arguments, const Limits& limits) {
  COBRA_RETURN_IF_ERROR(CheckOptions(arguments, kTfliteForm, arguments.path));
  frontend::TfliteFile file;
  COBRA_ASSIGN_OR_RETURN(file.bytes, ReadUserFile(arguments.path, limits.model_file_bytes));
  NameModelFile(arguments.path);
  file.request = {model_file_, arguments.inputs};
  source_ = std::move(file);
  return absl::OkStatus();
}

absl::Status ModelInput::LoadNcnn(const ModelArguments& arguments, const Limits& limits) {
  COBRA_RETURN_IF_ERROR(CheckOptions(arguments, kNcnnForm, arguments.path));
  frontend::NcnnFile file;
  COBRA_ASSIGN_OR_RETURN(file.text, ReadUserFile(arguments.path, limits.file_bytes));
  NameModelFile(arguments.path);
  file.request = {model_file_, arguments.inputs};
  source_ = std::move(file);
  return absl::OkStatus();
}

absl::Status ModelInput::LoadGraph(const ModelArguments& arguments, const Limits&) {
  COBRA_RETURN_IF_ERROR(CheckOptions(arguments, kGraphForm, arguments.path));
  frontend::GraphJson json;
  COBRA_ASSIGN_OR_RETURN(json.text, ReadUserFile(arguments.path, kMaxGraphFileBytes));
  source_ = std::move(json);
  return absl::OkStatus();
}

void ModelInput::NameModelFile(const std::string& path) {
  model_file_ = fs::path(path).filename().string();
  user_prefix_ = path.substr(0, path.size() - model_file_.size());
}

absl::Status ModelInput::LoadFile(const ModelArguments& arguments, const Limits& limits) {
  if (!absl::EndsWith(arguments.path, ".py")) return NotAModel(arguments.path);
  python::SourceRequest& program = this->program();
  for (const std::string& root : library_roots_) {
    if (std::optional<std::string> below = PathBelow(arguments.path, root)) {
      library_file_ = *below;
      program.file = absl::StrCat(root, "/", *below);
      return absl::OkStatus();
    }
  }
  COBRA_ASSIGN_OR_RETURN(std::string text, ReadUserFile(arguments.path, limits.file_bytes));
  place_ = LocateModel(arguments.path, text);
  if (place_.folder.empty()) {
    const std::string name = fs::path(arguments.path).filename().string();
    user_prefix_ = arguments.path.substr(0, arguments.path.size() - name.size());
    program.file = name;
    program.bundle.emplace(name, std::move(text));
    return absl::OkStatus();
  }
  return LoadLocatedFile(arguments.path, text, limits);
}

absl::Status ModelInput::LoadLocatedFile(const std::string& path, const std::string& text, const Limits& limits) {
  python::SourceRequest& program = this->program();
  user_prefix_ = absl::EndsWith(path, place_.file) ? path.substr(0, path.size() - place_.file.size())
                                                   : absl::StrCat(place_.folder, "/");
  if (place_.has_init) {
    program.package = place_.folder;
    program.file = absl::StrCat(place_.folder, "/", place_.file);
    return absl::OkStatus();
  }
  program.file = place_.package.empty() ? place_.file : absl::StrCat(place_.package, "/", place_.file);
  COBRA_ASSIGN_OR_RETURN(program.bundle, CollectImports(place_, text, limits));
  return absl::OkStatus();
}

absl::Status ModelInput::LoadDirectory(const ModelArguments& arguments, const Limits& limits) {
  python::SourceRequest& program = this->program();
  user_prefix_ = absl::EndsWith(arguments.path, "/") ? arguments.path : absl::StrCat(arguments.path, "/");
  // A package inside a library is read as a module of the library.
  for (const std::string& root : library_roots_) {
    std::optional<std::string> below = PathBelow(absl::StrCat(user_prefix_, "__init__.py"), root);
    if (!below.has_value() || !FileExists(absl::StrCat(root, "/", *below))) continue;
    library_file_ = *below;
    program.file = absl::StrCat(root, "/", *below);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> files = ListFiles(arguments.path, ".py");
  if (!files.ok()) return UsageError(std::string(files.status().message()));
  int64_t total_bytes = 0;
  for (const std::string& file : *files) {
    if (IsHidden(file)) continue;
    COBRA_ASSIGN_OR_RETURN(std::string text, ReadUserFile(absl::StrCat(user_prefix_, file), limits.file_bytes));
    total_bytes += static_cast<int64_t>(text.size());
    program.bundle.emplace(file, std::move(text));
    COBRA_RETURN_IF_ERROR(CheckBundle(absl::StrCat(arguments.path, ": its Python files"),
                                      static_cast<int64_t>(program.bundle.size()), total_bytes, limits,
                                      "give only the model's folder, and the rest as --library DIR"));
  }
  if (program.bundle.empty())
    return UsageError(absl::StrCat(arguments.path, ": has no Python file"),
                      "give the model's file, or a folder that has it");
  classes_ = ModelClasses(program.bundle);
  COBRA_RETURN_IF_ERROR(ChooseFile(arguments));
  if (program.file.empty()) return absl::OkStatus();
  const std::string file = absl::StrCat(user_prefix_, program.file);
  const std::string text = program.bundle.at(program.file);
  ModelLocation place = LocateModel(file, text);
  if (!FileExists(absl::StrCat(user_prefix_, "__init__.py"))) {
    if (!place.package.empty()) MakePackages(program.file, &program.bundle);
    return absl::OkStatus();
  }
  // A folder whose file imports relatively, or by the folder's name, is read as a package.
  if (place.package.empty() || !PathBelow(arguments.path, place.folder, /*itself=*/true)) return absl::OkStatus();
  place_ = std::move(place);
  path_ = file;
  program.bundle.clear();
  return LoadLocatedFile(file, text, limits);
}

absl::Status ModelInput::ChooseFile(const ModelArguments& arguments) {
  python::SourceRequest& program = this->program();
  if (auto split = SplitEntry(arguments.entry, program.bundle)) {
    program.file = split->first;
    program.entry = split->second;
    return absl::OkStatus();
  }
  for (const char* name : {"__init__.py", "model.py"}) {
    if (program.bundle.count(name) == 0) continue;
    program.file = name;
    return absl::OkStatus();
  }
  if (program.bundle.size() == 1) {
    program.file = program.bundle.begin()->first;
    return absl::OkStatus();
  }
  if (arguments.entry.empty()) return absl::OkStatus();
  return UsageError(
      absl::StrCat("--entry ", arguments.entry, ": cannot choose among the ", program.bundle.size(),
                   " Python files of ", arguments.path),
      absl::StrCat("write the module first: --entry 'package.module.Net()'",
                   classes_.empty() ? "" : absl::StrCat("; models there: ", python::ModelList(classes_))));
}

python::DataFolder ModelInput::Data() const {
  std::error_code error;
  const std::string folder = place_.folder.empty() && IsDirectory(path_) && library_file_.empty()
                                 ? fs::canonical(path_, error).string()
                                 : place_.folder;
  return {folder, place_.package};
}

absl::StatusOr<graph::Graph> ModelInput::Read(const Limits& limits) const {
  python::DataFolder data = Data();
  const python::DataFolderScope scope(&data);
  std::vector<python::ReadNote> notes;
  const python::ReadNotesScope notes_scope(&notes);
  absl::StatusOr<graph::Graph> graph = frontend::ReadModel(source_, limits);
  if (!graph.ok()) return WithEntryHint(WithLibraryHint(WithUserPaths(graph.status())));
  for (const python::ReadNote& note : notes)
    Note(absl::StrCat("note: ", UserPath(note.position.file), ":", note.position.line, ": ", note.text, "\n"));
  return graph;
}

absl::Status ModelInput::FillModel(v1::PredictRequest* request) const {
  const auto* program = std::get_if<python::SourceRequest>(&source_);
  if (program == nullptr) return proto::ModelSourceToProto(source_, request);
  if (const std::string version = python::PythonVersionText(); !version.empty()) {
    return UsageError(absl::StrCat("--python-version ", version, ": a server that reads the model has no such option"),
                      "omit --send to read the model here, or omit --python-version");
  }
  COBRA_ASSIGN_OR_RETURN(python::SourceRequest portable, Portable(*program));
  COBRA_RETURN_IF_ERROR(proto::ModelSourceToProto(std::move(portable), request));
  if (!has_torch_version_) request->mutable_source()->clear_torch_version();
  return absl::OkStatus();
}

void ModelInput::set_torch_version(const std::string& version) {
  program().torch_version = version;
  has_torch_version_ = true;
}

std::string ModelInput::entry() const {
  const auto* program = std::get_if<python::SourceRequest>(&source_);
  return program == nullptr ? "" : program->entry;
}

absl::Status ModelInput::AddData(const python::SourceRequest& local, python::SourceRequest* portable) const {
  if (!MayReadFiles(portable->bundle)) return absl::OkStatus();
  python::DataFolder data = Data();
  {
    // What a program reads is known when it has read it. If it fails, the server says why.
    const python::DataFolderScope scope(&data);
    (void)python::ReadPythonModel(local);
  }
  std::map<std::string, std::string> files = data.read();
  for (const std::string& folder : data.listed()) {
    for (const std::string& name : data.List(folder).value_or(std::vector<std::string>())) {
      const std::string path = folder.empty() ? name : absl::StrCat(folder, "/", name);
      if (absl::EndsWith(name, "/") || python::IsPrivateFile(path) || files.count(path) > 0) continue;
      absl::StatusOr<std::string> text = data.Read(path, Limits().bundle_bytes);
      if (!text.ok() && absl::IsNotFound(text.status())) continue;
      if (!text.ok()) return UserError(Diagnostic::Kind::kLimit, std::string(text.status().message()), kOmitSend);
      files.emplace(path, *std::move(text));
    }
  }
  int64_t bytes = 0;
  portable->bundle.insert(files.begin(), files.end());
  for (const auto& [path, text] : portable->bundle) bytes += static_cast<int64_t>(text.size());
  return CheckBundle(absl::StrCat(path_, ": with the data files that it reads"),
                     static_cast<int64_t>(portable->bundle.size()), bytes, Limits(), kOmitSend);
}

absl::StatusOr<python::SourceRequest> ModelInput::Portable(python::SourceRequest program) const {
  if (!library_file_.empty()) program.file = library_file_;
  const python::SourceRequest local = program;
  if (program.package.empty()) {
    COBRA_RETURN_IF_ERROR(AddData(local, &program));
    return program;
  }
  program.file = absl::StrCat(place_.package, "/", place_.file);
  // An installed package is large and is not sent: a server that can read it has it in a library.
  if (IsInstallationFolder(fs::path(program.package).parent_path().string())) return program;
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadUserFile(path_, Limits().file_bytes));
  COBRA_ASSIGN_OR_RETURN(program.bundle, CollectImports(place_, text, Limits()));
  COBRA_RETURN_IF_ERROR(AddData(local, &program));
  return program;
}

absl::Status ModelInput::WithUserPaths(const absl::Status& status) const {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value()) return status;
  diagnostic->position.file = UserPath(diagnostic->position.file);
  diagnostic->message = WithUserPath(diagnostic->message);
  for (DiagnosticFrame& frame : diagnostic->frames) frame.position.file = UserPath(frame.position.file);
  return WithCode(status.code(), DiagnosticToStatus(*diagnostic));
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
    hint = PackageAsLibraryHint(missing, library_roots_);
    if (hint.empty()) hint = LibraryHint(missing, path_, InstalledPackageFolders());
  }
  const auto* program = std::get_if<python::SourceRequest>(&source_);
  if (hint.empty() && missing == "." && IsDirectory(path_) && program != nullptr)
    hint = absl::StrCat("give the model's own file: ", user_prefix_, program->file);
  if (!hint.empty()) diagnostic->hint = hint;
  return DiagnosticToStatus(*diagnostic);
}

absl::Status ModelInput::WithEntryHint(const absl::Status& status) const {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value() || classes_.empty()) return status;
  const bool of_entry = diagnostic->kind == Diagnostic::Kind::kUsage && diagnostic->position.file == "<entry>";
  if (!of_entry || absl::StrContains(diagnostic->hint, "models there")) return status;
  std::string example;
  for (const std::string& name : classes_) {
    const std::string last = name.substr(name.rfind('.') + 1);
    if (example.empty() && absl::StrContains(diagnostic->message, absl::StrCat("'", last, "'")))
      example = absl::StrCat(": --entry '", name, "(...)'");
  }
  absl::StrAppend(&diagnostic->hint, "; models in the folder: ", python::ModelList(classes_), example);
  return DiagnosticToStatus(*diagnostic);
}

std::string ModelInput::UserPath(const std::string& file) const {
  if (!model_file_.empty() && file == model_file_) return absl::StrCat(user_prefix_, file);
  const auto* program = std::get_if<python::SourceRequest>(&source_);
  if (program == nullptr) return file;
  // When the client reads a regular package, its files have full paths; otherwise they begin with
  // the package's name.
  absl::string_view below = file;
  if (!program->package.empty()) {
    if (!absl::ConsumePrefix(&below, absl::StrCat(place_.folder, "/")) &&
        !absl::ConsumePrefix(&below, absl::StrCat(place_.package, "/")))
      return file;
  } else if (program->bundle.count(file) == 0) {
    return file;
  } else if (!place_.package.empty()) {
    absl::ConsumePrefix(&below, absl::StrCat(place_.package, "/"));
  }
  return below == place_.file ? path_ : absl::StrCat(user_prefix_, below);
}

std::optional<std::string> ModelInput::SourceText(const std::string& file) const {
  std::vector<std::string> roots = library_roots_;
  if (const auto* program = std::get_if<python::SourceRequest>(&source_)) {
    if (const auto it = program->bundle.find(file); it != program->bundle.end()) return it->second;
    if (!program->package.empty()) roots.push_back(program->package);
  }
  // A library's file is named by its full path. Nothing else is opened, because a graph file may
  // contain any path.
  for (const std::string& root : roots) {
    if (!absl::StartsWith(file, absl::StrCat(root, "/"))) continue;
    absl::StatusOr<std::string> text = ReadFile(file, Limits().file_bytes);
    if (text.ok()) return *std::move(text);
  }
  return std::nullopt;
}

std::vector<std::string> ModelInput::Files() const {
  const auto* program = std::get_if<python::SourceRequest>(&source_);
  if (program == nullptr) return {path_};
  if (!library_file_.empty()) return {program->file};
  std::vector<std::string> own;
  if (!program->package.empty()) {
    const absl::StatusOr<std::vector<std::string>> files = ListFiles(program->package, ".py");
    for (const std::string& file : files.value_or(std::vector<std::string>())) {
      if (!IsHidden(file)) own.push_back(absl::StrCat(program->package, "/", file));
    }
  }
  for (const auto& [file, text] : program->bundle) own.push_back(UserPath(file));
  return own;
}

std::vector<std::string> ModelInput::Folders() const {
  constexpr size_t kMostFolders = 1000;
  std::set<std::string> folders;
  for (const std::string& file : Files()) {
    const std::string folder = fs::path(file).parent_path().string();
    if (folders.size() < kMostFolders) folders.insert(folder.empty() ? "." : folder);
  }
  return {folders.begin(), folders.end()};
}

bool ModelInput::HasSameText(const ModelInput& other) const {
  const auto* program = std::get_if<python::SourceRequest>(&source_);
  const auto* others = std::get_if<python::SourceRequest>(&other.source_);
  return program != nullptr && others != nullptr && !program->bundle.empty() && program->package.empty() &&
         program->bundle == others->bundle && program->entry == others->entry && !MayReadFiles(program->bundle);
}

}  // namespace cobra::client
