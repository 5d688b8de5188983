#include "worker/run/same_results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/file/tensor_file.h"
#include "base/status_macros.h"
#include "graph/op_rules.h"
#include "worker/execute/executor.h"

namespace cobra::worker {
namespace {

using graph::DType;
using graph::ValueRef;

// Of the types in which runners write outputs.
absl::StatusOr<std::vector<double>> NumbersOf(const StoredTensor& tensor) {
  static constexpr std::pair<absl::string_view, DType> kTypes[] = {
      {"F32", DType::float32}, {"F64", DType::float64}, {"F16", DType::float16}, {"BF16", DType::bfloat16},
      {"I64", DType::int64},   {"I32", DType::int32},   {"I16", DType::int16},   {"I8", DType::int8},
      {"U8", DType::uint8},    {"BOOL", DType::bool_}};
  for (const auto& [name, dtype] : kTypes) {
    if (name == tensor.dtype) return exporting::ValuesOf(dtype, tensor.bytes);
  }
  return absl::InternalError(absl::StrCat("an output of type ", tensor.dtype));
}

absl::Status SetNumbers(Executor* executor, const graph::Graph& graph, ValueRef ref, absl::string_view bytes) {
  return executor->SetValues(ref, exporting::ValuesOf(graph.TypeOf(ref).dtype, bytes));
}

// Of each output: whether it depends on a random source, or on memory that nobody set. No two runs
// agree then.
std::vector<bool> DiffersFromRunToRun(const graph::Graph& graph) {
  std::vector<bool> calls;
  const auto differs = [&](ValueRef ref) { return ref.is_node() && calls[static_cast<size_t>(ref.index)]; };
  for (const graph::Node& node : graph.nodes()) {
    const bool is_fixed = graph::RulesOf(node.op).randomness == graph::Randomness::kFixed;
    calls.push_back(!is_fixed || std::any_of(node.inputs.begin(), node.inputs.end(), differs));
  }
  std::vector<bool> outputs;
  for (ValueRef output : graph.outputs()) outputs.push_back(differs(output));
  return outputs;
}

// Numbers that order others (argmax, topk) may change places with equals: of these one in a hundred
// may differ. `whose`: "LibTorch's".
absl::Status Compare(absl::string_view whose, size_t output, DType dtype, absl::Span<const double> ours,
                     absl::Span<const double> theirs, double tolerance) {
  const auto differs = [&](auto... what) {
    return absl::InternalError(absl::StrCat("output ", output, " is not ", whose, ": ", what...));
  };
  if (ours.size() != theirs.size()) return differs(theirs.size(), " numbers, not ", ours.size());
  double largest = 0, worst = 0;
  size_t unequal = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (std::isfinite(ours[i])) largest = std::max(largest, std::abs(ours[i]));
    if (std::isnan(ours[i]) && std::isnan(theirs[i])) continue;
    if (ours[i] == theirs[i]) continue;
    ++unequal;
    const double difference = std::abs(ours[i] - theirs[i]);
    worst = std::isfinite(difference) ? std::max(worst, difference) : INFINITY;
  }
  if (!graph::IsFloatingPoint(dtype))
    return unequal * 100 <= ours.size() ? absl::OkStatus() : differs(unequal, " of ", ours.size(), " integers differ");
  if (worst <= tolerance * largest) return absl::OkStatus();
  return differs("the largest difference is ", worst, ", the largest number ", largest);
}

using Tensors = std::map<std::string, StoredTensor>;

absl::StatusOr<std::vector<double>> OutputOf(const Tensors& outputs, size_t i) {
  const auto found = outputs.find(absl::StrCat(i));
  if (found == outputs.end()) return absl::InternalError(absl::StrCat("output ", i, " is missing"));
  return NumbersOf(found->second);
}

absl::Status CompareAll(absl::string_view whose, const graph::Graph& graph,
                        const std::vector<std::vector<double>>& ours, const Tensors& outputs, double tolerance) {
  const std::vector<bool> differs = DiffersFromRunToRun(graph);
  for (size_t i = 0; i < ours.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<double> theirs, OutputOf(outputs, i));
    if (differs[i] && theirs.size() == ours[i].size()) continue;
    COBRA_RETURN_IF_ERROR(Compare(whose, i, graph.TypeOf(graph.outputs()[i]).dtype, ours[i], theirs, tolerance));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompareWithLibTorch(const graph::Graph& graph, const exporting::Weights& weights,
                                 absl::Span<const std::string> inputs, absl::string_view outputs_file,
                                 double tolerance) {
  COBRA_ASSIGN_OR_RETURN(const auto outputs, ReadTensorFile(outputs_file));
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::Create(graph, 1));
  const auto set_all = [&](size_t count, ValueRef (*ref)(int32_t)) -> absl::Status {
    for (size_t i = 0; i < count; ++i) {
      const ValueRef tensor = ref(static_cast<int32_t>(i));
      COBRA_RETURN_IF_ERROR(SetNumbers(executor.get(), graph, tensor, weights.Bytes(tensor)));
    }
    return absl::OkStatus();
  };
  COBRA_RETURN_IF_ERROR(set_all(graph.parameters().size(), ValueRef::Parameter));
  COBRA_RETURN_IF_ERROR(set_all(graph.buffers().size(), ValueRef::Buffer));
  COBRA_RETURN_IF_ERROR(set_all(graph.constants().size(), ValueRef::Constant));
  for (size_t i = 0; i < inputs.size(); ++i)
    COBRA_RETURN_IF_ERROR(SetNumbers(executor.get(), graph, ValueRef::Input(static_cast<int32_t>(i)), inputs[i]));
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::vector<double>> ours, executor->RunForValues());
  return CompareAll("LibTorch's", graph, ours, outputs, tolerance);
}

absl::Status CompareWithPyTorch(const graph::Graph& graph, absl::string_view torch_file, absl::string_view outputs_file,
                                double tolerance) {
  COBRA_ASSIGN_OR_RETURN(const auto outputs, ReadTensorFile(outputs_file));
  COBRA_ASSIGN_OR_RETURN(const auto of_torch, ReadTensorFile(torch_file));
  std::vector<std::vector<double>> ours;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(std::vector<double> numbers, OutputOf(of_torch, i));
    ours.push_back(std::move(numbers));
  }
  return CompareAll("PyTorch's", graph, ours, outputs, tolerance);
}

absl::Status CheckSizes(const graph::Graph& graph, absl::string_view outputs_file) {
  COBRA_ASSIGN_OR_RETURN(const auto outputs, ReadTensorFile(outputs_file));
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<double> theirs, OutputOf(outputs, i));
    const graph::TensorType& type = graph.TypeOf(graph.outputs()[i]);
    const int64_t numbers = type.num_elements() * (graph::IsComplex(type.dtype) ? 2 : 1);
    if (static_cast<int64_t>(theirs.size()) != numbers)
      return absl::InternalError(absl::StrCat("output ", i, " has ", theirs.size(), " numbers, not ", numbers));
  }
  return absl::OkStatus();
}

}  // namespace cobra::worker
