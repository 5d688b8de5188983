// The binder of functions.def: arguments of a Python call to the inputs and attributes of an operator.
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "frontend/python/torch/tensor.h"

namespace cobra::python {
namespace {

enum class Kind : uint8_t {
  kTensor, kOptionalTensor, kTensorList, kTensorRest, kNumber, kTensorOrNumber, kInt, kFloat, kBool, kStrictBool, kStr, kDType, kInts,
  kIntsRest, kIntOrInts, kIntsN, kIntsNOrStr, kSizesN, kFloats, kAny,
};

struct Param {
  std::string name;
  Kind kind;
  int count = 0;  // of kIntsN ...
  bool dropped = false, keyword_only = false, required = true;
  AttributeValue fallback = NoneValue{};
  int slot = -1;  // of OpInfo::inputs; -1: an attribute
};

struct Overload {
  Op op;
  std::vector<Param> params;
};

struct Function {
  std::string name;
  std::vector<Overload> overloads;
};

Param ParseParam(absl::string_view text, Op op, bool keyword_only) {
  static const auto* const kKinds = new std::map<absl::string_view, std::pair<Kind, int>>{
      {"T", {Kind::kTensor, 0}}, {"T?", {Kind::kOptionalTensor, 0}}, {"T[]", {Kind::kTensorList, 0}}, {"T*", {Kind::kTensorRest, 0}},
      {"N", {Kind::kNumber, 0}}, {"TN", {Kind::kTensorOrNumber, 0}}, {"i", {Kind::kInt, 0}}, {"f", {Kind::kFloat, 0}},
      {"b", {Kind::kBool, 0}}, {"b1", {Kind::kStrictBool, 0}}, {"s", {Kind::kStr, 0}}, {"dt", {Kind::kDType, 0}},
      {"I", {Kind::kInts, 0}}, {"I*", {Kind::kIntsRest, 0}}, {"II", {Kind::kIntOrInts, 0}}, {"I1", {Kind::kIntsN, 1}},
      {"I2", {Kind::kIntsN, 2}}, {"I3", {Kind::kIntsN, 3}}, {"I1s", {Kind::kIntsNOrStr, 1}}, {"I2s", {Kind::kIntsNOrStr, 2}},
      {"I3s", {Kind::kIntsNOrStr, 3}}, {"O2", {Kind::kSizesN, 2}}, {"O3", {Kind::kSizesN, 3}}, {"FL", {Kind::kFloats, 0}},
      {"A", {Kind::kAny, 0}}};
  Param param;
  param.keyword_only = keyword_only;
  std::pair<absl::string_view, absl::string_view> type_and_name = absl::StrSplit(text, absl::MaxSplits(' ', 1));
  absl::string_view type = type_and_name.first;
  if (type[0] == '-') {
    param.dropped = true;
    type.remove_prefix(1);
  }
  std::tie(param.kind, param.count) = kKinds->at(type);
  const std::pair<absl::string_view, absl::string_view> name_and_default = absl::StrSplit(type_and_name.second, absl::MaxSplits('=', 1));
  param.name = std::string(name_and_default.first);
  param.required = type_and_name.second.find('=') == absl::string_view::npos;
  const absl::string_view fallback = name_and_default.second;
  int64_t i;
  double d;
  if (param.required || fallback == "None") {
  } else if (fallback == "True" || fallback == "False") {
    param.fallback = fallback == "True";
  } else if (fallback[0] == '\'') {
    param.fallback = std::string(fallback.substr(1, fallback.size() - 2));
  } else if (fallback[0] == '(') {
    std::vector<int64_t> list;
    for (absl::string_view item : absl::StrSplit(fallback.substr(1, fallback.size() - 2), ", ", absl::SkipEmpty())) {
      if (absl::SimpleAtoi(item, &i)) list.push_back(i);
    }
    param.fallback = list;
  } else if (absl::SimpleAtoi(fallback, &i)) {
    const bool is_list = param.kind == Kind::kIntsN || param.kind == Kind::kIntsNOrStr;
    if (is_list) {
      param.fallback = std::vector<int64_t>(param.count, i);
    } else {
      param.fallback = i;
    }
  } else if (absl::SimpleAtod(fallback, &d)) {
    param.fallback = d;
  }
  const OpInfo& info = GetOpInfo(op);
  for (size_t s = 0; s < info.inputs.size(); ++s) {
    if (info.inputs[s].name == param.name) param.slot = static_cast<int>(s);
  }
  return param;
}

Overload ParseOverload(Op op, absl::string_view signature) {
  Overload overload{op, {}};
  bool keyword_only = false;
  // ", " inside a default like (0, 1) does not separate parameters.
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (char c : signature) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.push_back(part);
      part.clear();
    } else {
      part += c;
    }
  }
  parts.push_back(part);
  for (const std::string& raw : parts) {
    const absl::string_view text = absl::StripAsciiWhitespace(raw);
    if (text == "*") {
      keyword_only = true;
    } else {
      overload.params.push_back(ParseParam(text, op, keyword_only));
    }
  }
  return overload;
}

using Table = std::map<std::pair<char, std::string>, Function>;

// By space and name. Parsed once for the process.
const Table& Functions() {
  static const Table* const kTable = [] {
    auto* table = new Table();
    const auto add = [&](Op op, absl::string_view names, absl::string_view spaces, absl::string_view signature) {
      const Overload overload = ParseOverload(op, signature);
      for (absl::string_view name : absl::StrSplit(names, ' ')) {
        for (char space : spaces) {
          if (space == '2') continue;
          Function& function = (*table)[{space, std::string(name)}];
          function.name = std::string(name);
          function.overloads.push_back(overload);
        }
        if (absl::StrContains(spaces, '2')) (*table)[{'2', std::string(name)}];  // marks names that PyTorch 2 added
      }
    };
#define COBRA_TORCH_FUNCTION(op, names, spaces, signature) add(Op::op, names, spaces, signature);
#include "frontend/python/torch/functions.def"
#undef COBRA_TORCH_FUNCTION
    return table;
  }();
  return *kTable;
}

// ---- binding one call

struct Bound {
  std::vector<Value> inputs;
  Attributes attributes;
  bool inplace = false;
  std::string problem;   // why the arguments do not fit this overload
  bool failed = false;   // an error is pending
};

class Binder {
 public:
  Binder(Interpreter& interp, const Overload& overload, Bound* out) : interp_(interp), overload_(overload), out_(*out) {}

  bool Bind(absl::Span<const Value> positional, absl::Span<const KeywordArg> keywords) {
    const OpInfo& info = GetOpInfo(overload_.op);
    if (info.max_inputs == static_cast<int>(info.inputs.size())) out_.inputs.resize(info.inputs.size());
    size_t used_keywords = 0;
    int positional_params = 0;
    for (const Param& param : overload_.params) positional_params += !param.keyword_only;
    for (const Param& param : overload_.params) {
      if (!param.keyword_only && !positional.empty()) {
        if (param.kind == Kind::kTensorRest && (AsTensor(positional[0]) != nullptr || positional.size() > 1)) {
          if (!TakeTensors(param, positional)) return false;
          positional = {};
          continue;
        }
        if (param.kind == Kind::kIntsRest && positional.size() >= 1 && !positional[0].IsList() && !positional[0].IsTuple()) {
          if (!TakeInts(param, positional)) return false;
          positional = {};
          continue;
        }
        if (!Take(param, positional[0])) return false;
        positional.remove_prefix(1);
        continue;
      }
      if (const Value* given = FindKeyword(keywords, param.name)) {
        ++used_keywords;
        if (!Take(param, *given)) return false;
        continue;
      }
      if (param.required && param.kind == Kind::kIntsRest && param.count == 0 && AllowsNone(param)) continue;
      if (param.required) return Problem(absl::StrCat("missing 1 required positional arguments: \"", param.name, "\""));
      if (param.slot < 0 && !param.dropped) SetAttribute(param, param.fallback);
    }
    if (!positional.empty()) {
      return Problem(absl::StrCat("takes ", positional_params, " positional arguments but ", positional_params + positional.size(), " were given"));
    }
    for (const KeywordArg& keyword : keywords) {
      if (used_keywords == keywords.size()) break;
      if (IsKnown(keyword.name->view()) || IsWithoutEffect(keyword.name->view())) continue;
      return Problem(absl::StrCat("got an unexpected keyword argument '", keyword.name->view(), "'"));
    }
    return true;
  }

 private:
  static bool AllowsNone(const Param& param) { return param.name == "size" || param.name == "repeats" || param.name == "shape"; }

  bool Problem(std::string text) {
    out_.problem = std::move(text);
    return false;
  }
  bool Failed() {
    out_.failed = true;
    return false;
  }
  bool BadType(const Param& param, absl::string_view expected, Value got) {
    return Problem(absl::StrCat("argument '", param.name, "' must be ", expected, ", not ", interp_.TypeName(got)));
  }

  static absl::string_view Canonical(absl::string_view name) {
    if (name == "self" || name == "x") return "input";
    if (name == "axis") return "dim";
    if (name == "keepdims") return "keepdim";
    if (name == "min_") return "min";
    return name;
  }
  const Value* FindKeyword(absl::Span<const KeywordArg> keywords, absl::string_view name) const {
    for (const KeywordArg& keyword : keywords) {
      if (keyword.name->view() == name) return &keyword.value;
    }
    for (const KeywordArg& keyword : keywords) {
      if (Canonical(keyword.name->view()) == name) return &keyword.value;
    }
    return nullptr;
  }
  bool IsKnown(absl::string_view name) const {
    for (const Param& param : overload_.params) {
      if (param.name == name || param.name == Canonical(name)) return true;
    }
    return false;
  }
  static bool IsWithoutEffect(absl::string_view name) {
    return name == "memory_format" || name == "device" || name == "non_blocking" || name == "generator" || name == "_stacklevel";
  }

  void SetAttribute(const Param& param, AttributeValue value) {
    if (std::holds_alternative<NoneValue>(value)) return;
    if (param.name == "inplace") {
      out_.inplace = std::get<bool>(value);
      return;
    }
    const auto* one = std::get_if<int64_t>(&value);
    if (param.name == "alpha" && one != nullptr && *one == 1) return;
    out_.attributes.Set(param.name, std::move(value));
  }

  bool TakeTensors(const Param& param, absl::Span<const Value> items) {
    for (Value item : items) {
      if (AsTensor(item) == nullptr) return BadType(param, "tuple of Tensors", item);
      out_.inputs.push_back(item);
    }
    return true;
  }

  // An int, or a constant tensor of one; nullopt with Problem or Failed.
  std::optional<int64_t> ToInt(const Param& param, Value v, absl::string_view expected) {
    if (v.IsIntOrBool()) return v.as_int();
    if (Tensor* tensor = AsTensor(v)) {
      if (tensor->type.num_elements() == 1 && !IsFloatingPoint(tensor->type.dtype)) {
        Result<const ConstValues*> values = ReadValues(interp_, tensor, absl::StrCat("argument '", param.name, "'"));
        if (!values.ok()) {
          Failed();
          return std::nullopt;
        }
        return static_cast<int64_t>((**values)[0]);
      }
    }
    if (v.IsObject() && !v.IsStr() && !v.IsTuple() && !v.IsList() && AsTensor(v) == nullptr) {
      Result<int64_t> index = interp_.Index(v);
      if (index.ok()) return *index;
      if (!interp_.CatchException(interp_.types().TypeError)) {
        Failed();
        return std::nullopt;
      }
    }
    BadType(param, expected, v);
    return std::nullopt;
  }

  bool TakeInts(const Param& param, absl::Span<const Value> items) {
    std::vector<int64_t> ints;
    for (Value item : items) {
      const std::optional<int64_t> i = ToInt(param, item, "tuple of ints");
      if (!i) return false;
      ints.push_back(*i);
    }
    SetAttribute(param, std::move(ints));
    return true;
  }

  static std::optional<absl::Span<const Value>> Items(Value v) {
    if (v.IsTuple()) return v.as<TupleObject>()->span();
    if (v.IsList()) return absl::MakeConstSpan(v.as<ListObject>()->items.data(), v.as<ListObject>()->items.size());
    return std::nullopt;
  }

  // A Python number, or a constant tensor of one.
  std::optional<AttributeValue> ToNumber(Value v) {
    if (v.IsBool()) return AttributeValue(v.as_bool());
    if (v.IsInt()) return AttributeValue(v.as_int());
    if (v.IsFloat()) return AttributeValue(v.as_float());
    if (Tensor* tensor = AsTensor(v); tensor != nullptr && tensor->type.num_elements() == 1 && tensor->is_const() && tensor->values != nullptr) {
      const double value = (*tensor->values)[0];
      if (IsFloatingPoint(tensor->type.dtype)) return AttributeValue(value);
      return AttributeValue(static_cast<int64_t>(value));
    }
    if (v.IsFloatBox()) return AttributeValue(v.as<FloatBoxObject>()->value);
    return std::nullopt;
  }

  bool TakeInput(const Param& param, Value v) {
    const bool variadic = param.kind == Kind::kTensorList || param.kind == Kind::kTensorRest;
    if (variadic) {
      const auto items = Items(v);
      return items ? TakeTensors(param, *items) : BadType(param, "tuple of Tensors", v);
    }
    if (v.IsNone() && (param.kind == Kind::kOptionalTensor || !param.required)) return true;
    if (AsTensor(v) == nullptr) return BadType(param, "Tensor", v);
    out_.inputs[param.slot] = v;
    return true;
  }

  bool Take(const Param& param, Value v) {
    if (param.dropped) return true;
    if (param.slot >= 0 && param.kind != Kind::kTensorOrNumber) return TakeInput(param, v);
    if (v.IsNone()) return !param.required || param.kind == Kind::kAny || param.name == "dim" || param.name == "size" ? true : BadType(param, "given", v);
    switch (param.kind) {
      case Kind::kTensorOrNumber: {
        if (AsTensor(v) != nullptr) {
          out_.inputs[param.slot] = v;
          return true;
        }
        std::optional<AttributeValue> number = ToNumber(v);
        if (!number) return BadType(param, "Tensor or Number", v);
        SetAttribute(param, *number);
        return true;
      }
      case Kind::kNumber: {
        std::optional<AttributeValue> number = ToNumber(v);
        if (!number) return BadType(param, "Number", v);
        SetAttribute(param, *number);
        return true;
      }
      case Kind::kInt: {
        const std::optional<int64_t> i = ToInt(param, v, "int");
        if (!i) return false;
        SetAttribute(param, *i);
        return true;
      }
      case Kind::kFloat: {
        std::optional<AttributeValue> number = ToNumber(v);
        if (!number) return BadType(param, "float", v);
        Attributes one{{"v", *number}};
        SetAttribute(param, std::holds_alternative<double>(*number) || param.name == "p" ? *number : AttributeValue(one.Double("v")));
        return true;
      }
      case Kind::kStrictBool:
        if (!v.IsBool()) return BadType(param, "bool", v);
        SetAttribute(param, v.as_bool());
        return true;
      case Kind::kBool: {
        Result<bool> truth = interp_.Truth(v);
        if (!truth.ok()) return Failed();
        SetAttribute(param, *truth);
        return true;
      }
      case Kind::kStr:
        if (!v.IsStr()) return BadType(param, "str", v);
        SetAttribute(param, std::string(v.str()));
        return true;
      case Kind::kDType: {
        const std::optional<DType> dtype = AsDType(interp_, v);
        if (!dtype) return BadType(param, "torch.dtype", v);
        SetAttribute(param, std::string(DTypeName(*dtype)));
        return true;
      }
      case Kind::kIntsNOrStr:
        if (v.IsStr()) {
          SetAttribute(param, std::string(v.str()));
          return true;
        }
        return TakeIntList(param, v);
      case Kind::kIntOrInts:
        if (!Items(v)) {
          const std::optional<int64_t> i = ToInt(param, v, "int or tuple of ints");
          if (!i) return false;
          SetAttribute(param, *i);
          return true;
        }
        return TakeIntList(param, v);
      case Kind::kInts: case Kind::kIntsRest: case Kind::kIntsN: return TakeIntList(param, v);
      case Kind::kSizesN: return TakeSizes(param, v);
      case Kind::kFloats: case Kind::kAny: return TakeAny(param, v);
      default: return BadType(param, "known", v);
    }
  }

  bool TakeIntList(const Param& param, Value v) {
    const auto items = Items(v);
    if (!items) {
      const std::optional<int64_t> i = ToInt(param, v, "tuple of ints");
      if (!i) return false;
      SetAttribute(param, std::vector<int64_t>(std::max(param.count, 1), *i));
      return true;
    }
    std::vector<int64_t> ints;
    for (Value item : *items) {
      const std::optional<int64_t> i = ToInt(param, item, "tuple of ints");
      if (!i) return false;
      ints.push_back(*i);
    }
    if (ints.size() == 1 && param.count > 1) ints.resize(param.count, ints[0]);
    SetAttribute(param, std::move(ints));
    return true;
  }

  // None stands for the size that the input has there.
  bool TakeSizes(const Param& param, Value v) {
    const auto items = Items(v);
    if (!items) return TakeIntList(param, v);
    Tensor* input = out_.inputs.empty() ? nullptr : AsTensor(out_.inputs[0]);
    std::vector<int64_t> ints;
    for (size_t k = 0; k < items->size(); ++k) {
      if ((*items)[k].IsNone() && input != nullptr && input->type.shape.size() >= items->size()) {
        ints.push_back(input->type.shape[input->type.shape.size() - items->size() + k]);
        continue;
      }
      const std::optional<int64_t> i = ToInt(param, (*items)[k], "tuple of ints");
      if (!i) return false;
      ints.push_back(*i);
    }
    if (ints.size() == 1) ints.resize(param.count, ints[0]);
    SetAttribute(param, std::move(ints));
    return true;
  }

  bool TakeAny(const Param& param, Value v) {
    if (v.IsStr()) {
      SetAttribute(param, std::string(v.str()));
      return true;
    }
    const auto items = Items(v);
    if (!items) {
      std::optional<AttributeValue> number = ToNumber(v);
      if (!number) return BadType(param, "number", v);
      SetAttribute(param, *number);
      return true;
    }
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    bool integers = true;
    for (Value item : *items) {
      std::optional<AttributeValue> number = ToNumber(item);
      if (!number) return BadType(param, "tuple of numbers", item);
      Attributes one{{"v", *number}};
      integers = integers && !std::holds_alternative<double>(*number);
      ints.push_back(one.Int("v"));
      doubles.push_back(one.Double("v"));
    }
    SetAttribute(param, integers ? AttributeValue(ints) : AttributeValue(doubles));
    return true;
  }

  Interpreter& interp_;
  const Overload& overload_;
  Bound& out_;
};

// ---- what is particular to an operator

Returns ReturnsOf(Op op) {
  switch (op) {
    case Op::chunk: case Op::split: case Op::tensor_split: case Op::unbind: case Op::meshgrid: case Op::broadcast_tensors:
    case Op::var_mean: case Op::std_mean: case Op::aminmax:
      return Returns::kTuple;
    case Op::max: case Op::min: case Op::median: case Op::mode: case Op::kthvalue: case Op::topk: case Op::sort:
      return Returns::kValuesIndices;
    default: return Returns::kTensor;
  }
}

Attributes WithoutAttribute(const Attributes& attributes, absl::string_view name) {
  Attributes rest;
  for (const auto& [key, value] : attributes) {
    if (key != name) rest.Set(key, value);
  }
  return rest;
}

bool IsDropout(Op op) {
  return op == Op::dropout || op == Op::dropout1d || op == Op::dropout2d || op == Op::dropout3d || op == Op::alpha_dropout ||
         op == Op::feature_alpha_dropout;
}

void Complete(Op op, Bound* bound) {
  Attributes& attributes = bound->attributes;
  const absl::string_view name = OpName(op);
  if (absl::EndsWith(name, "pool1d") || absl::EndsWith(name, "pool2d") || absl::EndsWith(name, "pool3d")) {
    const bool has_stride = attributes.Find("kernel_size") != nullptr;
    if (has_stride && attributes.Ints("stride").empty()) attributes.Set("stride", attributes.Ints("kernel_size"));
  }
  if (absl::StartsWith(name, "max_pool") && attributes.Find("return_indices") != nullptr && !attributes.Bool("return_indices")) {
    bound->attributes = WithoutAttribute(attributes, "return_indices");
  }
}

}  // namespace

namespace {

Result<Value> Run(Interpreter& interp, Op op, Bound bound) {
  Complete(op, &bound);
  if (IsDropout(op)) {
    // In eval PyTorch hands its argument back, the same object.
    const bool drops = bound.attributes.Bool("training") && bound.attributes.Double("p", 0.5) > 0;
    if (!drops) {
      const Value self = bound.inputs[0];
      COBRA_TRY(Apply(interp, op, WithoutAttribute(bound.attributes, "training"), {self}));
      return self;
    }
  }
  if (op == Op::softmax || op == Op::log_softmax || op == Op::softmin) {
    if (bound.attributes.Find("dim") == nullptr) {
      const int rank = AsTensor(bound.inputs[0])->type.rank();
      bound.attributes.Set("dim", int64_t{rank == 0 || rank == 1 || rank == 3 ? 0 : 1});
    }
  }
  if (op == Op::pow && bound.inputs[0].IsNone() && bound.inputs[1].IsNone()) {
    return interp.Raise(interp.types().TypeError, "pow() received an invalid combination of arguments: neither is a Tensor");
  }
  const Returns returns = bound.inplace ? Returns::kTensor : ReturnsOf(op);
  if (op == Op::multi_head_attention_forward) {
    const bool weights = bound.attributes.Bool("need_weights", true);
    COBRA_TRY_ASSIGN(Value out, Apply(interp, op, std::move(bound.attributes), std::move(bound.inputs), false, Returns::kTuple));
    return weights ? out : Value(interp.NewTuple({out.as<TupleObject>()->items[0], Value::None()}));
  }
  const bool indices = bound.attributes.Bool("return_indices");
  return Apply(interp, op, std::move(bound.attributes), std::move(bound.inputs), bound.inplace, indices ? Returns::kTuple : returns);
}

std::string TypesText(Interpreter& interp, const CallArgs& args) {
  std::vector<std::string> names;
  if (!args.self.IsUnbound()) names.push_back(std::string(interp.TypeName(args.self)));
  for (Value v : args.positional) names.push_back(std::string(interp.TypeName(v)));
  for (const KeywordArg& k : args.keywords) names.push_back(absl::StrCat(k.name->view(), "=", interp.TypeName(k.value)));
  return absl::StrJoin(names, ", ");
}

Result<Value> CallFunction(Interpreter& interp, const Function& function, const CallArgs& args, bool inplace) {
  std::vector<Value> positional;
  if (!args.self.IsUnbound()) positional.push_back(args.self);
  positional.insert(positional.end(), args.positional.begin(), args.positional.end());
  std::string problem;
  for (const Overload& overload : function.overloads) {
    Bound bound;
    if (Binder(interp, overload, &bound).Bind(positional, args.keywords)) {
      bound.inplace = bound.inplace || inplace;
      return Run(interp, overload.op, std::move(bound));
    }
    if (bound.failed) return Failure();
    problem = bound.problem;
  }
  const std::string name = absl::StrCat(function.name, inplace ? "_" : "");
  if (function.overloads.size() == 1) return interp.Raise(interp.types().TypeError, absl::StrCat(name, "(): ", problem));
  return interp.Raise(interp.types().TypeError,
                      absl::StrCat(name, "() received an invalid combination of arguments - got (", TypesText(interp, args), ")"));
}

NativeFunction Wrapped(const Function& function, bool inplace) {
  return [&function, inplace](Interpreter& interp, const CallArgs& args) { return CallFunction(interp, function, args, inplace); };
}

}  // namespace

NativeFunction TableFunction(absl::string_view name, char space) {
  return Wrapped(Functions().at({space, std::string(name)}), space == 'i');
}

void DefineFunctions(NativeModuleBuilder& m, char space, const TorchState& state) {
  for (const auto& [key, function] : Functions()) {
    const bool inplace = key.first == 'I';
    if (key.first != space && !(inplace && (space == 't' || space == 'F'))) continue;
    if (Functions().count({'2', key.second}) > 0 && !state.AtLeast(2, 0)) continue;
    m.Function(inplace ? key.second + "_" : key.second, Wrapped(function, inplace));
  }
}

void DefineTableMethods(Interpreter& interp, NativeClassBuilder& tensor_class) {
  for (const auto& [key, function] : Functions()) {
    if (key.first == 'm') tensor_class.Method(key.second, Wrapped(function, false));
    if (key.first == 'i') tensor_class.Method(key.second + "_", Wrapped(function, true));
  }
}

}  // namespace cobra::python
