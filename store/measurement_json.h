// Reads and writes some of a measurement's fields: for lists of graphs to measure, and for probes.
#ifndef COBRA_STORE_MEASUREMENT_JSON_H_
#define COBRA_STORE_MEASUREMENT_JSON_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "nlohmann/json.hpp"
#include "store/measurement.h"

namespace cobra::store {

// A JSON object with the fields with these names, in this order, with any value. REQUIRES: every
// name is a field.
std::string FieldsToJson(const Measurement& measurement, absl::Span<const absl::string_view> names);

// An object with fields of a measurement: everything but the graph, and the graph's text.
struct RecordParts {
  // Discarded (is_discarded()) if the text is not JSON. Its "graph" is to be ignored.
  nlohmann::ordered_json fields;
  // Not read yet; empty: it has none.
  std::string graph_json;
};
RecordParts SplitRecord(absl::string_view text);

// Sets the fields that `object` has, but the graph; the others are left unchanged. DataLoss for a
// value of the wrong type.
absl::Status MergeFields(const nlohmann::ordered_json& object, Measurement* measurement);

// MeasurementFromJson() of the line that was split, without the graph.
absl::StatusOr<Measurement> MeasurementOf(const nlohmann::ordered_json& fields);

}  // namespace cobra::store

#endif  // COBRA_STORE_MEASUREMENT_JSON_H_
