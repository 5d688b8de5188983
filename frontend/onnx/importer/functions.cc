// Functions that a file defines itself: their bodies run in place of the node that calls them.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/onnx/importer/importer.h"
#include "frontend/onnx/importer/node_context.h"
#include "frontend/onnx/importer/registry.h"

namespace cobra::onnx {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

const AttributeProto* AttributeOf(const NodeProto& node, const std::string& name) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

// A field that is newer than Debian's messages: they keep it as it stands.
constexpr int kDefaults = 11, kOverload = 13;  // of FunctionProto
std::vector<std::string> NewerField(const ::onnx::FunctionProto& function, int number) {
  std::vector<std::string> found;
  const google::protobuf::UnknownFieldSet& fields = function.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      found.push_back(field.length_delimited());
  }
  return found;
}

// The call with the attributes that it leaves out and the function gives a value.
absl::StatusOr<NodeProto> WithDefaults(const NodeProto& call, const std::vector<std::string>& defaults) {
  NodeProto whole;
  *whole.mutable_attribute() = call.attribute();
  for (const std::string& bytes : defaults) {
    AttributeProto attribute;
    if (!attribute.ParseFromString(bytes)) return Invalid("an attribute of the function is damaged");
    if (AttributeOf(call, attribute.name()) == nullptr) *whole.add_attribute() = attribute;
  }
  return whole;
}

// Replaces attributes of the body that refer to attributes of the calling node. An attribute that
// the call omits, and that has no default, is omitted in the body too.
void BindAttributes(const NodeProto& call, GraphProto* body) {
  for (NodeProto& node : *body->mutable_node()) {
    google::protobuf::RepeatedPtrField<AttributeProto> bound;
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      const bool refers = !attribute.ref_attr_name().empty();
      const AttributeProto* given = refers ? AttributeOf(call, attribute.ref_attr_name()) : &attribute;
      if (given == nullptr) continue;
      AttributeProto* own = bound.Add();
      *own = *given;
      own->set_name(attribute.name());
      if (own->has_g()) BindAttributes(call, own->mutable_g());
    }
    node.mutable_attribute()->Swap(&bound);
  }
}

}  // namespace

absl::StatusOr<const GraphProto*> Importer::FunctionBody(const NodeProto& call, const ::onnx::FunctionProto& function) {
  // If the function has no attributes, all calls share one body.
  const std::vector<std::string> defaults = NewerField(function, kDefaults);
  const bool shared = function.attribute_size() == 0 && defaults.empty();
  std::unique_ptr<GraphProto>& body = bodies_[shared ? static_cast<const void*>(&function) : &call];
  if (body != nullptr) return body.get();
  COBRA_RETURN_IF_ERROR(Step(1 + static_cast<int64_t>(function.ByteSizeLong()) / 64));  // copies cost memory
  body = std::make_unique<GraphProto>();
  *body->mutable_node() = function.node();
  for (const std::string& name : function.input()) body->add_input()->set_name(name);
  for (const std::string& name : function.output()) body->add_output()->set_name(name);
  COBRA_ASSIGN_OR_RETURN(const NodeProto whole, WithDefaults(call, defaults));
  BindAttributes(whole, body.get());
  return body.get();
}

absl::Status Importer::AddFunctions(const ::onnx::ModelProto& model) {
  for (const ::onnx::FunctionProto& function : model.functions()) {
    const std::string name = absl::StrCat(function.domain(), ":", function.name());
    const std::vector<std::string> overload = NewerField(function, kOverload);
    const bool overloaded = !overload.empty() && !overload.back().empty();
    if (!functions_.emplace(name, &function).second || overloaded)
      return Unsupported("the function ", name, " has several forms (overloads)");
  }
  return absl::OkStatus();
}

absl::Status Importer::RunFunction(GraphRun* run, const NodeProto& call, const ::onnx::FunctionProto& function) {
  COBRA_ASSIGN_OR_RETURN(const GraphProto* body, FunctionBody(call, function));
  std::vector<Value> inputs(body->input_size());
  if (call.input_size() > body->input_size())
    return Invalid("the function takes ", body->input_size(), " inputs, gets ", call.input_size());
  for (int i = 0; i < call.input_size(); ++i) {
    if (call.input(i).empty()) continue;
    const Value* value = run->Find(call.input(i));
    if (value == nullptr) return Invalid("its input \"", call.input(i), "\" is computed by no node before it");
    inputs[i] = *value;
  }
  const int file_opset = opset_;
  for (const auto& set : function.opset_import()) {
    if (IsDefaultDomain(set.domain())) opset_ = static_cast<int>(std::clamp<int64_t>(set.version(), 0, 1000));
  }
  if (opset_ != file_opset) COBRA_RETURN_IF_ERROR(CheckOpset(opset_));
  COBRA_ASSIGN_OR_RETURN(std::vector<Value> outputs, RunGraph(*body, std::move(inputs), nullptr));
  opset_ = file_opset;
  for (int k = 0; k < call.output_size(); ++k) {
    if (call.output(k).empty()) continue;
    if (k >= static_cast<int>(outputs.size())) return Invalid("the function has ", outputs.size(), " outputs");
    run->values[call.output(k)] = std::move(outputs[k]);
  }
  return absl::OkStatus();
}

}  // namespace cobra::onnx
