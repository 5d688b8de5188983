#include "export/python/call_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "export/python/creation_text.h"
#include "graph/getitem.h"

namespace cobra::exporting {
namespace {

using graph::AttributeValue;
using graph::Op;

enum class Style : uint8_t {
  kPositional,
  kInplace,
  kNamed,
  kList,
  kStar,
  kTuple,
  kMethod,
  kProperty,
  kRandom,
  kSpecial,
};

struct Row {
  std::string function;
  Style style = Style::kPositional;
};

std::string DefaultFunction(absl::string_view op) {
  for (const auto& [prefix, module] : {std::pair("linalg_", "torch.linalg."), std::pair("fft_", "torch.fft."),
                                       std::pair("special_", "torch.special.")}) {
    if (absl::StartsWith(op, prefix)) return absl::StrCat(module, absl::StripPrefix(op, prefix));
  }
  return absl::StrCat("torch.", op);
}

const Row& RowOf(Op op) {
  static const auto& rows = *[] {
    auto* all = new std::array<Row, graph::kNumOps>;
    for (const graph::OpInfo& info : graph::AllOps())
      (*all)[static_cast<size_t>(info.op)] = {DefaultFunction(info.name)};
#define COBRA_PYTHON_CALL(op, function, style) (*all)[static_cast<size_t>(Op::op)] = {function, Style::style};
#include "export/python/calls.def"
#undef COBRA_PYTHON_CALL
    return all;
  }();
  return rows[static_cast<size_t>(op)];
}

bool IsNone(const AttributeValue& value) { return std::holds_alternative<graph::NoneValue>(value); }

// Where a function wants another form than the graph has; "" elsewhere.
std::string OwnForm(Op op, absl::string_view name, const AttributeValue& value) {
  const auto* ints = std::get_if<std::vector<int64_t>>(&value);
  if (ints != nullptr && op == Op::lp_pool1d && ints->size() == 1) return absl::StrCat(ints->front());
  // An axis that keeps its size.
  if (ints != nullptr && name == "output_size" && absl::c_linear_search(*ints, -1)) {
    return absl::StrCat("(",
                        absl::StrJoin(*ints, ", ",
                                      [](std::string* out, int64_t size) {
                                        absl::StrAppend(out, size < 0 ? "None" : absl::StrCat(size));
                                      }),
                        ints->size() == 1 ? ",)" : ")");
  }
  const auto* ratio = std::get_if<double>(&value);
  if (ratio == nullptr || name != "output_ratio") return "";
  const bool is_3d = op == Op::fractional_max_pool3d || op == Op::fractional_max_pool3d_with_indices;
  return absl::StrCat("(", NumberText(*ratio), is_3d ? absl::StrCat(", ", NumberText(*ratio)) : "", ", ",
                      NumberText(*ratio), ")");
}

std::string ValueText(absl::string_view name, const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value); text != nullptr && absl::EndsWith(name, "dtype"))
    return absl::StrCat("torch.", absl::StripPrefix(*text, "torch."));
  if (const auto* number = std::get_if<double>(&value)) return NumberText(*number);
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) return TupleText(*ints);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    const std::string items = absl::StrJoin(
        *numbers, ", ", [](std::string* out, double number) { absl::StrAppend(out, NumberText(number)); });
    return absl::StrCat("(", items, numbers->size() == 1 ? ",)" : ")");
  }
  return graph::AttributeText(value);
}

// One call being written.
class Writer {
 public:
  Writer(const graph::Node& node, absl::Span<const std::string> operands)
      : node_(node), info_(graph::GetOpInfo(node.op)), row_(RowOf(node.op)), operands_(operands) {}

  absl::StatusOr<CallText> Write();

 private:
  bool Has(size_t i) const { return i < operands_.size() && !operands_[i].empty(); }
  std::string Operand(size_t i) const { return Has(i) ? operands_[i] : "None"; }
  const AttributeValue* Find(absl::string_view name) const {
    const AttributeValue* value = node_.attributes.Find(name);
    return value == nullptr || IsNone(*value) ? nullptr : value;
  }
  // The attribute's value, which is then written; `fallback` if there is none.
  std::string Take(absl::string_view name, absl::string_view fallback = "None") {
    taken_.insert(std::string(name));
    const AttributeValue* value = Find(name);
    return value == nullptr ? std::string(fallback) : ValueText(name, *value);
  }
  // Operands `first` and those after it, without their names; an absent one that is an attribute as
  // its value.
  std::vector<std::string> Positional(size_t first);
  std::vector<std::string> Named(size_t first) const;
  std::vector<std::string> Rest(size_t first) const {
    return std::vector<std::string>(operands_.begin() + std::min(first, operands_.size()), operands_.end());
  }
  // name=value of all attributes that were not taken.
  std::vector<std::string> Keywords() const;
  // function(arguments, keywords)
  std::string Called(absl::string_view function, std::vector<std::string> arguments) const;
  // In place the method of the first operand, of which `arguments` has the rest.
  CallText Plain(std::vector<std::string> arguments) const;

  CallText Method();
  CallText RandomFill();
  absl::StatusOr<CallText> Special();
  absl::StatusOr<CallText> SpecialElements();
  absl::StatusOr<CallText> SpecialRecurrent();
  absl::StatusOr<CallText> SpecialSplit();
  absl::StatusOr<CallText> SpecialOther();
  absl::StatusOr<std::string> IndexText(size_t* value_operand) const;
  std::string Attention();

  const graph::Node& node_;
  const graph::OpInfo& info_;
  const Row& row_;
  absl::Span<const std::string> operands_;
  std::set<std::string, std::less<>> taken_;
};

std::vector<std::string> Writer::Positional(size_t first) {
  std::vector<std::string> arguments;
  const size_t count = std::max(operands_.size(), info_.inputs.size());
  for (size_t i = first; i < count; ++i) {
    if (Has(i) || i >= info_.inputs.size()) {
      arguments.push_back(Operand(i));
    } else {
      arguments.push_back(Take(info_.inputs[i].name));
    }
  }
  // batch_norm's running statistics have no default.
  const size_t least = node_.op == Op::batch_norm ? 3 - first : 0;
  while (arguments.size() > least && arguments.back() == "None") arguments.pop_back();
  return arguments;
}

std::vector<std::string> Writer::Named(size_t first) const {
  std::vector<std::string> arguments;
  for (size_t i = first; i < info_.inputs.size(); ++i) {
    absl::string_view name = info_.inputs[i].name;
    if (name == "random_samples") name = "_random_samples";
    if (Has(i)) arguments.push_back(absl::StrCat(name, "=", operands_[i]));
  }
  return arguments;
}

std::vector<std::string> Writer::Keywords() const {
  std::vector<std::string> keywords;
  for (const auto& [name, value] : node_.attributes) {
    if (IsNone(value) || taken_.count(name) > 0) continue;
    // sum(x, keepdim=False) is not an overload.
    if (name == "keepdim" && Find("dim") == nullptr && value == AttributeValue(false)) continue;
    const std::string own = OwnForm(node_.op, name, value);
    keywords.push_back(absl::StrCat(name, "=", own.empty() ? ValueText(name, value) : own));
  }
  // Without running statistics it takes the batch's, which it calls training.
  if (node_.op == Op::batch_norm && !Has(1) && Find("training") == nullptr) keywords.push_back("training=True");
  return keywords;
}

std::string Writer::Called(absl::string_view function, std::vector<std::string> arguments) const {
  const std::vector<std::string> keywords = Keywords();
  arguments.insert(arguments.end(), keywords.begin(), keywords.end());
  return absl::StrCat(function, "(", absl::StrJoin(arguments, ", "), ")");
}

CallText Writer::Plain(std::vector<std::string> arguments) const {
  if (node_.inplace) return {Called(absl::StrCat(Operand(0), ".", absl::StripSuffix(info_.name, "_"), "_"), arguments)};
  const char* infix = node_.op == Op::add   ? " + "
                      : node_.op == Op::sub ? " - "
                      : node_.op == Op::mul ? " * "
                      : node_.op == Op::div ? " / "
                                            : nullptr;
  if (infix != nullptr && arguments.size() == 1 && Keywords().empty())
    return {absl::StrCat(Operand(0), infix, arguments[0])};
  if (!operands_.empty()) arguments.insert(arguments.begin(), Operand(0));
  return {Called(row_.function, arguments)};
}

absl::StatusOr<CallText> Writer::Write() {
  if (Find("quantized") != nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(info_.name, ": a call of quantized tensors, which PyTorch has no one function for"));
  }
  const int outputs = static_cast<int>(node_.outputs.size());
  switch (row_.style) {
    case Style::kPositional: {
      // The first one may be a number, too.
      if (!node_.inplace && !Has(0)) {
        CallText call{Called(row_.function, Positional(0)), false, 0, outputs > 1 ? outputs : 0};
        return call;
      }
      CallText call = Plain(Positional(1));
      call.tuple = outputs > 1 ? outputs : 0;
      return call;
    }
    case Style::kInplace: {
      std::vector<std::string> arguments = Positional(0);
      // Where the graph says nothing it does not drop; these functions do.
      if (absl::StrContains(row_.function, "dropout") && Find("training") == nullptr)
        arguments.push_back("training=False");
      std::string text = Called(row_.function, std::move(arguments));
      if (node_.inplace) text = absl::StrCat(absl::StripSuffix(text, ")"), ", inplace=True)");
      return CallText{std::move(text)};
    }
    case Style::kNamed: {
      CallText call = Plain(Named(1));
      call.tuple = outputs > 1 ? outputs : 0;
      return call;
    }
    case Style::kList: return CallText{Called(row_.function, {absl::StrCat("[", absl::StrJoin(operands_, ", "), "]")})};
    case Style::kStar: return CallText{Called(row_.function, Rest(0)), false, 0, outputs};
    case Style::kTuple: return CallText{Called(row_.function, Positional(0)), false, 0, outputs};
    case Style::kMethod: return Method();
    case Style::kProperty: return CallText{absl::StrCat(Operand(0), ".", row_.function)};
    case Style::kRandom: return RandomFill();
    case Style::kSpecial: return Special();
  }
  return absl::InternalError("unknown style");
}

CallText Writer::Method() {
  // to(other) has the type of another tensor; of x.to(dtype) the type is enough.
  std::vector<std::string> arguments = Rest(1);
  if (node_.op == Op::to || node_.op == Op::type) {
    taken_.insert("dtype");
    if (arguments.empty() || arguments[0].empty()) arguments = {DTypeText(node_.outputs[0].dtype)};
  }
  return {Called(absl::StrCat(Operand(0), ".", row_.function), std::move(arguments))};
}

CallText Writer::RandomFill() {
  std::vector<std::string> arguments = Rest(1);
  if (!arguments.empty() && arguments[0].empty()) arguments.clear();
  for (const auto& [name, value] : node_.attributes) {
    if (!IsNone(value)) arguments.push_back(Take(name));
  }
  return {Called(absl::StrCat(Operand(0), ".", row_.function, "_"), std::move(arguments))};
}

// The text of the index with the names of its tensors. `value_operand`: the first operand that is
// not part of it.
absl::StatusOr<std::string> Writer::IndexText(size_t* value_operand) const {
  const std::string text = node_.attributes.String("index");
  absl::StatusOr<graph::IndexList> list = graph::ParseIndex(text);
  if (!list.ok()) return list.status();
  *value_operand = 1;
  for (const graph::IndexItem& item : *list) *value_operand += item.kind == graph::IndexItem::Kind::kTensor;
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    // "T0": the only word that begins with T beside True.
    if (text[i] != 'T' || text[i + 1] == 'r') {
      out += text[i];
      continue;
    }
    size_t number = 0;
    while (i + 1 < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[i + 1])))
      number = number * 10 + static_cast<size_t>(text[++i] - '0');
    out += Operand(1 + number);
  }
  if (out.empty()) out = "()";
  if (list->size() == 1 && list->front().kind == graph::IndexItem::Kind::kList) out += ",";
  return out;
}

absl::StatusOr<CallText> Writer::Special() {
  if (operands_.empty()) return CallText{CreationText(node_, row_.function)};
  switch (node_.op) {
    case Op::getitem:
    case Op::setitem:
    case Op::alias:
    case Op::as_base:
    case Op::index_put: return SpecialElements();
    case Op::lstm:
    case Op::gru:
    case Op::rnn_tanh:
    case Op::rnn_relu:
    case Op::lstm_cell:
    case Op::_pack_padded_sequence:
    case Op::_pad_packed_sequence: return SpecialRecurrent();
    case Op::split:
    case Op::tensor_split:
    case Op::hsplit:
    case Op::vsplit:
    case Op::dsplit:
    case Op::split_with_sizes:
    case Op::unsafe_split:
    case Op::unsafe_split_with_sizes: return SpecialSplit();
    default: return SpecialOther();
  }
}

absl::StatusOr<CallText> Writer::SpecialElements() {
  if (node_.op == Op::alias) return CallText{"", true, 0};
  if (node_.op == Op::as_base) return CallText{"", true, 1};
  if (node_.op == Op::index_put) {
    const std::string indices = absl::StrCat("(", absl::StrJoin(Rest(2), ", "), ",)");
    return Plain({indices, Operand(1)});
  }
  size_t value = 0;
  absl::StatusOr<std::string> index = IndexText(&value);
  if (!index.ok()) return index.status();
  const std::string element = absl::StrCat(Operand(0), "[", *index, "]");
  if (node_.op == Op::getitem) return CallText{element};
  return CallText{absl::StrCat(element, " = ", Has(value) ? operands_[value] : Take("value", "0")), true, 0};
}

absl::StatusOr<CallText> Writer::SpecialRecurrent() {
  const int outputs = static_cast<int>(node_.outputs.size());
  const auto steps = [this] {
    return absl::StrCat("torch.tensor(", TupleText(node_.attributes.Ints("batch_sizes")), ")");
  };
  if (node_.op == Op::lstm_cell) {
    std::vector<std::string> arguments = Rest(3);
    arguments.insert(arguments.begin(), {Operand(0), absl::StrCat("(", Operand(1), ", ", Operand(2), ")")});
    return CallText{Called(row_.function, std::move(arguments)), false, 0, 2};
  }
  if (node_.op == Op::_pack_padded_sequence) {
    const std::vector<int64_t> sizes = node_.attributes.Ints("batch_sizes");
    std::vector<int64_t> lengths(static_cast<size_t>(sizes.empty() ? 0 : sizes[0]), 0);
    for (int64_t size : sizes) {
      for (int64_t i = 0; i < size; ++i) ++lengths[static_cast<size_t>(i)];
    }
    taken_.insert("batch_sizes");
    return CallText{absl::StrCat(row_.function, "(", Operand(0), ", torch.tensor(", TupleText(lengths), "), ",
                                 Take("batch_first", "False"), ")"),
                    false, 0, outputs};
  }
  if (node_.op == Op::_pad_packed_sequence) {
    const std::string total = absl::StrCat(node_.attributes.Ints("batch_sizes").size());
    return CallText{absl::StrCat(row_.function, "(", Operand(0), ", ", steps(), ", ", Take("batch_first", "False"),
                                 ", ", Take("padding_value", "0.0"), ", ", Take("total_length", total), ")"),
                    false, 0, outputs};
  }
  const bool packed = Find("batch_sizes") != nullptr;
  const size_t first = node_.op == Op::lstm ? 3 : 2;
  std::vector<std::string> weights = Rest(first);
  if (packed && !weights.empty()) weights.pop_back();  // the sizes are in the attribute
  const std::string state = node_.op == Op::lstm ? absl::StrCat("(", Operand(1), ", ", Operand(2), ")") : Operand(1);
  const bool training = node_.attributes.Bool("training");
  std::string text = absl::StrCat(row_.function, "(", Operand(0), packed ? absl::StrCat(", ", steps()) : "", ", ",
                                  state, ", [", absl::StrJoin(weights, ", "), "], ", Take("has_biases", "True"), ", ",
                                  Take("num_layers", "1"), ", ", training ? Take("dropout", "0.0") : "0.0", ", ",
                                  training ? "True" : "False", ", ", Take("bidirectional", "False"));
  absl::StrAppend(&text, packed ? "" : absl::StrCat(", ", Take("batch_first", "False")), ")");
  return CallText{std::move(text), false, 0, outputs};
}

absl::StatusOr<CallText> Writer::SpecialSplit() {
  std::vector<std::string> arguments = {Operand(0)};
  for (const char* name : {"split_size", "sections", "indices"}) {
    if (Find(name) != nullptr) arguments.push_back(Take(name));
  }
  return CallText{Called(row_.function, std::move(arguments)), false, 0, static_cast<int>(node_.outputs.size())};
}

std::string Writer::Attention() {
  std::vector<std::string> arguments = {Operand(0), Operand(1), Operand(2)};
  // The arguments that have no default.
  for (const char* name : {"embed_dim_to_check", "num_heads"}) arguments.push_back(Take(name));
  for (size_t i = 3; i < 7; ++i) arguments.push_back(Operand(i));
  arguments.push_back(Take("add_zero_attn", "False"));
  arguments.push_back(Take("dropout_p", "0.0"));
  arguments.push_back(Operand(7));
  arguments.push_back(Operand(8));
  arguments.push_back(absl::StrCat("training=", Take("training", "False")));
  for (std::string& argument : Named(9)) arguments.push_back(std::move(argument));
  return Called(row_.function, std::move(arguments));
}

// Long because it is a list.
absl::StatusOr<CallText> Writer::SpecialOther() {
  const std::string x = Operand(0), other = Has(1) ? operands_[1] : Take("other", "0");
  const int outputs = static_cast<int>(node_.outputs.size());
  switch (node_.op) {
    case Op::multi_head_attention_forward:
      if (outputs == 1) return CallText{absl::StrCat(Attention(), "[0]")};
      return CallText{Attention(), false, 0, 2};
    case Op::feature_dropout:
      return CallText{
          absl::StrCat(row_.function, "(", x, ", ", Take("p", "0.5"), ", ", Take("training", "False"), ")")};
    case Op::deform_conv2d:
      return CallText{absl::StrCat(row_.function, "(", x, ", ", Operand(2), ", ", Operand(1), ", ", Operand(4), ", ",
                                   Take("stride", "1"), ", ", Take("padding", "0"), ", ", Take("dilation", "1"), ", ",
                                   Operand(3), ")")};
    case Op::einsum: {
      std::vector<std::string> arguments = Rest(0);
      arguments.insert(arguments.begin(), Take("equation"));
      return CallText{Called(row_.function, std::move(arguments))};
    }
    case Op::searchsorted: {
      std::vector<std::string> arguments = {x, Has(1) ? operands_[1] : Take("input")};
      for (std::string& argument : Named(2)) arguments.push_back(std::move(argument));
      return CallText{Called(row_.function, std::move(arguments))};
    }
    case Op::tensordot: {
      if (Find("axes") == nullptr) return CallText{Called(row_.function, {x, other})};
      const std::vector<int64_t> axes = node_.attributes.Ints("axes");
      taken_.insert("axes");
      const auto half = absl::MakeConstSpan(axes).subspan(0, axes.size() / 2);
      const auto rest = absl::MakeConstSpan(axes).subspan(axes.size() / 2);
      return CallText{
          Called(row_.function, {x, other, absl::StrCat("(", TupleText(half), ", ", TupleText(rest), ")")})};
    }
    case Op::polygamma:
    case Op::special_polygamma: return CallText{absl::StrCat(row_.function, "(", Take("n"), ", ", x, ")")};
    case Op::rdiv:
    case Op::rfloor_divide:
    case Op::rmod:
    case Op::rpow: return CallText{absl::StrCat(other, " ", row_.function, " ", x)};
    case Op::view:
      return CallText{absl::StrCat(x, ".view(", Find("dtype") != nullptr ? Take("dtype") : Take("size"), ")")};
    case Op::random:
      return CallText{
          absl::StrCat(x, ".random_(", Find("from") != nullptr ? Take("from") + ", " : "", Take("to", ""), ")")};
    case Op::uniform: {
      const std::string range = absl::StrCat(".uniform_(", Take("from", "0.0"), ", ", Take("to", "1.0"), ")");
      return CallText{node_.inplace ? x + range : absl::StrCat("torch.empty_like(", x, ")", range)};
    }
    case Op::normal: {
      const std::string std = Has(1) ? operands_[1] : Take("std", "1.0");
      if (node_.inplace) return CallText{absl::StrCat(x, ".normal_(", Take("mean", "0.0"), ", ", std, ")")};
      return CallText{absl::StrCat("torch.normal(", Has(0) ? x : Take("mean", "0.0"), ", ", std, ")")};
    }
    case Op::quantize_per_tensor: {
      const graph::DType type = node_.outputs[0].dtype;
      const char* range = type == graph::DType::uint8  ? "0, 255"
                          : type == graph::DType::int8 ? "-128, 127"
                                                       : "-32768, 32767";
      return CallText{absl::StrCat(x, ".div(", Take("scale", "1.0"), ").round_().add_(", Take("zero_point", "0"),
                                   ").clamp_(", range, ").to(", DTypeText(type), ")")};
    }
    case Op::dequantize:
      return CallText{
          absl::StrCat(x, ".to(torch.float32).sub_(", Take("zero_point", "0"), ").mul_(", Take("scale", "1.0"), ")")};
    default: return absl::InternalError(absl::StrCat(info_.name, " has no text"));
  }
}

}  // namespace

std::string DTypeText(graph::DType dtype) { return absl::StrCat("torch.", graph::DTypeName(dtype)); }

std::string NumberText(double value) {
  if (std::isnan(value)) return "float('nan')";
  if (std::isinf(value)) return value > 0 ? "float('inf')" : "float('-inf')";
  return graph::AttributeText(value);
}

std::string TupleText(absl::Span<const int64_t> values) {
  return absl::StrCat("(", absl::StrJoin(values, ", "), values.size() == 1 ? ",)" : ")");
}

absl::StatusOr<CallText> WriteCall(const graph::Node& node, absl::Span<const std::string> operands) {
  return Writer(node, operands).Write();
}

}  // namespace cobra::exporting
