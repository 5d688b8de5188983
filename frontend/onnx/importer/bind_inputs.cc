// Binds the inputs of the network. Their types come from the file; sizes that the file leaves open
// and values that are known beforehand come from the request.
#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/onnx/importer/importer.h"
#include "frontend/onnx/importer/node_context.h"
#include "frontend/onnx/importer/tensor_data.h"
#include "graph/builder/untrusted.h"

namespace cobra::onnx {
namespace {

using ::onnx::TensorShapeProto;

// The shape as the file declares it, for example "[batch, 3, 224, ?]".
std::string DeclaredText(const TensorShapeProto& shape) {
  std::vector<std::string> dims;
  for (const auto& dim : shape.dim()) {
    dims.push_back(dim.has_dim_value()       ? absl::StrCat(dim.dim_value())
                   : dim.dim_param().empty() ? "?"
                                             : dim.dim_param());
  }
  return absl::StrCat("[", absl::StrJoin(dims, ", "), "]");
}

// Quoted, because a name may be a number.
std::string InputsText(const std::vector<std::string>& names) {
  if (names.empty()) return "it has no inputs";
  return absl::StrCat(names.size() == 1 ? "its input is \"" : "its inputs are \"", absl::StrJoin(names, "\", \""),
                      "\"");
}

bool IsOpen(const TensorShapeProto::Dimension& dim) { return !dim.has_dim_value() || dim.dim_value() < 0; }

// The shape if the request gives none. An open first dimension is taken for the batch and gets size
// 1.
absl::StatusOr<graph::Shape> DefaultShape(const std::string& name, const ::onnx::TypeProto::Tensor& type) {
  if (!type.has_shape())
    return UsageError(absl::StrCat("input \"", name, "\": the file does not declare its shape"),
                      absl::StrCat("give it: --input ", name, "=1x3x224x224"));
  graph::Shape shape;
  for (int i = 0; i < type.shape().dim_size(); ++i) {
    const auto& dim = type.shape().dim(i);
    if (IsOpen(dim) && i > 0) {
      return UsageError(
          absl::StrCat("input \"", name, "\": the file leaves its shape ", DeclaredText(type.shape()), " open"),
          absl::StrCat("give it: --input ", name, "=SHAPE, such as 1x3x224x224"));
    }
    shape.push_back(IsOpen(dim) ? 1 : dim.dim_value());
  }
  return shape;
}

absl::StatusOr<graph::Shape> RequestedShape(const std::string& name, const ::onnx::TypeProto::Tensor& type,
                                            const std::string& text, graph::DType dtype) {
  COBRA_ASSIGN_OR_RETURN(graph::TensorType asked, graph::ParseTensorType(text));
  if (absl::StrContains(text, ":") && asked.dtype != dtype) {
    return UsageError(absl::StrCat("--input ", name, "=", text, ": the file has ", graph::DTypeName(dtype)),
                      absl::StrCat("leave the type out: --input ", name, "=", text.substr(0, text.find(':'))));
  }
  bool fits = !type.has_shape() || type.shape().dim_size() == asked.rank();
  for (int i = 0; fits && type.has_shape() && i < asked.rank(); ++i) {
    fits = IsOpen(type.shape().dim(i)) || type.shape().dim(i).dim_value() == asked.shape[i];
  }
  if (fits) return asked.shape;
  const bool open = absl::c_any_of(type.shape().dim(), IsOpen);
  return UsageError(absl::StrCat("--input ", name, "=", text, ": the file has ", DeclaredText(type.shape())),
                    open ? "give as many sizes: its own for a number, any for a name or ?"
                         : "its sizes are fixed: leave --input out, or export the model again for others");
}

// Reads numbers in nested lists of equal lengths: "5", "[0, 1]", "[[1.5, inf], [2, True]]".
class NumberReader {
 public:
  NumberReader(absl::string_view text, int64_t max_elements) : text_(text), max_elements_(max_elements) {}

  bool Read(graph::Shape* shape, Values* values) {
    return ReadItem(0, shape, values) && (SkipBlanks(), text_.empty()) &&
           static_cast<int64_t>(values->size()) <= max_elements_;
  }

 private:
  void SkipBlanks() { text_ = absl::StripLeadingAsciiWhitespace(text_); }

  bool ReadItem(int depth, graph::Shape* shape, Values* values) {
    SkipBlanks();
    if (depth > 16) return false;
    if (!absl::ConsumePrefix(&text_, "[")) return static_cast<int>(shape->size()) == depth && ReadNumber(values);
    if (static_cast<int>(shape->size()) > depth) return ReadRest(depth, shape, values);
    if (!values->empty()) return false;
    shape->push_back(-1);
    return ReadRest(depth, shape, values);
  }

  bool ReadRest(int depth, graph::Shape* shape, Values* values) {
    int64_t count = 0;
    for (SkipBlanks(); !absl::ConsumePrefix(&text_, "]"); SkipBlanks()) {
      if (count > 0 && !absl::ConsumePrefix(&text_, ",")) return false;
      if (!ReadItem(depth + 1, shape, values) || static_cast<int64_t>(values->size()) > max_elements_) return false;
      ++count;
    }
    if ((*shape)[depth] >= 0 && (*shape)[depth] != count) return false;
    (*shape)[depth] = count;
    return true;
  }

  bool ReadNumber(Values* values) {
    const absl::string_view word = text_.substr(0, text_.find_first_of(",] \t\n"));
    double value;
    if (word == "True" || word == "true" || word == "False" || word == "false") {
      value = word[0] == 'T' || word[0] == 't';
    } else if (!absl::SimpleAtod(word, &value)) {
      return false;
    }
    text_.remove_prefix(word.size());
    values->push_back(value);
    return true;
  }

  absl::string_view text_;
  const int64_t max_elements_;
};

absl::Status CheckSize(absl::string_view input, const graph::TensorType& type, const GraphLimits& limits) {
  const std::string what = absl::StrCat("input \"", input, "\" of ", graph::TypeText(type));
  if (type.rank() > limits.max_rank)
    return absl::ResourceExhaustedError(LimitMessage(what, type.rank(), limits.max_rank, "dimensions"));
  // Checked separately, because the product of the dimensions is 0 if any of them is 0, however
  // large the others are.
  constexpr int64_t kMostElements = int64_t{1} << 40;
  if (absl::c_any_of(type.shape, [](int64_t d) { return d > kMostElements; }))
    return absl::ResourceExhaustedError(LimitMessage(what, kMostElements, "elements in a dimension"));
  if (graph::IsTooLarge(type, limits.max_tensor_bytes))
    return absl::ResourceExhaustedError(LimitMessage(what, limits.max_tensor_bytes, "bytes"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Value> Importer::BindInput(const ::onnx::ValueInfoProto& info, const std::string* shape_text) {
  const std::string& name = info.name();
  const ::onnx::TypeProto* type = &info.type();
  for (const auto& [argument, text] : request_.arguments) {
    if (argument == name && text == "None" && type->has_optional_type()) return Value();
  }
  if (type->has_optional_type()) type = &type->optional_type().elem_type();  // an optional input with a value
  if (type->has_sequence_type() && type->sequence_type().elem_type().has_tensor_type()) {
    if (shape_text == nullptr) {
      return UsageError(absl::StrCat("input \"", name, "\" is a sequence of tensors"),
                        absl::StrCat("give their shapes: --input ", name, "=[3x4,5x6]"));
    }
    absl::string_view text = absl::StripAsciiWhitespace(*shape_text);
    if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) {
      return UsageError(absl::StrCat("--input ", name, "=", *shape_text, ": the input is a sequence of tensors"),
                        absl::StrCat("--input ", name, "=[3x4,5x6]"));
    }
    const auto& element = type->sequence_type().elem_type().tensor_type();
    COBRA_ASSIGN_OR_RETURN(const graph::DType dtype, DTypeOf(element.elem_type()));
    std::vector<Value> items;
    for (absl::string_view item : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
      COBRA_ASSIGN_OR_RETURN(graph::Shape shape,
                             RequestedShape(name, element, std::string(absl::StripAsciiWhitespace(item)), dtype));
      auto tensor = std::make_shared<Tensor>();
      tensor->type = {std::move(shape), dtype};
      tensor->ref = builder_.AddInput(absl::StrCat(name, "[", items.size(), "]"), tensor->type);
      items.emplace_back(std::move(tensor));
    }
    return Value::Sequence(std::move(items));
  }
  if (!type->has_tensor_type()) return Unsupported("input \"", name, "\" is not a tensor: this is not supported");
  const auto& tensor_type = type->tensor_type();
  absl::StatusOr<graph::DType> dtype = DTypeOf(tensor_type.elem_type());
  if (!dtype.ok())
    return absl::Status(dtype.status().code(), absl::StrCat("input \"", name, "\": ", dtype.status().message()));
  for (const auto& [argument, text] : request_.arguments) {
    if (argument != name) continue;
    graph::TensorType known{{}, *dtype};
    Values values;
    if (!NumberReader(text, limits_.onnx.max_const_elements).Read(&known.shape, &values)) {
      return UsageError(absl::StrCat("--arg ", name, "=", text, ": is neither a number nor a list of numbers"),
                        "such as 5, [0, 1] or [[1.5, 2], [3, 4]]");
    }
    COBRA_ASSIGN_OR_RETURN(known.shape, RequestedShape(name, tensor_type, graph::ShapeText(known.shape), *dtype));
    COBRA_ASSIGN_OR_RETURN(TensorPtr constant, Constant(std::move(known), std::move(values), name));
    if (OnnxTypeOf(*constant) != tensor_type.elem_type()) constant->onnx_type = tensor_type.elem_type();
    return Value(std::move(constant));
  }
  auto tensor = std::make_shared<Tensor>();
  absl::StatusOr<graph::Shape> shape =
      shape_text == nullptr ? DefaultShape(name, tensor_type) : RequestedShape(name, tensor_type, *shape_text, *dtype);
  if (!shape.ok()) return shape.status();
  tensor->type = {*std::move(shape), *dtype};
  if (OnnxTypeOf(*tensor) != tensor_type.elem_type()) tensor->onnx_type = tensor_type.elem_type();
  COBRA_RETURN_IF_ERROR(CheckSize(name, tensor->type, limits_.graph));
  tensor->ref = builder_.AddInput(name, tensor->type);
  return Value(std::move(tensor));
}

absl::Status Importer::BindInputs(const ::onnx::GraphProto& graph, GraphRun* run) {
  std::vector<const ::onnx::ValueInfoProto*>
      free;  // without the initializers, which files of IR version 3 and before list among the inputs
  std::vector<std::string> names;
  for (const auto& info : graph.input()) {
    if (run->values.contains(info.name())) continue;
    free.push_back(&info);
    names.push_back(info.name());
  }
  const std::string have = InputsText(names);
  absl::flat_hash_map<std::string, std::string> shapes;
  size_t position = 0;
  for (const std::string& text : request_.inputs) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos && position >= names.size()) {
      return UsageError(absl::StrCat("--input ", text, ": the network takes ", Counted(names.size(), "input")), have);
    }
    const std::string name = equals == std::string::npos ? names[position++] : text.substr(0, equals);
    if (std::find(names.begin(), names.end(), name) == names.end())
      return UsageError(absl::StrCat("--input ", text, ": the file has no such input"), have);
    if (!shapes.emplace(name, equals == std::string::npos ? text : text.substr(equals + 1)).second)
      return UsageError(absl::StrCat("--input ", text, ": the input \"", name, "\" is given twice"), "give it once");
  }
  absl::flat_hash_set<std::string> with_values;
  for (const auto& [name, text] : request_.arguments) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return UsageError(absl::StrCat("--arg ", name, "=", text, ": the file has no such input"), have);
    if (!with_values.insert(name).second)
      return UsageError(absl::StrCat("--arg ", name, "=", text, ": the input \"", name, "\" is given twice"),
                        "give it once");
    if (shapes.contains(name)) {
      return UsageError(absl::StrCat("--arg ", name, "=", text, ": the input \"", name, "\" is given with --input too"),
                        "leave --input out: the values have a shape");
    }
  }
  for (const ::onnx::ValueInfoProto* info : free) {
    const auto shape = shapes.find(info->name());
    COBRA_ASSIGN_OR_RETURN(run->values[info->name()],
                           BindInput(*info, shape == shapes.end() ? nullptr : &shape->second));
  }
  return absl::OkStatus();
}

}  // namespace cobra::onnx
