// A data sheet as JSON, to and from its message. The names are the same.
#ifndef COBRA_PROTO_TARGET_JSON_H_
#define COBRA_PROTO_TARGET_JSON_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/target.pb.h"

namespace cobra::proto {

// What a SPEC.json says. Unknown members are listed in `ignored`, which may be null.
// InvalidArgument, which begins with the member ("threads \"two\": ..."). Fields that are not given
// have the defaults of a target: float32, nchw, eager, one thread.
absl::StatusOr<v1::TargetSpec> TargetSpecFromJson(absl::string_view json, std::vector<std::string>* ignored);
// All fields.
std::string TargetSpecToJson(const v1::TargetSpec& spec);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_TARGET_JSON_H_
