#include "frontend/python/cached_tokens.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "frontend/python/list_models.h"
#include "frontend/python/nested_tensors.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/syntax/ast.h"
#include "frontend/python/torch/tensor/tensor.h"
#include "graph/types.h"

namespace cobra::python {
namespace {

Failure Refused(Interpreter& interp, int64_t tokens, absl::string_view why, absl::string_view hint) {
  return interp.FromStatus(DiagnosticToStatus(
      {Diagnostic::Kind::kUsage, absl::StrCat("--cached-tokens ", tokens, ": ", why), std::string(hint)}));
}

// Of the step alone.
bool IsOfStep(absl::string_view name) {
  return absl::StrContains(name, "mask") || absl::StrContains(name, "position") || absl::StrContains(name, "cache");
}

Result<Value> Zeros(Interpreter& interp, ModuleObject* module, const graph::TensorType& type) {
  return interp.EvalExpression(
      absl::StrCat("torch.zeros((", absl::StrJoin(type.shape, ","), type.rank() == 1 ? "," : "", "), dtype=torch.",
                   graph::DTypeName(type.dtype), ")"),
      module);
}

Result<Value> CacheIn(Interpreter& interp, Value output) {
  constexpr char kName[] = "past_key_values";
  if (!output.IsDict()) return interp.GetAttrOrUnbound(output, kName);
  return interp.DictGetStr(output.as<DictObject>(), kName);
}

// Whether the model's own forward() takes `name`; true where that cannot be seen.
bool Takes(Interpreter& interp, Value model, absl::string_view name) {
  const ast::FunctionDef* definition = DefinitionOf(interp, model, "forward");
  if (definition == nullptr) return true;
  const ast::Arguments& a = *definition->args;
  const auto is_it = [&](const ast::Arg* arg) { return arg->arg->text == name; };
  return a.kwarg != nullptr || absl::c_any_of(a.args, is_it) || absl::c_any_of(a.kwonlyargs, is_it);
}

}  // namespace

Result<Value> CacheOfTokens(Interpreter& interp, ModuleObject* module, Value model, absl::Span<const InputSpec> inputs,
                            int64_t tokens) {
  for (const char* name : {"use_cache", "past_key_values"}) {
    if (!Takes(interp, model, name))
      return Refused(interp, tokens, absl::StrCat("the model takes no ", name),
                     "it is for decoders of transformers; give other states as inputs");
  }
  size_t stepped = 0;
  for (size_t i = inputs.size(); i > 0; --i) {
    if (absl::StartsWith(inputs[i - 1].name, "decoder_") && !IsOfStep(inputs[i - 1].name)) stepped = i - 1;
  }
  std::vector<Value> positional;
  std::vector<KeywordArg> keywords;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputSpec& input = inputs[i];
    if (IsOfStep(input.name) || input.value.kind == InputValue::Kind::kNone) continue;
    graph::TensorType type = input.value.tensor;
    if (input.value.kind != InputValue::Kind::kTensor || (i == stepped && type.rank() < 2))
      return Refused(interp, tokens, "an input is not a tensor of a batch and tokens", "such as input_ids=1x1:int64");
    if (i == stepped) type.shape[1] = tokens;
    COBRA_TRY_ASSIGN(const Value zeros, Zeros(interp, module, type));
    if (input.name.empty()) {
      positional.push_back(zeros);
    } else {
      keywords.push_back({interp.Intern(input.name), zeros});
    }
  }
  keywords.push_back({interp.Intern("use_cache"), Value::Bool(true)});
  COBRA_TRY_ASSIGN(const Value output, interp.Call(model, positional, keywords));
  COBRA_TRY_ASSIGN(const Value cache, CacheIn(interp, output));
  graph::GraphBuilder& builder = Torch(interp).builder;
  absl::flat_hash_set<const Tensor*> made;
  const auto make_input = [&](Tensor* tensor) {
    if (!made.insert(tensor).second) return;
    tensor->ref = builder.AddInput(absl::StrCat("past_key_values.", made.size() - 1), tensor->type);
    tensor->computed = graph::ValueRef::None();
    tensor->values = {};
    tensor->base = nullptr;  // views of one tensor become inputs of their own
    tensor->view = nullptr;
    tensor->is_random = tensor->is_drawn = tensor->has_hidden_base = false;
  };
  if (!cache.IsUnbound()) COBRA_TRY(NestedTensors().Visit(interp, cache, make_input));
  if (made.empty())
    return Refused(interp, tokens, "the model gives no past_key_values",
                   "it is for decoders of transformers; give other states as inputs");
  return cache;
}

}  // namespace cobra::python
