#include "server/http/openapi.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "nlohmann/json.hpp"
#include "server/http/pages.h"

namespace cobra::http {
namespace {

namespace pb = google::protobuf;
using Json = nlohmann::ordered_json;
using Field = pb::FieldDescriptor;

// The .proto files with their comments, which the descriptors of generated code do not have.
const pb::DescriptorPool& CommentedPool() {
  static const auto* const pool = [] {
    auto* made = new pb::DescriptorPool;
    const absl::string_view bytes = EmbeddedBytes("api.descriptors");
    pb::FileDescriptorSet set;
    if (set.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      for (const pb::FileDescriptorProto& file : set.file()) made->BuildFile(file);
    return made;
  }();
  return *pool;
}

// The comment before a definition, in one paragraph.
template <typename Descriptor>
std::string CommentOf(const Descriptor& descriptor) {
  pb::SourceLocation location;
  if (!descriptor.GetSourceLocation(&location)) return "";
  std::vector<std::string> words = absl::StrSplit(location.leading_comments, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return absl::StrJoin(words, " ");
}

Json Reference(const std::string& name) { return {{"$ref", absl::StrCat("#/components/schemas/", name)}}; }

class Document {
 public:
  // "cobra.v1.Target" -> "Target", "cobra.v1.ListTargetsRequest.Origin" ->
  // "ListTargetsRequest.Origin". Remembers it as one whose schema is wanted.
  template <typename Descriptor>
  Json SchemaNamed(const Descriptor& type, std::vector<const Descriptor*>* wanted) {
    if (known_.insert(type.full_name()).second) wanted->push_back(&type);
    return Reference(absl::StrReplaceAll(type.full_name(), {{"cobra.v1.", ""}}));
  }

  // As protobuf's JSON has it.
  Json ScalarSchema(const Field& field) {
    switch (field.type()) {
      case Field::TYPE_DOUBLE: return {{"type", Json::array({"number", "string"})}, {"format", "double"}};
      case Field::TYPE_FLOAT: return {{"type", Json::array({"number", "string"})}, {"format", "float"}};
      case Field::TYPE_BOOL: return {{"type", "boolean"}};
      case Field::TYPE_STRING: return {{"type", "string"}};
      case Field::TYPE_BYTES: return {{"type", "string"}, {"contentEncoding", "base64"}};
      case Field::TYPE_ENUM: return SchemaNamed(*field.enum_type(), &enums_);
      case Field::TYPE_INT64:
      case Field::TYPE_SINT64:
      case Field::TYPE_SFIXED64: return {{"type", Json::array({"string", "integer"})}, {"format", "int64"}};
      case Field::TYPE_UINT64:
      case Field::TYPE_FIXED64: return {{"type", Json::array({"string", "integer"})}, {"format", "uint64"}};
      case Field::TYPE_UINT32:
      case Field::TYPE_FIXED32: return {{"type", "integer"}, {"format", "uint32"}};
      case Field::TYPE_MESSAGE:
      case Field::TYPE_GROUP: return SchemaNamed(*field.message_type(), &messages_);
      default: return {{"type", "integer"}, {"format", "int32"}};
    }
  }

  Json FieldSchema(const Field& field) {
    if (field.is_map()) {
      return {{"type", "object"}, {"additionalProperties", ScalarSchema(*field.message_type()->FindFieldByNumber(2))}};
    }
    if (field.is_repeated()) return {{"type", "array"}, {"items", ScalarSchema(field)}};
    return ScalarSchema(field);
  }

  Json MessageSchema(const pb::Descriptor& type) {
    if (type.full_name() == "google.protobuf.Duration")
      return {{"type", "string"}, {"description", "Seconds, with an s: \"1.5s\"."}};
    if (type.full_name() == "google.protobuf.Timestamp") return {{"type", "string"}, {"format", "date-time"}};
    if (type.full_name() == "google.protobuf.Any") {
      return {{"type", "object"},
              {"properties", {{"@type", {{"type", "string"}}}}},
              {"description", "A message of the type that @type names."}};
    }
    Json schema = {{"type", "object"}};
    std::string description = CommentOf(type);
    for (int i = 0; i < type.real_oneof_decl_count(); ++i) {
      std::vector<std::string> names;
      for (int j = 0; j < type.oneof_decl(i)->field_count(); ++j) names.push_back(type.oneof_decl(i)->field(j)->name());
      absl::StrAppend(&description, description.empty() ? "" : " ", "At most one of ", absl::StrJoin(names, ", "), ".");
    }
    if (!description.empty()) schema["description"] = description;
    schema["additionalProperties"] = false;
    schema["properties"] = Json::object();
    for (int i = 0; i < type.field_count(); ++i) {
      Json field = FieldSchema(*type.field(i));
      if (std::string comment = CommentOf(*type.field(i)); !comment.empty()) field["description"] = comment;
      schema["properties"][type.field(i)->name()] = std::move(field);
    }
    return schema;
  }

  static Json EnumSchema(const pb::EnumDescriptor& type) {
    Json names = Json::array();
    std::string description = CommentOf(type);
    for (int i = 0; i < type.value_count(); ++i) {
      names.push_back(type.value(i)->name());
      absl::StrAppend(&description, " ", type.value(i)->name(), ": ", CommentOf(*type.value(i)));
    }
    return {{"type", "string"}, {"enum", names}, {"description", description}};
  }

  // Schemas of all types that were named, and of those that they name.
  Json Schemas() {
    Json schemas = Json::object();
    for (size_t i = 0; i < messages_.size(); ++i) {
      const pb::Descriptor& type = *messages_[i];
      Json schema = MessageSchema(type);
      schemas[absl::StrReplaceAll(type.full_name(), {{"cobra.v1.", ""}})] = std::move(schema);
    }
    for (const pb::EnumDescriptor* type : enums_)
      schemas[absl::StrReplaceAll(type->full_name(), {{"cobra.v1.", ""}})] = EnumSchema(*type);
    return schemas;
  }

  Json Operation(const Route& route) {
    const pb::MethodDescriptor* rpc = CommentedPool().FindMethodByName(route.rpc->full_name());
    if (rpc == nullptr) rpc = route.rpc;
    Json operation = {{"operationId", rpc->name()},
                      {"tags", Json::array({rpc->service()->name()})},
                      {"description", CommentOf(*rpc)}};
    if (route.method == "GET") {
      operation["parameters"] = Parameters(*rpc->input_type());
    } else {
      operation["requestBody"] = {
          {"required", true},
          {"content", {{"application/json", {{"schema", SchemaNamed(*rpc->input_type(), &messages_)}}}}}};
      if (TakesForm(route))
        operation["requestBody"]["content"]["multipart/form-data"] = {{"schema", Reference("PredictForm")}};
    }
    operation["responses"] = {
        {"200",
         {{"description", CommentOf(*rpc->output_type())},
          {"content", {{"application/json", {{"schema", SchemaNamed(*rpc->output_type(), &messages_)}}}}}}},
        {"default",
         {{"description", "An error."}, {"content", {{"application/json", {{"schema", Reference("Error")}}}}}}}};
    return operation;
  }

 private:
  Json Parameters(const pb::Descriptor& type) {
    Json parameters = Json::array();
    for (int i = 0; i < type.field_count(); ++i) {
      const Field& field = *type.field(i);
      if (field.cpp_type() == Field::CPPTYPE_MESSAGE) continue;
      parameters.push_back(
          {{"name", field.name()}, {"in", "query"}, {"description", CommentOf(field)}, {"schema", FieldSchema(field)}});
    }
    return parameters;
  }

  std::set<std::string> known_;
  std::vector<const pb::Descriptor*> messages_;
  std::vector<const pb::EnumDescriptor*> enums_;
};

Json Texts(const char* description) {
  return {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", description}};
}

// What predict_form.h reads.
Json FormSchema() {
  const auto text = [](const char* description) { return Json{{"type", "string"}, {"description", description}}; };
  const auto file = [](const char* description) {
    return Json{{"type", "string"}, {"contentMediaType", "application/octet-stream"}, {"description", description}};
  };
  Json files = {{"type", "array"}, {"items", file("A file.")}, {"description", "More Python files of the model."}};
  return {{"type", "object"},
          {"description", "One of model and arch."},
          {"additionalProperties", false},
          {"properties",
           {{"model", file("A .py, .onnx, .tflite or .param file.")},
            {"arch", text("SPACE:STRING, as Architecture.text.")},
            {"file", files},
            {"entry", text("As SourceModel.entry.")},
            {"method", text("As SourceModel.method.")},
            {"input", Texts("Inputs: 1x3x224x224.")},
            {"arg", Texts("Arguments that are not tensors: NAME=EXPRESSION.")},
            {"mode", text("eval or train.")},
            {"torch_version", text("As SourceModel.torch_version.")},
            {"cached_tokens", text("As SourceModel.cached_tokens.")},
            {"target",
             Texts("Names of targets, or several with commas between them. Default: this-machine if it is calibrated, "
                   "else all trained ones, for which source is read once, as for the newest known PyTorch.")},
            {"breakdown", text("true or false.")},
            {"keep_private", text("true or false.")},
            {"model_version", text("As PredictRequest.model_version.")}}}};
}

// What error_reply.h writes.
Json ErrorSchema() {
  const Json text = {{"type", "string"}}, number = {{"type", "integer"}};
  const Json position = {
      {"type", "object"},
      {"properties", {{"file", text}, {"line", number}, {"column", number}, {"end_column", number}}}};
  const Json frame = {{"type", "object"},
                      {"properties", {{"where", position}, {"function", text}, {"source_line", text}}}};
  const Json error = {
      {"type", "object"},
      {"required", Json::array({"code", "message"})},
      {"properties",
       {{"code", {{"type", "string"}, {"description", "The status of gRPC: INVALID_ARGUMENT."}}},
        {"message", text},
        {"kind", {{"type", "string"}, {"description", "ErrorDetail.kind in small letters, without KIND_."}}},
        {"hint", text},
        {"where", position},
        {"source_line", text},
        {"frames", {{"type", "array"}, {"items", frame}}},
        {"module_path", text},
        {"missing_module", text},
        {"retry_after_ms", number}}}};
  return {{"type", "object"}, {"required", Json::array({"error"})}, {"properties", {{"error", error}}}};
}

}  // namespace

std::string OpenApiDocument(const std::vector<Route>& routes, const std::string& version, bool secured) {
  Document document;
  Json paths = Json::object();
  for (const Route& route : routes) paths[route.path][absl::AsciiStrToLower(route.method)] = document.Operation(route);
  Json schemas = document.Schemas();
  schemas["PredictForm"] = FormSchema();
  schemas["Error"] = ErrorSchema();
  Json api = {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "COBRA"},
        {"version", version},
        {"description", "Predicts how long a neural network will take on a device. docs/http.md has examples."}}},
      {"servers", Json::array({{{"url", "/"}}})},
      {"paths", paths},
      {"components", {{"schemas", schemas}}}};
  if (secured) {
    api["components"]["securitySchemes"]["token"] = {{"type", "http"}, {"scheme", "bearer"}};
    api["security"] = Json::array({{{"token", Json::array()}}});
  }
  return absl::StrCat(api.dump(1, ' ', false, Json::error_handler_t::replace), "\n");
}

}  // namespace cobra::http
