// eval_torch [--torch-version V]: evaluates one Python expression a line of standard input as a
// network's forward() would, and prints one JSON line for each: what came out (shapes, types,
// values of constants, what is a view of what) and the calls that were recorded. T(shape, dtype)
// makes an input of the network, C(data, dtype) a constant; I[...] is the index between the
// brackets. For torch_support_test.py and composites_test.py.
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "frontend/python/interpreter_image.h"
#include "frontend/python/torch/functions/functions.h"
#include "frontend/python/torch/library.h"
#include "frontend/python/torch/tensor/tensor.h"
#include "graph/constants/constant_calls.h"
#include "nlohmann/json.hpp"

namespace cobra::python {
namespace {

using nlohmann::json;

constexpr int kGroup = 50;  // lines that share one interpreter

struct Case {
  std::vector<Value> made;  // by T() and C(), in order
};

json AttributeJson(const graph::AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> json {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, graph::NoneValue>) {
          return nullptr;
        } else if constexpr (std::is_same_v<V, double>) {
          if (!std::isfinite(v)) return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
          return v;
        } else {
          return v;
        }
      },
      value);
}

json Number(double v) {
  if (std::isfinite(v)) return v;
  return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}

class Evaluator {
 public:
  Evaluator(Interpreter& interp, Case* current) : interp_(interp), case_(*current) {}

  Result<void> Describe(Value value, json* out) {
    if (Tensor* tensor = AsTensor(value)) {
      *out = DescribeTensor(value, tensor);
      return {};
    }
    const bool size = interp_.class_of(value) == Torch(interp_).size_class;
    if ((value.IsTuple() && !size) || value.IsList()) {
      COBRA_TRY_ASSIGN(std::vector<Value> items, interp_.ToVector(value));
      *out = json::array();
      for (Value item : items) {
        out->push_back(nullptr);
        COBRA_TRY(Describe(item, &out->back()));
      }
      return {};
    }
    COBRA_TRY_ASSIGN(StrObject * text, interp_.Repr(value));
    *out = std::string(text->view());
    return {};
  }

 private:
  json DescribeTensor(Value value, Tensor* tensor) {
    Refresh(interp_, tensor);
    json out{{"type", graph::TypeText(tensor->type)}};
    if (tensor->is_const() && tensor->values != nullptr && !tensor->is_random) {
      json values = json::array();
      for (double v : *tensor->values) values.push_back(Number(v));
      out["values"] = std::move(values);
    }
    for (size_t k = 0; k < case_.made.size(); ++k) {
      if (case_.made[k].object() == value.object()) out["same"] = k;
      if (tensor->base != nullptr && case_.made[k].object() == tensor->base) out["view"] = k;
    }
    out["contiguous"] = IsContiguousNow(interp_, tensor);
    return out;
  }

  Interpreter& interp_;
  Case& case_;
};

NativeFunction MakeInput(TorchState* state, Case* current) {
  return [=](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(std::vector<Value> sizes, interp.ToVector(args.positional[0]));
    graph::TensorType type;
    for (Value v : sizes) type.shape.push_back(v.as_int());
    type.dtype = graph::DTypeFromName(args.positional[1].str()).value();
    const Value made = NewGraphTensor(interp, type, state->builder.AddInput("x", type));
    current->made.push_back(made);
    return made;
  };
}

NativeFunction MakeConstant(Case* current) {
  return [=](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value made, TensorFromData(interp, args.positional[0],
                                                graph::DTypeFromName(args.positional[1].str()), "tensor"));
    current->made.push_back(made);
    return made;
  };
}

json Calls(const TorchState& state, size_t first) {
  json calls = json::array();
  const std::vector<bool> constant = graph::ConstantCalls(state.builder.graph(), /*of_parameters=*/true);
  for (size_t k = first; k < state.builder.nodes().size(); ++k) {
    const graph::Node& node = state.builder.nodes()[k];
    if (node.op == graph::Op::as_base || node.inputs.empty() || constant[k]) continue;
    json attributes = json::object();
    for (const auto& [name, value] : node.attributes) attributes[name] = AttributeJson(value);
    json out = json::array();
    for (const graph::TensorType& type : node.outputs) out.push_back(graph::TypeText(type));
    calls.push_back({{"op", graph::OpName(node.op)}, {"args", attributes}, {"inplace", node.inplace}, {"out", out}});
  }
  return calls;
}

void EvaluateGroup(const std::vector<std::string>& lines, const std::string& version) {
  TorchState state;
  Case current;
  InterpreterOptions options;
  options.bundle = {{"cases.py",
                     "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
                     "class Indices:\n  def __getitem__(self, index):\n    return index\n\nI = Indices()\n"}};
  options.natives = &AllNatives();
  options.torch_version = version;
  options.host = &state;
  auto interp = Interpreter::Create(std::move(options)).value();
  ModuleObject* module = nullptr;
  const absl::Status loaded = interp->Run([&](Interpreter& i) -> Result<void> {
    COBRA_TRY_ASSIGN(module, i.LoadFile("cases.py"));
    i.DictSetStr(module->attrs, "T", i.NewFunction("T", MakeInput(&state, &current)));
    i.DictSetStr(module->attrs, "C", i.NewFunction("C", MakeConstant(&current)));
    return {};
  });
  if (!loaded.ok()) std::cerr << loaded << "\n";
  for (const std::string& line : lines) {
    current = {};
    const size_t first = state.builder.nodes().size();
    state.recording = true;
    state.module_stack = {&state.root};
    json answer;
    const absl::Status status = interp->Run([&](Interpreter& i) -> Result<void> {
      COBRA_TRY_ASSIGN(Value value, i.EvalExpression(line, module));
      return Evaluator(i, &current).Describe(value, &answer["out"]);
    });
    if (status.ok()) {
      answer["calls"] = Calls(state, first);
    } else {
      const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
      answer = {{"error", diagnostic ? diagnostic->message : std::string(status.message())},
                {"unsupported", !diagnostic || diagnostic->kind != Diagnostic::Kind::kModelError}};
    }
    std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
  }
}

int Main(int argc, char** argv) {
  std::string version = "1.13.1";
  if (argc > 2 && absl::string_view(argv[1]) == "--torch-version") version = argv[2];
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) {
    lines.push_back(line);
    if (static_cast<int>(lines.size()) == kGroup) {
      EvaluateGroup(lines, version);
      lines.clear();
    }
  }
  EvaluateGroup(lines, version);
  return 0;
}

}  // namespace
}  // namespace cobra::python

int main(int argc, char** argv) { return cobra::python::Main(argc, argv); }
