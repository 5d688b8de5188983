#include "frontend/python/reader_errors.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "frontend/python/runtime/interpreter/standard_names.h"
#include "frontend/python/syntax/python_version.h"
#include "frontend/python/torch/layers/module.h"
#include "frontend/python/torch/names/versions.h"
#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {
namespace {

// The quoted text that follows `before`.
absl::string_view QuotedAfter(absl::string_view text, absl::string_view before) {
  const size_t at = text.find(absl::StrCat(before, "'"));
  if (at == absl::string_view::npos) return "";
  text.remove_prefix(at + before.size() + 1);
  return text.substr(0, text.find('\''));
}

// Whether `version` ("1.13.1") is before major.minor. A malformed version is rejected elsewhere.
bool IsBefore(absl::string_view version, std::pair<int, int> since) {
  const std::vector<absl::string_view> parts = absl::StrSplit(version, '.');
  int major = 0, minor = 0;
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[0], &major) || !absl::SimpleAtoi(parts[1], &minor)) return false;
  return std::make_pair(major, minor) < since;
}

// The hint for a name of torch that the target version does not have yet; "" for other names.
std::string LaterNameHint(absl::string_view module, absl::string_view name, absl::string_view version) {
  const std::optional<std::pair<int, int>> since = TorchNameSince(module, name);
  if (!since.has_value() || !IsBefore(version, *since)) return "";
  return absl::StrCat(module, ".", name, " exists from PyTorch ", since->first, ".", since->second,
                      ", the model is read as for ", version, ": --torch-version ", since->first, ".", since->second);
}

// The same hint for a message such as "calling torch.nn.RMSNorm() is not supported": for that name
// or one of its modules.
std::string LaterCallHint(absl::string_view message, absl::string_view version) {
  const size_t at = message.find("torch.");
  if (at == absl::string_view::npos) return "";
  size_t end = at;
  while (end < message.size() &&
         (absl::ascii_isalnum(static_cast<unsigned char>(message[end])) || message[end] == '_' || message[end] == '.'))
    ++end;
  absl::string_view dotted = message.substr(at, end - at);
  for (size_t dot = dotted.rfind('.'); dot != absl::string_view::npos; dot = dotted.rfind('.')) {
    std::string hint = LaterNameHint(dotted.substr(0, dot), dotted.substr(dot + 1), version);
    if (!hint.empty()) return hint;
    dotted = dotted.substr(0, dot);
  }
  return "";
}

// The same hint for the exceptions that Python raises for missing names.
std::string LaterVersionHint(absl::string_view message, absl::string_view version) {
  absl::string_view module, name;
  if (absl::StartsWith(message, "AttributeError: module ")) {
    module = QuotedAfter(message, "module ");
    name = QuotedAfter(message, "has no attribute ");
  } else if (absl::StartsWith(message, "AttributeError: 'Tensor' object ")) {
    module = "torch.Tensor";
    name = QuotedAfter(message, "has no attribute ");
  } else if (absl::StartsWith(message, "ImportError: cannot import name ")) {
    module = QuotedAfter(message, " from ");
    name = QuotedAfter(message, "cannot import name ");
  } else if (absl::StartsWith(message, "ModuleNotFoundError: ")) {
    const absl::string_view whole = QuotedAfter(message, "No module named ");
    const size_t dot = whole.rfind('.');
    if (dot == absl::string_view::npos) return "";
    module = whole.substr(0, dot);
    name = whole.substr(dot + 1);
  }
  return LaterNameHint(module, name, version);
}

// The hint for a method that does not exist, or that does not accept the arguments.
std::string HintOfCall(absl::string_view message, const SourceRequest& request, const ReadProgress& progress) {
  if (absl::StrContains(message, absl::StrCat("has no attribute '", request.method, "'")))
    return absl::StrCat("name a method of ", request.entry, ": --method forward");
  if (progress.signature.empty()) return "give one --input for each tensor argument";
  return absl::StrCat("give one --input for each tensor argument of ", progress.signature,
                      ", and --arg NAME=EXPR for anything that is not a tensor");
}

// What a program that wants another version of PyTorch raises: a library's check of the version, or
// a name that is not there. "" if this is no such message, or the version is the newest one.
std::string VersionHint(absl::string_view message, absl::string_view version) {
  if (version == kNewestTorchVersion) return "";
  const bool of_version = absl::StartsWith(message, "ImportError: ") && absl::StrContains(message, "PyTorch");
  const bool of_name =
      (absl::StrContains(message, "module 'torch") && absl::StrContains(message, "has no attribute '")) ||
      absl::StartsWith(message, "ImportError: cannot import name ") ||
      absl::StartsWith(message, "ModuleNotFoundError: No module named 'torch.");
  if (!of_version && !of_name) return "";
  return absl::StrCat("the model is read as for PyTorch ", version,
                      ", that of the target's runtime if there is one: --torch-version ", kNewestTorchVersion,
                      " reads it as for that version");
}

// Of a file that is rejected.
std::string SyntaxHint() {
  if (GetPythonVersion() != 0) return absl::StrCat("Python ", PythonVersionText(), " rejects this too");
  return absl::StrCat("Python rejects this too, from 3.", kOldestPython, " to 3.", kNewestPython);
}

// Whether the exception is that of an older Python for a name that 3.12 or 3.13 has: then the name
// is not supported.
bool LacksLaterStandardName(Diagnostic* d) {
  const absl::string_view message = d->message;
  absl::string_view module, name;
  if (absl::StartsWith(message, "AttributeError: module ")) {
    module = QuotedAfter(message, "module ");
    name = QuotedAfter(message, "has no attribute ");
  } else if (absl::StartsWith(message, "ImportError: cannot import name ")) {
    module = QuotedAfter(message, " from ");
    name = QuotedAfter(message, "cannot import name ");
  }
  const int since = StandardNameSince(module, name);
  if (since <= 11) return false;
  d->kind = Diagnostic::Kind::kUnsupported;
  d->message = absl::StrCat(module, ".", name, " of Python 3.", since, " is not supported");
  if (since > SeenPythonVersion())
    d->hint = absl::StrCat("programs are read as by Python 3.", SeenPythonVersion(),
                           ", with what is offered of later versions");
  return true;
}

// Whether it is what a program that is prepared for exceptions gets for writing: Python would have
// written.
bool IsOfWriting(Diagnostic* d) {
  absl::string_view message = d->message;
  if (!absl::ConsumePrefix(&message, "OSError: [Errno 30] Read-only file system")) return false;
  d->kind = Diagnostic::Kind::kUnsupported;
  d->message = absl::StrCat("writing files is not supported", message);
  d->hint = "a model is read without writing a file or making a folder";
  return true;
}

// Libraries load trained weights from files or the network: not needed, and not there.
std::string PretrainedHint(const Diagnostic& d) {
  for (const DiagnosticFrame& frame : d.frames) {
    for (const char* package : {"huggingface_hub/", "timm/models/_hub.py", "safetensors/"}) {
      if (!absl::StrContains(frame.position.file, package)) continue;
      return "trained weights are not read, and a latency does not need them: pretrained=False; for transformers "
             "AutoModel.from_config(config) or BertModel(BertConfig()) instead of from_pretrained()";
    }
  }
  return "";
}

// The hint for an exception about which only the phase is known.
std::string HintOfPhase(absl::string_view message, const SourceRequest& request, const ReadProgress& progress) {
  using Phase = ReadProgress::Phase;
  if (progress.phase == Phase::kLoad)
    return "Python raises this too when it imports the file; if it does not, please report it";
  if (progress.phase == Phase::kEntry) {
    return absl::StrCat("PyTorch raises this too when it builds ", request.entry.empty() ? "the model" : request.entry,
                        "; if it does not, please report it");
  }
  const std::string inputs =
      request.inputs.empty() ? "without an input" : absl::StrCat("on ", absl::StrJoin(request.inputs, " "));
  std::string hint =
      absl::StrCat("PyTorch raises this too when it runs the model ", inputs,
                   progress.may_be_input ? ": check --input" : "", "; if it runs there, please report it");
  if (absl::StrContains(message, "scalar types: Long, Int"))
    absl::StrAppend(&hint, "; indices are integers: --input 1x16:int64");
  if (!progress.called_function.empty()) {
    absl::StrAppend(&hint, "; ", request.entry, " was called with the inputs: if it makes the model, write ",
                    progress.called_function);
  }
  return hint;
}

}  // namespace

void NoteFailure(Interpreter& interp, ReadProgress* progress) {
  const TorchState& torch = Torch(interp);
  const Object* failure = PendingException(interp);
  if (torch.failed_module != nullptr && torch.failure == failure) progress->module_path = torch.failed_module;
  if (failure == nullptr) return;
  const auto* e = static_cast<const ExceptionObject*>(failure);
  // The traceback has no frame of the program: the method itself could not be found or called.
  progress->in_arguments = e->traceback.empty() && (Interpreter::IsSubclassOf(e->cls, interp.types().TypeError) ||
                                                    Interpreter::IsSubclassOf(e->cls, interp.types().AttributeError));
  const BuiltinTypes& t = interp.types();
  for (const ClassObject* of_input : {t.RuntimeError, t.IndexError, t.ValueError, t.AssertionError})
    progress->may_be_input = progress->may_be_input || Interpreter::IsSubclassOf(e->cls, of_input);
  for (const ClassObject* never : {t.RecursionError, t.NotImplementedError})
    progress->may_be_input = progress->may_be_input && !Interpreter::IsSubclassOf(e->cls, never);
}

absl::Status ExplainFailure(const absl::Status& status, const SourceRequest& request, const ReadProgress& progress) {
  std::optional<Diagnostic> found = DiagnosticFromStatus(status);
  if (!found.has_value()) return status;
  Diagnostic& d = *found;
  using Phase = ReadProgress::Phase;
  if (progress.module_path != nullptr) d.module_path = *progress.module_path;
  const bool of_program = d.kind == Diagnostic::Kind::kModelError || d.kind == Diagnostic::Kind::kSyntaxError;
  if (d.kind == Diagnostic::Kind::kUnsupported && d.missing_module.empty()) {
    const std::string later = LaterCallHint(d.message, request.torch_version);
    if (!later.empty()) d.hint = later;
  }
  const std::string pretrained = PretrainedHint(d);
  if (!pretrained.empty() && d.kind != Diagnostic::Kind::kLimit) {
    d.hint = pretrained;
    return DiagnosticToStatus(d);
  }
  if (!of_program || LacksLaterStandardName(&d) || IsOfWriting(&d)) return DiagnosticToStatus(d);
  std::string later = LaterVersionHint(d.message, request.torch_version);
  if (later.empty()) later = VersionHint(d.message, request.torch_version);
  if (!later.empty()) {
    d.missing_module.clear();  // no library has the module
    d.hint = later;
  }
  if (!d.missing_module.empty()) return DiagnosticToStatus(d);
  const bool has_hint = !d.hint.empty() && d.hint != kPythonRaisesToo;
  // Where classes have a __getattr__ of their own, the missing method is named from inside of it.
  const bool no_method = progress.phase == Phase::kRun && request.method != "forward" &&
                         absl::StrContains(d.message, absl::StrCat("has no attribute '", request.method, "'"));
  if (progress.phase == Phase::kEntry && d.position.file == "<entry>") {
    d.kind = Diagnostic::Kind::kUsage;
    if (later.empty()) {
      d.hint = absl::StrCat("the entry is an expression in ", request.file, " whose value is the model",
                            progress.candidates.empty() ? "" : absl::StrCat("; models there: ", progress.candidates));
    }
  } else if (progress.phase == Phase::kArguments && d.position.file == "<entry>") {
    d.kind = Diagnostic::Kind::kUsage;
    d.hint = absl::StrCat("the expressions of --arg are evaluated in ", request.file);
  } else if (progress.in_arguments || no_method) {
    d.kind = Diagnostic::Kind::kUsage;
    d.hint = HintOfCall(d.message, request, progress);
    for (const std::string& input : progress.example.inputs) absl::StrAppend(&d.example_inputs, " ", input);
    if (!d.example_inputs.empty())
      absl::StrAppend(&d.hint, "; ", progress.example.origin, " proposes", d.example_inputs);
  } else if (d.kind == Diagnostic::Kind::kSyntaxError) {
    if (!has_hint) d.hint = SyntaxHint();
  } else if (!has_hint && !progress.put_aside.empty()) {
    // What such a module registers or patches is missing: whose fault this is, nobody knows.
    constexpr size_t kMostNamed = 3;
    const size_t named = std::min(progress.put_aside.size(), kMostNamed);
    const size_t more = progress.put_aside.size() - named;
    d.kind = Diagnostic::Kind::kUnsupported;
    d.hint = absl::StrCat(absl::StrJoin(absl::MakeConstSpan(progress.put_aside).subspan(0, named), ", "),
                          more > 0 ? absl::StrCat(" and ", more, " more modules") : "",
                          " could not be imported here, which may be the reason; if the model runs in PyTorch, please "
                          "report it");
  } else if (!has_hint) {
    d.hint = HintOfPhase(d.message, request, progress);
  }
  return DiagnosticToStatus(d);
}

}  // namespace cobra::python
