#include "lab/published/cobra/published_config.h"

#include <map>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "nlohmann/json.hpp"

namespace cobra::lab {
namespace {

using nlohmann::json;
using Field = std::variant<int64_t*, int*, double*, bool*>;

// Every key of the file must be one of `fields`; "what" is a description for readers.
absl::Status Fill(absl::string_view path, const std::map<std::string, Field>& fields) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const json j = ParseJson<json>(text);
  if (!j.is_object()) return absl::InvalidArgumentError(absl::StrCat(path, ": is not a JSON object"));
  for (const auto& [key, value] : j.items()) {
    if (key == "what") continue;
    const auto field = fields.find(key);
    if (field == fields.end()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", key, ": no such setting"));
    if (bool* const* b = std::get_if<bool*>(&field->second)) {
      if (!value.is_boolean())
        return absl::InvalidArgumentError(absl::StrCat(path, ": ", key, ": must be true or false"));
      **b = value.get<bool>();
      continue;
    }
    if (!value.is_number() || value.get<double>() < 0)
      return absl::InvalidArgumentError(absl::StrCat(path, ": ", key, ": must be a number from 0"));
    if (double* const* d = std::get_if<double*>(&field->second)) {
      **d = value.get<double>();
    } else if (!value.is_number_integer()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": ", key, ": must be a whole number"));
    } else if (int* const* i = std::get_if<int*>(&field->second)) {
      **i = value.get<int>();
    } else {
      **std::get_if<int64_t*>(&field->second) = value.get<int64_t>();
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PublishedEncoderConfig> LoadEncoderConfig(absl::string_view path) {
  PublishedEncoderConfig c;
  COBRA_RETURN_IF_ERROR(Fill(path, {{"layers", &c.layers},
                                    {"width", &c.width},
                                    {"feed_forward", &c.feed_forward},
                                    {"heads", &c.heads},
                                    {"max_tokens", &c.max_tokens},
                                    {"latency_hidden", &c.latency_hidden},
                                    {"dropout", &c.dropout},
                                    {"rows", &c.rows},
                                    {"batch", &c.batch},
                                    {"epochs", &c.epochs},
                                    {"fine_tune_epochs", &c.fine_tune_epochs},
                                    {"learning_rate", &c.learning_rate},
                                    {"rate_decay", &c.rate_decay},
                                    {"least_rate", &c.least_rate},
                                    {"stall", &c.stall},
                                    {"mask", &c.mask},
                                    {"clip", &c.clip}}));
  const bool sane = c.layers > 0 && c.heads > 0 && c.width > 0 && c.width % c.heads == 0 && c.feed_forward > 0 &&
                    c.max_tokens > 8 && c.batch > 0 && c.latency_hidden > 0 && c.dropout < 1;
  if (!sane)
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": sizes must be positive, heads divide the width, dropout be below 1"));
  return c;
}

absl::StatusOr<CallGcnConfig> LoadGcnConfig(absl::string_view path) {
  CallGcnConfig c;
  COBRA_RETURN_IF_ERROR(Fill(path, {{"layers", &c.layers},
                                    {"width", &c.width},
                                    {"global_node", &c.global_node},
                                    {"layer_norm", &c.layer_norm},
                                    {"dropout", &c.dropout},
                                    {"weight_decay", &c.weight_decay},
                                    {"learning_rate", &c.learning_rate},
                                    {"batch", &c.batch},
                                    {"epochs", &c.epochs},
                                    {"halve", &c.halve},
                                    {"stall", &c.stall}}));
  if (c.layers < 1 || c.width < 1 || c.batch < 1 || c.dropout >= 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": layers, width and batch must be positive, dropout below 1"));
  }
  return c;
}

}  // namespace cobra::lab
