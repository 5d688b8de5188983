#include <algorithm>
#include <cmath>

#include "graph/constants/const_eval.h"
#include "graph/constants/const_rules.h"

namespace cobra::graph {
namespace {

using const_rules::ConstRule;
using const_rules::ConstRulesOf;

constexpr double kExactIntegers = 1 << 24;  // of float32

// The outputs have elements of the first input, and no others.
bool OnlyMoves(Op op, const Attributes& attributes) {
  namespace r = const_rules;
  const ConstRule rule = ConstRulesOf(op).real;
  if (rule == r::GetItem) return attributes.String("index").find('[') == std::string::npos;  // no index tensors
  if (op == Op::interpolate) return attributes.String("mode", "nearest").substr(0, 7) == "nearest";
  for (const ConstRule moving : {r::Unchanged, r::Expanded, r::DimsMoved, r::Permuted, r::Transposed, r::LastTwoSwapped,
                                 r::Flip, r::Roll, r::Rot90, r::Repeat, r::Reversed, r::Pieces, r::Diagonal}) {
    if (rule == moving) return true;
  }
  return false;
}

bool IsElementwise(Op op) {
  namespace r = const_rules;
  const ConstRule rule = ConstRulesOf(op).real;
  return rule == r::Unary || rule == r::Binary || rule == r::Clamp || rule == r::Where || rule == r::BitwiseNot ||
         rule == r::MaskedFill;
}

std::optional<double> Elementwise(Op op, const Attributes& attributes, absl::Span<const UniformInput> inputs,
                                  DType dtype) {
  TensorTypes types(inputs.size());
  std::vector<std::vector<double>> values(inputs.size());
  std::vector<ConstInput> ones(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type == nullptr) continue;
    types[i] = {{}, inputs[i].type->dtype};
    values[i] = {inputs[i].value};
    ones[i] = {&types[i], &values[i]};
  }
  const auto result = EvalConst(op, attributes, ones, {TensorType{{}, dtype}});
  if (result[0] == nullptr) return std::nullopt;
  return (*result[0])[0];
}

std::optional<double> Reduced(Op op, const UniformInput& input, const TensorType& output) {
  switch (op) {
    case Op::all:
    case Op::any: return input.value != 0 ? 1 : 0;
    case Op::amax:
    case Op::amin:
    case Op::max_pool1d:  // padding is never the largest
    case Op::max_pool2d:
    case Op::max_pool3d: return input.value;
    case Op::sum: {
      const int64_t outputs = output.num_elements();
      if (outputs == 0 || input.type->num_elements() == 0) return std::nullopt;
      const double sum = input.value * static_cast<double>(input.type->num_elements() / outputs);
      if (input.value != std::trunc(input.value) || std::fabs(sum) > kExactIntegers) return std::nullopt;
      return sum;
    }
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<double> EvalUniform(Op op, const Attributes& attributes, absl::Span<const UniformInput> inputs,
                                  const TensorTypes& outputs) {
  if (outputs.empty() || inputs.empty()) return std::nullopt;
  for (const UniformInput& input : inputs) {
    if (input.type != nullptr && (IsComplex(input.type->dtype) || input.type->num_elements() == 0)) return std::nullopt;
  }
  for (const TensorType& output : outputs) {
    if (IsComplex(output.dtype)) return std::nullopt;
  }
  if (IsElementwise(op)) {
    const std::optional<double> value = Elementwise(op, attributes, inputs, outputs[0].dtype);
    return value && const_rules::IsCertain(op, outputs[0].dtype, *value) ? value : std::nullopt;
  }
  if (inputs[0].type == nullptr) return std::nullopt;
  const double first = inputs[0].value;
  if (OnlyMoves(op, attributes)) return RoundTo(outputs[0].dtype, first);
  const ConstRule rule = ConstRulesOf(op).real;
  if (rule == const_rules::Copied && inputs.size() > 1 && inputs[1].type != nullptr)
    return RoundTo(outputs[0].dtype, inputs[1].value);
  if (rule == const_rules::Joined || rule == const_rules::Stacked) {
    const bool equal = std::all_of(inputs.begin(), inputs.end(),
                                   [&](const UniformInput& i) { return i.type != nullptr && i.value == first; });
    return equal ? std::optional<double>(RoundTo(outputs[0].dtype, first)) : std::nullopt;
  }
  if (outputs.size() > 1) return std::nullopt;
  const std::optional<double> reduced = Reduced(op, inputs[0], outputs[0]);
  return reduced ? std::optional<double>(RoundTo(outputs[0].dtype, *reduced)) : std::nullopt;
}

}  // namespace cobra::graph
