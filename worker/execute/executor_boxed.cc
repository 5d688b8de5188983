// Operators that need no kernel of their own: PyTorch's dispatcher has their schemas, and a node's
// inputs and attributes have the names of the schema's arguments. The first overload whose
// arguments the node fills is called. A boxed call takes some hundred nanoseconds more than a
// direct one, so operators that take much of a network's time have direct kernels in the other
// files.
#include "ATen/core/jit_type.h"
#include "absl/strings/str_cat.h"
#include "torch/csrc/jit/runtime/operator.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

using Arguments = std::vector<c10::Argument>;

// Returns the input for a schema's argument: the input of the same name, or the first input if the
// schema has another name for it ("self", "A", "mean").
int InputFor(const graph::OpInfo& info, absl::string_view argument) {
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    const absl::string_view name = info.inputs[i].name;
    if (name == argument || (name == "input" && argument == "self") || (name == "B" && argument == "b") ||
        (name == "h0" && argument == "hx"))
      return static_cast<int>(i);
  }
  const bool first = argument == "A" || argument == "mean" || argument == "x" || argument == "self";
  return first && !info.inputs.empty() && info.inputs[0].name == "input" ? 0 : -1;
}

absl::string_view AttributeFor(absl::string_view argument) {
  if (argument == "self") return "input";
  if (argument == "split_sizes") return "split_size";
  if (argument == "element") return "elements";
  return argument == "test_element" ? "test_elements" : argument;
}

// Converts an attribute to the schema's type; nullopt if that is not possible.
c10::optional<c10::IValue> Converted(const graph::AttributeValue& value, const c10::Type& type) {
  if (const auto* optional = type.castRaw<c10::OptionalType>()) return Converted(value, *optional->getElementType());
  const auto kind = type.kind();
  if (const auto* b = std::get_if<bool>(&value)) {
    if (kind == c10::TypeKind::BoolType || kind == c10::TypeKind::NumberType) return c10::IValue(*b);
    if (kind == c10::TypeKind::IntType) return c10::IValue(int64_t{*b});
    return c10::nullopt;
  }
  if (const auto* i = std::get_if<int64_t>(&value)) {
    if (kind == c10::TypeKind::IntType || kind == c10::TypeKind::NumberType || kind == c10::TypeKind::SymIntType)
      return c10::IValue(*i);
    if (kind == c10::TypeKind::FloatType) return c10::IValue(static_cast<double>(*i));
    if (kind == c10::TypeKind::ListType) return c10::IValue(c10::List<int64_t>({*i}));
    return c10::nullopt;
  }
  if (const auto* d = std::get_if<double>(&value)) {
    if (kind == c10::TypeKind::FloatType || kind == c10::TypeKind::NumberType) return c10::IValue(*d);
    return c10::nullopt;
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (kind == c10::TypeKind::StringType) return c10::IValue(*text);
    if (kind != c10::TypeKind::IntType) return c10::nullopt;
    if (*text == "none") return c10::IValue(int64_t{0});  // reductions of losses
    if (*text == "mean") return c10::IValue(int64_t{1});
    if (*text == "sum") return c10::IValue(int64_t{2});
    if (const auto dtype = graph::DTypeFromName(*text)) return c10::IValue(static_cast<int64_t>(ToScalarType(*dtype)));
    return c10::nullopt;
  }
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    if (kind == c10::TypeKind::ListType) return c10::IValue(c10::List<int64_t>(c10::ArrayRef<int64_t>(*ints)));
    if (kind == c10::TypeKind::IntType && ints->size() == 1) return c10::IValue((*ints)[0]);
    return c10::nullopt;
  }
  return c10::nullopt;
}

// One argument of the stack: a constant, one of the node's tensors, or all tensors from that one
// on.
struct Slot {
  c10::IValue constant;
  int tensor = -1;
  bool list = false;
};

bool IsTensorList(const c10::Type& type) {
  const auto* list = type.castRaw<c10::ListType>();
  return list != nullptr && list->getElementType()->kind() == c10::TypeKind::TensorType;
}
bool TakesTensor(const c10::Type& type) {
  if (const auto* optional = type.castRaw<c10::OptionalType>()) return TakesTensor(*optional->getElementType());
  return type.kind() == c10::TypeKind::TensorType || IsTensorList(type);
}

c10::optional<std::vector<Slot>> FillSlots(const c10::FunctionSchema& schema, const NodeContext& c) {
  const graph::OpInfo& info = graph::GetOpInfo(c.node.op);
  size_t tensors_used = 0, attributes_used = 0, tensors_given = 0, attributes_given = 0;
  for (size_t i = 0; i < info.inputs.size(); ++i) tensors_given += c.has(i);
  for (const auto& [name, value] : c.node.attributes)
    attributes_given += !std::holds_alternative<graph::NoneValue>(value);
  std::vector<Slot> slots;
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.is_out()) return c10::nullopt;
    Slot slot;
    bool found = false;
    if (TakesTensor(*argument.type())) {
      const int i = InputFor(info, argument.name());
      if (i >= 0 && (c.has(i) || info.inputs[i].variadic)) {
        slot.tensor = i;
        slot.list = info.inputs[i].variadic;
        if (slot.list != IsTensorList(*argument.type())) return c10::nullopt;
        found = true;
        ++tensors_used;
      }
    } else if (const graph::AttributeValue* value = c.node.attributes.Find(AttributeFor(argument.name()));
               value != nullptr && !std::holds_alternative<graph::NoneValue>(*value)) {
      const auto converted = Converted(*value, *argument.type());
      if (!converted) return c10::nullopt;
      slot.constant = *converted;
      found = true;
      ++attributes_used;
    }
    if (!found) {
      if (argument.default_value()) {
        slot.constant = *argument.default_value();
      } else if (argument.type()->kind() != c10::TypeKind::OptionalType) {
        return c10::nullopt;
      }
    }
    slots.push_back(std::move(slot));
  }
  if (tensors_used != tensors_given || attributes_used != attributes_given) return c10::nullopt;
  return slots;
}

absl::StatusOr<Kernel> MakeBoxed(const NodeContext& c) {
  const std::string name = absl::StrCat("aten::", graph::OpName(c.node.op), c.inplace() ? "_" : "");
  for (const auto& candidate : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name))) {
    const auto slots = FillSlots(candidate->schema(), c);
    if (!slots) continue;
    const auto operation = std::make_shared<torch::jit::Operation>(candidate->getOperation());
    const size_t outputs = c.node.outputs.size();
    return Kernel([=](const Call& call) {
      torch::jit::Stack stack;
      stack.reserve(slots->size());
      for (const Slot& slot : *slots) {
        if (slot.list) {
          stack.emplace_back(call.From(slot.tensor));
        } else if (slot.tensor >= 0) {
          stack.emplace_back(call[slot.tensor]);
        } else {
          stack.push_back(slot.constant);
        }
      }
      (*operation)(stack);
      if (stack.size() == 1 && stack[0].isTensorList()) {
        std::vector<at::Tensor> parts = stack[0].toTensorVector();
        for (size_t i = 0; i < outputs; ++i) call.outputs[i] = std::move(parts[i]);
        return;
      }
      for (size_t i = 0; i < outputs; ++i) call.outputs[i] = stack[i].toTensor();
    });
  }
  return Refused(c, absl::StrCat("no overload of ", name, " takes these arguments"));
}

constexpr graph::Op kBoxed[] = {
#define COBRA_BOXED(name) graph::Op::name,
#include "worker/execute/executor_boxed.def"
#undef COBRA_BOXED
};

}  // namespace

KernelFactory BoxedKernel() { return MakeBoxed; }

void AddBoxedKernels(KernelTable* table) {
  for (graph::Op op : kBoxed) (*table)[op] = MakeBoxed;
}

}  // namespace cobra::worker
