#include "frontend/python/torch/functions/binder.h"

#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "frontend/python/torch/functions/functions.h"
#include "frontend/python/torch/tensor/refused.h"

namespace cobra::python {
namespace {

using Kind = ParamKind;

// Parses the default after '=' in a signature: None, True, 'mean', (1, 2), 3, 0.5.
graph::AttributeValue ParseDefault(absl::string_view text, const Param& param) {
  if (text == "None") return graph::NoneValue{};
  if (text == "True" || text == "False") return text == "True";
  if (text[0] == '\'') return std::string(text.substr(1, text.size() - 2));
  int64_t i;
  double d;
  if (text[0] == '(') {
    std::vector<int64_t> list;
    for (absl::string_view item : absl::StrSplit(text.substr(1, text.size() - 2), ", ", absl::SkipEmpty())) {
      if (absl::SimpleAtoi(item, &i)) list.push_back(i);
    }
    return list;
  }
  if (absl::SimpleAtoi(text, &i)) {
    if (param.kind == Kind::kIntsN || param.kind == Kind::kIntsNOrStr) return std::vector<int64_t>(param.count, i);
    return i;
  }
  if (absl::SimpleAtod(text, &d)) return d;
  return graph::NoneValue{};
}

Param ParseParam(absl::string_view text, graph::Op op, bool keyword_only) {
  static const auto* const kKinds = new std::map<absl::string_view, std::pair<Kind, int>>{
      {"T", {Kind::kTensor, 0}},       {"T?", {Kind::kOptionalTensor, 0}},
      {"T[]", {Kind::kTensorList, 0}}, {"T*", {Kind::kTensorRest, 0}},
      {"N", {Kind::kNumber, 0}},       {"TN", {Kind::kTensorOrNumber, 0}},
      {"i", {Kind::kInt, 0}},          {"f", {Kind::kFloat, 0}},
      {"b", {Kind::kStrictBool, 0}},   {"bt", {Kind::kBool, 0}},
      {"s", {Kind::kStr, 0}},          {"dt", {Kind::kDType, 0}},
      {"I", {Kind::kInts, 0}},         {"I*", {Kind::kIntsRest, 0}},
      {"I*?", {Kind::kIntsRest, 0}},   {"II", {Kind::kIntOrInts, 0}},
      {"I1", {Kind::kIntsN, 1}},       {"I2", {Kind::kIntsN, 2}},
      {"I3", {Kind::kIntsN, 3}},       {"I1s", {Kind::kIntsNOrStr, 1}},
      {"I2s", {Kind::kIntsNOrStr, 2}}, {"I3s", {Kind::kIntsNOrStr, 3}},
      {"O2", {Kind::kSizesN, 2}},      {"O3", {Kind::kSizesN, 3}},
      {"FL", {Kind::kFloats, 0}},      {"A", {Kind::kAny, 0}}};
  Param param;
  param.keyword_only = keyword_only;
  std::pair<absl::string_view, absl::string_view> type_and_name = absl::StrSplit(text, absl::MaxSplits(' ', 1));
  absl::string_view type = type_and_name.first;
  if (type[0] == '-') {
    param.dropped = true;
    type.remove_prefix(1);
  }
  std::tie(param.kind, param.count) = kKinds->at(type);
  const std::pair<absl::string_view, absl::string_view> name_and_default =
      absl::StrSplit(type_and_name.second, absl::MaxSplits('=', 1));
  const std::pair<absl::string_view, absl::string_view> name_and_attribute =
      absl::StrSplit(name_and_default.first, absl::MaxSplits(':', 1));
  param.name = std::string(name_and_attribute.first);
  param.attribute = name_and_attribute.second.empty() ? param.name : std::string(name_and_attribute.second);
  param.required = type_and_name.second.find('=') == absl::string_view::npos;
  if (!param.required) param.fallback = ParseDefault(name_and_default.second, param);
  param.is_inplace = param.name == "inplace";
  param.may_be_empty = type == "I*?";
  param.is_alpha = param.name == "alpha";
  param.counts = param.name == "embed_dim_to_check" || param.name == "num_heads";
  const bool none = std::holds_alternative<graph::NoneValue>(param.fallback);
  param.takes_none =
      (!param.required && none) || param.kind == Kind::kAny || param.name == "dim" || param.name == "size";
  const graph::OpInfo& info = graph::GetOpInfo(op);
  const bool tensors = param.kind == Kind::kTensor || param.kind == Kind::kOptionalTensor ||
                       param.kind == Kind::kTensorList || param.kind == Kind::kTensorRest ||
                       param.kind == Kind::kTensorOrNumber;
  for (size_t s = 0; tensors && s < info.inputs.size(); ++s) {
    if (info.inputs[s].name == param.name) param.slot = static_cast<int>(s);
  }
  return param;
}

class Binder {
 public:
  Binder(Interpreter& interp, const Overload& overload, Bound* out)
      : interp_(interp), overload_(overload), out_(*out) {}

  bool Bind(absl::Span<const Value> positional, absl::Span<const KeywordArg> keywords) {
    const graph::OpInfo& info = graph::GetOpInfo(overload_.op);
    const bool variadic = info.max_inputs != static_cast<int>(info.inputs.size());
    out_.inputs.resize(info.inputs.size() - (variadic ? 1 : 0));  // a list of tensors follows them
    out_.attributes.Reserve(overload_.params.size());
    size_t used_keywords = 0;
    for (const Param& param : overload_.params) {
      if (!param.keyword_only && !positional.empty()) {
        if (param.kind == Kind::kTensorRest && (AsTensor(positional[0]) != nullptr || positional.size() > 1)) {
          if (!TakeTensors(param, positional)) return false;
          positional = {};
          continue;
        }
        if (param.kind == Kind::kIntsRest && positional.size() >= 1 && !positional[0].IsList() &&
            !positional[0].IsTuple()) {
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
      if (param.may_be_empty) {
        SetAttribute(param, std::vector<int64_t>());
        continue;
      }
      if (param.required) return Problem(absl::StrCat("missing 1 required positional arguments: \"", param.name, "\""));
      if (param.slot < 0 && !param.dropped) SetAttribute(param, param.fallback);
    }
    if (!positional.empty()) {
      return Problem(absl::StrCat("takes ", overload_.positional, " positional arguments but ",
                                  overload_.positional + positional.size(), " were given"));
    }
    if (out_.reduce || out_.size_average) {
      const bool reduces = out_.reduce.value_or(true), averages = out_.size_average.value_or(true);
      out_.attributes.Set("reduction", std::string(!reduces ? "none" : averages ? "mean" : "sum"));
    }
    for (const KeywordArg& keyword : keywords) {
      if (used_keywords == keywords.size()) break;
      if (IsKnown(keyword.name->view()) || IsWithoutEffect(keyword.name->view())) continue;
      return Problem(absl::StrCat("got an unexpected keyword argument '", keyword.name->view(), "'"));
    }
    return true;
  }

 private:
  bool Problem(std::string text) {
    out_.problem = std::move(text);
    return false;
  }
  bool Failed() {
    out_.failed = true;
    return false;
  }
  bool BadType(const Param& param, absl::string_view expected, Value got) {
    if (IsUnread(interp_, got)) {
      static_cast<void>(UnreadTensor(interp_));
      return Failed();
    }
    if (IsRefused(interp_, got)) {
      static_cast<void>(RefuseUse(interp_, got));
      return Failed();
    }
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
    return name == "memory_format" || name == "device" || name == "non_blocking" || name == "generator" ||
           name == "_stacklevel";
  }

  void SetAttribute(const Param& param, graph::AttributeValue value) {
    if (std::holds_alternative<graph::NoneValue>(value)) return;
    if (param.is_inplace) {
      out_.inplace = std::get<bool>(value);
      return;
    }
    const auto* one = std::get_if<int64_t>(&value);
    if (param.is_alpha && one != nullptr && *one == 1) return;
    out_.attributes.Append(param.attribute, std::move(value));
  }

  bool TakeTensors(const Param& param, absl::Span<const Value> items) {
    interp_.Spend(static_cast<int64_t>(items.size()) / 4);
    for (Value item : items) {
      if (AsTensor(item) == nullptr) return BadType(param, "tuple of Tensors", item);
      out_.inputs.push_back(item);
    }
    return true;
  }

  // Converts an int, or a constant tensor of one int; nullopt after Problem or Failed.
  std::optional<int64_t> ToInt(const Param& param, Value v, absl::string_view expected) {
    if (v.IsInt() || (v.IsBool() && param.counts)) return v.as_int();
    if (v.IsBool()) {
      BadType(param, expected, v);
      return std::nullopt;
    }
    if (Tensor* tensor = AsTensor(v)) {
      const bool fits = param.kind == Kind::kInt ? tensor->type.rank() == 0 : tensor->type.num_elements() == 1;
      if (fits && graph::IsIntegral(tensor->type.dtype)) {
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
    interp_.Spend(static_cast<int64_t>(items.size()) / 4);
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
  std::optional<graph::AttributeValue> ToNumber(Value v) {
    if (Tensor* tensor = AsTensor(v); tensor != nullptr) Refresh(interp_, tensor);
    if (Tensor* tensor = AsTensor(v); tensor != nullptr && tensor->type.num_elements() == 1 &&
                                      !graph::IsComplex(tensor->type.dtype) && tensor->is_const() &&
                                      tensor->values != nullptr) {
      const double value = (*tensor->values)[0];
      if (graph::IsFloatingPoint(tensor->type.dtype)) return graph::AttributeValue(value);
      return graph::AttributeValue(static_cast<int64_t>(value));
    }
    return AsNumber(v);
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

  // size_average and reduce are what `reduction` was called before: the two together say which one
  // it is.
  bool TakeDropped(const Param& param, Value v) {
    if (v.IsNone() || (param.name != "size_average" && param.name != "reduce")) return true;
    Result<bool> truth = interp_.Truth(v);
    if (!truth.ok()) return Failed();
    (param.name == "reduce" ? out_.reduce : out_.size_average) = *truth;
    return true;
  }

  // Long because there is one case for each kind of parameter.
  bool Take(const Param& param, Value v) {
    if (param.dropped) return TakeDropped(param, v);
    if (param.slot >= 0 && param.kind != Kind::kTensorOrNumber) return TakeInput(param, v);
    if (v.IsNone()) return param.takes_none ? true : BadType(param, "given", v);
    if (param.kind == Kind::kOptionalTensor) {  // no input of the operator
      static_cast<void>(
          interp_.Unsupported(absl::StrCat("the argument '", param.name, "' of ", graph::OpName(overload_.op), "()")));
      return Failed();
    }
    switch (param.kind) {
      case Kind::kTensorOrNumber: {
        if (AsTensor(v) != nullptr) {
          out_.inputs[param.slot] = v;
          return true;
        }
        if (v.IsComplex()) {
          out_.inputs[param.slot] = ComplexScalar(interp_, v);
          return true;
        }
        std::optional<graph::AttributeValue> number = ToNumber(v);
        if (!number) return BadType(param, "Tensor or Number", v);
        SetAttribute(param, *number);
        return true;
      }
      case Kind::kNumber: {
        std::optional<graph::AttributeValue> number = ToNumber(v);
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
        std::optional<graph::AttributeValue> number = ToNumber(v);
        if (!number) return BadType(param, "float", v);
        graph::Attributes one{{"v", *number}};
        SetAttribute(param, std::holds_alternative<double>(*number) || param.name == "p"
                                ? *number
                                : graph::AttributeValue(one.Double("v")));
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
        const std::optional<graph::DType> dtype = AsDType(interp_, v);
        if (!dtype) return BadType(param, "torch.dtype", v);
        SetAttribute(param, std::string(graph::DTypeName(*dtype)));
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
      case Kind::kInts:
      case Kind::kIntsRest:
      case Kind::kIntsN: return TakeIntList(param, v);
      case Kind::kSizesN: return TakeSizes(param, v);
      case Kind::kFloats:
      case Kind::kAny: return TakeAny(param, v);
      default: return BadType(param, "known", v);
    }
  }

  bool TakeIntList(const Param& param, Value v) {
    const auto items = Items(v);
    // PyTorch wants as many numbers as dimensions there.
    if (items && items->size() == 1 && param.count == 2 &&
        (overload_.op == graph::Op::fold || overload_.op == graph::Op::unfold ||
         overload_.op == graph::Op::adaptive_avg_pool2d))
      return Problem(absl::StrCat("It is expected ", param.name, " equals to 2, but got size 1"));
    if (items && overload_.op == graph::Op::lp_pool1d && param.name == "kernel_size")  // PyTorch multiplies by it
      return BadType(param, "int", v);
    if (param.name == "indices" && AsTensor(v) != nullptr && AsTensor(v)->type.rank() == 1)
      return TakeIndices(param, v);
    if (!items && param.kind == Kind::kInts) return BadType(param, "tuple of ints", v);
    if (!items) {
      const std::optional<int64_t> i = ToInt(param, v, "tuple of ints");
      if (!i) return false;
      SetAttribute(param, std::vector<int64_t>(std::max(param.count, 1), *i));
      return true;
    }
    interp_.Spend(static_cast<int64_t>(items->size()) / 4);
    std::vector<int64_t> ints(items->size());
    for (size_t k = 0; k < items->size(); ++k) {
      const Value item = (*items)[k];
      if (item.IsInt() || (item.IsBool() && k > 0)) {  // PyTorch looks at the first one
        ints[k] = item.as_int();
        continue;
      }
      const std::optional<int64_t> i = ToInt(param, item, "tuple of ints");
      if (!i) return false;
      ints[k] = *i;
    }
    if (ints.size() == 1 && param.count > 1) ints.resize(param.count, ints[0]);
    SetAttribute(param, std::move(ints));
    return true;
  }

  // tensor_split(x, torch.tensor([1, 3]))
  bool TakeIndices(const Param& param, Value v) {
    if (AsTensor(v)->type.dtype != graph::DType::int64)
      return Problem("tensor_split expected tensor_indices_or_sections to have dtype of long");
    Result<const ConstValues*> values = ReadValues(interp_, AsTensor(v), "tensor_split() at indices");
    if (!values.ok()) return Failed();
    SetAttribute(param, std::vector<int64_t>((*values)->begin(), (*values)->end()));
    return true;
  }

  // None means the size of the input in that dimension: -1 in the attribute.
  bool TakeSizes(const Param& param, Value v) {
    const auto items = Items(v);
    if (!items && v.IsInt() && v.as_int() < 0)
      return Problem(
          absl::StrCat("elements of output_size must be greater than or equal to 0 but received ", v.as_int()));
    if (!items) return TakeIntList(param, v);
    interp_.Spend(static_cast<int64_t>(items->size()) / 4);
    std::vector<int64_t> ints;
    for (size_t k = 0; k < items->size(); ++k) {
      if ((*items)[k].IsNone()) {
        ints.push_back(-1);
        continue;
      }
      const std::optional<int64_t> i = ToInt(param, (*items)[k], "tuple of ints");
      if (!i) return false;
      if (*i < 0)
        return Problem(absl::StrCat("elements of output_size must be greater than or equal to 0 but received ", *i));
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
      std::optional<graph::AttributeValue> number = ToNumber(v);
      if (!number) return BadType(param, "number", v);
      SetAttribute(param, *number);
      return true;
    }
    std::vector<int64_t> ints;
    interp_.Spend(2 * static_cast<int64_t>(items->size()));
    std::vector<double> doubles;
    bool integers = true;
    for (Value item : *items) {
      std::optional<graph::AttributeValue> number = ToNumber(item);
      if (!number) return BadType(param, "tuple of numbers", item);
      graph::Attributes one{{"v", *number}};
      integers = integers && !std::holds_alternative<double>(*number);
      ints.push_back(one.Int("v"));
      doubles.push_back(one.Double("v"));
    }
    SetAttribute(param, integers ? graph::AttributeValue(ints) : graph::AttributeValue(doubles));
    return true;
  }

  Interpreter& interp_;
  const Overload& overload_;
  Bound& out_;
};

}  // namespace

Overload ParseOverload(graph::Op op, absl::string_view signature) {
  Overload overload{op, {}};
  if (absl::ConsumePrefix(&signature, "since ")) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(signature, absl::MaxSplits(": ", 1));
    const std::pair<absl::string_view, absl::string_view> version = absl::StrSplit(parts.first, '.');
    (void)absl::SimpleAtoi(version.first, &overload.since_major);  // the table is ours
    (void)absl::SimpleAtoi(version.second, &overload.since_minor);
    signature = parts.second;
  }
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
      overload.positional += !keyword_only;
    }
  }
  return overload;
}

bool BindArguments(Interpreter& interp, const Overload& overload, absl::Span<const Value> positional,
                   absl::Span<const KeywordArg> keywords, Bound* out) {
  return Binder(interp, overload, out).Bind(positional, keywords);
}

}  // namespace cobra::python
