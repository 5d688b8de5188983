// Reads and writes some of a measurement's fields: for lists of graphs to measure, and for probes.
#ifndef COBRA_STORE_MEASUREMENT_JSON_H_
#define COBRA_STORE_MEASUREMENT_JSON_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "nlohmann/json.hpp"
#include "store/measurement.h"

namespace cobra::store {

// The fields with these names, in this order, with any value. REQUIRES: every name is a field.
nlohmann::ordered_json FieldsToJson(const Measurement& measurement, absl::Span<const absl::string_view> names);

// Sets the fields that `object` has; the others are left unchanged. DataLoss for a value of the
// wrong type.
absl::Status MergeFields(const nlohmann::ordered_json& object, Measurement* measurement);

}  // namespace cobra::store

#endif  // COBRA_STORE_MEASUREMENT_JSON_H_
