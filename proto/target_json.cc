#include "proto/target_json.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace cobra::proto {
namespace {

using google::protobuf::FieldDescriptor;
using nlohmann::ordered_json;

absl::Status SetField(const ordered_json& value, const FieldDescriptor& field, v1::TargetSpec* spec) {
  const google::protobuf::Reflection& reflection = *spec->GetReflection();
  const auto error = [&](absl::string_view wanted) {
    return absl::InvalidArgumentError(absl::StrCat(field.name(), " ", value.dump(), ": is ", wanted));
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      if (!value.is_string()) return error("no text");
      reflection.SetString(spec, &field, value.get<std::string>());
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_INT32: {
      const double number = value.is_number() ? value.get<double>() : NAN;
      if (!(std::fabs(number) <= 1e9) || number != std::floor(number)) return error("no whole number");
      reflection.SetInt32(spec, &field, static_cast<int32_t>(number));
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
      if (!value.is_number()) return error("no number");
      reflection.SetDouble(spec, &field, value.get<double>());
      return absl::OkStatus();
    default: return error("of a type that no data sheet has");
  }
}

// A parser keeps one of several members of one name without a word.
bool IsGivenTwice(absl::string_view name, absl::string_view text) {
  const std::string quoted = absl::StrCat("\"", name, "\"");
  int given = 0;
  for (size_t at = text.find(quoted); at != absl::string_view::npos; at = text.find(quoted, at + 1))
    given += absl::StartsWith(absl::StripLeadingAsciiWhitespace(text.substr(at + quoted.size())), ":");
  return given > 1;
}

}  // namespace

absl::StatusOr<v1::TargetSpec> TargetSpecFromJson(absl::string_view text, std::vector<std::string>* ignored) {
  const ordered_json json = ParseJson<ordered_json>(text);
  if (!json.is_object()) return absl::InvalidArgumentError("is not a JSON object");
  v1::TargetSpec spec;
  spec.set_precision("float32");
  spec.set_layout("nchw");
  spec.set_compile("eager");
  spec.set_threads(1);
  // A member that is not a field may be an object, with members of the same names.
  const bool is_flat = absl::c_none_of(json, [](const ordered_json& value) { return value.is_object(); });
  for (const auto& [name, value] : json.items()) {
    const FieldDescriptor* const field = v1::TargetSpec::descriptor()->FindFieldByName(name);
    if (field != nullptr && is_flat && IsGivenTwice(name, text))
      return absl::InvalidArgumentError(absl::StrCat(name, ": is given twice"));
    if (field == nullptr) {
      if (ignored != nullptr) ignored->push_back(name);
    } else if (!value.is_null()) {
      COBRA_RETURN_IF_ERROR(SetField(value, *field, &spec));
    }
  }
  return spec;
}

std::string TargetSpecToJson(const v1::TargetSpec& spec) {
  const google::protobuf::Reflection& reflection = *spec.GetReflection();
  const google::protobuf::Descriptor& descriptor = *v1::TargetSpec::descriptor();
  ordered_json json;
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor* const field = descriptor.field(i);
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING: json[field->name()] = reflection.GetString(spec, field); break;
      case FieldDescriptor::CPPTYPE_INT32: json[field->name()] = reflection.GetInt32(spec, field); break;
      case FieldDescriptor::CPPTYPE_DOUBLE: {
        const double value = reflection.GetDouble(spec, field);
        json[field->name()] = std::isfinite(value) ? value : -1;  // JSON has no NaN, and no device a negative number
        break;
      }
      default: break;
    }
  }
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace cobra::proto
