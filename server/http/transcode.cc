#include "server/http/transcode.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver.h"
#include "google/protobuf/util/type_resolver_util.h"
#include "nlohmann/json.hpp"
#include "server/http/route.h"

namespace cobra::http {
namespace {

namespace pb = google::protobuf;
using Json = nlohmann::ordered_json;

constexpr char kTypes[] = "type.googleapis.com";

// A graph of 60,000 calls has some 3 million values. Protobuf's parser compares no keys.
constexpr JsonLimits kJsonLimits = {/*max_depth=*/32, /*max_values=*/8'000'000, /*max_entries=*/8'000'000,
                                    /*max_key_comparisons=*/std::numeric_limits<int64_t>::max()};

// The types of this program, and the names of Google's that two of ours are sent under
// (error.proto).
class Types final : public pb::util::TypeResolver {
 public:
  pb::util::Status ResolveMessageType(const std::string& url, pb::Type* type) override {
    return types_->ResolveMessageType(absl::StrReplaceAll(url, {{"google.rpc.RetryInfo", "cobra.v1.RetryInfo"},
                                                                {"google.rpc.Status", "cobra.v1.RpcStatus"}}),
                                      type);
  }
  pb::util::Status ResolveEnumType(const std::string& url, pb::Enum* type) override {
    return types_->ResolveEnumType(url, type);
  }

 private:
  const std::unique_ptr<pb::util::TypeResolver> types_{
      pb::util::NewTypeResolverForDescriptorPool(kTypes, pb::DescriptorPool::generated_pool())};
};

Types& AllTypes() {
  static auto* const types = new Types;
  return *types;
}

std::string UrlOf(const pb::Descriptor& type) { return absl::StrCat(kTypes, "/", type.full_name()); }

// "(source.files[0]) name: why" of a name, "(source.files[0]): invalid value X for type Y" of a
// value, and of what is no JSON some lines, the last of which points to the place.
absl::Status ExplainJson(const pb::Descriptor& type, const std::string& error) {
  if (absl::StrContains(error, '\n')) {
    const std::vector<absl::string_view> lines = absl::StrSplit(error, '\n');
    return UsageError(absl::StrCat("the request: ", lines[0], " Near: ", lines[1].substr(0, 80)));
  }
  absl::string_view rest = error, place;
  if (absl::ConsumePrefix(&rest, "(")) {
    place = rest.substr(0, rest.find(')'));
    rest.remove_prefix(std::min(rest.size(), place.size() + 1));
  }
  const std::string where = place.empty() ? "the request" : std::string(place.substr(0, 120));
  if (absl::ConsumePrefix(&rest, ": invalid value ")) {
    absl::string_view oneof = rest;
    if (absl::ConsumeSuffix(&oneof, " for type oneof")) return UsageError(absl::StrCat(where, ": ", oneof));
    return UsageError(absl::StrCat(where, ": has the wrong value ", rest.substr(0, 200)));
  }
  rest = absl::StripLeadingAsciiWhitespace(rest);
  const size_t colon = rest.find(": ");
  if (colon == absl::string_view::npos) return UsageError(absl::StrCat(where, ": ", rest.substr(0, 200)));
  if (colon == 0) return UsageError(absl::StrCat(where, rest.substr(0, 200)));  // about the message itself
  const std::string name =
      absl::StrCat(place.substr(0, 120), place.empty() ? "" : ".", rest.substr(0, colon).substr(0, 80));
  if (absl::StrContains(rest, "Cannot find field"))
    return UsageError(absl::StrCat(name, ": is not a field of ", place.empty() ? type.name() : where),
                      absl::StrCat("GET ", kOpenApiPath, " has all fields"));
  return UsageError(absl::StrCat(name, ": ", rest.substr(colon + 2).substr(0, 200)));
}

// The value of a query as JSON; protobuf checks numbers and the names of enums.
absl::StatusOr<Json> ValueOf(const pb::FieldDescriptor& field, const std::string& text) {
  if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_BOOL) {
    if (text != "true" && text != "false")
      return UsageError(absl::StrCat(field.name(), "=", text, ": is not true or false"));
    return Json(text == "true");
  }
  return Json(text);
}

}  // namespace

absl::StatusOr<std::string> BytesOfJson(const pb::Descriptor& type, absl::string_view json) {
  if (absl::StripAsciiWhitespace(json).empty()) return std::string();
  const JsonOutline outline = OutlineOfJson(json, kJsonLimits);
  if (!outline.fault.empty()) {
    return UserError(outline.limit ? Diagnostic::Kind::kLimit : Diagnostic::Kind::kUsage,
                     absl::StrCat("the request: ", outline.fault));
  }
  pb::io::ArrayInputStream input(json.data(), static_cast<int>(json.size()));
  std::string bytes;
  pb::io::StringOutputStream output(&bytes);
  pb::util::JsonParseOptions options;
  options.case_insensitive_enum_parsing = false;
  const pb::util::Status status = pb::util::JsonToBinaryStream(&AllTypes(), UrlOf(type), &input, &output, options);
  if (!status.ok()) return ExplainJson(type, std::string(status.message().data(), status.message().size()));
  return bytes;
}

absl::StatusOr<std::string> BytesOfQuery(const pb::Descriptor& type,
                                         const std::vector<std::pair<std::string, std::string>>& fields) {
  Json json = Json::object();
  for (const auto& [name, text] : fields) {
    const pb::FieldDescriptor* field = type.FindFieldByName(name);
    if (field == nullptr || field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      std::vector<std::string> known;
      for (int i = 0; i < type.field_count(); ++i)
        if (type.field(i)->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) known.push_back(type.field(i)->name());
      return UsageError(absl::StrCat(name, ": is not a field of this query"),
                        known.empty() ? "it has none" : absl::StrCat("it has ", absl::StrJoin(known, ", ")));
    }
    COBRA_ASSIGN_OR_RETURN(Json value, ValueOf(*field, text));
    if (field->is_repeated()) {
      json[name].push_back(std::move(value));
    } else if (json.contains(name)) {
      return UsageError(absl::StrCat(name, ": is given twice"));
    } else {
      json[name] = std::move(value);
    }
  }
  return BytesOfJson(type, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

absl::StatusOr<std::string> JsonOfBytes(const pb::Descriptor& type, absl::string_view bytes) {
  pb::io::ArrayInputStream input(bytes.data(), static_cast<int>(bytes.size()));
  std::string json;
  pb::io::StringOutputStream output(&json);
  pb::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  const pb::util::Status status = pb::util::BinaryToJsonStream(&AllTypes(), UrlOf(type), &input, &output, options);
  if (!status.ok()) return absl::InternalError(absl::StrCat("a reply cannot be written as JSON: ", status.ToString()));
  json.push_back('\n');
  return json;
}

}  // namespace cobra::http
