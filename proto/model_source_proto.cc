#include "proto/model_source_proto.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proto/graph_proto.h"

namespace cobra::proto {
namespace {

using frontend::GraphJson;
using frontend::ModelSource;
using frontend::NcnnFile;
using frontend::OnnxFile;
using frontend::TfliteFile;
using google::protobuf::RepeatedPtrField;
using NamedExpressions = std::vector<std::pair<std::string, std::string>>;

void Fill(const std::vector<std::string>& texts, RepeatedPtrField<std::string>* out) {
  out->Add(texts.begin(), texts.end());
}

void Fill(const NamedExpressions& arguments, RepeatedPtrField<v1::SourceArgument>* out) {
  for (const auto& [name, expression] : arguments) {
    v1::SourceArgument* argument = out->Add();
    argument->set_name(name);
    argument->set_expression(expression);
  }
}

std::vector<std::string> Texts(const RepeatedPtrField<std::string>& texts) { return {texts.begin(), texts.end()}; }

NamedExpressions Arguments(const RepeatedPtrField<v1::SourceArgument>& arguments) {
  NamedExpressions out;
  for (const v1::SourceArgument& argument : arguments) out.emplace_back(argument.name(), argument.expression());
  return out;
}

// An empty text means the receiver's default.
void SetUnlessEmpty(const std::string& text, std::string* out) {
  if (!text.empty()) *out = text;
}

// Writes one message for each form of a model.
struct Writer {
  v1::PredictRequest* request;

  absl::Status operator()(const python::SourceRequest& source) const {
    v1::SourceModel* proto = request->mutable_source();
    for (const auto& [path, text] : source.bundle) {
      v1::SourceFile* file = proto->add_files();
      file->set_path(path);
      file->set_text(text);
    }
    proto->set_file(source.file);
    proto->set_entry(source.entry);
    proto->set_method(source.method);
    Fill(source.inputs, proto->mutable_inputs());
    Fill(source.arguments, proto->mutable_arguments());
    proto->set_torch_version(source.torch_version);
    if (source.training) proto->set_mode("train");
    proto->set_cached_tokens(source.cached_tokens);
    return absl::OkStatus();
  }

  absl::Status operator()(const OnnxFile& file) const {
    v1::OnnxModel* proto = request->mutable_onnx();
    proto->set_file(file.bytes);
    proto->set_name(file.request.name);
    Fill(file.request.inputs, proto->mutable_inputs());
    Fill(file.request.arguments, proto->mutable_arguments());
    return absl::OkStatus();
  }

  absl::Status operator()(const TfliteFile& file) const {
    v1::TfliteModel* proto = request->mutable_tflite();
    proto->set_file(file.bytes);
    proto->set_name(file.request.name);
    Fill(file.request.inputs, proto->mutable_inputs());
    return absl::OkStatus();
  }

  absl::Status operator()(const NcnnFile& file) const {
    v1::NcnnModel* proto = request->mutable_ncnn();
    proto->set_param(file.text);
    proto->set_name(file.request.name);
    Fill(file.request.inputs, proto->mutable_inputs());
    return absl::OkStatus();
  }

  absl::Status operator()(const nas::ArchitectureRequest& architecture) const {
    v1::Architecture* proto = request->mutable_architecture();
    proto->set_text(architecture.architecture);
    Fill(architecture.inputs, proto->mutable_inputs());
    return absl::OkStatus();
  }

  absl::Status operator()(const GraphJson&) const {
    return UsageError("--send source: the model is a graph file", "leave --send out");
  }

  absl::Status operator()(const graph::Graph& model) const {
    GraphToProto(model, request->mutable_graph());
    return absl::OkStatus();
  }
};

absl::StatusOr<ModelSource> TakeSource(v1::SourceModel* proto, const Limits& limits) {
  python::SourceRequest request;
  if (proto->files_size() > limits.bundle_files) {
    return UserError(Diagnostic::Kind::kLimit, LimitMessage("", proto->files_size(), limits.bundle_files, "files"));
  }
  for (v1::SourceFile& file : *proto->mutable_files()) {
    if (!IsPathInside(file.path())) {
      return UsageError(absl::StrCat("\"", file.path(), "\": not a path inside the bundle"),
                        "paths are relative to the bundle's root, without \"..\"");
    }
    if (!request.bundle.try_emplace(file.path(), std::move(*file.mutable_text())).second) {
      return UsageError(absl::StrCat(file.path(), ": is in the request twice"));
    }
  }
  request.file = proto->file();
  request.entry = proto->entry();
  SetUnlessEmpty(proto->method(), &request.method);
  SetUnlessEmpty(proto->torch_version(), &request.torch_version);
  if (!proto->mode().empty() && proto->mode() != "eval" && proto->mode() != "train")
    return UsageError(absl::StrCat(proto->mode(), ": is not a mode"), "\"eval\" or \"train\"");
  request.training = proto->mode() == "train";
  request.cached_tokens = proto->cached_tokens();
  request.inputs = Texts(proto->inputs());
  request.arguments = Arguments(proto->arguments());
  return request;
}

ModelSource TakeOnnx(v1::OnnxModel* proto) {
  OnnxFile file;
  file.bytes = std::move(*proto->mutable_file());
  SetUnlessEmpty(proto->name(), &file.request.name);
  file.request.inputs = Texts(proto->inputs());
  file.request.arguments = Arguments(proto->arguments());
  return file;
}

ModelSource TakeTflite(v1::TfliteModel* proto) {
  TfliteFile file;
  file.bytes = std::move(*proto->mutable_file());
  SetUnlessEmpty(proto->name(), &file.request.name);
  file.request.inputs = Texts(proto->inputs());
  return file;
}

ModelSource TakeNcnn(v1::NcnnModel* proto) {
  NcnnFile file;
  file.text = std::move(*proto->mutable_param());
  SetUnlessEmpty(proto->name(), &file.request.name);
  file.request.inputs = Texts(proto->inputs());
  return file;
}

}  // namespace

absl::Status ModelSourceToProto(const ModelSource& source, v1::PredictRequest* request) {
  return std::visit(Writer{request}, source);
}

absl::StatusOr<ModelSource> TakeModelSource(v1::PredictRequest* request, const Limits& limits) {
  switch (request->model_case()) {
    case v1::PredictRequest::kSource: return TakeSource(request->mutable_source(), limits);
    case v1::PredictRequest::kOnnx: return TakeOnnx(request->mutable_onnx());
    case v1::PredictRequest::kTflite: return TakeTflite(request->mutable_tflite());
    case v1::PredictRequest::kNcnn: return TakeNcnn(request->mutable_ncnn());
    case v1::PredictRequest::kArchitecture:
      return nas::ArchitectureRequest{request->architecture().text(), Texts(request->architecture().inputs())};
    case v1::PredictRequest::kGraph: {
      COBRA_ASSIGN_OR_RETURN(graph::Graph read, GraphFromProto(request->graph(), limits.graph));
      return read;
    }
    case v1::PredictRequest::MODEL_NOT_SET: break;
  }
  return absl::InternalError("a request without a model was let through");
}

}  // namespace cobra::proto
