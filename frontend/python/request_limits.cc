#include "frontend/python/request_limits.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/python/cached_tokens.h"
#include "frontend/python/torch/names/torch_version.h"

namespace cobra::python {
namespace {

// `what` names the text: "the entry".
absl::Status CheckLength(absl::string_view text, absl::string_view what, int64_t limit) {
  const auto size = static_cast<int64_t>(text.size());
  if (size <= limit) return absl::OkStatus();
  constexpr size_t kShown = 40;
  return UserError(Diagnostic::Kind::kLimit,
                   LimitMessage(absl::StrCat(text.substr(0, kShown), "...: ", what), size, limit, "bytes"));
}

absl::Status CheckCount(size_t count, const Limits& limits) {
  if (static_cast<int64_t>(count) <= limits.inputs) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kLimit,
                   LimitMessage("the request", static_cast<int64_t>(count), limits.inputs, "inputs and arguments"));
}

}  // namespace

absl::Status CheckInputs(const std::vector<std::string>& inputs, const Limits& limits) {
  COBRA_RETURN_IF_ERROR(CheckCount(inputs.size(), limits));
  for (const std::string& input : inputs)
    COBRA_RETURN_IF_ERROR(CheckLength(input, "an input", limits.expression_bytes));
  return absl::OkStatus();
}

absl::Status CheckRequest(const SourceRequest& request, const Limits& limits) {
  COBRA_RETURN_IF_ERROR(CheckCount(request.inputs.size() + request.arguments.size(), limits));
  COBRA_RETURN_IF_ERROR(CheckInputs(request.inputs, limits));
  COBRA_RETURN_IF_ERROR(CheckLength(request.entry, "the entry", limits.expression_bytes));
  COBRA_RETURN_IF_ERROR(CheckLength(request.method, "the method", limits.name_bytes));
  COBRA_RETURN_IF_ERROR(CheckLength(request.file, "the file", limits.name_bytes));
  for (const auto& [name, expression] : request.arguments) {
    COBRA_RETURN_IF_ERROR(CheckLength(name, "the name of an argument", limits.name_bytes));
    COBRA_RETURN_IF_ERROR(CheckLength(expression, "an argument", limits.expression_bytes));
  }
  COBRA_RETURN_IF_ERROR(CheckTorchVersion(request.torch_version));
  if (request.cached_tokens < 0 || request.cached_tokens > kMaxCachedTokens)
    return UserError(Diagnostic::Kind::kUsage,
                     absl::StrCat("--cached-tokens ", request.cached_tokens, ": is not from 0 to ", kMaxCachedTokens));
  for (const auto& [path, text] : request.bundle)
    COBRA_RETURN_IF_ERROR(CheckLength(path, "the path of a file", limits.name_bytes));
  return absl::OkStatus();
}

}  // namespace cobra::python
