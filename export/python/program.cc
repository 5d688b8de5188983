#include "export/python/program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "export/python/call_text.h"
#include "export/weights.h"

namespace cobra::exporting {
namespace {

using graph::Graph;
using graph::ValueRef;
using Kind = graph::ValueRef::Kind;

// The part that is the same in every program.
constexpr absl::string_view kPrelude = R"py(

def random_tensor(shape, dtype):
    """Numbers that neither overflow nor vanish on their way through a network; integers are indices that exist."""
    if dtype == torch.bool:
        return torch.rand(shape) > 0.5
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.zeros(shape, dtype=dtype)
    if len(shape) < 2:
        return (torch.rand(shape) + 0.5).to(dtype)
    return (torch.randn(shape) / max(1, math.prod(shape[1:])) ** 0.5).to(dtype)


def tensor_of(name, shape, dtype):
    """A tensor that was computed when the model was made has its numbers."""
    known = KNOWN.get(name)
    if known is None:
        return random_tensor(shape, dtype)
    if isinstance(known, str):
        data = bytearray(gzip.decompress(base64.b64decode(known)))
        return torch.frombuffer(data, dtype=dtype).reshape(shape)
    if len(known) == 1:
        return torch.full(shape, known[0], dtype=dtype)
    return torch.tensor(known, dtype=dtype).reshape(shape)


class Block(nn.Module):
    """Holds parameters under the names that they have in the original model."""

    def __getitem__(self, name):
        return self._modules[str(name)]

    def put(self, name, tensor, register):
        owner, (*path, last) = self, name.split(".")
        for step in path:
            if step not in owner._modules:
                owner.add_module(step, Block())
            owner = owner._modules[step]
        register(owner, last, tensor)
)py";

constexpr absl::string_view kConstructor = R"py(
    def __init__(self):
        super().__init__()
        for name, shape, dtype in PARAMETERS:
            parameter = nn.Parameter(random_tensor(shape, dtype), requires_grad=False)
            self.put(name, parameter, nn.Module.register_parameter)
        for name, shape, dtype in BUFFERS:
            self.put(name, tensor_of(name, shape, dtype), nn.Module.register_buffer)
        for name, shape, dtype in CONSTANTS:
            self.register_buffer(name, tensor_of(name, shape, dtype), persistent=False)
        for name, other in SHARED:
            self.put(name, self.get_parameter(other), nn.Module.register_parameter)
)py";

constexpr absl::string_view kEnd = R"py(

def example_inputs():
    return [random_tensor(shape, dtype) for name, shape, dtype in INPUTS]


if __name__ == "__main__":
    with torch.inference_mode():
        print(Network().eval()(*example_inputs()))
)py";

bool IsIdentifier(absl::string_view text) {
  static const auto& words = *new std::set<absl::string_view>{
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  if (text.empty() || absl::ascii_isdigit(static_cast<unsigned char>(text[0])) || words.count(text) > 0) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c)); });
}

// What nn.Module has itself, and the program's own names.
bool IsTaken(absl::string_view name) {
  static const auto& taken = *new std::set<absl::string_view>{"training",
                                                              "forward",
                                                              "put",
                                                              "eval",
                                                              "train",
                                                              "to",
                                                              "cpu",
                                                              "cuda",
                                                              "float",
                                                              "double",
                                                              "half",
                                                              "bfloat16",
                                                              "type",
                                                              "apply",
                                                              "modules",
                                                              "children",
                                                              "parameters",
                                                              "buffers",
                                                              "state_dict",
                                                              "load_state_dict",
                                                              "zero_grad",
                                                              "share_memory",
                                                              "extra_repr",
                                                              "compile",
                                                              "call_super_init",
                                                              "dump_patches",
                                                              "T_destination",
                                                              "add_module",
                                                              "register_buffer",
                                                              "register_module",
                                                              "register_parameter",
                                                              "requires_grad_",
                                                              "to_empty",
                                                              "xpu",
                                                              "ipu",
                                                              "mtia"};
  return taken.count(name) > 0 || absl::StartsWith(name, "_") || absl::StartsWith(name, "get_") ||
         absl::StartsWith(name, "set_") || absl::StartsWith(name, "named_") || absl::StartsWith(name, "register_");
}

// Names of parameters and buffers as paths of modules; a name that cannot be one becomes weight_N.
class TensorNames {
 public:
  explicit TensorNames(const Graph& graph) {
    for (const auto& tensors : {graph.parameters(), graph.buffers()}) {
      for (const graph::NamedTensor& tensor : tensors) Count(tensor.name);
    }
    for (const auto& [alias, index] : graph.parameter_aliases()) Count(alias);
  }
  // "layer1.0.weight" as it is; otherwise the fallback.
  std::string NameOf(absl::string_view name, absl::string_view fallback) const {
    return IsPath(name) ? std::string(name) : std::string(fallback);
  }
  // How forward() reads it: "self.layer1[0].weight".
  static std::string Read(absl::string_view name) {
    std::string text = "self";
    for (absl::string_view step : absl::StrSplit(name, '.')) {
      const bool number = absl::ascii_isdigit(static_cast<unsigned char>(step[0]));
      absl::StrAppend(&text, number ? "[" : ".", step, number ? "]" : "");
    }
    return text;
  }

 private:
  void Count(absl::string_view name) {
    ++names_[std::string(name)];
    for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1))
      modules_.insert(std::string(name.substr(0, dot)));
  }
  bool IsPath(absl::string_view name) const {
    const auto found = names_.find(name);
    if (found == names_.end() || found->second > 1 || modules_.count(name) > 0) return false;
    const std::vector<absl::string_view> steps = absl::StrSplit(name, '.');
    for (size_t i = 0; i < steps.size(); ++i) {
      const bool number = !steps[i].empty() && i + 1 < steps.size() && steps[i].size() < 9 &&
                          (steps[i].size() == 1 || steps[i][0] != '0') &&
                          std::all_of(steps[i].begin(), steps[i].end(), absl::ascii_isdigit);
      if (!number && (!IsIdentifier(steps[i]) || IsTaken(steps[i]))) return false;
    }
    return true;
  }

  std::map<std::string, int, std::less<>> names_;
  std::set<std::string, std::less<>> modules_;
};

// Gives variables to values: the name of a value that is read for the last time goes to what the
// same call makes.
class Variables {
 public:
  explicit Variables(std::set<std::string> taken) : taken_(std::move(taken)) {}
  std::string New() {
    if (!free_.empty()) {
      std::string name = *free_.begin();
      free_.erase(free_.begin());
      return name;
    }
    for (;;) {
      std::string name = count_ == 0 ? "x" : absl::StrCat("x", count_);
      ++count_;
      if (taken_.count(name) == 0) return name;
    }
  }
  void Free(const std::string& name) { free_.insert(name); }

 private:
  struct ByNumber {
    bool operator()(const std::string& a, const std::string& b) const {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    }
  };
  std::set<std::string, ByNumber> free_;
  std::set<std::string> taken_;
  int count_ = 0;
};

class ProgramWriter {
 public:
  explicit ProgramWriter(const Graph& graph) : graph_(graph), tensor_names_(graph), variables_({}) {}
  absl::StatusOr<std::string> Write(absl::string_view source);

 private:
  void NameTensors();
  void NameInputs();
  void FindLastUses();
  std::string Table(absl::string_view name, absl::Span<const graph::NamedTensor> tensors,
                    absl::Span<const std::string> names) const;
  std::string SharedTable() const;
  std::string OriginalNames() const;
  std::string KnownTable() const;
  std::string& NameOf(ValueRef ref) { return values_[{ref.index, ref.output}]; }
  std::string Text(ValueRef ref);
  absl::Status WriteNode(int index);
  // Variables that no later call reads, after the call `index`; each once.
  std::vector<std::string> Dying(int index);
  void Line(absl::string_view text) { absl::StrAppend(&body_, "        ", text, "\n"); }
  void Comment(const graph::Node& node);

  const Graph& graph_;
  const TensorNames tensor_names_;
  Variables variables_;
  std::vector<std::string> parameters_, buffers_, constants_, inputs_;
  std::map<std::pair<int32_t, int32_t>, std::string> values_;
  // By variable: how many values that are still read it holds.
  std::map<std::string, int> held_;
  std::map<std::tuple<Kind, int32_t, int32_t>, int> last_use_;
  std::string body_, module_;
};

void ProgramWriter::NameTensors() {
  const auto name_all = [this](absl::Span<const graph::NamedTensor> tensors, absl::string_view prefix,
                               std::vector<std::string>* names) {
    for (size_t i = 0; i < tensors.size(); ++i)
      names->push_back(tensor_names_.NameOf(tensors[i].name, absl::StrCat(prefix, i)));
  };
  name_all(graph_.parameters(), "weight_", &parameters_);
  name_all(graph_.buffers(), "buffer_", &buffers_);
  for (size_t i = 0; i < graph_.constants().size(); ++i) constants_.push_back(absl::StrCat("constant_", i));
}

void ProgramWriter::NameInputs() {
  static const std::set<std::string> kOwn = {"self", "torch", "torchvision", "math", "nn", "F"};
  std::set<std::string> taken = kOwn;
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    std::string name = graph_.inputs()[i].name;
    if (!IsIdentifier(name) || !taken.insert(name).second) name = absl::StrCat("input_", i);
    taken.insert(name);
    inputs_.push_back(std::move(name));
  }
  variables_ = Variables(std::move(taken));
}

void ProgramWriter::FindLastUses() {
  const auto& nodes = graph_.nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const ValueRef& ref : nodes[i].inputs) last_use_[{ref.kind, ref.index, ref.output}] = static_cast<int>(i);
  }
  for (const ValueRef& ref : graph_.outputs())
    last_use_[{ref.kind, ref.index, ref.output}] = static_cast<int>(nodes.size());
}

std::string ProgramWriter::Table(absl::string_view name, absl::Span<const graph::NamedTensor> tensors,
                                 absl::Span<const std::string> names) const {
  std::string text = absl::StrCat("\n", name, " = [");
  for (size_t i = 0; i < tensors.size(); ++i) {
    const graph::TensorType& type = tensors[i].type;
    absl::StrAppend(&text, "\n    (\"", names[i], "\", ", TupleText(type.shape), ", ", DTypeText(type.dtype), "),");
  }
  absl::StrAppend(&text, tensors.empty() ? "]" : "\n]");
  return text;
}

std::string ProgramWriter::SharedTable() const {
  std::string text = "\nSHARED = [";
  for (const auto& [alias, index] : graph_.parameter_aliases()) {
    const std::string name = tensor_names_.NameOf(alias, "");
    if (!name.empty())
      absl::StrAppend(&text, "\n    (\"", name, "\", \"", parameters_[static_cast<size_t>(index)], "\"),");
  }
  return absl::StrCat(text, absl::EndsWith(text, "[") ? "]" : "\n]");
}

std::string ProgramWriter::OriginalNames() const {
  std::string text = "\nORIGINAL_NAMES = {";
  const auto add = [&text](absl::Span<const graph::NamedTensor> tensors, absl::Span<const std::string> names) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].name != names[i])
        absl::StrAppend(&text, "\n    \"", names[i], "\": \"", absl::Utf8SafeCHexEscape(tensors[i].name), "\",");
    }
  };
  add(graph_.parameters(), parameters_);
  add(graph_.buffers(), buffers_);
  add(graph_.constants(), constants_);
  return absl::StrCat(text, absl::EndsWith(text, "{") ? "}" : "\n}");
}

// A few numbers as a list, one for all if they are equal; more of them packed.
std::string KnownText(graph::DType dtype, const std::vector<double>& values) {
  constexpr size_t kFew = 64;
  const bool equal = !values.empty() &&
                     std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
  if (!equal && values.size() > kFew) return absl::StrCat("\"", absl::Base64Escape(Gzip(BytesOf(dtype, values))), "\"");
  const std::vector<double> numbers(values.begin(), equal ? values.begin() + 1 : values.end());
  return absl::StrCat("[",
                      absl::StrJoin(numbers, ", ",
                                    [dtype](std::string* out, double value) {
                                      absl::StrAppend(
                                          out, dtype == graph::DType::bool_ ? (value != 0 ? "True" : "False")
                                               : graph::IsIntegral(dtype)   ? absl::StrCat(static_cast<int64_t>(value))
                                                                            : NumberText(value));
                                    }),
                      "]");
}

std::string ProgramWriter::KnownTable() const {
  std::string text = "\nKNOWN = {";
  const auto add = [&](ValueRef ref, const graph::NamedTensor& tensor, const std::string& name) {
    const auto values = graph_.KnownValues(ref);
    if (values == nullptr || static_cast<int64_t>(values->size()) != tensor.type.num_elements()) return;
    absl::StrAppend(&text, "\n    \"", name, "\": ", KnownText(tensor.type.dtype, *values), ",");
  };
  for (size_t i = 0; i < buffers_.size(); ++i)
    add(ValueRef::Buffer(static_cast<int32_t>(i)), graph_.buffers()[i], buffers_[i]);
  for (size_t i = 0; i < constants_.size(); ++i)
    add(ValueRef::Constant(static_cast<int32_t>(i)), graph_.constants()[i], constants_[i]);
  return absl::StrCat(text, absl::EndsWith(text, "{") ? "}" : "\n}");
}

std::string ProgramWriter::Text(ValueRef ref) {
  switch (ref.kind) {
    case Kind::kNone: return "";
    case Kind::kNode: return NameOf(ref);
    case Kind::kInput: return inputs_[static_cast<size_t>(ref.index)];
    case Kind::kParameter: return TensorNames::Read(parameters_[static_cast<size_t>(ref.index)]);
    case Kind::kBuffer: return TensorNames::Read(buffers_[static_cast<size_t>(ref.index)]);
    case Kind::kConstant: return absl::StrCat("self.", constants_[static_cast<size_t>(ref.index)]);
  }
  return "";
}

std::vector<std::string> ProgramWriter::Dying(int index) {
  std::vector<std::string> names;
  std::set<std::pair<int32_t, int32_t>> seen;
  for (const ValueRef& ref : graph_.nodes()[static_cast<size_t>(index)].inputs) {
    if (!ref.is_node() || last_use_[{ref.kind, ref.index, ref.output}] != index) continue;
    if (!seen.insert({ref.index, ref.output}).second) continue;
    const std::string& name = NameOf(ref);
    if (--held_[name] == 0) names.push_back(name);
  }
  return names;
}

// Where the calls come from, whenever that changes.
void ProgramWriter::Comment(const graph::Node& node) {
  const graph::Origin& origin = node.origin;
  if (origin.module_path == module_) return;
  module_ = origin.module_path;
  const std::string file = origin.file == nullptr ? "" : std::string(origin.file->substr(origin.file->rfind('/') + 1));
  const std::string where = file.empty() ? "" : absl::StrCat(" (", file, ":", origin.line, ")");
  if (!module_.empty() || !where.empty()) Line(absl::StrCat("# ", module_.empty() ? "the model" : module_, where));
}

absl::Status ProgramWriter::WriteNode(int index) {
  const graph::Node& node = graph_.nodes()[static_cast<size_t>(index)];
  std::vector<std::string> operands;
  for (const ValueRef& ref : node.inputs) operands.push_back(Text(ref));
  COBRA_ASSIGN_OR_RETURN(const CallText call, WriteCall(node, operands));
  Comment(node);
  std::vector<std::string> dying = Dying(index);
  const auto is_read = [this, index](size_t output) {
    return last_use_.count({Kind::kNode, index, static_cast<int32_t>(output)}) > 0;
  };
  if (call.is_statement) {
    if (!call.text.empty()) Line(call.text);
    const std::string& changed = operands[static_cast<size_t>(call.is_operand)];
    if (is_read(0)) {  // the same object: the same variable, if it is one
      const bool variable = held_.count(changed) > 0;
      const std::string name = variable ? changed : variables_.New();
      if (!variable) Line(absl::StrCat(name, " = ", changed));
      ++held_[name];
      NameOf(ValueRef::Node(index)) = name;
      dying.erase(std::remove(dying.begin(), dying.end(), name), dying.end());
    }
  } else {
    for (const std::string& name : dying) variables_.Free(name);
    std::vector<std::string> targets;
    for (size_t i = 0; i < std::max<size_t>(1, static_cast<size_t>(call.tuple)); ++i) {
      if (i >= node.outputs.size() || !is_read(i)) {
        targets.push_back("_");
        continue;
      }
      targets.push_back(variables_.New());
      ++held_[targets.back()];
      NameOf(ValueRef::Node(index, static_cast<int32_t>(i))) = targets.back();
    }
    const std::string left = absl::StrCat(absl::StrJoin(targets, ", "), call.tuple == 1 ? "," : "");
    Line(absl::StrCat(left, " = ", call.text));
    dying.erase(std::remove_if(dying.begin(), dying.end(),
                               [&](const std::string& name) {
                                 return std::find(targets.begin(), targets.end(), name) != targets.end();
                               }),
                dying.end());
    if (std::find(targets.begin(), targets.end(), "_") != targets.end()) dying.push_back("_");
  }
  if (call.is_statement) {
    for (const std::string& name : dying) variables_.Free(name);
  }
  // What is read no more gives its memory back before the next call.
  if (!dying.empty()) Line(absl::StrCat("del ", absl::StrJoin(dying, ", ")));
  return absl::OkStatus();
}

absl::StatusOr<std::string> ProgramWriter::Write(absl::string_view source) {
  NameTensors();
  NameInputs();
  FindLastUses();
  for (int i = 0; i < static_cast<int>(graph_.nodes().size()); ++i) COBRA_RETURN_IF_ERROR(WriteNode(i));
  std::vector<std::string> outputs;
  for (const ValueRef& ref : graph_.outputs()) outputs.push_back(Text(ref));
  Line(absl::StrCat("return ", outputs.size() == 1
                                   ? outputs[0]
                                   : absl::StrCat("(", absl::StrJoin(outputs, ", "), outputs.empty() ? ")" : ",)")));
  std::string text = source.empty() ? "" : absl::StrCat("# ", absl::StrReplaceAll(source, {{"\n", " "}}), "\n");
  absl::StrAppend(
      &text,
      "# Written by cobra-client graph --format python. The numbers of the weights are random: load_state_dict()\n",
      "# takes those of the original model.\n");
  const std::string known = KnownTable();
  if (absl::StrContains(known, ": \"")) absl::StrAppend(&text, "import base64\nimport gzip\n");
  absl::StrAppend(&text, "import math\n\nimport torch\nimport torch.nn.functional as F\n");
  if (absl::StrContains(body_, "torchvision.")) absl::StrAppend(&text, "import torchvision\n");
  absl::StrAppend(
      &text, "from torch import nn\n", Table("INPUTS", graph_.inputs(), inputs_),
      Table("PARAMETERS", graph_.parameters(), parameters_), Table("BUFFERS", graph_.buffers(), buffers_),
      Table("CONSTANTS", graph_.constants(), constants_), SharedTable(), OriginalNames(), known,
      "# Of the graph. forward() has as many statements, beside those that give memory back, if each is one call.\n",
      "CALLS = ", graph_.nodes().size(), "\n", kPrelude, "\n\nclass Network(Block):", kConstructor,
      "\n    def forward(self, ", absl::StrJoin(inputs_, ", "), "):\n", body_, kEnd);
  return text;
}

}  // namespace

absl::StatusOr<std::string> WriteProgram(const Graph& graph, absl::string_view source) {
  return ProgramWriter(graph).Write(source);
}

}  // namespace cobra::exporting
