#include "export/onnx/onnx_file.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "onnx/onnx_pb.h"

namespace cobra::exporting {
namespace {

using ::onnx::AttributeProto;
using ::onnx::TensorProto;

constexpr int kIrVersion = 8, kOpset = 17;

void SetType(const graph::TensorType& type, ::onnx::ValueInfoProto* info) {
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(OnnxTypeOf(type.dtype));
  tensor->mutable_shape();  // a scalar has a shape too, without dimensions
  for (int64_t d : type.shape) tensor->mutable_shape()->add_dim()->set_dim_value(d);
}

void SetTensor(const std::string& name, const graph::TensorType& type, TensorProto* tensor) {
  tensor->set_name(name);
  tensor->set_data_type(OnnxTypeOf(type.dtype));
  for (int64_t d : type.shape) tensor->add_dims(d);
}

void SetValue(const OnnxAttribute& value, AttributeProto* attribute) {
  if (const auto* i = std::get_if<int64_t>(&value)) {
    attribute->set_type(AttributeProto::INT);
    attribute->set_i(*i);
  } else if (const auto* f = std::get_if<double>(&value)) {
    attribute->set_type(AttributeProto::FLOAT);
    attribute->set_f(static_cast<float>(*f));
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    attribute->set_type(AttributeProto::STRING);
    attribute->set_s(*s);
  } else if (const auto* ints = std::get_if<Ints>(&value)) {
    attribute->set_type(AttributeProto::INTS);
    for (int64_t item : *ints) attribute->add_ints(item);
  } else {
    attribute->set_type(AttributeProto::STRINGS);
    for (const std::string& item : std::get<Names>(value)) attribute->add_strings(item);
  }
}

void AddEntry(const char* key, const std::string& value, TensorProto* tensor) {
  auto* entry = tensor->add_external_data();
  entry->set_key(key);
  entry->set_value(value);
}

}  // namespace

struct OnnxFile::Model {
  ::onnx::ModelProto proto;
};

int32_t OnnxTypeOf(graph::DType dtype) {
  switch (dtype) {
    case graph::DType::float32: return TensorProto::FLOAT;
    case graph::DType::float16: return TensorProto::FLOAT16;
    case graph::DType::bfloat16: return TensorProto::BFLOAT16;
    case graph::DType::float64: return TensorProto::DOUBLE;
    case graph::DType::int64: return TensorProto::INT64;
    case graph::DType::int32: return TensorProto::INT32;
    case graph::DType::int16: return TensorProto::INT16;
    case graph::DType::int8: return TensorProto::INT8;
    case graph::DType::uint8: return TensorProto::UINT8;
    case graph::DType::bool_: return TensorProto::BOOL;
    case graph::DType::complex64: return TensorProto::COMPLEX64;
    case graph::DType::complex128: return TensorProto::COMPLEX128;
  }
  return TensorProto::UNDEFINED;
}

OnnxFile::OnnxFile() : model_(std::make_unique<Model>()) {
  ::onnx::ModelProto& proto = model_->proto;
  proto.set_ir_version(kIrVersion);
  proto.set_producer_name("cobra");
  auto* opset = proto.add_opset_import();
  opset->set_domain("");
  opset->set_version(kOpset);
  proto.mutable_graph()->set_name("network");
}

OnnxFile::~OnnxFile() = default;

std::string OnnxFile::Unique(absl::string_view wanted) {
  std::string name(wanted);
  for (int number = 1; name.empty() || !taken_.insert(name).second; ++number)
    name = absl::StrCat(wanted.empty() ? "tensor" : wanted, ".", number);
  return name;
}

void OnnxFile::AddInput(const std::string& name, const graph::TensorType& type) {
  auto* input = model_->proto.mutable_graph()->add_input();
  input->set_name(name);
  SetType(type, input);
}

void OnnxFile::AddExternal(const std::string& name, const graph::TensorType& type, const std::string& location,
                           int64_t offset, int64_t length) {
  TensorProto* tensor = model_->proto.mutable_graph()->add_initializer();
  SetTensor(name, type, tensor);
  tensor->set_data_location(TensorProto::EXTERNAL);
  AddEntry("location", location, tensor);
  AddEntry("offset", absl::StrCat(offset), tensor);
  AddEntry("length", absl::StrCat(length), tensor);
}

void OnnxFile::AddInline(const std::string& name, const graph::TensorType& type, absl::string_view bytes) {
  TensorProto* tensor = model_->proto.mutable_graph()->add_initializer();
  SetTensor(name, type, tensor);
  tensor->set_raw_data(bytes.data(), bytes.size());
}

std::string OnnxFile::Number(const graph::TensorType& type, const std::string& bytes) {
  const auto [found, is_new] = numbers_.try_emplace(absl::StrCat(graph::TypeText(type), " ", bytes));
  if (is_new) {
    found->second = Unique(absl::StrCat("number", numbers_.size()));
    AddInline(found->second, type, bytes);
  }
  return found->second;
}

void OnnxFile::AddNode(const OnnxNode& node) {
  ::onnx::NodeProto* proto = model_->proto.mutable_graph()->add_node();
  proto->set_op_type(node.op_type);
  proto->set_name(node.name);
  proto->set_doc_string(node.doc);
  for (const std::string& input : node.inputs) proto->add_input(input);
  while (proto->input_size() > 0 && proto->input(proto->input_size() - 1).empty()) proto->mutable_input()->RemoveLast();
  for (const std::string& output : node.outputs) {
    proto->add_output(output);
    computed_.insert(output);
  }
  for (const auto& [name, value] : node.attributes) {
    AttributeProto* attribute = proto->add_attribute();
    attribute->set_name(name);
    SetValue(value, attribute);
  }
}

void OnnxFile::DeclareType(const std::string& name, const graph::TensorType& type) {
  if (!computed_.contains(name) || !declared_.insert(name).second) return;
  auto* info = model_->proto.mutable_graph()->add_value_info();
  info->set_name(name);
  SetType(type, info);
}

void OnnxFile::AddOutputs(const Names& values, const graph::TensorTypes& types) {
  ::onnx::GraphProto& graph = *model_->proto.mutable_graph();
  absl::flat_hash_map<std::string, std::string> renamed;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string name = Unique(absl::StrCat("output", i));
    // An input, a weight, or what is an output already: it needs a copy under the new name.
    if (!computed_.contains(values[i]) || !renamed.try_emplace(values[i], name).second) {
      AddNode({"Identity", absl::StrCat("output/", name), "", {values[i]}, {name}, {}});
    }
    auto* output = graph.add_output();
    output->set_name(name);
    SetType(types[i], output);
  }
  const auto rename = [&](std::string* name) {
    if (const auto found = renamed.find(*name); found != renamed.end()) *name = found->second;
  };
  for (auto& node : *graph.mutable_node()) {
    for (std::string& name : *node.mutable_input()) rename(&name);
    for (std::string& name : *node.mutable_output()) rename(&name);
  }
  // The types of outputs stand with the outputs.
  auto* infos = graph.mutable_value_info();
  for (int i = infos->size() - 1; i >= 0; --i) {
    if (renamed.contains(infos->Get(i).name())) infos->DeleteSubrange(i, 1);
  }
}

std::string OnnxFile::Serialize() const {
  if (model_->proto.ByteSizeLong() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) return "";
  return model_->proto.SerializeAsString();
}

}  // namespace cobra::exporting
