#include <cmath>

#include "base/file/tensor_file.h"
#include "model/predict/target/device_table.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/manifest.h"
#include "store/measurement.h"
#include "store/queue/task_subject.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {
namespace {

// What was read can be written, and that can be read.
template <typename T>
void CheckReadBack(const absl::StatusOr<T>& value, std::string (*write)(const T&),
                   absl::StatusOr<T> (*read)(absl::string_view)) {
  if (!value.ok()) return CheckMessage(value.status());
  const std::string text = write(*value);
  if (const absl::StatusOr<T> again = read(text); !again.ok())
    Fail("not read back", again.status().ToString() + "\n" + text);
}

void Record(absl::string_view text) {
  absl::StatusOr<store::Measurement> measurement = store::MeasurementFromJson(text);
  CheckReadBack<store::Measurement>(
      measurement, [](const store::Measurement& m) { return store::MeasurementToJson(m); }, store::MeasurementFromJson);
  if (measurement.ok() && measurement->subject.has_graph()) Check(measurement->subject.graph, text);
}

void Probe(absl::string_view text) {
  if (const auto probe = predict::ProbeResultFromJson(text); !probe.ok()) CheckMessage(probe.status());
}

void Tensors(absl::string_view bytes) {
  const auto tensors = ReadTensorFile(bytes);
  if (!tensors.ok()) return CheckMessage(tensors.status());
  std::vector<std::pair<std::string, StoredTensor>> list(tensors->begin(), tensors->end());
  if (!ReadTensorFile(WriteTensorFile(list)).ok()) Fail("tensors not read back", "");
}

}  // namespace

void File(absl::string_view data) {
  if (data.empty()) return;
  const absl::string_view text = data.substr(1);
  switch (data[0]) {
    case 'r': return Record(text);
    case 's':
      return CheckReadBack<store::Subject>(store::TaskSubjectFromJson(text), store::TaskSubjectToJson,
                                           store::TaskSubjectFromJson);
    case 'p': return Probe(text);
    case 'c':
      return CheckReadBack<predict::Calibration>(predict::CalibrationFromJson(text), predict::CalibrationToJson,
                                                 predict::CalibrationFromJson);
    case 'm':
      return CheckReadBack<predict::Manifest>(predict::ManifestFromJson(text), predict::ManifestToJson,
                                              predict::ManifestFromJson);
    case 't':
      return CheckReadBack<predict::TargetSpec>(predict::TargetSpecFromJson(text), predict::TargetSpecToJson,
                                                predict::TargetSpecFromJson);
    case 'd': {
      if (const auto target = predict::TargetFromTable(text, "device"); !target.ok()) CheckMessage(target.status());
      return;
    }
    case 'w': return Tensors(text);
    default: return;
  }
}

}  // namespace cobra::fuzz
