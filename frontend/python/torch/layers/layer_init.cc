// Constructors of layers: @_init and @_conv_init (layers.h).
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/torch/functions/functions.h"
#include "frontend/python/torch/layers/layers.h"
#include "frontend/python/torch/overrides/overrides.h"

namespace cobra::python {
namespace {

constexpr int64_t kStepsOfALayer = 20;  // about the cost of its statements in Python
constexpr size_t kMostFields = 16;

// Whether the method does nothing, such as reset_parameters() of most layers here.
bool IsPass(Value v) {
  if (!v.IsFunction() || !v.as<FunctionObject>()->unit->internal) return false;
  const auto& body = v.as<FunctionObject>()->scope->body;
  return body.size() == 1 && body[0]->Is<ast::Pass>();
}

TupleObject* Repeated(Interpreter& interp, Value v, int count) {
  TupleObject* tuple = interp.NewTupleOfSize(count);
  for (int i = 0; i < count; ++i) tuple->items[i] = v;
  return tuple;
}

Result<Value> AsTuple(Interpreter& interp, Value v) {
  if (v.IsTuple() && v.object()->cls == interp.types().tuple) return v;
  COBRA_TRY_ASSIGN(std::vector<Value> items, interp.ToVector(v));
  return interp.NewTuple(items);
}

// _single, _pair, _triple
Result<Value> AsNTuple(Interpreter& interp, Value v, int count) {
  if (v.IsIntOrBool() || v.IsFloat() || v.IsNone()) return Repeated(interp, v, count);
  if (interp.IsInstanceOf(v, interp.types().int_type) || !IsIterable(interp, v)) return Repeated(interp, v, count);
  return AsTuple(interp, v);
}

Result<Value> AsShape(Interpreter& interp, Value v) {
  if (v.IsIntOrBool()) return Repeated(interp, v, 1);
  if (v.IsTuple() || v.IsList()) return AsTuple(interp, v);
  if (interp.IsInstanceOf(v, interp.types().int_type) || !IsIterable(interp, v)) return Repeated(interp, v, 1);
  return AsTuple(interp, v);
}

bool IsDataDescriptor(Value v) {
  return v.IsObject() && (v.IsProperty() || (v.IsInstance() && v.object()->cls->has_set_or_delete));
}

// The check that super() makes.
Result<void> CheckInstance(Interpreter& interp, Value self) {
  if (self.IsInstance()) return {};
  return interp.Raise(interp.types().TypeError, "super(type, obj): obj must be an instance or subtype of type");
}

// The attributes and tensors that a constructor creates, and the creation of all of them for an
// instance in one step.
class LayerShape {
 public:
  void AddField(Interpreter& interp, absl::string_view name) {
    if (table_.size() == 0) table_.CopyFrom(interp.heap(), Torch(interp).module_prototype);
    fields_.push_back(interp.heap(), interp.Intern(name));
    table_.SetStr(interp.heap(), fields_.back(), Value::None());
  }
  void AddTensor(Interpreter& interp, StrObject* name, bool buffer) {
    (buffer ? buffers_ : parameters_).SetStr(interp.heap(), name, Value::None());
    tensors_.push_back(interp.heap(), name);
  }
  void Done(Interpreter& interp) {
    if (table_.size() == 0) table_.CopyFrom(interp.heap(), Torch(interp).module_prototype);
  }

  const LayerPlan& PlanOf(Interpreter& interp, ClassObject* cls, const FunctionObject* f, Value expected_next) const {
    LayerPlan& plan = Torch(interp).layer_plans[{this, cls}];
    const uint32_t epoch = interp.state().class_epoch;
    if (plan.epoch == epoch) return plan;
    plan.epoch = epoch;
    plan.plain = IsPlainFor(interp, cls, f, expected_next);
    const Value reset = interp.LookupClass(cls, interp.Intern("reset_parameters"));
    plan.resets = !reset.IsUnbound() && !IsPass(reset);
    return plan;
  }

  // REQUIRES: a plain plan, no attributes yet, values that are neither modules nor tensors. The
  // caller fills in the tensors afterwards.
  DictObject* Make(Interpreter& interp, Value self, const Value* values) const {
    DictObject* state = NewModuleState(interp, table_);
    for (size_t i = 0; i < fields_.size(); ++i) state->table.entry(kModuleSlots + i).value = values[i];
    if (parameters_.size() > 0)
      state->table.entry(kParametersSlot).value.as<DictObject>()->table.CopyFrom(interp.heap(), parameters_);
    if (buffers_.size() > 0)
      state->table.entry(kBuffersSlot).value.as<DictObject>()->table.CopyFrom(interp.heap(), buffers_);
    self.object()->attrs = state;
    return state;
  }
  const HeapVector<StrObject*>& fields() const { return fields_; }

 private:
  bool IsPlainFor(Interpreter& interp, ClassObject* cls, const FunctionObject* f, Value expected_next) const {
    const TorchState& torch = Torch(interp);
    if (cls->slots_only || !Interpreter::IsSubclassOf(cls, torch.module_class)) return false;
    if (!NextInit(interp, cls, f).IsSame(expected_next)) return false;
    if (!interp.LookupClass(cls, interp.names().__setattr__).IsSame(torch.names.setattr)) return false;
    for (StrObject* name : fields_) {
      if (IsDataDescriptor(interp.LookupClass(cls, name))) return false;
    }
    for (StrObject* name : tensors_) {
      if (!interp.LookupClass(cls, name).IsUnbound()) return false;
    }
    for (const char* name : {"register_parameter", "register_buffer"}) {
      StrObject* key = interp.Intern(name);
      if (!interp.LookupClass(cls, key).IsSame(interp.LookupClass(torch.module_class, key))) return false;
    }
    return true;
  }

  DictTable table_, parameters_, buffers_;
  HeapVector<StrObject*> fields_, tensors_;
};

// ---- _init

class LayerInit final : public NativeBody {
 public:
  Result<void> Declare(Interpreter& interp, FunctionObject* f, absl::string_view attributes,
                       absl::Span<const KeywordArg> tensors) {
    runs_text_ = !IsEllipsisOnly(f);
    for (absl::string_view item : absl::StrSplit(attributes, ' ', absl::SkipEmpty()))
      COBRA_TRY(DeclareField(interp, f, item));
    for (const KeywordArg& tensor : tensors) COBRA_TRY(DeclareTensor(interp, f, tensor.name, tensor.value.str()));
    shape_.Done(interp);
    dtype_slot_ = SlotOf(f, "dtype");
    if (fields_.size() > kMostFields) return interp.Raise(interp.types().ValueError, "a layer of too many attributes");
    return {};
  }

  Result<Value> Run(Interpreter& interp, FunctionObject* f, Value* locals) const override {
    COBRA_TRY(CheckNoMode(interp));
    if (runs_text_) COBRA_TRY(RunText(interp, f, locals));
    interp.Spend(kStepsOfALayer);
    const Value self = locals[0];
    COBRA_TRY(CheckInstance(interp, self));
    Value values[kMostFields];
    bool plain = self.object()->attrs == nullptr;
    for (size_t i = 0; i < fields_.size(); ++i) {
      COBRA_TRY_ASSIGN(values[i], ValueOf(interp, fields_[i], locals));
      plain = plain && !values[i].IsInstance();
    }
    const LayerPlan& plan = shape_.PlanOf(interp, self.object()->cls, f, Torch(interp).names.init);
    const bool resets = plan.resets;
    if (plain && plan.plain) {
      NoteConstruction(interp, self);
      COBRA_TRY(Make(interp, self, locals, values));
    } else {
      COBRA_TRY(MakeStepwise(interp, f, self, locals, values));
    }
    if (resets) COBRA_TRY(interp.CallMethod(self, "reset_parameters"));
    return Value::None();
  }

 private:
  struct Field {
    StrObject* name;
    int slot, otherwise;
    char conversion;  // '1' '2' '3' n-tuple, 's' shape, 0 none
  };
  struct Size {
    int slot;  // of a parameter, or ~index of a field
    bool all;  // all items of it
  };
  struct TensorField {
    StrObject* name;
    bool buffer, counter;
    int condition;  // slot; -1: always
    int first_size, size_count;
  };

  static Failure Malformed(Interpreter& interp, absl::string_view item) {
    return interp.Raise(interp.types().ValueError, "not a declaration: ", item);
  }

  Result<void> DeclareField(Interpreter& interp, FunctionObject* f, absl::string_view item) {
    const std::pair<absl::string_view, absl::string_view> typed = absl::StrSplit(item, absl::MaxSplits(':', 1));
    const std::pair<absl::string_view, absl::string_view> names = absl::StrSplit(typed.first, absl::MaxSplits('|', 1));
    Field field{interp.Intern(names.first), SlotOf(f, names.first), -1, '\0'};
    if (!names.second.empty()) field.otherwise = SlotOf(f, names.second);
    if (!typed.second.empty()) field.conversion = typed.second[0];
    if (field.slot < 0) return Malformed(interp, item);
    fields_.push_back(interp.heap(), field);
    shape_.AddField(interp, names.first);
    return {};
  }

  Result<void> DeclareTensor(Interpreter& interp, FunctionObject* f, StrObject* name, absl::string_view text) {
    TensorField tensor{
        interp.InternStr(name), absl::ConsumePrefix(&text, "buffer "), false, -1, static_cast<int>(sizes_.size()), 0};
    std::vector<absl::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
    if (words.size() >= 2 && words[words.size() - 2] == "if") {
      tensor.condition = SlotOf(f, words.back());
      if (tensor.condition < 0) return Malformed(interp, text);
      words.resize(words.size() - 2);
    }
    tensor.counter = words.size() == 1 && words[0] == "counter";
    for (absl::string_view word : words) {
      if (tensor.counter) break;
      Size size{-1, absl::ConsumePrefix(&word, "*")};
      size.slot = SlotOf(f, word);
      for (size_t i = 0; size.all && i < fields_.size(); ++i) {
        if (fields_[i].name->view() == word) size.slot = ~static_cast<int>(i);
      }
      sizes_.push_back(interp.heap(), size);
      ++tensor.size_count;
    }
    tensors_.push_back(interp.heap(), tensor);
    shape_.AddTensor(interp, tensor.name, tensor.buffer);
    return {};
  }

  static Result<Value> ValueOf(Interpreter& interp, const Field& field, const Value* locals) {
    Value v = locals[field.slot];
    if (v.IsNone() && field.otherwise >= 0) v = locals[field.otherwise];
    switch (field.conversion) {
      case '\0': return v;
      case 's': return AsShape(interp, v);
      default: return AsNTuple(interp, v, field.conversion - '0');
    }
  }

  // Returns None if the condition is false.
  Result<Value> MakeTensor(Interpreter& interp, const TensorField& tensor, const Value* locals,
                           const Value* values) const {
    if (tensor.condition >= 0) {
      COBRA_TRY_ASSIGN(const bool wanted, interp.Truth(locals[tensor.condition]));
      if (!wanted) return Value::None();
    }
    if (tensor.counter)
      return Value(NewTensor(interp, {{}, graph::DType::int64}, FilledValues(interp, 1, 0), "tensor"));
    absl::InlinedVector<Value, 6> items;
    for (int i = 0; i < tensor.size_count; ++i) {
      const Size& size = sizes_[static_cast<size_t>(tensor.first_size + i)];
      const Value v = size.slot < 0 ? values[~size.slot] : locals[size.slot];
      if (!size.all) {
        items.push_back(v);
        continue;
      }
      const auto span = v.as<TupleObject>()->span();
      items.insert(items.end(), span.begin(), span.end());
    }
    return NewEmpty(interp, items, dtype_slot_ < 0 ? Value::None() : locals[dtype_slot_], /*parameter=*/!tensor.buffer);
  }

  Result<void> Make(Interpreter& interp, Value self, const Value* locals, const Value* values) const {
    DictObject* state = shape_.Make(interp, self, values);
    size_t parameters = 0, buffers = 0;
    for (const TensorField& tensor : tensors_) {
      DictObject* registry = state->table.entry(tensor.buffer ? kBuffersSlot : kParametersSlot).value.as<DictObject>();
      size_t& at = tensor.buffer ? buffers : parameters;
      COBRA_TRY_ASSIGN(registry->table.entry(at++).value, MakeTensor(interp, tensor, locals, values));
    }
    return {};
  }

  // Performs the statements one by one, for classes that override one of them.
  Result<void> MakeStepwise(Interpreter& interp, FunctionObject* f, Value self, const Value* locals,
                            const Value* values) const {
    COBRA_TRY(CallNextInit(interp, f, self));
    for (size_t i = 0; i < fields_.size(); ++i) COBRA_TRY(interp.SetAttr(self, fields_[i].name, values[i]));
    for (const TensorField& tensor : tensors_) {
      COBRA_TRY_ASSIGN(Value made, MakeTensor(interp, tensor, locals, values));
      if (tensor.buffer || made.IsNone()) {
        COBRA_TRY(interp.CallMethod(self, tensor.buffer ? "register_buffer" : "register_parameter",
                                    {Value(tensor.name), made}));
      } else {
        COBRA_TRY(interp.SetAttr(self, tensor.name, made));
      }
    }
    return {};
  }

  bool runs_text_ = false;
  int dtype_slot_ = -1;
  LayerShape shape_;
  HeapVector<Field> fields_;
  HeapVector<TensorField> tensors_;
  HeapVector<Size> sizes_;
};

// ---- _conv_init: the constructors of _ConvNd (dims 0: the sizes are tuples) and of the
// convolutions, which convert their sizes to tuples and call the next __init__.

class ConvInit final : public NativeBody {
 public:
  ConvInit(Interpreter& interp, FunctionObject* f, int dims, bool transposed) : dims_(dims), transposed_(transposed) {
    static constexpr absl::string_view kFields[] = {"in_channels",
                                                    "out_channels",
                                                    "kernel_size",
                                                    "stride",
                                                    "padding",
                                                    "dilation",
                                                    "transposed",
                                                    "output_padding",
                                                    "groups",
                                                    "padding_mode",
                                                    "_reversed_padding_repeated_twice"};
    for (size_t i = 0; i < kCount; ++i) {
      slots_[i] = SlotOf(f, kFields[i]);
      shape_.AddField(interp, kFields[i]);
    }
    bias_slot_ = SlotOf(f, "bias");
    device_slot_ = SlotOf(f, "device");
    dtype_slot_ = SlotOf(f, "dtype");
    weight_ = interp.Intern("weight");
    bias_ = interp.Intern("bias");
    shape_.AddTensor(interp, weight_, false);
    shape_.AddTensor(interp, bias_, false);
    for (const char* mode : {"zeros", "reflect", "replicate", "circular"})
      padding_modes_.push_back(interp.heap(), interp.Intern(mode));
  }

  Result<Value> Run(Interpreter& interp, FunctionObject* f, Value* locals) const override {
    COBRA_TRY(CheckNoMode(interp));
    const Value self = locals[0];
    COBRA_TRY(CheckInstance(interp, self));
    Value values[kCount];
    for (size_t i = 0; i < kReversedPadding; ++i) values[i] = slots_[i] >= 0 ? locals[slots_[i]] : Value::None();
    if (dims_ == 0) return Construct(interp, f, self, values, locals[bias_slot_], locals[dtype_slot_]);
    COBRA_TRY(MakeTuples(interp, values));
    const Value next = NextInit(interp, self.object()->cls, f);
    const auto* parent = next.IsFunction() ? next.as<FunctionObject>() : nullptr;
    const auto* base = parent == nullptr ? nullptr : dynamic_cast<const ConvInit*>(parent->body);
    if (base != nullptr && base->dims_ == 0)
      return base->Construct(interp, parent, self, values, locals[bias_slot_], locals[dtype_slot_]);
    return interp.Call(next.IsUnbound() ? Torch(interp).names.init : next,
                       {self, values[kIn], values[kOut], values[kKernel], values[kStride], values[kPadding],
                        values[kDilation], values[kTransposed], values[kOutputPadding], values[kGroups],
                        locals[bias_slot_], values[kPaddingMode], locals[device_slot_], locals[dtype_slot_]});
  }

 private:
  enum {
    kIn,
    kOut,
    kKernel,
    kStride,
    kPadding,
    kDilation,
    kTransposed,
    kOutputPadding,
    kGroups,
    kPaddingMode,
    kReversedPadding,
    kCount
  };

  Result<void> MakeTuples(Interpreter& interp, Value* values) const {
    values[kTransposed] = Value::Bool(transposed_);
    if (!transposed_) values[kOutputPadding] = Value::Int(0);
    for (int i : {kKernel, kStride, kPadding, kDilation, kOutputPadding}) {
      if (i == kPadding && !transposed_ && values[i].IsStr()) continue;  // "same", "valid"
      COBRA_TRY_ASSIGN(values[i], AsNTuple(interp, values[i], dims_));
    }
    return {};
  }

  // Implements _ConvNd.__init__, which is `f`.
  Result<Value> Construct(Interpreter& interp, const FunctionObject* f, Value self, Value* values, Value bias,
                          Value dtype) const {
    interp.Spend(kStepsOfALayer);
    const LayerPlan& plan = shape_.PlanOf(interp, self.object()->cls, f, Torch(interp).names.init);
    const bool resets = plan.resets;
    const bool plain = plan.plain && self.object()->attrs == nullptr &&
                       std::none_of(values, values + kReversedPadding, [](Value v) { return v.IsInstance(); });
    if (!plain) COBRA_TRY(CallNextInit(interp, f, self));
    COBRA_TRY(CheckArguments(interp, values));
    COBRA_TRY_ASSIGN(values[kReversedPadding], ReversedPadding(interp, values));
    COBRA_TRY_ASSIGN(const Value weight, NewWeight(interp, values, dtype));
    COBRA_TRY_ASSIGN(const bool has_bias, interp.Truth(bias));
    Value offset = Value::None();
    if (has_bias) COBRA_TRY_SET(offset, NewEmpty(interp, {&values[kOut], 1}, dtype, /*parameter=*/true));
    if (plain) {
      NoteConstruction(interp, self);
      DictObject* state = shape_.Make(interp, self, values);
      DictTable& parameters = state->table.entry(kParametersSlot).value.as<DictObject>()->table;
      parameters.entry(0).value = weight;
      parameters.entry(1).value = offset;
    } else {
      for (size_t i = 0; i < kCount; ++i) COBRA_TRY(interp.SetAttr(self, shape_.fields()[i], values[i]));
      COBRA_TRY(interp.SetAttr(self, weight_, weight));
      if (has_bias) {
        COBRA_TRY(interp.SetAttr(self, bias_, offset));
      } else {
        COBRA_TRY(interp.CallMethod(self, "register_parameter", {Value(bias_), offset}));
      }
    }
    if (resets) COBRA_TRY(interp.CallMethod(self, "reset_parameters"));
    return Value::None();
  }

  static Result<bool> Compares(Interpreter& interp, Interpreter::CompareOp op, Value a, int64_t b) {
    COBRA_TRY_ASSIGN(const Value result, interp.Compare(op, a, Value::Int(b)));
    return interp.Truth(result);
  }

  Result<void> CheckArguments(Interpreter& interp, const Value* values) const {
    ClassObject* value_error = interp.types().ValueError;
    COBRA_TRY_ASSIGN(const bool has_no_groups, Compares(interp, Interpreter::CompareOp::kLtE, values[kGroups], 0));
    if (has_no_groups) return interp.Raise(value_error, "groups must be a positive integer");
    for (const auto& [channels, name] : {std::make_pair(kIn, "in_channels"), std::make_pair(kOut, "out_channels")}) {
      COBRA_TRY_ASSIGN(const Value rest, interp.Binary(Interpreter::BinaryOp::kMod, values[channels], values[kGroups]));
      COBRA_TRY_ASSIGN(const bool has_rest, Compares(interp, Interpreter::CompareOp::kNotEq, rest, 0));
      if (has_rest) return interp.Raise(value_error, name, " must be divisible by groups");
    }
    if (values[kPadding].IsStr()) COBRA_TRY(CheckPaddingName(interp, values));
    for (size_t i = 0; i < padding_modes_.size(); ++i) {
      COBRA_TRY_ASSIGN(const bool is_mode, interp.Equal(values[kPaddingMode], Value(padding_modes_[i])));
      if (is_mode) return {};
    }
    COBRA_TRY_ASSIGN(const StrObject* mode, interp.Format(values[kPaddingMode], ""));
    return interp.Raise(value_error,
                        "padding_mode must be one of zeros, reflect, replicate, circular, but got "
                        "padding_mode='",
                        mode->view(), "'");
  }

  static Result<void> CheckPaddingName(Interpreter& interp, const Value* values) {
    const absl::string_view name = values[kPadding].str();
    if (name != "same" && name != "valid") {
      SetObject* names = interp.NewSet();
      for (const char* known : {"same", "valid"}) COBRA_TRY(interp.SetAdd(names, interp.NewStr(known)));
      COBRA_TRY_ASSIGN(const StrObject* given, interp.Repr(values[kPadding]));
      COBRA_TRY_ASSIGN(const StrObject* expected, interp.Repr(names));
      return interp.Raise(interp.types().ValueError, "Invalid padding string ", given->view(), ", should be one of ",
                          expected->view());
    }
    if (name == "valid") return {};
    COBRA_TRY_ASSIGN(const std::vector<Value> strides, interp.ToVector(values[kStride]));
    for (Value stride : strides) {
      COBRA_TRY_ASSIGN(const bool is_strided, Compares(interp, Interpreter::CompareOp::kNotEq, stride, 1));
      if (is_strided)
        return interp.Raise(interp.types().ValueError, "padding='same' is not supported for strided convolutions");
    }
    return {};
  }

  // The padding as F.pad() takes it: from the last dimension to the first, on both sides.
  static Result<Value> ReversedPadding(Interpreter& interp, const Value* values) {
    if (!values[kPadding].IsStr()) {
      COBRA_TRY_ASSIGN(const Value padding, AsTuple(interp, values[kPadding]));
      const auto sizes = padding.as<TupleObject>()->span();
      TupleObject* reversed = interp.NewTupleOfSize(static_cast<int64_t>(sizes.size()) * 2);
      for (size_t i = 0; i < sizes.size(); ++i)
        reversed->items[2 * i] = reversed->items[2 * i + 1] = sizes[sizes.size() - 1 - i];
      return reversed;
    }
    COBRA_TRY_ASSIGN(const std::vector<Value> kernel, interp.ToVector(values[kKernel]));
    std::vector<Value> sizes(2 * kernel.size(), Value::Int(0));
    if (values[kPadding].str() == "same") {
      COBRA_TRY_ASSIGN(const std::vector<Value> dilation, interp.ToVector(values[kDilation]));
      using BinaryOp = Interpreter::BinaryOp;
      for (size_t i = 0; i < std::min(kernel.size(), dilation.size()); ++i) {
        const size_t at = 2 * (kernel.size() - 1 - i);
        COBRA_TRY_ASSIGN(const Value reach, interp.Binary(BinaryOp::kSub, kernel[i], Value::Int(1)));
        COBRA_TRY_ASSIGN(const Value total, interp.Binary(BinaryOp::kMult, dilation[i], reach));
        COBRA_TRY_ASSIGN(sizes[at], interp.Binary(BinaryOp::kFloorDiv, total, Value::Int(2)));
        COBRA_TRY_ASSIGN(sizes[at + 1], interp.Binary(BinaryOp::kSub, total, sizes[at]));
      }
    }
    return interp.NewList(sizes);
  }

  static Result<Value> NewWeight(Interpreter& interp, const Value* values, Value dtype) {
    COBRA_TRY_ASSIGN(const bool transposed, interp.Truth(values[kTransposed]));
    COBRA_TRY_ASSIGN(const Value group,
                     interp.Binary(Interpreter::BinaryOp::kFloorDiv, values[transposed ? kOut : kIn], values[kGroups]));
    COBRA_TRY_ASSIGN(const Value kernel, AsTuple(interp, values[kKernel]));
    absl::InlinedVector<Value, 6> size{values[transposed ? kIn : kOut], group};
    for (Value k : kernel.as<TupleObject>()->span()) size.push_back(k);
    return NewEmpty(interp, size, dtype, /*parameter=*/true);
  }

  LayerShape shape_;
  int slots_[kCount] = {}, bias_slot_, device_slot_, dtype_slot_, dims_;
  bool transposed_;
  StrObject *weight_, *bias_;
  HeapVector<StrObject*> padding_modes_;
};

}  // namespace

Value NextInit(Interpreter& interp, const ClassObject* cls, const FunctionObject* f) {
  bool found = false;
  for (ClassObject* c : cls->mro) {
    const Value* init = c->attrs->table.GetStr(interp.names().__init__);
    if (init == nullptr) continue;
    if (found) return *init;
    found = init->IsObject() && init->object() == f;
  }
  return Value::Unbound();
}

Result<void> CallNextInit(Interpreter& interp, const FunctionObject* f, Value self) {
  COBRA_TRY(CheckInstance(interp, self));
  const Value next = NextInit(interp, self.object()->cls, f);
  COBRA_TRY(interp.Call(next.IsUnbound() ? Torch(interp).names.init : next, {self}));
  return {};
}

Result<const NativeBody*> DeclareInit(Interpreter& interp, FunctionObject* f, const CallArgs& args) {
  auto* init = interp.heap().New<LayerInit>();
  COBRA_TRY(init->Declare(interp, f, args.positional.empty() ? "" : args.positional[0].str(), args.keywords));
  return init;
}

Result<const NativeBody*> DeclareConvInit(Interpreter& interp, FunctionObject* f, const CallArgs& args) {
  return interp.heap().New<ConvInit>(interp, f, static_cast<int>(args.positional[0].as_int()),
                                     args.positional.size() > 1);
}

}  // namespace cobra::python
