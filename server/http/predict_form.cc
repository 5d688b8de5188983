#include "server/http/predict_form.h"

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/text/utf8.h"
#include "base/user_error.h"

namespace cobra::http {
namespace {

// Of what others send, as it may be repeated in an error.
std::string Shown(absl::string_view text) { return std::string(text.substr(0, 80)); }

// Fields of a form, each with the form of a model that it belongs to.
enum Form { kAny, kPython, kOfFile };
struct Field {
  const char* name;
  bool repeats;
  Form form;
};
constexpr Field kFields[] = {{"model", false, kAny},
                             {"arch", false, kAny},
                             {"file", true, kPython},
                             {"entry", false, kPython},
                             {"method", false, kPython},
                             {"input", true, kAny},
                             {"arg", true, kOfFile},
                             {"mode", false, kPython},
                             {"torch_version", false, kPython},
                             {"cached_tokens", false, kPython},
                             {"target", true, kAny},
                             {"breakdown", false, kAny},
                             {"keep_private", false, kAny},
                             {"model_version", false, kAny}};

std::string KnownFields() {
  return absl::StrJoin(kFields, ", ", [](std::string* out, const Field& field) { absl::StrAppend(out, field.name); });
}

// The parts of a form by their names.
class Fields {
 public:
  static absl::StatusOr<Fields> Of(const std::vector<Part>& parts) {
    Fields fields;
    for (const Part& part : parts) {
      const Field* field = nullptr;
      for (const Field& known : kFields)
        if (known.name == part.name) field = &known;
      if (field == nullptr)
        return UsageError(absl::StrCat(Shown(part.name), ": is not a field of this form"),
                          absl::StrCat("it has ", KnownFields()));
      std::vector<const Part*>& all = fields.parts_[part.name];
      if (!all.empty() && !field->repeats) return UsageError(absl::StrCat(part.name, ": is given twice"));
      if (!IsUtf8(part.file_name.value_or("")))
        return UsageError(absl::StrCat(part.name, ": the name of its file is not UTF-8"));
      if (!part.file_name.has_value() && !IsUtf8(part.value))
        return UsageError(absl::StrCat(part.name, ": is not UTF-8"));
      all.push_back(&part);
    }
    return fields;
  }

  const Part* Find(const std::string& name) const {
    const auto found = parts_.find(name);
    return found == parts_.end() ? nullptr : found->second.front();
  }
  std::string Text(const std::string& name) const {
    const Part* part = Find(name);
    return part == nullptr ? "" : std::string(part->value);
  }
  std::vector<const Part*> All(const std::string& name) const {
    const auto found = parts_.find(name);
    return found == parts_.end() ? std::vector<const Part*>() : found->second;
  }
  // An error for the first field that says nothing about a model of that form.
  absl::Status CheckForm(Form form, absl::string_view model) const {
    for (const Field& field : kFields) {
      const bool fits = field.form == kAny || field.form == form || (field.form == kOfFile && form == kPython);
      if (!fits && Find(field.name) != nullptr)
        return UsageError(absl::StrCat(field.name, ": says nothing about ", model, ", which holds one network"),
                          absl::StrCat("leave ", field.name, " out"));
    }
    return absl::OkStatus();
  }

 private:
  std::map<std::string, std::vector<const Part*>> parts_;
};

absl::StatusOr<bool> Flag(const Fields& fields, const std::string& name) {
  const std::string text = fields.Text(name);
  if (text == "true" || text == "1") return true;
  if (text.empty() || text == "false" || text == "0") return false;
  return UsageError(absl::StrCat(name, "=", Shown(text), ": is not true or false"));
}

void AddInputs(const Fields& fields, google::protobuf::RepeatedPtrField<std::string>* inputs) {
  for (const Part* part : fields.All("input")) inputs->Add(std::string(part->value));
}

absl::Status AddArguments(const Fields& fields, google::protobuf::RepeatedPtrField<v1::SourceArgument>* arguments) {
  for (const Part* part : fields.All("arg")) {
    const size_t equals = part->value.find('=');
    if (equals == 0 || equals == absl::string_view::npos)
      return UsageError(absl::StrCat("arg=", Shown(part->value), ": is not NAME=EXPRESSION"));
    v1::SourceArgument* argument = arguments->Add();
    argument->set_name(std::string(part->value.substr(0, equals)));
    argument->set_expression(std::string(part->value.substr(equals + 1)));
  }
  return absl::OkStatus();
}

// The last part of a path: browsers and curl send no more of it, others may.
std::string BaseName(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

absl::Status FillSource(const Fields& fields, const Part& model, v1::SourceModel* source) {
  source->set_file(*model.file_name);
  v1::SourceFile* file = source->add_files();
  file->set_path(*model.file_name);
  file->set_text(std::string(model.value));
  for (const Part* part : fields.All("file")) {
    if (!part->file_name.has_value() || part->file_name->empty())
      return UsageError("file: is not a file", "-F 'file=@blocks.py;filename=net/blocks.py'");
    file = source->add_files();
    file->set_path(*part->file_name);
    file->set_text(std::string(part->value));
  }
  source->set_entry(fields.Text("entry"));
  source->set_method(fields.Text("method"));
  source->set_mode(fields.Text("mode"));
  source->set_torch_version(fields.Text("torch_version"));
  if (const std::string tokens = fields.Text("cached_tokens"); !tokens.empty()) {
    int64_t count = 0;
    if (!absl::SimpleAtoi(tokens, &count))
      return UsageError(absl::StrCat("cached_tokens=", Shown(tokens), ": is not a number"));
    source->set_cached_tokens(count);
  }
  AddInputs(fields, source->mutable_inputs());
  return AddArguments(fields, source->mutable_arguments());
}

absl::Status FillFile(const Fields& fields, const Part& model, v1::PredictRequest* request) {
  const std::string name = BaseName(*model.file_name);
  if (absl::EndsWith(name, ".py")) return FillSource(fields, model, request->mutable_source());
  if (absl::EndsWith(name, ".onnx")) {
    COBRA_RETURN_IF_ERROR(fields.CheckForm(kOfFile, name));
    v1::OnnxModel* onnx = request->mutable_onnx();
    onnx->set_name(name);
    onnx->set_file(std::string(model.value));
    AddInputs(fields, onnx->mutable_inputs());
    return AddArguments(fields, onnx->mutable_arguments());
  }
  COBRA_RETURN_IF_ERROR(fields.CheckForm(kAny, name));
  if (absl::EndsWith(name, ".tflite")) {
    v1::TfliteModel* tflite = request->mutable_tflite();
    tflite->set_name(name);
    tflite->set_file(std::string(model.value));
    AddInputs(fields, tflite->mutable_inputs());
    return absl::OkStatus();
  }
  if (absl::EndsWith(name, ".param")) {
    v1::NcnnModel* ncnn = request->mutable_ncnn();
    ncnn->set_name(name);
    ncnn->set_param(std::string(model.value));
    AddInputs(fields, ncnn->mutable_inputs());
    return absl::OkStatus();
  }
  return UsageError(absl::StrCat("model=", Shown(name), ": is not a .py, .onnx, .tflite or .param file"));
}

absl::Status FillModel(const Fields& fields, Asker asker, v1::PredictRequest* request) {
  const Part* model = fields.Find("model");
  const Part* architecture = fields.Find("arch");
  if ((model == nullptr) == (architecture == nullptr)) {
    const bool on_page = asker == Asker::kPage;
    if (model == nullptr) {
      return UsageError("model: is missing", on_page ? "paste PyTorch source, drop a file, or write an architecture"
                                                     : "-F model=@net.py, or -F arch=SPACE:STRING");
    }
    return UsageError("give `arch` or `model`, not both",
                      on_page ? "empty one of the two" : "-F model=@net.py, or -F arch=SPACE:STRING");
  }
  if (architecture != nullptr) {
    COBRA_RETURN_IF_ERROR(fields.CheckForm(kAny, "an architecture"));
    request->mutable_architecture()->set_text(std::string(architecture->value));
    AddInputs(fields, request->mutable_architecture()->mutable_inputs());
    return absl::OkStatus();
  }
  if (!model->file_name.has_value() || model->file_name->empty())
    return UsageError(absl::StrCat("model=", Shown(model->value), ": is not a file"), "-F model=@net.py, with an @");
  return FillFile(fields, *model, request);
}

}  // namespace

absl::StatusOr<v1::PredictRequest> PredictRequestOf(const std::vector<Part>& parts, Asker asker) {
  COBRA_ASSIGN_OR_RETURN(const Fields fields, Fields::Of(parts));
  v1::PredictRequest request;
  COBRA_RETURN_IF_ERROR(FillModel(fields, asker, &request));
  for (const Part* part : fields.All("target")) {
    for (const absl::string_view target : absl::StrSplit(part->value, ',', absl::SkipWhitespace()))
      request.add_targets(std::string(target));
  }
  COBRA_ASSIGN_OR_RETURN(const bool breakdown, Flag(fields, "breakdown"));
  COBRA_ASSIGN_OR_RETURN(const bool keep_private, Flag(fields, "keep_private"));
  request.set_breakdown(breakdown);
  request.set_keep_private(keep_private);
  request.set_model_version(fields.Text("model_version"));
  return request;
}

}  // namespace cobra::http
