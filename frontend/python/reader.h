// PyTorch source in, graph out: the phase that `cobra-client` and the server call. The program that
// is read has no access to files, network, environment or clock. Limits bound the cost of hostile
// programs.
#ifndef COBRA_FRONTEND_PYTHON_READER_H_
#define COBRA_FRONTEND_PYTHON_READER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "frontend/python/torch/names/torch_version.h"
#include "graph/graph.h"

namespace cobra::python {

struct Machine;

struct SourceRequest {
  // The user's files: path relative to the bundle's root -> text. One file, or a directory's.
  std::map<std::string, std::string> bundle;
  // Directories on this machine that may be imported from (an installed torchvision); read lazily.
  std::vector<std::string> library_roots;
  // The folder of one more package on this machine, with its __init__.py. It can be imported as if
  // its parent folder were a library root that contains nothing else. It is searched before the
  // roots. Empty: none.
  std::string package;
  // The file in whose name space `entry` is evaluated: a bundle path, or a path inside a library
  // root (then it is loaded as a module of that library).
  std::string file;
  std::string entry;  // expression: "resnet50(num_classes=10)"; empty: the file's only model (ModelChoice::only)
  std::string method = "forward";
  // One per positional argument: "1x3x224x224", "1x128:int64", "name=1x128",
  // "[3x224x224,3x200x200]".
  std::vector<std::string> inputs;
  std::vector<std::pair<std::string, std::string>> arguments;  // --arg name=EXPR
  std::string torch_version = kNewestTorchVersion;
  // More than 0: the model gets the `past_key_values` that it gives after so many tokens
  // (cached_tokens.h).
  int64_t cached_tokens = 0;
  bool keep_values = false;  // of buffers and constants, where they are known: Graph::KnownValues
  bool training = false;     // as after model.train(), under no_grad: batch statistics, dropout; otherwise model.eval()
};

// How much of the limits a read used.
struct ReadUsage {
  int64_t steps = 0, library_steps = 0;
  int64_t memory_bytes = 0;
  bool warm = false;  // the libraries were imported already (interpreter_pool.h)
};

// Errors carry a Diagnostic (base/diagnostic.h). `usage` may be null; it is also filled if the read
// fails.
absl::StatusOr<graph::Graph> ReadPythonModel(const SourceRequest& request, const Limits& limits = {},
                                             ReadUsage* usage = nullptr);
// The same on an interpreter of the caller's (interpreter_image.h), which has the limits already.
absl::StatusOr<graph::Graph> ReadPythonModelOn(Machine* machine, const SourceRequest& request);

struct ModelChoice {
  // Possible entries: "resnet18()", "ResNet(block, layers)", "model". First those that no other one
  // mentions, and of these the ones without required arguments. Imported names are listed only if
  // the file defines none.
  std::vector<std::string> names;
  // A whole entry for the first name, where the file has get_init_inputs():
  // "Net(*get_init_inputs())".
  std::string initial;
  // Imports of the file that were not found, if it has no names.
  std::vector<std::string> missing_modules;
  // The one that no other one mentions, if there is just one, and it needs no arguments; otherwise
  // empty.
  std::string only;
};
// Of request.file. The error of loading it, as ReadPythonModel gives it.
absl::StatusOr<ModelChoice> ListModels(const SourceRequest& request, const Limits& limits = {});
// "resnet18(), ResNet(block, layers)", and " ..." after the first dozen.
std::string ModelList(std::vector<std::string> models);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_READER_H_
