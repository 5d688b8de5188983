#include "tests/frontend/onnx/conformance_case.h"

#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "frontend/onnx/importer/tensor_data.h"
#include "frontend/onnx/reader.h"
#include "onnx/onnx-data_pb.h"
#include "tests/frontend/onnx/defined_attention.h"
#include "worker/execute/executor.h"

namespace cobra::onnx {
namespace {

absl::Status AddTensor(const ::onnx::TensorProto& proto, Datum* datum) {
  COBRA_ASSIGN_OR_RETURN(graph::TensorType type, TypeOf(proto));
  datum->types.push_back(std::move(type));
  datum->values.push_back(Decode(proto));
  return absl::OkStatus();
}

// Whether the tensor is what the file declares it to be.
bool Contradicts(const ::onnx::TypeProto& declared, const graph::TensorType& type) {
  if (!declared.has_tensor_type() || !declared.tensor_type().has_shape()) return false;
  const auto& shape = declared.tensor_type().shape();
  bool fits = shape.dim_size() == type.rank();
  for (int i = 0; fits && i < shape.dim_size(); ++i)
    fits = !shape.dim(i).has_dim_value() || shape.dim(i).dim_value() == type.shape[i];
  return !fits;
}

}  // namespace

absl::StatusOr<Datum> ReadDatum(const std::string& path, const ::onnx::ValueInfoProto& info) {
  COBRA_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  Datum datum;
  datum.name = info.name();
  const ::onnx::TypeProto* type = &info.type();
  ::onnx::OptionalProto optional;
  if (type->has_optional_type()) {
    if (!optional.ParseFromString(bytes)) return absl::InvalidArgumentError("no OptionalProto");
    if (optional.has_tensor_value())
      return AddTensor(optional.tensor_value(), &datum).ok() ? absl::StatusOr<Datum>(datum)
                                                             : absl::InvalidArgumentError(path);
    datum.absent = !optional.has_sequence_value();
    if (datum.absent) return datum;
    bytes = optional.sequence_value().SerializeAsString();
    type = &type->optional_type().elem_type();
  }
  if (type->has_sequence_type()) {
    ::onnx::SequenceProto sequence;
    if (!sequence.ParseFromString(bytes)) return absl::InvalidArgumentError("no SequenceProto");
    datum.is_sequence = true;
    for (const auto& tensor : sequence.tensor_values()) COBRA_RETURN_IF_ERROR(AddTensor(tensor, &datum));
    return datum;
  }
  ::onnx::TensorProto tensor;
  if (!tensor.ParseFromString(bytes)) return absl::InvalidArgumentError("no TensorProto");
  // numpy has no bfloat16: the data says uint16 where the file says bfloat16.
  const bool brain = info.type().tensor_type().elem_type() == ::onnx::TensorProto::BFLOAT16;
  if (brain && tensor.data_type() == ::onnx::TensorProto::UINT16) tensor.set_data_type(::onnx::TensorProto::BFLOAT16);
  COBRA_RETURN_IF_ERROR(AddTensor(tensor, &datum));
  datum.unusable = Contradicts(info.type(), datum.types[0]);
  return datum;
}

namespace {

std::string ShapeArgument(const Datum& datum) {
  std::vector<std::string> shapes;
  for (const graph::TensorType& type : datum.types) shapes.push_back(graph::ShapeText(type.shape));
  return absl::StrCat(datum.name, "=",
                      datum.is_sequence ? absl::StrCat("[", absl::StrJoin(shapes, ","), "]") : shapes[0]);
}

std::string ValueText(const Datum& datum, size_t dim, size_t* at) {
  const graph::Shape& shape = datum.types[0].shape;
  if (dim == shape.size()) {
    const double v = datum.values[0][(*at)++];
    return std::isnan(v) ? "nan" : std::isinf(v) ? (v > 0 ? "inf" : "-inf") : absl::StrFormat("%.17g", v);
  }
  std::vector<std::string> items;
  for (int64_t i = 0; i < shape[dim]; ++i) items.push_back(ValueText(datum, dim + 1, at));
  return absl::StrCat("[", absl::StrJoin(items, ", "), "]");
}

// "--arg a=VALUE --arg b=VALUE": the names that a diagnostic asks for.
std::vector<std::string> NamesAskedFor(const std::string& hint) {
  std::vector<std::string> names;
  for (size_t at = hint.find("--arg "); at != std::string::npos; at = hint.find("--arg ", at + 1)) {
    const size_t end = hint.find("=VALUE", at);
    if (end != std::string::npos) names.push_back(hint.substr(at + 6, end - at - 6));
  }
  return names;
}

absl::StatusOr<OnnxModel> Import(const std::string& bytes, const std::vector<Datum>& inputs,
                                 std::set<std::string>* bound) {
  while (true) {
    OnnxRequest request;
    for (const Datum& input : inputs) {
      if (input.unusable) continue;
      if (input.absent) {
        request.arguments.emplace_back(input.name, "None");
        continue;
      }
      if (bound->count(input.name) == 0) {
        request.inputs.push_back(ShapeArgument(input));
      } else {
        size_t at = 0;
        request.arguments.emplace_back(input.name, ValueText(input, 0, &at));
      }
    }
    absl::StatusOr<OnnxModel> model = ReadOnnxModelWithValues(bytes, request);
    if (model.ok()) return model;
    const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(model.status());
    bool more = false;
    if (diagnostic.has_value()) {
      for (const std::string& name : NamesAskedFor(diagnostic->hint)) more = bound->insert(name).second || more;
    }
    if (!more) return model;
  }
}

// ONNX's own tolerances. Its bfloat16 data is cut off where LibTorch rounds, and terms are rounded
// in another order.
std::string Difference(const std::vector<double>& got, const std::vector<double>& want, graph::DType dtype,
                       const Tolerance& tolerance) {
  const double relative = dtype == graph::DType::bfloat16 ? 1.0 / 64 : 1e-3;
  double absolute = 1e-7;
  if (graph::IsFloatingPoint(dtype)) {
    for (double v : want) {
      if (std::isfinite(v)) absolute = std::max(absolute, tolerance.part * std::abs(v));
    }
  } else if (graph::DTypeBytes(dtype) == 1 && dtype != graph::DType::bool_) {
    absolute = std::max(absolute, tolerance.steps);
  }
  if (got.size() != want.size()) return absl::StrCat(got.size(), " elements, the reference has ", want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])
            ? std::isnan(got[i])
            : got[i] == want[i] || std::abs(got[i] - want[i]) <= absolute + relative * std::abs(want[i]))
      continue;
    return absl::StrCat("element ", i, " is ", got[i], ", the reference has ", want[i]);
  }
  return "";
}

}  // namespace

absl::Status RunCase(const std::string& bytes, const std::vector<Datum>& inputs, const std::vector<Datum>& outputs,
                     const Tolerance& tolerance) {
  std::set<std::string> bound;
  COBRA_ASSIGN_OR_RETURN(OnnxModel model, Import(bytes, inputs, &bound));
  COBRA_ASSIGN_OR_RETURN(const graph::Graph runnable, WithDefinedAttention(model.graph));
  COBRA_ASSIGN_OR_RETURN(std::unique_ptr<worker::Executor> executor, worker::Executor::Create(runnable, /*seed=*/1));
  for (const OnnxValue& value : model.values) COBRA_RETURN_IF_ERROR(executor->SetValues(value.ref, *value.values));
  int32_t index = 0;
  for (const Datum& input : inputs) {
    if (bound.count(input.name) > 0 || input.absent) continue;
    if (input.unusable) {
      ++index;
      continue;
    }
    for (const auto& values : input.values) {
      COBRA_RETURN_IF_ERROR(executor->SetValues(graph::ValueRef::Input(index++), values));
    }
  }
  if (!runnable.nodes().empty()) COBRA_RETURN_IF_ERROR(executor->RunChecked());
  COBRA_ASSIGN_OR_RETURN(const auto values, executor->RunForValues());
  size_t at = 0;
  for (const Datum& output : outputs) {
    for (size_t i = 0; i < output.values.size(); ++i, ++at) {
      if (at >= values.size()) return absl::InternalError(absl::StrCat("output ", output.name, " is missing"));
      const graph::TensorType& type = model.graph.TypeOf(model.graph.outputs()[at]);
      if (type != output.types[i]) {
        return absl::InternalError(absl::StrCat("output ", output.name, " is ", graph::TypeText(type),
                                                ", the reference ", graph::TypeText(output.types[i])));
      }
      if (std::string difference = Difference(values[at], output.values[i], type.dtype, tolerance);
          !difference.empty()) {
        return absl::InternalError(absl::StrCat("output ", output.name, ": ", difference));
      }
    }
  }
  if (at != values.size()) return absl::InternalError(absl::StrCat(values.size(), " outputs, the reference has ", at));
  return absl::OkStatus();
}

}  // namespace cobra::onnx
