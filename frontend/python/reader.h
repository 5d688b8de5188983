// PyTorch source in, graph out: the phase that `cobra-client` and the server call. No file, network, environment or
// clock access from the program that is read; limits bound what a hostile one can cost.
#ifndef COBRA_FRONTEND_PYTHON_READER_H_
#define COBRA_FRONTEND_PYTHON_READER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "graph/graph.h"

namespace cobra::python {

struct SourceRequest {
  // The user's files: path relative to the bundle's root -> text. One file, or a directory's.
  std::map<std::string, std::string> bundle;
  // Directories on this machine that may be imported from (an installed torchvision); read lazily.
  std::vector<std::string> library_roots;
  // The folder of one more package of this machine, with its __init__.py: it may be imported as if its folder were a
  // library root, and nothing beside it. Comes before the roots. Empty: none.
  std::string package;
  // The file whose name space `entry` is evaluated in: a bundle path, or a path inside a library root (then it is
  // loaded as the module that it is there).
  std::string file;
  std::string entry;  // expression: "resnet50(num_classes=10)"
  std::string method = "forward";
  std::vector<std::string>
      inputs;  // one per positional argument: "1x3x224x224", "1x128:int64", "name=1x128", "[3x224x224,3x200x200]"
  std::vector<std::pair<std::string, std::string>> arguments;  // --arg name=EXPR
  std::string torch_version = "1.13.1";
};

// What a read cost of what Limits bound.
struct ReadUsage {
  int64_t steps = 0;
  int64_t memory_bytes = 0;
  bool warm = false;  // the libraries were imported already (interpreter_pool.h)
};

// Errors carry a Diagnostic (base/diagnostic.h). `usage` may be null; it is filled also when the read fails.
absl::StatusOr<graph::Graph> ReadPythonModel(const SourceRequest& request, const Limits& limits = {},
                                             ReadUsage* usage = nullptr);

// For who has not named the entry: what request.file offers, as it is called: "resnet18()", "ResNet(block, layers)".
// What needs no argument comes first; what the file imports only if it defines nothing. Empty if it cannot be loaded.
std::vector<std::string> ModelsThere(const SourceRequest& request, const Limits& limits = {});
// "resnet18(), ResNet(block, layers)", and " ..." for those beyond the first dozen.
std::string ModelList(std::vector<std::string> models);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_READER_H_
